"""Features of cells: what tells a link from a cell that is none, in any language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Association, Directions
from cepts.errors import UsageError
from cepts.extract import Said, best, mixed
from cepts.tuning.cells import (
    AROUND,
    DIAGONAL,
    LEAST,
    OTHER_DIAGONAL,
    SAME_COLUMN,
    SAME_ROW,
    WINDOW,
    Cells,
    Column,
    logit,
)
from cepts.tuning.texts import DIGITS, SIGNS, TextFacts, Words, repeated

# Features to which hinges max(x - knot, 0) are added, so that their effect need not be linear.
HINGES: Mapping[str, tuple[float, ...]] = {
    **dict.fromkeys(("agreement", "row best logit", "column best logit"), (-5.0, -3.0, -1.0, 1.0, 3.0, 5.0)),
    "distance": (0.125, 0.25, 0.375),
    "words apart": (0.25, 0.5, 0.75),
    "source frequency": (2.25, 4.5, 6.75),
    "target frequency": (2.25, 4.5, 6.75),
    "frequency ratio": (1.5, 3.0, 4.5),
    "length ratio": (0.375, 0.75, 1.125),
}
MEMBER_HINGES = ("forward", "reverse", "agreement")
MEMBER_KNOTS = (-5.0, -3.0, -1.0, 1.0, 3.0, 5.0)
LEXICON_KNOTS = (-8.0, -6.0, -4.0, -2.0, 0.0)
LEAST_ENTRY, LEAST_SHARE = 1e-7, 1e-4
# Features whose effect may depend on how probable the cell is anyway.
CROSSED = (
    *("diagonal", "both on diagonal", "other diagonal", "row neighbour", "column neighbour", "window"),
    *("row best", "column best", "row highest", "column highest", "words apart"),
    *("short source", "short target", "both short", "once source", "once target"),
    *("both signs", "source sign", "target sign", "same", "likeness", "frequency ratio"),
    *("repeated source", "repeated target", "source length"),
)
MEMBER_CROSSED = ("source null", "target null", "lexicon", "both paths")
CROSS_SCALE = 6.0


@dataclass(frozen=True, slots=True, eq=False)
class Opinion(Said):
    """What one scorer says of a run, with what only its features need.

    Attributes
    ----------
    forward_path, reverse_path
        1 for cells on the best path of each direction, 0 for others.
    tables
        Lexicon entries, see `Directions.tables`; 0 if the scorer has no lexicon.
    """

    forward_path: NDArray[np.float32] | None = None
    reverse_path: NDArray[np.float32] | None = None
    tables: NDArray[np.float32] | None = None

    layout: ClassVar = {
        **Said.layout,
        **{name: ("cell_offsets", np.empty(0, np.float32)) for name in ("forward_path", "reverse_path", "tables")},
    }

    @property
    def cell_offsets(self) -> NDArray[np.int64]:
        """Where the cells of each pair start."""
        return self.forward.offsets

    @staticmethod
    def fields_of(directions: Directions) -> list[Any]:
        """The values of the fields, in order."""
        said = Said.fields_of(directions)
        forward, reverse = directions.forward, directions.reverse
        paths = directions.paths or (best(forward, axis="target"), best(reverse, axis="source"))
        try:
            tables = directions.tables().values
        except UsageError:  # it has no lexicon
            tables = np.zeros_like(forward.values)
        return [*said, *(_marked(path, forward) for path in paths), tables]


def _marked(links: Alignments, shape: Association) -> NDArray[np.float32]:
    """1 for the cells of links, 0 for others."""
    found = np.zeros(len(shape.values), dtype=np.float32)
    found[shape.offsets[links.pair] + links.source * shape.target_lengths[links.pair] + links.target] = 1.0
    return found


# The parts of an opinion that have a value for each cell.
OF_CELLS = ("forward", "reverse", "forward_path", "reverse_path", "tables")


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What scorers say of a run of pairs, on matrices of one shape.

    Attributes
    ----------
    mean
        The mixture of the scorers, which is the aligner without tuning.
    members
        What each scorer says, by name: the matrices and paths of both directions, lexicon entries and null masses. A
        pair that a scorer leaves out has the values of the mixture, and 0 for paths and lexicon entries.
    source_frequency, target_frequency
        How often each token occurs in the training text of the first scorer that knows it; 0 if none does.
    """

    mean: Directions
    members: list[dict[str, Column]]
    source_frequency: Column
    target_frequency: Column

    @classmethod
    def of(cls, parts: Sequence[Opinion], first: int) -> Evidence:
        """What the members said, all for the same pairs."""
        mean = mixed(parts, [1.0 / len(parts)] * len(parts), first)
        shape = mean.forward
        sizes = shape.source_lengths * shape.target_lengths, shape.source_lengths, shape.target_lengths
        empty = [np.zeros(int(size.sum())) for size in sizes]
        frequencies = empty[1:]
        members = []
        for part in reversed(parts):
            there = np.diff(part.forward.offsets) > 0
            own = np.diff(part.forward.offsets), part.forward.source_lengths, part.forward.target_lengths
            placed = [partial(_placed, there, counts, wanted) for counts, wanted in zip(own, sizes, strict=True)]
            members.append(
                {
                    "forward": placed[0](part.forward.values, mean.forward.values),
                    "reverse": placed[0](part.reverse.values, mean.reverse.values),
                    **{name: placed[0](getattr(part, name), empty[0]) for name in OF_CELLS[2:]},
                    "source_null": placed[1](_null(part.reverse, False), _null(mean.reverse, False)),
                    "target_null": placed[2](_null(part.forward, True), _null(mean.forward, True)),
                }
            )
            if part.source_frequency is not None and part.target_frequency is not None:
                known = part.source_frequency, part.target_frequency
                frequencies = [placed[n](known[n - 1], empty[n]) for n in (1, 2)]
        return cls(mean, members[::-1], *frequencies)

    def cells(self) -> Cells:
        """The cells that may become links."""
        most = np.maximum.reduce([member[name] for member in self.members for name in ("forward", "reverse")])
        return Cells.at(np.flatnonzero(most >= LEAST), self.mean.forward)


