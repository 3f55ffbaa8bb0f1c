"""Association matrices -> cepts -> file."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cepts import factor
from cepts.data import Alignments, Association, Bitext
from cepts.errors import DataError, UsageError
from cepts.io import LinkWriter, Matrices, association_blocks
from cepts.progress import Progress, Step, of_part

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
    allow_empty: bool = False,
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
    allow_empty
        Take matrices without words or of zeros only, which are otherwise an error: these pairs have no links.
    options
        Those of `cepts.factor.onmf`. A number of cepts must be possible in some pair; shorter ones have fewer.
    """
    started = time.perf_counter()
    if progress is not None:  # since a large file takes a while to read
        progress(Step(stage="factorising", done=0, total=1))
    counts = CeptCounts()
    pairs = links = sure = 0
    blocks = _fitting(association_blocks(matrices, allow_empty=allow_empty), bitext, allow_empty)
    wanted = options.get("cepts")
    if isinstance(wanted, int):
        blocks = _long_enough(blocks, wanted)
    with LinkWriter(output, format=format, base=base, bitext=bitext) as writer:
        for block in blocks:
            if not allow_empty:
                block.check_mass()
            sentences = None if bitext is not None else _sentences(block, format)
            if scale is None:
                scale = OF_PROBABILITIES if _largest(block.association) <= 1 else 1.0
            end = pairs + len(block)
            total = max(end, round(end / block.share)) if block.share else end
            found = factor.onmf(_scaled(block, scale), first=pairs, progress=of_part(progress, pairs, total), **options)
            writer.write(found, sentences)
            counts.add(found)
            pairs += len(found)
            links += len(found.source)
            sure += int(found.sure.sum())
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


def _fitting(blocks: Iterator[Matrices], bitext: Bitext | None, allow_empty: bool) -> Iterator[Matrices]:
    """The blocks, each of which must fit the sentences of `bitext`, and all of which must be as many as these.

    Each is given only when it is known whether another follows, so that of a file of one block nothing is aligned
    before its matrices are counted.
    """
    pairs = 0
    before: Matrices | None = None
    for block in blocks:
        if bitext is not None:
            if pairs + len(block) > len(bitext):
                raise DataError(_other_number(block.name, f"more than {len(bitext):,}", bitext))
            run = slice(pairs, pairs + len(block))
            lengths = bitext.source.lengths[run], bitext.target.lengths[run]
            if allow_empty:  # an aligner gives no words at all to a pair that it leaves out
                association = block.association
                without = np.diff(association.offsets) == 0
                lengths = (
                    np.where(without, association.source_lengths, lengths[0]),
                    np.where(without, association.target_lengths, lengths[1]),
                )
            block.check_fit(*lengths)
        pairs += len(block)
        if before is not None:
            yield before
        before = block
    if before is not None:
        if bitext is not None and pairs != len(bitext):
            raise DataError(_other_number(before.name, f"{pairs:,}", bitext))
        yield before


def _other_number(name: str, found: str, bitext: Bitext) -> str:
    return (
        f"{name} has {found} matrices but the bitext has {len(bitext):,} sentence pairs; give one matrix for each "
        f"pair, in the same order."
    )


def _long_enough(blocks: Iterator[Matrices], cepts: int) -> Iterator[Matrices]:
    """The blocks, held back until one has a pair that is long enough for so many cepts; without any, `UsageError`."""
    held: deque[Matrices] = deque()
    most = 0
    where = ""
    for block in blocks:
        held.append(block)
        shorter = np.minimum(block.association.source_lengths, block.association.target_lengths)
        if shorter.max(initial=0) > most:
            most, where = int(shorter.max()), block.where(int(shorter.argmax()))
        if most >= cepts:
            break
    if 0 < most < cepts:
        raise UsageError(
            f"cepts must be at most {most:,}, the length of the shorter side of the largest matrix ({where}). "
            f"Got {cepts:,} instead."
        )
    while held:
        yield held.popleft()
    yield from blocks


def _largest(association: Association) -> float:
    return max(float(values.max(initial=0)) for _, values, _ in association.masses())


def _scaled(block: Matrices, scale: float) -> Association:
    """The matrices in counts."""
    association = block.association
    if scale == 1:
        return association
    scaled: dict[str, Any] = {}
    for field, values, offsets in association.masses():
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            found = values * np.float32(scale)
        lost = (values > 0) & (~np.isfinite(found) | ((found == 0) & (values == values.max(initial=0))))
        if lost.any():
            place = int(lost.argmax())
            pair = int(np.searchsorted(offsets, place, side="right")) - 1
            raise DataError(
                f"{block.where(pair)}: found {values[place]:g} in {'matrix' if field == 'values' else field}, which a "
                f"scale of {scale:g} makes too {'large' if scale > 1 else 'small'} for a 32-bit number; choose "
                f"another scale."
            )
        scaled[field] = found
    return replace(association, **scaled)


def _sentences(block: Matrices, format: str) -> Bitext | None:
    """The words that the file has, if it has them on both sides."""
    if block.source is None or block.target is None:
        if format == "giza":
            raise UsageError(
                f"the format giza shows the sentences, which {block.name} does not have; give them by --source and "
                f"--target, or choose another format."
            )
        return None
    if format == "giza":
        for pair, words in enumerate(zip(block.source, block.target, strict=True)):
            for word in (*words[0], *words[1]):
                if not word or word.split() != [word]:
                    raise DataError(
                        f"{block.where(pair)}: found the word {word!r}, wanted words without blanks, for the format "
                        f"giza; --format json takes it as it is."
                    )
    return Bitext.from_tokens(zip(block.source, block.target, strict=True))
