"""GIZA's A3 files, three lines per pair: a comment, the target, and the source with the target positions of each word.

The third line is like ``NULL ({ 2 }) the ({ 1 }) house ({ 3 4 })``, with positions from 1. Target words without a link
belong to null.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from cepts.data import Alignments, Bitext
from cepts.errors import DataError
from cepts.io.files import InputFile
from cepts.io.lines import lines_of, shown
from cepts.io.link_format import FileLinks, LinkFormat, LinkOptions

NUMBER = re.compile(rb"# *Sentence pair *\(([0-9]{1,18})\)")


def _read(file: InputFile, options: LinkOptions) -> FileLinks:
    rows = []
    numbers: list[tuple[int, int]] = []  # of the pairs, with their lines
    lines = lines_of(file)
    number = pairs = 0
    for header in lines:
        number += 1
        if not header.strip():  # some tools end the file with blank lines
            continue
        if not header.startswith(b"#"):
            raise DataError(
                f"{file.name}, line {number:,}: found no `# Sentence pair` line, wanted three lines per pair: "
                f"the comment, the target, the source with ({{ positions }})."
            )
        if (named := NUMBER.match(header)) is not None:
            numbers.append((int(named[1]), number))
        target, source = next(lines, None), next(lines, None)
        if target is None or source is None:
            raise DataError(f"{file.name}, line {number:,}: the file ends inside this sentence pair; write it again.")
        number += 2
        for i, positions in enumerate(_positions(file.name, number, source)):
            for j in positions:
                if not 1 <= j <= len(target.split()):
                    raise DataError(
                        f"{file.name}, line {number:,}: found a link to target word {j}, but the line before "
                        f"has {len(target.split())} words (numbered from 1); write the file again."
                    )
                rows.append((pairs, i - 1, j - 1, 1.0, True, number))
        pairs += 1
    if len(numbers) == pairs:
        places = _places(file.name, numbers)
        rows = [(places[row[0]], *row[1:]) for row in rows]
    return FileLinks.from_rows(rows, pairs)


def _places(name: str, numbers: Sequence[tuple[int, int]]) -> list[int]:
    """The place of each pair by its number: the parts that MGIZA's threads write are not in the order of the text."""
    first = min(numbers, default=(1, 0))[0]
    seen: set[int] = set()
    for number, line in numbers:
        if number in seen or number - first >= len(numbers):
            wrong = "again" if number in seen else f"among {len(numbers):,} pairs, some of which are missing"
            raise DataError(
                f"{name}, line {line:,}: found sentence pair {number:,} {wrong}; wanted each pair once: join the parts "
                f"that MGIZA wrote into one file."
            )
        seen.add(number)
    return [number - first for number, _ in numbers]


def _positions(name: str, line: int, text: bytes) -> Iterator[list[int]]:
    """Target positions of null, then of each source word."""
    tokens = iter(text.split())
    first = True
    for word in tokens:
        positions = []
        token = next(tokens, b"")
        if token == b"({":
            while (token := next(tokens, b"")).isdigit() and len(token) < 10:
                positions.append(int(token))
        if token != b"})" or (first and word != b"NULL"):
            found = shown(word.decode("utf-8", "replace"))
            raise DataError(
                f"{name}, line {line:,}: found {found} without its ({{ positions }}), "
                f"wanted `NULL ({{ ... }}) word ({{ 1 2 }}) ...`."
            )
        first = False
        yield positions
    if first:
        raise DataError(f"{name}, line {line:,}: found nothing, wanted `NULL ({{ ... }}) word ({{ 1 2 }}) ...`.")


def _write(alignments: Alignments, bitext: Bitext | None, options: LinkOptions) -> Iterator[bytes]:
    assert bitext is not None  # the format needs the sentences
    for n, alignment in enumerate(alignments):
        source, target = bitext[n]
        positions: list[list[int]] = [[] for _ in source]
        unlinked = dict.fromkeys(range(1, len(target) + 1))
        for i, j in alignment.links:
            positions[i].append(j + 1)
            unlinked.pop(j + 1, None)
        yield giza_record(options.first + n + 1, source, target, [unlinked, *positions])


def giza_record(
    number: int, source: Sequence[str], target: Sequence[str], positions: Sequence[Iterable[int]], score: str = "1"
) -> bytes:
    """The three lines of pair `number`; `positions` has the target positions of null, then of each source word."""
    words = [
        f"{word} ({{ {''.join(f'{j} ' for j in places)}}})"
        for word, places in zip(["NULL", *source], positions, strict=True)
    ]
    return (
        f"# Sentence pair ({number}) source length {len(source)} target length {len(target)} "
        f"alignment score : {score}\n{' '.join(target)}\n{' '.join(words)}\n"
    ).encode("utf-8", "surrogateescape")


GIZA = LinkFormat(
    read=_read,
    write=_write,
    base=1,
    needs_sentences=True,
    shows_sentences=True,
    suffixes=re.compile(r"\.a3(\.|$)"),
    first_line=re.compile(rb"#"),
)
