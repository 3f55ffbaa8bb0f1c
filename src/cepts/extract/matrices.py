"""Links from association matrices."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Association
from cepts.errors import UsageError, check_choice


def threshold(association: Association, threshold: float) -> Alignments:
    """Make a link of every entry that is at least `threshold`; the entry is the confidence of the link.

    Examples
    --------
    >>> matrix = np.array([0.9, 0.1, 0.4, 0.6], dtype=np.float32)
    >>> lengths = np.array([2])
    >>> threshold(Association(lengths, lengths, np.array([0, 4]), matrix), 0.4)[0].links
    [(0, 0), (1, 0), (1, 1)]
    """
    if np.isnan(threshold):
        raise UsageError("`threshold` must be a number. Got nan instead.")
    # Compared as float32, the type of the values: 0.1 then reaches a threshold of 0.1.
    least = np.float32(threshold)
    offsets, _, target_lengths, values = _arrays(association)
    found = np.flatnonzero(values[: offsets[-1]] >= least)
    links = np.searchsorted(found, offsets)
    counts = np.diff(links)
    source, target = np.divmod(found - np.repeat(offsets[:-1], counts), np.repeat(target_lengths, counts))
    return Alignments(
        links, source.astype(np.int32), target.astype(np.int32), values[found], np.ones(len(found), dtype=np.bool_)
    )


def best(association: Association, *, axis: Literal["source", "target"]) -> Alignments:
    """Link each word of the `axis` side to its partner with the highest value, if this is above the word's null mass.

    With ``axis="target"`` each target word has at most one link, as in the Viterbi alignment of a model that explains
    the target by the source. If several partners have the highest value, the first is taken. A value that equals the
    null mass gives no link, and neither does a value of 0 if there are no null masses.
    """
    from cepts.kernels.extract import best_links

    check_choice("axis", axis, ("source", "target"))
    by_target = axis == "target"
    offsets, source_lengths, target_lengths, values = _arrays(association)
    lengths = target_lengths if by_target else source_lengths
    words = int(lengths.sum())
    given = association.target_null if by_target else association.source_null
    null = np.zeros(words, dtype=np.float32) if given is None else np.ascontiguousarray(given, dtype=np.float32)
    if len(null) != words:
        raise ValueError(f"`{axis}_null` must have one mass for each of {words} {axis} words. Got {len(null)} instead.")
    links = np.empty(len(association) + 1, dtype=np.int64)
    source, target, confidence = np.empty(words, np.int32), np.empty(words, np.int32), np.empty(words, np.float32)
    scratch = np.empty(int(lengths.max(initial=0)), dtype=np.int64)
    matrices = offsets, source_lengths, target_lengths, values
    count = best_links(*matrices, null, by_target, scratch, links, source, target, confidence)
    copies = source[:count].copy(), target[:count].copy(), confidence[:count].copy()
    return Alignments(links, *copies, np.ones(count, dtype=np.bool_))


def _arrays(
    association: Association,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """The arrays of `association` in the types for which the kernels are compiled."""
    return (
        np.ascontiguousarray(association.offsets, dtype=np.int64),
        np.ascontiguousarray(association.source_lengths, dtype=np.int64),
        np.ascontiguousarray(association.target_lengths, dtype=np.int64),
        np.ascontiguousarray(association.values, dtype=np.float32),
    )
