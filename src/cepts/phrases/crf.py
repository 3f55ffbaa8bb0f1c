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
from cepts.phrases.steps import NULL_SIZES, STEP_WEIGHTS, Steps, steps_of

SHARD = 16
# The cost of a segment in the choice of a gold path: of paths with as many links, the one with fewer segments wins.
SEGMENT_PRICE = 1e-3
NULL_PRICE = 1e-6


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
    by_words
        Whether parallel spans are also scored by their words that match (`cepts.kernels.correspondence`).
    null_spans
        Whether several words may be aligned with null as one segment, as in semicrf; otherwise each word is its own.
    """

    longest: int = 3
    widest: int = 3
    by_target: bool = False
    memory: bool = False
    distortion: bool = True
    by_words: bool = True
    null_spans: bool = False

    @property
    def most_null(self) -> int:
        """The largest number of observed words in one null segment."""
        if not self.null_spans:
            return 1
        return self.widest if self.by_target else self.longest


class Lattice(NamedTuple):
    """The scores of one pair in one direction, in the form that `kernels.segments` takes."""

    emit: NDArray[np.float64]
    null: NDArray[np.float64]
    jump: NDArray[np.float64]
    stay: NDArray[np.float64]
    null_next: NDArray[np.int64]
    final: NDArray[np.float64]


class Marginals(NamedTuple):
    """The result of a forward-backward pass: log Z and the expected numbers of segments, null segments and steps."""

    log_z: float
    segments: NDArray[np.float64]
    null: NDArray[np.float64]
    jump: NDArray[np.float64]
    stay: NDArray[np.float64]
    final: NDArray[np.float64]


class Gold(NamedTuple):
    """The gold path of a pair, as marginals that are 0 or 1, and the cost of each segment and of each null segment."""

    path: Marginals
    segment_cost: NDArray[np.float32]
    null_cost: NDArray[np.float64]


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
    """Score everything that a path of the pair may have.

    A segment gains up to `anchoring` for each anchor in it. If a table knows it as a phrase, it gains `anchoring` times
    its larger number of words, and pairs of its words do not count against it.
    """
    step, token_values, token_categories, span_values, span_categories, null_values, null_categories = split_weights(
        weights, sizes
    )
    length, width = features.length, features.width
    cells = _scores(features.tokens, token_values, token_categories).reshape(length, width)
    if features.spans is None:
        emit = cells.reshape(length, 1, width, 1)
    else:
        emit = np.full((length, shape.longest, width, shape.widest), -np.inf)
        emit.reshape(-1)[features.items] = _scores(features.spans, span_values, span_categories)
        emit[:, 0, :, 0] = cells
        if shape.by_words:
            from cepts.kernels.correspondence import add_word_scores

            add_word_scores(cells, features.matched, features.parallel, emit)
    if anchoring:
        from cepts.kernels.anchors import favour_links

        favour_links(emit, features.anchors.links, anchoring * features.anchors.pull)
        if features.spans is not None:
            for i, size, j, wide in features.anchors.phrases.tolist():
                emit[i, size - 1, j, wide - 1] += anchoring * max(size, wide)
                if shape.by_words and size == wide and features.parallel[i, j, size - 1]:
                    # A table knows better than pairs of words such as "up" and "down" in "close up" and "close down".
                    words = range(i, i + size), range(j, j + size)
                    emit[i, size - 1, j, wide - 1] -= np.minimum(cells[words], 0.0)[features.matched[words]].sum()
    side = features.source_null
    if shape.by_target:
        emit, side, width = emit.transpose(2, 3, 0, 1), features.target_null, length
    steps = steps_of(width, shape.memory, shape.distortion)
    null = running_sums(_scores(side, null_values, null_categories), shape.most_null)
    null += step[NULL_SIZES : NULL_SIZES + shape.most_null]
    return Lattice(
        np.ascontiguousarray(emit),
        null,
        step[steps.jump],
        step[steps.stay],
        steps.null_next,
        step[steps.final],
    )


def running_sums(values: NDArray[np.floating], most: int) -> NDArray[np.float64]:
    """The sum of the values of each span of up to `most` words (words x lengths); 0 beyond the sentence."""
    sums = np.zeros((len(values), most))
    for size in range(min(most, len(values))):
        stop = len(values) - size
        sums[:stop, size] = values[size:] + (sums[:stop, size - 1] if size else 0.0)
    return sums


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


def allowed_segments(features: PairFeatures, shape: LatticeShape) -> NDArray[np.bool_] | None:
    """Which segments a path of the pair may have, as `Lattice.emit`; None if all."""
    if features.items is None:
        return None
    allowed = np.zeros((features.length, shape.longest, features.width, shape.widest), dtype=np.bool_)
    allowed.reshape(-1)[features.items] = True
    allowed[:, 0, :, 0] = True
    return allowed.transpose(2, 3, 0, 1) if shape.by_target else allowed


def gold_path(cells: NDArray[np.bool_], shape: LatticeShape, allowed: NDArray[np.bool_] | None = None) -> Marginals:
    """The path with the most gold links and no other links; of several such paths, the one with the fewest segments.

    `cells` has a row for each observed word. Links that no path can have are left out: a word linked with words that do
    not stand together. If `allowed` is given (as `Lattice.emit`), the path has only segments that it marks.
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
    if allowed is not None:
        emit[~allowed] = -np.inf
    steps = steps_of(width, shape.memory, shape.distortion)
    states = len(steps.stay)
    null = np.full((length, shape.most_null), -NULL_PRICE)
    lattice = Lattice(emit, null, np.zeros((states, width)), np.zeros(states), steps.null_next, np.zeros(states))
    _, starts, spans = best_path(lattice)
    return path_counts(starts, spans, emit.shape, shape.most_null, steps)


