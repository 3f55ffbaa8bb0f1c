"""Training texts and gold links of the Hansards benchmarks.

`small` is the text of the HLT-NAACL 2003 shared task: its 447 test pairs, its 37 trial pairs and 25,000
training pairs. `large` is the same without accents, followed by 359,595 short pairs from which they were
stripped upstream. As is customary, the gold sentences are part of the text; their gold links are not.

The case is kept, as cepts lower-cases by itself. The peers do not, so they get lower-cased copies.

    hansards.py --data DIR --work DIR       writes both texts and their copies
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import sys
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cepts.data import Alignments
from cepts.io import read_links

__all__ = [
    "TEST",
    "TEXTS",
    "TRIAL",
    "TrainingText",
    "add_options",
    "data_directory",
    "gold",
    "make_text",
    "part",
    "work_directory",
]

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = ("en", "fr")
TEXTS = ("small", "large")
TEST = slice(0, 447)
TRIAL = slice(447, 484)


@dataclass(frozen=True, slots=True)
class TrainingText:
    """A training text as files: English and French, in their case and lower-cased."""

    name: str
    source: Path
    target: Path
    lower_source: Path
    lower_target: Path
    pairs: int
    source_words: int
    target_words: int

    @property
    def heading(self) -> str:
        """Its name and size, for a table's column."""
        return f"{self.name} ({self.pairs:,} pairs)"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options that say where the data is, and how much of it to use."""
    parser.add_argument(
        "--data",
        type=Path,
        default=ROOT.parent / "shared" / "data",
        metavar="DIR",
        help="directory with bitext/hansards-naacl and bitext/hansards-uoft (default: ../shared/data)",
    )
    parser.add_argument(
        "--work",
        type=Path,
        metavar="DIR",
        help="keep texts, links and logs here (default: a temporary directory)",
    )
    parser.add_argument(
        "--pairs", type=int, metavar="N", help="cut the texts to their first N pairs, to try things out"
    )


@contextlib.contextmanager
def work_directory(chosen: Path | None) -> Iterator[Path]:
    """The directory `chosen`, or one that goes away afterwards."""
    if chosen is not None:
        chosen.mkdir(parents=True, exist_ok=True)
        yield chosen
        return
    with tempfile.TemporaryDirectory(prefix="cepts-bench-") as directory:
        yield Path(directory)


def data_directory(data: Path, names: Iterable[str] = TEXTS) -> Path:
    """Directory of the bitexts in `data`; ends the program where those that `names` need are not there."""
    wanted = ["hansards-naacl", *(["hansards-uoft"] if "large" in names else [])]
    for folder in wanted:
        if not (data / "bitext" / folder).is_dir():
            sys.exit(f"There is no bitext/{folder} in {data}; say where the data is: --data DIR.")
    return data / "bitext"


def make_text(name: str, data: Path, work: Path, *, pairs: int | None = None) -> TrainingText:
    """Write the text `name` (one of `TEXTS`) to `work`, all of it or its first `pairs` pairs."""
    if pairs is not None and pairs < TRIAL.stop:
        sys.exit(f"--pairs must be at least {TRIAL.stop}, the sentences with gold links. Got {pairs} instead.")
    folder = data_directory(data, [name])
    work.mkdir(parents=True, exist_ok=True)
    stem = name if pairs is None else f"{name}-{pairs}"
    files, lowered, words, counts = [], [], [], []
    for language in LANGUAGES:
        lines = _sentences(name, folder, language)[:pairs]
        files.append(_write(work / f"{stem}.{language}", lines))
        lowered.append(_write(work / f"{stem}.lower.{language}", (line.lower() for line in lines)))
        words.append(sum(len(line.split()) for line in lines))
        counts.append(len(lines))
    if counts[0] != counts[1]:
        sys.exit(f"The {name} text has {counts[0]:,} English but {counts[1]:,} French lines; the data is damaged.")
    return TrainingText(name, *files, *lowered, counts[0], *words)


def gold(data: Path, pairs: slice) -> Alignments:
    """Gold links of the pairs `TEST` or `TRIAL` of either text."""
    name = {TEST.start: "test", TRIAL.start: "trial"}[pairs.start]
    file = data_directory(data, []) / "hansards-naacl" / f"{name}.wa"
    return read_links(file, format="naacl", sentences=pairs.stop - pairs.start)


def part(alignments: Alignments, pairs: slice) -> Alignments:
    """The alignments of the pairs `pairs`."""
    offsets = alignments.offsets[pairs.start : pairs.stop + 1]
    links = slice(offsets[0], offsets[-1])
    arrays = (alignments.source, alignments.target, alignments.confidence, alignments.sure)
    return Alignments(offsets - offsets[0], *(array[links] for array in arrays))


def strip_accents(line: str) -> str:
    """The line without its combining marks."""
    return "".join(letter for letter in unicodedata.normalize("NFD", line) if not unicodedata.combining(letter))


def _sentences(name: str, folder: Path, language: str) -> list[str]:
    naacl = folder / "hansards-naacl"
    files = [naacl / f"test.{language}", naacl / f"trial.{language}", naacl / f"train.{language}.gz"]
    lines = [line for file in files for line in _read(file)]
    if name == "small":
        return lines
    return [*map(strip_accents, lines), *_read(folder / "hansards-uoft" / f"train.{language}.gz")]


def _read(file: Path) -> list[str]:
    data = file.read_bytes()
    text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode()
    return text.removesuffix("\n").split("\n")


def _write(file: Path, lines: Iterable[str]) -> Path:
    with file.open("w", encoding="utf-8", newline="\n") as output:
        output.writelines(f"{line}\n" for line in lines)
    return file


def main() -> None:
    """Write both texts and say what they hold."""
    parser = argparse.ArgumentParser(description="Write the training texts of the Hansards benchmarks.")
    add_options(parser)
    options = parser.parse_args()
    if options.work is None:
        parser.error("say where to write them: --work DIR")
    data_directory(options.data)
    for name in TEXTS:
        text = make_text(name, options.data, options.work, pairs=options.pairs)
        words = f"{text.source_words:,} English and {text.target_words:,} French words"
        print(f"{name}: {text.pairs:,} pairs, {words}")


if __name__ == "__main__":
    main()
