"""The semi-Markov CRF of one direction (semicrf, section 3); a token CRF is one whose spans are single words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Link
from cepts.engine import map_shards
from cepts.phrases.columns import FeatureTable
from cepts.phrases.features import PairFeatures
from cepts.phrases.steps import STEP_WEIGHTS, Steps, steps_of

SHARD = 16
# The cost of a segment in the choice of a gold path: of paths with as many links, the one with fewer segments wins.
SEGMENT_PRICE = 1e-3


@dataclass(frozen=True, slots=True)
class LatticeShape:
    """The lattice of one direction.

    Attributes
    ----------
    longest, widest
        The longest source and target span.
    by_target
        Whether paths run along the target words, each aligned with at most one source span, or along the source words.
        The first is the *forward* direction, which explains the target by the source; semicrf calls it
        target-to-source.
    memory
        Whether null remembers where the last segment stopped.
    distortion
        Whether jumps of different lengths have different weights.
    """

    longest: int = 3
    widest: int = 3
    by_target: bool = False
    memory: bool = False
    distortion: bool = True


class Lattice(NamedTuple):
    """The scores of one pair in one direction, in the form that `kernels.segments` takes."""

    emit: NDArray[np.float64]
    null: NDArray[np.float64]
    jump: NDArray[np.float64]
    stay: NDArray[np.float64]
    null_next: NDArray[np.int64]
    final: NDArray[np.float64]


class Marginals(NamedTuple):
    """The result of a forward-backward pass: log Z and the expected numbers of segments, null words and steps."""

    log_z: float
    segments: NDArray[np.float64]
    null: NDArray[np.float64]
    jump: NDArray[np.float64]
    stay: NDArray[np.float64]
    final: NDArray[np.float64]


class Gold(NamedTuple):
    """The gold path of a pair, as marginals that are 0 or 1, and the cost of each segment and null word."""

    path: Marginals
    segment_cost: NDArray[np.float32]
    null_cost: NDArray[np.float32]


def split_weights(weights: NDArray[np.float64], sizes: Sequence[int]) -> list[NDArray[np.float64]]:
    """The weights of the steps, then those of each part of the layout."""
    return np.split(weights, np.cumsum((STEP_WEIGHTS, *sizes))[:-1])


def _scores(table: FeatureTable, values: NDArray[np.float64], categories: NDArray[np.float64]) -> NDArray[np.float64]:
    from cepts.kernels.log_linear import score_items

    scores = np.empty(len(table.values))
    score_items(table.values, table.categories, values, categories, scores)
    return scores


def lattice_of(
    features: PairFeatures,
    weights: NDArray[np.float64],
    sizes: Sequence[int],
    shape: LatticeShape,
    *,
    anchoring: float = 0.0,
) -> Lattice:
    """Score everything that a path of the pair may have; a segment gains up to `anchoring` for each anchor in it."""
    step, token_values, token_categories, span_values, span_categories, null_values, null_categories = split_weights(
        weights, sizes
    )
    length, width = features.length, features.width
    cells = _scores(features.tokens, token_values, token_categories).reshape(length, width)
    if features.spans is None:
        emit = cells.reshape(length, 1, width, 1)
    else:
        emit = _scores(features.spans, span_values, span_categories).reshape(length, shape.longest, width, shape.widest)
        emit[:, 0, :, 0] = cells
    if anchoring:
        from cepts.kernels.anchors import favour_links

        favour_links(emit, features.anchors.links, anchoring * features.anchors.pull)
    side = features.source_null
    if shape.by_target:
        emit, side, width = emit.transpose(2, 3, 0, 1), features.target_null, length
    steps = steps_of(width, shape.memory, shape.distortion)
    return Lattice(
        np.ascontiguousarray(emit),
        _scores(side, null_values, null_categories),
        step[steps.jump],
        step[steps.stay],
        steps.null_next,
        step[steps.final],
    )


def marginals(lattice: Lattice) -> Marginals:
    """The forward-backward pass."""
    from cepts.kernels.segments import segment_marginals

    filled = [np.empty_like(part) for part in (lattice.emit, lattice.null, lattice.jump, lattice.stay, lattice.final)]
    return Marginals(segment_marginals(*lattice, *filled), *filled)


def best_path(lattice: Lattice) -> tuple[float, NDArray[np.int32], NDArray[np.int32]]:
    """The best path, by Viterbi: its score, and for each observed word its segment's start and the aligned span."""
    from cepts.kernels.segments import segment_path

    length = len(lattice.null)
    starts, spans = np.empty(length, dtype=np.int32), np.empty((length, 2), dtype=np.int32)
    score = segment_path(*lattice, starts, spans)
    return score, starts, spans


