"""The tables of `phrases.py` on accuracy: test sets, settings, families of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import report
from cepts.data import Alignments, SentencePair
from cepts.evaluate import score_phrases
from cepts.extract import EXTRACTORS, Extraction
from cepts.names import PHRASE_MODELS
from cepts.phrases import PhraseAligner, TokenAligner
from cepts.phrases.columns import FAMILIES
from cepts.phrases.directions import PhraseDirections
from cepts.pipeline.phrase_training import NOT_IN_PAPER
from cepts.pipeline.phrase_training import PAPER as PAPER_OPTIONS
from phrases_data import CORPORA, PHRASAL, PhrasesData, folds
from phrases_systems import System, aligned, synthesised
from report import Table

__all__ = ["alignment", "families", "settings", "thresholds", "upweighting", "words"]

PAPER = {**PAPER_OPTIONS, "families": [family for family in FAMILIES if family not in NOT_IN_PAPER]}
del PAPER["links"]
# F1 and exact match in Table 3 of semicrf; other-word F1 there, and phrase F1 in its Table 4.
PUBLISHED = {
    "Meteor": {"msr06": (81.9, 15.0, 30.5, None), "msr06_phrasal": (74.7, 7.3, 14.5, None)}
    | {"edinburghpp": (84.2, 12.7, 34.7, None), "edinburghpp_phrasal": (71.9, 2.9, 11.7, 2.0)},
    "jacana, token": {"msr06": (88.3, 32.1, 48.8, None), "msr06_phrasal": (77.2, 13.5, 19.5, None)}
    | {"edinburghpp": (86.4, 15.0, 46.4, None), "edinburghpp_phrasal": (69.1, 2.3, 12.7, 1.7)},
    "jacana, phrase": {"msr06": (86.8, 29.1, 45.2, None), "msr06_phrasal": (80.1, 14.3, 51.5, None)}
    | {"edinburghpp": (85.9, 13.7, 46.0, None), "edinburghpp_phrasal": (72.8, 1.6, 43.8, 46.0)},
}
COLUMNS = (
    "corpus",
    "aligner",
    "columns",
    "P",
    "R",
    "F1",
    "exact",
    "other F1",
    "phrase F1",
    "clean other",
    "clean phrase",
)
THRESHOLDS = (0.3, 0.35, 0.4, 0.45, 0.5)
VARIANTS = {
    "default": {},
    "null without memory": {"memory": False},
    "no cost": {"cost": "none"},
    "the paper's cost": {"cost": "states"},
    "missed links cost 1.5": {"missed_cost": 1.5},
    "penalty 3": {"penalty": 3.0},
}
PHRASE_VARIANTS = {
    "default": {},
    "phrases of up to 3 words": {"longest": 3, "widest": 3},
    "phrases scored as wholes alone": {"by_words": False},
    "both": {"longest": 3, "widest": 3, "by_words": False},
    "null spans": {"null_spans": True},
    "not upweighted": {"upweight": False},
    "as in the paper": PAPER,
}
COMPARED = ("edinburghpp",)
# A third of the training pairs is held out.
FOLDS, HELD_OUT = 3, 1


def identical_words(pair: SentencePair) -> list[tuple[int, int]]:
    """Links of words that are the same in lower case: each source word to the first such target word that is free."""
    free = dict(enumerate(token.lower() for token in pair.target.tokens))
    links = []
    for i, token in enumerate(pair.source.tokens):
        place = next((j for j, other in free.items() if other == token.lower()), None)
        if place is not None:
            links.append((i, place))
            del free[place]
    return links


def alignment(data: PhrasesData) -> Table:
    """Table 3 and 4 of the paper: trained on each corpus' training pairs, tested once."""
    rows: list[list[str]] = []
    records: list[dict[str, object]] = []

    def add(corpus: str, aligner: str, columns: str, gold: Sequence[SentencePair], links: Alignments) -> None:
        paper = score_phrases(gold, links, protocol="jacana")
        clean = score_phrases(gold, links, protocol="micro").parts
        parts = paper.parts
        figures = [paper.precision, paper.recall, paper.f1, paper.exact, parts["other"].f1, parts["phrase"].f1]
        figures += [clean["other"].f1, clean["phrase"].f1]
        rows.append([CORPORA[corpus], aligner, columns, *(f"{100 * figure:.1f}" for figure in figures)])
        records.append({"corpus": corpus, "aligner": aligner, "columns": columns, **paper.as_dict()})

    for corpus, title in CORPORA.items():
        for name, figures in PUBLISHED.items():
            f1, exact, other, phrase = figures[corpus]
            shown = f"{phrase:.1f}" if phrase is not None else ""
            rows.append(
                [title, f"{name} (published)", "", "", "", f"{f1:.1f}", f"{exact:.1f}", f"{other:.1f}", shown, "", ""]
            )
        test = data.pairs(corpus, "test")
        add(corpus, "identical words", "", test, Alignments.from_links(identical_words(pair) for pair in test))
        phrasal = corpus in PHRASAL
        for columns in ("cepts", "paper's") if phrasal else ("cepts",):
            for system in (
                System(corpus, "token", columns=columns),
                System(corpus, "phrase", columns=columns),
                System(corpus, "phrase", paper=True, columns=columns),
            ):
                # Token models hardly look at chunks: with ours alone. The paper's model has the paper's chunks.
                if phrasal and (
                    (system.paper and columns == "cepts") or (system.kind == "token" and columns != "cepts")
                ):
                    continue
                name = f"{system.kind}{' --paper' if system.paper else ''}"
                gold = system.gold(data)
                for combine in ("forward", "agreement"):
                    report.say(f"{title}: {name}, {combine}, columns of {columns}")
                    add(corpus, f"{name}, {combine}", columns, gold, aligned(data, system, combine))
            if phrasal:
                system = System(corpus, "phrase", columns=columns)
                made = synthesised(data, system, "agreement")
                add(corpus, "token + synthesis, agreement", columns, system.gold(data), made)
    return Table(report.markdown(COLUMNS, rows, text_columns=3), records)


