"""Lists of the best paths of a trained aligner."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cepts
import oracles_phrases as oracles
from cepts.data import Segment, Sentence, SentencePair
from cepts.errors import DataError, UsageError
from cepts.phrases.aligner import PhraseAligner
from cepts.phrases.crf import lattice_of
from toy_paraphrases import PHRASE, toy_pairs

TEST = toy_pairs(PhraseAligner.PAIRS_AT_A_TIME + 3, seed=1)


@pytest.fixture(scope="module")
def aligner():
    options = {"language": None, "lexical": PHRASE, "iterations": 10, "longest": 2, "widest": 2, "threads": 1}
    return PhraseAligner(**options).fit(toy_pairs(30))


def spans_of(segments):
    return [segment[:2] for segment in segments]


def test_lists_fall_and_begin_with_the_best_path(aligner):
    for combine, lists in zip(("forward", "reverse"), aligner.nbest(TEST, 5), strict=True):
        best = aligner.align(TEST, combine=combine).segments
        assert len(lists) == len(TEST)
        for alternatives, segments, score in zip(lists, best, best.scores, strict=True):
            assert len(alternatives) == 5
            assert alternatives[0].score == score and alternatives[0].segments == segments
            assert np.diff([each.score for each in alternatives]).max() <= 0
            assert len({tuple(spans_of(each.segments)) for each in alternatives}) == 5
            assert sum(math.exp(each.log_probability) for each in alternatives) <= 1 + 1e-9


def test_a_list_of_all_paths(aligner):
    def sentence(*tokens):
        return Sentence(tokens, lemma=tokens)

    pair = SentencePair(sentence("w1", "give", "up"), sentence("quit", "v1"))
    features = aligner.maker().features(pair)
    for weights, shape, (alternatives,) in zip(
        aligner.weights_, aligner.shapes(), aligner.nbest([pair], 10_000), strict=True
    ):
        lattice = lattice_of(features, weights, aligner.layout_.sizes, shape)
        log_z, (marginals, *_) = oracles.expectations(lattice)
        want = {}
        for path in oracles.paths_of(*lattice[:2]):
            parts = [
                (
                    ((j, j + wide), (i, i + size)) if shape.by_target else ((i, i + size), (j, j + wide)),
                    (i, size, j, wide),
                )
                for i, size, j, wide in path
                if j >= 0
            ]
            want[tuple(sorted(spans for spans, _ in parts))] = (
                oracles.path_score(path, *lattice),
                [marginals[i, size - 1, j, wide - 1] for _, (i, size, j, wide) in sorted(parts)],
            )
        assert len(alternatives) == len(want)
        assert sum(math.exp(each.log_probability) for each in alternatives) == pytest.approx(1.0)
        for each in alternatives:
            score, confidence = want.pop(tuple(spans_of(each.segments)))
            assert each.score == pytest.approx(score) and each.log_probability == pytest.approx(score - log_z)
            assert [segment.confidence for segment in each.segments] == pytest.approx(confidence, rel=1e-5)
            assert all(isinstance(segment, Segment) for segment in each.segments)
        assert np.diff([each.score for each in alternatives]).max() <= 0


def test_pairs_that_cannot_be_aligned_have_empty_lists(aligner):
    empty, word = Sentence((), lemma=()), Sentence(("w1",), lemma=("l1",))
    pairs = [SentencePair(empty, word), SentencePair(word, word), SentencePair(word, empty)]
    for lists in aligner.nbest(pairs, 3):
        # One word with one word: linked or not.
        assert [len(alternatives) for alternatives in lists] == [0, 2, 0]
        assert spans_of(lists[1][0].segments) == [((0, 1), (0, 1))] and lists[1][1].segments == []
    assert aligner.nbest([], 3) == ([], [])


def test_pairs_of_strings_are_listed_as_they_are_aligned():
    aligner = cepts.load("token", threads=1)
    pair = "Don't do it!", "Do not do it!"
    (forward,), _ = aligner.nbest([pair], 2)
    links = {(i, j) for (i, _), (j, _), _ in forward[0].segments}
    assert links == set(aligner.align([pair], combine="forward")[0].links)
    assert len(forward) == 2


def test_threads_change_nothing(aligner):
    one = aligner.nbest(TEST, 4)
    aligner.threads = 2
    try:
        assert aligner.nbest(TEST, 4) == one
    finally:
        aligner.threads = 1


def test_bad_arguments(aligner):
    with pytest.raises(UsageError, match=r"`count` must be 1 or more\. Got 0 instead"):
        aligner.nbest(TEST, 0)
    with pytest.raises(UsageError, match="is not trained"):
        PhraseAligner(language=None).nbest(TEST, 1)
    with pytest.raises(DataError, match=r"pair 36 has no lemma column"):
        aligner.nbest([*TEST, SentencePair(Sentence(("a",)), Sentence(("b",)))], 1)
