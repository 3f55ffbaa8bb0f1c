"""The position model of `Mixed`: the HMM's jumps, and Model 4 for what the HMM is in doubt about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cepts.words.blocks import PairBlock
from cepts.words.fertility import Distortions
from cepts.words.positions import Paths
from cepts.words.text import TextFacts

if TYPE_CHECKING:
    from cepts.kernels.blocks import Found
    from cepts.kernels.fertility_doubt import DoubtRoom


class DoubtfulDistortions(Distortions):
    """Model 4 among the links that the HMM thinks possible; posteriors are a mean of those of both models.

    In the E-step of training, counts are those of Model 4 alone.

    Parameters
    ----------
    share
        The weight of Model 4 in the mean.
    least
        Links with a lower posterior under the HMM are impossible in Model 4.
    """

    name = "mixed"
    # More passes take longer, and do not make the links better.
    passes = 3
    # Far more doubt than sentences of text have: a word to which a hundred others may be linked reaches it. Without a
    # limit, a list of 2,000 words takes minutes.
    limit = 1e6

    def __init__(self, *, share: float = 0.25, least: float = 0.02, **options: Any) -> None:
        super().__init__(**options)
        self.share, self.least = share, least

    def prepare(self, text: TextFacts) -> None:
        """Set the distributions before training; of a large text, some pairs are enough to learn them."""
        super().prepare(text)
        self.stride = self.jumps.stride_of(text)

    def fill(self, block: PairBlock, found: Found, *, counting: bool, agreeing: bool) -> tuple[list[NDArray], Paths]:
        """Posteriors of both models, or expected counts of Model 4."""
        from cepts.kernels.fertility_doubt import mixed_posteriors
        from cepts.kernels.fertility_shard import FertilityCounts

        shapes = self._shapes() if counting else (*[(2, 0)] * 3, (2, 0, 0))
        source, target, placements, displacements = statistics = [np.zeros(shape) for shape in shapes]
        pairs = block.pairs
        paths = np.empty(len(pairs.source_ids), np.int64), np.empty(len(pairs.target_ids), np.int64)
        shard = self._with_parameters(block, block.arrays, paths)
        mixed_posteriors(
            shard._replace(placements=shard.placements.reshape(-1)),
            self.jumps.posterior(block).found,
            self._room(pairs.longest + 2),
            np.float32(self.least),
            self.share,
            counting,
            agreeing,
            self.stride if counting and agreeing else 1,
            found,
            FertilityCounts(source, target, placements.reshape(-1), displacements),
        )
        return statistics, paths

    def _room(self, width: int) -> DoubtRoom:
        """Buffers for sentences with fewer than `width` words."""
        from cepts.kernels.fertility import ROWS
        from cepts.kernels.fertility_doubt import DoubtRoom

        square = width, width
        # A word has at most one move for each cept, and one swap with each other word.
        most = 2 * width * width
        return DoubtRoom(
            starts=np.zeros(width + 1, np.int64),
            candidates=np.zeros(width * width, np.int64),
            possible=np.zeros(square, np.bool_),
            score=np.zeros(square),
            fertility=np.zeros((width, width + 2)),
            word=np.zeros(most, np.int64),
            other=np.zeros(most, np.int64),
            to=np.zeros(most, np.int64),
            gain=np.zeros(most),
            leaving=np.zeros(width),
            entering=np.zeros(width),
            of=np.zeros((ROWS, width + 1), np.int64),
            scores=np.zeros((2, width + 1)),
            ahead=np.zeros(square),
            back=np.zeros(square),
            log_factorials=np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, width + 2)))]),
            shape=self.placements.shape[1:],
            limit=self.limit,
        )
