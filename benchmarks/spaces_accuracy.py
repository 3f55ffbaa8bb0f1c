"""The tables of `spaces.py` on two languages: word translation, sentence retrieval, word and sentence similarity."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np

import report
from cepts.data import Dictionary, Text, Vectors
from cepts.evaluate import (
    TranslationScore,
    retrieval_precision,
    sentence_similarity,
    word_similarity,
)
from cepts.io import read_counts, read_sentence_similarities, read_similarities
from cepts.pipeline.space_scores import score_translations
from cepts.pipeline.spaces import WordLookup
from cepts.spaces import (
    CCA,
    IBFA,
    LeastSquares,
    Preparation,
    Procrustes,
    Ridge,
    SpaceModel,
    identical_strings,
    retrieve,
)
from cepts.spaces.sentences import (
    IDF_FLOOR,
    MUSE_FLOOR,
    idf_weights,
    sentence_vectors,
    sif_vectors,
    sif_weights,
    simple_text,
)
from report import Table
from spaces_data import SpacesData

__all__ = [
    "FITS",
    "SIMILARITIES",
    "SentenceRetrieval",
    "look_up",
    "measures",
    "precisions",
    "sentences",
    "similarity",
    "sts",
    "training_entries",
    "translation",
]


# Title of a row or column -> how its space is fitted.
PAPER = IBFA.of_paper()
FITS: dict[str, SpaceModel] = {
    "least squares": LeastSquares(),
    "ridge": Ridge(),
    "SVD": Procrustes(),
    "CCA": CCA(),
    "IBFA, P^1/2 (paper)": PAPER,
    "IBFA, P^1": IBFA.of_paper(exponent=1.0),
    "IBFA": IBFA(),
}
# Title, the views, and where the training entries come from.
ROWS = (
    ("en-fr", "en", "fr", "train"),
    ("fr-en", "fr", "en", "train"),
    ("en-ru", "en", "ru", "train"),
    ("ru-en", "ru", "en", "train"),
    ("en-fr, identical strings", "en", "fr", "identical"),
    ("fr-en, identical strings", "fr", "en", "identical"),
    ("en-ru, identical strings", "en", "ru", "identical"),
    ("ru-en, identical strings", "ru", "en", "identical"),
    ("en-it, Europarl", "en europarl", "it europarl", "train"),
    ("it-en, Europarl", "it europarl", "en europarl", "train"),
    ("en-it, Europarl, identical strings", "en europarl", "it europarl", "identical"),
    ("it-en, Europarl, identical strings", "it europarl", "en europarl", "identical"),
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


def look_up(model: SpaceModel, source: str, target: str, test: Dictionary, measure: str) -> TranslationScore:
    """Score of the test words, looked up among all target words."""
    return score_translations(model, test, WordLookup(source=source, target=target, measure=measure, sources=None))


def training_entries(data: SpacesData, source: Vectors, target: Vectors, part: str) -> Dictionary:
    """Words that are spelt the same (*identical*), or a part of the MUSE dictionary."""
    return identical_strings([source, target]) if part == "identical" else data.muse(source.name, target.name, part)


def translation(data: SpacesData) -> Table:
    """P@1 by cosine / by CSLS of every method."""
    rows, records = [], []
    for title, first, second, part in ROWS:
        source, target = data.vectors(first), data.vectors(second)
        train = training_entries(data, source, target, part)
        test = data.muse(source.name, target.name, "test")
        cells = []
        for name, model in FITS.items():
            report.say(f"  {title}: {name}")
            model.fit([source, target], train)
            scores = {way: look_up(model, source.name, target.name, test, way) for way in ("cosine", "csls")}
            cells.append(" / ".join(f"{score.precision[1]:.1f}" for score in scores.values()))
            records.append(
                {"row": title, "fit": name, "settings": asdict(model.record_)}
                | {name: score.as_dict() for name, score in scores.items()}
            )
        score = scores["csls"]
        rows.append([title, f"{score.covered:,} of {score.asked:,}", *cells])
    return Table(report.markdown(["MUSE", "test words", *FITS], rows), records)


def measures(data: SpacesData) -> Table:
    """P@1, P@5, P@10 of IBFA by each measure."""
    names = ("cosine", "csls", "inverted-softmax", "likelihood")
    rows, records = [], []
    for title, first, second, _ in ROWS[:4]:
        source, target = data.vectors(first), data.vectors(second)
        model = IBFA().fit([source, target], data.muse(first, second, "train"))
        test = data.muse(first, second, "test")
        scores = [look_up(model, first, second, test, name) for name in names]
        rows.append([title, *map(precisions, scores)])
        records += [{"row": title, "measure": n, **s.as_dict()} for n, s in zip(names, scores, strict=True)]
    return Table(report.markdown(["IBFA, P@1 / 5 / 10", *names], rows), records)


class SentenceRetrieval:
    """Europarl's sentences in English and Italian: the first ones are looked up among all, by weighted means of words.

    `floor` is the least weight of a word, and `sentences` the number of sentence pairs, by default all.
    """

    def __init__(self, data: SpacesData, *, floor: float = IDF_FLOOR, sentences: int | None = None) -> None:
        self.views = [data.vectors("en europarl"), data.vectors("it europarl")]
        self.texts = [text.part(0, sentences or len(text)) for text in europarl_texts(data)]
        # Weights from the sentences that are not asked for.
        counted = [text.part(QUERIES, len(text)) for text in self.texts]
        skip = floor == MUSE_FLOOR
        self.idf = [
            idf_weights(text, view.vocabulary, floor=floor, skip_unseen=skip)
            for text, view in zip(counted, self.views, strict=True)
        ]

    def score(self, model: SpaceModel, targets: int | None = None) -> dict[tuple[str, str], TranslationScore]:
        """The score of each direction and measure in a fitted space, among the first `targets`, by default all."""
        placed = [
            sentence_vectors(text, model.aligned(view.name), weights)
            for text, view, weights in zip(self.texts, self.views, self.idf, strict=True)
        ]
        scores = {}
        for title, (x, y) in (("en-it", placed), ("it-en", placed[::-1])):
            asked, covered = x.matrix[:QUERIES], (x.covered & y.covered)[:QUERIES]
            for measure in ("cosine", "csls"):
                found = retrieve(asked, y.matrix[:targets], measure=measure, count=10)
                scores[title, measure] = retrieval_precision(found.rows, np.arange(len(asked)), covered=covered)
        return scores


@cache
def europarl_texts(data: SpacesData) -> tuple[Text, Text]:
    """The English and the Italian sentences."""
    (path,) = data.files("europarl-en-it", ["en-it.tsv.gz"])
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    return simple_text([line[0] for line in lines]), simple_text([line[1] for line in lines])


def sentences(data: SpacesData) -> Table:
    """P@1 of Europarl's sentences among all those of the other language."""
    task = SentenceRetrieval(data)
    train = data.muse("en", "it", "train")
    rows, records = [], []
    for fit in ("SVD", "CCA", "IBFA, P^1/2 (paper)", "IBFA, P^1", "IBFA"):
        report.say(f"  {fit}")
        cells = []
        for (direction, measure), score in task.score(FITS[fit].fit(task.views, train)).items():
            cells.append(precisions(score))
            records.append({"fit": fit, "direction": direction, "measure": measure, **score.as_dict()})
        rows.append([fit, *cells])
    columns = ["P@1 / 5 / 10", "en-it, cosine", "en-it, CSLS", "it-en, cosine", "it-en, CSLS"]
    return Table(report.markdown(columns, rows), records)


def precisions(score: TranslationScore) -> str:
    """P@1, P@5 and P@10."""
    return " / ".join(f"{score.precision[k]:.1f}" for k in (1, 5, 10))


def _english(data: SpacesData) -> dict[str, Vectors]:
    """English alone, and in spaces with French that are fitted on the whole dictionary."""
    english, french = data.vectors("en"), data.vectors("fr")
    train = data.muse("en", "fr", "full")
    alone = Preparation.learn(english.matrix, ("unit", "centre"))[1]
    views = {"English alone (unit, centred)": english.moved(alone)}
    for fit in ("CCA", "IBFA, P^1/2 (paper)", "IBFA"):
        views[fit] = FITS[fit].fit([english, french], train).aligned("en")
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
