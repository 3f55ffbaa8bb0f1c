"""Where the time of `cepts align` goes, and how far each stage is from what memory allows.

The limit of a stage is what moving its data takes at least: its bytes at the bandwidth of memory, and for each token
pair a gather from the lexicon and, in training, an addition to the counts. Both are measured in the same run, with as
many threads. Arithmetic is not counted, so a stage that computes much, as the HMM does, cannot reach its limit.

    words_stages.py --data DIR [--repeat N] [--threads 1 2] ...
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numba
import numpy as np
from numpy.typing import NDArray

import hansards
import peers
import report

RESULTS = Path(__file__).resolve().parent / "results" / "words.jsonl"
JOB = Path(__file__).with_name("stages_job.py")
TABLE = "words stages"
WARM_UP_PAIRS = 1000
MODELS = {"mixed": "`cepts align`, the default", "hmm": "`cepts align --model hmm`"}
# Bytes that are copied to measure the bandwidth.
COPIED = 1 << 28
# Attempts to find the best time of a loop that has no reason to vary.
ATTEMPTS = 15


# -- what memory allows ----------------------------------------------------------------------------------------------


@numba.njit(nogil=True)
def gather(cells: NDArray[np.int32], lexicon: NDArray[np.float32]) -> float:
    """Read both probabilities of every token pair."""
    total = np.float32(0)
    for cell in cells:
        total += lexicon[cell, 0] * lexicon[cell, 1]
    return float(total)


@numba.njit(nogil=True)
def gather_and_add(cells: NDArray[np.int32], lexicon: NDArray[np.float32], counts: NDArray[np.float32]) -> None:
    """Read both probabilities of every token pair, and add their product to its count."""
    for cell in cells:
        counts[cell] += lexicon[cell, 0] * lexicon[cell, 1]


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds per byte that is read or written, and per token pair of the two loops, for a number of threads."""

    byte: float
    gather: float
    gather_and_add: float


