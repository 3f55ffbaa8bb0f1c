"""The figure of confidences."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.evaluate import Reliability
from cepts.plot import plot_reliability

pytest.importorskip("matplotlib")


def test_bins_without_links_are_left_out_and_the_bytes_are_the_same_twice(tmp_path):
    counts, shares = np.array([0, 3]), np.array([np.nan, 0.8])
    table = Reliability(np.linspace(0, 1, 3), counts, shares, shares)
    for name in ("one.svg", "two.svg"):
        plot_reliability(tmp_path / name, {"tuned": table}, title="en-fr")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert (tmp_path / "one.svg").stat().st_size > 1000
