"""Figures of language models."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.plot import plot_hidden_documents, plot_perplexities

pytest.importorskip("matplotlib")

COLUMNS = {"1: cell": np.array([0.0, 0.2, 0.7, 0.1]), "2: gene": np.array([0.5, 0.5, 0.0, 1e-12])}
PRIORS = np.array([0.2, 0.5, 0.3])
ESTIMATED = np.array([0.25, 0.4, 0.35])


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
    one, two = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
    for path in (one, two):
        plot_hidden_documents(path, COLUMNS, PRIORS, estimated=ESTIMATED, title="biology $5")
    assert one.read_bytes().startswith(start)
    assert one.read_bytes() == two.read_bytes()


def test_words_are_sorted_and_documents_too(tmp_path, drawn):
    plot_hidden_documents(tmp_path / "h.png", COLUMNS, PRIORS, estimated=ESTIMATED)
    words, priors = drawn[0].axes
    assert [line.get_ydata().tolist() for line in words.lines] == [[0.7, 0.2, 0.1], [0.5, 0.5]]
    assert [line.get_label() for line in words.lines] == list(COLUMNS)
    dots, curve = priors.lines
    assert curve.get_ydata().tolist() == [0.5, 0.3, 0.2]
    assert dots.get_ydata().tolist() == [0.4, 0.35, 0.25]


def test_ticks_are_numbers_and_no_formulae(tmp_path, drawn):
    plot_hidden_documents(tmp_path / "h.png", COLUMNS, PRIORS)
    figure = drawn[0]
    figure.canvas.draw()
    words, priors = figure.axes
    labels = [label.get_text() for axis in (words.xaxis, words.yaxis) for label in axis.get_ticklabels()]
    assert any(labels)
    assert not any("$" in label for label in labels)
    assert len(priors.lines) == 1


def test_either_side_can_be_drawn_alone(tmp_path, drawn):
    plot_hidden_documents(tmp_path / "words.png", COLUMNS)
    plot_hidden_documents(tmp_path / "priors.png", {}, PRIORS, estimated=ESTIMATED)
    (words,), (priors,) = (figure.axes for figure in drawn)
    assert len(words.lines) == 2
    assert priors.lines[1].get_ydata().tolist() == [0.5, 0.3, 0.2]
    assert drawn[0].get_size_inches()[0] < 5
    with pytest.raises(ValueError, match="`columns` or `priors` must be given"):
        plot_hidden_documents(tmp_path / "none.png", {})


def test_perplexities_are_drawn_text_by_text(tmp_path, drawn):
    curves = {"lectures": {"nmf": [300, 280, 270.5], "svd": [310, 300, 290]}, "textbook": {"nmf": [200, 180, 170]}}
    plot_perplexities(tmp_path / "p.svg", "hidden documents", [50, 100, 1000], curves)
    first, second = drawn[0].axes
    assert [line.get_ydata().tolist() for line in first.lines] == [[300, 280, 270.5], [310, 300, 290]]
    assert [line.get_label() for line in first.lines] == ["nmf", "svd"]
    assert second.lines[0].get_xdata().tolist() == [50, 100, 1000]
    assert [label.get_text() for label in second.get_xticklabels()] == ["50", "100", "1,000"]
    assert second.get_legend() is None
    with pytest.raises(ValueError, match="svd must have a perplexity of lectures for each of 2 values"):
        plot_perplexities(tmp_path / "q.svg", "r", [1, 2], {"lectures": {"svd": [3.0]}})


def test_estimates_of_other_documents_are_refused(tmp_path):
    with pytest.raises(ValueError, match="one for each of 3 priors"):
        plot_hidden_documents(tmp_path / "h.png", COLUMNS, PRIORS, estimated=ESTIMATED[:2])
    assert not list(tmp_path.iterdir())
