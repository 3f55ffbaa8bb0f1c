"""How much hidden documents and caches lower the perplexity of an n-gram model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import report
from cepts.data import Documents
from cepts.lm import Cache, HistoryOptions, Predictor, tune
from cepts.lm.tuning import EXPONENTS
from cepts.plot import plot_perplexities
from lm_data import TEXTS, LMData, varied
from report import Table

__all__ = ["adaptation", "components", "history", "rank"]

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
PAPER = HistoryOptions(history=20, fold_in=1, uninformative=0.0)
FOLD_IN = HistoryOptions(history=40, fold_in=5, uninformative=0.0)
RUNNING = HistoryOptions()
TWO_CACHES = (Cache(0, 0.98), Cache(0, 0.999))
WORTH = 0.3
# Name of a row -> how its hidden documents are found, and how they are used.
ROWS: dict[str, tuple[Mapping[str, object], Mapping[str, object]]] = {
    "explicit, last 20 words": ({"segmentation": "explicit"}, {"history": PAPER, "exponent": 0.0}),
    "implicit, last 20 words": ({}, {"history": PAPER, "exponent": 0.0}),
    "implicit, last 20 words, literal mixture (17)": (
        {},
        {"history": PAPER, "exponent": 0.0, "mixture": "literal"},
    ),
    "implicit, last 40 words, fold-in": ({}, {"history": FOLD_IN, "exponent": 0.0}),
    "implicit, running history": ({}, {"history": RUNNING, "exponent": 0.0}),
    "implicit, running history, rescaling": ({}, {"history": RUNNING}),
    "the same, of both texts": ({"worth": WORTH}, {"history": RUNNING}),
    "the same, 1,000 hidden documents": ({"worth": WORTH, "hidden": 1000}, {"history": RUNNING}),
    "two caches alone": ({}, {"hidden": None, "exponent": 0.0, "caches": TWO_CACHES}),
    "two caches, implicit, last 40 words, fold-in": (
        {},
        {"history": FOLD_IN, "exponent": 0.0, "caches": TWO_CACHES},
    ),
    "two caches, of both texts, running history, rescaling": (
        {"worth": WORTH},
        {"history": RUNNING, "caches": TWO_CACHES},
    ),
}


def tuned_on(data: LMData, name: str, model: Predictor) -> Predictor:
    """The model with the weights that are best on a text's development part."""
    return tune(model, data.text(name, "dev").text, exponents=EXPONENTS if model.exponent else None)[0]


def perplexities(tuned: Predictor, documents: Documents) -> tuple[float, float]:
    """Perplexity of the background and of the model. Unknown words are left out, ends of sentences are not."""
    scored = tuned.score(documents.text, tuned.memory())
    return scored.perplexity(scored.probs), scored.perplexity(tuned.mixed(scored))


def adaptation(data: LMData) -> Table:
    """The background and its adaptations, on both test texts."""
    columns = ["model", *(f"{name}: {what}" for name in TEXTS.values() for what in ("perplexity", "change", "dev"))]
    lines: list[list[str]] = []
    records = []
    background: list[str] = ["background"]
    for row, (fitted, used) in ROWS.items():
        report.say(f"  {row}")
        model = varied(data.model(**fitted), **used)
        cells = [row]
        for name in TEXTS:
            tuned = tuned_on(data, name, model)
            plain, mixed = perplexities(tuned, data.text(name, "test"))
            dev = perplexities(tuned, data.text(name, "dev"))
            cells += [f"{mixed:.1f}", f"{100 * (mixed / plain - 1):+.1f} %", f"{100 * (dev[1] / dev[0] - 1):+.1f} %"]
            if len(background) < len(columns):
                background += [f"{plain:.1f}", "", ""]
            weights = dict(zip(tuned.components, tuned.weights.round(3).tolist(), strict=True))
            about = {"text": name, "background": round(plain, 2), "perplexity": round(mixed, 2)}
            records.append({"row": row, **about, "weights": weights, "exponent": tuned.exponent})
        lines.append(cells)
    return Table(report.markdown(columns, [background, *lines]), records)


def components(data: LMData) -> Table:
    """The weights that the development texts give to the components of the last row of `adaptation`."""
    fitted, used = list(ROWS.values())[-1]
    rows, records = [], []
    names: tuple[str, ...] = ()
    for name, label in TEXTS.items():
        tuned = tuned_on(data, name, varied(data.model(**fitted), **used))
        names = tuned.components
        rows.append([label, *(f"{weight:.3f}" for weight in tuned.weights), f"{tuned.exponent:.1f}"])
        weights = dict(zip(names, tuned.weights.round(4).tolist(), strict=True))
        interpolation = tuned.background.weights.round(4).tolist()
        records.append({"text": name, "weights": weights, "exponent": tuned.exponent, "interpolation": interpolation})
        rows[-1] += [f"{weight:.3f}" for weight in interpolation]
    columns = ["text", *names, "exponent", "n-grams: textbook", "n-grams: Brown"]
    return Table(report.markdown(columns, rows), records)


def rank(data: LMData) -> Table:
    """Perplexity against the number of hidden documents (Figure 1 of nmf_lm)."""
    ranks = (50, 100, 200, 500, 1000)
    found = {}
    for hidden in ranks:
        report.say(f"  {hidden} hidden documents")
        model = varied(data.model(hidden=hidden), history=PAPER, exponent=0.0)
        for name in TEXTS:
            found[name, hidden] = perplexities(tuned_on(data, name, model), data.text(name, "test"))
    return _swept("hidden documents", ranks, found, "lm-rank.svg")


def history(data: LMData) -> Table:
    """Perplexity against the size of the history (Figure 4 of nmf_lm)."""
    sizes = (5, 10, 15, 20, 25, 30, 40, 60, 80, 120, 160)
    found = {}
    for size in sizes:
        report.say(f"  a history of {size} words")
        last = HistoryOptions(history=size, fold_in=1, uninformative=0.0)
        model = varied(data.model(), history=last, exponent=0.0)
        for name in TEXTS:
            found[name, size] = perplexities(tuned_on(data, name, model), data.text(name, "test"))
    return _swept("words of history", sizes, found, "lm-history.svg")


def _swept(
    what: str, values: tuple[int, ...], found: Mapping[tuple[str, int], tuple[float, float]], figure: str
) -> Table:
    """A row a value, and the figure of it."""
    rows = [[f"{value:,}", *(f"{found[name, value][1]:.1f}" for name in TEXTS)] for value in values]
    records = [
        {what.replace(" ", "_"): value, "text": name, "perplexity": round(found[name, value][1], 2)}
        for value in values
        for name in TEXTS
    ]
    curves = {label: {what: [found[name, value][1] for value in values]} for name, label in TEXTS.items()}
    plot_perplexities(FIGURES / figure, what, values, curves)
    return Table(report.markdown([what, *TEXTS.values()], rows), records)