def _placed(
    there: NDArray[np.bool_],
    counts: NDArray[np.int64],
    wanted: NDArray[np.int64],
    own: NDArray[np.generic],
    rest: NDArray[np.floating],
) -> Column:
    """`own` at the pairs that are `there`, `rest` elsewhere; they have `counts` items in `own`, `wanted` in `rest`."""
    found = np.array(rest, dtype=np.float64)
    found[np.repeat(there, wanted)] = own[np.repeat(there, counts)]
    return found


def _null(matrix: Association, by_target: bool) -> Column:
    own = matrix.target_null if by_target else matrix.source_null
    if own is None:
        own = np.maximum(1.0 - matrix.line_sums(by_target=by_target)[0], 0.0).astype(np.float32)
    return np.asarray(own, dtype=np.float64)


class Columns(dict[str, Column]):
    """Features by name, in order."""

    def flag(self, name: str, where: NDArray[np.bool_]) -> None:
        """Add a feature that is 0 or 1."""
        self[name] = where.astype(np.float64)

    def matrix(self) -> NDArray[np.float64]:
        """The features as columns, with a row for each cell."""
        return np.column_stack(list(self.values()))


def features_of(evidence: Evidence, cells: Cells, text: TextFacts) -> Columns:
    """The features of some cells of a run; its first pair is `evidence.mean.first` of the text."""
    found = Columns()
    agreement = np.asarray(evidence.mean.agreement.values, np.float64)
    _add_members(found, evidence, cells)
    _add_competition(found, cells, agreement)
    _add_neighbours(found, cells, agreement)
    _add_positions(found, cells)
    _add_words(found, evidence, cells, text)
    _add_hinges(found, len(evidence.members))
    return found


