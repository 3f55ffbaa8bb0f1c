"""The cells of association matrices that may become links, and what surrounds each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association

Column = NDArray[np.float64]

# A cell may become a link if a scorer gives it this probability in one direction at least. Of the gold links of five
# languages, 1 % (Hansards, sure) to 15 % (Romanian with text of another domain) are in no such cell.
LEAST = 1e-3
DIAGONAL = ((-1, -1), (1, 1))
OTHER_DIAGONAL = ((-1, 1), (1, -1))
SAME_ROW = ((0, -1), (0, 1))
SAME_COLUMN = ((-1, 0), (1, 0))
AROUND = (*DIAGONAL, *OTHER_DIAGONAL, *SAME_ROW, *SAME_COLUMN)
WINDOW = tuple((rows, columns) for rows in (-2, -1, 1, 2) for columns in (-2, -1, 1, 2))


class Rivals(NamedTuple):
    """How a cell compares with the other cells of its row or column.

    Attributes
    ----------
    rank
        0 for the highest value of the line; of equal values, the first is higher.
    best
        The highest value among the other cells.
    rest
        Sum of the other cells.
    highest
        The highest value of the line.
    """

    rank: NDArray[np.int64]
    best: Column
    rest: Column
    highest: Column


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Some cells of the matrices of a run of pairs, in the order of the matrices.

    Attributes
    ----------
    place
        Index of each cell among all cells of the run.
    pair, source, target
        Index of its pair in the run, and the positions of its words.
    source_lengths, target_lengths
        I and J of its pair.
    source_token, target_token
        Index of its words among all tokens of the run.
    """

    place: NDArray[np.int64]
    pair: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    source_lengths: NDArray[np.int64]
    target_lengths: NDArray[np.int64]
    source_token: NDArray[np.int64]
    target_token: NDArray[np.int64]

    @classmethod
    def at(cls, place: NDArray[np.int64], shape: Association) -> Cells:
        """The cells at `place` of matrices of the shape of `shape`."""
        pair = np.searchsorted(shape.offsets, place, side="right") - 1
        rows, columns = shape.source_lengths[pair], shape.target_lengths[pair]
        source, target = np.divmod(place - shape.offsets[pair], columns)
        tokens = shape.source_offsets[pair] + source, shape.target_offsets[pair] + target
        return cls(place, pair, source, target, rows, columns, *tokens)

    def __len__(self) -> int:
        return len(self.place)

    def neighbour(self, values: NDArray[np.floating], rows: int, columns: int) -> Column:
        """The value `rows` below and `columns` to the right of each cell; 0 outside its matrix."""
        source, target = self.source + rows, self.target + columns
        inside = (source >= 0) & (source < self.source_lengths) & (target >= 0) & (target < self.target_lengths)
        found = np.zeros(len(self))
        found[inside] = values[(self.place + rows * self.target_lengths + columns)[inside]]
        return found

    def rivals(self, values: Column, *, by_target: bool) -> Rivals:
        """Compare the `values` of the cells within the columns (`by_target`) or rows of their matrices."""
        line = self.target_token if by_target else self.source_token
        order = np.lexsort((-values, line))
        sorted_line, sorted_values = line[order], values[order]
        starts = np.flatnonzero(np.diff(sorted_line, prepend=-1))
        lengths = np.diff(starts, append=len(order))
        top = sorted_values[starts]
        second = np.zeros(len(starts))
        several = lengths > 1
        second[several] = sorted_values[starts[several] + 1]
        sums = np.add.reduceat(sorted_values, starts) if len(starts) else top
        rank, best, rest, highest = np.empty(len(order), np.int64), *(np.empty(len(order)) for _ in range(3))
        rank[order] = np.arange(len(order)) - np.repeat(starts, lengths)
        highest[order], rest[order] = np.repeat(top, lengths), np.repeat(sums, lengths) - sorted_values
        best[order] = np.repeat(second, lengths)
        best = np.where(rank > 0, highest, best)
        return Rivals(rank, best, np.maximum(rest, 0.0), highest)

    def on_matrix(self, values: Column, cells: int) -> Column:
        """All `cells` of the matrices, with `values` at these cells and 0 elsewhere."""
        whole = np.zeros(cells)
        whole[self.place] = values
        return whole


def logit(probabilities: NDArray[np.floating], least: float = 1e-4) -> Column:
    """log(p / (1 - p)), with probabilities kept `least` away from 0 and 1."""
    clipped = np.clip(np.asarray(probabilities, dtype=np.float64), least, 1.0 - least)
    logits: Column = np.log(clipped) - np.log1p(-clipped)
    return logits


def logistic(scores: NDArray[np.floating]) -> Column:
    """1 / (1 + exp(-score))."""
    from scipy.special import expit

    found: Column = expit(scores)
    return found
