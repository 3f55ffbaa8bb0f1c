"""Make the table of WordNet that comes with cepts.

    python resources/make_wordnet.py /usr/share/wordnet -o src/cepts/phrases/english/wordnet.safetensors

The directory holds WordNet's own files data.noun, data.verb, data.adj and data.adv (Debian: package wordnet-base), in
the format of the manual page wndb(5WN).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cepts.errors import DataError
from cepts.phrases.wordnet import WordNet

FILES = {"noun": "data.noun", "verb": "data.verb", "adjective": "data.adj", "adverb": "data.adv"}
PART_OF = {"n": "noun", "v": "verb", "a": "adjective", "s": "adjective", "r": "adverb"}
SYNSET_POINTERS = {
    "@": "hypernym",
    "@i": "hypernym",
    "&": "similar",
    "^": "similar",
    "=": "similar",
    "%m": "meronym",
    "%s": "meronym",
    "%p": "meronym",
    "*": "entailment",
    ">": "entailment",
    "$": "verb_group",
}
LEXICAL_POINTERS = {"+": "derivation", "\\": "derivation", "<": "derivation", "!": "antonym"}

LONGEST = 5  # words of a phrase, such as "for the time being"

Place = tuple[str, str]  # part of speech and offset in its file: what names a synset


def read_synset(line: str) -> tuple[str, list[str], list[tuple[str, Place, str]]]:
    """Offset, words and pointers (symbol, other synset, which words) of a line."""
    fields = line.partition(" | ")[0].split()
    count = int(fields[3], 16)
    # An adjective may say where it stands: galore(ip).
    words = [word.partition("(")[0] for word in fields[4 : 4 + 2 * count : 2]]
    first = 5 + 2 * count
    pointers = [
        (fields[at], (PART_OF[fields[at + 2]], fields[at + 1]), fields[at + 3])
        for at in range(first, first + 4 * int(fields[first - 1]), 4)
    ]
    return fields[0], words, pointers


def kept_words(words: list[str]) -> list[str]:
    """The words of a synset to keep: names of several parts are many, and of use only if they have a synonym here."""
    return [word for word in words if "_" not in word or word.islower() or len(words) > 1]


def read_wordnet(directory: Path) -> WordNet:
    """WordNet from its four files."""
    synsets: dict[Place, list[str]] = {}
    found: list[tuple[Place, str, Place, str]] = []
    for part, name in FILES.items():
        path = directory / name
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise DataError(f"cannot read {path}: {error.strerror}; give the directory of WordNet's files.") from error
        for number, line in enumerate(lines, start=1):
            if line.startswith("  "):  # the licence
                continue
            try:
                offset, words, pointers = read_synset(line)
            except (IndexError, KeyError, ValueError) as error:
                raise DataError(f"{path}, line {number}: this is no synset of WordNet 3.0 ({error}).") from error
            synsets[part, offset] = words
            found += [((part, offset), symbol, other, which) for symbol, other, which in pointers]
    numbers = {place: number for number, place in enumerate(synsets)}
    lexical = []
    for place, symbol, other, which in found:
        if symbol in LEXICAL_POINTERS:
            one, two = int(which[:2], 16), int(which[2:], 16)
            words = synsets[place][one - 1 : one] if one else synsets[place]
            others = synsets[other][two - 1 : two] if two else synsets[other]
            lexical += [(a, b, LEXICAL_POINTERS[symbol]) for a in words for b in others]
    return WordNet.from_synsets(
        [(part, kept_words(words)) for (part, _), words in synsets.items()],
        [
            (numbers[place], numbers[other], SYNSET_POINTERS[symbol])
            for place, symbol, other, _ in found
            if symbol in SYNSET_POINTERS
        ],
        lexical,
        longest=LONGEST,
    )


def main() -> None:
    """Read WordNet and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directory", type=Path, help="WordNet's directory, such as /usr/share/wordnet")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the table")
    arguments = parser.parse_args()
    try:
        table = read_wordnet(arguments.directory)
    except DataError as error:
        sys.exit(f"error: {error}")
    table.save(arguments.output)
    print(f"{table}; {arguments.output.stat().st_size:,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
