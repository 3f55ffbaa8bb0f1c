"""Phrases from links: the rectangles that links fill."""

from __future__ import annotations

import numpy as np

from cepts.data import Alignments, Lengths, Segments, reach_of
from cepts.extract.heuristics import check_range


def rectangles(
    alignments: Alignments,
    source_lengths: Lengths | None = None,
    target_lengths: Lengths | None = None,
    *,
    max_source: int | None = None,
    max_target: int | None = None,
    every_link: bool = False,
) -> Segments:
    """Find the phrases of `alignments` greedily: maximal rectangles in which all cells are links.

    A rectangle starts from the first link of each source word that is not in a rectangle yet; rows and columns are
    added in turn as long as all their cells are links. Yao et al. (2013) make segments from token links in this way, in
    training and for the scores of their Table 4. A link outside the rectangle of its source word is in no rectangle.
    With `every_link`, each link is in exactly one rectangle, and a source word may be in several.

    Parameters
    ----------
    alignments
        The links; sure and possible links are treated alike.
    source_lengths, target_lengths
        Number of words of each sentence, to check that every link lies within its pair; None does not check.
    max_source, max_target
        The largest number of source words and of target words in a rectangle; larger ones are split. None has no limit.
    every_link
        Whether to cover all links.

    Returns
    -------
    Segments
        The confidence of a segment is the mean confidence of its links. `scores` are 0, and `states` are the numbers of
        segments.

    Examples
    --------
    >>> links = Alignments.from_links([[(0, 0), (0, 1), (1, 0), (1, 1), (2, 3)]])
    >>> [(source, target) for source, target, _ in rectangles(links)[0]]
    [((0, 2), (0, 2)), ((2, 3), (3, 4))]
    """
    from cepts.kernels.rectangles import grow_rectangles

    for name, limit in (("max_source", max_source), ("max_target", max_target)):
        if limit is not None and limit < 1:
            raise ValueError(f"`{name}` must be 1 or more. Got {limit} instead.")
    check_range(alignments, source_lengths, target_lengths, name="the links")
    links = len(alignments.source)
    longest = np.array([max_source or links + 1, max_target or links + 1], dtype=np.int64)
    spans = np.empty((links, 4), dtype=np.int32)
    means = np.empty(links, dtype=np.float32)
    ends = np.zeros(len(alignments), dtype=np.int64)
    grow_rectangles(
        np.ascontiguousarray(alignments.offsets),
        np.ascontiguousarray(alignments.source, dtype=np.int32),
        np.ascontiguousarray(alignments.target, dtype=np.int32),
        np.ascontiguousarray(alignments.confidence, dtype=np.float32),
        longest,
        every_link,
        np.empty(_largest_matrix(alignments)),
        spans,
        means,
        ends,
    )
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), ends])
    pair = np.repeat(np.arange(len(alignments)), np.diff(offsets))
    order = np.lexsort((*spans[: offsets[-1]].T[::-1], pair))
    return Segments(
        offsets,
        spans[order],
        means[order],
        np.zeros(len(alignments)),
        np.zeros(len(alignments), dtype=np.int64),
    )


def _largest_matrix(alignments: Alignments) -> int:
    """Number of cells that the links of the largest pair span."""
    rows, columns = (reach_of(alignments.offsets, side) for side in (alignments.source, alignments.target))
    return int((rows * columns).max(initial=0))
