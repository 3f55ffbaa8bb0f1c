"""Heuristics that combine the links of a forward and a reverse model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Lengths
from cepts.errors import DataError, check_choice

if TYPE_CHECKING:
    from cepts.kernels.extract import Links

# Name -> the number of its last step in the kernel; None where nothing grows.
METHODS: dict[str, int | None] = {
    "intersection": None,
    "union": None,
    "grow-diag": 0,
    "grow-diag-final": 1,
    "grow-diag-final-and": 2,
}


def combine(
    forward: Alignments,
    reverse: Alignments,
    source_lengths: Lengths | None = None,
    target_lengths: Lengths | None = None,
    *,
    method: str,
) -> Alignments:
    """Combine the links of two directions by a heuristic.

    ``intersection`` has the links that both directions have, ``union`` those that at least one of them has. The other
    heuristics are those of Och and Ney (2003) and Koehn et al. (2003). Their result depends on the order in which links
    are tried, which is that of the program `atools` of fast_align:

    - ``grow-diag`` starts from the intersection. A pass goes through the other links of the union, by source position
      and then by target position. It adds each link that is next to a link chosen so far (one of 8 neighbours), if its
      source word or its target word has no link yet. A link counts as soon as it is added. Passes are repeated until
      one adds nothing.
    - ``grow-diag-final`` then goes through the forward links and after these through the reverse links, in the same
      order, and adds each link whose source word or target word has no link yet.
    - ``grow-diag-final-and`` does the same, but adds a link only if neither of its words has a link yet.

    The program `symal` of Moses grows around each link in turn, so a few of its links differ.

    Parameters
    ----------
    forward, reverse
        Links of the same sentence pairs, both as (source, target). The forward direction explains the target by the
        source, the reverse direction the source by the target.
    source_lengths, target_lengths
        Number of words of each sentence, to check that every link lies within its pair; None does not check.
    method
        One of `METHODS`.

    Returns
    -------
    Alignments
        The confidence of a link is the mean of its confidences in the two directions, where a direction without the
        link counts as 0. A link is sure if it is sure in one of the directions.

    Examples
    --------
    >>> forward = Alignments.from_links([[(0, 0), (1, 1), (2, 1)]])
    >>> reverse = Alignments.from_links([[(0, 0), (1, 1), (1, 2)]])
    >>> combine(forward, reverse, method="grow-diag")[0].links
    [(0, 0), (1, 1), (1, 2), (2, 1)]
    """
    check_choice("method", method, METHODS)
    check_directions(forward, reverse, source_lengths, target_lengths)
    union, origin = _union(forward, reverse)
    if method == "union":
        return union
    if method == "intersection":
        return union.only(origin == 3)

    from cepts.kernels.extract import grow_diagonal

    kept = np.empty(len(origin), dtype=np.bool_)
    source_covered = np.empty(int(union.source.max(initial=-1)) + 1, dtype=np.bool_)
    target_covered = np.empty(int(union.target.max(initial=-1)) + 1, dtype=np.bool_)
    links = union.offsets, union.source, union.target, origin
    grow_diagonal(*links, METHODS[method], source_covered, target_covered, kept)
    return union.only(kept)


def check_directions(
    forward: Alignments, reverse: Alignments, source_lengths: Lengths | None, target_lengths: Lengths | None
) -> None:
    """Raise `DataError` if the links of two directions have different numbers of pairs, or lie outside their pairs."""
    if len(forward) != len(reverse):
        raise DataError(
            f"the forward links are for {len(forward):,} sentence pairs but the reverse links are for "
            f"{len(reverse):,}; both must come from the same bitext."
        )
    for name, alignments in (("forward", forward), ("reverse", reverse)):
        check_range(alignments, source_lengths, target_lengths, name=f"the {name} links")


def check_range(
    alignments: Alignments, source_lengths: Lengths | None, target_lengths: Lengths | None, *, name: str
) -> None:
    """Raise `DataError` if a link lies outside its sentence pair; `name` is what the message calls the links."""
    pairs = len(alignments)
    counts = np.diff(alignments.offsets)
    for side, positions, lengths in (
        ("source", alignments.source, source_lengths),
        ("target", alignments.target, target_lengths),
    ):
        if lengths is not None and len(lengths) != pairs:
            raise DataError(
                f"{name} are for {pairs:,} sentence pairs but there are {len(lengths):,} {side} sentences; "
                f"both must come from the same bitext."
            )
        outside = positions < 0
        if lengths is not None:
            outside |= positions >= np.repeat(np.asarray(lengths), counts)
        if outside.any():
            link = int(np.argmax(outside))
            pair = int(np.searchsorted(alignments.offsets, link, side="right")) - 1
            found = f"{alignments.source[link]}-{alignments.target[link]}"
            wanted = "positions start at 0" if positions[link] < 0 else ""
            if lengths is not None and positions[link] >= 0:
                words = int(lengths[pair])
                wanted = f"its {side} sentence has {words:,} word{'' if words == 1 else 's'}, numbered from 0"
            raise DataError(f"{name}: sentence pair {pair + 1:,} has the link {found}, but {wanted}.")


def _union(forward: Alignments, reverse: Alignments) -> tuple[Alignments, NDArray[np.uint8]]:
    """All links of both, and for each 1 if `forward` has it, 2 if `reverse`, 3 if both."""
    from cepts.kernels.extract import Links, merge_links

    most = len(forward.source) + len(reverse.source)
    union = Links(
        np.empty(len(forward) + 1, dtype=np.int64),
        np.empty(most, dtype=np.int32),
        np.empty(most, dtype=np.int32),
        np.empty(most, dtype=np.float32),
        np.empty(most, dtype=np.bool_),
    )
    origin = np.empty(most, dtype=np.uint8)
    count = merge_links(_arrays(forward), _arrays(reverse), union, origin)
    # Copied, so that the unused rest of the buffers is freed.
    return Alignments(union.offsets, *(array[:count].copy() for array in union[1:])), origin[:count]


def _arrays(links: Alignments) -> Links:
    """The arrays of `links` in the types for which the kernels are compiled; copied only if the types differ."""
    from cepts.kernels.extract import Links

    return Links(
        np.ascontiguousarray(links.offsets, dtype=np.int64),
        np.ascontiguousarray(links.source, dtype=np.int32),
        np.ascontiguousarray(links.target, dtype=np.int32),
        np.ascontiguousarray(links.confidence, dtype=np.float32),
        np.ascontiguousarray(links.sure, dtype=np.bool_),
    )
