"""Who runs the tasks of a large job: threads of this process, or the workers of a Dask cluster.

A task is a function of a number that reads files of a directory and leaves one there. So workers get nothing but the
names of a directory and of a function, and it does no harm if a task runs twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from cepts._version import __version__
from cepts.engine.shards import default_threads, run_tasks
from cepts.errors import CeptsError, UsageError
from cepts.progress import Stopwatch

if TYPE_CHECKING:
    from distributed import Client, Future

Task = Callable[[int], None]
# How often in a row, and for how many seconds, a lost scheduler or lost workers are waited for.
ATTEMPTS = 5
PATIENCE = 20.0
# By default, Dask has its workers give free memory back at once. Each task would then get its arrays anew from the
# system, page by page.
ENVIRONMENT = "distributed.nanny.pre-spawn-environ"
MEMORY_OF_WORKERS = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": str(256 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
}


class Engine(Protocol):
    """Runs tasks."""

    @property
    def threads(self) -> int:
        """How many tasks run at the same time on this machine."""

    @property
    def remote(self) -> bool:
        """Whether other processes run the tasks, which must then be picklable."""

    def run(self, task: Task, numbers: Sequence[int], tick: Callable[[int, int], None] | None = None) -> None:
        """Run a task for each number, and call `tick(done, total)` as they end."""


@dataclass(frozen=True, slots=True)
class ThreadEngine:
    """Runs tasks in threads of this process; None is one thread for each processor."""

    wanted: int | None = None

    @property
    def threads(self) -> int:
        """How many threads there are."""
        return default_threads() if self.wanted is None else self.wanted

    @property
    def remote(self) -> bool:
        """Never."""
        return False

    def run(self, task: Task, numbers: Sequence[int], tick: Callable[[int, int], None] | None = None) -> None:
        """Run a task for each number."""
        run_tasks(task, numbers, threads=self.threads, tick=tick)


@dataclass(slots=True)
class DaskEngine:
    """Runs tasks on the workers of a Dask cluster.

    Parameters
    ----------
    address
        Address of a scheduler, such as ``tcp://127.0.0.1:8786``; None starts a cluster on this machine.
    workers
        For a cluster on this machine: number of workers; None is one for each processor.
    no_workers
        For how many seconds to wait if a cluster has no worker.
    """

    address: str | None = None
    workers: int | None = None
    no_workers: float = 600.0
    _client: Client | None = field(default=None, repr=False)
    # Whether there has been a connection: a scheduler that was there once is waited for longer.
    _met: bool = field(default=False, repr=False)

    @property
    def threads(self) -> int:
        """Threads of this process, for what is not a task."""
        return default_threads()

    @property
    def remote(self) -> bool:
        """Always."""
        return True

    def run(self, task: Task, numbers: Sequence[int], tick: Callable[[int, int], None] | None = None) -> None:
        """Run a task for each number; what a lost worker or scheduler had not finished is run again."""
        waiting = list(numbers)
        losses = 0
        while waiting:
            before = len(waiting)
            try:
                self._run(task, waiting, len(numbers), tick)
            except _lost() as error:
                self.close()
                # Cheap machines come and go: only losses between which no task ends mean that something is wrong.
                losses = losses + 1 if len(waiting) == before else 1
                if losses == ATTEMPTS:
                    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
                    raise CeptsError(
                        f"the cluster {self.address or 'on this machine'} failed {ATTEMPTS} times in a row ({reason}); "
                        f"look at its log, then run the same command again to continue."
                    ) from error
                time.sleep(min(2.0 ** (losses - 1), PATIENCE))

    def _run(self, task: Task, waiting: list[int], total: int, tick: Callable[[int, int], None] | None) -> None:
        """Run a task for the numbers that are `waiting`, and remove from these what is done."""
        client = self._connected()
        futures = {
            client.submit(_perform, __version__, task, number, pure=False, retries=0): number for number in waiting
        }
        left = set(futures)
        alone = Stopwatch()
        try:
            while left:
                done = _done_of(left)
                if done or client.scheduler_info()["workers"]:
                    alone = Stopwatch()
                elif alone.seconds > self.no_workers:
                    raise CeptsError(
                        f"the cluster {self.address or 'on this machine'} has had no worker for {alone.seconds:,.0f} "
                        f"s; start some, then run the same command again to continue."
                    )
                for future in done:
                    left.remove(future)
                    future.result()
                    waiting.remove(futures[future])
                    if tick is not None:
                        tick(total - len(waiting), total)
        finally:
            with suppress(Exception):  # whatever a client says that has lost its scheduler
                client.cancel(list(left))

    def _connected(self) -> Client:
        """The client, after connecting or starting a cluster."""
        if self._client is not None and self._client.status != "running":  # it has given its scheduler up
            self.close()
        if self._client is None:
            import dask.config
            from distributed import Client, LocalCluster

            if self.address is None:
                environment = {**dask.config.get(ENVIRONMENT), **MEMORY_OF_WORKERS}
                with dask.config.set({ENVIRONMENT: environment, "distributed.worker.profile.enabled": False}):
                    cluster = LocalCluster(
                        n_workers=self.workers or default_threads(),
                        threads_per_worker=1,
                        processes=True,
                        host="127.0.0.1",
                        dashboard_address="127.0.0.1:0",  # None would try a fixed port, and warn if it is taken
                        silence_logs=50,
                    )
                self._client = Client(cluster)
            else:
                try:
                    self._client = Client(self.address, timeout=PATIENCE)
                except (OSError, TimeoutError) as error:
                    if self._met:
                        raise
                    raise CeptsError(
                        f"there is no Dask scheduler at {self.address} ({error}); start one with `dask scheduler`, or "
                        f"give the address of a running one."
                    ) from error
            self._met = True
        return self._client

    def close(self) -> None:
        """Leave the cluster, and end it if it was started here."""
        if self._client is not None:
            client, self._client = self._client, None
            cluster = client.cluster
            client.close(timeout=PATIENCE)
            if self.address is None and cluster is not None:
                cluster.close(timeout=PATIENCE)


def _done_of(futures: set[Future]) -> set[Future]:
    """The futures that are done, after waiting for one of them for a second at most."""
    from distributed import wait

    try:
        return set(wait(futures, timeout=1.0, return_when="FIRST_COMPLETED").done)
    except TimeoutError:
        return {future for future in futures if future.done()}


def _lost() -> tuple[type[BaseException], ...]:
    """What is raised when a worker or the scheduler goes away."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker, client
    from distributed.comm import CommClosedError

    closed = getattr(client, "ClosedClientError", CommClosedError)  # newer versions have an error of its own
    return CommClosedError, KilledWorker, CancelledError, TimeoutError, OSError, closed


def _perform(version: str, task: Task, number: int) -> None:
    """What a worker does."""
    if version != __version__:
        raise CeptsError(
            f"a worker has cepts {__version__}, but the job was started by cepts {version}; install the same version "
            f"on all machines."
        )
    task(number)


@contextmanager
def engine_of(name: str, threads: int | None = None) -> Iterator[Engine]:
    """The engine that a user names: ``local``, ``dask`` or ``dask:ADDRESS``."""
    kind, _, address = name.partition(":")
    if kind == "local" and not address:
        yield ThreadEngine(threads)
        return
    if kind != "dask":
        raise UsageError(f"`engine` must be local, dask or dask:ADDRESS. Got {name!r} instead.")
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise UsageError(
            "`engine` dask needs the package distributed; install it with: pip install 'cepts[cluster]'"
        ) from None
    engine = DaskEngine(address or None, threads)
    try:
        yield engine
    finally:
        engine.close()