def link_cells(links: Sequence[Link], length: int, width: int, by_target: bool) -> NDArray[np.bool_]:
    """The links of `length` source and `width` target words as a matrix, with a row for each observed word."""
    cells = np.zeros((length, width), dtype=np.bool_)
    if links:
        cells[tuple(np.array(links).T)] = True
    return cells.T if by_target else cells


def gold_path(cells: NDArray[np.bool_], shape: LatticeShape) -> Marginals:
    """The path with the most gold links and no other links; of several such paths, the one with the fewest segments.

    `cells` has a row for each observed word. Links that no path can have are left out: a word linked with words that do
    not stand together.
    """
    length, width = cells.shape
    longest, widest = (shape.widest, shape.longest) if shape.by_target else (shape.longest, shape.widest)
    counts = np.zeros((length + longest, width + widest), dtype=np.int64)
    counts[:length, :width] = cells
    sums = np.zeros((length + longest + 1, width + widest + 1), dtype=np.int64)
    np.cumsum(np.cumsum(counts, axis=0), axis=1, out=sums[1:, 1:])
    emit = np.full((length, longest, width, widest), -np.inf)
    for span in range(longest):
        for wide in range(widest):
            top, bottom = sums[:length], sums[span + 1 : span + 1 + length]
            left, right = slice(0, width), slice(wide + 1, wide + 1 + width)
            inside = bottom[:, right] - top[:, right] - bottom[:, left] + top[:, left]
            area = (span + 1) * (wide + 1)
            emit[:, span, :, wide] = np.where(inside == area, area - SEGMENT_PRICE, -np.inf)
    steps = steps_of(width, shape.memory, shape.distortion)
    states = len(steps.stay)
    lattice = Lattice(
        emit, np.zeros(length), np.zeros((states, width)), np.zeros(states), steps.null_next, np.zeros(states)
    )
    _, starts, spans = best_path(lattice)
    return path_counts(starts, spans, emit.shape, steps)


def path_counts(starts: NDArray[np.int32], spans: NDArray[np.int32], shape: tuple[int, ...], steps: Steps) -> Marginals:
    """The segments, null words and steps of a path, as counts."""
    length, _, width, _ = shape
    states = len(steps.stay)
    found = Marginals(
        0.0, np.zeros(shape), np.zeros(length), np.zeros((states, width)), np.zeros(states), np.zeros(states)
    )
    state = 0
    for i in range(length):
        if spans[i, 0] < 0:
            found.null[i] = 1.0
            found.stay[state] += 1.0
            state = steps.null_next[state]
        elif starts[i] == i:
            size = int((starts == i).sum())
            start, stop = spans[i]
            found.segments[i, size - 1, start, stop - start - 1] = 1.0
            found.jump[state, start] += 1.0
            state = stop
    found.final[state] += 1.0
    return found


