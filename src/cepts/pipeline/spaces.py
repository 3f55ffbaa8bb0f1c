"""Fitted spaces held against the tasks of word-vector spaces: translation, similarity, retrieval of sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cepts.data import Dictionary, Text, Vectors
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
from cepts.spaces import Space, retrieve, translate_words
from cepts.spaces.retrieve import Measure, unit_rows
from cepts.spaces.sentences import idf_weights, sentence_vectors, sif_vectors, sif_weights, simple_text
from cepts.spaces.translate import SOURCES

__all__ = [
    "SimilarityScores",
    "score_retrieval",
    "score_sentence_similarity",
    "score_translations",
    "score_word_similarity",
]

NEIGHBOURHOOD, TEMPERATURE = 10, 30  # of csls and of inverted-softmax, as `retrieve` has them


class SimilarityScores(NamedTuple):
    """A task with the language's vectors alone, and with their places in the space."""

    alone: SimilarityScore
    space: SimilarityScore


def score_translations(
    space: Space,
    source: Vectors,
    target: Vectors,
    dictionary: Dictionary,
    *,
    languages: tuple[int, int] = (0, 1),
    measure: str = "csls",
    at: Sequence[int] = (1, 5, 10),
    sources: int | None = SOURCES,
    threads: int | None = None,
    progress: Progress | None = None,
) -> TranslationScore:
    """Precision of word translation by the protocol of MUSE; the first column of `dictionary` is the source.

    Options are those of `cepts.spaces.translate_words`.
    """
    gold = gold_translations(dictionary, source, target)
    count = max(at)
    found = translate_words(
        space,
        source,
        target,
        gold.source,
        languages=languages,
        measure=measure,
        count=count,
        sources=sources,
        threads=threads,
        progress=progress,
    )
    score = translation_precision(gold, found.rows, at=at)
    facts: dict[str, object] = {**score.facts, "direction": _direction(space, languages), "measure": measure}
    facts["targets"] = len(target)
    if measure in ("csls", "inverted-softmax"):
        facts["sources"] = len(source) if sources is None else min(sources, len(source))
    return replace(score, facts={**facts, **_of_measure(measure)})


def score_word_similarity(space: Space, vectors: Vectors, view: int, task: WordSimilarities) -> SimilarityScores:
    """Correlation of cosines with people's judgements of pairs of words."""
    rows = np.unique(vectors.vocabulary.find([word for pair in task.pairs for word in pair]))
    rows = rows[rows >= 0]
    some = vectors.take(rows)
    placed = Vectors(some.vocabulary, space.project(some.matrix, view), vectors.name)
    return SimilarityScores(
        *(word_similarity(task.pairs, task.scores, words, name=task.name) for words in (some, placed))
    )


def score_sentence_similarity(
    space: Space, vectors: Vectors, view: int, tasks: Sequence[SentenceSimilarities], counts: Mapping[str, int]
) -> list[SimilarityScores]:
    """Correlation of cosines of SIF sentence vectors with people's judgements, for each task.

    Words count with unit vectors; `counts` are of a large text of the language.
    """
    weights = sif_weights(vectors.vocabulary, counts)
    matrices = unit_rows(vectors.matrix), unit_rows(space.project(vectors.matrix, view))
    scores = []
    for task in tasks:
        text = simple_text([*(first for first, _ in task.pairs), *(second for _, second in task.pairs)])
        found = []
        for matrix in matrices:
            rows = sif_vectors(text, Vectors(vectors.vocabulary, matrix, vectors.name), weights).matrix
            first, second = rows[: len(task)], rows[len(task) :]
            found.append(sentence_similarity(first, second, task.scores, name=task.name))
        scores.append(SimilarityScores(*found))
    return scores


def score_retrieval(
    space: Space,
    vectors: tuple[Vectors, Vectors],
    texts: tuple[Text, Text],
    *,
    languages: tuple[int, int] = (0, 1),
    measure: Measure = "csls",
    at: Sequence[int] = (1, 5, 10),
    queries: int = 2000,
    seed: int = 0,
    name: str = "",
    threads: int | None = None,
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
    sides = []
    for view, words, text in zip(languages, vectors, texts, strict=True):
        placed = Vectors(words.vocabulary, unit_rows(space.project(words.matrix, view)), words.name)
        sides.append(sentence_vectors(text, placed, idf_weights(text, words.vocabulary)))
    chosen = np.sort(np.random.default_rng(seed).permutation(pairs)[:queries])
    scores = []
    for asked, others, order in ((sides[0], sides[1], languages), (sides[1], sides[0], languages[::-1])):
        found = retrieve(
            asked.matrix[chosen], others.matrix, measure=measure, count=max(at), threads=threads, progress=progress
        )
        covered = asked.covered[chosen] & others.covered[chosen]
        score = retrieval_precision(found.rows, chosen, covered=covered, at=at, name=name)
        facts = {**score.facts, "direction": _direction(space, order), "measure": measure, "targets": pairs}
        scores.append(replace(score, facts={**facts, **_of_measure(measure), "queries-seed": seed}))
    return scores[0], scores[1]


def _direction(space: Space, languages: tuple[int, int]) -> str:
    return "-".join(space.languages[view] for view in languages)


def _of_measure(measure: str) -> dict[str, object]:
    match measure:
        case "csls":
            return {"neighbourhood": NEIGHBOURHOOD}
        case "inverted-softmax":
            return {"temperature": TEMPERATURE}
    return {}
