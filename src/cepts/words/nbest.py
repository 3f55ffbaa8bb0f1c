"""Best paths and N-best lists of alignments: allocates the buffers that the kernels fill, and reads the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.data import NBest, offsets_of
from cepts.words.blocks import PairBlock
from cepts.words.positions import Paths

if TYPE_CHECKING:
    from cepts.kernels.nbest import Heap, Lists
    from cepts.kernels.trellis import Trellis

FillPaths = Callable[["Trellis", int, NDArray[np.int64], NDArray[np.int64]], None]
FillLists = Callable[["Trellis", int, "Heap", "Lists"], None]


def best_paths(block: PairBlock, fill: FillPaths, *, jumps: int = 0) -> Paths:
    """The paths that a kernel of `cepts.kernels.trellis` writes, as `Positions.paths` gives them.

    `jumps` is the number of jump weights, 0 for a model with independent links.
    """
    trellis = _trellis(block, jumps)
    target = np.full(len(block.pairs.target_ids), -1, dtype=np.int64)
    source = np.full(len(block.pairs.source_ids), -1, dtype=np.int64)
    fill(trellis, 0, block.pairs.target_offsets, target)
    fill(trellis, 1, block.pairs.source_offsets, source)
    return source, target


def nbest_lists(block: PairBlock, count: int, fill: FillLists, *, jumps: int = 0) -> tuple[NBest, NBest]:
    """The `count` most probable alignments of each pair, forward and reverse, by a kernel of `cepts.kernels.nbest`."""
    from cepts.kernels.nbest import Heap

    trellis = _trellis(block, jumps)
    longest, states = block.pairs.longest, trellis.into.shape[1]
    held = 2 * count + longest + 2
    heap = Heap(
        np.empty((longest, states, 2), dtype=np.int64),
        np.empty((longest, states)),
        np.empty(count),
        np.empty(held),
        np.empty((held, 4), dtype=np.int64),
        np.empty(count),
        np.empty((count, 4), dtype=np.int64),
    )
    forward, reverse = (_filled(block, count, fill, trellis, direction, heap) for direction in range(2))
    return forward, reverse


def _trellis(block: PairBlock, jumps: int) -> Trellis:
    from cepts.kernels.trellis import Trellis

    longest = block.pairs.longest
    states = longest + 2 if jumps else 1
    return Trellis(
        np.zeros((longest, states)),
        np.zeros((longest, longest)),
        np.zeros(longest),
        np.zeros((longest + 1, states)),
        np.empty(jumps),
        jumps > 0,
    )


def lists_of(block: PairBlock, count: int, direction: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of explained words of each pair, and how many alignments to list: `count`, or all if there are fewer."""
    explaining, explained = (block.pairs.source_lengths, block.pairs.target_lengths)[:: 1 - 2 * direction]
    # There are (I + 1)^J alignments, which soon exceeds `count` and the range of a float.
    powers = explained * np.log(explaining + 1)
    room = np.minimum(np.rint(np.exp(np.minimum(powers, np.log(count) + 1))).astype(np.int64), count)
    return explained, room * ((explaining > 0) & (explained > 0))


def _filled(block: PairBlock, count: int, fill: FillLists, trellis: Trellis, direction: int, heap: Heap) -> NBest:
    """The lists of one direction."""
    from cepts.kernels.nbest import Lists

    explained, room = lists_of(block, count, direction)
    entries = offsets_of(room)
    found = np.zeros(len(explained), dtype=np.int64)
    log_probabilities = np.full(entries[-1], -np.inf)
    positions = np.full(int((room * explained).sum()), -1, dtype=np.int32)
    fill(trellis, direction, heap, Lists(entries, offsets_of(room * explained), found, log_probabilities, positions))
    if (found < room).any():
        taken = np.arange(entries[-1]) < np.repeat(entries[:-1] + found, room)
        log_probabilities = log_probabilities[taken]
        positions = positions[np.repeat(taken, np.repeat(explained, room))]
        entries = offsets_of(found)
    return NBest(explained, entries, log_probabilities, positions)
