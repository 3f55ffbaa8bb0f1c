"""Position models, each of which runs the E-step of a block of sentence pairs.

A position model does not know words: it gets the lexicon entries of every token pair and turns them into posteriors,
in both directions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.data import NBest
from cepts.words.index import Pairs

if TYPE_CHECKING:
    from cepts.kernels.blocks import BlockArrays, Found


@dataclass(frozen=True, slots=True, eq=False)
class PairBlock:
    """Sentence pairs with everything that an E-step reads: the lexicon by cell, and t(word | null) by token.

    `source_words` and `target_words` are the tokens' numbers in the model's vocabularies, -1 where it does not know
    them. `times`, where given, is how often each pair counts.
    """

    pairs: Pairs
    cell_offsets: NDArray[np.int64]
    order: NDArray[np.int64]
    cells: NDArray[np.int32]
    lexicon: NDArray[np.float32]
    source_given_null: NDArray[np.float32]
    target_given_null: NDArray[np.float32]
    source_words: NDArray[np.int32]
    target_words: NDArray[np.int32]
    times: NDArray[np.float32] | None = None

    @property
    def arrays(self) -> BlockArrays:
        """What kernels read."""
        from cepts.kernels.blocks import BlockArrays

        return BlockArrays(
            self.order,
            self.pairs.source_offsets,
            self.pairs.target_offsets,
            self.cell_offsets,
            self.cells,
            self.lexicon,
            self.source_given_null,
            self.target_given_null,
            np.ones(len(self.pairs), dtype=np.float32) if self.times is None else self.times,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedCounts:
    """What an E-step finds in a block.

    `counts` by cell: one column where the directions agree, else one each; `source_free` and `target_free` are the
    posteriors of null by token, `statistics` the position model's own, `log_likelihoods` pairs x directions.
    """

    counts: NDArray[np.float32]
    source_free: NDArray[np.float32]
    target_free: NDArray[np.float32]
    statistics: list[NDArray]
    log_likelihoods: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """P(link) by token pair in either direction, P(null) by token, log-likelihoods by pair and direction.

    Of directions that agree, `forward` is the geometric mean and `reverse` is empty. `paths` are the alignments that
    `Positions.paths` would give, where the model finds them on the way.
    """

    forward: NDArray[np.float32]
    reverse: NDArray[np.float32]
    source_free: NDArray[np.float32]
    target_free: NDArray[np.float32]
    log_likelihoods: NDArray[np.float64]
    paths: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None


class Positions(ABC):
    """A position model of both directions."""

    name = ""

    @property
    def exact(self) -> bool:
        """Whether posteriors are exact and `update` never lowers the likelihood."""
        return True

    def prepare(self, pairs: Pairs) -> None:
        """Allocate what training on `pairs` needs."""

    def widen(self, pairs: Pairs) -> None:
        """Extend the model to the longest sentence of `pairs`, before threads use it."""

    @abstractmethod
    def expect(self, block: PairBlock, *, agreeing: bool) -> ExpectedCounts:
        """Expected counts of a block; where `agreeing`, of the product of the directions' posteriors."""

    @abstractmethod
    def posterior(self, block: PairBlock, *, agreeing: bool = False) -> Posterior:
        """Posteriors of a block; where `agreeing`, the geometric mean of the two directions'."""

    @abstractmethod
    def paths(self, block: PairBlock) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Most probable alignment in each direction.

        For each source token its target position and for each target token its source position, -1 for null.
        """

    @abstractmethod
    def nbest(self, block: PairBlock, count: int) -> tuple[NBest, NBest]:
        """The `count` most probable alignments of either direction (fewer where there are fewer), forward first."""

    @abstractmethod
    def update(self, statistics: list[NDArray]) -> None:
        """M-step, from the statistics of all blocks added up."""

    @abstractmethod
    def state(self) -> dict[str, NDArray]:
        """The parameters as arrays."""

    @abstractmethod
    def restore(self, state: dict[str, NDArray]) -> None:
        """Set the parameters that `state` gave."""


def room_to_count(block: PairBlock, *, agreeing: bool) -> Found:
    """Zeroed counts, posteriors of null and log-likelihoods (which stay zero for empty pairs)."""
    return _room(block, np.zeros((len(block.lexicon), 1 if agreeing else 2), dtype=np.float32), NOTHING, NOTHING)


def room_for_posteriors(block: PairBlock, *, agreeing: bool) -> Found:
    """Room for posteriors; of directions that agree, those of one."""
    forward = np.empty(len(block.cells), dtype=np.float32)
    reverse = np.empty(0 if agreeing else len(block.cells), dtype=np.float32)
    return _room(block, np.empty((0, 1), dtype=np.float32), forward, reverse)


def _room(block: PairBlock, counts: NDArray, forward: NDArray, reverse: NDArray) -> Found:
    from cepts.kernels.blocks import Found

    return Found(
        counts,
        forward,
        reverse,
        np.zeros(len(block.pairs.source_ids), dtype=np.float32),
        np.zeros(len(block.pairs.target_ids), dtype=np.float32),
        np.zeros((len(block.pairs), 2)),
    )


NOTHING = np.empty(0, dtype=np.float32)
