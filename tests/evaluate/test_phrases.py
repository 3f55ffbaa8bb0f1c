from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_phrase_scores as oracles
from cepts import evaluate
from cepts.data import Alignments, Sentence, SentencePair
from cepts.errors import DataError
from cepts.evaluate import PARTS, score_phrases
from cepts.names import PROTOCOLS

WORDS = st.lists(st.sampled_from(["a", "b", "B"]), max_size=4)


def sentence_pair(source, target, sure, possible=()):
    return SentencePair(
        Sentence(tuple(source)), Sentence(tuple(target)), "", tuple(sorted(sure)), tuple(sorted(possible))
    )


@st.composite
def scored_pairs(draw):
    """Tokens, sure, possible and predicted links of a pair."""
    source, target = draw(WORDS), draw(WORDS)
    cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
    links = st.sets(st.sampled_from(cells)) if cells else st.just(set())
    sure = draw(links)
    return source, target, sure, draw(links) - sure, draw(links)


@settings(deadline=None, max_examples=200)
@given(st.lists(scored_pairs(), min_size=1, max_size=4), st.sampled_from(PROTOCOLS), st.booleans())
def test_scores_equal_the_oracle(cases, protocol, possible):
    gold = [sentence_pair(*case[:4]) for case in cases]
    got = score_phrases(gold, Alignments.from_links(case[4] for case in cases), protocol=protocol, possible=possible)
    plain = []
    for source, target, sure, extra, predicted in cases:
        allowed = sure | extra if possible else sure
        plain.append((source, target, allowed if protocol == "multimwa" else sure, allowed, predicted))
    want, exact = oracles.phrase_scores(plain, protocol)
    assert got.exact == pytest.approx(exact)
    for part in PARTS:
        scores = got.parts[part]
        assert (scores.precision, scores.recall, scores.f1) == pytest.approx(want[part], abs=1e-8), part


# Two pairs worked by hand: of a pair's two predicted links one is right, and the other pair is perfect.
GOLD = [
    sentence_pair("ab", "ac", [(0, 0), (1, 1)], [(1, 0)]),
    sentence_pair("xyz", "xyw", [(0, 0), (0, 1), (1, 0), (1, 1)]),
]
PREDICTED = Alignments.from_links([[(0, 0), (1, 0)], [(0, 0), (0, 1), (1, 0), (1, 1)]])


def test_worked_by_hand():
    macro = score_phrases(GOLD, PREDICTED)
    assert (macro.precision, macro.recall, macro.f1, macro.exact) == (0.75, 0.75, 0.75, 0.5)
    micro = score_phrases(GOLD, PREDICTED, protocol="micro")
    assert (micro.precision, micro.recall) == pytest.approx((5 / 6, 5 / 6))
    allowed = score_phrases(GOLD, PREDICTED, possible=True)
    assert (allowed.precision, allowed.recall, allowed.exact) == (1, 0.75, 0.5)
    all_gold = score_phrases(GOLD, PREDICTED, possible=True, protocol="multimwa")
    assert (all_gold.precision, all_gold.recall) == pytest.approx((1, (2 / 3 + 1) / 2))
    phrase = macro.parts["phrase"]
    assert (phrase.predicted, phrase.gold) == (2, 1)
    assert (phrase.precision, phrase.recall) == (0.5, 0.5)


def test_running_counts_are_those_of_jacana():
    """The first pair's miss is counted again with the second, and not if the order is the other."""
    got = score_phrases(GOLD, PREDICTED, protocol="jacana")
    assert got.f1 == score_phrases(GOLD, PREDICTED).f1
    assert got.parts["identical"].precision == 1
    assert got.parts["other"].precision == pytest.approx((0 / 1 + 2 / 3) / 2)
    turned = score_phrases(GOLD[::-1], PREDICTED.take(np.array([1, 0])), protocol="jacana")
    assert turned.parts["other"].precision == pytest.approx((2 / 2 + 2 / 3) / 2)


def test_identical_is_case_sensitive():
    got = score_phrases([sentence_pair("A", "a", [(0, 0)])], Alignments.from_links([[(0, 0)]]))
    assert (got.parts["identical"].gold, got.parts["other"].gold) == (0, 1)


def test_pairs_without_links():
    gold = [sentence_pair("", "a", []), sentence_pair("a", "a", [(0, 0)])]
    links = Alignments.from_links([[], [(0, 0)]])
    assert score_phrases(gold, links).precision == 0.5
    assert score_phrases(gold, links, protocol="multimwa").precision == 1
    assert score_phrases(gold, links).exact == 1
    assert score_phrases([], Alignments.from_links([])).f1 == 0


def test_signatures_name_the_protocol_and_the_gold():
    assert score_phrases(GOLD, PREDICTED).signature.startswith("pairs:2|protocol:macro|gold:sure|cepts:")
    got = score_phrases(GOLD, PREDICTED, protocol="jacana", possible=True).signature
    assert got.startswith("pairs:2|protocol:jacana|gold:sure,possible-allowed|")
    assert "gold:sure+possible|" in score_phrases(GOLD, PREDICTED, protocol="multimwa", possible=True).signature


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_intervals_and_differences(protocol):
    gold, predicted = GOLD * 20, Alignments.concatenate([PREDICTED] * 20)
    one = score_phrases(gold, predicted, protocol=protocol)
    ranges = evaluate.intervals(one, samples=200)
    assert set(ranges) == set(one.metric_names)
    assert ranges["f1"].low < one.f1 < ranges["f1"].high
    assert ranges["exact"].low < one.exact < ranges["exact"].high
    assert ("phrase_f1" in ranges) == (protocol != "jacana")
    perfect = score_phrases(gold, Alignments.from_links(pair.sure for pair in gold), protocol=protocol)
    gap = evaluate.differences(one, perfect, samples=200)["f1"]
    assert gap.value == pytest.approx(1 - one.f1)
    assert gap.p_value < 0.01


def test_as_dict_is_json():
    got = score_phrases(GOLD, PREDICTED).as_dict()
    assert got["pairs"] == 2
    assert got["all"] == {"precision": 0.75, "recall": 0.75, "f1": 0.75, "predicted": 6, "gold": 6}


def test_bad_input():
    bare = SentencePair(Sentence(("a",)), Sentence(("a",)), "p3")
    with pytest.raises(DataError, match=r"sentence pair 1 \(p3\): found no gold links"):
        score_phrases([bare], Alignments.from_links([[]]))
    with pytest.raises(DataError, match="2 sentence pairs but the system's are for 1"):
        score_phrases(GOLD, PREDICTED.part(0, 1))
    with pytest.raises(DataError, match="the predicted links: sentence pair 1 has the link 0-5"):
        score_phrases(GOLD[:1], Alignments.from_links([[(0, 5)]]))
    with pytest.raises(DataError, match="the gold links: sentence pair 1 has the link 3-0"):
        score_phrases([sentence_pair("a", "a", [(3, 0)])], Alignments.from_links([[]]))
    with pytest.raises(ValueError, match="`protocol` must be one of"):
        score_phrases(GOLD, PREDICTED, protocol="meteor")
