"""A cost model of training on a cluster: fitted to measured tasks, checked by simulation and by runs, extrapolated.

1. `tasks`: single tasks are measured on texts of several sizes, cut into shards of several sizes (`scale_tasks.py`);
   the coefficients of the model are found by least squares.
2. `check`: whole runs on one and two Dask workers, beside the simulation (`scale_simulation.py`) and the closed form.
3. `prediction`: time, memory, disk and network for texts and clusters that nobody has here.

    scale_model.py --data DIR [--tables tasks check prediction] [--sizes N ...] [--shards M ...] [--work DIR] ...
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hansards
import report
from cepts.words.positions import ENOUGH_PAIRS
from report import Table
from scale import Run, fresh, warm_up
from scale_run import Kept
from scale_simulation import Machine, Phase, closed_form, simulate
from scale_text import ScaleText

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "scale-model.jsonl"
SIZES = (20_000, 80_000, 320_000)
SHARDS = (1, 4, 16)  # million token pairs
CHECKED = (80_000,)
PLACEMENTS = "placements"
CEPTS = [sys.executable, "-m", "cepts"]
RANGE = 1 << 21  # cells of a range of the lexicon
# What they are when tasks are measured, so that their number does not just follow the size of the text.
RANGES = (1 << 16, 1 << 18)
# Assumptions of the prediction.
PAIRS = (100_000_000, 1_000_000_000)
WORKERS = (1, 16, 128)
MOST_WORDS = 2_000_000  # of both languages, as --max-vocabulary keeps them
ITERATIONS = {"ibm1": 4, "hmm": 2, PLACEMENTS: 1, "mixed": 2}  # those of the default model
CLUSTER = Machine(disk=5e9, network=1.25e9, dispatch=1e-3, spread=0.1, losses=0.02, replacement=120.0)
MEMORY = 8 << 30  # bytes of a worker
SHARD_SIZES = tuple(2**power << 20 for power in range(2, 11))

Record = dict[str, Any]

# What each kind of task depends on; the names are explained in `Features`.
TERMS: dict[str, tuple[str, ...]] = {
    "ingest": ("one", "all_tokens"),
    "index": ("one", "token_pairs", "tokens"),
    "merge": ("one", "range_numbers", "shards", "words"),
    "count ibm1": ("one", "token_pairs", "shard_cells", "ranges", "words"),
    "count hmm": ("one", "token_pairs", "shard_cells", "ranges", "words"),
    "classes": ("one", "words"),
    "count placements": ("one", "token_pairs", "shard_cells", "ranges", "words"),
    "count mixed": ("one", "token_pairs", "shard_cells", "ranges", "words"),
    "add": ("one", "range_numbers", "range_cells", "shards", "words"),
    "enter": ("one", "range_numbers", "range_cells", "words"),
    "learn": ("one", "words_times_shards", "words_times_ranges"),
    "opening": ("one", "words", "shards"),
    "align": ("one", "all_token_pairs", "ranges_times_shards"),
}
# The same for memory, where these say less.
PEAK_TERMS: dict[str, tuple[str, ...]] = {
    "index": ("one", "token_pairs"),
    "merge": ("one", "range_numbers"),
    "count ibm1": ("one", "token_pairs"),
    "count hmm": ("one", "token_pairs"),
    "classes": ("one", "words"),
    "count placements": ("one", "token_pairs"),
    "count mixed": ("one", "token_pairs"),
    "add": ("one", "range_cells"),
    "enter": ("one", "range_numbers", "range_cells"),
    "opening": ("one", "words"),
}
EXPLAINED = {
    "one": "constant",
    "tokens": "tokens of the shard",
    "all_tokens": "tokens",
    "token_pairs": "token pairs of the shard",
    "all_token_pairs": "token pairs",
    "shard_cells": "cells of the shard",
    "range_cells": "cells of the range",
    "range_numbers": "cells of the range in all shards",
    "ranges": "ranges",
    "ranges_times_shards": "ranges x shards",
    "shards": "shards",
    "words": "words",
    "words_times_shards": "words x shards",
    "words_times_ranges": "words x ranges",
}
OUTPUTS = ("seconds", "read", "written", "peak")
COSTS = OUTPUTS[:3]
UNITS = {"seconds": "ns", "read": "bytes read", "written": "bytes written", "peak": "bytes of memory added"}


@dataclass(frozen=True, slots=True)
class Features:
    """What tasks depend on; of a shard and of a range, the mean."""

    all_tokens: float
    all_token_pairs: float
    shards: float
    ranges: float
    words: float
    shard_cells: float
    lexicon: float
    pairs: float

    def value(self, name: str) -> float:
        """The value of a term."""
        terms = {
            "one": 1.0,
            "tokens": self.all_tokens / self.shards,
            "token_pairs": self.all_token_pairs / self.shards,
            "range_cells": self.lexicon / self.ranges,
            "range_numbers": self.shard_cells * self.shards / self.ranges,
            "ranges_times_shards": self.ranges * self.shards,
            "words_times_shards": self.words * self.shards,
            "words_times_ranges": self.words * self.ranges,
        }
        return terms[name] if name in terms else float(getattr(self, name))

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Features:
        """The features of a job that was measured."""
        return cls(
            all_tokens=sum(found["tokens"]),
            all_token_pairs=sum(found["token_pairs"]),
            shards=found["shards"],
            ranges=found["ranges"],
            words=found["words"],
            shard_cells=sum(found["shard_cells"]) / found["shards"],
            lexicon=sum(found["range_cells"]),
            pairs=found["pairs"],
        )


def least_squares(rows: Sequence[Sequence[float]], values: Sequence[float]) -> NDArray[np.float64]:
    """Coefficients, none below 0, for which the relative errors of `rows @ coefficients` are least."""
    from scipy.optimize import nnls

    if len(rows[0]) == 0:
        return np.empty(0)
    weights = 1.0 / np.maximum(np.abs(values), 1e-9 + 1e-3 * np.max(np.abs(values)))
    matrix = np.asarray(rows, dtype=np.float64) * weights[:, None]
    scale = np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    found, _ = nnls(matrix / scale, np.asarray(values) * weights)
    return np.asarray(found / scale)


@dataclass(frozen=True, slots=True)
class Power:
    """How something grows: factor x size ** exponent."""

    factor: float
    exponent: float

    @classmethod
    def of(cls, sizes: Sequence[float], values: Sequence[float]) -> Power:
        """The power law that is closest to some values, in logarithms; linear if there is only one size."""
        x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(values, dtype=float))
        if np.ptp(x) < 1e-9:
            return cls(float(np.exp(np.mean(y - x))), 1.0)
        exponent, constant = np.polyfit(x, y, 1)
        return cls(float(np.exp(constant)), float(exponent))

    def at(self, size: float) -> float:
        """The value at a size."""
        return self.factor * size**self.exponent


class Model:
    """The model: coefficients of each kind of task, laws of growth, and memory."""

    def __init__(self, jobs: Sequence[Mapping[str, Any]]) -> None:
        self.jobs = jobs
        self.coefficients: dict[tuple[str, str], NDArray[np.float64]] = {}
        self.errors: dict[tuple[str, str], float] = {}
        for kind in TERMS:
            observed = [pair for job in jobs for pair in observations(job, kind)]
            for output in OUTPUTS:
                rows = [[features.value(term) for term in terms_of(kind, output)] for features, _ in observed]
                values = [cost[output] for _, cost in observed]
                found = least_squares(rows, values)
                self.coefficients[kind, output] = found
                expected = np.asarray(rows) @ found
                relative = np.abs(expected - values) / np.maximum(np.abs(values), 1e-9)
                self.errors[kind, output] = float(median(relative))

    def cost(self, kind: str, output: str, features: Features) -> float:
        """What a task costs."""
        terms = [features.value(term) for term in terms_of(kind, output)]
        return float(np.dot(terms, self.coefficients[kind, output]))

    @cached_property
    def cells_of_shards(self) -> Power:
        """Cells of a shard by its token pairs."""
        pairs = [
            (size, cells)
            for job in self.jobs
            for size, cells in zip(job["token_pairs"][:-1] or job["token_pairs"], job["shard_cells"], strict=False)
        ]
        return Power.of(*zip(*pairs, strict=True))

    @cached_property
    def cells_of_lexicon(self) -> Power:
        """Cells of the lexicon by all token pairs."""
        return self._by_job("token_pairs", lambda job: sum(job["range_cells"]))

    @cached_property
    def words(self) -> Power:
        """Words by tokens."""
        return self._by_job("tokens", lambda job: job["words"])

    def _by_job(self, name: str, value: Any) -> Power:
        return Power.of([sum(job[name]) for job in self.jobs], [value(job) for job in self.jobs])

    def memory(self, features: Features) -> float:
        """Bytes of a worker: an idle one, what it opens before its first task, and the task that needs most."""
        added = {kind: self.cost(kind, "peak", features) for kind in PEAK_TERMS}
        return self.base + added.pop("opening") + max(added.values())

    @cached_property
    def base(self) -> float:
        """Bytes of a worker that does nothing."""
        return float(min(job["base"] for job in self.jobs))

    def features(self, pairs: float, shard: float) -> Features:
        """What the tasks of a job that nobody has run would depend on."""
        tokens, token_pairs = (pairs * self._per_pair(name) for name in ("tokens", "token_pairs"))
        shards = max(1.0, round(token_pairs / shard))
        words = min(self.words.at(tokens), MOST_WORDS)
        lexicon = max(self.cells_of_lexicon.at(token_pairs), 1.0)
        shard_cells = min(self.cells_of_shards.at(token_pairs / shards), lexicon)
        ranges = max(1.0, round(lexicon / RANGE))
        return Features(tokens, token_pairs, shards, ranges, words, shard_cells, lexicon, pairs)

    def _per_pair(self, name: str) -> float:
        return sum(sum(job[name]) for job in self.jobs) / sum(job["pairs"] for job in self.jobs)

    def phases(self, features: Features, iterations: Mapping[str, int], *, whole: bool = True) -> list[Phase]:
        """A job as phases; `whole` with reading the text and writing the links."""

        def phase(name: str, kind: str, tasks: float, serial: float = 0.0) -> Phase:
            costs = [self.cost(kind, output, features) for output in COSTS]
            opening = [self.cost("opening", output, features) for output in ("seconds", "read")]
            return Phase(name, round(tasks), *costs, serial, *opening)

        shards, ranges = features.shards, features.ranges
        learning = self.cost("learn", "seconds", features)
        found = [Phase("reading", 0, serial=self.cost("ingest", "seconds", features))] if whole else []
        found += [phase("indexing", "index", shards), phase("indexing", "merge", ranges)]
        for stage, count in iterations.items():
            for _ in range(count):
                if stage == PLACEMENTS:
                    few = min(shards, math.ceil(ENOUGH_PAIRS / (features.pairs / shards)))
                    alone = self.cost("classes", "seconds", features) + learning
                    found.append(phase("counting", f"count {stage}", few, alone))
                    continue
                found.append(phase("counting", f"count {stage}", shards))
                found.append(phase("adding", "add", ranges))
                found.append(phase("adding", "enter", ranges, learning))
        if whole:
            each = [self.cost("align", output, features) / shards for output in COSTS]
            found.append(Phase("aligning", round(shards), *each))
        return found

    def disk(self, features: Features) -> float:
        """Bytes of all files at their peak: text, index, ranges, and what two iterations leave."""
        shards, ranges = features.shards, features.ranges
        written = {
            kind: self.cost(kind, "written", features) for kind in ("index", "merge", "count mixed", "add", "enter")
        }
        text = 4.0 * features.all_tokens
        kept = shards * (written["index"] + written["count mixed"]) + ranges * written["merge"]
        return text + kept + 2 * ranges * (written["add"] + written["enter"])


def terms_of(kind: str, output: str) -> tuple[str, ...]:
    """What an output of a kind of task depends on; the memory of a few is not asked for."""
    return PEAK_TERMS.get(kind, ()) if output == "peak" else TERMS[kind]


def observations(job: Mapping[str, Any], kind: str) -> list[tuple[Features, Mapping[str, float]]]:
    """What was measured of a kind of task: the mean of its tasks, because the model knows only means."""
    features = Features.of(job)
    if kind in {"ingest", "align"}:
        return [(features, job[kind])]
    if kind in {"learn", "classes"}:
        return [(features, cost) for cost in job[kind]]
    if kind == "opening":
        costs = [
            {
                "seconds": task["opening_seconds"],
                "read": task["opening_read"],
                "written": 0.0,
                "peak": task["opening_peak"],
            }
            for task in job["tasks"]
            if task["stage"] is not None
        ]
        return [(features, mean(costs))]
    name, _, stage = kind.partition(" ")
    stages = (
        [f"training-{stage}"]
        if stage
        else sorted({task["stage"] for task in job["tasks"] if task["kind"] == name}, key=str)
    )
    found = ([task for task in job["tasks"] if (task["kind"], task["stage"]) == (name, each)] for each in stages)
    return [(features, mean(tasks)) for tasks in found if tasks]


def mean(costs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    found = {output: float(np.mean([cost[output] for cost in costs])) for output in COSTS}
    return {**found, "peak": max(cost["peak"] for cost in costs)}


# -- measuring -------------------------------------------------------------------------------------------------


def measured_job(run: Run, text: ScaleText, millions: int, cells: int = RANGES[-1]) -> Record:
    """The tasks of a job, measured in a process of its own, whose peak memory is that of a worker."""

    def measure() -> Record:
        report.say(f"tasks: {text.pairs:,} pairs, shards of {millions} million token pairs, ranges of {cells:,} cells")
        script = str(Path(__file__).with_name("scale_tasks.py"))
        command = [sys.executable, script, text.source, text.target, str(run.work / "tasks"), str(millions << 20)]
        command.append(str(cells))
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)

    return run.kept.get(f"tasks|{text.pairs}|{millions}|{cells}", measure)


def model_of(run: Run, shards: Sequence[int]) -> Model:
    """The model, fitted to all sizes of texts and shards; those with one shard say nothing of shards."""
    cut = [(millions, cells) for millions in shards for cells in RANGES]
    jobs = [measured_job(run, run.text(pairs), *sizes) for pairs in run.sizes for sizes in cut]
    several = [job for job in jobs if job["shards"] > 1]
    return Model(several or jobs)


def dispatch_seconds(run: Run) -> float:
    """How long Dask's scheduler needs for a task, from a run of tasks that do nothing."""

    def measure() -> float:
        script = (
            "import time; from cepts.engine import DaskEngine\n"
            "if __name__ == '__main__':\n"
            "    engine = DaskEngine(workers=1); engine.run(abs, range(10)); start = time.perf_counter()\n"
            "    engine.run(abs, range(500)); print((time.perf_counter() - start) / 500); engine.close()\n"
        )
        file = run.work / "dispatch.py"
        file.write_text(script)
        return float(subprocess.run([sys.executable, str(file)], stdout=subprocess.PIPE, check=True).stdout)

    return float(run.kept.get("dispatch", measure))