def _add_members(found: Columns, evidence: Evidence, cells: Cells) -> None:
    means = []
    for number, member in enumerate(evidence.members, start=1):
        ahead, back, *paths, tables = (member[name][cells.place] for name in OF_CELLS)
        both = np.sqrt(np.maximum(ahead * back, 0.0))
        means.append(both)
        found[f"{number} forward"], found[f"{number} reverse"] = logit(ahead), logit(back)
        found[f"{number} agreement"] = logit(both)
        found[f"{number} lower"] = logit(np.minimum(ahead, back))
        found[f"{number} higher"] = logit(np.maximum(ahead, back))
        found[f"{number} forward path"], found[f"{number} reverse path"] = paths
        found[f"{number} both paths"] = paths[0] * paths[1]
        found[f"{number} source null"] = logit(member["source_null"][cells.source_token])
        found[f"{number} target null"] = logit(member["target_null"][cells.target_token])
        longest = np.maximum(cells.source_lengths, cells.target_lengths)
        found[f"{number} lexicon"] = np.log(np.maximum(tables, LEAST_ENTRY) * longest)
        for line, by_target in (("row", False), ("column", True)):
            share = tables / np.maximum(tables + cells.rivals(tables, by_target=by_target).rest, LEAST_ENTRY)
            found[f"{number} lexicon in {line}"] = np.log(np.maximum(share, LEAST_SHARE))
    found["least agreement"] = logit(np.minimum.reduce(means))
    found["most agreement"] = logit(np.maximum.reduce(means))


def _add_competition(found: Columns, cells: Cells, agreement: Column) -> None:
    own = agreement[cells.place]
    found["probability"], found["agreement"] = own, logit(own)
    for name, by_target in (("row", False), ("column", True)):
        rivals = cells.rivals(own, by_target=by_target)
        found[f"{name} best"], found[f"{name} best logit"] = rivals.best, logit(rivals.best)
        found[f"{name} rest"], found[f"{name} highest"] = rivals.rest, rivals.highest
        found.flag(f"{name} first", rivals.rank == 0)
        found.flag(f"{name} second", rivals.rank == 1)
        found[f"{name} contested"] = rivals.best * own
    found["both best"] = found["row best"] * found["column best"]
    found["first in both"] = found["row first"] * found["column first"]


def _add_neighbours(found: Columns, cells: Cells, agreement: Column) -> None:
    around = {place: cells.neighbour(agreement, *place) for place in AROUND}
    for (rows, columns), values in around.items():
        found[f"at {rows:+} {columns:+}"] = values
    groups = {
        "diagonal": DIAGONAL,
        "other diagonal": OTHER_DIAGONAL,
        "row neighbour": SAME_ROW,
        "column neighbour": SAME_COLUMN,
    }
    for name, (one, other) in groups.items():
        found[name] = np.maximum(around[one], around[other])
    found["both on diagonal"] = around[DIAGONAL[0]] * around[DIAGONAL[1]]
    found["window"] = np.maximum.reduce([cells.neighbour(agreement, *place) for place in WINDOW])
    found["around"] = sum(around.values(), np.zeros(len(cells)))
    for line in ("row", "column"):
        found[f"{line} best on diagonal"] = found[f"{line} best"] * found["diagonal"]
        found[f"{line} best beside"] = found[f"{line} best"] * found[f"{line} neighbour"]


def _add_positions(found: Columns, cells: Cells) -> None:
    rows, columns = cells.source_lengths, cells.target_lengths
    distance = np.abs((cells.source + 0.5) / rows - (cells.target + 0.5) / columns)
    found["distance"] = distance
    found["distance in words"] = distance * np.minimum(rows, columns) / 10.0
    found["words apart"] = np.minimum(distance * np.maximum(rows, columns), 10.0) / 10.0
    found["source length"], found["target length"] = np.log(rows), np.log(columns)
    found.flag("both last", (cells.source == rows - 1) & (cells.target == columns - 1))
    found.flag("both first", (cells.source == 0) & (cells.target == 0))


