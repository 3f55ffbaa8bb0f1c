"""Text -> model -> posteriors -> links -> file."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.io import LinkWriter, open_output
from cepts.progress import Progress
from cepts.types import Alignments, Bitext
from cepts.words import THRESHOLD, Aligner

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

    def as_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return asdict(self)


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
    progress: Progress | None = None,
) -> Summary:
    """Align `bitext` with a trained aligner and write the links, a line a pair, as they are found.

    `scores` names a file for the log-probabilities of each pair: log P(target | source), a tab,
    log P(source | target).
    """
    started = time.perf_counter()
    coverage = _Coverage(bitext)
    links = 0
    first = 0
    log_likelihoods: list[NDArray[np.float64]] = []
    with LinkWriter(output, format=format, base=base, bitext=bitext) as writer:
        for alignments, block_scores in aligner.align_blocks(
            bitext, combine=combine, threshold=threshold, progress=progress
        ):
            writer.write(alignments)
            coverage.add(first, alignments)
            links += len(alignments.source)
            first += len(alignments)
            if scores is not None:
                log_likelihoods.append(block_scores)
        if scores is not None:
            _write_scores(scores, log_likelihoods)
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
