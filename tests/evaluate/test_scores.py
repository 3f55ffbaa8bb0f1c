from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepts import evaluate
from cepts.data import Alignments, offsets_of
from cepts.errors import DataError, UsageError
from cepts.names import NULL_TIERS

SIZE = 4
link_sets = st.sets(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=8)
cases = st.lists(st.tuples(link_sets, link_sets, link_sets), max_size=4)


def gold_of(rows):
    """Alignments of (sure, possible) sets of links."""
    links = [sorted(sure | possible) for sure, possible in rows]
    plain = Alignments.from_links(links)
    sure = [link in row[0] for row, flat in zip(rows, links, strict=True) for link in flat]
    return Alignments(plain.offsets, plain.source, plain.target, plain.confidence, np.array(sure, dtype=np.bool_))


def unlinked(links, size):
    """The links to null (None) of the words that have no other."""
    return {(i, None) for i in range(size) if i not in {a for a, _ in links}} | {
        (None, j) for j in range(size) if j not in {b for _, b in links}
    }


def ratio(part, whole):
    return part / whole if whole else 1.0


null_sets = st.sets(
    st.one_of(st.tuples(st.integers(0, SIZE - 1), st.none()), st.tuples(st.none(), st.integers(0, SIZE - 1))),
    max_size=3,
)


def with_nulls(links, rows):
    """The links with null links as a file states them, given as (sure, possible) sets of each pair."""
    columns = links.columns()
    for pair, tiers in enumerate(rows):
        for tier, found in zip((True, False), tiers, strict=True):
            for i, j in found:
                added = (pair, -1 if i is None else i, -1 if j is None else j, 1.0, tier)
                columns = [
                    np.append(column, np.array([value], column.dtype))
                    for column, value in zip(columns, added, strict=True)
                ]
    return Alignments.from_columns(len(links), *columns)


@given(cases, st.lists(st.tuples(null_sets, null_sets, null_sets), min_size=4, max_size=4), st.sampled_from(NULL_TIERS))
def test_scores_equal_those_of_sets(rows, stated, null):
    """Eqs. (8) to (11) of onmf on plain sets that carry the number of their pair."""
    sure, possible, system = set(), set(), set()
    for pair, ((s, p, a), (null_s, null_p, null_a)) in enumerate(zip(rows, stated[: len(rows)], strict=True)):
        nulls = {"sure": set(), "possible": set(), "system": set()}
        if null != "no":
            rest = set() if null == "gold" else unlinked(s | p, SIZE) - null_s - null_p
            nulls["sure"] = null_s | (rest if null == "sure" else set())
            nulls["possible"] = null_s | null_p | rest
            nulls["system"] = null_a | unlinked(a, SIZE)
        sure |= {(pair, *link) for link in s | nulls["sure"]}
        possible |= {(pair, *link) for link in s | p | nulls["possible"]}
        system |= {(pair, *link) for link in a | nulls["system"]}
    lengths = [SIZE] * len(rows)
    got = evaluate.compare(
        with_nulls(gold_of([(s, p) for s, p, _ in rows]), [one[:2] for one in stated[: len(rows)]]),
        with_nulls(Alignments.from_links(a for _, _, a in rows), [(set(), one[2]) for one in stated[: len(rows)]]),
        source_lengths=lengths,
        target_lengths=lengths,
        null=null,
    ).scores
    assert (got.links, got.sure, got.possible) == (len(system), len(sure), len(possible))
    for tier, gold in (("sure", sure), ("possible", possible)):
        hits = len(system & gold)
        assert getattr(got, f"{tier}_precision") == pytest.approx(ratio(hits, len(system)))
        assert getattr(got, f"{tier}_recall") == pytest.approx(ratio(hits, len(gold)))
        assert getattr(got, f"{tier}_f1") == pytest.approx(ratio(2 * hits, len(system) + len(gold)))
    found = len(system & sure) + len(system & possible)
    assert got.aer == pytest.approx(1 - ratio(found, len(system) + len(sure)))
    assert (got.precision, got.recall) == (got.possible_precision, got.sure_recall)
    assert got.source_covered == sum(len({i for i, _ in a}) for _, _, a in rows)
    assert got.target_covered == sum(len({j for _, j in a}) for _, _, a in rows)
    assert got.source_words == got.target_words == SIZE * len(rows)


