"""Writing N-best lists: for each sentence pair its most probable alignments."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import numpy as np

from cepts.data import Bitext, NBest
from cepts.errors import UsageError
from cepts.io.files import PathLike
from cepts.io.writer import Writer

__all__ = ["DIRECTIONS", "NBEST_FORMATS", "NBestWriter", "write_nbest"]

NBEST_FORMATS = ("json", "giza")
DIRECTIONS = ("both", "forward", "reverse")


class NBestWriter(Writer):
    """Writes the N-best lists of sentence pairs to a file as they are found.

    Use it in a with statement: the file has its name only after a clean end.

    Parameters
    ----------
    path
        The file, compressed by its suffix; `-` is standard output.
    format
        ``json``, a line a pair, or ``giza``, three lines an alignment as in GIZA++'s A3 files.
    direction
        Whose lists are written: ``forward`` explains the target by the source, ``reverse`` the source by the target.
        The three lines do not say which it is, so that ``giza`` writes one only.
    bitext
        The sentences of all pairs that will be written, or None where `write` is given them bit by bit.
    first_sentence
        The place (from 0) of the first pair that is written, in `bitext` and in the numbers that GIZA files show.
    """

    def __init__(
        self,
        path: PathLike,
        *,
        format: str = "json",
        direction: str = "both",
        bitext: Bitext | None = None,
        first_sentence: int = 0,
    ) -> None:
        if format not in NBEST_FORMATS:
            raise UsageError(f"format must be one of {', '.join(NBEST_FORMATS)}. Got {format!r} instead.")
        if direction not in DIRECTIONS:
            raise UsageError(f"direction must be one of {', '.join(DIRECTIONS)}. Got {direction!r} instead.")
        if format == "giza" and direction == "both":
            raise UsageError("the format giza shows one direction; choose forward or reverse.")
        super().__init__(path)
        self.format = format
        self.direction = direction
        self.bitext = bitext
        self.next_sentence = first_sentence

    def write(self, forward: NBest, reverse: NBest, bitext_part: Bitext | None = None) -> None:
        """Write the lists of the next pairs, whose sentences are `bitext_part`."""
        file = self._open()
        pairs = len(forward)
        if bitext_part is None and self.bitext is not None:
            bitext_part = self.bitext.part(self.next_sentence, self.next_sentence + pairs)
        if bitext_part is not None:
            _check(forward, bitext_part)
            _check(reverse, Bitext(bitext_part.target, bitext_part.source))
        if self.format == "json":
            wanted = [name for name in ("forward", "reverse") if self.direction in {name, "both"}]
            lists = {"forward": forward, "reverse": reverse}
            pieces = _json_records({name: lists[name] for name in wanted}, pairs, bitext_part)
        elif bitext_part is None:
            raise UsageError("the format giza shows the sentences; give them with the lists.")
        elif self.direction == "forward":
            pieces = _giza_records(forward, bitext_part, self.next_sentence)
        else:
            pieces = _giza_records(reverse, Bitext(bitext_part.target, bitext_part.source), self.next_sentence)
        for piece in pieces:
            file.write(piece)
        self.next_sentence += pairs


def write_nbest(
    path: PathLike,
    forward: NBest,
    reverse: NBest,
    *,
    format: str = "json",
    direction: str = "both",
    bitext: Bitext | None = None,
    first_sentence: int = 0,
) -> None:
    """Write the lists of both directions to `path`; the parameters are those of `NBestWriter`."""
    with NBestWriter(path, format=format, direction=direction, bitext=bitext, first_sentence=first_sentence) as writer:
        writer.write(forward, reverse)


def _check(lists: NBest, bitext: Bitext) -> None:
    """Refuse lists that are not of these sentences, the target the explained one."""
    if len(lists) != len(bitext):
        raise ValueError(f"lists and sentences must be of as many pairs. Got {len(lists)} and {len(bitext)} instead.")
    counts = np.diff(lists.offsets)
    if np.any((lists.lengths != bitext.target.lengths) & (counts > 0)):
        raise ValueError("an alignment must have a position for each word that it explains.")
    if np.any(lists.positions >= np.repeat(bitext.source.lengths, counts * lists.lengths)):
        raise ValueError("positions must lie within their sentences.")


def _json_records(lists: dict[str, NBest], pairs: int, bitext: Bitext | None) -> Iterator[bytes]:
    """A line a pair; null is null, which no program takes for a position."""
    starts = {name: found.starts for name, found in lists.items()}
    for n in range(pairs):
        record: dict[str, object] = {}
        if bitext is not None:
            record["source"], record["target"] = bitext[n]
        for name, found in lists.items():
            run = slice(found.offsets[n], found.offsets[n + 1])
            rows = _rows(found, n, starts[name])
            record[name] = [
                {
                    "log_probability": round(log_probability, 6),
                    "positions": [position if position >= 0 else None for position in positions],
                }
                for log_probability, positions in zip(found.log_probabilities[run].tolist(), rows, strict=True)
            ]
        yield json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"


def _giza_records(lists: NBest, bitext: Bitext, first: int) -> Iterator[bytes]:
    """Three lines an alignment; a pair without any has one record all the same, in which every word is null's."""
    starts = lists.starts
    for n in range(len(lists)):
        source, target = bitext[n]
        scores = [_number(log) for log in lists.log_probabilities[lists.offsets[n] : lists.offsets[n + 1]].tolist()]
        rows = _rows(lists, n, starts)
        for score, row in zip(scores or ["0"], rows or [[-1] * len(target)], strict=True):
            places: list[list[str]] = [[] for _ in range(len(source) + 1)]
            for j, i in enumerate(row):
                places[i + 1].append(f"{j + 1} ")
            words = (f"{word} ({{ {''.join(found)}}})" for word, found in zip(["NULL", *source], places, strict=True))
            yield (
                f"# Sentence pair ({first + n + 1}) source length {len(source)} target length {len(target)} "
                f"alignment score : {score}\n{' '.join(target)}\n{' '.join(words)}\n"
            ).encode("utf-8", "surrogateescape")


def _rows(lists: NBest, pair: int, starts: np.ndarray) -> list[list[int]]:
    """Positions of the alignments of one pair; `starts` are those of the lists, which are made anew each time."""
    count = int(lists.offsets[pair + 1] - lists.offsets[pair])
    positions = lists.positions[starts[pair] : starts[pair + 1]]
    rows: list[list[int]] = positions.reshape(count, int(lists.lengths[pair])).tolist()
    return rows


def _number(log: float) -> str:
    """The number with this logarithm, also where it is too small for a float."""
    power = math.floor(log / math.log(10))
    digits = f"{math.exp(log - power * math.log(10)):.5f}"
    if digits.startswith("10"):
        digits, power = "1.00000", power + 1
    return f"{digits}e{power:+03d}"
