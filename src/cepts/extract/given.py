"""Scorers from data of the user: association matrices, and links of two directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import (
    Alignments,
    Association,
    Directions,
    Lengths,
    Runs,
    as_bitext,
    lazy_property,
    offsets_of,
    reach_of,
)
from cepts.engine import cut_runs
from cepts.errors import DataError
from cepts.extract.aligning import Aligning
from cepts.extract.heuristics import check_directions
from cepts.factor import in_counts

CELLS_IN_RUN = 1 << 18
MOST_CELLS = 1 << 26  # of one pair whose links come from files


def are_probabilities(association: Association) -> bool:
    """Whether no entry or null mass is above 1; if so, entries are taken as probabilities, otherwise as counts."""
    return all(float(values.max(initial=0)) <= 1 for _, values, _ in association.masses())


class MatrixDirections(Directions):
    """The directions of given matrices, one for each pair, with probabilities or counts.

    Probabilities are used in both directions as they are. Counts are divided by the sum of their column (forward) or
    row (reverse), null mass included.

    Parameters
    ----------
    association
        The matrices.
    probabilities
        Whether entries are probabilities of links.
    counts
        The matrices in counts, for cepts; None computes them, see `cepts.factor.in_counts`.
    first
        Index of the first pair.
    """

    name = "a matrix"

    def __init__(
        self, association: Association, *, probabilities: bool, counts: Association | None = None, first: int = 0
    ) -> None:
        self.association, self.probabilities, self.first = association, probabilities, first
        self.for_cepts = association
        self._counts = counts

    @lazy_property
    def forward(self) -> Association:
        """The matrix of probabilities, or the share of each count in its column."""
        given = replace(self.association, source_null=None)
        return given if self.probabilities else _shares(given, by_target=True)

    @lazy_property
    def reverse(self) -> Association:
        """The matrix of probabilities, or the share of each count in its row."""
        given = replace(self.association, target_null=None)
        return given if self.probabilities else _shares(given, by_target=False)

    @lazy_property
    def counts(self) -> Association:
        """The matrix in counts."""
        if self._counts is not None:
            return self._counts
        return in_counts(self.association) if self.probabilities else self.association


def _shares(association: Association, *, by_target: bool) -> Association:
    """Each entry divided by the sum of its column (or row) and the null mass of that word."""
    null = association.target_null if by_target else association.source_null
    sums, word = association.line_sums(by_target=by_target)
    if null is not None:
        sums = sums + null
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.nan_to_num(association.values / sums[word]).astype(np.float32)
        rest = None if null is None else np.nan_to_num(null / sums).astype(np.float32)
    given = replace(association, values=values)
    return replace(given, target_null=rest) if by_target else replace(given, source_null=rest)


class MatrixScorer(Aligning):
    """Scores pairs by given association matrices.

    Parameters
    ----------
    association
        One matrix for each pair, with null masses if they are known. If no entry is above 1, entries are probabilities
        of links, otherwise counts.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.
    """

    max_length: int | None = None

    def __init__(self, association: Association, *, threads: int | None = None) -> None:
        self.association, self.threads = association, threads

    @property
    def needs_whole_text(self) -> bool:
        """Whether pairs are found by their number in the text."""
        return True

    def directions(self, pairs: Any = None, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """Return the matrices, run by run; `pairs`, if given, must be sentence pairs of the same sizes."""
        matrices = self.association
        if pairs is not None:
            bitext = as_bitext(pairs)
            _check_shape(matrices.source_lengths, bitext.source.lengths, "source")
            _check_shape(matrices.target_lengths, bitext.target.lengths, "target")
        probabilities = are_probabilities(matrices)

        def run(start: int, stop: int) -> MatrixDirections:
            return MatrixDirections(matrices.part(start, stop), probabilities=probabilities, first=start)

        return _runs(run, matrices.offsets, cells, self.threads)


def _check_shape(found: NDArray[np.int64], wanted: NDArray[np.int64], side: str) -> None:
    """Refuse matrices that do not fit the sentences; a pair without a matrix (0 x 0) fits any sentences."""
    if len(found) != len(wanted):
        raise DataError(
            f"there are {len(found):,} matrices but {len(wanted):,} sentence pairs; give one matrix for each pair, in "
            f"the same order."
        )
    wrong = (found != wanted) & (found > 0)
    if wrong.any():
        pair = int(wrong.argmax())
        raise DataError(
            f"the matrix of pair {pair + 1:,} is for {found[pair]} {side} words but the sentence has {wanted[pair]}; "
            f"check that the matrices belong to these sentences and have no row or column for null."
        )


class LinkDirections(Directions):
    """Links of both directions, with their confidences as probabilities.

    The null mass of a word is 1 minus the sum of its links.
    """

    name = "a pair of link files"

    def __init__(
        self,
        forward: Alignments,
        reverse: Alignments,
        source_lengths: NDArray[np.int64],
        target_lengths: NDArray[np.int64],
        first: int,
    ) -> None:
        self.paths = self._links = forward, reverse
        self._lengths, self.first = (source_lengths, target_lengths), first

    @lazy_property
    def forward(self) -> Association:
        """Confidences of the forward links."""
        return self._matrix(self._links[0], by_target=True)

    @lazy_property
    def reverse(self) -> Association:
        """Confidences of the reverse links."""
        return self._matrix(self._links[1], by_target=False)

    def _matrix(self, links: Alignments, *, by_target: bool) -> Association:
        source_lengths, target_lengths = self._lengths
        cells = source_lengths * target_lengths
        if len(cells) and cells.max() > MOST_CELLS:
            worst = int(cells.argmax())
            raise DataError(
                f"pair {self.first + worst + 1:,}: found links that reach source word {source_lengths[worst]:,} and "
                f"target word {target_lengths[worst]:,}, wanted a matrix of at most {MOST_CELLS:,} cells; check the "
                f"numbers, or combine the links with a heuristic."
            )
        offsets = offsets_of(cells)
        pair = np.repeat(np.arange(len(links)), np.diff(links.offsets))
        values = np.zeros(int(offsets[-1]), dtype=np.float32)
        values[offsets[pair] + links.source * target_lengths[pair] + links.target] = links.confidence
        lengths, positions = (target_lengths, links.target) if by_target else (source_lengths, links.source)
        words = offsets_of(lengths)
        linked = np.bincount(words[pair] + positions, links.confidence, minlength=int(words[-1]))
        null = np.maximum(1.0 - linked, 0.0).astype(np.float32)
        nulls = (None, null) if by_target else (null, None)
        return Association(source_lengths, target_lengths, offsets, values, *nulls)


class LinkScorer(Aligning):
    """Scores pairs by given links of both directions, such as those of two files.

    Parameters
    ----------
    forward, reverse
        Links of the same sentence pairs, both as (source, target); their confidences are probabilities.
    source_lengths, target_lengths
        Number of words of each sentence; None takes the last linked word as the end of the sentence.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.
    """

    max_length: int | None = None

    def __init__(
        self,
        forward: Alignments,
        reverse: Alignments,
        source_lengths: Lengths | None = None,
        target_lengths: Lengths | None = None,
        *,
        threads: int | None = None,
    ) -> None:
        check_directions(forward, reverse, source_lengths, target_lengths)
        self.links, self.threads = (forward, reverse), threads
        self.source_lengths, self.target_lengths = (
            np.maximum(*(reach_of(links.offsets, getattr(links, side)) for links in self.links))
            if lengths is None
            else np.asarray(lengths, dtype=np.int64)
            for side, lengths in (("source", source_lengths), ("target", target_lengths))
        )

    @property
    def needs_whole_text(self) -> bool:
        """Whether pairs are found by their number in the text."""
        return True

    def directions(self, pairs: Any = None, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """Return the links as matrices, run by run; `pairs`, if given, must be sentence pairs that the links fit."""
        source_lengths, target_lengths = self.source_lengths, self.target_lengths
        if pairs is not None:
            bitext = as_bitext(pairs)
            source_lengths, target_lengths = bitext.source.lengths, bitext.target.lengths
            check_directions(*self.links, source_lengths, target_lengths)

        def run(start: int, stop: int) -> LinkDirections:
            forward, reverse = (links.part(start, stop) for links in self.links)
            here = slice(start, stop)
            return LinkDirections(forward, reverse, source_lengths[here], target_lengths[here], start)

        return _runs(run, offsets_of(source_lengths * target_lengths), cells, self.threads)


def _runs(
    run: Callable[[int, int], Directions], offsets: NDArray[np.int64], cells: int | None, threads: int | None
) -> Runs:
    """Divide the pairs whose matrices start at `offsets` into runs."""
    bounds = cut_runs(offsets, min(cells or CELLS_IN_RUN, CELLS_IN_RUN))
    return Runs([partial(run, *both) for both in bounds], len(offsets) - 1, threads=threads)
