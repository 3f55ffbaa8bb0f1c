"""Encoders as scorers: the arithmetic of each method, contexts, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import oracles_encoders as oracles
import oracles_space_links
from cepts.data import Bitext
from cepts.encoders import EncoderScorer, Similarity
from cepts.errors import DataError, UsageError
from toy_encoders import ContextEncoder, StaticEncoder, vector_of

PAIRS = [
    ("en1 en2 en3", "fr2 fr1 fr3"),
    ("en4", "fr4 fr5 fr6"),
    ("", "fr1"),
    ("en9 en8 en7 en6 en5 en5", "fr9 fr7 fr8 fr5 fr6"),
]
HOW = {"temperature": 6.0, "null": 0.1, "diagonal": 2.0, "support": 1.5, "rounds": 2}


def wanted_logits(encoder, source, target, *, temperature, null, diagonal, support, rounds, centred=True):
    sides = (encoder.encode([words], side).astype(np.float64) for side, words in enumerate((source, target)))
    one, other = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in sides)
    cosines = oracles.centred(one @ other.T) if centred else one @ other.T
    how = {"temperature": temperature, "null": null, "diagonal": diagonal, "support": support, "rounds": rounds}
    return oracles_space_links.shares(cosines, **how)


@pytest.mark.parametrize("encoder", [StaticEncoder(), ContextEncoder()])
@pytest.mark.parametrize("centred", [True, False])
def test_softmax_equals_the_plain_twin(encoder, centred):
    forward, reverse = EncoderScorer(encoder, Similarity(**HOW, centred=centred), threads=1).posteriors(PAIRS)
    sources, targets = (
        np.split(null, at[1:-1])
        for null, at in ((reverse.source_null, reverse.source_offsets), (forward.target_null, forward.target_offsets))
    )
    for pair, (source, target) in enumerate(PAIRS):
        if not source:
            assert forward[pair].size == 0
            continue
        wanted = wanted_logits(encoder, source.split(), target.split(), **HOW, centred=centred)
        for found, want in zip((forward[pair], reverse[pair], sources[pair], targets[pair]), wanted[:4], strict=True):
            np.testing.assert_allclose(found, want, atol=1e-4)


@pytest.mark.parametrize(("method", "rounds"), [("argmax", 1), ("itermax", 2)])
def test_argmax_keeps_the_shares_of_mutually_best_cells(method, rounds):
    encoder = StaticEncoder()
    forward, reverse = EncoderScorer(encoder, Similarity(method=method, **HOW), threads=1).posteriors(PAIRS)
    source, target = (text.split() for text in PAIRS[3])
    ahead, back, *_, logits = wanted_logits(encoder, source, target, **HOW)
    kept = oracles.iterated_argmax(logits - logits.min() + 1.0, rounds)
    np.testing.assert_allclose(forward[3], np.where(kept, ahead, 0), atol=1e-4)
    np.testing.assert_allclose(reverse[3], np.where(kept, back, 0), atol=1e-4)
    nulls = np.split(forward.target_null, forward.target_offsets[1:-1])[3]
    np.testing.assert_allclose(nulls, 1 - forward[3].sum(axis=0), atol=1e-5)
    links = EncoderScorer(encoder, Similarity(method=method, **HOW), threads=1).align(PAIRS)
    assert sorted(links[3].links) == sorted(map(tuple, np.argwhere(kept).tolist()))


def test_transport_gives_shares_of_each_word_and_keeps_the_rest_for_null():
    how = {**HOW, "temperature": 3.0}
    encoder, stay = StaticEncoder(), 0.75
    scorer = EncoderScorer(encoder, Similarity(method="transport", stay=stay, **how), threads=1)
    forward, reverse = scorer.posteriors(PAIRS[:1])
    source, target = (text.split() for text in PAIRS[0])
    logits = wanted_logits(encoder, source, target, **how)[4]
    plan = oracles.transport(logits, how["temperature"] * how["null"], stay)
    for found, null, mass in (
        (forward[0], forward.target_null, plan * len(target)),
        (reverse[0].T, reverse.source_null, plan.T * len(source)),
    ):
        sums = mass.sum(axis=0)
        np.testing.assert_allclose(found, mass / np.maximum(sums, 1), atol=5e-3)
        np.testing.assert_allclose(null, np.maximum(1 - sums, 0), atol=5e-3)


def test_each_word_is_encoded_once_unless_context_matters():
    bitext = Bitext.from_tokens(PAIRS * 3)
    encoder = StaticEncoder()
    scorer = EncoderScorer(encoder, threads=1)
    scorer.align(bitext)
    scorer.align(bitext.part(2, 6))
    assert encoder.calls == 2  # the two vocabularies


@pytest.mark.parametrize("method", ["softmax", "argmax", "itermax", "transport"])
def test_toy_words_find_each_other(method):
    links = EncoderScorer(StaticEncoder(), Similarity(method=method), threads=1).align(PAIRS)
    assert set(links[0].links) >= {(0, 1), (1, 0), (2, 2)}
    assert (0, 0) in links[1].links


@pytest.mark.parametrize("method", ["softmax", "transport"])
def test_a_word_without_a_partner_goes_to_null(method):
    scorer = EncoderScorer(StaticEncoder(), Similarity(method=method, support=0.0, null=0.3), threads=1)
    forward, _ = scorer.posteriors([("en1 en2 en3", "fr1 fr40 fr2 fr3")])
    assert forward.target_null.argmax() == 1
    assert forward.target_null[1] > 0.5


def test_long_pairs_are_left_out():
    scorer = EncoderScorer(StaticEncoder(), Similarity(max_length=4), threads=1)
    assert [len(links.links) > 0 for links in scorer.align(PAIRS)] == [True, True, False, False]


class Broken:
    contextual, name = False, "broken"

    def __init__(self, make):
        self.encode = lambda sentences, side: make([vector_of(w) for s in sentences for w in s], side)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda rows, side: np.zeros((len(rows), 3 + side)),
            "vectors of 3 numbers for the source and 4 for the target",
        ),
        (lambda rows, side: np.zeros((len(rows) + 1, 3)), "wanted one vector for each of"),
        (lambda rows, side: np.zeros(len(rows)), "wanted one vector for each of"),
        (lambda rows, side: np.full((len(rows), 3), np.nan), "NaN or infinity"),
    ],
)
def test_wrong_vectors_are_refused_in_one_line(make, message):
    with pytest.raises(DataError, match=message) as caught:
        EncoderScorer(Broken(make), threads=1).align(PAIRS)
    assert str(caught.value).startswith("broken: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"method": "softmix"}, {"temperature": -1}, {"null": np.nan}, {"best_rounds": 0}, {"stay": -1}]
)
def test_wrong_options_are_refused(options):
    with pytest.raises(UsageError, match=f"`{next(iter(options))}`"):
        Similarity(**options)
