"""Working on the blocks of a file in threads, in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor  # imported when threads start: most files have one block

Block = TypeVar("Block")
Result = TypeVar("Result")

MOST_THREADS = 8  # more would wait for the one thread that reads blocks and takes results


class BlockThreads:
    """Threads that work on the blocks of one or several files, in a ``with`` statement.

    They start only when a file has a second block. `threads=None` means one thread for each processor.
    """

    def __init__(self, threads: int | None = None) -> None:
        if threads is None:
            threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._threads = max(min(threads, MOST_THREADS), 1)
        self._pool: ThreadPoolExecutor | None = None

    def map(self, function: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
        """Apply `function` to each block in threads, and yield the results in order.

        The calling thread takes the blocks, a few ahead of the results. If there is an error in taking a block, it is
        raised after the results of the blocks before, as if there were no threads.
        """
        if self._threads == 1:
            yield from map(function, blocks)
            return
        errors: list[Exception] = []
        taken = _until_error(blocks, errors)
        first = list(islice(taken, 2))
        if len(first) == 2:
            pool = self._started()
            waiting: deque[Future[Result]] = deque()
            for block in chain(first, taken):
                waiting.append(pool.submit(function, block))
                if len(waiting) > self._threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        else:
            yield from map(function, first)
        if errors:
            raise errors.pop()  # leaves no cycle of references, which would keep blocks in memory

    def _started(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="reading")
        return self._pool

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Wait for blocks that are being worked on; those that wait are dropped."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def _until_error(blocks: Iterable[Block], errors: list[Exception]) -> Iterator[Block]:
    """The blocks before the first error, which is put into `errors`."""
    try:
        yield from blocks
    except Exception as error:  # any, because it is raised later
        errors.append(error)
