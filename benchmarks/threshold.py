"""The threshold of agreement: error rate on the 37 trial pairs, for the default model on both texts.

The default, `cepts.words.directions.WordDirections.threshold`, is based on it. The gold links of the test pairs are
not read.

    threshold.py --data DIR [--text small|large|both] [--write PAGES]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

import hansards
import report
from cepts.data import Alignments
from cepts.evaluate import compare
from cepts.extract import threshold
from cepts.io import read_bitext
from cepts.words.directions import WordDirections
from trained import DEFAULT as DEFAULT_MODEL
from trained import KINDS

RESULTS = Path(__file__).resolve().parent / "results" / "threshold.jsonl"
TABLE = "words threshold"
DEFAULT = WordDirections.threshold
THRESHOLDS = [round(0.025 * step, 3) for step in range(2, 33)]


def trial_curve(text: hansards.TrainingText, gold: Alignments) -> list[float]:
    """AER of the trial pairs at each of `THRESHOLDS`, for the default model trained on `text`."""
    bitext = read_bitext(text.source, text.target)
    model = KINDS[DEFAULT_MODEL]().fit(bitext)
    trial = bitext.part(hansards.TRIAL.start, hansards.TRIAL.stop)
    # The agreement is what the default threshold is held against, so one matrix has the links of all thresholds.
    links = threshold(model.associate(trial), min(THRESHOLDS))
    return [compare(gold, at_least(links, least)).scores.aer for least in THRESHOLDS]


def at_least(links: Alignments, least: float) -> Alignments:
    """The links of at least this confidence, which is a float32."""
    rows = ((pair, pair.confidence >= np.float32(least)) for pair in links)
    return Alignments.from_links(
        zip(pair.source[kept].tolist(), pair.target[kept].tolist(), strict=True) for pair, kept in rows
    )


def curve_table(texts: Sequence[hansards.TrainingText], curves: Sequence[Sequence[float]]) -> str:
    """AER in % at each threshold, with the best mean and the default marked."""
    means = [fmean(aers) for aers in zip(*curves, strict=True)]
    best = min(means)
    rows = []
    for place, (each, mean) in enumerate(zip(THRESHOLDS, means, strict=True)):
        marks = [name for name, held in (("best", mean == best), ("default", each == DEFAULT)) if held]
        aers = [*(curve[place] for curve in curves), mean]
        rows.append([f"{each:.3f}", *(f"{100 * aer:.2f}" for aer in aers), ", ".join(marks)])
    return report.markdown(["threshold", *(text.heading for text in texts), "mean", ""], rows)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="AER of the trial pairs by threshold of agreement.")
    hansards.add_options(parser)
    parser.add_argument("--text", choices=[*hansards.TEXTS, "both"], default="both", help="train on this text")
    parser.add_argument(
        "--json-lines",
        type=Path,
        metavar="FILE",
        help="append one line for each text (default: benchmarks/results/threshold.jsonl; none with --pairs)",
    )
    parser.add_argument("--write", type=Path, metavar="PAGES", help=report.WRITE_HELP)
    options = parser.parse_args(arguments)
    if options.write and (options.pairs or options.text != "both"):
        parser.error("--write puts the whole table into a page: leave out --text and --pairs.")
    if options.json_lines is None and options.pairs is None:
        options.json_lines = RESULTS
    return options


def main() -> None:
    """Print the curve."""
    options = parse()
    names = hansards.TEXTS if options.text == "both" else (options.text,)
    hansards.data_directory(options.data, names)
    if options.write:
        report.check_pages(options.write, [TABLE])
    gold = hansards.gold(options.data, hansards.TRIAL)
    texts, curves = [], []
    with hansards.work_directory(options.work) as work:
        for name in names:
            report.say(f"{name} text: training the default model")
            text = hansards.make_text(name, options.data, work, pairs=options.pairs)
            texts.append(text)
            curves.append(trial_curve(text, gold))
            about = {"text": name, "pairs": text.pairs, "thresholds": THRESHOLDS, "aer": curves[-1]}
            if options.json_lines:
                report.append_lines(options.json_lines, [{"table": "threshold", **report.circumstances(), **about}])
    table = curve_table(texts, curves)
    print(f"{table}\n\n{report.provenance()}")
    if options.write:
        report.replace_tables(options.write, {TABLE: f"{table}\n\n{report.provenance()}"})


if __name__ == "__main__":
    main()
