"""Threads over shards.

Shards are cut by the data and never by the number of threads, and their results are taken in their order, so any
number of threads gives the same bytes.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["cut_runs", "default_threads", "map_shards"]

Shard = TypeVar("Shard")
Result = TypeVar("Result")


def default_threads() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cut_runs(offsets: NDArray[np.int64], size: int) -> Iterator[tuple[int, int]]:
    """Runs of whole items with about `size` cells each; an item's cells start at its offset, and a larger one is a run
    of its own.
    """
    ends = offsets[1:]
    start = 0
    while start < len(ends):
        stop = max(int(np.searchsorted(ends, offsets[start] + size, side="right")), start + 1)
        yield start, stop
        start = stop


def map_shards(function: Callable[[Shard], Result], shards: Sequence[Shard], *, threads: int) -> Iterator[Result]:
    """Results of `function` on each shard, in order; kernels release the GIL, so the shards run side by side.

    At most one finished result a thread waits to be taken, which keeps memory flat.
    """
    if threads <= 1 or len(shards) <= 1:
        yield from map(function, shards)
        return
    pool = ThreadPoolExecutor(max_workers=threads)
    waiting: deque[Future[Result]] = deque()
    try:
        for shard in shards:
            waiting.append(pool.submit(function, shard))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # After Ctrl-C or an error only the shards that already run are waited for.
        pool.shutdown(wait=True, cancel_futures=True)
