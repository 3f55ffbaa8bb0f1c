"""Drawn sentence pairs."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from cepts.data import Alignment, Segment
from cepts.errors import UsageError
from cepts.plot import plot_pair
from cepts.plot.figure import COLOURS
from cepts.plot.pairs import _groups, between, luminance

pytest.importorskip("matplotlib")

SOURCE, TARGET = ["of", "the", "house", "big"], ["du", "grand", "logis"]


def aligned(*links, confidence=1.0, sure=True):
    places = np.array(links, dtype=np.int32).reshape(-1, 2)
    count = len(links)
    return Alignment(places[:, 0], places[:, 1], np.full(count, confidence, np.float32), np.full(count, sure))


LINKS = aligned((0, 0), (1, 0), (2, 2))
both = pytest.mark.parametrize("form", ["lines", "cepts", "matrix"])


@both
@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".pdf", b"%PDF"), (".png", b"\x89PNG")])
def test_a_figure_is_what_its_name_says_and_the_same_bytes_twice(tmp_path, form, suffix, start):
    one, two = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
    for path in (one, two):
        drawn = plot_pair(path, SOURCE, TARGET, LINKS, form=form)
        assert drawn.path == path
    assert one.read_bytes().startswith(start)
    assert one.read_bytes() == two.read_bytes()


def test_a_matrix_frames_phrases_of_several_words(tmp_path):
    phrases = [Segment((0, 2), (0, 1)), Segment((2, 3), (2, 3))]
    plain, framed = (
        plot_pair(tmp_path / name, SOURCE, TARGET, alignment, form="matrix").path.read_text("utf-8")
        for name, alignment in (("a.svg", LINKS), ("b.svg", replace(LINKS, segments=phrases)))
    )
    # One collection more, with one polygon: a phrase of one word on each side has no frame.
    assert framed.count('id="PolyCollection') == plain.count('id="PolyCollection') + 1
    single = plot_pair(tmp_path / "c.svg", SOURCE, TARGET, replace(LINKS, segments=phrases[1:]), form="matrix")
    assert single.path.read_text("utf-8") == plain


def test_a_notebook_shows_what_was_drawn(tmp_path):
    svg = plot_pair(tmp_path / "f.svg", SOURCE, TARGET, LINKS)
    png = plot_pair(tmp_path / "f.png", SOURCE, TARGET, LINKS)
    assert "<svg" in svg._repr_svg_()
    assert svg._repr_png_() is None
    assert png._repr_png_().startswith(b"\x89PNG")
    assert png._repr_svg_() is None


def test_words_that_belong_together_have_one_group():
    source, target = _groups(LINKS, (4, 3))
    assert source.tolist() == [0, 0, 1, -1]
    assert target.tolist() == [0, -1, 1]
    assert [part.tolist() for part in _groups(aligned(), (1, 2))] == [[-1], [-1, -1]]


def strokes(path):
    return re.findall(r"stroke-dasharray|opacity: [0-9.]+", path.read_text("utf-8"))


def test_possible_links_are_dashed_and_weak_ones_pale(tmp_path):
    path = tmp_path / "f.svg"
    plot_pair(path, SOURCE, TARGET, LINKS)
    assert strokes(path) == []
    plot_pair(path, SOURCE, TARGET, aligned((0, 0), confidence=0.5))
    assert set(strokes(path)) == {"opacity: 0.75"}
    plot_pair(path, SOURCE, TARGET, aligned((0, 0), sure=False))
    assert "stroke-dasharray" in strokes(path)


def test_lines_stand_out_on_light_and_on_dark_pages():
    dark = luminance("#0d1117")
    for colour in map(between, COLOURS):
        assert 1.05 / (luminance(colour) + 0.05) >= 3
        assert (luminance(colour) + 0.05) / (dark + 0.05) >= 3


@both
@pytest.mark.parametrize("size", [(0, 0), (0, 2), (1, 1), (30, 40)])
def test_any_length_can_be_shown(tmp_path, form, size):
    words = [f"mot{i}" for i in range(size[0])], [f"word{j}" for j in range(size[1])]
    plot_pair(tmp_path / "f.png", *words, aligned(*((i, i) for i in range(min(size)))), form=form)
    width, height = re.search(rb"IHDR(.{4})(.{4})", (tmp_path / "f.png").read_bytes(), re.DOTALL).groups()
    assert max(int.from_bytes(width, "big"), int.from_bytes(height, "big")) <= 24 * 160


def test_rows_that_are_too_long_are_refused_and_a_matrix_is_named(tmp_path):
    words = ["word"] * 300
    with pytest.raises(UsageError, match=r"300 \+ 300 words in two rows would be larger .* `form=matrix`"):
        plot_pair(tmp_path / "f.svg", words, words, aligned())
    plot_pair(tmp_path / "f.png", words, words, aligned((3, 4)), form="matrix")
    with pytest.raises(UsageError, match="1,000 x 1,000 words would be larger"):
        plot_pair(tmp_path / "g.png", ["w"] * 1000, ["w"] * 1000, aligned(), form="matrix")
    assert [path.name for path in tmp_path.iterdir()] == ["f.png"]


def test_wrong_arguments_are_one_clear_line(tmp_path):
    with pytest.raises(UsageError, match="`form`"):
        plot_pair(tmp_path / "f.svg", SOURCE, TARGET, LINKS, form="circle")
    with pytest.raises(UsageError, match=r"must lie within the sentences\. Got position 2 \(from 0\) in `target`"):
        plot_pair(tmp_path / "f.svg", SOURCE, TARGET[:2], LINKS)


def test_each_cept_has_a_circle_and_each_of_its_words_a_line(tmp_path):
    """Figure 2 of onmf: four linked words and three lines more, for the words of the second cept."""
    for form, curves in (("lines", 3), ("cepts", 5)):
        plot_pair(tmp_path / f"{form}.svg", SOURCE, TARGET, LINKS, form=form)
        assert len(re.findall(r"\bC \S+ \S+ \S+ \S+ \S+ \S+ *\n?\"", (tmp_path / f"{form}.svg").read_text())) == curves


def test_circles_of_cepts_do_not_overlap():
    from cepts.plot.pairs import NODE, _nodes

    groups = np.arange(6), np.zeros(6, dtype=np.int64)
    middles = [np.linspace(0, 3, 6), np.full(6, 3.0)]
    places = _nodes(groups, middles, 3.0)
    assert np.diff(sorted(places)).min() >= NODE - 1e-9
    assert max(places) <= 3.0