def words(data: PhrasesData) -> Table:
    """Word links of text on which nothing was trained, by the English models of the package."""
    rows, records = [], []
    for corpus, title in (("multimwa_mtref", "MultiMWA-MTRef"), ("mtref_jacana", "MTReference")):
        for part in ("dev", "test"):
            pairs = data.pairs(corpus, part)
            systems = {"identical words": Alignments.from_links(identical_words(pair) for pair in pairs)}
            for model in PHRASE_MODELS:
                for links in ("words", "phrases") if model == "phrase" else ("words",):
                    report.say(f"{title}, {part}: {model}, links of {links}")
                    aligner = PhraseAligner.load(model).set_params(links=links)
                    systems[f"{model}, --links {links}"] = aligner.align(pairs)
            for name, links in systems.items():
                found = score_phrases(pairs, links)
                figures = found.precision, found.recall, found.f1, found.exact
                rows.append([title, part, name, *(f"{100 * figure:.1f}" for figure in figures)])
                records.append({"corpus": corpus, "part": part, "aligner": name, **found.as_dict()})
    return Table(report.markdown(["text", "part", "aligner", "P", "R", "F1", "exact"], rows, text_columns=3), records)


def _held_out(
    data: PhrasesData,
    corpus: str,
    combine: str = "agreement",
    thresholds: Sequence[float] = (PhraseDirections.threshold,),
    **options: Any,
) -> list[tuple[float, float]]:
    """F1 and exact match of held-out training pairs at each threshold."""
    columns = "paper's" if corpus in PHRASAL else "cepts"
    gold: list[SentencePair] = []
    found: list[list[Alignments]] = [[] for _ in thresholds]
    for train, held in folds(data.pairs(corpus, "train", columns), FOLDS)[:HELD_OUT]:
        aligner = PhraseAligner(links="phrases", **options) if corpus in PHRASAL else TokenAligner(**options)
        for make in aligner.fit(train).directions(held).makers:
            run = make()
            for links, threshold in zip(found, thresholds, strict=True):
                links.append(EXTRACTORS[combine](run, Extraction(threshold=threshold)))
        gold += held
    scores = [score_phrases(gold, Alignments.concatenate(links)) for links in found]
    return [(100 * score.f1, 100 * score.exact) for score in scores]


def thresholds(data: PhrasesData) -> Table:
    """F1 and exact match of held-out training pairs by the threshold of agreement: the evidence for the default."""
    rows, records = [], []
    for corpus, title in CORPORA.items():
        report.say(f"thresholds: {title}")
        figures = _held_out(data, corpus, thresholds=THRESHOLDS)
        rows.append([title, *(f"{f1:.1f} ({exact:.1f})" for f1, exact in figures)])
        records.append({"corpus": corpus, "f1": dict(zip(map(str, THRESHOLDS), figures, strict=True))})
    return Table(report.markdown(["corpus", *map(str, THRESHOLDS)], rows), records)


def _variants(data: PhrasesData, corpora: Sequence[str], variants: dict[str, dict[str, Any]], what: str) -> Table:
    """F1 and exact match of held-out training pairs by other settings."""
    rows, records = [], []
    for name, options in variants.items():
        cells = []
        for corpus in corpora:
            report.say(f"{what}: {name}, {CORPORA[corpus]}")
            [(f1, exact)] = _held_out(data, corpus, **options)
            cells.append(f"{f1:.1f} ({exact:.1f})")
            records.append({"corpus": corpus, what: name, "f1": f1, "exact": exact})
        rows.append([name, *cells])
    return Table(report.markdown([what, *(CORPORA[corpus] for corpus in corpora)], rows), records)


def settings(data: PhrasesData) -> Table:
    """Other settings than the default, on held-out training pairs, token models."""
    return _variants(data, COMPARED, VARIANTS, "setting")


def families(data: PhrasesData) -> Table:
    """What each family of features is worth: all of them, then all but one, on held-out training pairs."""
    variants: dict[str, dict[str, Any]] = {"all": {}}
    for family in FAMILIES:
        variants[f"without {family}"] = {"families": [name for name in FAMILIES if name != family]}
    return _variants(data, COMPARED, variants, "features")


def upweighting(data: PhrasesData) -> Table:
    """What phrase models owe to longer phrases, to their words, to upweighting (section 3.4): held-out pairs."""
    return _variants(data, ("edinburghpp_phrasal",), PHRASE_VARIANTS, "phrase model")
