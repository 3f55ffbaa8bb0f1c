"""The tables and figures of semicrf (Yao, Van Durme, Callison-Burch and Clark, 2013).

Everything is computed from the corpora that the authors used. Rows of "cepts --paper" are trained as in the paper
(`cepts phrases train --paper`); on the phrasal corpora they see the tags and chunks of the chunker with which the
authors made these. Rows of "cepts" are trained by default, with our own tagger and chunker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

import phrases_applications
import report
from cepts.data import Alignments, SentencePair
from cepts.evaluate import PhraseComparison, score_phrases
from cepts.extract import rectangles
from cepts.phrases import PhraseAligner, synthesise
from cepts.phrases.languages import english_annotator
from cepts.phrases.tokeniser import tokenise
from paper_run import PaperRun, PaperTables
from phrases_data import CORPORA, PHRASAL, PhrasesData
from phrases_systems import System, aligned, made_phrases, synthesised
from report import Table

SIZES = ("1x1", "1x2", "1x3", "2x2", "2x3", "3x3", "more")
PUBLISHED_SIZES = {
    "msr06": (89.2, 1.9, 0.3, 5.7, 0.0, 1.9, 0.8),
    "edinburghpp": (81.9, 3.5, 0.8, 8.3, 0.4, 3.0, 2.1),
}
PUBLISHED_STATISTICS = {"msr06": ("800", "800", "29/11", "36"), "edinburghpp": ("715", "305", "22/22", "78")}
# Table 3: P, R, F1, E, and F1 of links between identical and between other words.
RESULTS = {
    "msr06": {
        "Meteor": (82.5, 81.2, 81.9, 15.0, 93.5, 30.5),
        "MANLI-cons.": (89.5, 86.2, 87.8, 33.0, None, None),
        "token": (93.6, 83.5, 88.3, 32.1, 96.8, 48.8),
        "phrase": (92.1, 82.8, 86.8, 29.1, 95.8, 45.2),
    },
    "msr06_phrasal": {
        "Meteor": (82.5, 68.3, 74.7, 7.3, 93.5, 14.5),
        "token": (92.9, 66.1, 77.2, 13.5, 94.9, 19.5),
        "phrase": (83.5, 77.0, 80.1, 14.3, 94.5, 51.5),
    },
    "edinburghpp": {
        "Meteor": (88.3, 80.5, 84.2, 12.7, 95.9, 34.7),
        "MANLI-jnt": (76.6, 83.8, 79.2, 12.2, None, None),
        "token": (91.3, 82.0, 86.4, 15.0, 96.9, 46.4),
        "phrase": (90.4, 81.9, 85.9, 13.7, 96.9, 46.0),
    },
    "edinburghpp_phrasal": {
        "Meteor": (88.4, 60.6, 71.9, 2.9, 95.5, 11.7),
        "token": (90.7, 55.8, 69.1, 2.3, 93.7, 12.7),
        "phrase": (82.3, 65.3, 72.8, 1.6, 94.4, 43.8),
    },
}
# Table 4: P, R and F1 of token-only and of phrase-only alignments, on EDB++P.
KINDS = {
    "Meteor": (59.5, 90.6, 71.8, 14.9, 1.1, 2.0),
    "token": (59.4, 85.5, 70.1, 21.4, 0.9, 1.7),
    "phrase": (73.3, 73.5, 73.4, 48.0, 44.2, 46.0),
}
FIGURE = "Shops are closed up for now until March", "Shops are temporarily closed down"
QUICK_PAIRS = 200


@cache
def _data(run: PaperRun) -> PhrasesData:
    return PhrasesData(run.data)


def table1(run: PaperRun) -> Table:
    """Table 1: the sizes of the corpora."""
    rows, records = [], []
    for corpus, published in PUBLISHED_STATISTICS.items():
        parts = [_data(run).pairs(corpus, part) for part in ("train", "test")]
        pairs = [pair for part in parts for pair in part]
        lengths = [np.mean([len(getattr(pair, side)) for pair in pairs]) for side in ("source", "target")]
        linked = sum(len({i for i, _ in pair.sure or ()}) + len({j for _, j in pair.sure or ()}) for pair in pairs)
        words = sum(len(pair.source) + len(pair.target) for pair in pairs)
        found = [*map(len, parts), f"{lengths[0]:.0f}/{lengths[1]:.0f}", f"{100 * linked / words:.0f}"]
        rows += [[CORPORA[corpus], "published", *published], [CORPORA[corpus], "the data here", *map(str, found)]]
        records.append({"corpus": corpus, "train": found[0], "test": found[1], "linked": linked / words})
    columns = ["corpus", "", "train", "test", "words of source/target", "words aligned, %"]
    return Table(report.markdown(columns, rows, text_columns=2), records)


def table2(run: PaperRun) -> Table:
    """Table 2: sizes of phrase links after synthesis, in the training pairs."""
    rows, records = [], []
    annotator = english_annotator()
    for corpus, published in PUBLISHED_SIZES.items():
        title = f"{CORPORA[corpus]}, train"
        rows.append([title, "published", *(f"{share:.1f}" for share in published)])
        own = _data(run).pairs(corpus, "train")
        own = own[:QUICK_PAIRS] if run.quick else own
        sources = {
            "as distributed by the authors": _data(run).pairs(f"{corpus}_phrasal", "train"),
            "synthesised with the chunks of cepts": [synthesise(pair) for pair in annotator.annotate(own, ["chunk"])],
        }
        for name, pairs in sources.items():
            shares = _sizes(pairs)
            rows.append([title, name, *(f"{100 * share:.1f}" for share in shares)])
            records.append({"corpus": corpus, "chunks": name, "shares": dict(zip(SIZES, shares, strict=True))})
    return Table(report.markdown(["corpus", "phrase links", *SIZES], rows, text_columns=2), records)


def _sizes(pairs: list[SentencePair]) -> list[float]:
    spans = rectangles(Alignments.from_links(pair.sure or () for pair in pairs)).spans
    lengths = np.sort(np.stack([spans[:, 1] - spans[:, 0], spans[:, 3] - spans[:, 2]], axis=1), axis=1)
    names = [f"{small}x{large}" for small, large in lengths.tolist()]
    return [np.mean([name == size for name in names]) for size in SIZES[:-1]] + [
        float(np.mean([name not in SIZES for name in names]))
    ]


def _systems(run: PaperRun, corpus: str) -> dict[str, Callable[[], tuple[System, Alignments]]]:
    """Name -> the test links: of the paper's models, by their one direction, and of ours."""
    data = _data(run)

    def of(kind: str, combine: str, *, paper: bool, columns: str) -> Callable[[], tuple[System, Alignments]]:
        system = System(corpus, kind, paper, columns, run.quick)
        return lambda: (system, aligned(data, system, combine))

    columns = "paper's" if corpus in PHRASAL else "cepts"
    kinds = ("phrase",) if corpus in PHRASAL else ("token", "phrase")
    found = {f"cepts --paper, {kind}": of(kind, "forward", paper=True, columns=columns) for kind in kinds}
    found |= {f"cepts, {kind}": of(kind, "agreement", paper=False, columns="cepts") for kind in ("token", "phrase")}
    return found


