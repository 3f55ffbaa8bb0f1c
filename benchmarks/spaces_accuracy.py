"""The tables of `spaces.py` on two languages: word translation, sentence retrieval, word and sentence similarity."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import report
from cepts.data import Dictionary, Vectors
from cepts.evaluate import (
    TranslationScore,
    retrieval_precision,
    sentence_similarity,
    word_similarity,
)
from cepts.io import read_counts, read_sentence_similarities, read_similarities
from cepts.pipeline.spaces import score_translations
from cepts.spaces import Induction, Preparation, Space, fit_space, identical_strings, retrieve
from cepts.spaces.sentences import idf_weights, sentence_vectors, sif_vectors, sif_weights, simple_text
from report import Table
from spaces_data import SpacesData

__all__ = ["measures", "sentences", "similarity", "sts", "translation"]


@dataclass(frozen=True)
class Fit:
    """A row's or column's way to fit a space."""

    title: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    induction: Induction | None = None

    def __call__(self, views: list[Vectors], dictionary: Dictionary) -> Space:
        return fit_space(views, dictionary, induction=self.induction, **self.settings)[0]


PAPER = {"exponent": 0.5, "shrinkage": 0.0, "weighted": False}
BASELINES = (
    Fit("least squares", {"method": "least-squares"}),
    Fit("ridge", {"method": "ridge"}),
    Fit("SVD", {"method": "procrustes"}),
    Fit("CCA", {"method": "cca"}),
)
IBFA = Fit("IBFA")
FITS = (
    *BASELINES,
    Fit("IBFA, P^1/2 (paper)", PAPER),
    Fit("IBFA, P^1", {**PAPER, "exponent": 1.0}),
    IBFA,
    Fit("IBFA, induced", induction=Induction()),
)
# Title, the views, and where the training entries come from.
ROWS = (
    ("en-fr", "en", "fr", "train"),
    ("fr-en", "fr", "en", "train"),
    ("en-ru", "en", "ru", "train"),
    ("ru-en", "ru", "en", "train"),
    ("en-fr, identical strings", "en", "fr", "identical"),
    ("fr-en, identical strings", "fr", "en", "identical"),
    ("en-it, Europarl", "en europarl", "it europarl", "train"),
    ("it-en, Europarl", "it europarl", "en europarl", "train"),
)
QUERIES = 2000
SIMILARITIES = (
    "WS-353-ALL",
    "WS-353-SIM",
    "WS-353-REL",
    "RG-65",
    "MC-30",
    "MTurk-287",
    "MTurk-771",
    "MEN-TR-3k",
    "SIMLEX-999",
)


def look_up(space: Space, source: Vectors, target: Vectors, test: Dictionary, measure: str) -> TranslationScore:
    """Score of the test words, looked up among all target words."""
    languages = space.view(source.name), space.view(target.name)
    return score_translations(space, source, target, test, languages=languages, measure=measure, sources=None)


def translation(data: SpacesData) -> Table:
    """P@1 by cosine / by CSLS of every method."""
    rows, records = [], []
    for title, first, second, part in ROWS:
        source, target = data.vectors(first), data.vectors(second)
        train = (
            identical_strings([source, target]) if part == "identical" else data.muse(source.name, target.name, part)
        )
        test = data.muse(source.name, target.name, "test")
        cells = []
        for fit in FITS:
            report.say(f"  {title}: {fit.title}")
            space = fit([source, target], train)
            scores = {name: look_up(space, source, target, test, name) for name in ("cosine", "csls")}
            cells.append(" / ".join(f"{score.precision[1]:.1f}" for score in scores.values()))
            records.append(
                {"row": title, "fit": fit.title, "settings": space.settings}
                | {name: score.as_dict() for name, score in scores.items()}
            )
        score = scores["csls"]
        rows.append([title, f"{score.covered:,} of {score.asked:,}", *cells])
    return Table(report.markdown(["MUSE", "test words", *(fit.title for fit in FITS)], rows), records)


def measures(data: SpacesData) -> Table:
    """P@1, P@5, P@10 of IBFA by each measure."""
    names = ("cosine", "csls", "inverted-softmax", "likelihood")
    rows, records = [], []
    for title, first, second, _ in ROWS[:4]:
        source, target = data.vectors(first), data.vectors(second)
        space = IBFA([source, target], data.muse(first, second, "train"))
        test = data.muse(first, second, "test")
        scores = [look_up(space, source, target, test, name) for name in names]
        rows.append([title, *(" / ".join(f"{score.precision[k]:.1f}" for k in (1, 5, 10)) for score in scores)])
        records += [{"row": title, "measure": n, **s.as_dict()} for n, s in zip(names, scores, strict=True)]
    return Table(report.markdown(["IBFA, P@1 / 5 / 10", *names], rows), records)


def sentences(data: SpacesData) -> Table:
    """P@1 of Europarl's sentences among all those of the other language."""
    english, italian = data.vectors("en europarl"), data.vectors("it europarl")
    train = data.muse("en", "it", "train")
    (path,) = data.files("europarl-en-it", ["en-it.tsv.gz"])
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    texts = [simple_text([line[side] for line in lines]) for side in (0, 1)]
    # Weights from the sentences that are not asked for.
    idf = [
        idf_weights(text.part(QUERIES, len(text)), view.vocabulary)
        for text, view in zip(texts, (english, italian), strict=True)
    ]
    rows, records = [], []
    for fit in (Fit("SVD", {"method": "procrustes"}), Fit("CCA", {"method": "cca"}), *FITS[4:7]):
        report.say(f"  {fit.title}")
        space = fit([english, italian], train)
        placed = []
        for text, view, weights in zip(texts, (english, italian), idf, strict=True):
            mapped = Vectors(view.vocabulary, space.project(view.matrix, view.name), view.name)
            placed.append(sentence_vectors(text, mapped, weights).matrix)
        cells = []
        for title, (x, y) in (("en-it", placed), ("it-en", placed[::-1])):
            for measure in ("cosine", "csls"):
                found = retrieve(x[:QUERIES], y, measure=measure, sources=x[:QUERIES], count=10)  # type: ignore[arg-type]
                score = retrieval_precision(found.rows, np.arange(QUERIES))
                cells.append(" / ".join(f"{score.precision[k]:.1f}" for k in (1, 5, 10)))
                records.append({"fit": fit.title, "direction": title, "measure": measure, **score.as_dict()})
        rows.append([fit.title, *cells])
    columns = ["P@1 / 5 / 10", "en-it, cosine", "en-it, CSLS", "it-en, cosine", "it-en, CSLS"]
    return Table(report.markdown(columns, rows), records)


