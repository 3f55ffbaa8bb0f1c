"""Accuracy of alignment through cepts: the tables of `onmf.py` that compare links with gold links."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import hansards
import report
import romanian
from cepts.data import Alignments, Bitext, Cepts
from cepts.evaluate import Scores, compare
from cepts.factor import Factoring
from report import Table
from trained import MODELS, Models, gold_pairs

__all__ = ["Setting", "extractors", "like_the_paper", "proper_share", "romanian_english", "score"]

EXTRACTORS = ("intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and", "agreement")
KEPT = ("intersection", "grow-diag-final-and", "agreement")
LISTS = ("nbest-plain", "nbest", "nbest-probability", "nbest-rank", "nbest-agreement")
# Models whose lists are counted, and how. The lists of the default model are those of its Model 4.
LISTED = {"Model 4 by ML": ("nbest-plain",), "Model 4": LISTS, "HMM": LISTS}
SELECTIONS = {"anneal": "AIC", "anneal-bic": "BIC", "aic": "AIC, exhaustive"}
SCORES = {
    "P_S": "sure_precision",
    "R_S": "sure_recall",
    "F_S": "sure_f1",
    "P_P": "possible_precision",
    "R_P": "possible_recall",
    "F_P": "possible_f1",
    "AER": "aer",
}
PAPER_NAME = "onmf paper, 20 M words"
# Tables 1 to 4 of onmf, by what made the links: the columns of `SCORES`.
PUBLISHED: dict[str, dict[tuple[str, str], list[float]]] = {
    "table1": {
        (PAPER_NAME, "AIC"): [45.26, 94.67, 61.24, 86.56, 34.30, 49.14, 10.81],
        (PAPER_NAME, "BIC"): [42.69, 96.75, 59.24, 83.42, 35.82, 50.12, 12.50],
    },
    "table2": {
        (PAPER_NAME, "AIC"): [49.86, 95.12, 65.42, 84.63, 37.39, 51.87, 11.76],
        (PAPER_NAME, "BIC"): [46.50, 96.01, 62.65, 80.92, 38.69, 52.35, 14.16],
        (PAPER_NAME, "IBM4 intersection"): [71.46, 90.04, 79.68, 97.66, 28.44, 44.12, 5.71],
        ("HLT-03, limited resources", "Ralign.EF.1, best F"): [72.54, 80.61, 76.36, 77.56, 38.19, 51.18, 18.50],
        ("HLT-03, limited resources", "XRCE.Nolem.EF.3, best AER"): [55.43, 93.81, 69.68, 90.09, 35.30, 50.72, 8.53],
    },
    "table3": {
        (PAPER_NAME, "AIC"): [42.88, 95.12, 59.11, 75.17, 37.20, 49.77, 18.63],
        (PAPER_NAME, "BIC"): [40.17, 96.01, 56.65, 72.20, 38.49, 50.21, 20.78],
        (PAPER_NAME, "IBM4 intersection"): [56.39, 90.04, 69.35, 81.14, 28.90, 42.62, 15.43],
        ("HLT-03, limited resources", "Ralign.EF.1, best"): [72.54, 80.61, 76.36, 77.56, 36.79, 49.91, 18.50],
    },
    # P_S, R_S, F_S and AER without links to null, then with them.
    "table4": {
        ("onmf paper, text of its kind", "AIC"): [70.34, 65.54, 67.85, 32.15, 62.65, 62.10, 62.38, 37.62],
        ("onmf paper, text of its kind", "BIC"): [55.88, 67.70, 61.23, 38.77, 51.78, 64.07, 57.27, 42.73],
        ("HLT-03, limited resources", "XRCE.Nolem, best"): [82.65, 62.44, 71.14, 28.86, 82.65, 54.11, 65.40, 34.60],
    },
}


@dataclass(slots=True)
class Setting:
    """What the tables are made of: the data, the trained models, the pairs with gold links and their links."""

    data: Path
    models: Models
    pairs: int | None
    gold: Bitext = field(init=False)
    _found: dict[tuple[str, str, str], Alignments] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.gold = gold_pairs(self.models.bitext)

    def cepts(self, model: str, association: str, selection: str) -> Alignments:
        """The gold pairs' alignments through cepts, made once."""
        key = model, association, selection
        if key not in self._found:
            report.say(f"{model}, {association}: cepts by {selection}")
            factoring = Factoring(cepts=selection)  # type: ignore[arg-type]
            self._found[key] = self.models[model].align(
                self.gold, combine="onmf", association=association, factoring=factoring
            )
        return self._found[key]

    def about(self) -> dict[str, object]:
        """What each JSON line says of the run."""
        return {**report.circumstances(), "text": self.models.text.name, "pairs": self.models.text.pairs}


def score(gold: Alignments, links: Alignments, bitext: Bitext, *, null: str = "no") -> Scores:
    """Scores of the links of `bitext`, coverage included."""
    lengths = {"source_lengths": bitext.source.lengths, "target_lengths": bitext.target.lengths}
    return compare(gold, links, **lengths, null=null).scores


def proper_share(cepts: Cepts, bitext: Bitext) -> float:
    """Share of the words of `bitext` that are null's or in a cept with words on both sides."""
    proper = 0
    sides = (cepts.source, cepts.source_offsets), (cepts.target, cepts.target_offsets)
    for pair in range(len(cepts)):
        source, target = (numbers[offsets[pair] : offsets[pair + 1]] for numbers, offsets in sides)
        both = np.append(np.intersect1d(source, target), -1)
        proper += int(np.isin(source, both).sum() + np.isin(target, both).sum())
    return proper / (len(bitext.source.ids) + len(bitext.target.ids))


