"""The figure of training, one curve for each stage."""

from __future__ import annotations

import pytest

from cepts.plot import plot_iterations

axes = pytest.importorskip("matplotlib.axes")
CURVES = {"first": [-3.0, -2.0, -1.5], "second": [-2.5, -1.0]}


def test_a_stage_starts_where_the_one_before_it_ends_unless_told(tmp_path, monkeypatch):
    drawn = []
    plot = axes.Axes.plot

    def recorded(self, numbers, values, *style, **options):
        drawn.append((list(numbers), list(values)))
        return plot(self, numbers, values, *style, **options)

    monkeypatch.setattr(axes.Axes, "plot", recorded)
    plot_iterations(tmp_path / "one.svg", CURVES, "log-likelihood")
    plot_iterations(tmp_path / "two.svg", CURVES, "log-likelihood", starts={"second": 2})
    first = [1, 2, 3], CURVES["first"]
    assert drawn == [first, ([4, 5], CURVES["second"]), first, ([2, 3], CURVES["second"])]