def _english(data: SpacesData) -> dict[str, Vectors]:
    """English alone, and in spaces with French that are fitted on the whole dictionary."""
    english, french = data.vectors("en"), data.vectors("fr")
    train = data.muse("en", "fr", "full")
    alone = Preparation.learn(english.matrix, ("unit", "centre"))[1]
    views = {"English alone (unit, centred)": Vectors(english.vocabulary, alone, "en")}
    for fit in (Fit("CCA", {"method": "cca"}), FITS[4], IBFA):
        space = fit([english, french], train)
        views[fit.title] = Vectors(english.vocabulary, space.project(english.matrix, "en"), "en")
    return views


def similarity(data: SpacesData) -> Table:
    """Spearman correlations with what people say of word pairs."""
    tasks = [read_similarities(path) for path in data.files("wordsim", [f"EN-{name}.txt" for name in SIMILARITIES])]
    return _spearman(
        _english(data),
        {
            name: lambda view, task=task: word_similarity(task.pairs, task.scores, view).spearman
            for name, task in zip(SIMILARITIES, tasks, strict=True)
        },
    )


def sts(data: SpacesData) -> Table:
    """Spearman correlations with what people say of sentence pairs; means over the files of a year."""
    (path,) = data.files("sif", ["enwiki_vocab_min200.txt"])
    counts = read_counts(path)

    def year(view: Vectors, paths: list[Any]) -> float:
        weights = sif_weights(view.vocabulary, counts)
        found = []
        for file in paths:
            task = read_sentence_similarities(file)
            text = simple_text([pair[0] for pair in task.pairs] + [pair[1] for pair in task.pairs])
            matrix = sif_vectors(text, view, weights).matrix
            found.append(sentence_similarity(*np.split(matrix, 2), task.scores).spearman)
        return float(np.mean(found))

    years = {}
    for number in range(2012, 2017):
        paths = sorted((data.root / "sts" / str(number)).glob("*.tsv"))
        paths = [file for file in paths if "train" not in file.name]
        years[f"STS{number % 100}"] = lambda view, paths=paths: year(view, paths)
    return _spearman(_english(data), years)


def _spearman(views: Mapping[str, Vectors], tasks: Mapping[str, Callable[[Vectors], float]]) -> Table:
    rows, records = [], []
    for title, view in views.items():
        values = {name: score(view) for name, score in tasks.items()}
        rows.append([title, *(f"{value:.1f}" for value in values.values())])
        records.append({"vectors": title, **values})
    return Table(report.markdown(["Spearman, %", *tasks], rows), records)
