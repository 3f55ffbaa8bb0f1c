"""Measures the tasks of a training job one by one: CPU seconds, bytes read and written, and what they depend on.

Each task runs as in a worker that has nothing in memory and has written none of the files. What such a worker needs
before its first task is measured apart. The ranges of the lexicon are smaller than usual, so that a small text has as
many as a large one.

    scale_tasks.py SOURCE TARGET DIR SHARD_SIZE RANGE_SIZE       prints JSON
"""

from __future__ import annotations

import ctypes
import json
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cepts.engine import ThreadEngine
from cepts.pipeline import jobs
from cepts.pipeline.inputs import BitextFiles
from cepts.store import pieces
from cepts.words import Mixed, aligner, lexicon_table
from cepts.words.index import Sizes
from cepts.words.indexed_text import IndexedText
from cepts.words.job import JobTask, TrainingJob
from cepts.words.training import AlignerTraining

__all__ = ["measure_tasks"]

Record = dict[str, Any]
# Iterations of each stage; the tasks of the second one are measured, which reads tables as all later ones do. The
# placements of Model 4 have only one.
ITERATIONS = 2


class OneByOne:
    """An engine that measures each task in turn."""

    threads = 1
    remote = True

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.base = sys.maxsize
        self._owner: tuple[object, Any] = (None, None)

    def run(self, task: Any, numbers: Sequence[int], tick: Callable[[int, int], None] | None = None) -> None:
        """Run the tasks, and measure them if they are those of the indexing or of a second iteration."""
        assert isinstance(task, JobTask)
        timed = task.stage in {None, "training-placements"} or task.iteration == 1
        for number in numbers:
            if timed:
                owner, opening = measured(lambda: self._open(task))
                _, cost = measured(partial(getattr(owner, task.kind), number))
                opened = {f"opening_{name}": opening[name] for name in ("seconds", "read", "peak")}
                self.records.append({"kind": task.kind, "stage": task.stage, "number": number, **cost, **opened})
                self.base = min(self.base, _memory("VmRSS"))
            else:
                if self._owner[0] != (task.stage, task.iteration):
                    self._owner = (task.stage, task.iteration), self._open(task)
                getattr(self._owner[1], task.kind)(number)

    @staticmethod
    def _open(task: JobTask) -> Any:
        job = TrainingJob.open(task.directory, ThreadEngine(1))
        return job.indexed if task.stage is None else job.problem(task.stage.removeprefix("training-"))


def measured(work: Callable[[], Any]) -> tuple[Any, Record]:
    """What `work` returns, its CPU seconds, the bytes that it read and wrote, and the memory that it added."""
    ctypes.CDLL(None).malloc_trim(0)  # or it would be given what others have freed
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    held, before, start = _memory("VmRSS"), _moved(), time.process_time()
    found = work()
    seconds, after = time.process_time() - start, _moved()
    moved = {"read": after[0] - before[0], "written": after[1] - before[1]}
    return found, {"seconds": seconds, **moved, "peak": max(_memory("VmHWM") - held, 0)}


def _memory(name: str) -> int:
    """Bytes of this process, or what they have been at most."""
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(status[name].split()[0])


def _moved() -> tuple[int, int]:
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(fields["rchar"]) + _mapped.bytes, int(fields["wchar"])


class _MappedBytes:
    """Counts the bytes of mapped files that are looked at, which the system does not count as read."""

    def __init__(self) -> None:
        self.bytes = 0
        stretch = pieces._Filed._stretch

        def counting(piece: Any, start: int, stop: int) -> Any:
            self.bytes += stop - start
            return stretch(piece, start, stop)

        pieces._Filed._stretch = counting  # type: ignore[method-assign]


_mapped = _MappedBytes()


def measure_tasks(source: str, target: str, directory: Path, shard_size: int, range_size: int) -> Record:
    """Train on a text, cut into shards of so many token pairs and ranges of so many cells; say what tasks needed."""
    shutil.rmtree(directory, ignore_errors=True)
    aligner.SIZES = jobs.SIZES = Sizes(range=range_size, largest_range=range_size)
    lexicon_table.TABLES_IN_MEMORY = 0
    iterations = dict.fromkeys(("iterations", "hmm_iterations", "start_iterations"), ITERATIONS)
    model = Mixed(**iterations, tolerance=0.0, scarce=0.0, threads=1)
    files = BitextFiles(source=source, target=target)
    job, ingest = measured(lambda: jobs.begin(files, model, directory, cells_in_shard=shard_size))
    engine = OneByOne()
    learning: list[Record] = []
    classing: list[Record] = []
    learn, classes = AlignerTraining.learn, IndexedText.classes

    def learning_timed(self: AlignerTraining) -> None:
        second = self.iteration == 1
        cost = measured(lambda: learn(self))[1]
        learning.extend([cost] * second)

    def classes_timed(self: IndexedText, count: int, passes: int) -> Any:
        found, cost = measured(lambda: classes(self, count, passes))
        classing.append(cost)
        return found

    AlignerTraining.learn = learning_timed  # type: ignore[method-assign]
    IndexedText.classes = classes_timed  # type: ignore[method-assign]
    try:
        model.fit_shelved(job.text, engine=engine)
    finally:
        AlignerTraining.learn = learn  # type: ignore[method-assign]
        IndexedText.classes = classes  # type: ignore[method-assign]
    _, align = measured(lambda: jobs.align_shards(directory, links=directory / "links", threads=1))
    return {
        **sizes_of(directory),
        "ingest": ingest,
        "align": align,
        "learn": learning,
        "classes": classing[:1],  # they are found once, and then read
        "tasks": engine.records,
        "base": engine.base,
    }


def sizes_of(directory: Path) -> Record:
    """What the cost of tasks depends on."""
    job = TrainingJob.open(directory)
    indexed, shelf = job.indexed, job.shelf
    shards, ranges = range(job.text.shards), range(len(indexed.ranges))
    ranged = [shelf.get(f"ranges/{number:05}") for number in ranges]
    cells = [int(shelf.get(f"index/{shard:05}")["range_starts"][-1]) for shard in shards]
    pairs = [job.text.shard(shard) for shard in shards]
    sides = [(part.source, part.target) for part in pairs]
    return {
        "shards": len(shards),
        "ranges": len(ranges),
        "pairs": len(job.text),
        "words": len(indexed.sides[0]) + len(indexed.sides[1]),
        "tokens": [len(source.ids) + len(target.ids) for source, target in sides],
        "token_pairs": [int((source.lengths * target.lengths).sum()) for source, target in sides],
        "shard_cells": cells,
        "range_cells": [len(piece["targets"]) for piece in ranged],
        "range_numbers": [len(piece["numbers"]) for piece in ranged],
        "bytes": sum(file.stat().st_size for file in directory.rglob("*.piece")),
    }


if __name__ == "__main__":
    source, target, directory, *sizes = sys.argv[1:]
    print(json.dumps(measure_tasks(source, target, Path(directory), *map(int, sizes))))