def _score(run: PaperRun, system: System, links: Alignments) -> PhraseComparison:
    return score_phrases(system.gold(_data(run)), links, protocol="jacana")


def table3(run: PaperRun) -> Table:
    """Table 3: accuracy on the four test sets."""
    rows, records = [], []
    for corpus, published in RESULTS.items():
        for name, figures in published.items():
            shown = ["" if figure is None else f"{figure:.1f}" for figure in figures]
            rows.append([CORPORA[corpus], f"{name} (published)", *shown])
        for name, make in _systems(run, corpus).items():
            report.say(f"{CORPORA[corpus]}: {name}")
            found = _score(run, *make())
            figures = [found.precision, found.recall, found.f1, found.exact]
            figures += [found.parts[part].f1 for part in ("identical", "other")]
            rows.append([CORPORA[corpus], name, *(f"{100 * figure:.1f}" for figure in figures)])
            records.append({"corpus": corpus, "aligner": name, **found.as_dict()})
    columns = ["corpus", "aligner", "P", "R", "F1", "E", "F1 identical", "F1 other"]
    return Table(report.markdown(columns, rows, text_columns=2), records)


def fair(run: PaperRun) -> Table:
    """Section 4.4: models of words whose output is synthesised, against models of phrases."""
    rows: list[list[str]] = [
        ["EDB++P", "token + synthesis (published)", "of the corpus", "", "", "about 71.2"],
        ["EDB++P", "phrase (published)", "of the corpus", "", "", "72.8"],
    ]
    records = []

    def add(corpus: str, name: str, chunks: str, gold: list[SentencePair], links: Alignments) -> None:
        found = score_phrases(gold, links, protocol="jacana")
        figures = (found.precision, found.recall, found.f1)
        rows.append([CORPORA[corpus], name, chunks, *(f"{100 * figure:.1f}" for figure in figures)])
        records.append({"corpus": corpus, "aligner": name, "chunks": chunks, **found.as_dict()})

    data = _data(run)
    for corpus in ("edinburghpp_phrasal", "msr06_phrasal"):
        report.say(f"{CORPORA[corpus]}: cepts --paper")
        system = System(corpus, "phrase", True, "paper's", run.quick)
        gold = system.gold(data)
        made = synthesised(data, system, "forward")
        add(corpus, "cepts --paper, token + synthesis", "of the corpus", gold, made)
        add(corpus, "cepts --paper, phrase", "of the corpus", gold, aligned(data, system, "forward"))
        report.say(f"{CORPORA[corpus]}: the English models")
        bare = replace(system, columns="cepts").gold(data)
        token, phrase = PhraseAligner.load("token"), PhraseAligner.load("phrase").set_params(links="phrases")
        words = token.align(bare)
        for chunks, pairs in (("of cepts", bare), ("of the corpus", gold)):
            links = made_phrases(token.annotator_.annotate(pairs, ["chunk"]), words)
            add(corpus, "cepts, token + synthesis", chunks, bare, Alignments.from_links(links))
        add(corpus, "cepts, phrase", "of cepts", bare, phrase.align(bare))
    return Table(report.markdown(["corpus", "aligner", "chunks", "P", "R", "F1"], rows, text_columns=3), records)