def path_counts(
    starts: NDArray[np.int32], spans: NDArray[np.int32], shape: tuple[int, ...], most_null: int, steps: Steps
) -> Marginals:
    """The segments, null segments and steps of a path, as counts."""
    length, _, width, _ = shape
    states = len(steps.stay)
    nothing = np.zeros((states, width)), np.zeros(states), np.zeros(states)
    found = Marginals(0.0, np.zeros(shape), np.zeros((length, most_null)), *nothing)
    state = 0
    for i in range(length):
        if starts[i] != i:
            continue
        size = int((starts == i).sum())
        if spans[i, 0] < 0:
            found.null[i, size - 1] = 1.0
            found.stay[state] += 1.0
            state = steps.null_next[state]
        else:
            start, stop = spans[i]
            found.segments[i, size - 1, start, stop - start - 1] = 1.0
            found.jump[state, start] += 1.0
            state = stop
    found.final[state] += 1.0
    return found


def link_costs(
    cells: NDArray[np.bool_], excused: NDArray[np.bool_], longest: int, widest: int, *, wrong: float, missed: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The Hamming cost of each segment and of each word that is aligned with null, counted in links.

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


def null_words(null: NDArray[np.float64]) -> NDArray[np.float64]:
    """How often each word is aligned with null, given how often each null segment occurs (words x lengths)."""
    words = np.zeros(len(null))
    for size in range(min(null.shape[1], len(null))):
        counts = null[: len(null) - size, size]
        for place in range(size + 1):
            words[place : place + len(counts)] += counts
    return words


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
        parts[0][NULL_SIZES : NULL_SIZES + shape.most_null] += found.null.sum(axis=0)
        segments, side = found.segments, features.source_null
        if shape.by_target:
            segments, side = segments.transpose(2, 3, 0, 1), features.target_null
        segments = np.ascontiguousarray(segments)
        tokens = np.ascontiguousarray(segments[:, 0, :, 0])
        if features.spans is not None and shape.by_words:
            from cepts.kernels.correspondence import count_word_pairs

            count_word_pairs(segments, features.matched, features.parallel, tokens)
        add_expected(features.tokens.values, features.tokens.categories, tokens.reshape(-1), parts[1], parts[2])
        if features.spans is not None:
            spans = segments.reshape(-1)[features.items]
            add_expected(features.spans.values, features.spans.categories, spans, parts[3], parts[4])
        add_expected(side.values, side.categories, null_words(found.null), parts[5], parts[6])

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
