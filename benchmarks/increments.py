"""Text that comes in parts: error rate on the 37 trial pairs when a sample was aligned before the rest.

A sample of the large text is aligned first, then a part of the rest, which has the trial pairs. cepts loads the model
of the sample, updates it with several weights, merges it with one of the rest, or reads priors; eflomal has no priors,
its own, or those of cepts. Everything in one text is the last row. The gold links of the test pairs are not read.

    increments.py --data DIR [--sample N] [--rest N] [--repeat N] [--json-lines FILE]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

import hansards
import peers
import report
from cepts.data import Alignments
from cepts.evaluate import compare
from cepts.io import read_links

RESULTS = Path(__file__).resolve().parent / "results" / "increments.jsonl"
SEED = 0
WEIGHTS = (0.25, 1, 4)
CEPTS = [sys.executable, "-m", "cepts"]
LANGUAGES = ("en", "fr")


class Parts:
    """The texts of a run, and what was measured on them."""

    def __init__(self, text: hansards.TrainingText, gold: Alignments, work: Path, sample: int, rest: int) -> None:
        self.gold, self.work = gold, work
        self.rows: dict[str, dict[str, list[float]]] = {}
        order = np.random.default_rng(SEED).permutation(np.arange(hansards.TRIAL.stop, text.pairs))
        trial = np.arange(hansards.TRIAL.start, hansards.TRIAL.stop)
        parts = {"sample": order[:sample], "rest": np.concatenate([trial, order[sample : sample + rest]])}
        parts["all"] = np.concatenate([parts["rest"], parts["sample"]])
        for language, file in zip(LANGUAGES, (text.lower_source, text.lower_target), strict=True):
            lines = file.read_text(encoding="utf-8").split("\n")
            for name, pairs in parts.items():
                chosen = (f"{lines[pair]}\n" for pair in pairs)
                (work / f"{name}.{language}").write_text("".join(chosen), encoding="utf-8")

    def run(self, *command: object) -> float:
        """Run a command in the work directory; returns the user CPU seconds that it took."""
        return peers.measure([str(part) for part in command], workdir=self.work, name="run")["user_seconds"]

    def align(self, row: str, *options: object, text: str = "rest") -> None:
        """Align a text that starts with the trial pairs with cepts, and add its error rate to a row."""
        seconds = self.run(*CEPTS, "align", *_files(text), "-q", "-o", "links", *options)
        self.add(row, seconds)

    def eflomal(self, row: str, *options: object) -> None:
        """The same with eflomal."""
        program = peers.environment() / "eflomal-align"
        files = ("-s", "rest.en", "-t", "rest.fr", "-f", "forward", "-r", "reverse", "--overwrite")
        seconds = self.run(program, *files, *options)
        self.run(*CEPTS, "combine", "forward", "reverse", "--method", "grow-diag-final-and", "-o", "links")
        self.add(row, seconds)

    def add(self, row: str, seconds: float) -> None:
        """Add the links of the last run to a row."""
        trial = slice(0, hansards.TRIAL.stop - hansards.TRIAL.start)
        links = hansards.part(read_links(self.work / "links"), trial)
        found = self.rows.setdefault(row, {"aer": [], "user_seconds": []})
        found["aer"].append(compare(self.gold, links).scores.aer)
        found["user_seconds"].append(seconds)
        report.say(f"{row}: AER {100 * found['aer'][-1]:.2f}")

    def table(self) -> str:
        """Error rates and costs; the cost of what was done to the sample is not part of them."""
        rows = [
            [row, report.spread([100 * aer for aer in found["aer"]], 2), f"{fmean(found['user_seconds']):.1f}"]
            for row, found in self.rows.items()
        ]
        return report.markdown(["rest aligned by", "AER %", "user s"], rows)


def _files(text: str) -> list[str]:
    return [f"{text}.{language}" for language in LANGUAGES]


def measure_cepts(parts: Parts) -> None:
    """What cepts does with a model of the sample, and with priors."""
    parts.run(*CEPTS, "align", *_files("sample"), "--save", "model", "-o", "sample.links")
    parts.run(*CEPTS, "lexicon", "model", "--format", "priors", "-o", "model.priors")
    sides = "--source", "sample.en", "--target", "sample.fr"
    parts.run(*CEPTS, "convert", "sample.links", "--to", "priors", *sides, "-o", "links.priors")
    parts.align("cepts, without the sample", "--save", "rest.model")
    parts.align("cepts --load", "--load", "model")
    for weight in WEIGHTS:
        parts.align(f"cepts --update --weight {weight}", "--load", "model", "--update", "--weight", weight)
    parts.run(*CEPTS, "merge", "model", "rest.model", "--save", "merged.model")
    parts.align("cepts merge", "--load", "merged.model")
    for name in ("model", "links"):
        parts.align(f"cepts --priors, from the {name} of cepts", "--priors", f"{name}.priors")


def measure_eflomal(parts: Parts, repeat: int) -> None:
    """What eflomal does without priors, with its own and with those of cepts; it draws at random, so repeatedly."""
    programs = peers.environment()
    sides = "-s", "sample.en", "-t", "sample.fr", "-f", "sample.forward", "-r", "sample.reverse"
    parts.run(programs / "eflomal-align", *sides, "--overwrite")
    parts.run(programs / "eflomal-makepriors", *sides, "-p", "eflomal.priors")
    parts.align("cepts --priors, of eflomal", "--priors", "eflomal.priors")
    for _ in range(repeat):
        parts.eflomal("eflomal, without the sample")
        parts.eflomal("eflomal --priors, its own", "-p", "eflomal.priors")
        for name in ("model", "links"):
            parts.eflomal(f"eflomal --priors, from the {name} of cepts", "-p", f"{name}.priors")


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="AER of the trial pairs if a text comes in two parts.")
    hansards.add_options(parser)
    parser.add_argument("--sample", type=int, default=25_000, metavar="N", help="pairs of the sample")
    parser.add_argument(
        "--rest", type=int, default=10_000, metavar="N", help="pairs of the rest, without the trial pairs"
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of eflomal; 0 leaves it out")
    parser.add_argument("--json-lines", type=Path, default=RESULTS, metavar="FILE", help="append one line for each row")
    return parser.parse_args(arguments)


def main() -> None:
    """Print the table."""
    options = parse()
    hansards.data_directory(options.data)
    with hansards.work_directory(options.work) as work:
        text = hansards.make_text("large", options.data, work, pairs=options.pairs)
        parts = Parts(text, hansards.gold(options.data, hansards.TRIAL), work, options.sample, options.rest)
        measure_cepts(parts)
        if options.repeat:
            measure_eflomal(parts, options.repeat)
        parts.align("cepts, sample and rest together", text="all")
    about = {"table": "increments", **report.circumstances(), "sample": options.sample, "rest": options.rest}
    report.append_lines(options.json_lines, [{**about, "method": row, **found} for row, found in parts.rows.items()])
    print(f"{parts.table()}\n\n{report.provenance()}")


if __name__ == "__main__":
    main()
