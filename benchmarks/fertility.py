"""Accuracy and cost of Model 4 on the Hansards, compared with the HMM and with Thot's Model 4 and HMM.

One run prints one table, for the small text and for its first pairs. Thot runs only on the latter, because its Model 4
would need most of an hour for the whole text. Jobs take turns and never run side by side. No option is tuned here.

    fertility.py --data DIR [--peer-pairs N] [--repeat N] [--write PAGES]
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean

import hansards
import peers
import report
from cepts.data import Alignments
from cepts.evaluate import compare
from cepts.io import read_bitext
from cepts.words import HMM, IBM4
from jobs import Found, cepts_job, peer_job
from words import cpu_ratio, plain

RESULTS = Path(__file__).resolve().parent / "results" / "fertility.jsonl"
TABLE = "words fertility"
METHODS = ("intersection", "grow-diag-final-and", "agreement")
PEER_PAIRS = 3000
WARM_PAIRS = 500
RIVAL = "Thot, Model 4"
PEERS = [
    peer_job("Thot, HMM", partial(peers.run_thot, model="hmm")),
    peer_job(RIVAL, partial(peers.run_thot, model="ibm4")),
]
MODELS = {"cepts, HMM": HMM, "cepts, Model 4": IBM4}
OURS = [
    cepts_job(model.name, label, "--model", model.name, "--combine", "intersection", method="intersection")
    for label, model in MODELS.items()
]


@dataclass(slots=True)
class Results:
    """What the runs on one text gave, by aligner."""

    text: hansards.TrainingText
    aers: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    costs: dict[str, list[peers.Cost]] = field(default_factory=dict)

    def keep(self, label: str, found: Found, gold: Alignments) -> None:
        """Score the links of the test pairs."""
        methods = self.aers.setdefault(label, {})
        for method, links in found.items():
            methods.setdefault(method, []).append(compare(gold, links).scores.aer)


def run(text: hansards.TrainingText, work: Path, gold: Alignments, *, repeat: int, peers_too: bool) -> Results:
    """Run the jobs in turns, then read the other links off models that are trained here."""
    results = Results(text)
    for turn in range(repeat):
        for job in [*(PEERS if peers_too else []), *OURS]:
            report.say(f"{text.pairs:,} pairs, turn {turn + 1} of {repeat}: {job.label}")
            cost, found = job.run(text, work)
            results.costs.setdefault(job.label, []).append(cost)
            results.keep(job.label, found, gold)
    bitext = read_bitext(text.source, text.target)
    for label, model in MODELS.items():
        report.say(f"{text.pairs:,} pairs, accuracy: {label}")
        aligner = model().fit(bitext)
        found = {method: hansards.part(aligner.align(bitext, combine=method), hansards.TEST) for method in METHODS[1:]}
        results.keep(label, found, gold)
    return results


def table(texts: Sequence[Results]) -> str:
    """AER in % by way to combine the directions, and the cost of whole jobs."""
    columns = ["aligner", "pairs", *(f"AER, {method}" for method in METHODS)]
    columns += ["user CPU s", "wall s", "peak MiB", f"{RIVAL} / it"]
    rows = []
    for results in texts:
        for label, runs in results.costs.items():
            aers = (results.aers[label].get(method) for method in METHODS)
            ratio = cpu_ratio(results.costs, RIVAL, label)
            rows.append(
                [
                    label,
                    f"{results.text.pairs:,}",
                    *(f"{100 * fmean(each):.2f}" if each else "-" for each in aers),
                    report.spread([each["user_seconds"] for each in runs]),
                    report.spread([each["wall_seconds"] for each in runs]),
                    f"{max(each['peak_rss_mib'] for each in runs):,.0f}",
                    f"{ratio:.1f}" if ratio else "-",
                ]
            )
    return report.markdown(columns, rows)


def records(results: Results) -> list[Mapping[str, object]]:
    """One JSON line for each aligner."""
    about = {"table": "fertility", **report.circumstances(), "text": results.text.name, "pairs": results.text.pairs}
    lines: list[Mapping[str, object]] = []
    for label, runs in results.costs.items():
        aers = {method: [round(each, 6) for each in values] for method, values in results.aers[label].items()}
        used = {name: [round(each[name], 3) for each in runs] for name in peers.Cost.__annotations__}
        ratio = cpu_ratio(results.costs, RIVAL, label)
        lines.append({**about, "aligner": plain(label), "aer": aers, **used, "thot_ratio": ratio})
    return lines


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="Accuracy and cost of Model 4 on the Hansards.")
    hansards.add_options(parser)
    parser.add_argument(
        "--peer-pairs",
        type=int,
        default=PEER_PAIRS,
        metavar="N",
        help=f"run Thot, and cepts beside it, on the first N pairs; 0 runs no Thot (default: {PEER_PAIRS})",
    )
    parser.add_argument("--repeat", type=int, default=2, metavar="N", help="runs of each job (default: 2)")
    parser.add_argument(
        "--json-lines",
        type=Path,
        metavar="FILE",
        help="append one line for each row (default: benchmarks/results/fertility.jsonl; nothing with --pairs)",
    )
    parser.add_argument("--write", type=Path, metavar="PAGES", help=report.WRITE_HELP)
    options = parser.parse_args(arguments)
    if options.repeat < 1:
        parser.error(f"--repeat must be 1 or more. Got {options.repeat} instead.")
    if options.peer_pairs and options.peer_pairs < hansards.TRIAL.stop:
        parser.error(f"--peer-pairs must be 0, or at least {hansards.TRIAL.stop}. Got {options.peer_pairs} instead.")
    if options.write and (options.pairs or not options.peer_pairs):
        parser.error("--write puts the whole table into a page: leave out --pairs and --peer-pairs 0.")
    if options.json_lines is None and options.pairs is None:
        options.json_lines = RESULTS
    return options


def main() -> None:
    """Run what is asked for and print the table."""
    options = parse()
    hansards.data_directory(options.data, ["small"])
    if options.write:
        report.check_pages(options.write, [TABLE])
    if options.peer_pairs:
        peers.environment()
    gold = hansards.gold(options.data, hansards.TEST)
    finished = []
    with hansards.work_directory(options.work) as work:
        few = hansards.make_text("small", options.data, work, pairs=WARM_PAIRS)
        for job in OURS:
            report.say(f"warm-up, not timed: {job.label}, {WARM_PAIRS} pairs")
            job.run(few, folder(work, "warm"))
        sizes = {options.pairs: False}
        if options.peer_pairs:
            sizes = {options.peer_pairs: True, options.pairs: options.pairs == options.peer_pairs}
        for pairs, peers_too in sizes.items():
            text = hansards.make_text("small", options.data, work, pairs=pairs)
            jobs = folder(work, f"fertility-{text.pairs}")
            finished.append(run(text, jobs, gold, repeat=options.repeat, peers_too=peers_too))
            if options.json_lines:
                report.append_lines(options.json_lines, records(finished[-1]))
    note = report.provenance(options.repeat)
    print(f"{table(finished)}\n\n{note}")
    if options.write:
        report.replace_tables(options.write, {TABLE: f"{table(finished)}\n\n{note}"})


def folder(work: Path, name: str) -> Path:
    """A directory in `work`, so that jobs on different texts do not overwrite each other's links."""
    (work / name).mkdir(exist_ok=True)
    return work / name


if __name__ == "__main__":
    main()