def link_costs(
    cells: NDArray[np.bool_], excused: NDArray[np.bool_], longest: int, widest: int, *, wrong: float, missed: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The Hamming cost of each segment and of each null word, counted in links.

    A segment costs `wrong` for each link that is not gold, and `missed` for each gold link of its observed words that
    it lacks. A null word costs `missed` for each of its gold links. Links in `excused` cost nothing.
    """
    length, width = cells.shape
    gold = np.zeros((length, width + widest + 1))
    bad = np.zeros((length, width + widest + 1))
    np.cumsum(cells, axis=1, out=gold[:, 1 : width + 1])
    np.cumsum(~cells & ~excused, axis=1, out=bad[:, 1 : width + 1])
    gold[:, width + 1 :] = gold[:, width : width + 1]
    bad[:, width + 1 :] = bad[:, width : width + 1]
    total = cells.sum(axis=1)
    cost = np.zeros((length, longest, width, widest), dtype=np.float32)
    for wide in range(widest):
        has = gold[:, wide + 1 : wide + 1 + width] - gold[:, :width]
        lacks = wrong * (bad[:, wide + 1 : wide + 1 + width] - bad[:, :width]) + missed * (total[:, None] - has)
        running = np.zeros((length, width))
        for span in range(longest):
            running[: max(length - span, 0)] += lacks[span:]
            cost[:, span, :, wide] = running
    return cost, (missed * total).astype(np.float32)


class Objective:
    """The training objective and its gradient: minus the softmax-margin log-likelihood, with a Gaussian prior.

    The log-likelihood of a pair is the score of its gold path minus the log of the sum, over all paths, of
    exp(score + cost) (semicrf, section 3.1). The features of the gold paths are summed once, so an evaluation costs one
    forward-backward pass for each pair.
    """

    def __init__(
        self,
        features: Sequence[PairFeatures],
        golds: Sequence[Gold],
        sizes: Sequence[int],
        shape: LatticeShape,
        *,
        penalty: NDArray[np.float64] | float,
        threads: int | None = 1,
    ) -> None:
        self._features, self._golds, self._sizes, self._shape = features, golds, list(sizes), shape
        self._penalty = penalty
        self._threads = threads
        self._shards = [range(start, min(start + SHARD, len(features))) for start in range(0, len(features), SHARD)]
        self.weights = STEP_WEIGHTS + sum(self._sizes)
        self._gold = np.zeros(self.weights)
        for pair, gold in zip(features, golds, strict=True):
            self._add(pair, gold.path, self._gold)

    def _add(self, features: PairFeatures, found: Marginals, sums: NDArray[np.float64]) -> None:
        """Add the features of a path, or the expected features of all paths, to `sums`."""
        from cepts.kernels.log_linear import add_expected

        shape = self._shape
        steps = steps_of(found.jump.shape[1], shape.memory, shape.distortion)
        parts = split_weights(sums, self._sizes)
        for numbers, counts in ((steps.jump, found.jump), (steps.stay, found.stay), (steps.final, found.final)):
            parts[0] += np.bincount(numbers.ravel(), counts.ravel(), STEP_WEIGHTS)
        segments, side = found.segments.copy(), features.source_null
        if shape.by_target:
            segments, side = segments.transpose(2, 3, 0, 1), features.target_null
        tokens = np.ascontiguousarray(segments[:, 0, :, 0]).reshape(-1)
        add_expected(features.tokens.values, features.tokens.categories, tokens, parts[1], parts[2])
        if features.spans is not None:
            segments[:, 0, :, 0] = 0.0
            spans = np.ascontiguousarray(segments).reshape(-1)
            add_expected(features.spans.values, features.spans.categories, spans, parts[3], parts[4])
        add_expected(side.values, side.categories, found.null, parts[5], parts[6])

    def _shard(self, numbers: range, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, sums = 0.0, np.zeros(self.weights)
        for n in numbers:
            lattice = lattice_of(self._features[n], weights, self._sizes, self._shape)
            gold = self._golds[n]
            lattice.emit[:] += gold.segment_cost
            lattice.null[:] += gold.null_cost
            found = marginals(lattice)
            total += found.log_z
            self._add(self._features[n], found, sums)
        return total, sums

    def __call__(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Value and gradient at `weights`."""
        total, gradient = 0.0, np.zeros(self.weights)
        for value, sums in map_shards(lambda shard: self._shard(shard, weights), self._shards, threads=self._threads):
            total += value
            gradient += sums
        prior = 0.5 * np.sum(self._penalty * weights * weights)
        return float(total - weights @ self._gold + prior), gradient - self._gold + self._penalty * weights
