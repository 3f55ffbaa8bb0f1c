"""Cost of aligning large texts: against size, under a memory budget, on one and two workers, beside other aligners.

Texts are recombined from the Hansards, LibreOffice and Europarl (`scale_text.py`). Every measurement is kept in the
work directory as soon as it is made, so a run that was interrupted continues if `--work` names a directory. Jobs never
run side by side.

    scale.py --data DIR [--tables size memory workers peers] [--sizes N ...] [--repeat N] [--work DIR] ...
"""

from __future__ import annotations

import argparse
import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import hansards
import peers
import report
from jobs import align_command
from report import Table
from scale_run import Kept, measure
from scale_text import ScaleText, make_text

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "scale.jsonl"
SIZES = (10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000, 1_280_000, 2_560_000, 3_000_000)
PEER_SIZES = (360_000, 1_000_000)
WORKER_SIZES = (80_000, 320_000, 640_000)
# The default model aligns texts of all sizes, the HMM some of them.
MODELS = {"default": (), "hmm": ("--model", "hmm")}
HMM_SIZES = (40_000, 160_000, 640_000, 2_560_000)
BUDGET = "2G"
WARM_UP = 1_000  # pairs

# systran-align as its users run it: trained with its defaults, then both directions joined.
SYSTRAN_ALIGN = """
import sys, systran_align
source, target, joined, forward, reverse, links = sys.argv[1:]
systran_align.generate_alignment_probabilities(joined, forward, reverse)
aligner = systran_align.Aligner(forward, reverse)
with open(source) as sources, open(target) as targets, open(links, "w") as output:
    for left, right in zip(sources, targets):
        found = aligner.align(left.split(), right.split())["alignments"] if left.strip() and right.strip() else []
        output.write(" ".join(f"{one}-{other}" for one, other in found) + "\\n")
"""

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """The options of a run, and what has been measured."""

    data: Path
    work: Path
    sizes: Sequence[int]
    peer_sizes: Sequence[int]
    worker_sizes: Sequence[int]
    repeat: int
    kept: Kept
    hmm_sizes: Sequence[int] = HMM_SIZES

    def text(self, pairs: int, *, lower: bool = False) -> ScaleText:
        """The text of this many pairs."""
        return make_text(self.data, self.work, pairs, lower=lower)

    def measured(self, table: str, row: str, text: ScaleText, job: Callable[[], Record]) -> list[Record]:
        """What each of `repeat` runs of a job used."""
        found = []
        for turn in range(self.repeat):
            report.say(f"{table}: {row}, {text.pairs:,} pairs, turn {turn + 1} of {self.repeat}")
            found.append(self.kept.get(f"{table}|{row}|{text.pairs}|{turn}", job))
        return found

    def align(self, text: ScaleText, name: str, *options: str) -> Callable[[], Record]:
        """`cepts align` as a job, whose temporary files are watched."""

        def job() -> Record:
            place = fresh(self.work / "job")
            command = align_command(Path(text.source), Path(text.target), self.work / "links", *options)
            environment = ["/usr/bin/env", f"TMPDIR={place}"]
            return measure([*environment, *command], workdir=self.work, name=name, disk=place)

        return job