# -- the tables ------------------------------------------------------------------------------------------------


def tasks_table(model: Model) -> Table:
    """The coefficients."""
    rows, records = [], []
    for kind in TERMS:
        for output in OUTPUTS:
            terms = terms_of(kind, output)
            factor = 1e9 if output == "seconds" else 1.0
            found = zip(terms, model.coefficients[kind, output] * factor, strict=True)
            shown = [
                f"{value:.3g} x {EXPLAINED[term]}" if term != "one" else f"{value:.3g}"
                for term, value in found
                if value
            ]
            error = model.errors[kind, output]
            if shown:
                rows.append([kind, UNITS[output], " + ".join(shown), f"{100 * error:.0f}"])
            values = dict(zip(terms, model.coefficients[kind, output].tolist(), strict=True))
            records.append({"kind": kind, "output": output, "error": error, **values})
    laws = {
        "cells of a shard": model.cells_of_shards,
        "cells of the lexicon": model.cells_of_lexicon,
        "words": model.words,
    }
    grown = {"cells of a shard": "its token pairs", "cells of the lexicon": "all token pairs", "words": "tokens"}
    notes = [f"{name} = {law.factor:.3g} x ({grown[name]})^{law.exponent:.2f}" for name, law in laws.items()]
    records += [{"law": name, "factor": law.factor, "exponent": law.exponent} for name, law in laws.items()]
    table = report.markdown(["task", "unit", "cost of a task", "median error, %"], rows, text_columns=3)
    notes.append(f"bytes of an idle worker = {model.base:.3g}")
    listed = "\n".join(f"- {note}" for note in notes)
    return Table(f"{table}\n\n{listed}", records)


