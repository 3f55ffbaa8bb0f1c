"""A weighted mixture of scorers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association, Directions, Flat, GivenDirections, Pulls, Runs, Scorer, offsets_of
from cepts.engine import map_shards
from cepts.errors import DataError, UsageError
from cepts.extract.aligning import Aligning, needs_whole_text

Anything = TypeVar("Anything", bound="Said")

# How closely each word belongs to its neighbours.
PULLS = tuple((side, pull) for side in ("source", "target") for pull in Pulls._fields)


class ScorerMixture(Aligning):
    """Averages the posteriors of several scorers, separately for each direction.

    Word models, spaces, phrase models, matrices and link files may be mixed. Null masses are averaged as links are; if
    a member has no null masses, the null mass of a word is 1 minus the sum of its links. A pair that a member leaves
    out (0 x 0) is averaged over the other members. Scores are log-probabilities under the mixture of the members'
    distributions, if all members have scores.

    Parameters
    ----------
    scorers
        The members of the mixture.
    weights
        A weight above 0 for each scorer; None gives all the same weight. They are scaled to add up to 1.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.
    """

    def __init__(
        self, scorers: Sequence[Scorer], weights: Sequence[float] | None = None, *, threads: int | None = None
    ) -> None:
        given = [1.0] * len(scorers) if weights is None else list(weights)
        if not scorers:
            raise UsageError("`scorers` must have at least one scorer. Got none instead.")
        if len(given) != len(scorers):
            raise UsageError(
                f"`weights` must have one weight for each of {len(scorers)} scorers. Got {len(given)} instead."
            )
        # Written so that NaN fails.
        if not all(0 < weight < np.inf for weight in given):
            raise UsageError(f"`weights` must be above 0. Got {', '.join(f'{weight:g}' for weight in given)} instead.")
        self.scorers = list(scorers)
        self.weights = [weight / sum(given) for weight in given]
        self.threads = threads

    @property
    def max_length(self) -> int | None:
        """Pairs with a longer sentence are left unaligned by all members; None if a member aligns all pairs."""
        limits = [scorer.max_length for scorer in self.scorers]
        return None if None in limits else max(limit for limit in limits if limit is not None)

    @property
    def needs_whole_text(self) -> bool:
        """Whether a member needs it."""
        return needs_whole_text(*self.scorers)

    def directions(self, pairs: Any, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """Return the averaged directions, run by run; the runs are those of the first member."""
        members = [scorer.directions(pairs, cells=cells, in_order=True) for scorer in self.scorers]
        return Runs(self._makers(members), members[0].pairs, threads=self.threads)

    def _makers(self, members: Sequence[Runs]) -> Iterator[Callable[[], Directions]]:
        for first, parts in said_together(members, self.threads, Said):
            yield partial(mixed, parts, self.weights, first)


def said_together(
    members: Sequence[Runs], threads: int | None, kind: type[Anything]
) -> Iterator[tuple[int, list[Anything]]]:
    """Yield what each member computes for the same pairs, with the index of the first; runs are the first member's.

    `kind` is `Said`, or a subclass that keeps more of the members' directions.
    """
    streams = [_Stream(map_shards(kind.by, runs.makers, threads=threads)) for runs in members]
    first = 0
    while True:
        count = streams[0].ready()
        parts = [stream.take(count) if count else None for stream in streams]
        if not count and not any(stream.ready() for stream in streams):
            return
        there = [part for part in parts if part is not None]
        if len(there) < len(parts):
            raise DataError(
                "the scorers of a mixture have different numbers of sentence pairs; all must score the same bitext."
            )
        yield first, there
        first += count


@dataclass(frozen=True, slots=True, eq=False)
class Said(Flat):
    """What one member computes for some pairs; what holds for all of its pairs is repeated for each."""

    forward: Association
    reverse: Association
    threshold: NDArray[np.float64]
    has_log_probabilities: NDArray[np.bool_]
    scores: NDArray[np.float64] | None = None
    source_before: NDArray[np.float32] | None = None
    source_after: NDArray[np.float32] | None = None
    target_before: NDArray[np.float32] | None = None
    target_after: NDArray[np.float32] | None = None
    source_frequency: NDArray[np.int64] | None = None
    target_frequency: NDArray[np.int64] | None = None

    pairs: ClassVar = "source_offsets"
    layout: ClassVar = {
        "threshold": (None, np.empty(0)),
        "has_log_probabilities": (None, np.empty(0, np.bool_)),
        "scores": (None, np.empty((0, 2))),
        **{f"{side}_{pull}": (f"{side}_offsets", np.empty(0, np.float32)) for side, pull in PULLS},
        **{f"{side}_frequency": (f"{side}_offsets", np.empty(0, np.int64)) for side in ("source", "target")},
    }

    @property
    def source_offsets(self) -> NDArray[np.int64]:
        """Where the source words of each pair start."""
        return self.forward.source_offsets

    @property
    def target_offsets(self) -> NDArray[np.int64]:
        """Where the target words of each pair start."""
        return self.forward.target_offsets

    @classmethod
    def by(cls, make: Callable[[], Directions]) -> Self:
        """Compute what a member says about a run."""
        return cls(*cls.fields_of(make()))

    @staticmethod
    def fields_of(directions: Directions) -> list[Any]:
        """The values of the fields, in order."""
        try:
            scores = directions.scores
        except UsageError:  # the member has none
            scores = None
        forward, (source, target) = directions.forward, directions.pulls or ((None, None), (None, None))
        threshold = np.full(len(forward), directions.threshold)
        probable = np.full(len(forward), directions.has_log_probabilities)
        frequencies = directions.frequencies or (None, None)
        return [forward, directions.reverse, threshold, probable, scores, *source, *target, *frequencies]


class _Stream(Generic[Anything]):
    """The runs of one member, to be divided differently."""

    def __init__(self, runs: Iterator[Anything]) -> None:
        self._runs = runs
        self._waiting: list[Anything] = []

    def ready(self) -> int:
        """Number of pairs that are ready; 0 at the end."""
        while not self._waiting:
            run = next(self._runs, None)
            if run is None:
                return 0
            if len(run):
                self._waiting.append(run)
        return len(self._waiting[0])

    def take(self, count: int) -> Anything | None:
        """The next `count` pairs; None if there are fewer."""
        taken = []
        while count:
            ready = self.ready()
            if not ready:
                return None
            run = self._waiting.pop(0)
            if ready > count:
                self._waiting.insert(0, run.part(count, ready))
                run = run.part(0, count)
            taken.append(run)
            count -= len(run)
        return taken[0] if len(taken) == 1 else type(taken[0]).concatenate(taken)


def mixed(parts: Sequence[Said], weights: Sequence[float], first: int) -> GivenDirections:
    """Average over the members that have a matrix for a pair."""
    has = np.array([np.diff(part.forward.offsets) > 0 for part in parts])
    source_lengths = np.max(has * [part.forward.source_lengths for part in parts], axis=0)
    target_lengths = np.max(has * [part.forward.target_lengths for part in parts], axis=0)
    for part, there in zip(parts, has, strict=True):
        wrong = there & (
            (part.forward.source_lengths != source_lengths) | (part.forward.target_lengths != target_lengths)
        )
        if wrong.any():
            raise DataError(
                f"the scorers of a mixture have matrices of different sizes for sentence pair "
                f"{first + int(wrong.argmax()) + 1:,}; all must score the same bitext."
            )
    shares = has * np.array(weights)[:, None]
    total = shares.sum(axis=0)
    shares = np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)
    shape = _Shape(source_lengths, target_lengths)
    forward = shape.average([part.forward for part in parts], has, shares, by_target=True)
    reverse = shape.average([part.reverse for part in parts], has, shares, by_target=False)
    return GivenDirections(
        forward,
        reverse,
        first=first,
        scores=_mixed_scores(parts, shares),
        pulls=shape.pulls(parts, has),
        threshold=float(np.dot(weights, [part.threshold[0] for part in parts])),
        has_log_probabilities=all(part.has_log_probabilities.all() for part in parts),
        name="a mixture",
    )


class _Shape(NamedTuple):
    """I and J of the pairs of a run."""

    source_lengths: NDArray[np.int64]
    target_lengths: NDArray[np.int64]

    def average(
        self, members: Sequence[Association], has: NDArray[np.bool_], shares: NDArray[np.float64], *, by_target: bool
    ) -> Association:
        """Average the members' matrices of one direction and their null masses, each pair with its own weights."""
        cells = self.source_lengths * self.target_lengths
        lengths = self.target_lengths if by_target else self.source_lengths
        values, null = np.zeros(int(cells.sum())), np.zeros(int(lengths.sum()))
        for member, there, share in zip(members, has, shares, strict=True):
            values[np.repeat(there, cells)] += np.repeat(share[there], cells[there]) * member.values
            own = member.target_null if by_target else member.source_null
            if own is None:
                own = np.maximum(1.0 - member.line_sums(by_target=by_target)[0], 0.0).astype(np.float32)
            # A pair that the member leaves out may have words on one side.
            own = own[np.repeat(there, member.target_lengths if by_target else member.source_lengths)]
            null[np.repeat(there, lengths)] += np.repeat(share[there], lengths[there]) * own
        nulls = (None, null.astype(np.float32)) if by_target else (null.astype(np.float32), None)
        return Association(*self, offsets_of(cells), values.astype(np.float32), *nulls)

    def pulls(self, parts: Sequence[Said], has: NDArray[np.bool_]) -> tuple[Pulls, Pulls] | None:
        """Pulls of the first member that has some; 0 for pairs that it leaves out."""
        for part, there in zip(parts, has, strict=True):
            arrays = [getattr(part, f"{side}_{pull}") for side, pull in PULLS]
            if arrays[0] is not None:
                own = part.forward.source_lengths, part.forward.target_lengths
                sides = arrays[:2], arrays[2:]
                source, target = (
                    Pulls(*(_spread_out(array[np.repeat(there, words)], np.repeat(there, lengths)) for array in side))
                    for side, words, lengths in zip(sides, own, self, strict=True)
                )
                return source, target
        return None


def _spread_out(array: NDArray[np.float32], there: NDArray[np.bool_]) -> NDArray[np.float32]:
    whole = np.zeros(len(there), dtype=np.float32)
    whole[there] = array
    return whole


def _mixed_scores(parts: Sequence[Said], shares: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Log-probability under the mixture; 0 for pairs that all members leave out."""
    scores = [part.scores for part in parts if part.scores is not None]
    if len(scores) < len(parts):
        return None
    with np.errstate(divide="ignore"):
        logs = np.stack(scores) + np.log(shares)[:, :, None]
    return np.where((shares.sum(axis=0) > 0)[:, None], np.logaddexp.reduce(logs, axis=0), 0.0)
