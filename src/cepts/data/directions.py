"""What a scorer computes for sentence pairs; extractors read nothing else."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cepts.data.association import Association, geometric_mean
from cepts.data.lazy import lazy_property
from cepts.data.links import Alignments
from cepts.errors import UsageError

if TYPE_CHECKING:
    from cepts.data.links import NBest
    from cepts.data.sentences import Segments

Made = TypeVar("Made")


class Pulls(NamedTuple):
    """For each token, the probabilities that it belongs to the word before it and to the word after it.

    What remains of 1 is the probability that it belongs to neither.
    """

    before: NDArray[np.float32]
    after: NDArray[np.float32]


class Directions:
    """What a scorer computes for a run of sentence pairs, in both directions.

    Each property is computed when it is first used, and only once. A scorer subclasses this class, defines `forward`
    and `reverse`, and overrides other properties where it has better values than those that follow from these two.

    Attributes
    ----------
    first
        Index of the first pair of the run among all pairs that are scored.
    threshold
        Default for ``agreement``: the least agreement that makes a link.
    looseness
        Default for ``onmf``: a word stays in its cept only if its associations with the cept's words on the other side
        add up to this much. None keeps every word in its cept.
    has_log_probabilities
        Whether `scores` are log P(target | source) and log P(source | target).
    """

    first: int = 0
    threshold: float = 0.4
    looseness: float | None = None
    has_log_probabilities: bool = False

    # What messages call the scorer.
    name: str = "this scorer"

    @lazy_property
    def forward(self) -> Association:
        """P(link) in the direction that explains the target by the source, with P(null) of the target words."""
        raise NotImplementedError

    @lazy_property
    def reverse(self) -> Association:
        """P(link) in the direction that explains the source by the target, with P(null) of the source words."""
        raise NotImplementedError

    @lazy_property
    def agreement(self) -> Association:
        """Geometric mean of the two directions, with the null masses of both."""
        return geometric_mean(self.forward, self.reverse)

    @lazy_property
    def for_cepts(self) -> Association:
        """The probabilities from which cepts are made, by default the agreement."""
        return self.agreement

    @lazy_property
    def counts(self) -> Association | None:
        """The counts that are factorised into cepts; if None, `for_cepts` is scaled to counts."""
        return None

    @lazy_property
    def paths(self) -> tuple[Alignments, Alignments] | None:
        """The most probable alignment of each direction; if None, each word is linked to its best partner."""
        return None

    @lazy_property
    def scores(self) -> NDArray[np.float64]:
        """Score of each pair in both directions (pairs x 2); those of a word model are log-probabilities."""
        raise UsageError(f"{self.name} gives no scores of whole pairs; leave out `scores`.")

    @lazy_property
    def pulls(self) -> tuple[Pulls, Pulls] | None:
        """How closely the source words and the target words belong to their neighbours; None if this is not known."""
        return None

    @lazy_property
    def frequencies(self) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """How often each source token and each target token occurs in the training text; None if this is not known."""
        return None

    def confidences(self, links: Alignments) -> NDArray[np.float32]:
        """The share of links like each of `links` that is right, as far as is known; by default, its agreement.

        `links` are cells of `agreement`, and their confidences its values.
        """
        return links.confidence

    def least_agreement(self, confidence: float) -> float:
        """The least agreement with which a link can have this confidence; see `confidences`."""
        return confidence

    def lists(self, count: int) -> tuple[NBest, NBest]:
        """The `count` most probable alignments of each pair, forward and reverse."""
        raise UsageError(f"{self.name} gives no lists of alignments; choose another `association`.")

    def tables(self) -> Association:
        """Mean over both directions of lexicon x P(position), not normalised over the sentence."""
        raise UsageError(f"{self.name} has no lexicon; choose another `association`.")

    def statistic(self, name: str) -> Association:
        """Co-occurrence statistic of the training text: ``counts``, ``dice``, ``pmi`` or ``llr``."""
        raise UsageError(f"{self.name} has no co-occurrence counts; choose another `association`.")

    def segments(self, links: Alignments) -> Segments | None:
        """The phrases that `links` form; None if the scorer knows only words."""
        return None

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the result of `make()`, which is kept under `key` for later calls."""
        kept: dict[Hashable, Any] = self.__dict__.setdefault("_kept", {})
        if key not in kept:
            kept[key] = make()
        made: Made = kept[key]
        return made


class GivenDirections(Directions):
    """Directions whose matrices exist already; the parameters are the properties of `Directions`."""

    def __init__(
        self,
        forward: Association,
        reverse: Association,
        *,
        first: int = 0,
        paths: tuple[Alignments, Alignments] | None = None,
        scores: NDArray[np.float64] | None = None,
        pulls: tuple[Pulls, Pulls] | None = None,
        threshold: float = Directions.threshold,
        has_log_probabilities: bool = False,
        name: str = Directions.name,
    ) -> None:
        self.forward, self.reverse = forward, reverse
        self.paths, self.pulls = paths, pulls
        if scores is not None:
            self.scores = scores
        self.first, self.threshold, self.name = first, threshold, name
        self.has_log_probabilities = has_log_probabilities


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The directions of many pairs, divided into runs, each of which is computed by the thread that uses it.

    Attributes
    ----------
    makers
        Functions that return the `Directions` of each run, in order; each is called once.
    pairs
        Number of pairs in all runs, or a function that returns the current estimate if it is known only at the end.
    groups
        For groups of consecutive runs: how many runs there are, and a function that returns, for each pair of the
        group's part of the text, its index among the pairs of these runs. None if the runs have the pairs of the text
        in order. This allows a scorer to process each distinct pair only once.
    threads
        Number of threads that compute the runs; None is one for each processor.
    """

    makers: Iterable[Callable[[], Directions]]
    pairs: int | Callable[[], int]
    groups: Sequence[tuple[int, Callable[[], NDArray[np.int64]]]] | None = None
    threads: int | None = None


class Scorer(Protocol):
    """What a class needs to be a scorer: it says how strongly the words of sentence pairs are associated."""

    @property
    def max_length(self) -> int | None:
        """Pairs with a longer sentence on either side are left unaligned; None aligns all pairs."""

    def directions(self, pairs: Any, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """Score `pairs`, run by run.

        Parameters
        ----------
        pairs
            A `Bitext`, or anything that `cepts.data.as_bitext` accepts. Scorers of annotated text also read the
            annotation of `SentencePair`.
        cells
            About how many cells (source word x target word) a run should have; None leaves this to the scorer.
        in_order
            Whether the runs must have every pair of the text, in order. Otherwise the scorer may process each distinct
            pair only once, see `Runs`.
        """
