"""The tables and figures of mfa on three languages: tables 6 and 8, figure 4, and the starts of section 2.2.1."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np

import report
from cepts.data import Dictionary, Vectors
from cepts.plot import plot_likelihood
from cepts.spaces import MBFA, Procrustes, SpaceModel, find_entries
from paper_mfa_data import DEFAULT, EUROPARL_VECTORS, OURS, PAPER, PUBLISHED, data_of, sourced
from paper_run import PaperRun
from report import Table
from spaces_languages import complete_triples, precisions_at_1

__all__ = ["figure4", "starts", "table6", "table8"]

STEPS = 20_000
EARLY = 1000
QUICK_STEPS = {STEPS: 60, EARLY: 30}
DRAWN = 5000
STARTS = (("canonical", 0), ("joreskog", 0), ("random", 0), ("random", 1))
START_FACTORS = (20, 50, 200)
START_STEPS = 300
QUICK_START_STEPS = 20
EUROPARL = ("en europarl", "fr europarl", "it europarl")
DIRECTIONS = (("en", "it"), ("it", "en"), ("en", "fr"), ("fr", "en"), ("it", "fr"), ("fr", "it"))
TABLE_6 = {
    ("SVD", "cosine"): (71.0, 72.4, 74.9, 76.1, 78.3, 72.9),
    ("MBFA", "cosine"): (71.9, 73.4, 76.7, 78.1, 82.6, 77.5),
    ("SVD", "csls"): (76.2, 77.9, 81.1, 82.4, 84.5, 79.8),
    ("MBFA", "csls"): (77.4, 77.7, 81.9, 82.1, 86.8, 81.9),
}
TABLE_8 = {
    (EARLY, "cosine"): (71.9, 73.3, 76.7, 78.2, 82.4, 77.5),
    (STEPS, "cosine"): (71.9, 73.4, 76.7, 78.1, 82.6, 77.5),
    (EARLY, "csls"): (77.5, 77.6, 81.9, 82.0, 86.8, 82.1),
    (STEPS, "csls"): (77.4, 77.7, 81.9, 82.1, 86.8, 81.9),
}


def _views(run: PaperRun) -> list[Vectors]:
    return [data_of(run).vectors(name) for name in EUROPARL]


@cache
def _triples(run: PaperRun) -> Dictionary:
    """The triples whose words all six bilingual dictionaries connect (section 4.5)."""
    data, views = data_of(run), _views(run)
    both = []
    for a, b in combinations([view.name for view in views], 2):
        back = set(data.muse(b, a, "train").swapped().entries)
        one = data.muse(a, b, "train")
        both.append(Dictionary(one.languages, tuple(entry for entry in one if entry in back), one.name))
    return complete_triples(find_entries(both, views).rows, views)


@cache
def _mbfa(run: PaperRun, steps: int) -> MBFA:
    report.say(f"  MBFA --paper, {steps:,} iterations")
    return MBFA.of_paper(iterations=QUICK_STEPS[steps] if run.quick else steps).fit(_views(run), _triples(run))


def _three(run: PaperRun, model: SpaceModel) -> dict[str, list[float]]:
    """P@1 in all directions by each measure."""
    found = [precisions_at_1(model, *names, data_of(run).muse(*names, "test")) for names in DIRECTIONS]
    return {measure: [one[measure] for one in found] for measure in ("cosine", "csls")}


def _directions_note(run: PaperRun) -> str:
    return (
        f"Trained on {len(_triples(run)):,} triples that all six MUSE dictionaries have. Instead of fastText's "
        f"vectors: {EUROPARL_VECTORS}."
    )


def table6(run: PaperRun) -> Table:
    """Three languages in one space."""
    views, data = _views(run), data_of(run)
    pairs = [data.muse(a.name, b.name, "train") for a in views for b in views if a is not b]
    fits = {
        ("SVD", OURS): Procrustes(pivot="en").fit(views, _triples(run)),
        ("MBFA", PAPER): _mbfa(run, STEPS),
        ("MBFA", DEFAULT): MBFA().fit(views, _triples(run)),
        ("MBFA", "ours, default, all entries"): MBFA().fit(views, pairs),
    }
    cells, records = {}, []
    for (method, whose), model in fits.items():
        for measure, found in _three(run, model).items():
            cells[method, measure, whose] = found
            records.append({"method": method, "figures": whose, "measure": measure, "precision_at_1": found})
    rows = []
    for (method, measure), published in TABLE_6.items():
        name = f"{method} + CSLS" if measure == "csls" else method
        lines = {PUBLISHED: published} | {w: f for (m, how, w), f in cells.items() if (m, how) == (method, measure)}
        rows += [[name, whose, *_with_mean(values)] for whose, values in lines.items()]
    columns = ["P@1", "figures", *("-".join(names) for names in DIRECTIONS), "mean"]
    count = len(find_entries(pairs, views))
    note = f"*All entries* are the {count:,} of the six dictionaries, also those of two languages."
    return Table(sourced(report.markdown(columns, rows, text_columns=2), _directions_note(run), note), records)


def _with_mean(values: Sequence[float]) -> list[str]:
    return [*(f"{value:.1f}" for value in values), f"{np.mean(values):.2f}"]


def table8(run: PaperRun) -> Table:
    """P@1 and likelihood after few and after many iterations of EM."""
    rows, records = [], []
    likelihoods = {steps: _mbfa(run, steps).space_.objectives[-1] for steps in (EARLY, STEPS)}
    found = {steps: _three(run, _mbfa(run, steps)) for steps in (EARLY, STEPS)}
    for (steps, measure), published in TABLE_8.items():
        name = f"MBFA, {steps:,} iterations" + (" + CSLS" if measure == "csls" else "")
        values = found[steps][measure]
        rows.append([name, PUBLISHED, *_with_mean(published), "-"])
        rows.append([name, PAPER, *_with_mean(values), f"{likelihoods[steps]:.4f}"])
        records.append({"steps": steps, "measure": measure, "precision_at_1": values, "likelihood": likelihoods[steps]})
    columns = ["P@1", "figures", *("-".join(names) for names in DIRECTIONS), "mean", "log-likelihood"]
    note = "The log-likelihood is the mean of an entry, in nats, of whitened vectors."
    return Table(sourced(report.markdown(columns, rows, text_columns=2), note, _directions_note(run)), records)


def figure4(run: PaperRun) -> Table:
    """The likelihood over the iterations of plain EM."""
    values = _mbfa(run, STEPS).space_.objectives
    plot_likelihood(run.figures / "mfa-figure4.svg", values[:DRAWN], title="MBFA of en, fr, it by plain EM")
    marks = [mark for mark in (1, 10, 100, 1000, 5000, 20_000) if mark <= len(values)]
    rows = [[f"{mark:,}", f"{values[mark - 1]:.4f}"] for mark in marks]
    records = [{"iteration": mark, "log_likelihood": values[mark - 1]} for mark in marks]
    text = report.markdown(["iteration", "log-likelihood of an entry, nats"], rows, text_columns=0)
    return Table(sourced(text, _directions_note(run)), records)


def starts(run: PaperRun) -> Table:
    """Section 2.2.1: where EM ends from different starts, with few factors and with all."""
    steps = QUICK_START_STEPS if run.quick else START_STEPS
    rows, records = [], []
    sample = np.random.default_rng(0).permutation(2000)[:500]
    for factors in START_FACTORS:
        first = None
        for start, seed in STARTS:
            report.say(f"  {factors} factors, {start}, seed {seed}")
            options = {"accelerate": True, "iterations": steps, "start": start, "seed": seed, "factors": factors}
            model = MBFA.of_paper(**options).fit(_views(run), _triples(run))
            placed = [model.project(view.matrix[sample], number) for number, view in enumerate(_views(run))]
            stacked = np.concatenate(placed).astype(np.float64)
            products = stacked @ stacked.T
            first = products if first is None else first
            difference = float(np.linalg.norm(products - first) / np.linalg.norm(first))
            scores = _three(run, model)
            history = model.space_.objectives
            name = f"{start}, seed {seed}" if start == "random" else start
            means = f"{np.mean(scores['cosine']):.2f} / {np.mean(scores['csls']):.2f}"
            cells = [f"{history[0]:.2f}", f"{history[-1]:.4f}", f"{100 * difference:.2f}", means]
            rows.append([str(factors), name, *cells])
            about = {"factors": factors, "start": start, "seed": seed, "steps": steps}
            records.append({**about, "first": history[0], "last": history[-1], "difference": difference, **scores})
    columns = [
        "factors",
        "start",
        "log-likelihood at the start",
        f"after {steps:,} accelerated iterations",
        "difference of products, %",
        "mean P@1, cosine / CSLS",
    ]
    note = (
        "The products are those of the latent means of 500 words of each language, which no rotation changes; their "
        "difference from those of the first start is the norm of the difference of the two matrices, as a share of the "
        "norm of one."
    )
    return Table(sourced(report.markdown(columns, rows, text_columns=2), note, _directions_note(run)), records)