def check_table(run: Run, model: Model, shards: Sequence[int]) -> Table:
    """Runs on one and two workers, beside what the model says of them."""
    columns = ["pairs", "million token pairs of a shard", "workers", "measured s", "simulated s", "closed form s"]
    columns.append("simulated / measured")
    machine = Machine(dispatch=dispatch_seconds(run), spread=0.1)
    rows, records = [], []
    start: dict[int, float] = {}
    for pairs in (1_000, *run.worker_sizes):
        text = run.text(pairs)
        for millions in shards if pairs > 1_000 else (1,):
            for workers in (1, 2):
                seconds = [real_run(run, text, millions, workers, turn) for turn in range(run.repeat)]
                if pairs == 1_000:
                    start[workers] = min(seconds)  # a text so small that only the start of the workers takes time
                    continue
                job = measured_job(run, text, millions)
                features = Features.of(job)
                features = replace(features, ranges=max(1, round(features.lexicon / RANGE)))  # as in the run
                phases = model.phases(features, ITERATIONS, whole=False)
                simulated = start[workers] + simulate(phases, workers, machine).seconds
                closed = start[workers] + closed_form(phases, workers, machine)
                found = median(seconds)
                row = [f"{pairs:,}", str(millions), str(workers), report.spread(seconds)]
                rows.append([*row, f"{simulated:.1f}", f"{closed:.1f}", f"{simulated / found:.2f}"])
                records.append({"pairs": pairs, "millions": millions, "workers": workers, "measured": seconds,
                                "simulated": simulated, "closed": closed})  # fmt: skip
    overhead = f"{machine.dispatch * 1e3:.1f} ms of the scheduler for each task"
    note = f"Simulated with {overhead}, and with the time that starting the workers takes, as measured."
    return Table(f"{report.markdown(columns, rows, text_columns=0)}\n\n{note}", records, run.repeat)


