from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.io.threads import BlockThreads


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 3), max_size=20), st.integers(0, 5))
def test_results_come_in_order(delays, threads):
    def slow(item):
        time.sleep(item[1] / 2000)
        return item[0]

    with BlockThreads(threads) as workers:
        assert list(workers.map(slow, enumerate(delays))) == list(range(len(delays)))


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_an_error_in_taking_blocks_comes_after_the_results_before_it(threads, count):
    def failing():
        yield from range(count)
        raise KeyError("taken")

    got = []
    with BlockThreads(threads) as workers, pytest.raises(KeyError):
        for result in workers.map(lambda item: item, failing()):
            got.append(result)
    assert got == list(range(count))


def test_blocks_are_taken_by_the_calling_thread_a_few_ahead_and_worked_on_by_others():
    taken = 0

    def blocks():
        nonlocal taken
        for number in range(50):
            assert threading.current_thread() is threading.main_thread()
            taken = number + 1
            yield number

    with BlockThreads(2) as workers:
        for number, worker in enumerate(workers.map(lambda item: threading.current_thread(), blocks())):
            assert worker is not threading.main_thread()
            assert taken <= number + 4


def test_two_maps_share_the_threads():
    with BlockThreads(2) as workers:
        maps = [workers.map(lambda item: threading.get_ident(), range(20)) for _ in range(2)]
        assert len({worker for pair in zip(*maps, strict=True) for worker in pair}) <= 2
