"""Links from the similarities of words: what scorers by vectors share, whatever the vectors are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association, Bitext, Directions, GivenDirections, Runs, as_bitext, offsets_of
from cepts.engine import cut_runs

CELLS_IN_RUN = 1 << 18

Both = tuple[Association, Association]


def similarity_runs(
    pairs: Any,
    shares_of: Callable[[Bitext], Both],
    *,
    cells: int | None,
    max_length: int,
    threshold: float,
    name: str,
    threads: int | None,
) -> Runs:
    """The directions of sentence pairs, run by run; pairs that are too long or empty on one side have no matrix.

    Parameters
    ----------
    pairs
        A `Bitext`, or anything that `as_bitext` accepts.
    shares_of
        Gives the forward and the reverse probabilities of a run of pairs.
    cells
        About how many cells a run should have.
    max_length
        The most words of a sentence.
    threshold, name
        As in `Directions`.
    threads
        Number of threads that compute the runs.
    """
    text = as_bitext(pairs).limited(max_length)

    def run(start: int, stop: int) -> Directions:
        return GivenDirections(*shares_of(text.part(start, stop)), first=start, threshold=threshold, name=name)

    offsets = offsets_of(text.source.lengths * text.target.lengths)
    runs = cut_runs(offsets, min(cells or CELLS_IN_RUN, CELLS_IN_RUN))
    return Runs([partial(run, *bounds) for bounds in runs], len(text), threads=threads)


def token_similarities(
    part: Bitext,
    vectors: tuple[NDArray[np.float32], ...],
    *of_words: tuple[NDArray, ...],
    factor: float = 1.0,
    identical: float = 1.0,
) -> NDArray[np.float32]:
    """The similarity of each token pair; the parameters are those of `cepts.kernels.space_links.word_similarities`."""
    from cepts.kernels.lookup import TokenPairs
    from cepts.kernels.space_links import word_similarities

    offsets = offsets_of(part.source.lengths * part.target.lengths)
    found = np.empty(int(offsets[-1]), dtype=np.float32)
    ids = np.ascontiguousarray(part.source.ids), np.ascontiguousarray(part.target.ids)
    tokens = TokenPairs(*ids, part.source.offsets, part.target.offsets, offsets)
    word_similarities(tokens, vectors, factor, *of_words, identical, found)
    return found


def share_links(
    part: Bitext,
    similarities: NDArray[np.float32],
    *,
    temperature: float,
    null: float,
    diagonal: float,
    support: float,
    rounds: int,
) -> Both:
    """The forward and the reverse probabilities of links, of which null has a part; see `link_shares` for the rest.

    `similarities` become the logits of the probabilities.
    """
    from cepts.kernels.space_links import Sharing, link_shares, support_weights

    lengths = part.source.lengths, part.target.lengths
    offsets = offsets_of(lengths[0] * lengths[1])
    forward, reverse = np.empty_like(similarities), np.empty_like(similarities)
    source_null, target_null = (np.empty(len(text.ids), dtype=np.float32) for text in (part.source, part.target))
    weights = support_weights(), rounds if support else 0
    sharing = Sharing(float(temperature), float(null), float(diagonal), float(support), *weights)
    room = np.empty((2, int(np.diff(offsets).max(initial=0))))
    link_shares(*lengths, offsets, similarities, sharing, room, forward, reverse, source_null, target_null)
    return (
        Association(*lengths, offsets, forward, target_null=target_null),
        Association(*lengths, offsets, reverse, source_null=source_null),
    )