def real_run(run: Run, text: ScaleText, millions: int, workers: int, turn: int) -> float:
    """Seconds of `cepts train` on a Dask cluster on this machine."""

    def measure() -> float:
        import time

        report.say(f"check: {text.pairs:,} pairs, shards of {millions} million token pairs, {workers} workers")
        place = fresh(run.work / "job") / "training"
        shard = [*CEPTS, "shard", text.source, text.target, str(place), "--shard-size", str(millions)]
        subprocess.run([*shard, "--quiet"], check=True)
        start = time.perf_counter()
        train = [*CEPTS, "train", str(place), "--engine", "dask", "--threads", str(workers), "--quiet"]
        subprocess.run(train, check=True)
        return time.perf_counter() - start

    return float(run.kept.get(f"check|{text.pairs}|{millions}|{workers}|{turn}", measure))


def prediction_table(model: Model) -> Table:
    """What nobody has run here."""
    columns = [
        "pairs",
        "workers",
        "shards",
        "hours",
        "simulated h",
        "CPU h",
        "GiB of a worker",
        "files, TB",
        "moved, TB",
    ]
    columns.append("limited by")
    rows, records = [], []
    for pairs in PAIRS:
        for workers in WORKERS:
            features, phases, hours = best_plan(model, pairs, workers)
            tasks = sum(phase.tasks for phase in phases)
            simulated = simulate(phases, workers, CLUSTER).seconds / 3600 if tasks <= 300_000 else math.nan
            cpu = sum(phase.serial + phase.tasks * phase.seconds for phase in phases) / 3600
            moved = sum(phase.tasks * (phase.read + phase.written) for phase in phases)
            memory = model.memory(features)
            disk = model.disk(features)
            limit = limited_by(phases, workers)
            row = [f"{pairs / 1e6:,.0f} M", str(workers), f"{features.shards:,.0f}", f"{hours:,.1f}"]
            row += ["-" if math.isnan(simulated) else f"{simulated:,.1f}", f"{cpu:,.1f}", f"{memory / 2**30:.1f}"]
            rows.append([*row, f"{disk / 1e12:.2f}", f"{moved / 1e12:,.1f}", limit])
            records.append({"pairs": pairs, "workers": workers, "shards": features.shards, "hours": hours, "cpu": cpu,
                            "memory": memory, "disk": disk, "moved": moved, "limit": limit})  # fmt: skip
    return Table(report.markdown(columns, rows, text_columns=0), records)