def _add_words(found: Columns, evidence: Evidence, cells: Cells, text: TextFacts) -> None:
    (source, target), first = token_words(evidence, cells, text), evidence.mean.first
    likeness = _likeness(text.source, text.target, source, target)
    found.flag("same", likeness[:, 0] == 1.0)
    found["likeness"] = np.maximum(likeness[:, 0] - 0.4, 0.0)
    found["prefix"] = likeness[:, 1]
    kinds = text.source.kinds[source], text.target.kinds[target]
    for name, kind in (("digits", DIGITS), ("signs", SIGNS)):
        found.flag(f"both {name}", (kinds[0] == kind) & (kinds[1] == kind))
        found.flag(f"source {name[:-1]}", (kinds[0] == kind) & (kinds[1] != kind))
        found.flag(f"target {name[:-1]}", (kinds[0] != kind) & (kinds[1] == kind))
    found["same sign"] = found["both signs"] * found["same"]
    letters = text.source.lengths[source], text.target.lengths[target]
    found.flag("short source", letters[0] <= 3)
    found.flag("short target", letters[1] <= 3)
    found["both short"] = found["short source"] * found["short target"]
    found["length ratio"] = np.abs(np.log(letters[0] + 1.0) - np.log(letters[1] + 1.0))
    times = evidence.source_frequency[cells.source_token], evidence.target_frequency[cells.target_token]
    logs = [np.log(np.maximum(each, 1.0)) for each in times]
    found["source frequency"], found["target frequency"] = logs
    found["frequency ratio"] = np.abs(logs[0] - logs[1])
    found["source frequency x agreement"] = logs[0] * found["agreement"]
    found["target frequency x agreement"] = logs[1] * found["agreement"]
    found.flag("once source", times[0] <= 1)
    found.flag("once target", times[1] <= 1)
    found["once both"] = found["once source"] * found["once target"]
    for name, side, positions in (
        ("source", text.bitext.source, cells.source),
        ("target", text.bitext.target, cells.target),
    ):
        part = side.part(first, first + len(evidence.mean.forward))
        found.flag(f"repeated {name}", repeated(part.ids, part.offsets)[part.offsets[cells.pair] + positions])


def token_words(evidence: Evidence, cells: Cells, text: TextFacts) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Numbers of the two words of each cell in the vocabularies of the text."""
    pair = evidence.mean.first + cells.pair
    source, target = text.bitext.source, text.bitext.target
    return source.ids[source.offsets[pair] + cells.source], target.ids[target.offsets[pair] + cells.target]


def _likeness(
    source: Words, target: Words, source_words: NDArray[np.int32], target_words: NDArray[np.int32]
) -> NDArray[np.float64]:
    from cepts.kernels.spelling import word_likeness

    keys, places = np.unique(source_words.astype(np.int64) * len(target.kinds) + target_words, return_inverse=True)
    pairs = np.column_stack(np.divmod(keys, max(len(target.kinds), 1)))
    out = np.empty((len(pairs), 2))
    row = np.empty(int(target.lengths.max(initial=0)) + 1, dtype=np.int64)
    word_likeness(source.letters, source.offsets, target.letters, target.offsets, pairs, row, out)
    found: NDArray[np.float64] = out[places]
    return found


def _add_hinges(found: Columns, members: int) -> None:
    numbers = range(1, members + 1)
    knots = {**HINGES, **{f"{number} {name}": MEMBER_KNOTS for number in numbers for name in MEMBER_HINGES}}
    knots |= {f"{number} lexicon": LEXICON_KNOTS for number in numbers}
    for name, places in knots.items():
        for knot in places:
            found[f"{name} > {knot:g}"] = np.maximum(found[name] - knot, 0.0)
    scaled = np.clip(found["agreement"], -CROSS_SCALE, CROSS_SCALE) / CROSS_SCALE
    for name in (*CROSSED, *(f"{number} {null}" for number in numbers for null in MEMBER_CROSSED)):
        found[f"{name} x agreement"] = found[name] * scaled


def is_linear(name: str) -> bool:
    """Whether a feature is none of the hinges and products, which need more gold links than linear features do."""
    return " > " not in name and " x " not in name