@given(cases)
def test_scores_do_not_need_the_lengths(rows):
    gold, system = gold_of([(s, p) for s, p, _ in rows]), Alignments.from_links(a for _, _, a in rows)
    lengths = [SIZE] * len(rows)
    known = evaluate.compare(gold, system, source_lengths=lengths, target_lengths=lengths)
    unknown = evaluate.compare(gold, system)
    np.testing.assert_array_equal(known.counts[:, :7], unknown.counts[:, :7])
    assert unknown.scores.source_words is None
    assert unknown.scores.source_coverage is None


@given(cases)
def test_scores_lie_in_their_bounds(rows):
    got = evaluate.compare(gold_of([r[:2] for r in rows]), Alignments.from_links(r[2] for r in rows)).scores
    for metric in evaluate.METRICS:
        assert 0 <= getattr(got, metric) <= 1


@given(st.lists(st.tuples(link_sets, link_sets), max_size=4))
def test_what_lies_between_sure_and_possible_has_no_error(rows):
    """AER is 0 where all sure links are there and only possible ones; with null too, if all possible are."""
    gold, lengths = gold_of(rows), [SIZE] * len(rows)
    assert evaluate.compare(gold, Alignments.from_links(s for s, _ in rows)).scores.aer == pytest.approx(0)
    everything = Alignments.from_links(s | p for s, p in rows)
    for null in ("no", "sure", "possible"):
        got = evaluate.compare(gold, everything, source_lengths=lengths, target_lengths=lengths, null=null).scores
        assert got.aer == pytest.approx(0)


# Pair 1: sure 0-0 1-1, possible also 1-2; pair 2: sure 0-1. The system has 0-0 1-2 2-2 and 0-1.
GOLD = [({(0, 0), (1, 1)}, {(1, 2)}), ({(0, 1)}, set())]
SYSTEM = [[(0, 0), (1, 2), (2, 2)], [(0, 1)]]


def test_numbers_worked_by_hand():
    result = evaluate.compare(
        gold_of(GOLD), Alignments.from_links(SYSTEM), source_lengths=[3, 2], target_lengths=[3, 2]
    )
    assert result.counts.tolist() == [[3, 1, 2, 2, 3, 3, 2, 3, 3], [1, 1, 1, 1, 1, 1, 1, 2, 2]]
    got = result.scores
    assert got.sentences == 2
    assert (got.links, got.sure, got.possible) == (4, 3, 4)
    assert got.sure_precision == 2 / 4
    assert got.sure_recall == 2 / 3
    assert got.sure_f1 == 4 / 7
    assert got.possible_precision == 3 / 4
    assert got.possible_recall == 3 / 4
    assert got.possible_f1 == 6 / 8
    assert got.aer == pytest.approx(1 - (2 + 3) / (4 + 3))
    assert got.source_coverage == 4 / 5
    assert got.target_coverage == 3 / 5
    first, second = result.per_sentence()
    assert (first.sentences, first.links, second.aer) == (1, 3, 0.0)
    assert first.aer == pytest.approx(1 - 3 / 5)


def test_numbers_with_null_worked_by_hand():
    """Null in the gold: source 2 of pair 1; source 1, target 0 of pair 2. System: target 1; the same two."""
    got = evaluate.compare(
        gold_of(GOLD), Alignments.from_links(SYSTEM), source_lengths=[3, 2], target_lengths=[3, 2], null="sure"
    )
    assert got.counts[:, :5].tolist() == [[4, 1, 2, 3, 4], [3, 3, 3, 3, 3]]
    assert got.scores.aer == pytest.approx(1 - (4 + 5) / (7 + 6))
    assert "null:sure" in got.signature


