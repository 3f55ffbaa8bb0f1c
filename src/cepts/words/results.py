"""What a trained aligner finds: posteriors of sentence pairs, and the links of most probable paths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Association, offsets_of
from cepts.words.positions import Block, Posterior

__all__ = ["Posteriors", "path_links"]


@dataclass(frozen=True, slots=True, eq=False)
class Posteriors:
    """Posteriors of a run of sentence pairs.

    Attributes
    ----------
    first
        Place of the run's first pair in its bitext.
    forward
        P(link) under the model that explains the target by the source, with the target words' P(null).
    reverse
        The same for the model that explains the source by the target.
    log_likelihoods
        Log-probability of each pair in either direction (pairs x 2); 0 for pairs that are not aligned.
    """

    first: int
    forward: Association
    reverse: Association
    log_likelihoods: NDArray[np.float64]


def path_links(
    block: Block, found: Posterior, source: NDArray[np.int64], target: NDArray[np.int64]
) -> tuple[Alignments, Alignments]:
    """Alignments of the two directions' paths (the position of each target word, and of each source word)."""
    pairs = block.pairs
    lengths = pairs.target_lengths
    linked = np.flatnonzero(target >= 0)
    pair = np.searchsorted(pairs.target_offsets, linked, side="right") - 1
    forward = _links(pair, target[linked], linked - pairs.target_offsets[pair], block, lengths, found.forward)
    linked = np.flatnonzero(source >= 0)
    pair = np.searchsorted(pairs.source_offsets, linked, side="right") - 1
    reverse = _links(pair, linked - pairs.source_offsets[pair], source[linked], block, lengths, found.reverse)
    return forward, reverse


def _links(
    pair: NDArray[np.int64],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    block: Block,
    lengths: NDArray[np.int64],
    posterior: NDArray[np.float32],
) -> Alignments:
    order = np.lexsort((target, source, pair))
    pair, source, target = pair[order], source[order], target[order]
    return Alignments(
        offsets_of(np.bincount(pair, minlength=len(block.pairs))),
        source.astype(np.int32),
        target.astype(np.int32),
        np.minimum(posterior[block.cell_offsets[pair] + source * lengths[pair] + target], np.float32(1)),
        np.ones(len(pair), dtype=np.bool_),
    )
