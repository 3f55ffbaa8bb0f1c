"""Writing N-best lists: for each sentence pair its most probable alignments."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from cepts.data import Bitext, NBest
from cepts.errors import UsageError, check_choice
from cepts.io.files import PathLike
from cepts.io.giza import giza_record
from cepts.io.json_lines import json_line
from cepts.io.writer import Writer
from cepts.names import NBEST_DIRECTIONS, NBEST_FORMATS

__all__ = ["NBestWriter", "write_nbest"]


class NBestWriter(Writer):
    """Writes the N-best lists of sentence pairs to a file as they are found.

    The file appears, complete, only after a clean end of the ``with`` statement.

    Parameters
    ----------
    path
        The file, compressed by its suffix; `-` is standard output.
    format
        ``json``, a line a pair, or ``giza``, three lines an alignment as in GIZA++'s A3 files.
    direction
        Whose lists are written: ``forward`` explains the target by the source, ``reverse`` the source by the target.
        The three lines do not say which direction it is, so ``giza`` writes only one.
    bitext
        The sentences of all pairs that will be written, or None where each call of `write` gets its own.
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
        check_choice("format", format, NBEST_FORMATS)
        check_choice("direction", direction, NBEST_DIRECTIONS)
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
        raise ValueError(
            f"lists and sentences must have the same number of pairs. Got {len(lists)} and {len(bitext)} instead."
        )
    counts = np.diff(lists.offsets)
    if np.any((lists.lengths != bitext.target.lengths) & (counts > 0)):
        raise ValueError("an alignment must have a position for each word that it explains.")
    if np.any(lists.positions >= np.repeat(bitext.source.lengths, counts * lists.lengths)):
        raise ValueError("positions must lie within their sentences.")


def _json_records(lists: dict[str, NBest], pairs: int, bitext: Bitext | None) -> Iterator[bytes]:
    """A line a pair; null is JSON's null, which cannot be mistaken for a position."""
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
        yield json_line(record)


def _giza_records(lists: NBest, bitext: Bitext, first: int) -> Iterator[bytes]:
    """Three lines an alignment; a pair without any still has one record, in which every word is linked to null."""
    starts = lists.starts
    for n in range(len(lists)):
        source, target = bitext[n]
        scores = [_number(log) for log in lists.log_probabilities[lists.offsets[n] : lists.offsets[n + 1]].tolist()]
        rows = _rows(lists, n, starts)
        for score, row in zip(scores or ["0"], rows or [[-1] * len(target)], strict=True):
            positions: list[list[int]] = [[] for _ in range(len(source) + 1)]
            for j, i in enumerate(row):
                positions[i + 1].append(j + 1)
            yield giza_record(first + n + 1, source, target, positions, score)


def _rows(lists: NBest, pair: int, starts: np.ndarray) -> list[list[int]]:
    """Positions of the alignments of one pair; `starts` is `lists.starts`, which is slow to compute for each pair."""
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
