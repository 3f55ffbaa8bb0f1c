"""Text -> model -> posteriors -> links -> file."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.io import AssociationWriter, LinkWriter, open_output
from cepts.pipeline.factor import CeptCounts
from cepts.progress import Progress
from cepts.types import Alignments, Bitext
from cepts.words import THRESHOLD, Aligner, Factoring, align_by_cepts, associations

__all__ = ["Summary", "align_bitext"]


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
    started = time.perf_counter()
    coverage = _Coverage(bitext)
    links = sure = first = 0
    cepts: CeptCounts | None = None
    blocks: Iterable[tuple[Alignments, NDArray[np.float64] | None]]
    log_likelihoods: list[NDArray[np.float64]] = []
    with LinkWriter(output, format=format, base=base, bitext=bitext) as writer:
        if combine == "onmf":
            cepts = CeptCounts()
            blocks = ((found, None) for found in align_by_cepts(aligner, bitext, factoring, progress=progress))
        else:
            blocks = aligner.align_blocks(bitext, combine=combine, threshold=threshold, progress=progress)
        for alignments, block_scores in blocks:
            writer.write(alignments)
            coverage.add(first, alignments)
            links += len(alignments.source)
            sure += int(alignments.sure.sum())
            first += len(alignments)
            if cepts is not None:
                cepts.add(alignments)
            if scores is not None and block_scores is not None:
                log_likelihoods.append(block_scores)
        if scores is not None:
            _write_scores(scores, [aligner.score(bitext)] if cepts is not None else log_likelihoods)
        if matrices is not None:
            _write_matrices(matrices, aligner, bitext, factoring)
    return Summary(
        pairs=len(bitext),
        source_words=len(bitext.source.ids),
        target_words=len(bitext.target.ids),
        links=links,
        source_covered=int(coverage.source.sum()),
        target_covered=int(coverage.target.sum()),
        empty=int(((bitext.source.lengths == 0) | (bitext.target.lengths == 0)).sum()),
        too_long=aligner.skipped(bitext),
        seconds=time.perf_counter() - started,
        sure=sure,
        cepts=cepts,
    )


class _Coverage:
    """Which words of a bitext have a link."""

    def __init__(self, bitext: Bitext) -> None:
        self.bitext = bitext
        self.source = np.zeros(len(bitext.source.ids), dtype=np.bool_)
        self.target = np.zeros(len(bitext.target.ids), dtype=np.bool_)

    def add(self, first: int, alignments: Alignments) -> None:
        """Note the links of the pairs from `first` on."""
        counts = np.diff(alignments.offsets)
        run = slice(first, first + len(alignments))
        self.source[np.repeat(self.bitext.source.offsets[run], counts) + alignments.source] = True
        self.target[np.repeat(self.bitext.target.offsets[run], counts) + alignments.target] = True


def _write_scores(path: str | Path, blocks: list[NDArray[np.float64]]) -> None:
    with open_output(path) as file:
        for block in blocks:
            file.write("".join(f"{ahead:.6f}\t{back:.6f}\n" for ahead, back in block.tolist()).encode())


def _write_matrices(path: str | Path, aligner: Aligner, bitext: Bitext, factoring: Factoring | None) -> None:
    first = 0
    with AssociationWriter(path) as writer:
        for association in associations(aligner, bitext, factoring):
            writer.write(association, bitext.part(first, first + len(association)))
            first += len(association)
