"""Budgets of memory: what is planned fits, and what cannot fit is refused with the least that would."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepts.errors import UsageError
from cepts.words.memory import MIB, OF_NUMBER, MemoryPlan, TextSize
from cepts.words.rare import LEAST_HELD, WORDS_HELD

budgets = st.integers(1, 1 << 38)


@given(budgets, st.integers(1, 64), st.integers(0, 10_000_000), st.integers(0, 1 << 40))
def test_a_plan_fits_or_is_refused_with_a_budget_that_fits(budget, threads, words, cells):
    text = TextSize(words=words, cells=cells)
    try:
        plan = MemoryPlan.within(budget, threads).for_text(text)
    except UsageError as error:
        size, unit = re.search(r"at least ([\d,.]+)([MG])", str(error)).groups()
        # Sizes of many GiB are said with one decimal.
        least = float(size.replace(",", "")) * (MIB if unit == "M" else 1024 * MIB) * (1 if unit == "M" else 1.01)
        assert least > budget
        assert MemoryPlan.within(int(least), threads).for_text(text).estimate(text) <= least
        if advice := re.search(r"`max_vocabulary` ([\d,]+) or less", str(error)):
            held = 2 * max(WORDS_HELD * int(advice[1].replace(",", "")), LEAST_HELD)
            assert held <= words
            MemoryPlan.within(budget, threads).for_text(replace(text, words=held))
    else:
        assert plan.estimate(text) <= budget
        assert plan.sizes.block <= plan.sizes.shard


@given(budgets, budgets, st.integers(1, 8))
def test_more_memory_never_makes_smaller_parts(budget, more, threads):
    less, most = sorted([budget, more])
    plans = [MemoryPlan.within(each, threads).sizes for each in (less, most)]
    assert plans[0].shard <= plans[1].shard
    assert plans[0].block <= plans[1].block


def test_a_larger_vocabulary_leaves_less_for_ranges():
    plan = MemoryPlan.within(1024 * MIB, 2)
    assert (
        plan.for_text(TextSize(words=10_000, cells=1 << 27)).sizes.range
        > plan.for_text(TextSize(words=800_000, cells=1 << 27)).sizes.range
    )


def test_a_longer_text_has_smaller_ranges_because_its_words_meet_in_more_shards():
    plan = MemoryPlan.within(2048 * MIB, 2)
    assert (
        plan.for_text(TextSize(words=100_000, cells=1 << 27)).sizes.range
        > plan.for_text(TextSize(words=100_000, cells=1 << 34)).sizes.range
    )


def test_one_thread_is_not_told_to_use_fewer():
    with pytest.raises(UsageError, match=r"with 1 thread\. Got 100M instead\. Give more memory\.$"):
        MemoryPlan.within(100 * MIB, 1).for_text(TextSize(words=1000, cells=1000))


def test_too_many_words_are_refused_with_a_vocabulary_that_fits():
    plan = MemoryPlan.within(1024 * MIB, 1)
    with pytest.raises(UsageError, match=r"keep fewer words \(`max_vocabulary` [\d,]+ or less\)\.$"):
        plan.for_text(TextSize(words=50_000_000, cells=1 << 27))


def test_numbers_of_words_that_were_not_kept_count():
    plan, few = MemoryPlan.within(1024 * MIB, 1), TextSize(words=1000, cells=1000)
    assert plan.estimate(replace(few, numbers=1_000_000)) - plan.estimate(few) == 1_000_000 * OF_NUMBER
