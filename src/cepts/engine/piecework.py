"""Jobs in steps: each step has numbered tasks, and each task leaves one piece on the shelf of the job.

A task of the first step reads a shard of the data; a task of a later step reads what those before it have left for its
range of keys. Pieces that are already on the shelf are not made again, so a job continues where it was interrupted.
Tasks get a shelf and a number and nothing else: threads, the workers of a cluster and commands run the same ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts._version import __version__
from cepts.engine.engines import Engine, ThreadEngine, engine_of
from cepts.errors import ModelError, UsageError
from cepts.names import resolve
from cepts.progress import Progress, Step, silent
from cepts.store import DiskShelf, Piece, Shelf, SpillingShelf

# What a task does: with a shelf and its number, it makes the arrays of its piece.
Work = Callable[[Shelf, int], Mapping[str, NDArray[Any]]]
JOB = "job"  # the name of the piece that says what a job is about; its setting `kind` is the kind of the job
# Pieces that need not last are kept in temporary files if they have more bytes than this.
BYTES_IN_MEMORY = 128 << 20


@dataclass(frozen=True, slots=True)
class Workplace:
    """Who runs the tasks of a job, and where their pieces are kept.

    Attributes
    ----------
    engine
        Runs the tasks; by default threads of this process.
    directory
        Keeps the pieces, so that an interrupted job continues there. All workers of a cluster must see it. None keeps
        them in memory, or in temporary files if they are large.
    """

    engine: Engine = field(default_factory=ThreadEngine)
    directory: Path | None = None

    def __post_init__(self) -> None:
        if self.engine.remote and self.directory is None:
            raise _no_checkpoint()

    def under(self, name: str) -> Workplace:
        """The place of a part of the job."""
        return Workplace(self.engine, None if self.directory is None else self.directory / name)

    @contextmanager
    def shelf(self) -> Iterator[Shelf]:
        """The shelf of the job."""
        shelf: Shelf = SpillingShelf(BYTES_IN_MEMORY) if self.directory is None else DiskShelf(self.directory)
        try:
            yield shelf
        finally:
            shelf.close()


def _no_checkpoint() -> UsageError:
    return UsageError("`engine` dask needs `checkpoint`, a directory that all workers can read and write.")


@contextmanager
def workplace_of(
    engine: str, threads: int | None = None, checkpoint: str | PathLike[str] | None = None
) -> Iterator[Workplace]:
    """The workplace that a user names: an engine (see `engine_of`), and a directory that keeps the pieces, or None."""
    if engine.startswith("dask") and checkpoint is None:  # before a cluster is started
        raise _no_checkpoint()
    with engine_of(engine, threads) as running:
        yield Workplace(running, None if checkpoint is None else Path(checkpoint))


@dataclass(frozen=True, slots=True)
class PieceStep:
    """A step of a job.

    Attributes
    ----------
    name
        What is done, such as ``counting n-grams``.
    place
        The pieces are named ``place/00000``, ``place/00001``, ...
    work
        The function that makes the arrays of a piece (see `Work`), as ``module:function``.
    tasks
        Number of tasks.
    """

    name: str
    place: str
    work: str
    tasks: int

    def __str__(self) -> str:
        return self.name

    def missing(self, shelf: Shelf) -> list[int]:
        """The tasks whose pieces are not on the shelf, or are damaged."""
        return [number for number in range(self.tasks) if not shelf.has(piece_name(self.place, number))]

    def run(
        self,
        shelf: Shelf,
        engine: Engine,
        numbers: Sequence[int],
        tick: Callable[[int, int], None] | None = None,
    ) -> None:
        """Run the tasks with these numbers."""
        if engine.remote:
            if not isinstance(shelf, DiskShelf):
                raise AssertionError("a cluster needs a shelf of files")
            engine.run(RemotePiece(str(Path(shelf.directory).resolve()), self.place, self.work), numbers, tick)
        else:
            engine.run(lambda number: make_piece(shelf, self.place, self.work, number), numbers, tick)

    def pieces(self, shelf: Shelf) -> Iterator[Piece]:
        """The pieces that the tasks have left, in order."""
        return (shelf.get(piece_name(self.place, number)) for number in range(self.tasks))


def run_steps(
    steps: Iterable[PieceStep], shelf: Shelf, engine: Engine, progress: Progress | None = None
) -> list[PieceStep]:
    """Run what is missing of each step, and return the steps.

    A step is asked for when those before it are finished, so it may depend on what they have left.
    """
    report = progress or silent
    done: list[PieceStep] = []
    made = 0
    for step in steps:
        missing = step.missing(shelf)
        before = step.tasks - len(missing)
        if 0 < before < step.tasks:
            report(Step(stage=step.name, done=before, total=step.tasks, parts=(before, step.tasks)))

        def tick(ended: int, total: int, step: PieceStep = step, before: int = before) -> None:
            report(Step(stage=step.name, done=before + ended, total=step.tasks))

        step.run(shelf, engine, missing, tick)
        made += len(missing)
        done.append(step)
    if done and not made:  # nothing had to be done, which is said of the last step only
        total = done[-1].tasks
        report(Step(stage=done[-1].name, done=total, total=total, parts=(total, total)))
    return done


def piece_name(place: str, number: int) -> str:
    """The name of the piece that a task leaves."""
    return f"{place}/{number:05}"


def make_piece(shelf: Shelf, place: str, work: str, number: int) -> None:
    """Run a task."""
    function: Work = resolve(work)
    shelf.put(piece_name(place, number), function(shelf, number))


@dataclass(frozen=True, slots=True)
class RemotePiece:
    """A task for another process, which finds everything in a directory."""

    directory: str
    place: str
    work: str

    def __call__(self, number: int) -> None:
        """Run the task with this number."""
        make_piece(_opened(self.directory), self.place, self.work, number)


@lru_cache(maxsize=4)
def _opened(directory: str) -> DiskShelf:
    """A shelf that stays open from task to task, so that each piece is checked once."""
    return DiskShelf(directory)


def check_version(directory: str | PathLike[str], version: str) -> None:
    """Refuse a directory in which another version of cepts has begun a job."""
    if version != __version__:
        raise ModelError(
            f"{directory} was begun with cepts {version}, and this is cepts {__version__}; use the same version, or "
            f"begin again in another directory."
        )


def keep_terms(shelf: Shelf, name: str, arrays: Mapping[str, NDArray[Any]], /, **settings: Any) -> None:
    """Put on a shelf what the tasks of a job must know; refuse a shelf where another job has put something else."""
    if not shelf.has(name):
        shelf.put(name, arrays, **settings)
        return
    kept = shelf.get(name)
    wanted = json.loads(json.dumps(settings))
    differing = [key for key in wanted if kept.settings.get(key) != wanted[key]]
    differing += [key for key, array in arrays.items() if key not in kept or not np.array_equal(kept[key], array)]
    if differing:
        place = shelf.directory if isinstance(shelf, DiskShelf) else "the shelf"
        raise ModelError(
            f"{place} was begun with another text or with other options (`{differing[0]}` differs); delete it to start "
            f"again, or choose another directory."
        )
