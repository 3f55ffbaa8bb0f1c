"""Writing N-best lists: the most probable alignments of each sentence pair."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from cepts.data import Bitext, NBest
from cepts.errors import UsageError, check_choice
from cepts.io.files import PathLike
from cepts.io.giza import giza_record
from cepts.io.lines import json_line
from cepts.io.writer import PairWriter, Sentences, check_pairs
from cepts.names import NBEST_DIRECTIONS, NBEST_FORMATS


class NBestWriter(PairWriter):
    """Writes the N-best lists of sentence pairs to a file as they are found.

    Parameters
    ----------
    path
        The file; see `cepts.io`.
    format
        ``json`` (one line per pair), or ``giza`` (three lines per alignment, as in GIZA++'s A3 files).
    direction
        Which lists are written: ``forward`` explains the target by the source, ``reverse`` the source by the target,
        and ``both`` writes both. A ``giza`` file does not say which direction it has, so it can hold only one.
    bitext
        The sentences of all pairs, which ``giza`` needs and ``json`` shows. They can also be given to each call of
        `write` instead.
    """

    def __init__(
        self,
        path: PathLike,
        *,
        format: str = "json",
        direction: str = "both",
        bitext: Sentences | None = None,
    ) -> None:
        check_choice("format", format, NBEST_FORMATS)
        check_choice("direction", direction, NBEST_DIRECTIONS)
        if format == "giza" and direction == "both":
            raise UsageError("the format giza shows one direction; choose forward or reverse.")
        super().__init__(path, bitext)
        self.format = format
        self.direction = direction

    def write(self, forward: NBest, reverse: NBest, bitext_part: Bitext | None = None) -> None:
        """Write the lists of the next pairs; `bitext_part` has their sentences."""
        first = self.next_sentence
        bitext_part = self._sentences(len(forward), bitext_part)
        lists = {"forward": forward, "reverse": reverse}
        wanted = {name: found for name, found in lists.items() if self.direction in {name, "both"}}
        sides = {}
        if bitext_part is not None:
            sides = {"forward": bitext_part, "reverse": Bitext(bitext_part.target, bitext_part.source)}
            for name, sentences in sides.items():
                _check(lists[name], sentences)
        if self.format == "json":
            self._put(_json_records(wanted, bitext_part))
        elif not sides:
            raise UsageError("the format giza shows the sentences; give them with the lists.")
        else:
            self._put(_giza_records(lists[self.direction], sides[self.direction], first))


def write_nbest(
    path: PathLike,
    forward: NBest,
    reverse: NBest,
    *,
    format: str = "json",
    direction: str = "both",
    bitext: Bitext | None = None,
) -> None:
    """Write the N-best lists of one or both directions to `path`; the parameters are those of `NBestWriter`."""
    with NBestWriter(path, format=format, direction=direction, bitext=bitext) as writer:
        writer.write(forward, reverse)


def _check(lists: NBest, bitext: Bitext) -> None:
    """Refuse lists that do not belong to these sentences; the target is the side that is explained."""
    check_pairs(len(lists), bitext)
    counts = np.diff(lists.offsets)
    if np.any((lists.lengths != bitext.target.lengths) & (counts > 0)):
        raise ValueError("an alignment must have a position for each word that it explains.")
    if np.any(lists.positions >= np.repeat(bitext.source.lengths, counts * lists.lengths)):
        raise ValueError("positions must lie within their sentences.")


def _json_records(lists: dict[str, NBest], bitext: Bitext | None) -> Iterator[bytes]:
    """One line per pair; null is JSON's null, which cannot be mistaken for a position."""
    for n, found in enumerate(zip(*lists.values(), strict=True)):
        record: dict[str, object] = {}
        if bitext is not None:
            record["source"], record["target"] = bitext[n]
        for name, (logs, rows) in zip(lists, found, strict=True):
            record[name] = [
                {"log_probability": round(log, 6), "positions": [i if i >= 0 else None for i in positions]}
                for log, positions in zip(logs.tolist(), rows.tolist(), strict=True)
            ]
        yield json_line(record)


def _giza_records(lists: NBest, bitext: Bitext, first: int) -> Iterator[bytes]:
    """Three lines per alignment; a pair without any still has one record, in which every word is linked to null."""
    for n, (logs, rows) in enumerate(lists):
        source, target = bitext[n]
        scores = [_number(log) for log in logs.tolist()]
        for score, row in zip(scores or ["0"], rows.tolist() or [[-1] * len(target)], strict=True):
            positions: list[list[int]] = [[] for _ in range(len(source) + 1)]
            for j, i in enumerate(row):
                positions[i + 1].append(j + 1)
            yield giza_record(first + n + 1, source, target, positions, score)


def _number(log: float) -> str:
    """The number with this logarithm, even if it is too small for a float."""
    power = math.floor(log / math.log(10))
    digits = f"{math.exp(log - power * math.log(10)):.5f}"
    if digits.startswith("10"):
        digits, power = "1.00000", power + 1
    return f"{digits}e{power:+03d}"