def fresh(directory: Path) -> Path:
    """An empty directory."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory.resolve()


@cache
def has_budget() -> bool:
    """Whether this cepts has the option `--memory`."""
    found = subprocess.run([sys.executable, "-m", "cepts", "align", "--help"], capture_output=True, check=True)
    return b"--memory" in found.stdout


def warm_up(run: Run) -> None:
    """Compile the kernels of all jobs, in a run that is not timed."""
    text = run.text(WARM_UP)
    run.kept.get("warm-up", run.align(text, "warm-up"))
    job = fresh(run.work / "warm")
    for command in (["shard", text.source, text.target, str(job)], ["train", str(job), "--threads", "1"]):
        subprocess.run([sys.executable, "-m", "cepts", *command, "--quiet"], check=True)


def doubling(before: tuple[float, float] | None, pairs: float, cost: float) -> str:
    """How many times as much twice the pairs cost, from the size before to this one."""
    if before is None or before[1] <= 0 or cost <= 0:
        return "-"
    return f"{2 ** (math.log(cost / before[1]) / math.log(pairs / before[0])):.2f}"


def middle(runs: Sequence[Record], name: str) -> float:
    return float(median(each[name] for each in runs))


def kept_record(row: str, text: ScaleText, runs: Sequence[Record]) -> Record:
    """A row for the file of results."""
    sizes = {name: getattr(text, name) for name in ("pairs", "source_words", "target_words", "token_pairs")}
    return {"row": row, **sizes, **{name: [round(each[name], 3) for each in runs] for name in runs[0]}}


# -- the tables ------------------------------------------------------------------------------------------------


def size_table(run: Run, name: str = "size", *options: str) -> Table:
    """Cost against size."""
    columns = ["model", "pairs", "token pairs, million", "wall s", "x at twice the pairs"]
    columns += ["user CPU s", "x at twice the pairs", "system CPU s", "peak MiB", "files, MB"]
    rows, records = [], []
    for model, chosen in MODELS.items():
        before: dict[str, tuple[float, float]] = {}
        for pairs in sorted(run.sizes if model == "default" else run.hmm_sizes):
            text = run.text(pairs)
            runs = run.measured(name, model, text, run.align(text, name, *chosen, *options))
            row = [model, f"{pairs:,}", f"{text.token_pairs / 1e6:,.1f}"]
            for column in ("wall_seconds", "user_seconds"):
                row += [report.spread([each[column] for each in runs])]
                row += [doubling(before.get(column), pairs, middle(runs, column))]
                before[column] = pairs, middle(runs, column)
            row += [report.spread([each["system_seconds"] for each in runs])]
            row += [f"{max(each['peak_mib'] for each in runs):,.0f}", f"{middle(runs, 'disk_bytes') / 1e6:,.0f}"]
            rows.append(row)
            records.append({**kept_record("cepts align", text, runs), "options": [*chosen, *options]})
    return Table(report.markdown(columns, rows), records, run.repeat)


def memory_table(run: Run) -> Table:
    """The same under a memory budget."""
    if has_budget():
        return size_table(run, "memory", "--memory", BUDGET)
    table = size_table(run, "memory without budget")
    return Table(
        f"{table.text}\n\nThis version has no option `--memory`; nothing was limited.", table.records, run.repeat
    )


def workers_table(run: Run) -> Table:
    """Training by one and by two workers of a Dask cluster on this machine, and by threads."""
    columns = ["pairs", "runs the tasks", "wall s", "user CPU s", "peak MiB", "files, MB", "efficiency"]
    rows, records = [], []
    for pairs in run.worker_sizes:
        text = run.text(pairs)
        alone: dict[str, float] = {}
        for engine in ("local", "dask"):
            for workers in (1, 2):
                runs = run.measured("workers", f"{engine} {workers}", text, train_job(run, text, engine, workers))
                wall = middle(runs, "wall_seconds")
                alone.setdefault(engine, wall)
                what = {"local": "thread", "dask": "Dask worker"}[engine] + ("s" if workers > 1 else "")
                efficiency = "-" if workers == 1 else f"{alone[engine] / (workers * wall):.2f}"
                seconds = [
                    report.spread([each[column] for each in runs]) for column in ("wall_seconds", "user_seconds")
                ]
                peak, disk = max(each["peak_mib"] for each in runs), middle(runs, "disk_bytes") / 1e6
                rows.append([f"{pairs:,}", f"{workers} {what}", *seconds, f"{peak:,.0f}", f"{disk:,.0f}", efficiency])
                records.append(kept_record(f"{engine} {workers}", text, runs))
    table = report.markdown(columns, rows, text_columns=2)
    note = "Efficiency: wall time of one over twice that of two. Whole commands `cepts train DIR`, start included."
    return Table(f"{table}\n\n{note}", records, run.repeat)


def train_job(run: Run, text: ScaleText, engine: str, workers: int) -> Callable[[], Record]:
    """`cepts train` on a text that is cut into shards before."""

    def job() -> Record:
        place = fresh(run.work / "job") / "training"
        cepts = [sys.executable, "-m", "cepts"]
        subprocess.run([*cepts, "shard", text.source, text.target, str(place), "--quiet"], check=True)
        train = [*cepts, "train", str(place), "--engine", engine, "--threads", str(workers), "--quiet"]
        return measure(train, workdir=run.work, name=f"workers.{engine}.{workers}", disk=place)

    return job


def peers_table(run: Run) -> Table:
    """Other aligners on the same text."""
    columns = ["aligner", "pairs", "user CPU s", "wall s", "peak MiB"]
    columns += ["user CPU / that of `cepts align`", "/ that of `--model hmm`"]
    rows, records = [], []
    for pairs in run.peer_sizes:
        text, lower = run.text(pairs), run.text(pairs, lower=True)
        jobs = {
            "cepts align, 1 thread": run.align(text, "peers.1", "--threads", "1"),
            "cepts align --model hmm, 1 thread": run.align(text, "peers.hmm", *MODELS["hmm"], "--threads", "1"),
            "cepts align, 2 threads": run.align(text, "peers.2", "--threads", "2"),
            "eflomal": lambda lower=lower: eflomal(run, lower),
            "systran-align": lambda lower=lower: systran_align(run, lower),
        }
        used: dict[str, float] = {}
        for label, job in jobs.items():
            runs = run.measured("peers", label, text, job)
            used[label] = middle(runs, "user_seconds")
            seconds = [report.spread([each[column] for each in runs]) for column in ("user_seconds", "wall_seconds")]
            peak = max(each["peak_mib"] for each in runs)
            ours = list(used.values())[:2]
            ratios = [f"{used[label] / each:.1f}" for each in ours] + ["-"] * (2 - len(ours))
            rows.append([label, f"{pairs:,}", *seconds, f"{peak:,.0f}", *ratios])
            records.append(kept_record(label, text, runs))
    return Table(report.markdown(columns, rows), records, run.repeat)


def eflomal(run: Run, text: ScaleText) -> Record:
    """`eflomal-align` with its defaults."""
    programs = peers.environment()
    command = [str(programs / "python"), str(programs / "eflomal-align"), "--overwrite", "-s", text.source]
    command += ["-t", text.target, "-f", str(run.work / "eflomal.forward"), "-r", str(run.work / "eflomal.reverse")]
    return measure(command, workdir=run.work, name="eflomal")


def systran_align(run: Run, text: ScaleText) -> Record:
    """systran-align with its defaults, links included."""
    programs = peers.environment()
    files = [str(run.work / f"systran.{name}") for name in ("input", "forward", "reverse", "links")]
    peers.join(Path(text.source), Path(text.target), Path(files[0]))
    command = [str(programs / "python"), "-c", SYSTRAN_ALIGN, text.source, text.target, *files]
    return measure(command, workdir=run.work, name="systran-align")


TABLES: dict[str, Callable[[Run], Table]] = {
    "size": size_table,
    "memory": memory_table,
    "workers": workers_table,
    "peers": peers_table,
}


# -- the command -------------------------------------------------------------------------------------------------


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="Cost of aligning large texts.")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", metavar="DIR", help="has bitext/")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep texts and measurements here, to continue")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), help="make these alone")
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help="pairs of all tables, to try things out")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="runs of each job (default: 1)")
    parser.add_argument("--json-lines", type=Path, default=RESULTS, metavar="FILE", help="append one line a row")
    parser.add_argument("--write", type=Path, metavar="PAGES", help=report.WRITE_HELP)
    options = parser.parse_args(arguments)
    if options.repeat < 1 or min(options.sizes or [1]) < 1:
        parser.error("--repeat and --sizes must be 1 or more.")
    return options


def main() -> None:
    """Make the tables that are asked for, print and keep them."""
    options = parse()
    if not (options.data / "bitext").is_dir():
        sys.exit(f"There is no bitext/ in {options.data}; say where the data is: --data DIR.")
    if options.write:
        report.check_pages(options.write, [f"scale {name}" for name in options.tables])
    with hansards.work_directory(options.work) as work:
        work = work.resolve()
        sizes = (options.sizes or SIZES, options.sizes or PEER_SIZES, options.sizes or WORKER_SIZES)
        kept = Kept(work / "measured.jsonl")
        run = Run(options.data, work, *sizes, options.repeat, kept, options.sizes or HMM_SIZES)
        warm_up(run)
        for name in options.tables:
            table = TABLES[name](run)
            text = f"{table.text}\n\n{report.provenance(table.repeat)}"
            print(f"{text}\n", flush=True)
            about = {"table": name, **report.circumstances()}
            report.append_lines(options.json_lines, [{**about, **record} for record in table.records])
            if options.write:
                report.replace_tables(options.write, {f"scale {name}": text})


if __name__ == "__main__":
    main()
