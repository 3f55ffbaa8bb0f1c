"""Cost of exact cosine and CSLS search in a word-vector space, compared with faiss.

Both search the same vectors and take turns, each in its own process, whose peak memory includes the matrices. Only the
search itself is timed, on all processors. faiss has no CSLS: its row has the two exact searches that CSLS needs (the
targets of each query and the queries of each target); the remaining work is not added.

    retrieval.py [--queries N] [--targets N] [--width N] [--vectors FILE.npy] [--repeat N] [--write PAGES] ...
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np

import hansards
import peers
import report
from cepts.spaces.retrieve import unit_rows
from report import Table

RESULTS = Path(__file__).resolve().parent / "results" / "retrieval.jsonl"
TABLE = "spaces retrieval"
SIZES = {"queries": 20_000, "targets": 200_000, "width": 300}
# Beside each job the one that it is held against.
JOBS = {
    "faiss-cosine": ("faiss, exact search", None),
    "cepts-cosine": ("cepts, cosine", "faiss-cosine"),
    "faiss-csls": ("faiss, exact search and one more pass", None),
    "cepts-csls": ("cepts, CSLS", "faiss-csls"),
}
NOISE = 0.6


def make_vectors(options: argparse.Namespace, directory: Path) -> dict[str, int]:
    """Write `targets.npy` and `queries.npy`, which are noisy copies of some of them; gives their sizes.

    Targets that are drawn have few strong dimensions and a common direction, as word vectors do, which makes hubs.
    """
    random = np.random.default_rng(0)
    if options.vectors:
        targets = unit_rows(np.load(options.vectors, mmap_mode="r")[: options.targets])
    else:
        scale = np.arange(1, options.width + 1, dtype=np.float32) ** -0.5
        targets = random.standard_normal((options.targets, options.width), dtype=np.float32) * scale
        targets += 0.25 * scale * random.standard_normal(options.width, dtype=np.float32)
        targets = unit_rows(targets)
    places = random.permutation(len(targets))[: options.queries]
    spread = targets[places].std(axis=0)
    queries = targets[places] + NOISE * spread * random.standard_normal((len(places), targets.shape[1]), np.float32)
    np.save(directory / "queries.npy", unit_rows(queries))
    np.save(directory / "targets.npy", targets)
    return {"queries": len(queries), "targets": len(targets), "width": targets.shape[1]}


def run(name: str, directory: Path) -> tuple[float, peers.Cost]:
    """Seconds of the search, and what the whole process used."""
    python = sys.executable if name.startswith("cepts") else str(peers.environment() / "python")
    command = [python, str(Path(__file__).with_name("retrieval_job.py")), name, str(directory.resolve())]
    cost = peers.measure(command, workdir=directory, name=name)
    return json.loads((directory / f"{name}.log").read_text().splitlines()[-1])["seconds"], cost


def measured(options: argparse.Namespace, directory: Path) -> Table:
    """Run all jobs in turns and make the table."""
    sizes = make_vectors(options, directory)
    seconds: dict[str, list[float]] = {name: [] for name in JOBS}
    costs: dict[str, list[peers.Cost]] = {name: [] for name in JOBS}
    for turn in range(options.repeat):
        for name, (label, _) in JOBS.items():
            report.say(f"turn {turn + 1} of {options.repeat}: {label}")
            taken, cost = run(name, directory)
            seconds[name].append(taken)
            costs[name].append(cost)
    both = [np.load(directory / f"{name}.npy") for name in ("faiss-cosine", "cepts-cosine")]
    same = float(np.mean([len(set(one) & set(other)) / len(one) for one, other in zip(*both, strict=True)]))
    columns = ["search", "wall s", "queries/s", "peak MiB", "faiss / it"]
    rows, records = [], []
    about = {"table": TABLE, **report.circumstances(), **sizes, "vectors": options.vectors and options.vectors.name}
    for name, (label, rival) in JOBS.items():
        peak = max(cost["peak_rss_mib"] for cost in costs[name])
        ratio = round(median(seconds[rival]) / median(seconds[name]), 2) if rival else None
        rate = sizes["queries"] / median(seconds[name])
        rows.append([label, report.spread(seconds[name]), f"{rate:,.0f}", f"{peak:,.0f}", str(ratio or "-")])
        found = {"search_seconds": [round(each, 3) for each in seconds[name]], "peak_rss_mib": round(peak, 1)}
        records.append({**about, "search": label, **found, "faiss_ratio": ratio, "same_as_faiss": round(same, 7)})
    what = f"{sizes['queries']:,} queries, {sizes['targets']:,} targets, width {sizes['width']}, the 10 best of each"
    note = f"{what}. Of the targets that faiss finds by cosine, cepts finds {100 * same:.3f} %."
    return Table(f"{report.markdown(columns, rows)}\n\n{note}", records, options.repeat)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="Cost of exact retrieval, beside faiss.")
    for name, size in SIZES.items():
        parser.add_argument(f"--{name}", type=int, default=size, metavar="N", help=f"(default: {size:,})")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="take the targets from this .npy file")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each search (default: 3)")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep vectors and logs here")
    parser.add_argument(
        "--json-lines",
        type=Path,
        metavar="FILE",
        help="append one line for each row (default: benchmarks/results/retrieval.jsonl; nothing with other sizes)",
    )
    parser.add_argument("--write", type=Path, metavar="PAGES", help=report.WRITE_HELP)
    options = parser.parse_args(arguments)
    for name in (*SIZES, "repeat"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be 1 or more. Got {getattr(options, name)} instead.")
    changed = options.vectors or any(getattr(options, name) != size for name, size in SIZES.items())
    if options.write and changed:
        parser.error("--write puts the table of the default sizes into a page: leave out the others.")
    if options.json_lines is None and not changed:
        options.json_lines = RESULTS
    return options


def main() -> None:
    """Measure and print."""
    options = parse()
    if options.write:
        report.check_pages(options.write, [TABLE])
    with hansards.work_directory(options.work) as directory:
        table = measured(options, directory)
    note = report.provenance(options.repeat)
    print(f"\n{TABLE}\n\n{table.text}\n\n{note}")
    if options.json_lines:
        report.append_lines(options.json_lines, table.records)
    if options.write:
        report.replace_tables(options.write, {TABLE: f"{table.text}\n\n{note}"})


if __name__ == "__main__":
    main()
