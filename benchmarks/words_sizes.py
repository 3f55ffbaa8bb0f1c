"""Error rates of every word model and of eflomal, against the size of the text and on small texts of other languages.

A text of the Hansards has some of the 447 test pairs and as many training pairs as its size needs. Below 484 pairs, the
test pairs are divided among several texts, so that each row is an error rate on all of them. Texts of other languages
are their gold pairs alone.

    words_sizes.py --data DIR [--tables sizes languages] [--sizes N ...] [--write PAGES]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import hansards
import peers
import report
from cepts.data import Alignments, Bitext
from cepts.evaluate import compare
from cepts.extract import combine
from cepts.io import read_links
from cepts.words import MODELS

RESULTS = Path(__file__).resolve().parent / "results" / "words_sizes.jsonl"
SIZES = (100, 300, 1_000, 3_000, 10_000, 25_000, 385_000)
ALL_TEST = hansards.TEST.stop
HEURISTICS = ("grow-diag-final-and", "intersection")
EFLOMAL = "eflomal"
LANGUAGES = {
    "Swedish": ("en-sv-ges", "en", "sv"),
    "Portuguese": ("en-pt-golden", "en", "pt"),
    "Chinese": ("zh-en-thu", "zh", "en"),
    "Romanian": ("ro-en-2003", "ro", "en"),
}
TABLES = ("words sizes", "words languages")


@dataclass(frozen=True, slots=True)
class GoldText:
    """Sentence pairs, of which the first ones have gold links."""

    source: Sequence[str]
    target: Sequence[str]
    gold: Alignments

    def bitext(self) -> Bitext:
        """The pairs as words."""
        return Bitext.from_tokens([(a.split(), b.split()) for a, b in zip(self.source, self.target, strict=True)])


# -- texts -------------------------------------------------------------------------------------------------------------


def hansards_texts(size: int, data: Path, work: Path) -> Iterator[GoldText]:
    """Texts of `size` pairs that have all test pairs together."""
    name = "large" if size > 26_000 else "small"
    text = hansards.make_text(name, data, work)
    sides = [file.read_text(encoding="utf-8").removesuffix("\n").split("\n") for file in (text.source, text.target)]
    gold = hansards.gold(data, hansards.TEST)
    # In a small text, at most half of the pairs are test pairs.
    held = min(ALL_TEST, size // 2) if size < hansards.TRIAL.stop else ALL_TEST
    training = hansards.TRIAL.start
    for start in range(0, ALL_TEST, held):
        test = slice(start, min(start + held, ALL_TEST))
        more = slice(training, training + size - (test.stop - test.start))
        training = more.stop
        source, target = ([*side[test], *side[more]] for side in sides)
        yield GoldText(source, target, hansards.part(gold, test))


def language_text(name: str, data: Path) -> GoldText:
    """The gold pairs of a language."""
    folder, *sides = LANGUAGES[name]
    place = data / "bitext" / folder
    source, target = ((place / f"test.{side}").read_text(encoding="utf-8").removesuffix("\n") for side in sides)
    pairs = source.split("\n"), target.split("\n")
    return GoldText(*pairs, read_links(place / "test.wa", format="naacl", sentences=len(pairs[0])))


# -- aligners ----------------------------------------------------------------------------------------------------------


def cepts_links(model: str, text: GoldText) -> Alignments:
    """The links of the gold pairs, by agreement."""
    bitext = text.bitext()
    return hansards.part(MODELS[model]().fit(bitext).align(bitext), slice(0, len(text.gold)))


def eflomal_links(text: GoldText, work: Path) -> dict[str, Alignments]:
    """The links of the gold pairs, by either heuristic."""
    files = []
    for side, lines in (("source", text.source), ("target", text.target)):
        files.append(work / f"eflomal.{side}")
        files[-1].write_text("".join(f"{line.lower()}\n" for line in lines), encoding="utf-8")
    used = peers.run_eflomal(*files, work)
    forward, reverse = (
        hansards.part(read_links(used[way], sentences=len(text.source)), slice(0, len(text.gold)))
        for way in ("forward", "reverse")
    )
    return {method: combine(forward, reverse, method=method) for method in HEURISTICS}


def error_rates(texts: Sequence[GoldText], work: Path, say: Callable[[str], None]) -> dict[str, float]:
    """The error rate of each aligner on all gold pairs of the texts together."""
    gold = joined([text.gold for text in texts])
    found: dict[str, float] = {}
    for model in MODELS:
        say(model)
        links = joined([cepts_links(model, text) for text in texts])
        found[model] = compare(gold, links).scores.aer
    say(EFLOMAL)
    runs = [eflomal_links(text, work) for text in texts]
    for method in HEURISTICS:
        found[f"{EFLOMAL}, {method}"] = compare(gold, joined([run[method] for run in runs])).scores.aer
    return found


def joined(parts: Sequence[Alignments]) -> Alignments:
    """The alignments of several texts, one after the other."""
    return Alignments.concatenate(parts)


# -- tables ------------------------------------------------------------------------------------------------------------


def table_of(columns: dict[str, dict[str, float]]) -> str:
    """A row for each aligner, a column for each text; the best of each is bold."""
    aligners = list(next(iter(columns.values())))
    best = {name: min(rates.values()) for name, rates in columns.items()}
    rows = []
    for aligner in aligners:
        cells = [f"{100 * rates[aligner]:.2f}" for rates in columns.values()]
        marked = [
            f"**{cell}**" if rates[aligner] == best[name] else cell
            for cell, (name, rates) in zip(cells, columns.items(), strict=True)
        ]
        rows.append([f"`{aligner}`" if aligner in MODELS else aligner, *marked])
    return report.markdown(["AER %", *columns], rows)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="AER of every word model by size of the text, and in small texts.")
    hansards.add_options(parser)
    parser.add_argument("--tables", nargs="+", choices=("sizes", "languages"), default=["sizes", "languages"])
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), metavar="N", help="pairs of the texts")
    parser.add_argument("--json-lines", type=Path, default=RESULTS, metavar="FILE", help="append one line a text")
    parser.add_argument("--write", type=Path, metavar="PAGES", help=report.WRITE_HELP)
    return parser.parse_args(arguments)


def main() -> None:
    """Print the tables."""
    options = parse()
    hansards.data_directory(options.data)
    with hansards.work_directory(options.work) as work:
        for name in options.tables:
            columns: dict[str, dict[str, float]] = {}
            keys = [f"{size:,}" for size in options.sizes] if name == "sizes" else list(LANGUAGES)
            for place, key in enumerate(keys):
                if name == "sizes":
                    texts = list(hansards_texts(options.sizes[place], options.data, work))
                else:
                    texts = [language_text(key, options.data)]
                heading = key if name == "sizes" else f"{key} ({len(texts[0].source):,} pairs)"
                columns[heading] = error_rates(texts, work, lambda what, key=key: report.say(f"{key}: {what}"))
            about = {"table": name, **report.circumstances()}
            report.append_lines(
                options.json_lines, [{**about, "text": key, "aer": rates} for key, rates in columns.items()]
            )
            text = f"{table_of(columns)}\n\n{report.provenance()}"
            print(f"{text}\n", flush=True)
            if options.write:
                report.replace_tables(options.write, {f"words {name}": text})


if __name__ == "__main__":
    main()
