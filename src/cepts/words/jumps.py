"""The position model of the HMM: each link depends on the previous link, by the jump between them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.data import NBest
from cepts.words.batches import laid_out, matrix_size
from cepts.words.blocks import PairBlock
from cepts.words.index import Pairs
from cepts.words.nbest import best_paths, nbest_lists
from cepts.words.positions import EarlierPositions, Paths, Positions
from cepts.words.text import TextFacts

if TYPE_CHECKING:
    from cepts.kernels.blocks import Found
    from cepts.kernels.hmm import Chain, HmmRoom


class Jumps(Positions):
    """P(i | i', I) depends only on the jump i - i', normalised over the positions of the sentence; null stays at i'.

    Each jump and each starting position up to `NEAR` has its own weight; farther ones share one weight for each
    doubling of the distance.

    Parameters
    ----------
    null_prob
        P(null), the same for every word.
    smoothing
        Pseudo-counts of jumps and of starts, distributed as the weights before training; 0 is maximum likelihood.
    """

    name = "jumps"
    learnt = ("jumps", "starts")
    NEAR = 8
    ENOUGH = 5_000

    def __init__(self, *, null_prob: float | None = 0.1, smoothing: float = 0.0) -> None:
        null_prob = 0.1 if null_prob is None else null_prob
        if not 0 < null_prob < 1:
            raise ValueError(f"`null_prob` must lie between 0 and 1. Got {null_prob} instead.")
        self.null_prob = null_prob
        self.smoothing = smoothing
        self.stride = 1
        self.reach = 0
        self.jumps = np.empty((2, 1), dtype=np.float32)
        self.starts = np.empty((2, 0), dtype=np.float32)
        # Counts of jumps from elsewhere, by direction and distance.
        self.given = np.zeros((2, 1))
        self._stretch(2 * self.NEAR)

    @property
    def exact(self) -> bool:
        """Whether no jumps are added to those of the text."""
        return self.smoothing == 0

    def prepare(self, text: TextFacts) -> None:
        """Extend the weights to the longest sentence of a text.

        A few thousand pairs are enough to estimate so few weights. If there are more, training with agreement, which is
        not exact EM anyway, counts only the jumps of every second, third or fourth batch of pairs.
        """
        self.reach = 0
        self._stretch(max(text.longest, 2 * self.NEAR))
        self.stride = self.stride_of(text)

    def stride_of(self, text: TextFacts) -> int:
        """Every how many-th batch of pairs is enough to learn from."""
        return int(np.clip(text.pairs // self.ENOUGH, 1, 4))

    def widen(self, text: Pairs | TextFacts) -> None:
        """Extend the weights to the longest sentence of a text."""
        self._stretch(text.longest)

    def fill(self, block: PairBlock, found: Found, *, counting: bool, agreeing: bool) -> tuple[list[NDArray], None]:
        """Posteriors of links; expected counts also of jumps and starts."""
        from cepts.kernels.hmm import JumpCounts, hmm_posteriors

        shapes = (self.jumps.shape, self.jumps.shape, self.starts.shape, self.starts.shape)
        statistics = [np.zeros(shape if counting else (2, 0)) for shape in shapes]
        stride = self.stride if counting and agreeing else 1
        room = self._room(block.pairs, counting=counting)
        hmm_posteriors(block.arrays, self._chain(), room, counting, agreeing, stride, found, JumpCounts(*statistics))
        return statistics, None

    def paths(self, block: PairBlock) -> Paths:
        """Viterbi alignments of both directions."""
        from cepts.kernels.trellis import hmm_paths

        return best_paths(block, partial(hmm_paths, block.arrays, self._chain()), jumps=self.jumps.shape[1])

    def nbest(self, block: PairBlock, count: int) -> tuple[NBest, NBest]:
        """The most probable alignments, exact."""
        from cepts.kernels.nbest import hmm_lists

        return nbest_lists(block, count, partial(hmm_lists, block.arrays, self._chain()), jumps=self.jumps.shape[1])

    def add_earlier(self, earlier: EarlierPositions) -> None:
        """Add the jumps and starts of an earlier text, or jumps that a table counts."""
        if len(earlier.seen) == 4:
            # Earlier sentences were at most as long as those that the weights are for: see `ShelvedPrior.facts`.
            more = self.reach - (earlier.seen[0].shape[1] - 1) // 2
            *jumps, started, start_share = earlier.seen
            padded = [np.pad(each, ((0, 0), (more, more))) for each in jumps]
            padded += [np.pad(each, ((0, 0), (0, more))) for each in (started, start_share)]
            self._join(padded, earlier.weight)
        counted = earlier.state.get("jumped")
        if counted is not None:
            # What is farther than the longest sentence counts as the farthest jump.
            reach = (counted.shape[1] - 1) // 2
            places = self.reach + np.clip(np.arange(-reach, reach + 1), -self.reach, self.reach)
            self.given = np.array([np.bincount(places, each, 2 * self.reach + 1) for each in counted])

    def learn(self, statistics: Sequence[NDArray], *, share: float = 1.0, starting: bool = False) -> None:
        """M-step, with jumps from elsewhere, which may be of any distance."""
        if self.given.any() and statistics:
            jumped, jump_share, *starts = statistics
            possible = self.given.sum(axis=1, keepdims=True) / self.jumps.sum(axis=1, keepdims=True, dtype=np.float64)
            statistics = [jumped + share * self.given, jump_share + share * possible, *starts]
        super().learn(statistics, share=share, starting=starting)

    def update(self, statistics: list[NDArray]) -> None:
        """Weights from expected jumps and starts (an MM step: see the kernel that counts jumps)."""
        jumped, jump_share, started, start_share = statistics
        distances = np.arange(-self.reach, self.reach + 1)
        positions = np.arange(self.reach + 1)
        jumps, starts = self._beginning(self.reach)
        for direction in range(2):
            seen = self._smoothed(jumped[direction], jump_share[direction], jumps, self.jumps[direction])
            self.jumps[direction] = _tied(*seen, distances, self.NEAR)
            seen = self._smoothed(started[direction], start_share[direction], starts, self.starts[direction])
            self.starts[direction] = _tied(*seen, positions, self.NEAR)

    def _smoothed(
        self, numerator: NDArray, denominator: NDArray, prior: NDArray, weights: NDArray
    ) -> tuple[NDArray, NDArray]:
        """Add the statistics of the pseudo-counts of `smoothing`, which may be of any distance."""
        return (
            numerator + self.smoothing * prior / prior.sum(),
            denominator + self.smoothing / weights.sum(dtype=np.float64),
        )

    def _beginning(self, reach: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights of jumps and starts before training."""
        # Tied from the start, because otherwise the first update could lower the likelihood.
        groups = doubling_groups(np.arange(-reach, reach + 1), self.NEAR)
        return 0.6 ** np.minimum(np.abs(groups - 1), 12), np.ones(reach + 1)

    def state(self) -> dict[str, NDArray]:
        """The weights, the statistics behind them, and for how long sentences these are."""
        return {**super().state(), "longest": np.array([self._seen_reach()])}

    def _seen_reach(self) -> int:
        return (self.seen[0].shape[1] - 1) // 2 if len(self.seen) else 0

    def restore(self, state: dict[str, NDArray]) -> None:
        """Set the weights."""
        super().restore(state)
        self.reach = (self.jumps.shape[1] - 1) // 2

    def _chain(self) -> Chain:
        from cepts.kernels.hmm import Chain

        return Chain(self.jumps, self.starts, self.reach, np.float32(self.null_prob))

    def _room(self, pairs: Pairs, *, counting: bool) -> HmmRoom:
        """Weights and buffers for the kernel."""
        from cepts.kernels.hmm import BLOCK, HmmRoom
        from cepts.kernels.lanes import LANES

        reach = pairs.longest
        jumps = self.jumps[:, self.reach - reach : self.reach + reach + 1]
        both_ways = np.stack([jumps, jumps[:, ::-1]], axis=1)
        zeros = np.zeros((2, 2, BLOCK), dtype=np.float32)
        weights: dict[str, int | NDArray] = {
            "single": np.append(both_ways, zeros, axis=2),
            "repeated": np.append(np.repeat(both_ways, LANES, axis=2), zeros, axis=2),
            "onward": np.cumsum(jumps[:, reach:], axis=1, dtype=np.float64),
            "backward": _cumulated(jumps[:, :reach][:, ::-1]),
            "starting": _cumulated(self.starts[:, :reach]),
        }
        matrix = matrix_size(pairs)
        row = LANES * reach + BLOCK
        of_words = "nulls", "pads", "totals", "scales", "sums"
        of_positions = "starts", "shares", "ready", "ahead", "behind", "made", "apart"
        buffers: dict[str, int | NDArray] = {
            **dict.fromkeys(("forward", "reverse", "linked"), matrix),
            "both": row + (matrix if counting else row),
            **dict.fromkeys((*of_words, *of_positions), row),
            "late": row + 2 * BLOCK,
            "jumped": 2 * row,
        }
        return HmmRoom(pairs=np.zeros(LANES, dtype=np.int64), reach=reach, **laid_out(weights | buffers))

    def _stretch(self, reach: int) -> None:
        """Extend the weights to sentences of `reach` words; new distances get the weight of the farthest one."""
        if reach <= self.reach:
            return
        if self.reach == 0:
            self.jumps, self.starts = (
                np.tile(weights.astype(np.float32), (2, 1)) for weights in self._beginning(reach)
            )
        else:
            more = reach - self.reach
            self.jumps = np.pad(self.jumps, ((0, 0), (more, more)), mode="edge")
            self.starts = np.pad(self.starts, ((0, 0), (0, more)), mode="edge")
        self.reach = reach


def _cumulated(weights: NDArray[np.float32]) -> NDArray[np.float64]:
    """Sums of the first 0, 1, 2, ... weights of each direction."""
    return np.cumsum(np.append(np.zeros((2, 1)), weights, axis=1), axis=1)


def doubling_groups(distances: NDArray[np.int64], near: int) -> NDArray[np.int64]:
    """Number of the group that shares a weight with each distance: itself up to `near`, then one per doubling."""
    away = np.abs(distances)
    doubling = np.ceil(np.log2(np.maximum(away, 1) / near)).astype(np.int64)
    return np.sign(distances) * np.where(away <= near, away, near + np.maximum(doubling, 0))


def _tied(numerator: NDArray, denominator: NDArray, distances: NDArray[np.int64], near: int) -> NDArray[np.float32]:
    """Numerators over denominators, with one ratio for each doubling of far distances, scaled to a maximum of 1.

    The scale is free, because weights are normalised in each sentence. An unseen distance gets a tiny weight.
    """
    group = doubling_groups(distances, near)
    group -= group.min()
    above = np.bincount(group, numerator)
    below = np.bincount(group, denominator)
    weights = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    top = weights.max()
    if top <= 0:
        return np.ones(len(distances), dtype=np.float32)
    return np.maximum(weights[group] / top, 1e-7).astype(np.float32)
