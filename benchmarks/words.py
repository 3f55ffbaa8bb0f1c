"""Accuracy and cost of word alignment on the Hansards, compared with eflomal and fast_align.

One run prints three tables: the alignment error rate on the 447 test pairs, the cost of whole jobs (read,
train both directions, combine, write), and the start-up time of `cepts`. Jobs take turns and never run side by
side, so that a slow phase of the machine affects all of them. No option is tuned here: options were tuned on the
trial pairs (`threshold.py`).

    words.py --data DIR [--text small|large|both] [--rows ROW ...] [--accuracy-only|--speed-only] ...
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

import hansards
import peers
import report
from cepts.data import Alignments
from cepts.evaluate import Scores, compare
from cepts.io import read_bitext
from cepts.words import HMM, IBM1, IBM2, IBM4, Aligner, Diagonal, Mixed
from jobs import DEFAULT, HEURISTICS, JOBS, RIVALS, Found, align_command, fresh_kernels

RESULTS = Path(__file__).resolve().parent / "results" / "words.jsonl"
ALL = (*HEURISTICS, "agreement")
START_PAIRS = 1000
TABLES = ("words accuracy", "words speed", "words start")


@dataclass(frozen=True, slots=True)
class Model:
    """A model of cepts that is trained here, once for all the ways to read links off it."""

    label: str
    make: Callable[[], Aligner]
    methods: tuple[str, ...] = ALL


@dataclass(slots=True)
class Results:
    """What the runs gave, by text and then by label."""

    scores: dict[str, dict[tuple[str, str], list[Scores]]] = field(default_factory=dict)
    costs: dict[str, dict[str, list[peers.Cost]]] = field(default_factory=dict)
    start: dict[str, list[float]] = field(default_factory=dict)


MODELS = {
    "ibm1": Model("cepts IBM1", IBM1),
    "ibm2": Model("cepts IBM2", IBM2),
    "diagonal": Model("cepts Diagonal", Diagonal),
    "hmm-ml": Model("cepts HMM, maximum likelihood", lambda: HMM(lexicon="ml", agreement=False)),
    "hmm-agreeing": Model("cepts HMM, the same trained to agree", lambda: HMM(lexicon="ml")),
    "hmm": Model("cepts HMM", HMM),
    "ibm4": Model("cepts IBM4", IBM4),
    # What `cepts align` trains; its row is its links by agreement, made by the command itself.
    "mixed": Model("cepts Mixed, default", Mixed, HEURISTICS),
}
ROWS = (*RIVALS, *MODELS, "default")


# -- running -------------------------------------------------------------------------------------------------


def run_jobs(
    text: hansards.TrainingText, work: Path, options: argparse.Namespace, results: Results, gold: Alignments
) -> None:
    """Run the jobs in turns, `--repeat` times, and keep what they used and how right they were.

    Where only accuracy is asked, a job that always gives the same links runs once.
    """
    jobs = [job for job in JOBS if job.row in options.rows and (job.scored_as or not options.accuracy_only)]
    costs = results.costs.setdefault(text.name, {})
    for turn in range(options.repeat):
        for job in jobs:
            if options.accuracy_only and turn and not job.varies:
                continue
            report.say(f"{text.name} text, turn {turn + 1} of {options.repeat}: {plain(job.label)}")
            cost, found = job.run(text, work)
            costs.setdefault(job.label, []).append(cost)
            if job.scored_as:
                keep_scores(results, text, job.scored_as, found, gold)


def run_models(text: hansards.TrainingText, options: argparse.Namespace, results: Results, gold: Alignments) -> None:
    """Train the models in this process and score each way to read links off them."""
    models = {row: model for row, model in MODELS.items() if row in options.rows}
    bitext = read_bitext(text.source, text.target)
    for model in models.values():
        report.say(f"{text.name} text, accuracy: {model.label}")
        aligner = model.make().fit(bitext)
        for method in model.methods:
            links = hansards.part(aligner.align(bitext, combine=method), hansards.TEST)
            keep_scores(results, text, model.label, {method: links}, gold)
        del aligner  # or the next one is trained beside it


def keep_scores(results: Results, text: hansards.TrainingText, label: str, found: Found, gold: Alignments) -> None:
    """Score the links of the test pairs."""
    table = results.scores.setdefault(text.name, {})
    for method, links in found.items():
        table.setdefault((label, method), []).append(compare(gold, links).scores)


def run_start(text: hansards.TrainingText, work: Path, repeat: int, results: Results) -> None:
    """Measure how long small jobs take, with kernels that must be compiled and with compiled ones.

    Afterwards the kernels of all jobs are compiled.
    """
    links = work / "start.links"
    align = align_command(text.source, text.target, links)
    jobs = {
        "`cepts --help`": [sys.executable, "-m", "cepts", "--help"],
        f"`cepts align`, {START_PAIRS:,} pairs": align,
    }
    with fresh_kernels():
        report.say("start: with kernels to compile")
        cost = peers.measure(align, workdir=work, name="start")
        cold = f"`cepts align`, {START_PAIRS:,} pairs, the first run of all (kernels are compiled)"
    for job in JOBS:
        if job.ours:
            report.say(f"warm-up, not timed: {plain(job.label)}, {START_PAIRS:,} pairs")
            job.run(text, work)
    for label, command in jobs.items():
        report.say(f"start: {plain(label)}")
        costs = [peers.measure(command, workdir=work, name="start") for _ in range(repeat)]
        results.start[label] = [each["wall_seconds"] for each in costs]
    results.start[cold] = [cost["wall_seconds"]]


def plain(label: str) -> str:
    """The label without its Markdown."""
    return label.replace("*", "").replace("`", "")


# -- tables --------------------------------------------------------------------------------------------------


def accuracy_table(results: Results, texts: Sequence[hansards.TrainingText]) -> str:
    """AER, precision and recall in %, a row for each aligner and way to combine its directions."""
    columns = ["aligner", "links"]
    for text in texts:
        columns += [f"{text.heading}: AER", "P", "R"]
    rows = []
    for label, method in results.scores[texts[0].name]:
        row = [label, method]
        for text in texts:
            scores = results.scores[text.name][label, method]
            aer, precision, recall = (100 * fmean(values) for values in zip(*map(as_triple, scores), strict=True))
            row += [f"{aer:.2f}", f"{precision:.1f}", f"{recall:.1f}"]
        rows.append(row)
    order = [*RIVALS, *(model.label for model in MODELS.values()), DEFAULT]
    rows.sort(key=lambda row: order.index(row[0]))
    table = report.markdown(columns, rows, text_columns=2)
    return "\n".join([table, *variation_notes(results, texts)])


def variation_notes(results: Results, texts: Sequence[hansards.TrainingText]) -> list[str]:
    """How much the AER of those whose links vary differed from run to run."""
    notes = []
    for job in JOBS:
        runs = [
            (method, text, [100 * each.aer for each in scores])
            for text in texts
            for (label, method), scores in results.scores[text.name].items()
            if job.varies and label == job.label and len(scores) > 1
        ]
        if runs:
            ranges = ", ".join(
                f"{method} on {text.pairs:,} pairs {min(aers):.2f} to {max(aers):.2f}" for method, text, aers in runs
            )
            means = f"its figures are means of {len(runs[0][2])}"
            notes += ["", f"{job.label} varies from run to run; {means} (AER: {ranges})."]
    return notes


def as_triple(scores: Scores) -> tuple[float, float, float]:
    """AER, precision on possible links, recall on sure ones."""
    return scores.aer, scores.precision, scores.recall


def speed_table(results: Results, texts: Sequence[hansards.TrainingText]) -> str:
    """What whole jobs used, and how many times as much CPU the peers used."""
    columns = ["job", "pairs", "user CPU s", "wall s", "peak MiB", *(f"{rival} / it" for rival in RIVALS)]
    rows = []
    for text in texts:
        costs = results.costs[text.name]
        for label, runs in costs.items():
            user = [run["user_seconds"] for run in runs]
            wall = [run["wall_seconds"] for run in runs]
            peak = max(run["peak_rss_mib"] for run in runs)
            ratios = [f"{ratio:.1f}" if (ratio := cpu_ratio(costs, rival, label)) else "-" for rival in RIVALS]
            rows.append([label, f"{text.pairs:,}", report.spread(user), report.spread(wall), f"{peak:,.0f}", *ratios])
    return report.markdown(columns, rows)


def cpu_ratio(costs: Mapping[str, Sequence[peers.Cost]], rival: str, label: str) -> float | None:
    """User CPU of the rival over that of the job, medians of their runs; None where one was not run."""
    if rival not in costs:
        return None
    upper, lower = (median(run["user_seconds"] for run in costs[each]) for each in (rival, label))
    return round(upper / lower, 3)


def start_table(results: Results) -> str:
    """How long small jobs take."""
    rows = [[label, report.spread(seconds, 2)] for label, seconds in results.start.items()]
    return report.markdown(["command", "wall s"], rows)


def records(results: Results, text: hansards.TrainingText, options: argparse.Namespace) -> list[dict[str, object]]:
    """One JSON line for each row of the tables of a text."""
    about = {
        **report.circumstances(),
        "text": text.name,
        "pairs": text.pairs,
        "source_words": text.source_words,
        "target_words": text.target_words,
    }
    lines: list[dict[str, object]] = []
    if not options.speed_only:
        for (label, method), scores in results.scores[text.name].items():
            by_run = zip(*map(as_triple, scores), strict=True)
            aer, precision, recall = ([round(each, 6) for each in values] for values in by_run)
            found = {"aer": aer, "precision": precision, "recall": recall}
            lines.append({"table": "accuracy", **about, "aligner": plain(label), "links": method, **found})
    if not options.accuracy_only:
        costs = results.costs[text.name]
        for label, runs in costs.items():
            used = {name: [round(run[name], 3) for run in runs] for name in peers.Cost.__annotations__}
            ratios = {f"{rival}_ratio": cpu_ratio(costs, rival, label) for rival in RIVALS}
            lines.append({"table": "speed", **about, "job": plain(label), **used, **ratios})
    return lines


def start_records(results: Results) -> list[dict[str, object]]:
    """One JSON line for each row of the table of starts."""
    about = {"table": "start", **report.circumstances()}
    return [
        {**about, "job": plain(label), "wall_seconds": [round(each, 3) for each in seconds]}
        for label, seconds in results.start.items()
    ]


# -- the command ---------------------------------------------------------------------------------------------


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="Accuracy and cost of word alignment on the Hansards.")
    hansards.add_options(parser)
    parser.add_argument("--text", choices=[*hansards.TEXTS, "both"], default="both", help="train on this text")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS), help="only these aligners")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each timed job (default: 3)")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--accuracy-only", action="store_true", help="do not report cost")
    only.add_argument("--speed-only", action="store_true", help="do not report accuracy")
    parser.add_argument(
        "--json-lines",
        type=Path,
        metavar="FILE",
        help="append one line for each row (default: benchmarks/results/words.jsonl; nothing with --pairs)",
    )
    parser.add_argument("--write", type=Path, metavar="PAGES", help=report.WRITE_HELP)
    options = parser.parse_args(arguments)
    if options.repeat < 1:
        parser.error(f"--repeat must be 1 or more. Got {options.repeat} instead.")
    if options.write and (options.pairs or options.text != "both" or set(options.rows) != set(ROWS)):
        parser.error("--write puts whole tables into a page: leave out --text, --rows and --pairs.")
    if options.json_lines is None and options.pairs is None:
        options.json_lines = RESULTS
    return options


def main() -> None:
    """Run what is asked for and print the tables."""
    options = parse()
    names = hansards.TEXTS if options.text == "both" else (options.text,)
    hansards.data_directory(options.data, names)
    if options.write:
        report.check_pages(options.write, TABLES)
    results = Results()
    gold = hansards.gold(options.data, hansards.TEST)
    with hansards.work_directory(options.work) as work:
        if not options.accuracy_only:
            few = hansards.make_text("small", options.data, work, pairs=START_PAIRS)
            run_start(few, work, options.repeat, results)
            if options.json_lines:
                report.append_lines(options.json_lines, start_records(results))
        texts = []
        for name in names:
            text = hansards.make_text(name, options.data, work, pairs=options.pairs)
            texts.append(text)
            jobs = work / name
            jobs.mkdir(exist_ok=True)
            run_jobs(text, jobs, options, results, gold)
            if not options.speed_only:
                run_models(text, options, results, gold)
            if options.json_lines:
                report.append_lines(options.json_lines, records(results, text, options))
    accuracy, speed, start = TABLES
    tables: dict[str, str] = {}
    if not options.speed_only:
        tables[accuracy] = accuracy_table(results, texts)
    if not options.accuracy_only:
        tables[speed] = speed_table(results, texts)
        tables[start] = start_table(results)
    note = report.provenance(None if options.accuracy_only else options.repeat)
    for name, table in tables.items():
        print(f"\n{name}\n\n{table}")
    print(f"\n{note}")
    if options.write:
        report.replace_tables(options.write, {name: f"{table}\n\n{note}" for name, table in tables.items()})


if __name__ == "__main__":
    main()