def best_plan(model: Model, pairs: float, workers: int) -> tuple[Features, list[Phase], float]:
    """The shard size with which a job is fastest, of those that fit into memory."""
    plans = []
    for size in SHARD_SIZES:
        features = model.features(pairs, size)
        if model.memory(features) <= MEMORY or not plans:
            phases = model.phases(features, ITERATIONS)
            plans.append((closed_form(phases, workers, CLUSTER) / 3600, size, features, phases))
    hours, _, features, phases = min(plans, key=lambda plan: plan[:2])
    return features, phases, hours


def limited_by(phases: Sequence[Phase], workers: int) -> str:
    """What takes most of the time: computing, moving bytes, what one process does alone, or the scheduler."""
    moved = sum(phase.tasks * (phase.read + phase.written) for phase in phases)
    parts = {
        "computing": sum(phase.tasks * phase.seconds for phase in phases) / workers,
        "bytes": moved / min(CLUSTER.disk, CLUSTER.network * workers),
        "one process": sum(phase.serial for phase in phases),
        "scheduler": sum(phase.tasks for phase in phases) * CLUSTER.dispatch,
    }
    return max(parts, key=lambda name: parts[name])


# -- the command -------------------------------------------------------------------------------------------------


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="A cost model of training on a cluster.")
    names = ("tasks", "check", "prediction")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", metavar="DIR", help="has bitext/")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep texts and measurements here, to continue")
    parser.add_argument("--tables", nargs="+", choices=names, default=list(names), help="make these alone")
    parser.add_argument(
        "--sizes", nargs="+", type=int, metavar="N", default=SIZES, help="pairs whose tasks are measured"
    )
    parser.add_argument(
        "--shards", nargs="+", type=int, metavar="M", default=SHARDS, help="million token pairs of a shard"
    )
    parser.add_argument("--checked", nargs="+", type=int, metavar="N", default=CHECKED, help="pairs of whole runs")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="runs of each whole job (default: 1)")
    parser.add_argument("--json-lines", type=Path, default=RESULTS, metavar="FILE", help="append one line a row")
    parser.add_argument("--write", type=Path, metavar="PAGES", help="put the tables into this page (docs/explanation)")
    return parser.parse_args(arguments)


def main() -> None:
    """Measure, fit, and make the tables that are asked for."""
    options = parse()
    if not (options.data / "bitext").is_dir():
        sys.exit(f"There is no bitext/ in {options.data}; say where the data is: --data DIR.")
    if options.write:
        report.check_pages(options.write, [f"scale {name}" for name in options.tables])
    with hansards.work_directory(options.work) as work:
        kept = Kept(work.resolve() / "model.jsonl")
        run = Run(options.data, work.resolve(), options.sizes, (), options.checked, options.repeat, kept)
        warm_up(run)
        model = model_of(run, options.shards)
        makers = {
            "tasks": lambda: tasks_table(model),
            "check": lambda: check_table(run, model, options.shards),
            "prediction": lambda: prediction_table(model),
        }
        for name in options.tables:
            table = makers[name]()
            text = f"{table.text}\n\n{report.provenance(table.repeat)}"
            print(f"{text}\n", flush=True)
            about = {"table": name, "sizes": list(options.sizes), **report.circumstances()}
            report.append_lines(options.json_lines, [{**about, **record} for record in table.records])
            if options.write:
                report.replace_tables(options.write, {f"scale {name}": text})


if __name__ == "__main__":
    main()