def test_null_as_possible_leaves_the_recall_on_sure_links_alone():
    """As in Tables 2 and 3 of onmf, whose R_S is the same without and with links to null."""
    lengths = {"source_lengths": [3, 2], "target_lengths": [3, 2]}
    without, possible, sure = (
        evaluate.compare(gold_of(GOLD), Alignments.from_links(SYSTEM), **lengths, null=null).scores
        for null in ("no", "possible", "sure")
    )
    assert (possible.sure_recall, possible.sure) == (without.sure_recall, without.sure) == (2 / 3, 3)
    assert (sure.sure_recall, sure.sure) == (4 / 6, 6)
    assert (possible.links, possible.possible) == (sure.links, sure.possible) != (without.links, without.possible)


def test_a_null_link_outside_its_sentence_is_refused():
    links = with_nulls(Alignments.from_links([[(0, 0)]]), [({(None, 7)}, set())])
    lengths = {"source_lengths": [1], "target_lengths": [1]}
    with pytest.raises(DataError, match="a gold link to null has target position 7"):
        evaluate.compare(links, links, **lengths, null="gold")
    assert evaluate.compare(links, links, **lengths).scores.aer == 0


def test_nothing_to_nothing_is_perfect():
    empty, some = Alignments.from_links([[]]), Alignments.from_links([[(0, 0)]])
    both = evaluate.compare(empty, empty).scores
    assert (both.aer, both.sure_precision, both.sure_recall, both.sure_f1) == (0, 1, 1, 1)
    no_links = evaluate.compare(some, empty).scores
    assert (no_links.aer, no_links.sure_precision, no_links.sure_recall, no_links.sure_f1) == (1, 1, 0, 0)
    no_gold = evaluate.compare(empty, some).scores
    assert (no_gold.aer, no_gold.sure_precision, no_gold.sure_recall, no_gold.sure_f1) == (1, 0, 1, 0)
    nothing = evaluate.compare(Alignments.from_links([]), Alignments.from_links([])).scores
    assert (nothing.sentences, nothing.aer) == (0, 0)


def test_positions_beyond_all_reason_do_not_overflow():
    huge = 2**31 - 1
    links = Alignments.from_links([[(huge, huge), (huge, 0)], [(0, huge)]])
    assert evaluate.compare(links, links).scores.aer == 0
    turned = Alignments.from_links([[(0, huge)], [(huge, huge), (huge, 0)]])
    assert evaluate.compare(links, turned).scores.sure_recall == 0


def test_signature_says_what_was_compared():
    got = evaluate.compare(gold_of(GOLD), Alignments.from_links(SYSTEM), facts={"base": 1})
    assert got.signature.startswith("sentences:2|gold:sure+possible|null:no|base:1|cepts:")
    sure = Alignments.from_links(SYSTEM)
    assert "|gold:sure|" in evaluate.compare(sure, sure).signature


def test_bad_input_is_refused():
    one, two = Alignments.from_links([[(0, 0)]]), Alignments.from_links([[(0, 0)], []])
    with pytest.raises(DataError, match="for 1 sentence pairs but the system's are for 2"):
        evaluate.compare(one, two)
    with pytest.raises(DataError, match="there are 2 source sentences"):
        evaluate.compare(one, one, source_lengths=[1, 1])
    with pytest.raises(UsageError, match="lengths of both sides"):
        evaluate.compare(one, one, source_lengths=[1], null="gold")
    with pytest.raises(DataError, match="sentence pair 1: a gold link has target position 0"):
        evaluate.compare(one, one, source_lengths=[1], target_lengths=[0])
    far = Alignments(offsets_of([1]), *(np.array([3], dtype=np.int32),) * 2, one.confidence, one.sure)
    with pytest.raises(DataError, match="a system link has source position 3"):
        evaluate.compare(one, far, source_lengths=[3], target_lengths=[9])