def measured_limits(cells: NDArray[np.int32], threads: int) -> Limits:
    """Measure what memory allows on the token pairs of a shard, each thread with its own arrays."""
    random = np.random.default_rng(0)
    words = int(cells.max()) + 1
    arrays = [
        (cells.copy(), random.random((words, 2), dtype=np.float32), np.zeros(words, dtype=np.float32))
        for _ in range(threads)
    ]
    copied = [(np.ones(COPIED // threads, np.uint8), np.ones(COPIED // threads, np.uint8)) for _ in range(threads)]
    with ThreadPoolExecutor(threads) as pool:

        def best(function: Callable[[int], object]) -> float:
            list(pool.map(function, range(threads)))  # compiles, and touches the memory
            return min(_seconds(lambda: list(pool.map(function, range(threads)))) for _ in range(ATTEMPTS))

        pairs = threads * len(cells)
        return Limits(
            best(lambda thread: np.copyto(*copied[thread])) / (2 * COPIED // threads * threads),
            best(lambda thread: gather(*arrays[thread][:2])) / pairs,
            best(lambda thread: gather_and_add(*arrays[thread])) / pairs,
        )


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


# -- stages ----------------------------------------------------------------------------------------------------------


def limit_of(stage: str, sizes: Mapping[str, int], limits: Limits) -> float | None:
    """The least seconds of a stage; None for the start of Python and Numba and the loading of compiled kernels.

    None also for the placements of Model 4, which are learnt from a part of the text.

    Per token pair, a stage reads the number of its cell (4 bytes), or writes it; per cell of a shard, it reads the
    number of the cell in the lexicon (4), and copies its entry (8) or its count (4); per cell of the lexicon, an
    iteration reads a count (4) and writes two probabilities (8).
    """
    pairs, shard_cells = sizes["token_pairs"], sizes["shard_cells"]
    if stage == "reading":
        return limits.byte * (sizes["bytes_read"] + 4 * sizes["tokens"])
    if stage == "indexing":
        return limits.byte * (4 * sizes["tokens"] + 4 * pairs + 8 * shard_cells) + limits.gather * pairs
    if stage.startswith("training") and "placements" not in stage:
        moved = 4 * pairs + (4 + 2 * 8 + 4 + 2 * 4) * shard_cells + (4 + 8) * sizes["cells"]
        return limits.byte * moved + limits.gather_and_add * pairs
    if stage == "aligning":
        moved = 4 * pairs + (4 + 2 * 8) * shard_cells + sizes["bytes_written"]
        return limits.byte * moved + limits.gather * pairs
    return None


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the job: wall and CPU seconds of each stage and of the whole process, and the sizes."""

    stages: dict[str, tuple[float, float]]
    sizes: dict[str, int]


def cells_file(work: Path) -> Path:
    """Where the job leaves the cells of a shard."""
    return work / "stages.cells.npy"


def run_job(model: str, text: hansards.TrainingText, work: Path, threads: int) -> Run:
    """Run the job in a process of its own."""
    links, found = work / "stages.links", work / "stages.found"
    files = [str(path.resolve()) for path in (text.source, text.target, links)]
    command = [sys.executable, str(JOB), model, *files, str(threads), str(found.resolve())]
    command.append(str(cells_file(work).resolve()))
    used = peers.measure(command, workdir=work, name="stages")
    measured = json.loads(found.read_text())
    stages = {stage: (wall, cpu) for stage, (wall, cpu) in measured["stages"].items()}
    whole = used["wall_seconds"], used["user_seconds"] + used["system_seconds"]
    rest = [total - sum(times) for total, times in zip(whole, zip(*stages.values(), strict=True), strict=True)]
    sizes = {
        **measured["sizes"],
        "bytes_read": text.source.stat().st_size + text.target.stat().st_size,
        "bytes_written": links.stat().st_size,
    }
    return Run({"start": (rest[0], rest[1]), **stages, "whole job": whole}, sizes)


def rows_of(runs: Mapping[int, Sequence[Run]], limits: Mapping[int, Limits]) -> list[dict[str, object]]:
    """One record for each stage: seconds, limit and their ratio, by number of threads."""
    first = next(iter(runs.values()))[0]
    sizes, records = first.sizes, []
    least = {
        threads: {stage: limit_of(stage, sizes, limits[threads]) for stage in first.stages if stage != "whole job"}
        for threads in runs
    }
    for stage in first.stages:
        record: dict[str, object] = {"stage": stage}
        for threads, all_runs in runs.items():
            wall = [run.stages[stage][0] for run in all_runs]
            cpu = [run.stages[stage][1] for run in all_runs]
            limit = least[threads].get(stage)
            if stage == "whole job":
                limit = sum(each for each in least[threads].values() if each is not None)
            record |= {f"wall_{threads}": wall, f"cpu_{threads}": cpu, f"limit_{threads}": limit}
        records.append(record)
    return records


def table_of(records: Sequence[Mapping[str, object]], threads: Sequence[int], token_pairs: int) -> str:
    """The table: a row for each stage."""
    columns = ["stage"]
    for number in threads:
        heading = f"{number} thread{'s' * (number > 1)}"
        columns += [f"{heading}: wall s", "CPU s", "ns per token pair", "limit s", "wall / limit"]
    if len(threads) > 1:
        columns.append("speed-up")
    rows = []
    for record in records:
        row = [str(record["stage"])]
        for number in threads:
            wall, cpu = (median(_numbers(record[f"{name}_{number}"])) for name in ("wall", "cpu"))
            limit = record[f"limit_{number}"]
            row += [f"{wall:.2f}", f"{cpu:.2f}", f"{wall / token_pairs * 1e9:.1f}"]
            row += [f"{limit:.2f}", f"{wall / limit:.1f}"] if isinstance(limit, float) else ["-", "-"]
        if len(threads) > 1:
            one, more = (median(_numbers(record[f"wall_{number}"])) for number in (threads[0], threads[-1]))
            row.append(f"{one / more:.2f}")
        rows.append(row)
    return report.markdown(columns, rows)


def _numbers(values: object) -> list[float]:
    assert isinstance(values, list)
    return values


def limits_note(limits: Mapping[int, Limits], sizes: Mapping[str, int]) -> str:
    """What was measured of the machine, and how large the text is."""
    parts = [
        f"{threads} thread{'s' * (threads > 1)}: memory {1e-9 / found.byte:.1f} GB/s, a gather "
        f"{found.gather * 1e9:.2f} ns, a gather with an addition {found.gather_and_add * 1e9:.2f} ns per token pair"
        for threads, found in limits.items()
    ]
    pairs, shards, cells = (sizes[name] / 1e6 for name in ("token_pairs", "shard_cells", "cells"))
    text = f"{pairs:.1f} M token pairs of distinct sentence pairs, {shards:.1f} M cells of shards, {cells:.1f} M cells"
    return f"{text} of the lexicon. {'; '.join(parts)}."


# -- the command -----------------------------------------------------------------------------------------------------


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description="Where the time of `cepts align` goes.")
    hansards.add_options(parser)
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each job (default: 3)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="N", help="default: 1 2")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS), help="default: all of these")
    parser.add_argument("--json-lines", type=Path, metavar="FILE", help=f"default: {RESULTS.name}; none with --pairs")
    parser.add_argument("--write", type=Path, metavar="PAGES", help=report.WRITE_HELP)
    options = parser.parse_args()
    if options.write:
        report.check_pages(options.write, [TABLE])
    limits: dict[int, Limits] = {}
    runs: dict[str, dict[int, list[Run]]] = {model: {each: [] for each in options.threads} for model in options.models}
    with hansards.work_directory(options.work) as work:
        few = hansards.make_text("small", options.data, work, pairs=WARM_UP_PAIRS)
        report.say("warm-up, not timed")
        for model in options.models:
            run_job(model, few, work, options.threads[0])
        text = hansards.make_text("large", options.data, work, pairs=options.pairs)
        for turn in range(options.repeat):
            for model in options.models:
                for threads in options.threads:
                    report.say(f"turn {turn + 1} of {options.repeat}: {model}, {threads} threads")
                    runs[model][threads].append(run_job(model, text, work, threads))
        for threads in options.threads:
            report.say(f"what memory allows, {threads} threads")
            limits[threads] = measured_limits(np.load(cells_file(work)), threads)
    kept = options.json_lines or (RESULTS if options.pairs is None else None)
    parts = []
    for model, own in runs.items():
        records = rows_of(own, limits)
        sizes = next(iter(own.values()))[0].sizes
        parts.append(f"{MODELS[model]}:\n\n{table_of(records, options.threads, sizes['token_pairs'])}")
        if kept:
            about = {"table": "stages", "model": model, **report.circumstances(), "pairs": text.pairs, **sizes}
            report.append_lines(kept, [{**about, **record} for record in records])
    parts.append(f"{limits_note(limits, sizes)} {report.provenance()} Medians of {options.repeat} runs.")
    found = "\n\n".join(parts)
    print(found)
    if options.write:
        report.replace_tables(options.write, {TABLE: found})


if __name__ == "__main__":
    main()
