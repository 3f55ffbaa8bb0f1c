"""Position models whose links are independent of one another: Models 1 and 2 of ibm12, and the diagonal model."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import NBest, offsets_of
from cepts.words.index import Pairs
from cepts.words.nbest import Fill, best_paths, nbest_lists
from cepts.words.positions import NO_COUNTS, NOTHING, Block, Expected, Positions, Posterior, room

__all__ = ["DiagonalPrior", "PositionTable", "Uniform"]


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """The distinct (I, J) of some sentence pairs, in ascending order, and where their tables start."""

    sizes: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, pairs: Pairs) -> Shapes:
        """Shapes of `pairs`, empty ones left out."""
        keys = np.unique(_keys(pairs.source_lengths, pairs.target_lengths))
        sizes, lengths = keys >> 32, keys & 0xFFFFFFFF
        full = (sizes > 0) & (lengths > 0)
        return cls(sizes[full], lengths[full])

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each shape's I x J table starts."""
        return offsets_of(self.sizes * self.lengths)

    def places(self, pairs: Pairs) -> NDArray[np.int64]:
        """Place of each pair's shape (for an empty pair, any)."""
        return np.searchsorted(_keys(self.sizes, self.lengths), _keys(pairs.source_lengths, pairs.target_lengths))


def _keys(sizes: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return (sizes << 32) | lengths


class Priors:
    """P(position) of both directions for each of some shapes, as flat tables; null by word."""

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self.offsets = shapes.offsets
        self.forward_null_offsets = offsets_of(shapes.lengths)
        self.reverse_null_offsets = offsets_of(shapes.sizes)
        self.forward = np.empty(int(self.offsets[-1]), dtype=np.float32)
        self.reverse = np.empty(int(self.offsets[-1]), dtype=np.float32)
        self.forward_null = np.empty(int(self.forward_null_offsets[-1]), dtype=np.float32)
        self.reverse_null = np.empty(int(self.reverse_null_offsets[-1]), dtype=np.float32)

    def fill_uniform(self, null_prob: float | None) -> None:
        """The same probability for every position; null one position among them, or of its own probability."""
        cells = self.shapes.sizes * self.shapes.lengths
        sizes, lengths = self.shapes.sizes, self.shapes.lengths
        ahead_null = 1.0 / (sizes + 1) if null_prob is None else np.full(len(sizes), null_prob)
        back_null = 1.0 / (lengths + 1) if null_prob is None else np.full(len(sizes), null_prob)
        self.forward[:] = np.repeat((1.0 - ahead_null) / sizes, cells)
        self.reverse[:] = np.repeat((1.0 - back_null) / lengths, cells)
        self.forward_null[:] = np.repeat(ahead_null, lengths)
        self.reverse_null[:] = np.repeat(back_null, sizes)

    def arrays(self) -> tuple[NDArray, ...]:
        """The tables in the order in which the kernel takes them."""
        return (
            self.offsets,
            self.forward,
            self.reverse,
            self.forward_null,
            self.forward_null_offsets,
            self.reverse_null,
            self.reverse_null_offsets,
        )


class Mixture(Positions):
    """A model that draws each target word's link on its own, eq. (1d) of ibm12.

    Parameters
    ----------
    null_prob
        P(null); None makes null one position like the others, as in ibm12.
    """

    counts_positions = True

    def __init__(self, *, null_prob: float | None = None) -> None:
        if null_prob is not None and not 0 <= null_prob < 1:
            raise ValueError(f"null_prob must lie in [0, 1). Got {null_prob} instead.")
        self.null_prob = null_prob
        self.trained: Priors | None = None

    @abstractmethod
    def priors(self, shapes: Shapes) -> Priors:
        """The present priors of `shapes`."""

    def prepare(self, pairs: Pairs) -> None:
        """Tables for the shapes of `pairs`."""
        self.trained = self.priors(Shapes.of(pairs))

    def expect(self, block: Block, *, agreeing: bool) -> Expected:
        """Expected counts of links, and of positions where the model learns them."""
        from cepts.kernels.mixture import mixture_posteriors

        assert self.trained is not None
        counts, source_free, target_free, log_likelihoods = room(block, columns=1 if agreeing else 2)
        tables = [
            np.zeros(len(table) if self.counts_positions else 0, dtype=np.float32)
            for table in (
                self.trained.forward,
                self.trained.reverse,
                self.trained.forward_null,
                self.trained.reverse_null,
            )
        ]
        mixture_posteriors(
            *self._read(block, self.trained),
            True,
            agreeing,
            block.pairs.longest,
            counts,
            NOTHING,
            NOTHING,
            source_free,
            target_free,
            *tables,
            log_likelihoods,
        )
        return Expected(counts, source_free, target_free, tables, log_likelihoods)

    def posterior(self, block: Block, *, agreeing: bool = False) -> Posterior:
        """Posteriors of links and of null."""
        from cepts.kernels.mixture import mixture_posteriors

        _, source_free, target_free, log_likelihoods = room(block, columns=0)
        forward = np.empty(len(block.cells), dtype=np.float32)
        reverse = np.empty(0 if agreeing else len(block.cells), dtype=np.float32)
        mixture_posteriors(
            *self._read(block, self.priors(Shapes.of(block.pairs))),
            False,
            agreeing,
            block.pairs.longest,
            NO_COUNTS,
            forward,
            reverse,
            source_free,
            target_free,
            NOTHING,
            NOTHING,
            NOTHING,
            NOTHING,
            log_likelihoods,
        )
        return Posterior(forward, reverse, source_free, target_free, log_likelihoods)

    def paths(self, block: Block) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first of each list: the best position of each word by itself."""
        return best_paths(block, self._lists(block))

    def nbest(self, block: Block, count: int) -> tuple[NBest, NBest]:
        """The most probable alignments, exact."""
        return nbest_lists(block, count, self._lists(block))

    def _lists(self, block: Block) -> Fill:
        from cepts.kernels.nbest import mixture_lists

        return partial(mixture_lists, *self._read(block, self.priors(Shapes.of(block.pairs))), block.pairs.longest)

    def _read(self, block: Block, priors: Priors) -> tuple[Any, ...]:
        return (*block.arrays, priors.shapes.places(block.pairs), *priors.arrays())


class Uniform(Mixture):
    """Model 1: every position is as likely as every other, eq. (1e) of ibm12."""

    name = "uniform"
    counts_positions = False

    def priors(self, shapes: Shapes) -> Priors:
        """One over the number of positions."""
        priors = Priors(shapes)
        priors.fill_uniform(self.null_prob)
        return priors

    def update(self, statistics: list[NDArray]) -> None:
        """There is nothing to learn."""

    def state(self) -> dict[str, NDArray]:
        """There are no parameters."""
        return {}

    def restore(self, state: dict[str, NDArray]) -> None:
        """There are no parameters."""


class PositionTable(Mixture):
    """Model 2: P(a_j = i | I, J), null among the positions, is a table learnt for every shape, eq. (1c) of ibm12.

    A shape that training never saw has the uniform prior.
    """

    name = "table"

    def __init__(self, *, null_prob: float | None = None) -> None:
        super().__init__(null_prob=null_prob)

    def priors(self, shapes: Shapes) -> Priors:
        """The learnt tables of `shapes`."""
        priors = Priors(shapes)
        priors.fill_uniform(self.null_prob)
        known = self.trained
        if known is None or known.shapes is shapes:
            return priors
        keys = _keys(known.shapes.sizes, known.shapes.lengths)
        wanted = _keys(shapes.sizes, shapes.lengths)
        places = np.searchsorted(keys, wanted)
        for shape, place in enumerate(places):
            if place < len(keys) and keys[place] == wanted[shape]:
                for ours, theirs, here, there in (
                    (priors.forward, known.forward, priors.offsets, known.offsets),
                    (priors.reverse, known.reverse, priors.offsets, known.offsets),
                    (
                        priors.forward_null,
                        known.forward_null,
                        priors.forward_null_offsets,
                        known.forward_null_offsets,
                    ),
                    (
                        priors.reverse_null,
                        known.reverse_null,
                        priors.reverse_null_offsets,
                        known.reverse_null_offsets,
                    ),
                ):
                    ours[here[shape] : here[shape + 1]] = theirs[there[place] : there[place + 1]]
        return priors

    def update(self, statistics: list[NDArray]) -> None:
        """Expected counts of positions over their totals."""
        from cepts.kernels.mixture import normalise_tables

        assert self.trained is not None
        priors = self.trained
        forward, reverse, forward_null, reverse_null = statistics
        shapes = (priors.shapes.sizes, priors.shapes.lengths, priors.offsets)
        normalise_tables(
            *shapes,
            priors.forward_null_offsets,
            forward,
            forward_null,
            False,
            priors.forward,
            priors.forward_null,
        )
        normalise_tables(
            *shapes,
            priors.reverse_null_offsets,
            reverse,
            reverse_null,
            True,
            priors.reverse,
            priors.reverse_null,
        )

    def state(self) -> dict[str, NDArray]:
        """Shapes and tables."""
        assert self.trained is not None
        priors = self.trained
        return {
            "sizes": priors.shapes.sizes,
            "lengths": priors.shapes.lengths,
            "forward": priors.forward,
            "reverse": priors.reverse,
            "forward_null": priors.forward_null,
            "reverse_null": priors.reverse_null,
        }

    def restore(self, state: dict[str, NDArray]) -> None:
        """Take shapes and tables."""
        priors = Priors(Shapes(state["sizes"], state["lengths"]))
        priors.forward[:] = state["forward"]
        priors.reverse[:] = state["reverse"]
        priors.forward_null[:] = state["forward_null"]
        priors.reverse_null[:] = state["reverse_null"]
        self.trained = priors


class DiagonalPrior(Mixture):
    """Model 2 with one parameter a direction: links lie near the diagonal, the nearer the higher the *tension*.

    P(a_j = i | I, J) is proportional to exp(-tension |i/I - j/J|), as in Dyer, Chahuneau and Smith (2013). The M-step
    maximises the expected log-likelihood of the tension exactly; it is concave.
    """

    name = "diagonal"
    TENSIONS = (0.1, 30.0)

    def __init__(self, *, null_prob: float | None = 0.08, tension: float = 4.0) -> None:
        super().__init__(null_prob=0.08 if null_prob is None else null_prob)
        self.tension = np.array([tension, tension])

    def priors(self, shapes: Shapes) -> Priors:
        """The priors under the present tensions."""
        from cepts.kernels.mixture import diagonal_priors

        assert self.null_prob is not None
        priors = Priors(shapes)
        priors.forward_null[:] = self.null_prob
        priors.reverse_null[:] = self.null_prob
        diagonal_priors(
            shapes.sizes,
            shapes.lengths,
            priors.offsets,
            self.tension,
            1.0 - self.null_prob,
            priors.forward,
            priors.reverse,
        )
        return priors

    def update(self, statistics: list[NDArray]) -> None:
        """Fit the tensions to the expected links."""
        from scipy.optimize import minimize_scalar

        from cepts.kernels.mixture import diagonal_objective

        assert self.trained is not None
        shapes = self.trained.shapes
        for direction in range(2):
            arrays = (shapes.sizes, shapes.lengths, self.trained.offsets)

            def loss(tension: float, arrays: tuple = arrays, direction: int = direction) -> float:
                return -diagonal_objective(*arrays, tension, statistics[direction], direction == 1)

            found = minimize_scalar(loss, bounds=self.TENSIONS, method="bounded", options={"xatol": 1e-4})
            # A search to a tolerance may end a hair below where it began; EM must not.
            if found.fun <= loss(float(self.tension[direction])):
                self.tension[direction] = found.x
        self.trained = self.priors(shapes)

    def state(self) -> dict[str, NDArray]:
        """The tensions."""
        return {"tension": self.tension}

    def restore(self, state: dict[str, NDArray]) -> None:
        """Take the tensions."""
        self.tension = state["tension"].astype(np.float64)
        if self.trained is not None:
            self.trained = self.priors(self.trained.shapes)
