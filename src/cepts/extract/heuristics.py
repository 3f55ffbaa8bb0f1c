"""One alignment out of two: the links of a forward and of a reverse model.

`forward` explains the target by the source, `reverse` the source by the target; the links of both are
(source, target). The heuristics are those of Och and Ney (2003) and Koehn et al. (2003). Their result
depends on the order in which links are tried; we follow the `atools` program of fast_align:

- *grow-diag* starts from the intersection. A pass goes through the other links of the union by source, then
  target position, and adds each that has a link so far beside it (8 neighbours) and whose source word or
  target word is not covered so far; what it adds counts at once. Passes repeat until one adds nothing.
- *grow-diag-final* then goes through the forward links, then through the reverse ones, in the same order,
  and adds each whose source word or target word is not covered so far.
- *grow-diag-final-and* does so with each link of which neither word is covered so far.

Moses' `symal` grows around each link in turn, so a few of its links differ.
"""

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
    """Combine the links of two directions; see the module's text for what each method does.

    Parameters
    ----------
    forward, reverse
        Links of the same sentence pairs, both as (source, target).
    source_lengths, target_lengths
        Words of each pair; every link must lie within them. Without them nothing is known to be out of range.
    method
        One of `METHODS`.

    Returns
    -------
    Alignments
        A link's confidence is the mean of its confidences in the two directions, 0 where a direction lacks
        it. A link is sure where one of the directions says so.

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
    """Raise `DataError` where the links of two directions are not of the same pairs, or lie outside of them."""
    if len(forward) != len(reverse):
        raise DataError(
            f"the forward links are of {len(forward):,} sentence pairs but the reverse ones of "
            f"{len(reverse):,}; both must come from the same bitext."
        )
    for name, alignments in (("forward", forward), ("reverse", reverse)):
        check_range(alignments, source_lengths, target_lengths, name=f"the {name} links")


def check_range(
    alignments: Alignments, source_lengths: Lengths | None, target_lengths: Lengths | None, *, name: str
) -> None:
    """Raise `DataError` at the first link outside of its sentence pair; `name` says whose links these are."""
    pairs = len(alignments)
    counts = np.diff(alignments.offsets)
    for side, positions, lengths in (
        ("source", alignments.source, source_lengths),
        ("target", alignments.target, target_lengths),
    ):
        if lengths is not None and len(lengths) != pairs:
            raise DataError(
                f"{name} are of {pairs:,} sentence pairs but there are {len(lengths):,} {side} sentences; "
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
                wanted = f"its {side} has {words:,} word{'' if words == 1 else 's'}, numbered from 0"
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
    # Copied, so that the rest of the room is freed.
    return Alignments(union.offsets, *(array[:count].copy() for array in union[1:])), origin[:count]


def _arrays(links: Alignments) -> Links:
    """The arrays of `links` in the types for which the kernels are compiled; not copied where they are so."""
    from cepts.kernels.extract import Links

    return Links(
        np.ascontiguousarray(links.offsets, dtype=np.int64),
        np.ascontiguousarray(links.source, dtype=np.int32),
        np.ascontiguousarray(links.target, dtype=np.int32),
        np.ascontiguousarray(links.confidence, dtype=np.float32),
        np.ascontiguousarray(links.sure, dtype=np.bool_),
    )
