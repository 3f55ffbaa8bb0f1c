"""The table of `spaces.py` on three languages: one space for all of them."""

from __future__ import annotations

from itertools import permutations
from statistics import fmean

import numpy as np

import report
from cepts.data import Dictionary, Vectors
from cepts.spaces import IBFA, MBFA, Procrustes, SpaceModel, find_entries
from report import Table
from spaces_accuracy import look_up
from spaces_data import SpacesData

__all__ = ["complete_triples", "languages", "precisions_at_1"]

SETS = {
    "en, fr, it (Europarl vectors)": (("en europarl", "fr europarl", "it europarl"), "muse"),
    "en, fr, ru": (("en", "fr", "ru"), "xling"),
}
PAPER_STEPS = 1000  # of 20,000; table 8 of the paper shows that more hardly matter


def languages(data: SpacesData) -> Table:
    """P@1 by cosine / by CSLS in all directions, and their mean.

    Complete triples are what the paper trains MBFA on; *all entries* adds those that only two languages have. The row
    *paper* has the paper's options, but for the number of iterations.
    """
    tables, records = [], []
    for title, (names, kind) in SETS.items():
        views = [data.vectors(name) for name in names]
        read = data.muse if kind == "muse" else data.xling
        pairs = {
            (a.name, b.name): read(a.name, b.name, "train")
            for i, a in enumerate(views)
            for b in (views[i + 1 :] if kind == "xling" else [v for v in views if v is not a])
        }
        entries = find_entries(list(pairs.values()), views)
        triples = complete_triples(entries.rows, views)
        report.say(f"  {title}: {len(entries):,} entries, {len(triples):,} of them complete")
        fits: dict[str, SpaceModel | dict[frozenset[str], SpaceModel]] = {
            "SVD into English, triples": Procrustes().fit(views, triples),
            "SVD into English, all entries": Procrustes().fit(views, list(pairs.values())),
            "MBFA, triples (paper)": MBFA.of_paper(iterations=PAPER_STEPS).fit(views, triples),
            "MBFA, triples": MBFA().fit(views, triples),
            "MBFA, all entries": MBFA().fit(views, list(pairs.values())),
            "IBFA of each pair, triples": _pairwise(views, [triples]),
            "IBFA of each pair, all entries": _pairwise(views, list(pairs.values())),
        }
        directions = list(permutations([view.name for view in views], 2))
        rows = []
        for name, fit in fits.items():
            report.say(f"  {title}: {name}")
            scores: dict[str, list[float]] = {"cosine": [], "csls": []}
            for direction in directions:
                model = fit if isinstance(fit, SpaceModel) else fit[frozenset(direction)]
                for measure, found in precisions_at_1(model, *direction, read(*direction, "test")).items():
                    scores[measure].append(found)
            cells = [f"{a:.1f} / {b:.1f}" for a, b in zip(scores["cosine"], scores["csls"], strict=True)]
            means = f"{fmean(scores['cosine']):.2f} / {fmean(scores['csls']):.2f}"
            rows.append([name, *cells, means])
            records.append({"languages": title, "fit": name, **scores})
        heads = ["-".join(direction) for direction in directions]
        head = f"{title}: {len(triples):,} triples, {len(entries):,} entries in all"
        tables.append(f"{head}\n\n{report.markdown(['P@1, cosine / CSLS', *heads, 'mean'], rows)}")
    return Table("\n\n".join(tables), records)


def precisions_at_1(model: SpaceModel, source: str, target: str, test: Dictionary) -> dict[str, float]:
    """P@1 by cosine and by CSLS."""
    return {measure: look_up(model, source, target, test, measure).precision[1] for measure in ("cosine", "csls")}


def complete_triples(rows: np.ndarray, views: list[Vectors]) -> Dictionary:
    """The entries with a word in every view, as a dictionary."""
    full = rows[(rows >= 0).all(axis=1)]
    words = [view.words for view in views]
    entries = tuple(tuple(words[v][row] for v, row in enumerate(line)) for line in full)
    return Dictionary(tuple(view.name for view in views), entries, "triples")


def _pairwise(views: list[Vectors], dictionaries: list[Dictionary]) -> dict[frozenset[str], SpaceModel]:
    spaces = {}
    for i, first in enumerate(views):
        for second in views[i + 1 :]:
            both = (first.name, second.name)
            entries = {
                tuple(entry[dictionary.languages.index(name)] for name in both)
                for dictionary in dictionaries
                if set(both) <= set(dictionary.languages)
                for entry in dictionary.entries
            }
            spaces[frozenset(both)] = IBFA().fit([first, second], Dictionary(both, tuple(sorted(entries))))
    return spaces
