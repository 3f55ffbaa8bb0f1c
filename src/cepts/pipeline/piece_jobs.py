"""Directories in which a command counts or aligns in shards: what is left to do there, and doing it.

`cepts lm fit`, `cepts phrases align`, `cepts phrases apply` and `cepts spaces fit` use such a directory
(`--checkpoint`). It has one job or several; the first step of each has a task for each shard, and the others add up
what these have left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cepts._version import __version__
from cepts.atomic import is_temporary
from cepts.engine import (
    JOB,
    PieceStep,
    ThreadEngine,
    Tick,
    Workplace,
    check_version,
    keep_terms,
    run_steps,
    workplace_of,
)
from cepts.errors import ModelError, UsageError
from cepts.io.files import PathLike
from cepts.names import JOB_KINDS, resolve
from cepts.pipeline.reports import Report, counted
from cepts.progress import Progress, Stopwatch
from cepts.store import DiskShelf

CHECKPOINT = "checkpoint"  # the name of the piece that says which command uses a directory


@contextmanager
def workplace_on(
    checkpoint: PathLike | None, command: str, engine: str = "local", threads: int | None = None
) -> Iterator[Workplace]:
    """Who runs the tasks of a command, and a directory for them, which must be empty or of the same command."""
    with workplace_of(engine, threads, checkpoint) as workplace:
        if checkpoint is not None:
            shelf = DiskShelf(checkpoint)
            if not shelf.has(CHECKPOINT):
                check_files(checkpoint, lambda name: False)
            keep_terms(shelf, CHECKPOINT, {}, command=command, version=__version__)
        yield workplace


def check_files(directory: PathLike, known: Callable[[str], bool]) -> None:
    """Refuse a directory that has files that are not `known`."""
    path = Path(directory)
    try:
        names = sorted(entry.name for entry in path.iterdir()) if path.exists() else []
    except OSError as error:
        raise ModelError(f"{directory} cannot be used ({error.strerror}); choose another directory.") from error
    if strange := [name for name in names if not known(name) and not is_temporary(name)]:
        raise ModelError(
            f"{directory} has other files (such as {strange[0]}); choose another directory, or empty this one."
        )


def check_begin(workplace: Workplace) -> None:
    """Refuse to begin a job that has no directory."""
    if workplace.directory is None:
        raise UsageError("`begin` needs `checkpoint`, the directory of the job.")


def begun(workplace: Workplace, stopwatch: Stopwatch) -> Report:
    """What to do after a job was begun."""
    assert workplace.directory is not None
    step = PieceJobs.open(workplace.directory).step()
    place = workplace.directory
    said = [] if step is None else [f"begun    {counted(step.shards, 'shard')}, in {stopwatch.seconds:,.1f} s"]
    said.append(f"next     cepts train {place}, or cepts train {place} --shard I/N for each I and cepts reduce {place}")
    return Report(said=[*said, "last     the same command without --begin"])


def command_of(directory: PathLike) -> str | None:
    """The command that uses a directory as its checkpoint; None if no command does."""
    shelf = DiskShelf(directory)
    if not shelf.has(CHECKPOINT):
        return None
    settings = shelf.get(CHECKPOINT).settings
    check_version(directory, settings["version"])
    return str(settings["command"])


@dataclass(frozen=True, slots=True)
class PieceJobs:
    """The jobs in a directory.

    Attributes
    ----------
    directory
        The directory.
    shelves
        The shelf of each job.
    """

    directory: PathLike
    shelves: tuple[DiskShelf, ...]

    @classmethod
    def open(cls, directory: PathLike) -> PieceJobs:
        """Open a directory in which a command has begun to work."""
        places = sorted(path.parent for path in Path(directory).rglob(DiskShelf(directory).path_of(JOB).name))
        if not places:
            raise ModelError(f"{directory} has no text yet; run the command with --begin first.")
        return cls(directory, tuple(map(DiskShelf, places)))

    def step(self) -> PendingShards | None:
        """The tasks on shards of all jobs; None if all jobs are finished."""
        pending = [(shelf, next(_steps(shelf))) for shelf in self.shelves]
        found = PendingShards(tuple((shelf, step, tuple(step.missing(shelf))) for shelf, step in pending))
        if not found.missing and all(_is_finished(shelf) for shelf in self.shelves):
            return None
        return found

    def finish(self, threads: int | None, progress: Progress | None = None) -> None:
        """Add up what the tasks on shards have left."""
        step = self.step()
        if step is not None and step.missing:
            raise ModelError(
                f"{self.directory}: {len(step.missing):,} of {step.shards:,} shards are missing; run `cepts train` for "
                f"them first."
            )
        for shelf in self.shelves:
            run_steps(_steps(shelf), shelf, ThreadEngine(threads), progress)

    def run(self, workplace: Workplace, progress: Progress | None = None) -> None:
        """Run all that is missing."""
        for shelf in self.shelves:
            run_steps(_steps(shelf), shelf, workplace.engine, progress)


@dataclass(frozen=True, slots=True)
class PendingShards:
    """The first steps of jobs, and which of their tasks are missing; shards are numbered through all jobs."""

    jobs: tuple[tuple[DiskShelf, PieceStep, tuple[int, ...]], ...]

    def __str__(self) -> str:
        return " and ".join(dict.fromkeys(step.name for _, step, _ in self.jobs))

    @property
    def shards(self) -> int:
        """Number of all shards."""
        return sum(step.tasks for _, step, _ in self.jobs)

    @property
    def missing(self) -> tuple[int, ...]:
        """The shards whose task has not been done."""
        found, before = [], 0
        for _, step, missing in self.jobs:
            found += [before + number for number in missing]
            before += step.tasks
        return tuple(found)

    def run(self, numbers: range, workplace: Workplace, tick: Tick | None = None) -> None:
        """Run the tasks on these shards, as far as they are missing."""
        before = done = 0
        total = sum(number in numbers for number in self.missing)
        for shelf, step, missing in self.jobs:
            chosen = [number for number in missing if before + number in numbers]

            def ticked(ended: int, _: int, done: int = done) -> None:
                if tick is not None:
                    tick(done + ended, total)

            step.run(shelf, workplace.engine, chosen, ticked)
            before += step.tasks
            done += len(chosen)


def _steps(shelf: DiskShelf) -> Iterator[PieceStep]:
    steps: Iterator[PieceStep] = resolve(JOB_KINDS[shelf.get(JOB).settings["kind"]])(shelf)
    return steps


def _is_finished(shelf: DiskShelf) -> bool:
    """Whether no step is missing anything; a step may be asked for when those before it are finished."""
    return not any(step.missing(shelf) for step in _steps(shelf))
