"""Links as a file has them, and the two formats whose records are read in Python: GIZA and JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError
from cepts.io.files import InputFile, read_blocks

__all__ = ["Links", "giza_links", "json_links"]

TIERS = {"sure": True, "possible": False}


@dataclass(slots=True)
class Links:
    """Links in the order of a file, each with its line, of `pairs` sentence pairs; one may stand twice."""

    pair: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    confidence: NDArray[np.float32]
    sure: NDArray[np.bool_]
    line: NDArray[np.int64]
    pairs: int = 0

    @classmethod
    def empty(cls, count: int) -> Links:
        """Room for `count` links."""
        return cls(
            np.empty(count, dtype=np.int64),
            np.empty(count, dtype=np.int32),
            np.empty(count, dtype=np.int32),
            np.empty(count, dtype=np.float32),
            np.empty(count, dtype=np.bool_),
            np.empty(0, dtype=np.int64),
        )

    def first(self, count: int, pair: NDArray[np.int64], line: NDArray[np.int64]) -> Links:
        """Copy of the first `count` links, so that the rest of the room is freed."""
        return Links(
            pair[:count].copy(),
            self.source[:count].copy(),
            self.target[:count].copy(),
            self.confidence[:count].copy(),
            self.sure[:count].copy(),
            line,
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Links], pairs: int) -> Links:
        """Links of several blocks of a file, one after the other."""
        parts = parts or [cls.empty(0)]
        return cls(
            np.concatenate([part.pair for part in parts]),
            np.concatenate([part.source for part in parts]),
            np.concatenate([part.target for part in parts]),
            np.concatenate([part.confidence for part in parts]),
            np.concatenate([part.sure for part in parts]),
            np.concatenate([part.line for part in parts]),
            pairs,
        )


class _Collector:
    """Gathers links one by one."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, float, bool, int]] = []

    def links(self, pairs: int) -> Links:
        columns = list(zip(*self.rows, strict=True)) or [()] * 6
        pair, source, target, confidence, sure, line = columns
        return Links(
            np.array(pair, dtype=np.int64),
            np.array(source, dtype=np.int32),
            np.array(target, dtype=np.int32),
            np.array(confidence, dtype=np.float32),
            np.array(sure, dtype=np.bool_),
            np.array(line, dtype=np.int64),
            pairs,
        )


def _lines(file: InputFile) -> Iterator[bytes]:
    file.skip_bom()
    for block in read_blocks(file):
        lines = block.tobytes().split(b"\n")
        if not lines[-1]:
            lines.pop()
        yield from lines


def giza_links(file: InputFile) -> Links:
    """Links of a GIZA A3 file: three lines a pair, a comment, the target, the source with its target
    positions.

    The third line is ``NULL ({ 2 }) the ({ 1 }) house ({ 3 4 })``, positions from 1.
    """
    found = _Collector()
    lines = _lines(file)
    number = pairs = 0
    for header in lines:
        number += 1
        if not header.strip():  # some tools end the file so
            continue
        if not header.startswith(b"#"):
            raise DataError(
                f"{file.name}, line {number:,}: found no `# Sentence pair` line, wanted three lines a pair: "
                f"the comment, the target, the source with ({{ positions }})."
            )
        target, source = next(lines, None), next(lines, None)
        if target is None or source is None:
            raise DataError(f"{file.name}, line {number:,}: the file ends inside this sentence pair; write it again.")
        number += 2
        for i, positions in enumerate(_giza_source(file.name, number, source)):
            for j in positions:
                if not 1 <= j <= len(target.split()):
                    raise DataError(
                        f"{file.name}, line {number:,}: found a link to target word {j}, but the line before "
                        f"has {len(target.split())} words (numbered from 1); write the file again."
                    )
                if i > 0:
                    found.rows.append((pairs, i - 1, j - 1, 1.0, True, number))
        pairs += 1
    return found.links(pairs)


def _giza_source(name: str, line: int, text: bytes) -> Iterator[list[int]]:
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
            shown = word.decode("utf-8", "replace")
            raise DataError(
                f"{name}, line {line:,}: found {shown!r} without its ({{ positions }}), "
                f"wanted `NULL ({{ ... }}) word ({{ 1 2 }}) ...`."
            )
        first = False
        yield positions
    if first:
        raise DataError(f"{name}, line {line:,}: found nothing, wanted `NULL ({{ ... }}) word ({{ 1 2 }}) ...`.")


def json_links(file: InputFile) -> Links:
    """Links of JSON lines: ``{"links": [{"source": 0, "target": 1, "confidence": 0.9, "tier": "sure"}]}``.

    Confidence and tier may be left out; tokens (``"source"``, ``"target"``) bound the positions where they
    stand.
    """
    found = _Collector()
    pairs = 0
    for text in _lines(file):
        where = f"{file.name}, line {pairs + 1:,}"
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: found no JSON ({error}), wanted an object with `links`.") from error
        if not isinstance(record, dict) or not isinstance(record.get("links"), list):
            raise DataError(f'{where}: found no list `links`, wanted an object such as {{"links": []}}.')
        for link in record["links"]:
            found.rows.append((pairs, *_json_link(where, record, link), pairs + 1))
        pairs += 1
    return found.links(pairs)


def _json_link(where: str, record: dict[str, object], link: object) -> tuple[int, int, float, bool]:
    if not isinstance(link, dict):
        raise DataError(f'{where}: found the link {link!r}, wanted an object such as {{"source": 0, "target": 1}}.')
    positions = []
    for side in ("source", "target"):
        position, tokens = link.get(side), record.get(side)
        if type(position) is not int or not 0 <= position < 2**31:
            raise DataError(f"{where}: found {side} {position!r} in a link, wanted a word number from 0.")
        if isinstance(tokens, list) and position >= len(tokens):
            raise DataError(
                f"{where}: found a link to {side} word {position}, but that sentence has {len(tokens)} words "
                f"(numbered from 0)."
            )
        positions.append(position)
    confidence, tier = link.get("confidence", 1.0), link.get("tier", "sure")
    if type(confidence) not in {int, float} or not 0 <= confidence <= 1:
        raise DataError(f"{where}: found the confidence {confidence!r}, wanted a number between 0 and 1.")
    if tier not in ("sure", "possible"):
        raise DataError(f"{where}: found the tier {tier!r}, wanted sure or possible.")
    return positions[0], positions[1], float(confidence), TIERS[tier]
