"""Text -> model -> posteriors -> links -> file."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Bitext
from cepts.errors import UsageError
from cepts.io import AssociationWriter, LinkWriter, open_output
from cepts.pipeline.factor import CeptCounts
from cepts.progress import Progress, Step, silent
from cepts.words import THRESHOLD, Aligner, Factoring, align_by_cepts, associations

__all__ = ["Summary", "Tally", "align_bitext", "check_cepts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What an alignment run did."""

    pairs: int
    source_words: int
    target_words: int
    links: int
    source_covered: int
    target_covered: int
    empty: int
    too_long: int
    seconds: float
    sure: int = 0
    cepts: CeptCounts | None = None

    def as_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return {**asdict(self), "cepts": None if self.cepts is None else vars(self.cepts)}


def align_bitext(
    aligner: Aligner,
    bitext: Bitext,
    output: str | Path,
    *,
    combine: str = "agreement",
    threshold: float = THRESHOLD,
    format: str = "pharaoh",
    base: int = 0,
    scores: str | Path | None = None,
    factoring: Factoring | None = None,
    matrices: str | Path | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Align `bitext` with a trained aligner and write the links, a line a pair, as they are found.

    Parameters
    ----------
    aligner, bitext, combine, threshold, factoring
        As in `Aligner.align`.
    output, format, base
        Of the links; see `cepts.io.LinkWriter`.
    scores
        A file for the log-probabilities of each pair: log P(target | source), a tab, log P(source | target).
    matrices
        For ``onmf``: a file for the association matrices that were factorised, with the words, for `cepts factor`.
    """
    if combine == "onmf" and factoring is not None:
        check_cepts(factoring.cepts, bitext, aligner.max_length)
    tally = Tally(bitext, cepts=combine == "onmf")
    blocks: Iterable[tuple[Alignments, NDArray[np.float64] | None]]
    log_likelihoods: list[NDArray[np.float64]] = []
    # Files are put in their places together at the end, so that a failure leaves none of them.
    with ExitStack() as files:
        writer = files.enter_context(LinkWriter(output, format=format, base=base, bitext=bitext))
        if combine == "onmf":
            blocks = ((found, None) for found in align_by_cepts(aligner, bitext, factoring, progress=progress))
        else:
            blocks = aligner.align_blocks(bitext, combine=combine, threshold=threshold, progress=progress)
        for alignments, block_scores in blocks:
            writer.write(alignments)
            tally.add(alignments)
            if scores is not None and block_scores is not None:
                log_likelihoods.append(block_scores)
        if matrices is not None:
            report = _renamed(progress, "writing matrices")
            _write_matrices(files.enter_context(AssociationWriter(matrices)), aligner, bitext, factoring, report)
        if scores is not None:
            if combine == "onmf":
                scored = aligner.align_blocks(bitext, progress=_renamed(progress, "scoring"))
                log_likelihoods = [block_scores for _, block_scores in scored]
            _write_scores(files.enter_context(open_output(scores)), log_likelihoods)
    return tally.summary(too_long=aligner.skipped(bitext))


def check_cepts(cepts: str | int | None, bitext: Bitext, max_length: int) -> None:
    """Refuse a number of cepts that no pair can have; in shorter ones there will be fewer."""
    shorter = np.minimum(bitext.source.lengths, bitext.target.lengths)
    shorter[np.maximum(bitext.source.lengths, bitext.target.lengths) > max_length] = 0
    most = int(shorter.max(initial=0))
    if isinstance(cepts, int) and 0 < most < cepts:
        raise UsageError(
            f"cepts must be at most {most:,}, the length of the shorter side of the longest sentence pair "
            f"({int(shorter.argmax()) + 1:,}). Got {cepts:,} instead."
        )


class Tally:
    """What the alignments of a bitext, given run by run, come to."""

    def __init__(self, bitext: Bitext, *, cepts: bool = False) -> None:
        self.bitext = bitext
        self.started = time.perf_counter()
        self.source = np.zeros(len(bitext.source.ids), dtype=np.bool_)
        self.target = np.zeros(len(bitext.target.ids), dtype=np.bool_)
        self.pairs = self.links = self.sure = 0
        self.cepts = CeptCounts() if cepts else None

    def add(self, alignments: Alignments) -> None:
        """Note the links of the next pairs."""
        counts = np.diff(alignments.offsets)
        run = slice(self.pairs, self.pairs + len(alignments))
        self.source[np.repeat(self.bitext.source.offsets[run], counts) + alignments.source] = True
        self.target[np.repeat(self.bitext.target.offsets[run], counts) + alignments.target] = True
        self.pairs += len(alignments)
        self.links += len(alignments.source)
        self.sure += int(alignments.sure.sum())
        if self.cepts is not None:
            self.cepts.add(alignments)

    def summary(self, *, too_long: int) -> Summary:
        """All of it, and the time since the beginning."""
        bitext = self.bitext
        return Summary(
            pairs=len(bitext),
            source_words=len(bitext.source.ids),
            target_words=len(bitext.target.ids),
            links=self.links,
            source_covered=int(self.source.sum()),
            target_covered=int(self.target.sum()),
            empty=int(((bitext.source.lengths == 0) | (bitext.target.lengths == 0)).sum()),
            too_long=too_long,
            seconds=time.perf_counter() - self.started,
            sure=self.sure,
            cepts=self.cepts,
        )


def _write_scores(file: BinaryIO, blocks: list[NDArray[np.float64]]) -> None:
    for block in blocks:
        file.write("".join(f"{ahead:.6f}\t{back:.6f}\n" for ahead, back in block.tolist()).encode())


def _write_matrices(
    writer: AssociationWriter, aligner: Aligner, bitext: Bitext, factoring: Factoring | None, report: Progress
) -> None:
    report(Step(stage="", done=0, total=1))  # since the first matrices may take a while
    first = 0
    for association in associations(aligner, bitext, factoring, progress=report):
        writer.write(association, bitext.part(first, first + len(association)))
        first += len(association)


def _renamed(progress: Progress | None, stage: str) -> Progress:
    """What reports each step as one of `stage`."""
    return silent if progress is None else lambda step: progress(replace(step, stage=stage))
