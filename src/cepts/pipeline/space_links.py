"""Text and a fitted space -> association -> links -> file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from cepts import extract, factor
from cepts.data import Alignments, Association, Bitext, Vectors
from cepts.errors import UsageError
from cepts.io import AssociationWriter, LinkWriter
from cepts.pipeline.align import Summary, Tally, check_cepts
from cepts.progress import Progress
from cepts.spaces.associate import Scoring, space_directions
from cepts.spaces.space import Space
from cepts.words.factored import in_counts

__all__ = ["LEAST_SHARE", "align_in_space"]

# Set on the trial sentences of the Hansards, as is all of `cepts.spaces.associate`, and on nothing else.
LEAST_SHARE = 0.5


def align_in_space(
    space: Space,
    views: Sequence[Vectors],
    bitext: Bitext,
    output: str | Path,
    *,
    languages: tuple[str | int, str | int] = (0, 1),
    scoring: Scoring | None = None,
    combine: str = "agreement",
    threshold: float = LEAST_SHARE,
    factoring: dict[str, Any] | None = None,
    format: str = "pharaoh",
    base: int = 0,
    matrices: str | Path | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Align `bitext` by the similarity of its words in a space, and write the links, a line a pair, as they are found.

    Parameters
    ----------
    space, views, bitext, languages, scoring
        As in `cepts.spaces.associate_space`.
    combine
        ``agreement``: links whose geometric mean of both directions' shares reaches the threshold. ``onmf``: through
        cepts. Or one of `cepts.extract.METHODS`, on each word's best link.
    factoring
        For ``onmf``: options of `cepts.factor.onmf`.
    output, format, base
        Of the links; see `cepts.io.LinkWriter`.
    matrices
        For ``onmf``: a file for the association matrices that were factorised, with the words, for `cepts factor`.
    """
    options = dict(factoring or {})
    scoring = scoring or Scoring()
    if combine not in {"agreement", "onmf", *extract.METHODS}:
        methods = ", ".join(["agreement", "onmf", *extract.METHODS])
        raise UsageError(f"combine must be one of {methods}. Got {combine!r} instead.")
    if combine == "onmf":
        check_cepts(options.get("cepts"), bitext, scoring.max_length)
    tally = Tally(bitext, cepts=combine == "onmf")
    runs = space_directions(
        space, views, bitext, languages=languages, scoring=scoring, threads=threads, progress=progress
    )
    # Files are put in their places together at the end, so that a failure leaves none of them.
    with ExitStack() as files:
        writer = files.enter_context(LinkWriter(output, format=format, base=base, bitext=bitext))
        kept = None if matrices is None else files.enter_context(AssociationWriter(matrices))
        for found, association in _links(runs, combine, threshold, options, threads):
            if kept is not None:
                kept.write(association, bitext.part(tally.pairs, tally.pairs + len(association)))
            writer.write(found)
            tally.add(found)
    longest = np.maximum(bitext.source.lengths, bitext.target.lengths)
    return tally.summary(too_long=int((longest > scoring.max_length).sum()))


def _links(
    runs: Iterator[tuple[Association, Association]],
    combine: str,
    threshold: float,
    options: dict[str, Any],
    threads: int | None,
) -> Iterator[tuple[Alignments, Association]]:
    """Links of each run, and the matrices that were read."""
    first = 0
    for forward, reverse in runs:
        association = extract.agreement(forward, reverse)
        if combine == "agreement":
            found = extract.threshold(association, threshold)
        elif combine == "onmf":
            association = in_counts(association)
            found = factor.onmf(association, first=first, threads=threads, **options)
        else:
            best = extract.best(forward, axis="target"), extract.best(reverse, axis="source")
            found = extract.combine(*best, method=combine)  # type: ignore[arg-type]
        first += len(association)
        yield found, association
