"""Position models, each of which runs the E-step of a block of sentence pairs.

A position model does not know words: it gets the lexicon entry of every token pair and computes posteriors from these,
in both directions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import NBest
from cepts.words.blocks import PairBlock
from cepts.words.index import Pairs
from cepts.words.text import TextFacts

if TYPE_CHECKING:
    from cepts.kernels.blocks import Found

# How many pairs are enough to learn positions, of which there are few parameters.
ENOUGH_PAIRS = 20_000
# For each source token its target position and for each target token its source position, -1 for null.
Paths = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """What an E-step finds in a block.

    `counts` are expected counts by cell: one column if the directions agree, otherwise one for each direction.
    `forward` and `reverse` are posteriors by token pair; if the directions agree, `forward` is the geometric mean and
    `reverse` is empty. An E-step finds either counts or posteriors. `source_free` and `target_free` are the posteriors
    of null by token, `log_likelihoods` is pairs x directions, and `statistics` are those of the position model. `paths`
    are those that `Positions.paths` would give, if the E-step finds them too.
    """

    counts: NDArray[np.float32]
    forward: NDArray[np.float32]
    reverse: NDArray[np.float32]
    source_free: NDArray[np.float32]
    target_free: NDArray[np.float32]
    log_likelihoods: NDArray[np.float64]
    statistics: list[NDArray]
    paths: Paths | None = None

    @property
    def found(self) -> Found:
        """What kernels read of it."""
        from cepts.kernels.blocks import Found

        return Found._make(getattr(self, name) for name in Found._fields)


@dataclass(frozen=True, slots=True, eq=False)
class EarlierPositions:
    """What a position model of the same kind learnt from an earlier text, and how much that counts.

    `state` is what `Positions.state` returned; `source` and `target` are the present numbers of its words.
    """

    state: Mapping[str, NDArray]
    weight: float
    source: NDArray[np.int32]
    target: NDArray[np.int32]

    @property
    def seen(self) -> list[NDArray]:
        """The statistics of the earlier text; none if the model learns nothing."""
        return seen_in(self.state)


class Stage(NamedTuple):
    """A stage of training: its name, the position model and the number of iterations.

    Where `only_positions`, the lexicon stays what it is; part of the text is then enough.
    """

    name: str
    positions: Positions
    iterations: int
    only_positions: bool = False

    def shards(self, pairs: Sequence[int]) -> range:
        """The shards that the stage needs of a text, which has so many pairs in each of its shards."""
        before = np.cumsum(pairs) - pairs
        return range(int((before < ENOUGH_PAIRS).sum()) if self.only_positions else len(pairs))


class Positions(ABC):
    """A position model of both directions.

    `seen` are the statistics behind the learnt parameters, of the whole text; none before training. `earlier` are those
    of earlier texts, which are added to those of the text that the model is trained on.
    """

    name = ""
    # The arrays that training sets, which are saved.
    learnt: ClassVar[tuple[str, ...]] = ()
    # If the directions agree, only every so many-th batch of pairs has statistics.
    stride = 1
    seen: Sequence[NDArray] = ()
    earlier: Sequence[NDArray] = ()

    @property
    def parts(self) -> Sequence[Positions]:
        """Other position models that this one contains, and prepares with itself."""
        return ()

    @property
    def exact(self) -> bool:
        """Whether posteriors are exact and `update` never lowers the likelihood."""
        return True

    def prepare(self, text: TextFacts) -> None:
        """Allocate what training on a text needs."""

    def widen(self, text: Pairs | TextFacts) -> None:
        """Extend the model to the longest sentence of a text, before threads use it."""

    def expect(self, block: PairBlock, *, agreeing: bool) -> Expected:
        """Expected counts of a block; if `agreeing`, from the product of the posteriors of both directions."""
        counts = np.zeros((len(block.lexicon), 1 if agreeing else 2), dtype=np.float32)
        nothing = np.empty(0, dtype=np.float32)
        return self._expected(block, counts, nothing, nothing, counting=True, agreeing=agreeing)

    def posterior(self, block: PairBlock, *, agreeing: bool = False) -> Expected:
        """Posteriors of a block; if `agreeing`, the geometric mean of those of both directions."""
        forward = np.empty(len(block.cells), dtype=np.float32)
        reverse = np.empty(0 if agreeing else len(block.cells), dtype=np.float32)
        counts = np.empty((0, 1), dtype=np.float32)
        return self._expected(block, counts, forward, reverse, counting=False, agreeing=agreeing)

    def _expected(self, block: PairBlock, *room: NDArray[np.float32], counting: bool, agreeing: bool) -> Expected:
        from cepts.kernels.blocks import Found

        pairs = block.pairs
        free = (np.zeros(len(ids), dtype=np.float32) for ids in (pairs.source_ids, pairs.target_ids))
        # Empty pairs keep a log-likelihood of 0.
        found = Found._make((*room, *free, np.zeros((len(pairs), 2))))
        return Expected(*found, *self.fill(block, found, counting=counting, agreeing=agreeing))

    @abstractmethod
    def fill(
        self, block: PairBlock, found: Found, *, counting: bool, agreeing: bool
    ) -> tuple[list[NDArray], Paths | None]:
        """Fill `found` by an E-step; return the statistics if `counting`, and the paths if they are found too."""

    @abstractmethod
    def paths(self, block: PairBlock) -> Paths:
        """Most probable alignment in each direction."""

    @abstractmethod
    def nbest(self, block: PairBlock, count: int) -> tuple[NBest, NBest]:
        """The `count` most probable alignments (or all, if there are fewer), forward and reverse."""

    def update(self, statistics: list[NDArray]) -> None:
        """M-step, from the sum of the statistics of all blocks."""

    def add_earlier(self, earlier: EarlierPositions) -> None:
        """Add the statistics of an earlier text to those with which this model is trained."""

    def learn(self, statistics: Sequence[NDArray], *, share: float = 1.0, starting: bool = False) -> None:
        """M-step, from the statistics of a `share` of the text (none if there is no text) and of earlier texts.

        A model that is only starting must not rule out what earlier texts do not have.
        """
        found = list(statistics) or [np.zeros_like(each) for each in self.earlier]
        if self.earlier:
            found = [mine + share * other for mine, other in zip(found, self.earlier, strict=True)]
        self.seen = [each / share for each in found if each.size]
        if starting and found:
            found = [each + more for each, more in zip(found, self.beginning(), strict=True)]
        if found:
            self.update(found)

    def beginning(self) -> list[NDArray]:
        """Statistics to start with, in addition to those of earlier texts."""
        return [np.zeros_like(each) for each in self.earlier]

    def _join(self, statistics: Sequence[NDArray], weight: float) -> None:
        """Add statistics that already have the layout of this model to those of earlier texts."""
        added = [weight * each for each in statistics]
        self.earlier = [mine + more for mine, more in zip(self.earlier, added, strict=True)] if self.earlier else added

    def state(self) -> dict[str, NDArray]:
        """The parameters as arrays, and the statistics behind them."""
        seen = {f"seen.{place}": array for place, array in enumerate(self.seen)}
        return {**{name: getattr(self, name) for name in self.learnt}, **seen}

    def restore(self, state: dict[str, NDArray]) -> None:
        """Set the parameters that `state` returned."""
        for name in self.learnt:
            setattr(self, name, np.array(state[name], order="C"))
        self.seen = seen_in(state)


def seen_in(state: Mapping[str, NDArray]) -> list[NDArray]:
    """The statistics in the state of a position model."""
    return [state[f"seen.{place}"] for place in range(sum(name.startswith("seen.") for name in state))]
