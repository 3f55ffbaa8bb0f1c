"""Position models with links that are independent of each other: Models 1 and 2 (ibm12) and the diagonal model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.data import NBest, offsets_of
from cepts.words.batches import laid_out, matrix_size
from cepts.words.blocks import PairBlock
from cepts.words.index import Pairs
from cepts.words.nbest import best_paths, nbest_lists
from cepts.words.positions import EarlierPositions, Paths, Positions
from cepts.words.text import TextFacts, shapes_of

if TYPE_CHECKING:
    from cepts.kernels.blocks import Found, PriorArrays

# The tables of `Priors`, each with the offsets of its shapes.
TABLES = {
    "forward": "offsets",
    "reverse": "offsets",
    "forward_null": "forward_null_offsets",
    "reverse_null": "reverse_null_offsets",
}


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """The distinct (I, J) of some sentence pairs, in ascending order, and where their tables start."""

    source_lengths: NDArray[np.int64]
    target_lengths: NDArray[np.int64]

    @classmethod
    def of(cls, pairs: Pairs) -> Shapes:
        """Shapes of `pairs`, without those of empty pairs."""
        keys = shapes_of(pairs)
        return cls(keys >> 32, keys & 0xFFFFFFFF)

    def __len__(self) -> int:
        return len(self.source_lengths)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each shape's I x J table starts."""
        return offsets_of(self.source_lengths * self.target_lengths)

    def places(self, pairs: Pairs) -> NDArray[np.int64]:
        """Index of each pair's shape (any number for an empty pair)."""
        return np.searchsorted(
            _keys(self.source_lengths, self.target_lengths), _keys(pairs.source_lengths, pairs.target_lengths)
        )


