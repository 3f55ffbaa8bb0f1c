"""Running shards in threads, and buffers for them.

How the data is divided into shards depends on the data and never on the number of threads, and results are taken in
order. So any number of threads gives the same bytes.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Shard = TypeVar("Shard")
Block = TypeVar("Block")
Result = TypeVar("Result")

_pools: dict[int, ThreadPoolExecutor] = {}
_lock = threading.Lock()
_worker = threading.local()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # threads do not survive a fork


def default_threads() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cut_runs(offsets: NDArray[np.int64], size: int | Callable[[int], int]) -> Iterator[tuple[int, int]]:
    """Divide items into runs of at most `size` cells, as (start, stop); a larger item is a run by itself.

    The cells of item `n` are `offsets[n]:offsets[n + 1]`. `size` may depend on the number of the first cell of a run.
    """
    ends = offsets[1:]
    start = 0
    while start < len(ends):
        first = int(offsets[start])
        last = first + (size(first) if callable(size) else size)
        stop = max(int(np.searchsorted(ends, last, side="right")), start + 1)
        yield start, stop
        start = stop


def cut_blocks(
    blocks: Iterable[Block],
    cells_of: Callable[[Block], NDArray[np.int64]],
    part_of: Callable[[Block, int, int], Block],
    joined: Callable[[list[Block]], Block],
    size: int | Callable[[int], int],
) -> Generator[Block]:
    """Divide items that come in blocks as `cut_runs` divides all of them, whatever the blocks are.

    Parameters
    ----------
    blocks
        Consecutive items, of which only those of the next run are held.
    cells_of
        The number of cells of each item of a block.
    part_of
        Items `start` to `stop` (exclusive) of a block.
    joined
        One block of the items of several, which follow each other.
    size
        As in `cut_runs`.
    """
    held: list[Block] = []
    first = before = 0  # cells before the run whose items are held, and before the block
    for block in blocks:
        ends = before + np.cumsum(cells_of(block))
        start = 0
        while start < len(ends):
            last = first + (size(first) if callable(size) else size)
            stop = max(int(np.searchsorted(ends, last, side="right")), start if held else start + 1)
            if stop > start:
                held.append(part_of(block, start, stop))
            if stop < len(ends):  # otherwise the next block may have more items of this run
                yield joined(held)
                held, first = [], int(ends[stop - 1]) if stop else before
            start = stop
        before = int(ends[-1]) if len(ends) else before
    if held:
        yield joined(held)


def map_shards(
    function: Callable[[Shard], Result], shards: Iterable[Shard], *, threads: int | None = None
) -> Iterator[Result]:
    """Apply `function` to each shard in threads, and yield the results in order.

    Kernels release the GIL, so shards run in parallel. At most about two results for each thread wait to be taken,
    which limits memory; `shards` are read as they are needed. `threads=None` means one thread for each processor.
    """
    threads = default_threads() if threads is None else threads
    if threads <= 1 or (isinstance(shards, Sequence) and len(shards) <= 1):
        yield from map(function, shards)
        return
    nested = getattr(_worker, "working", False)
    pool = ThreadPoolExecutor(threads) if nested else _pool_of(threads)
    waiting: deque[Future[Result]] = deque()
    try:
        for shard in shards:
            waiting.append(pool.submit(function, shard))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # After Ctrl-C or an error, wait only for shards that are running already.
        wait([shard for shard in waiting if not shard.cancel()])
        if nested:
            pool.shutdown()


def run_tasks(
    task: Callable[[int], None],
    numbers: Sequence[int],
    *,
    threads: int | None = None,
    tick: Callable[[int, int], None] | None = None,
) -> None:
    """Run a task for each number in threads, and call `tick(done, total)` as they end, in order."""
    for done, _ in enumerate(map_shards(task, numbers, threads=threads), start=1):
        if tick is not None:
            tick(done, len(numbers))


def one_allocation(*shapes: tuple[int, ...]) -> list[NDArray[np.float32]]:
    """Arrays of zeros that are next to each other in memory.

    A compiled loop that both sums and stores checks how far apart its arrays are, and sums in another order if they are
    close. Separate allocations end up wherever memory is free, so the last digits would differ from run to run.
    """
    sizes = [math.prod(shape) for shape in shapes]
    ends = np.cumsum(sizes)
    whole = np.zeros(int(ends[-1]), dtype=np.float32)
    return [whole[end - size : end].reshape(shape) for shape, size, end in zip(shapes, sizes, ends, strict=True)]


def release_memory() -> None:
    """Give memory that is free, but that the C library keeps for arrays to come, back to the system.

    It keeps what the largest arrays of each thread needed. Between two steps of a job, which need arrays of other
    sizes, this may be a third of all memory.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # not the GNU C library
            ctypes.CDLL(None).malloc_trim(0)


def _pool_of(threads: int) -> ThreadPoolExecutor:
    """A kept pool: starting threads costs as much as a small shard.

    A shard that itself maps shards gets a separate pool, because otherwise the two would wait for each other.
    """
    with _lock:
        if threads not in _pools:
            _pools[threads] = ThreadPoolExecutor(threads, initializer=_start_working)
        return _pools[threads]


def _start_working() -> None:
    _worker.working = True
