"""Alignment through cepts on the Hansards and on Romanian-English: accuracy, the data behind its options, and cost.

One run makes twelve tables. Each is printed, written into its page and kept as JSON lines as soon as it is ready, and
if one fails, the others are still made. No option is tuned on the test pairs: `spread`, `sure` and `assignments` use
the trial pairs only. The trained models stay in the work directory, so a second run with the same `--work` does not
train them again.

    onmf.py --data DIR [--text small|large] [--tables NAME ...] [--accuracy-only|--speed-only] [--write PAGES] ...
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import hansards
import onmf_accuracy
import onmf_choices
import onmf_cost
import onmf_tuning
import report
import romanian
from onmf_accuracy import Setting
from report import Table
from trained import Models

RESULTS = Path(__file__).resolve().parent / "results" / "onmf.jsonl"
ACCURACY = ("extractors", "test", "trial", "assignments", "associations", "spread", "sure", "romanian")
SPEED = ("annealing", "speed", "length", "job")
TABLES = (*ACCURACY, *SPEED)


def makers(setting: Setting, work: Path, repeat: int) -> dict[str, Callable[[], Table]]:
    """What makes each of `TABLES`."""
    return {
        "extractors": lambda: onmf_accuracy.extractors(setting),
        "test": lambda: onmf_accuracy.like_the_paper(setting, "test"),
        "trial": lambda: onmf_accuracy.like_the_paper(setting, "trial"),
        "assignments": lambda: onmf_choices.assignments(setting),
        "associations": lambda: onmf_choices.associations(setting),
        "spread": lambda: onmf_tuning.spread_curve(setting),
        "sure": lambda: onmf_tuning.sure_curve(setting),
        "romanian": lambda: onmf_accuracy.romanian_english(setting),
        "annealing": lambda: onmf_cost.annealing(setting, repeat),
        "speed": lambda: onmf_cost.pairs_per_second(setting, repeat),
        "length": lambda: onmf_cost.by_length(setting, repeat),
        "job": lambda: onmf_cost.whole_job(setting, work),
    }


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="Accuracy and cost of alignment through cepts.")
    hansards.add_options(parser)
    parser.add_argument("--text", choices=hansards.TEXTS, default="large", help="train on this text (default: large)")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each timed job (default: 3)")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), help="only these")
    only.add_argument("--accuracy-only", action="store_true", help=f"only {', '.join(ACCURACY)}")
    only.add_argument("--speed-only", action="store_true", help=f"only {', '.join(SPEED)}")
    parser.add_argument(
        "--json-lines",
        type=Path,
        metavar="FILE",
        help="append one line for each row (default: benchmarks/results/onmf.jsonl; nothing with --pairs)",
    )
    parser.add_argument("--write", type=Path, metavar="PAGES", help=report.WRITE_HELP)
    options = parser.parse_args(arguments)
    if options.repeat < 1:
        parser.error(f"--repeat must be 1 or more. Got {options.repeat} instead.")
    if options.write and (options.pairs or options.text != "large"):
        parser.error("--write takes tables of the whole large text: leave out --text and --pairs.")
    if options.json_lines is None and options.pairs is None:
        options.json_lines = RESULTS
    if options.accuracy_only or options.speed_only:
        options.tables = list(ACCURACY if options.accuracy_only else SPEED)
    return options


def main() -> None:
    """Make what is asked for, one table after the other."""
    options = parse()
    hansards.data_directory(options.data, [options.text])
    if "romanian" in options.tables:
        romanian.check_data(options.data)
    if options.write:
        report.check_pages(options.write, [f"onmf {name}" for name in options.tables])
    failed = []
    with hansards.work_directory(options.work) as work:
        text = hansards.make_text(options.text, options.data, work, pairs=options.pairs)
        setting = Setting(options.data, Models(text, work), options.pairs)
        for name, make in makers(setting, work, options.repeat).items():
            if name not in options.tables:
                continue
            report.say(f"table: {name}")
            try:
                table = make()
            except Exception:  # the other tables should not be lost with this one
                traceback.print_exc()
                failed.append(name)
                continue
            note = report.provenance(table.repeat)
            print(f"\nonmf {name}\n\n{table.text}\n\n{note}", flush=True)
            if options.json_lines:
                report.append_lines(options.json_lines, table.records)
            if options.write:
                report.replace_tables(options.write, {f"onmf {name}": f"{table.text}\n\n{note}"})
    if failed:
        sys.exit(f"These tables failed: {', '.join(failed)}. Once mended, --tables makes them alone.")


if __name__ == "__main__":
    main()
