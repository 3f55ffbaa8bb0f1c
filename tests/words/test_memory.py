"""Budgets of memory: what is planned fits, and what cannot fit is refused with the least that would."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepts.errors import UsageError
from cepts.words.memory import MIB, MemoryPlan

budgets = st.integers(1, 1 << 38)


@given(budgets, st.integers(1, 64), st.integers(0, 10_000_000), st.integers(0, 1 << 40))
def test_a_plan_fits_or_is_refused_with_a_budget_that_fits(budget, threads, words, cells):
    try:
        plan = MemoryPlan.within(budget, threads).for_text(words, cells)
    except UsageError as error:
        size, unit = re.search(r"at least ([\d,.]+)([MG])", str(error)).groups()
        # Sizes of many GiB are said with one decimal.
        least = float(size.replace(",", "")) * (MIB if unit == "M" else 1024 * MIB) * (1 if unit == "M" else 1.01)
        assert least > budget
        assert MemoryPlan.within(int(least), threads).for_text(words, cells).estimate(words, cells) <= least
    else:
        assert plan.estimate(words, cells) <= budget
        assert plan.sizes.block <= plan.sizes.shard


@given(budgets, budgets, st.integers(1, 8))
def test_more_memory_never_makes_smaller_parts(budget, more, threads):
    less, most = sorted([budget, more])
    plans = [MemoryPlan.within(each, threads).sizes for each in (less, most)]
    assert plans[0].shard <= plans[1].shard
    assert plans[0].block <= plans[1].block


def test_a_larger_vocabulary_leaves_less_for_ranges():
    plan = MemoryPlan.within(1024 * MIB, 2)
    assert plan.for_text(10_000, 1 << 27).sizes.range > plan.for_text(800_000, 1 << 27).sizes.range


def test_a_longer_text_has_smaller_ranges_because_its_words_meet_in_more_shards():
    plan = MemoryPlan.within(2048 * MIB, 2)
    assert plan.for_text(100_000, 1 << 27).sizes.range > plan.for_text(100_000, 1 << 34).sizes.range


def test_one_thread_is_not_told_to_use_fewer():
    with pytest.raises(UsageError, match=r"with 1 thread\. Got 100M instead\. Give more memory\.$"):
        MemoryPlan.within(100 * MIB, 1).for_text(1000, 1000)