# -- the extractors side by side -----------------------------------------------------------------------------


def extractors(setting: Setting) -> Table:
    """Every way to make one alignment of the same models, on the test pairs."""
    tests = hansards.TEST
    gold, bitext = hansards.gold(setting.data, tests), gold_pairs(setting.gold, tests)
    columns = ["model", "links", *sorted(SCORES, key=lambda name: name != "AER")]
    columns += ["source words linked", "target words linked", "links per word"]
    rows, records = [], []
    for model in MODELS:
        found = {method: setting.models[model].align(setting.gold, combine=method) for method in EXTRACTORS}
        cepts = setting.cepts(model, "agreement", "anneal")
        found |= {"ONMF, sure links": cepts.only_sure(), "ONMF, all links": cepts}
        for method, links in found.items():
            scores = score(gold, links.part(tests.start, tests.stop), bitext)
            per_word = 2 * scores.links / (len(bitext.source.ids) + len(bitext.target.ids))
            values = {name: getattr(scores, each) for name, each in SCORES.items()}
            cells = [values.pop("AER"), *values.values(), scores.source_coverage, scores.target_coverage]
            rows.append([model, method, *(f"{100 * (each or 0.0):.2f}" for each in cells), f"{per_word:.2f}"])
            about = {"table": "extractors", **setting.about(), "model": model, "links": method}
            records.append({**about, "links_per_word": round(per_word, 4), "scores": rounded(scores)})
    return Table(report.markdown(columns, rows, text_columns=2), records)


# -- the tables of the paper ---------------------------------------------------------------------------------


def like_the_paper(setting: Setting, name: str) -> Table:
    """ONMF on N-best lists, on the ``trial`` or ``test`` pairs, beside the figures of onmf.

    The first rows are those of `cepts align --paper onmf`. Links to null count as possible, as in the paper.
    """
    pairs = {"trial": hansards.TRIAL, "test": hansards.TEST}[name]
    gold, bitext = hansards.gold(setting.data, pairs), gold_pairs(setting.gold, pairs)
    columns = ["matrices", "cepts", *SCORES, "AER with null", "words in a cept or null"]
    published = PUBLISHED[{"trial": "table1", "test": "table2"}[name]]
    with_null_too = {} if name == "trial" else PUBLISHED["table3"]
    rows = [
        [*label, *map(figure, cells), figure(with_null_too[label][-1] if label in with_null_too else None), "-"]
        for label, cells in published.items()
    ]
    records = []
    for model, associations in LISTED.items():
        for association in associations:
            for selection, label in SELECTIONS.items():
                links = setting.cepts(model, association, selection).part(pairs.start, pairs.stop)
                assert links.cepts is not None
                scores = score(gold, links, bitext)
                with_null = score(gold, links, bitext, null="possible")
                proper = proper_share(links.cepts, bitext)
                cells = [*(getattr(scores, each) for each in SCORES.values()), with_null.aer, proper]
                rows.append([f"{model}, {association}", label, *(figure(100 * each) for each in cells)])
                about = {"table": name, **setting.about(), "model": model, "association": association}
                found = {"scores": rounded(scores), "scores_with_null": rounded(with_null), "proper": proper}
                records.append({**about, "selection": selection, **found})
    return Table(report.markdown(columns, rows, text_columns=2), records)


def romanian_english(setting: Setting) -> Table:
    """The same models trained on Romanian and English, and what the paper has of these gold links."""
    gold = romanian.gold(setting.data)
    bitext = romanian.bitext(setting.data, pairs=setting.pairs)
    tests = bitext.part(0, romanian.PAIRS)
    columns = [
        "model",
        "links",
        *list(SCORES)[:3],
        "AER",
        "AER with null",
        "source words linked",
        "target words linked",
    ]
    published = PUBLISHED["table4"].items()
    rows = [[*label, *map(figure, (*cells[:4], cells[-1])), "-", "-"] for label, cells in published]
    records = []
    for model, make in MODELS.items():
        report.say(f"Romanian-English, {len(bitext):,} pairs: {model}")
        aligner = make().fit(bitext)
        found = {method: aligner.align(tests, combine=method) for method in EXTRACTORS if method in KEPT}
        for association in ("agreement", "nbest"):
            for selection in ("anneal", "anneal-bic"):
                factoring = Factoring(cepts=selection)  # type: ignore[arg-type]
                label = f"ONMF, {association}, {SELECTIONS[selection]}"
                found[label] = aligner.align(tests, combine="onmf", association=association, factoring=factoring)
                if selection == "anneal":
                    found[f"{label}, sure links"] = found[label].only_sure()
        for label, links in found.items():
            scores, with_null = score(gold, links, tests), score(gold, links, tests, null="sure")
            cells = [scores.sure_precision, scores.sure_recall, scores.sure_f1, scores.aer, with_null.aer]
            cells += [scores.source_coverage or 0.0, scores.target_coverage or 0.0]
            rows.append([model, label, *(figure(100 * each) for each in cells)])
            about = {"table": "romanian", **report.circumstances(), "pairs": len(bitext), "model": model}
            both = {"scores": rounded(scores), "scores_with_null": rounded(with_null)}
            records.append({**about, "links": label, **both})
    return Table(report.markdown(columns, rows, text_columns=2), records)


def figure(value: float | None) -> str:
    """A percentage for a table."""
    return "-" if value is None else f"{value:.2f}"


def rounded(scores: Scores) -> dict[str, object]:
    """Scores for a JSON line."""
    return {name: round(each, 6) if isinstance(each, float) else each for name, each in scores.as_dict().items()}
