"""Align two files as `cepts align` does, and write the seconds of every stage as JSON.

stages_job.py MODEL SOURCE TARGET LINKS THREADS REPORT CELLS
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

from cepts.names import WORD_MODELS, resolve
from cepts.pipeline import AlignJob, AlignOutputs, BitextFiles, WordTraining, align_files
from cepts.progress import Step
from cepts.words.text import ShelvedText


class StageClock:
    """Adds up wall and CPU seconds by stage and iteration, from one report of progress to the next."""

    def __init__(self) -> None:
        self.seconds: dict[str, tuple[float, float]] = {}
        self._last = time.perf_counter(), time.process_time()

    def __call__(self, step: Step) -> None:
        """Give the time since the last report to the stage that reports now."""
        self.add(f"{step.stage} {step.iteration}" if step.iteration else step.stage)

    def add(self, stage: str) -> None:
        """Give the time since the last report to `stage`."""
        now = time.perf_counter(), time.process_time()
        wall, cpu = self.seconds.get(stage, (0.0, 0.0))
        self.seconds[stage] = wall + now[0] - self._last[0], cpu + now[1] - self._last[1]
        self._last = now


def sizes_of(text: ShelvedText, ranges: int) -> dict[str, int]:
    """What the stages have to go through.

    Token pairs are those of distinct sentence pairs; cells are distinct pairs of words, of each shard or of the text.
    """
    shards = [text.shelf.get(f"index/{number:05}") for number in range(text.shards)]
    return {
        "token_pairs": sum(len(shard["cells"]) for shard in shards),
        "shard_cells": sum(len(shard["targets"]) for shard in shards),
        "cells": sum(len(text.shelf.get(f"ranges/{number:05}")["targets"]) for number in range(ranges)),
        "tokens": sum(len(part.source.ids) + len(part.target.ids) for part in text),
    }


def align(
    model: str, source: str | Path, target: str | Path, links: str | Path, threads: int
) -> tuple[StageClock, ShelvedText, int]:
    """Align the files; returns the times, the text on its shelf, and the number of ranges of its lexicon."""
    aligner = resolve(WORD_MODELS[model])(threads=threads)
    job = AlignJob(
        texts=BitextFiles(source=source, target=target),
        scorer=WordTraining(aligner=aligner),
        outputs=AlignOutputs(links=links),
    )
    clock = StageClock()
    align_files(job, progress=clock)
    clock.add("aligning")
    indexed = aligner._indexed
    assert indexed is not None
    return clock, indexed.text, len(indexed.ranges)


def main() -> None:
    """Run the job."""
    model, source, target, links, threads, report, cells = sys.argv[1:]
    small = [Path(f"{report}.{side}") for side in ("source", "target", "links")]
    for path in small:
        path.write_text("one word\n")
    align(model, *small, int(threads))
    clock, text, ranges = align(model, source, target, links, int(threads))
    np.save(cells, text.shelf.get("index/00000")["cells"])
    Path(report).write_text(json.dumps({"stages": clock.seconds, "sizes": sizes_of(text, ranges)}))


if __name__ == "__main__":
    main()
