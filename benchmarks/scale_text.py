"""Text of any size for the benchmarks of scale: sentence pairs of several corpora, recombined so that all differ.

Each pair is a distinct pair of the Hansards, of LibreOffice or of Europarl, followed by a short one of the same
languages: what is joined on the source side is joined on the target side, so the two stay translations of each other.
The number of combinations is practically unlimited, and lengths are the same for all sizes. The vocabulary, however, is
that of the corpora: it stops growing, while pairs of words that occur together go on growing. A text is the beginning
of every larger one, and the same seed always gives the same text.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from hansards import strip_accents

__all__ = ["CORPORA", "ScaleText", "make_text", "recombined", "sentence_pairs"]

# Folder, the two languages, and whether accents must go because another corpus of these languages has none.
CORPORA = {
    "hansards-uoft": ("en", "fr", False),
    "hansards-naacl": ("en", "fr", True),
    "libreoffice-en-fr": ("en", "fr", True),
    "europarl-en-de": ("en", "de", False),
}
SHORT = 6  # words of the longer side of a short pair, at most
SEED = 1

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ScaleText:
    """A text as two files, and how large it is; `token_pairs` is the sum of I x J."""

    source: str
    target: str
    pairs: int
    source_words: int
    target_words: int
    token_pairs: int


def sentence_pairs(data: Path) -> dict[tuple[str, str], list[Pair]]:
    """The distinct pairs of all corpora that are there, by languages; ends the program if there are none."""
    found: dict[tuple[str, str], dict[Pair, None]] = {}
    for folder, (source, target, stripped) in CORPORA.items():
        files = [data / "bitext" / folder / f"train.{language}.gz" for language in (source, target)]
        if not all(file.is_file() for file in files):
            print(f"There is no bitext/{folder} in {data}; the text is made without it.", file=sys.stderr)
            continue
        sides = [gzip.decompress(file.read_bytes()).decode().removesuffix("\n").split("\n") for file in files]
        pairs = zip(*(map(strip_accents, side) if stripped else side for side in sides), strict=True)
        found.setdefault((source, target), {}).update(dict.fromkeys(pairs))
    if not found:
        sys.exit(f"There is no text in {data} ({', '.join(CORPORA)}); say where the data is: --data DIR.")
    return {languages: [pair for pair in pairs if all(map(str.strip, pair))] for languages, pairs in found.items()}


def recombined(corpora: dict[tuple[str, str], list[Pair]], pairs: int) -> Iterator[Pair]:
    """The first `pairs` pairs of the recombined text."""
    random = np.random.default_rng(SEED)
    places = [(group, place) for group, found in enumerate(corpora.values()) for place in range(len(found))]
    order = random.permutation(len(places))
    groups = list(corpora.values())
    shorts = []
    for group in groups:
        short = [pair for pair in group if max(len(side.split()) for side in pair) <= SHORT]
        shorts.append([short[place] for place in random.permutation(len(short))] if short else [("", "")])
    for number in range(pairs):
        again, first = divmod(number, len(places))
        group, place = places[order[first]]
        # Another short pair each time that a pair comes again.
        short = shorts[group][(place + again) % len(shorts[group])]
        yield tuple(" ".join(filter(None, sides)) for sides in zip(groups[group][place], short, strict=True))  # type: ignore[misc]


def make_text(data: Path, work: Path, pairs: int, *, lower: bool = False) -> ScaleText:
    """Write a text to `work`, unless it is there; `lower` is for programs that do not lower-case by themselves."""
    stem = work / f"text-{pairs}{'-lower' if lower else ''}"
    about = stem.with_suffix(".json")
    if about.is_file():
        return ScaleText(**json.loads(about.read_text()))
    work.mkdir(parents=True, exist_ok=True)
    files = [stem.with_suffix(f".{side}") for side in ("source", "target")]
    words = [0, 0]
    token_pairs = 0
    with files[0].open("w", encoding="utf-8") as source, files[1].open("w", encoding="utf-8") as target:
        for pair in recombined(sentence_pairs(data), pairs):
            lengths = [len(side.split()) for side in pair]
            words = [total + length for total, length in zip(words, lengths, strict=True)]
            token_pairs += lengths[0] * lengths[1]
            for file, side in zip((source, target), pair, strict=True):
                file.write(f"{side.lower() if lower else side}\n")
    text = ScaleText(*(str(file.resolve()) for file in files), pairs, *words, token_pairs)
    about.write_text(json.dumps(asdict(text)))
    return text
