"""What a scorer says about sentence pairs, which is all that an extractor reads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cepts.data.association import Association, geometric_mean
from cepts.data.links import Alignments
from cepts.errors import UsageError

if TYPE_CHECKING:
    from cepts.data.links import NBest
    from cepts.data.sentences import Segments

Made = TypeVar("Made")


class Pulls(NamedTuple):
    """P(a token belongs to the word before it), and to the word after it; the rest of 1 is P(neither)."""

    before: NDArray[np.float32]
    after: NDArray[np.float32]


class Directions:
    """What a scorer says about a run of sentence pairs, in both directions.

    Nothing is computed before it is asked for, and nothing twice. A scorer subclasses this and gives `forward` and
    `reverse`, and whatever else it knows better than these two tell.

    Attributes
    ----------
    first
        Place of the run's first pair among all pairs that were scored.
    threshold
        The least agreement of a link, unless the user says otherwise.
    looseness
        For cepts: how much a word must have in common with its cept to stay in it, unless the user says otherwise; None
        keeps every word in its cept.
    """

    first: int = 0
    threshold: float = 0.4
    looseness: float | None = None

    # What messages call the scorer.
    name: str = "this scorer"

    @cached_property
    def forward(self) -> Association:
        """P(link) of the direction that explains the target by the source, with P(null) of the target words."""
        raise NotImplementedError

    @cached_property
    def reverse(self) -> Association:
        """P(link) of the direction that explains the source by the target, with P(null) of the source words."""
        raise NotImplementedError

    @cached_property
    def agreement(self) -> Association:
        """Geometric mean of the two directions, with both null masses."""
        return geometric_mean(self.forward, self.reverse)

    @cached_property
    def for_cepts(self) -> Association:
        """The probabilities from which cepts are made."""
        return self.agreement

    @cached_property
    def counts(self) -> Association | None:
        """What is factorised, where the matrices are in counts already; None has `for_cepts` put on that scale."""
        return None

    @cached_property
    def paths(self) -> tuple[Alignments, Alignments] | None:
        """The most probable alignment of each direction; None where each word's best partner is all that is known."""
        return None

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """A score of each pair in both directions (pairs x 2): log-probabilities of a model of text."""
        raise UsageError(f"{self.name} gives no scores of whole pairs; leave out `scores`.")

    @cached_property
    def pulls(self) -> tuple[Pulls, Pulls] | None:
        """How closely the words of each side belong to their neighbours; None where this is not known."""
        return None

    def lists(self, count: int) -> tuple[NBest, NBest]:
        """The `count` most probable alignments of each pair, forward and reverse."""
        raise UsageError(f"{self.name} gives no lists of alignments; choose another `association`.")

    def tables(self) -> Association:
        """Mean of both directions' lexicon x P(position), not normalised over the sentence."""
        raise UsageError(f"{self.name} has no lexicon; choose another `association`.")

    def statistic(self, name: str) -> Association:
        """A co-occurrence statistic of the training text, by name."""
        raise UsageError(f"{self.name} has counted no text; choose another `association`.")

    def segments(self, links: Alignments) -> Segments | None:
        """The phrases that `links` form; None where the scorer knows words alone."""
        return None

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` makes, kept under `key` for later calls."""
        kept: dict[Hashable, Any] = self.__dict__.setdefault("_kept", {})
        if key not in kept:
            kept[key] = make()
        made: Made = kept[key]
        return made


class GivenDirections(Directions):
    """Matrices that exist already: those of users, of spaces, of mixtures."""

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
        name: str = Directions.name,
    ) -> None:
        self.forward, self.reverse = forward, reverse
        self.paths, self.pulls = paths, pulls
        if scores is not None:
            self.scores = scores
        self.first, self.threshold, self.name = first, threshold, name


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The directions of many pairs, run by run, each made by the thread that reads it.

    Attributes
    ----------
    makers
        Make the runs, in their order; each is called once.
    pairs
        Number of pairs in all runs; a function gives what is expected so far, where it is known only at the end.
    places
        Where each pair of the text stands among the pairs of the runs; None where these are the pairs of the text,
        one after the other. A scorer may so look at each distinct pair once.
    threads
        Threads that make the runs; None is one for each processor.
    """

    makers: Iterable[Callable[[], Directions]]
    pairs: int | Callable[[], int]
    places: NDArray[np.int64] | None = None
    threads: int | None = None


class Scorer(Protocol):
    """Anything that says how much the words of sentence pairs belong together."""

    @property
    def max_length(self) -> int | None:
        """Pairs with a longer sentence on either side are left unaligned; None aligns all."""

    def directions(self, pairs: Any, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """What the scorer says about `pairs`, run by run.

        Parameters
        ----------
        pairs
            A `Bitext`, or what `cepts.data.as_bitext` makes one of. Scorers of annotated text also read the columns of
            `SentencePair`.
        cells
            About how many cells (source word x target word) a run should have; None is the scorer's own choice.
        in_order
            Give every pair of the text in its place; otherwise the scorer may give distinct pairs once, see `Runs`.
        """
