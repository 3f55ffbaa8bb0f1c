"""Figures of fitted spaces."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.errors import UsageError
from cepts.plot import plot_correlations, plot_likelihood, plot_space
from cepts.spaces import METHODS, Procrustes
from toy_spaces import toy_dictionary, toy_views

pytest.importorskip("matplotlib")

CURVE = -5.0 - 3.0 / (1 + np.arange(400))


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are saved."""
    from matplotlib.figure import Figure

    figures = []
    whole = Figure.savefig

    def savefig(figure, *arguments, **options):
        figures.append(figure)
        whole(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", savefig)
    return figures


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".pdf", b"%PDF"), (".png", b"\x89PNG")])
def test_a_figure_is_what_its_name_says_and_the_same_bytes_twice(tmp_path, suffix, start):
    for draw in (
        lambda path: plot_likelihood(path, CURVE, title="en-fr"),
        lambda path: plot_correlations(path, np.linspace(0.9, 0.1, 50), title="en-fr"),
    ):
        one, two = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
        draw(one)
        draw(two)
        assert one.read_bytes().startswith(start)
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(("iterations", "first"), [(400, 41), (20_000, 101), (5, 2), (1, 1)])
def test_the_likelihood_has_a_panel_for_all_and_one_for_later_iterations(tmp_path, drawn, iterations, first):
    curve = -5.0 - 3.0 / (1 + np.arange(iterations))
    plot_likelihood(tmp_path / "l.png", curve)
    (figure,) = drawn
    whole, late = figure.axes
    np.testing.assert_array_equal(whole.lines[0].get_ydata(), curve)
    np.testing.assert_array_equal(late.lines[0].get_xdata(), np.arange(first, iterations + 1))
    np.testing.assert_array_equal(late.lines[0].get_ydata(), curve[first - 1 :])
    assert f"iteration {first}" in late.get_title(loc="left")


def test_a_space_shows_what_it_has(tmp_path, drawn):
    views = toy_views()
    for method, panels in (("mbfa", 2), ("ibfa", 1), ("cca", 1)):
        space = METHODS[method]().fit(views, toy_dictionary()).space_
        plot_space(tmp_path / "space.svg", space)
        assert len(drawn.pop().axes) == panels
    space = Procrustes().fit(views, toy_dictionary()).space_
    with pytest.raises(UsageError, match="procrustes has neither"):
        plot_space(tmp_path / "direct.svg", space)
    assert not (tmp_path / "direct.svg").exists()


def test_wrong_files_and_nothing_to_draw(tmp_path):
    with pytest.raises(UsageError, match=r"must end in \.svg"):
        plot_likelihood(tmp_path / "l.gif", CURVE)
    with pytest.raises(ValueError, match="`objectives` must have at least one value"):
        plot_likelihood(tmp_path / "l.svg", [])
