"""The cepts that links imply, and the transitive closure of links."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cepts.data import Alignments, Cepts, offsets_of, reach_of
from cepts.factor import links_of_cepts


def cepts_of_links(alignments: Alignments) -> Cepts:
    """The cepts that links imply: words that are connected by links, directly or through others, are in one cept.

    Words without links belong to null. A sentence ends with its last linked word, because links do not tell its length.
    The cepts of a pair are sorted by their first source word.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pair = alignments.pair
    source_offsets, target_offsets = (
        offsets_of(reach_of(alignments.offsets, positions)) for positions in (alignments.source, alignments.target)
    )
    source, target = source_offsets[pair] + alignments.source, target_offsets[pair] + alignments.target
    words, others = int(source_offsets[-1]), int(target_offsets[-1])
    graph = coo_array((np.ones(len(pair), dtype=np.bool_), (source, words + target)), shape=(words + others,) * 2)
    _, component = connected_components(graph, directed=False)
    linked = np.zeros(words, dtype=np.bool_)
    linked[source] = True
    # A cept is numbered within its pair by the place of its first source word among those of all cepts of the pair.
    _, first, of_word = np.unique(component[:words][linked], return_index=True, return_inverse=True)
    starts = np.flatnonzero(linked)[first]
    rank = np.empty(len(starts), dtype=np.int64)
    rank[np.argsort(starts)] = np.arange(len(starts))
    before = np.searchsorted(np.sort(starts), source_offsets[:-1])
    pair_of_word = np.repeat(np.arange(len(alignments)), np.diff(source_offsets))
    cept = np.full(words, -1, dtype=np.int32)
    cept[linked] = rank[of_word] - before[pair_of_word[linked]]
    other = np.full(others, -1, dtype=np.int32)
    other[target] = cept[source]
    one, two = (np.ones(count, dtype=np.float32) for count in (words, others))
    return Cepts(source_offsets, target_offsets, cept, other, one, two, np.zeros(len(alignments), dtype=np.float32))


def closure(alignments: Alignments) -> Alignments:
    """The transitive closure of links: if i is linked to j and j', then any i' linked to j' is linked to j too.

    These are the proper alignments of Goutte et al. (2004), section 2, except that words without links stay without. A
    link of the closure is sure if it is in the closure of the sure links alone. Its confidence is 1. Links to null stay
    as they are.

    Examples
    --------
    >>> closure(Alignments.from_links([[(0, 0), (0, 1), (1, 1)]]))[0]
    Alignment(0-0 0-1 1-0 1-1)
    """
    everything = links_of_cepts(cepts_of_links(alignments))
    sure = links_of_cepts(cepts_of_links(alignments.only(alignments.sure)))
    both = (replace(everything, sure=np.zeros_like(everything.sure)), sure)
    columns = (np.concatenate(pair) for pair in zip(*(links.columns() for links in both), strict=True))
    return replace(Alignments.from_columns(len(alignments), *columns), nulls=alignments.nulls)