def _keys(source_lengths: NDArray[np.int64], target_lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return (source_lengths << 32) | target_lengths


class Priors:
    """P(position) in both directions for each of some shapes, as flat tables, and P(null) for each word."""

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self.offsets = shapes.offsets
        self.forward_null_offsets = offsets_of(shapes.target_lengths)
        self.reverse_null_offsets = offsets_of(shapes.source_lengths)
        self.forward = np.empty(int(self.offsets[-1]), dtype=np.float32)
        self.reverse = np.empty(int(self.offsets[-1]), dtype=np.float32)
        self.forward_null = np.empty(int(self.forward_null_offsets[-1]), dtype=np.float32)
        self.reverse_null = np.empty(int(self.reverse_null_offsets[-1]), dtype=np.float32)

    def fill_uniform(self, null_prob: float | None) -> None:
        """Give every position the same probability; null is one of the positions, or has probability `null_prob`."""
        cells = self.shapes.source_lengths * self.shapes.target_lengths
        source_lengths, target_lengths = self.shapes.source_lengths, self.shapes.target_lengths
        ahead_null = 1.0 / (source_lengths + 1) if null_prob is None else np.full(len(source_lengths), null_prob)
        back_null = 1.0 / (target_lengths + 1) if null_prob is None else np.full(len(source_lengths), null_prob)
        # Rounded first, because there are few shapes, but many cells.
        self.forward = np.repeat(((1.0 - ahead_null) / source_lengths).astype(np.float32), cells)
        self.reverse = np.repeat(((1.0 - back_null) / target_lengths).astype(np.float32), cells)
        self.forward_null = np.repeat(ahead_null.astype(np.float32), target_lengths)
        self.reverse_null = np.repeat(back_null.astype(np.float32), source_lengths)

    def arrays(self, pairs: Pairs) -> PriorArrays:
        """What kernels read; the pairs' shapes must be among these."""
        from cepts.kernels.blocks import PriorArrays

        return PriorArrays(
            self.shapes.places(pairs),
            self.offsets,
            self.forward,
            self.reverse,
            self.forward_null,
            self.forward_null_offsets,
            self.reverse_null,
            self.reverse_null_offsets,
        )


def copy_shapes(known: Priors, tables: Sequence[NDArray], wanted: Priors, out: Sequence[NDArray]) -> None:
    """Copy the parts of four tables with the layout of `known` to those of `wanted`, as far as both have a shape."""
    keys = _keys(known.shapes.source_lengths, known.shapes.target_lengths)
    own = _keys(wanted.shapes.source_lengths, wanted.shapes.target_lengths)
    places = np.searchsorted(keys, own)
    for shape, place in enumerate(places):
        if place < len(keys) and keys[place] == own[shape]:
            for table, found, offsets in zip(tables, out, TABLES.values(), strict=True):
                here, there = getattr(wanted, offsets), getattr(known, offsets)
                found[here[shape] : here[shape + 1]] = table[there[place] : there[place + 1]]


class IndependentPositions(Positions):
    """A model that draws the link of each target word independently, eq. (1d) of ibm12.

    Parameters
    ----------
    null_prob
        P(null); None makes null a position like the others, as in ibm12.
    """

    counts_positions = True

    def __init__(self, *, null_prob: float | None = None) -> None:
        if null_prob is not None and not 0 <= null_prob < 1:
            raise ValueError(f"`null_prob` must be 0 or more and below 1. Got {null_prob} instead.")
        self.null_prob = null_prob
        self.trained: Priors | None = None

    @abstractmethod
    def priors(self, shapes: Shapes) -> Priors:
        """The current priors of `shapes`."""

    def prepare(self, text: TextFacts) -> None:
        """Tables for the shapes of a text, if the model learns them."""
        if self.counts_positions:
            self.trained = self.priors(Shapes(text.source_lengths, text.target_lengths))

    def add_earlier(self, earlier: EarlierPositions) -> None:
        """Add the expected counts of positions in an earlier text, for the shapes that it has."""
        if not (self.counts_positions and len(earlier.seen) == len(TABLES)):
            return
        assert self.trained is not None
        known = Priors(Shapes(earlier.state["sizes"], earlier.state["lengths"]))
        found = [np.zeros(len(getattr(self.trained, table)), dtype=np.float32) for table in TABLES]
        copy_shapes(known, earlier.seen, self.trained, found)
        self._join(found, earlier.weight)

    def state(self) -> dict[str, NDArray]:
        """The parameters, and the shapes of the statistics behind them."""
        if not len(self.seen):
            return super().state()
        assert self.trained is not None
        shapes = self.trained.shapes
        return {**super().state(), "sizes": shapes.source_lengths, "lengths": shapes.target_lengths}

    def restore(self, state: dict[str, NDArray]) -> None:
        """Set the parameters, and the shapes of the statistics."""
        super().restore(state)
        if len(self.seen):
            self.trained = Priors(Shapes(state["sizes"], state["lengths"]))

    def fill(self, block: PairBlock, found: Found, *, counting: bool, agreeing: bool) -> tuple[list[NDArray], None]:
        """Posteriors of links, or expected counts of links and, if the model learns them, of positions."""
        from cepts.kernels.lanes import LANES
        from cepts.kernels.mixture import MixtureRoom, PositionCounts, mixture_posteriors

        learning = counting and self.counts_positions
        priors = self.trained if learning else self.priors(Shapes.of(block.pairs))
        assert priors is not None
        tables = [np.zeros(len(getattr(priors, table)) if learning else 0, dtype=np.float32) for table in TABLES]
        matrix, row = matrix_size(block.pairs), LANES * (block.pairs.longest + 1)
        sizes = {"forward": matrix, "reverse": matrix, "nulls": row, "totals": row}
        room = MixtureRoom(pairs=np.zeros(LANES, dtype=np.int64), **laid_out(sizes))
        arrays = block.arrays, priors.arrays(block.pairs)
        mixture_posteriors(*arrays, room, counting, agreeing, found, PositionCounts(*tables))
        return tables, None

    def paths(self, block: PairBlock) -> Paths:
        """The best position of each word, chosen independently."""
        from cepts.kernels.trellis import mixture_paths

        return best_paths(block, partial(mixture_paths, block.arrays, self.priors_of(block)))

    def nbest(self, block: PairBlock, count: int) -> tuple[NBest, NBest]:
        """The most probable alignments, exact."""
        from cepts.kernels.nbest import mixture_lists

        return nbest_lists(block, count, partial(mixture_lists, block.arrays, self.priors_of(block)))

    def priors_of(self, block: PairBlock) -> PriorArrays:
        """The priors of a block, as kernels read them."""
        return self.priors(Shapes.of(block.pairs)).arrays(block.pairs)


class Uniform(IndependentPositions):
    """Model 1: all positions are equally likely, eq. (1e) of ibm12."""

    name = "uniform"
    counts_positions = False

    def priors(self, shapes: Shapes) -> Priors:
        """One over the number of positions."""
        priors = Priors(shapes)
        priors.fill_uniform(self.null_prob)
        return priors


class PositionTable(IndependentPositions):
    """Model 2: P(a_j = i | I, J) is a table learnt for every shape, with null among the positions, eq. (1c) of ibm12.

    A shape that does not occur in training has a uniform prior.
    """

    name = "table"

    def priors(self, shapes: Shapes) -> Priors:
        """The learnt tables of `shapes`."""
        priors = Priors(shapes)
        priors.fill_uniform(self.null_prob)
        known = self.trained
        if known is None or known.shapes is shapes:
            return priors
        copy_shapes(known, [getattr(known, table) for table in TABLES], priors, [getattr(priors, t) for t in TABLES])
        return priors

    def beginning(self) -> list[NDArray]:
        """One more link for each word, with no position more likely than another."""
        assert self.trained is not None
        priors = Priors(self.trained.shapes)
        priors.fill_uniform(self.null_prob)
        return [getattr(priors, table) for table in TABLES]

    def update(self, statistics: list[NDArray]) -> None:
        """Expected counts of positions over their totals."""
        from cepts.kernels.mixture import normalise_tables

        assert self.trained is not None
        priors = self.trained
        forward, reverse, forward_null, reverse_null = statistics
        shapes = (priors.shapes.source_lengths, priors.shapes.target_lengths, priors.offsets)
        learnt = priors.forward, priors.forward_null
        normalise_tables(*shapes, priors.forward_null_offsets, forward, forward_null, False, *learnt)
        learnt = priors.reverse, priors.reverse_null
        normalise_tables(*shapes, priors.reverse_null_offsets, reverse, reverse_null, True, *learnt)

    def state(self) -> dict[str, NDArray]:
        """Shapes and tables."""
        assert self.trained is not None
        priors = self.trained
        return {
            **super().state(),
            "sizes": priors.shapes.source_lengths,
            "lengths": priors.shapes.target_lengths,
            **{table: getattr(priors, table) for table in TABLES},
        }

    def restore(self, state: dict[str, NDArray]) -> None:
        """Set shapes and tables."""
        super().restore(state)
        priors = Priors(Shapes(state["sizes"], state["lengths"]))
        for table in TABLES:
            getattr(priors, table)[:] = state[table]
        self.trained = priors


class DiagonalPrior(IndependentPositions):
    """Model 2 with one parameter for each direction: the higher the *tension*, the closer links lie to the diagonal.

    P(a_j = i | I, J) is proportional to exp(-tension |i/I - j/J|), as in Dyer, Chahuneau and Smith (2013). The M-step
    maximises the expected log-likelihood of the tension exactly; it is concave.
    """

    name = "diagonal"
    learnt = ("tension",)
    TENSIONS = (0.1, 30.0)

    def __init__(self, *, null_prob: float | None = 0.08, tension: float = 4.0) -> None:
        super().__init__(null_prob=0.08 if null_prob is None else null_prob)
        self.tension = np.array([tension, tension])

    def priors(self, shapes: Shapes) -> Priors:
        """The priors under the current tensions."""
        from cepts.kernels.mixture import diagonal_priors

        assert self.null_prob is not None
        priors = Priors(shapes)
        priors.forward_null[:] = self.null_prob
        priors.reverse_null[:] = self.null_prob
        lengths = shapes.source_lengths, shapes.target_lengths, priors.offsets
        diagonal_priors(*lengths, self.tension, 1.0 - self.null_prob, priors.forward, priors.reverse)
        return priors

    def update(self, statistics: list[NDArray]) -> None:
        """Fit the tensions to the expected links."""
        from scipy.optimize import minimize_scalar

        from cepts.kernels.mixture import diagonal_objective

        assert self.trained is not None
        shapes = self.trained.shapes
        for direction in range(2):
            arrays = (shapes.source_lengths, shapes.target_lengths, self.trained.offsets)

            def loss(tension: float, arrays: tuple = arrays, direction: int = direction) -> float:
                return -diagonal_objective(*arrays, tension, statistics[direction], direction == 1)

            found = minimize_scalar(loss, bounds=self.TENSIONS, method="bounded", options={"xatol": 1e-4})
            # A search with a tolerance may end slightly below where it began, which EM must not do.
            if found.fun <= loss(float(self.tension[direction])):
                self.tension[direction] = found.x
        self.trained = self.priors(shapes)

    def restore(self, state: dict[str, NDArray]) -> None:
        """Set the tensions."""
        super().restore(state)
        if self.trained is not None:
            self.trained = self.priors(self.trained.shapes)
