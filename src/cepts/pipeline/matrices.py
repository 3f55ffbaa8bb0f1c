"""From a file of association matrices to a file of links, through cepts or any other extractor."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cepts.data import Alignment, Alignments, Association, Bitext, Directions, Runs
from cepts.engine import cut_runs
from cepts.errors import DataError, UsageError, shown
from cepts.extract import Extraction, MatrixDirections, aligned_runs, are_probabilities
from cepts.factor import EVIDENCE, in_counts
from cepts.io import LinkWriter, Matrices, association_blocks, check_output, read_links
from cepts.pipeline.loop import Summary, WriterOfRuns
from cepts.pipeline.reports import counted
from cepts.progress import Progress

CELLS_IN_RUN = 1 << 17


class MatrixFile:
    """A scorer that reads its matrices from a file, block by block.

    Parameters
    ----------
    path
        File of association matrices; see `cepts.io.read_association`.
    bitext
        The sentences, which must fit the matrices; None if there are none.
    scale
        How many counts an entry of 1 is worth. None takes entries as counts or, if no entry of the first matrices is
        above 1, as probabilities: a certain link is then worth 200 counts.
    allow_empty
        Accept matrices without words, or of zeros only, which are otherwise an error; such pairs have no links.
    cepts
        The number of cepts that will be asked for. It is an error if no pair is long enough for it.
    threads
        Number of threads; None uses one for each processor. Results do not depend on it.
    """

    max_length: int | None = None

    def __init__(
        self,
        path: str | Path,
        *,
        bitext: Bitext | None = None,
        scale: float | None = None,
        allow_empty: bool = False,
        cepts: str | int = "anneal",
        threads: int | None = None,
    ) -> None:
        self.path, self.bitext, self.scale, self.allow_empty = path, bitext, scale, allow_empty
        self.cepts, self.threads = cepts, threads
        self.blocks_read: deque[Matrices] = deque()
        self._probabilities: bool | None = None
        self._expected = 0

    @property
    def scale_used(self) -> float:
        """How many counts an entry of 1 was worth."""
        return self.scale if self.scale is not None else EVIDENCE if self._probabilities else 1.0

    def lines(self, summary: Summary, seconds: float) -> list[str]:
        """A summary of what was aligned, as lines for people."""
        matrices = counted(summary.pairs, "matrix", "matrices")
        return [
            f"aligned  {matrices}, scale {self.scale_used:g}, in {seconds:,.1f} s",
            f"links    {summary.sure:,} sure, {summary.links - summary.sure:,} possible",
            *([] if summary.cepts is None else summary.cepts.lines()),
        ]

    def directions(self, pairs: Any = None, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """The matrices, as they are read."""
        return Runs(self._makers(cells or CELLS_IN_RUN), lambda: self._expected, threads=self.threads)

    def _makers(self, cells: int) -> Iterator[Callable[[], Directions]]:
        blocks = _fitting(association_blocks(self.path, allow_empty=self.allow_empty), self.bitext, self.allow_empty)
        if isinstance(self.cepts, int):
            blocks = _long_enough(blocks, self.cepts)
        for block in blocks:
            if not self.allow_empty:
                block.check_mass()
            if self._probabilities is None:
                self._probabilities = are_probabilities(block.association)
            end = block.first + len(block)
            self._expected = max(end, round(end / block.share)) if block.share else end
            counts = self._in_counts(block)
            for start, stop in cut_runs(block.association.offsets, min(cells, CELLS_IN_RUN)):
                self.blocks_read.append(block.part(start, stop))
                yield partial(
                    MatrixDirections,
                    block.association.part(start, stop),
                    probabilities=self._probabilities,
                    counts=counts.part(start, stop),
                    first=block.first + start,
                )

    def _in_counts(self, block: Matrices) -> Association:
        if self.scale is not None:
            return _scaled(block, self.scale)
        return in_counts(block.association) if self._probabilities else block.association


class _Writer(WriterOfRuns):
    """Writes links, with the words of the matrices if no sentences were given."""

    def __init__(self, file: MatrixFile, output: str | Path, format: str, base: int) -> None:
        super().__init__(LinkWriter(output, format=format, base=base, bitext=file.bitext))
        self._file, self._format = file, format

    def write(self, alignments: Alignments) -> None:
        """Write the links of the next matrices."""
        block = self._file.blocks_read.popleft()
        self.writer.write(alignments, None if self._file.bitext is not None else _sentences(block, self._format))


def align_matrices(
    file: MatrixFile,
    output: str | Path,
    extraction: Extraction | None = None,
    *,
    format: str = "pharaoh",
    base: int = 0,
    progress: Progress | None = None,
) -> Summary:
    """Align the words of the matrices of a file and write their links.

    Parameters
    ----------
    file
        The file of matrices.
    output, format, base
        The file of links, as in `cepts.io.LinkWriter`.
    extraction
        How links are made; by default through cepts.
    progress
        Called after each run of matrices.
    """
    check_output(output)
    summary = Summary()
    writer = _Writer(file, output, format, base)
    with writer:
        for run in aligned_runs(file, None, extraction or Extraction(combine="onmf"), progress=progress):
            shape = file.blocks_read[0].association
            summary.source_words += int(shape.source_lengths.sum())
            summary.target_words += int(shape.target_lengths.sum())
            writer.write(run.links)
            summary.add(run.links)
    return summary


def matrix_to_draw(
    path: str | Path, pair: int, *, allow_empty: bool = False, gold: str | Path | None = None
) -> tuple[Matrices, Alignment | None]:
    """Read the matrix of one pair of a file, and its gold links.

    Parameters
    ----------
    path
        The file of matrices.
    pair
        The number of the pair, from 0.
    allow_empty
        Accept matrices without words among the others.
    gold
        A file of gold links for all pairs, or None.
    """
    found: Matrices | None = None
    lengths = []
    count = 0
    name = str(path)
    for block in association_blocks(path, allow_empty=allow_empty):
        name = block.name
        lengths.append((block.association.source_lengths, block.association.target_lengths))
        if count <= pair < count + len(block):
            found = block.part(pair - count, pair - count + 1)
        count += len(block)
    if found is None:
        has = counted(count, "matrix", "matrices")
        raise UsageError(f"`pair` must be at most {count:,}, since {name} has {has}. Got {pair + 1:,} instead.")
    if not found.association.values.any():
        raise DataError(
            f"{found.where(0)}: found a matrix of zeros only, wanted at least one value above 0 to draw; choose "
            f"another pair."
        )
    if gold is None:
        return found, None
    links = read_links(
        gold,
        sentences=count,
        source_lengths=np.concatenate([source for source, _ in lengths]),
        target_lengths=np.concatenate([target for _, target in lengths]),
    )
    return found, links[pair]


def _fitting(blocks: Iterator[Matrices], bitext: Bitext | None, allow_empty: bool) -> Iterator[Matrices]:
    """Yield the blocks, after checking that they fit the sentences of `bitext` in size and in number.

    A block is yielded only when it is known whether another one follows, so that a file of a single block is aligned
    only after its matrices are counted.
    """
    pairs = 0
    before: Matrices | None = None
    for block in blocks:
        if bitext is not None:
            if pairs + len(block) > len(bitext):
                raise DataError(_other_number(block.name, f"more than {len(bitext):,}", bitext))
            run = slice(pairs, pairs + len(block))
            lengths = bitext.source.lengths[run], bitext.target.lengths[run]
            if allow_empty:  # aligners write a matrix without words for a pair that they skip
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
    """Yield the blocks once one of them has a pair that is long enough for `cepts`; otherwise raise `UsageError`."""
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
            f"`cepts` must be at most {most:,}, the length of the shorter side of the largest matrix ({where}). "
            f"Got {cepts:,} instead."
        )
    while held:
        yield held.popleft()
    yield from blocks


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
                f"another `scale=`."
            )
        scaled[field] = found
    return replace(association, **scaled)


def _sentences(block: Matrices, format: str) -> Bitext | None:
    """The words that the file has, if it has them on both sides."""
    if block.source is None or block.target is None:
        if format == "giza":
            raise UsageError(
                f"the format giza shows the sentences, which {block.name} does not have; give them with `source` and "
                f"`target`, or choose another format."
            )
        return None
    if format == "giza":
        for pair, words in enumerate(zip(block.source, block.target, strict=True)):
            for word in (*words[0], *words[1]):
                if not word or word.split() != [word]:
                    raise DataError(
                        f"{block.where(pair)}: found the word {shown(word)}, but the format giza needs words without "
                        f"blanks; choose the format json."
                    )
    return Bitext.from_tokens(zip(block.source, block.target, strict=True))
