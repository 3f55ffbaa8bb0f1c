"""Figures of long pairs keep within bounds: smaller cells, then fewer labels, then a clear refusal."""

from __future__ import annotations

import re

import numpy as np
import pytest

from cepts.errors import UsageError
from cepts.plot import plot_factors
from cepts.plot.cells import SMALLEST_FONT, Scale
from cepts.plot.figure import DOTS_PER_INCH, LARGEST

pytest.importorskip("matplotlib")


def draw(path, words, cepts):
    names = [f"word{number}" for number in range(words)]
    factor = np.full((words + 1, cepts), 1 / cepts)
    assigned = [number % cepts for number in range(words)]
    matrix = np.eye(words + 1)
    plot_factors(path, matrix, factor, factor, names, names, assigned, assigned)


def size_of(path):
    width, height = re.search(rb"IHDR(.{4})(.{4})", path.read_bytes(), re.DOTALL).groups()
    return int.from_bytes(width, "big"), int.from_bytes(height, "big")


@pytest.mark.parametrize(("words", "cepts"), [(76, 60), (200, 3)])
def test_a_long_pair_has_a_figure_of_bounded_size(tmp_path, words, cepts):
    draw(tmp_path / "f.png", words, cepts)
    assert max(size_of(tmp_path / "f.png")) <= LARGEST * DOTS_PER_INCH


def test_small_figures_keep_their_size(tmp_path):
    draw(tmp_path / "f.png", 10, 3)
    assert size_of(tmp_path / "f.png")[0] > 1200


def test_cells_shrink_first_and_labels_thin_out_then():
    assert (Scale().font, Scale().every) == (9, 1)
    small = Scale(0.1)
    assert SMALLEST_FONT < small.font < 9
    assert small.every == 1
    assert (Scale(0.05).font, Scale(0.05).every) == (SMALLEST_FONT, 2)


def test_what_is_too_long_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(UsageError, match=r"a figure of 400 x 400 words would be larger than 24 x 24 inches; draw a sh"):
        draw(tmp_path / "f.png", 400, 5)
    assert list(tmp_path.iterdir()) == []