def table4(run: PaperRun) -> Table:
    """Table 4: token-only and phrase-only alignments of EDB++P."""
    rows = [[f"{name} (published)", *(f"{figure:.1f}" for figure in figures)] for name, figures in KINDS.items()]
    records = []
    for name, make in _systems(run, "edinburghpp_phrasal").items():
        found = _score(run, *make())
        figures = [one for part in ("token", "phrase") for one in found.parts[part][:3]]
        rows.append([name, *(f"{100 * figure:.1f}" for figure in figures)])
        records.append({"aligner": name, **found.as_dict()})
    columns = ["aligner", "P token", "R token", "F1 token", "P phrase", "R phrase", "F1 phrase"]
    return Table(report.markdown(columns, rows), records)


def table5(run: PaperRun) -> Table:
    """Table 5: entailment, paraphrases and answers."""
    return phrases_applications.judged(_data(run), quick=run.quick, paper=True)


def figure1(run: PaperRun) -> Table:
    """Figure 1: its example, aligned by the English phrase model and drawn as a matrix."""
    from cepts.plot import plot_pair

    source, target = (tokenise(text) for text in FIGURE)
    aligner = PhraseAligner.load("phrase").set_params(links="phrases")
    alignment = aligner.align([(source, target)])[0]
    plot_pair(run.figures / "semicrf-figure1.svg", source, target, alignment, form="matrix")
    segments = alignment.segments or []
    rows = [
        [" ".join(source[slice(*one)]), " ".join(target[slice(*other)]), f"{confidence:.2f}"]
        for one, other, confidence in segments
    ]
    records = [{"source": one, "target": other, "confidence": float(confidence)} for one, other, confidence in rows]
    return Table(report.markdown(["source phrase", "target phrase", "confidence"], rows, text_columns=2), records)


TABLES: PaperTables = {
    "table1": table1,
    "table2": table2,
    "table3": table3,
    "fair": fair,
    "table4": table4,
    "table5": table5,
    "figure1": figure1,
}
