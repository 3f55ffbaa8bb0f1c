from __future__ import annotations

import ctypes
import mmap
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepts.engine import cut_blocks, cut_runs, default_threads, map_shards, release_memory

every_number_of_threads = pytest.mark.parametrize("threads", [1, 2, 3, 8])


@every_number_of_threads
def test_results_come_in_the_order_of_the_shards(threads):
    def slow_at_first(shard):
        time.sleep(0.02 if shard == 0 else 0)
        return shard * shard

    assert list(map_shards(slow_at_first, range(30), threads=threads)) == [n * n for n in range(30)]


@every_number_of_threads
def test_no_shards_no_results(threads):
    assert list(map_shards(str, [], threads=threads)) == []


def test_shards_run_side_by_side():
    """Each waits for the other: one thread could not do it."""
    both = threading.Barrier(2, timeout=10)
    list(map_shards(lambda _: both.wait(), range(2), threads=2))


def test_one_thread_works_in_the_caller_and_only_when_asked():
    done = []
    results = map_shards(lambda shard: done.append((shard, threading.get_ident())), range(3), threads=1)
    assert done == []
    next(results)
    assert done == [(0, threading.get_ident())]


@every_number_of_threads
def test_an_error_reaches_the_caller_after_the_results_before_it(threads):
    def fail_at_three(shard):
        if shard == 3:
            raise ValueError("three")
        return shard

    taken = []
    with pytest.raises(ValueError, match="three"):
        for result in map_shards(fail_at_three, range(50), threads=threads):
            taken.append(result)
    assert taken == [0, 1, 2]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_that_nobody_takes_are_not_made(threads):
    """Memory stays flat however many shards there are."""
    started = []
    results = map_shards(started.append, range(1000), threads=threads)
    next(results)
    time.sleep(0.05)
    assert len(started) <= 2 * threads + 1
    results.close()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_closing_early_starts_nothing_more_and_leaves_no_shard_running(threads):
    before = threading.active_count()
    started = []

    def slow(shard):
        started.append(shard)
        time.sleep(0.01)

    results = map_shards(slow, range(100), threads=threads)
    next(results)
    results.close()
    running = len(started)
    assert threading.active_count() <= before + threads  # which are kept, and idle
    time.sleep(0.05)
    assert len(started) == running < 100


def test_shards_of_shards_do_not_wait_for_one_another():
    def sums(start):
        return sum(map_shards(lambda shard: shard, range(start, start + 5), threads=2))

    assert list(map_shards(sums, range(8), threads=2)) == [5 * start + 10 for start in range(8)]


def test_threads_are_kept_and_work_on_after_an_error():
    def broken(shard):
        raise ZeroDivisionError

    list(map_shards(str, range(9), threads=3))
    count = threading.active_count()
    for _ in range(5):
        with pytest.raises(ZeroDivisionError):
            list(map_shards(broken, range(9), threads=3))
        assert list(map_shards(str, range(3), threads=3)) == ["0", "1", "2"]
    assert threading.active_count() == count


def test_there_is_at_least_one_processor():
    assert default_threads() >= 1


def test_runs_are_whole_and_a_large_item_is_one_of_its_own():
    offsets = np.array([0, 3, 3, 5, 25, 26])
    assert list(cut_runs(offsets, 5)) == [(0, 3), (3, 4), (4, 5)]
    assert list(cut_runs(offsets, 100)) == [(0, 5)]
    assert list(cut_runs(np.array([0]), 5)) == []


@given(st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=6), st.integers(1, 20), st.booleans())
def test_blocks_are_cut_as_all_items_would_be(blocks, size, growing):
    """Items are numbers of cells; a list of them is a block."""
    items = [item for block in blocks for item in block]
    wanted = (lambda before: size + before // 2) if growing else size
    runs = cut_runs(np.concatenate([[0], np.cumsum(items, dtype=np.int64)]), wanted)

    def part_of(block, start, stop):
        return block[start:stop]

    def joined(parts):
        return [item for part in parts for item in part]

    found = cut_blocks(blocks, lambda block: np.array(block, dtype=np.int64), part_of, joined, wanted)
    assert list(found) == [items[start:stop] for start, stop in runs]


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="needs the GNU C library"
)
def test_memory_that_arrays_left_free_is_given_back():
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE

    # Small arrays are on the heap, whose top the last one holds, so that the C library itself cannot give it back.
    arrays = [np.ones(8_000) for _ in range(2_000)]
    del arrays[:-1]
    before = resident()
    release_memory()
    assert before - resident() > 60_000_000
