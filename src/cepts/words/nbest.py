"""Room for lists of alignments, and lists as the kernels leave them there."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cepts.data import NBest, offsets_of
from cepts.words.positions import Block

__all__ = ["best_paths", "nbest_lists"]


class Fill(Protocol):
    """Writes the lists of one direction of a block's pairs; see `cepts.kernels.nbest` for what the arrays are."""

    def __call__(
        self,
        direction: int,
        count: int,
        entries: NDArray[np.int64],
        places: NDArray[np.int64],
        found: NDArray[np.int64],
        log_probabilities: NDArray[np.float64],
        positions: NDArray[np.int32],
    ) -> None: ...


def nbest_lists(block: Block, count: int, fill: Fill) -> tuple[NBest, NBest]:
    """The `count` most probable alignments of each pair, forward and reverse."""
    forward, reverse = (_filled(block, count, fill, direction) for direction in range(2))
    return forward, reverse


def best_paths(block: Block, fill: Fill) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first of each list as `Positions.paths` gives it: what source words are linked to, and target words."""
    target, source = (_filled(block, 1, fill, direction, keep_all=True).positions for direction in range(2))
    return source.astype(np.int64), target.astype(np.int64)


def _filled(block: Block, count: int, fill: Fill, direction: int, *, keep_all: bool = False) -> NBest:
    """The lists of one direction; where `keep_all`, entries that no alignment took stay, with all words null's."""
    states, lengths = block.pairs.source_lengths, block.pairs.target_lengths
    if direction == 1:
        states, lengths = lengths, states
    # There are (I + 1)^J alignments, which soon is more than anybody wants, or a float holds.
    powers = lengths * np.log(states + 1)
    room = np.minimum(np.rint(np.exp(np.minimum(powers, np.log(count) + 1))).astype(np.int64), count)
    room[(states == 0) | (lengths == 0)] = 0
    entries = offsets_of(room)
    found = np.zeros(len(lengths), dtype=np.int64)
    log_probabilities = np.full(entries[-1], -np.inf)
    positions = np.full(int((room * lengths).sum()), -1, dtype=np.int32)
    fill(direction, count, entries, offsets_of(room * lengths), found, log_probabilities, positions)
    if not keep_all and (found < room).any():
        taken = np.arange(entries[-1]) < np.repeat(entries[:-1] + found, room)
        log_probabilities = log_probabilities[taken]
        positions = positions[np.repeat(taken, np.repeat(lengths, room))]
        entries = offsets_of(found)
    return NBest(lengths, entries, log_probabilities, positions)
