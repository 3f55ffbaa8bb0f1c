"""Scores of fitted spaces: word translation, word and sentence similarity, retrieval of sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cepts.data import Dictionary, Text
from cepts.errors import DataError
from cepts.evaluate import (
    SimilarityScore,
    TranslationScore,
    gold_translations,
    retrieval_precision,
    sentence_similarity,
    translation_precision,
    word_similarity,
)
from cepts.io import SentenceSimilarities, WordSimilarities
from cepts.progress import Progress
from cepts.spaces import SpaceModel, retrieve
from cepts.spaces.model import SOURCES
from cepts.spaces.retrieve import unit_rows
from cepts.spaces.sentences import idf_weights, sentence_vectors, sif_vectors, sif_weights, simple_text

NEIGHBOURHOOD, TEMPERATURE = 10, 30  # of csls and of inverted-softmax, as `retrieve` has them


class SimilarityScores(NamedTuple):
    """Scores of a task by the language's vectors alone, and by their places in the space.

    `about` is what a signature says beside the facts of the task.
    """

    alone: SimilarityScore
    space: SimilarityScore
    about: Mapping[str, object] = {}


def score_translations(
    model: SpaceModel,
    dictionary: Dictionary,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    measure: str = "csls",
    at: Sequence[int] = (1, 5, 10),
    sources: int | None = SOURCES,
    progress: Progress | None = None,
) -> TranslationScore:
    """Precision of word translation by the protocol of MUSE; the first column of `dictionary` is the source.

    Options are those of `cepts.spaces.SpaceModel.translate`.
    """
    space = model.space_
    languages = space.direction(source, target)
    known, others = (model.vectors(view) for view in languages)
    gold = gold_translations(dictionary, known, others)
    found = model.neighbours(
        gold.source,
        source=languages[0],
        target=languages[1],
        measure=measure,
        count=max(at),
        sources=sources,
        progress=progress,
    )
    score = translation_precision(gold, found.rows, at=at)
    facts: dict[str, object] = {**score.facts, "direction": _direction(model, languages), "measure": measure}
    facts["targets"] = len(others)
    if measure in ("csls", "inverted-softmax"):
        facts["sources"] = len(known) if sources is None else min(sources, len(known))
    return replace(score, facts={**facts, **_of_measure(measure)})


def score_word_similarity(model: SpaceModel, task: WordSimilarities, *, language: str | int = 0) -> SimilarityScores:
    """Correlation of cosines with human judgements of pairs of words."""
    vectors = model.vectors(language)
    rows = np.unique(vectors.vocabulary.find([word for pair in task.pairs for word in pair]))
    alone = vectors.take(rows[rows >= 0])
    placed = alone.moved(model.project(alone.matrix, language))
    before, after = (word_similarity(task.pairs, task.scores, words, name=task.name) for words in (alone, placed))
    return SimilarityScores(before, after)


def score_sentence_similarity(
    model: SpaceModel, tasks: Sequence[SentenceSimilarities], counts: Mapping[str, int], *, language: str | int = 0
) -> list[SimilarityScores]:
    """Correlation of cosines of SIF sentence vectors with human judgements, for each task.

    Words count with unit vectors; `counts` are of a large text of the language.
    """
    vectors = model.vectors(language)
    weights = sif_weights(vectors.vocabulary, counts)
    alone, placed = (
        vectors.moved(unit_rows(matrix)) for matrix in (vectors.matrix, model.project(vectors.matrix, language))
    )
    scores = []
    for task in tasks:
        text = simple_text([*(first for first, _ in task.pairs), *(second for _, second in task.pairs)])
        found = []
        for words in (alone, placed):
            rows = sif_vectors(text, words, weights).matrix
            first, second = rows[: len(task)], rows[len(task) :]
            found.append(sentence_similarity(first, second, task.scores, name=task.name))
        scores.append(SimilarityScores(found[0], found[1]))
    return scores


def score_retrieval(
    model: SpaceModel,
    texts: tuple[Text, Text],
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    measure: str = "csls",
    at: Sequence[int] = (1, 5, 10),
    queries: int = 2000,
    seed: int = 0,
    name: str = "",
    progress: Progress | None = None,
) -> tuple[TranslationScore, TranslationScore]:
    """Precision of finding a sentence's translation among all sentences of the other side, in both directions.

    Sentences are means of unit vectors of their words, weighted by inverse document frequencies.

    Parameters
    ----------
    texts
        Sentence `n` of one is the translation of sentence `n` of the other.
    queries
        How many sentences are looked up, drawn with `seed`; all of them where there are fewer.
    """
    pairs = len(texts[0])
    if pairs != len(texts[1]):
        raise DataError(f"found {pairs:,} source and {len(texts[1]):,} target sentences, wanted as many of both.")
    if pairs < max(at):
        raise DataError(f"found {pairs:,} sentence pairs, wanted at least {max(at)}, as many as are to be found.")
    languages = model.space_.direction(source, target)
    sides = []
    for view, text in zip(languages, texts, strict=True):
        words = model.aligned(view)
        placed = words.moved(unit_rows(words.matrix))
        sides.append(sentence_vectors(text, placed, idf_weights(text, words.vocabulary)))
    chosen = np.sort(np.random.default_rng(seed).permutation(pairs)[:queries])
    scores = []
    for asked, others, order in ((sides[0], sides[1], languages), (sides[1], sides[0], languages[::-1])):
        found = retrieve(
            asked.matrix[chosen],
            others.matrix,
            measure=measure,
            count=max(at),
            threads=model.threads,
            progress=progress,
        )
        covered = asked.covered[chosen] & others.covered[chosen]
        score = retrieval_precision(found.rows, chosen, covered=covered, at=at, name=name)
        facts = {**score.facts, "direction": _direction(model, order), "measure": measure, "targets": pairs}
        scores.append(replace(score, facts={**facts, **_of_measure(measure), "queries-seed": seed}))
    return scores[0], scores[1]


def _direction(model: SpaceModel, languages: tuple[int, int]) -> str:
    return "-".join(model.space_.languages[view] for view in languages)


def _of_measure(measure: str) -> dict[str, object]:
    match measure:
        case "csls":
            return {"neighbourhood": NEIGHBOURHOOD}
        case "inverted-softmax":
            return {"temperature": TEMPERATURE}
    return {}
