"""Association matrices -> cepts -> file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cepts import factor
from cepts.errors import DataError
from cepts.io import LinkWriter, Matrices, association_blocks
from cepts.progress import Progress, Step, silent
from cepts.types import Alignments, Bitext

__all__ = ["CeptCounts", "FactorSummary", "factor_matrices"]

# What a probability of 1 is worth in counts: two lists of 100 alignments that all have the link.
OF_PROBABILITIES = 200.0


class CeptCounts:
    """Cepts, null words and noise of many pairs, added up as they are found."""

    def __init__(self) -> None:
        self.pairs = 0
        self.cepts = 0
        self.source_words = self.target_words = 0
        self.source_null = self.target_null = 0
        self.noise = 0.0

    def add(self, alignments: Alignments) -> None:
        """Count the cepts of `alignments`, if they have some."""
        cepts = alignments.cepts
        if cepts is None:
            return
        full = cepts.source_offsets[1:] > cepts.source_offsets[:-1]
        self.pairs += int(full.sum())
        self.noise += float(cepts.noise[full].sum(dtype=np.float64))
        tops = np.zeros(len(cepts), dtype=np.int64)
        if full.any():
            tops[full] = np.maximum.reduceat(cepts.source, cepts.source_offsets[:-1][full]) + 1
        self.cepts += int(tops.sum())
        self.source_words += len(cepts.source)
        self.target_words += len(cepts.target)
        self.source_null += int((cepts.source < 0).sum())
        self.target_null += int((cepts.target < 0).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorSummary:
    """What a run on association matrices did."""

    pairs: int
    source_words: int
    target_words: int
    links: int
    sure: int
    counts: CeptCounts
    scale: float
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return {**asdict(self), "counts": vars(self.counts)}


def factor_matrices(
    matrices: str | Path,
    output: str | Path,
    *,
    bitext: Bitext | None = None,
    scale: float | None = None,
    format: str = "pharaoh",
    base: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> FactorSummary:
    """Align the words of the matrices of a file and write the links, a line a matrix, as they are found.

    Parameters
    ----------
    matrices
        File of association matrices; see `cepts.io.read_association`.
    bitext
        The sentences, which must fit the matrices.
    scale
        What an entry of 1 is worth in counts. None takes entries as counts, or where all of the first matrices' are
        at most 1 as probabilities, worth 200.
    options
        Those of `cepts.factor.onmf`.
    """
    report = progress or silent
    started = time.perf_counter()
    counts = CeptCounts()
    pairs = links = sure = 0
    with LinkWriter(output, format=format, base=base, bitext=bitext) as writer:
        for block in _fitting(association_blocks(matrices), bitext):
            block.check_mass()
            if scale is None:
                scale = OF_PROBABILITIES if block.association.values.max(initial=0) <= 1 else 1.0
            found = factor.onmf(block.association, scale=scale, **options)
            writer.write(found, None if bitext is not None else _sentences(block))
            counts.add(found)
            pairs += len(found)
            links += len(found.source)
            sure += int(found.sure.sum())
            report(Step(stage="factorising", done=pairs, total=pairs, seconds=time.perf_counter() - started))
    return FactorSummary(
        pairs=pairs,
        source_words=counts.source_words,
        target_words=counts.target_words,
        links=links,
        sure=sure,
        counts=counts,
        scale=1.0 if scale is None else scale,
        seconds=time.perf_counter() - started,
    )


def _fitting(blocks: Iterator[Matrices], bitext: Bitext | None) -> Iterator[Matrices]:
    """The blocks, each of which must fit the sentences of `bitext`, and all of which must be as many as these."""
    pairs = 0
    name = "the file"
    for block in blocks:
        name = block.name
        if bitext is not None:
            run = slice(pairs, min(pairs + len(block), len(bitext)))
            if pairs + len(block) > len(bitext):
                raise DataError(_too_many(name, f"more than {len(bitext):,}", bitext))
            block.check_fit(bitext.source.lengths[run], bitext.target.lengths[run])
        pairs += len(block)
        yield block
    if bitext is not None and pairs != len(bitext):
        raise DataError(_too_many(name, f"{pairs:,}", bitext))


def _too_many(name: str, found: str, bitext: Bitext) -> str:
    return (
        f"{name} has {found} matrices but the bitext has {len(bitext):,} sentence pairs; give one matrix for each "
        f"pair, in the same order."
    )


def _sentences(block: Matrices) -> Bitext | None:
    """The words that the file has, or numbers in their place."""
    if block.source is not None and block.target is not None:
        return Bitext.from_tokens(zip(block.source, block.target, strict=True))
    return None
