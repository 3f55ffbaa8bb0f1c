"""Where links go: the position models, each of which runs the E-step of a block of sentence pairs.

A position model knows nothing of words: it is given the lexicon entries of every token pair and turns them into
posteriors, in both directions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data import NBest
from cepts.words.index import Pairs

__all__ = ["Block", "Expected", "Positions", "Posterior"]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Sentence pairs with all that an E-step reads: the lexicon by cell, and t(word | null) by token.

    `source_words` and `target_words` are the tokens' numbers in the model's vocabularies, -1 where it does not know
    them. `times`, where given, is how often each pair counts.
    """

    pairs: Pairs
    cell_offsets: NDArray[np.int64]
    order: NDArray[np.int64]
    cells: NDArray[np.int32]
    lexicon: NDArray[np.float32]
    source_null: NDArray[np.float32]
    target_null: NDArray[np.float32]
    source_words: NDArray[np.int32]
    target_words: NDArray[np.int32]
    times: NDArray[np.float32] | None = None

    @property
    def arrays(self) -> tuple[NDArray, ...]:
        """What every kernel reads first, in its order."""
        return (
            self.order,
            self.pairs.source_offsets,
            self.pairs.target_offsets,
            self.cell_offsets,
            self.cells,
            self.lexicon,
            self.source_null,
            self.target_null,
            np.ones(len(self.pairs), dtype=np.float32) if self.times is None else self.times,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """What an E-step found in a block.

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

    Of directions that agree, `forward` is the geometric mean and `reverse` is empty.
    """

    forward: NDArray[np.float32]
    reverse: NDArray[np.float32]
    source_free: NDArray[np.float32]
    target_free: NDArray[np.float32]
    log_likelihoods: NDArray[np.float64]


class Positions(ABC):
    """A position model of both directions."""

    name = ""

    def prepare(self, pairs: Pairs) -> None:
        """Make room for all that training on `pairs` will need."""

    def widen(self, pairs: Pairs) -> None:
        """Make sure that the model reaches over the longest sentence of `pairs`, before threads use it."""

    @abstractmethod
    def expect(self, block: Block, *, agreeing: bool) -> Expected:
        """Expected counts of a block; where `agreeing`, of the product of the directions' posteriors."""

    @abstractmethod
    def posterior(self, block: Block, *, agreeing: bool = False) -> Posterior:
        """Posteriors of a block; where `agreeing`, the geometric mean of the two directions'."""

    @abstractmethod
    def paths(self, block: Block) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Most probable alignment in each direction.

        For each source token its target position and for each target token its source position, -1 for null.
        """

    @abstractmethod
    def nbest(self, block: Block, count: int) -> tuple[NBest, NBest]:
        """The `count` most probable alignments of either direction (fewer where there are fewer), forward first."""

    @abstractmethod
    def update(self, statistics: list[NDArray]) -> None:
        """M-step, from the statistics of all blocks added up."""

    @abstractmethod
    def state(self) -> dict[str, NDArray]:
        """The parameters as arrays."""

    @abstractmethod
    def restore(self, state: dict[str, NDArray]) -> None:
        """Take parameters that `state` gave."""


def room(block: Block, *, columns: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Zeroed counts, room for the posteriors of null, and room for log-likelihoods (zero for empty pairs)."""
    return (
        np.zeros((len(block.lexicon), columns), dtype=np.float32),
        np.zeros(len(block.pairs.source_ids), dtype=np.float32),
        np.zeros(len(block.pairs.target_ids), dtype=np.float32),
        np.zeros((len(block.pairs), 2)),
    )


NOTHING = np.empty(0, dtype=np.float32)
NO_COUNTS = np.empty((0, 1), dtype=np.float32)
