"""The table of extractors, which make links from the results of a scorer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from cepts.data import Alignments, Association, Directions
from cepts.errors import UsageError, check_choice, check_least
from cepts.extract.associations import ASSOCIATIONS, NBEST, association_of
from cepts.extract.heuristics import METHODS, combine
from cepts.extract.matrices import best, threshold
from cepts.factor import Factoring, in_counts, onmf, spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """How links are made from the results of a scorer.

    Attributes
    ----------
    combine
        Name of the extractor, one of `EXTRACTORS`.
    threshold
        From 0 to 1; higher gives fewer links. For ``agreement``: the lowest confidence of a link. For ``onmf``: a word
        stays in its cept only if its associations with the cept's words on the other side add up to this much. None is
        the default of the scorer, which for ``agreement`` is the lowest agreement that makes a link; see
        `cepts.data.Directions.confidences` for how the two differ.
    association
        One of `ASSOCIATIONS`. For ``onmf``: the matrix that is factorised. For the other extractors: the matrix that is
        returned with the links, if matrices are requested.
    nbest
        Length of the N-best lists, for associations that count links in them; None is `NBEST`.
    factoring
        Options of the factorisation, for ``onmf``.
    """

    combine: str = "agreement"
    threshold: float | None = None
    association: str = "agreement"
    nbest: int | None = None
    factoring: Factoring = field(default_factory=Factoring)

    def __post_init__(self) -> None:
        check_choice("combine", self.combine, EXTRACTORS)
        check_choice("association", self.association, ASSOCIATIONS)
        check_least(self, 1, "nbest")
        if self.nbest is not None and not ASSOCIATIONS[self.association].lists:
            lists = [name for name, kind in ASSOCIATIONS.items() if kind.lists]
            raise UsageError(
                f"`nbest` is the length of lists of alignments, which `association` {self.association} does not use; "
                f"choose `association` {' or '.join(lists)}, or leave out `nbest`."
            )
        # Written so that NaN fails.
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise UsageError(f"`threshold` must lie between 0 and 1. Got {self.threshold} instead.")
        if self.factoring.spread and not ASSOCIATIONS[self.association].null:
            raise UsageError(
                f"`spread` moves null mass to neighbouring words, but `association` {self.association} has no null; "
                f"leave out `spread`."
            )

    @property
    def length(self) -> int:
        """Length of the N-best lists."""
        return self.nbest or NBEST


class Extractor(NamedTuple):
    """A way to make links from the results of a scorer.

    Attributes
    ----------
    what
        One line that says what it does.
    links
        Makes the links of a run of pairs.
    matrix
        Makes the association matrix from which the links are made, which is returned if matrices are requested.
    cells
        About how many cells a run should have; None leaves this to the scorer. A slow extractor needs small runs, so
        that all threads have work.
    """

    what: str
    links: Callable[[Directions, Extraction], Alignments]
    matrix: Callable[[Directions, Extraction], Association] = association_of
    cells: int | None = None

    def __call__(self, directions: Directions, extraction: Extraction) -> Alignments:
        """The links of a run of pairs."""
        return self.links(directions, extraction)


def _agreement(directions: Directions, extraction: Extraction) -> Alignments:
    least = extraction.threshold
    found = threshold(
        directions.agreement, directions.threshold if least is None else directions.least_agreement(least)
    )
    links = replace(found, confidence=directions.confidences(found))
    return links if least is None else links.only(links.confidence >= np.float32(least))


def _cepts(directions: Directions, extraction: Extraction) -> Alignments:
    matrix = _in_counts(directions, extraction)
    found = onmf(matrix, first=directions.first, threads=1, **extraction.factoring.of_onmf())
    least = directions.looseness if extraction.threshold is None else extraction.threshold
    return found if least is None else without_loose_words(found, association_of(directions, extraction), least)


def without_loose_words(alignments: Alignments, association: Association, least: float) -> Alignments:
    """Move words that are only weakly associated with their cept from the cept to null.

    A factorisation puts every word into the cept that fits best, however badly it fits. Words whose partners have all
    left their cept go to null too.

    Parameters
    ----------
    alignments
        Links that were made from cepts, with these cepts.
    association
        The matrix that was factorised, as probabilities.
    least
        A word stays in its cept if its associations with the cept's words on the other side add up to at least this.
    """
    cepts = alignments.cepts
    if cepts is None:
        raise ValueError("`alignments` must have cepts.")
    pair = np.repeat(np.arange(len(alignments)), np.diff(alignments.offsets))
    source = cepts.source_offsets[pair] + alignments.source
    target = cepts.target_offsets[pair] + alignments.target
    cell = association.offsets[pair] + alignments.source * association.target_lengths[pair] + alignments.target
    values = association.values[cell].astype(np.float64)
    firm = [
        np.bincount(words, values, minlength=count) >= least
        for words, count in ((source, len(cepts.source)), (target, len(cepts.target)))
    ]
    kept = firm[0][source] & firm[1][target]
    linked = [np.zeros(len(side), dtype=np.bool_) for side in firm]
    linked[0][source[kept]] = True
    linked[1][target[kept]] = True
    return replace(
        alignments.only(kept),
        cepts=replace(
            cepts,
            source=np.where(linked[0], cepts.source, np.int32(-1)),
            target=np.where(linked[1], cepts.target, np.int32(-1)),
        ),
    )


def _in_counts(directions: Directions, extraction: Extraction) -> Association:
    """The matrices to factorise: the association in counts, with null mass spread over neighbouring words."""
    kind = ASSOCIATIONS[extraction.association]
    wanted = extraction.factoring.spread
    strength = kind.spread if wanted is None else wanted

    def make() -> Association:
        if directions.counts is not None and extraction.association == "agreement":
            return directions.counts
        counted = association_of(directions, extraction)
        if kind.scaled:
            counted = in_counts(counted, kind.certain(extraction.length))
        pulls = directions.pulls if strength else None
        return counted if pulls is None else spread(counted, *pulls, strength)

    return directions.once(("counts", extraction.association, extraction.length, strength), make)


def _paths(directions: Directions) -> tuple[Alignments, Alignments]:
    """The best alignment of each direction."""

    def make() -> tuple[Alignments, Alignments]:
        return best(directions.forward, axis="target"), best(directions.reverse, axis="source")

    return directions.paths or directions.once("paths", make)


def _heuristic(method: str) -> Callable[[Directions, Extraction], Alignments]:
    return lambda directions, extraction: combine(*_paths(directions), method=method)


EXTRACTORS: dict[str, Extractor] = {
    "agreement": Extractor("links on which the directions agree: the geometric mean reaches a threshold", _agreement),
    "onmf": Extractor("cepts: every word is in exactly one cept, or in null", _cepts, _in_counts, cells=1 << 13),
    **{
        method: Extractor(f"{method} of the best alignment of each direction", _heuristic(method)) for method in METHODS
    },
    "forward": Extractor(
        "the best alignment of the direction that explains the target",
        lambda directions, extraction: _paths(directions)[0],
    ),
    "reverse": Extractor(
        "the best alignment of the direction that explains the source",
        lambda directions, extraction: _paths(directions)[1],
    ),
}
