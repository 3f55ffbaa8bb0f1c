"""Sentence pairs with annotation -> links and segments -> files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from cepts.data import Alignments, Scorer, Segments, SentencePair
from cepts.extract import Extraction
from cepts.pipeline.align import Summary, align
from cepts.progress import Progress

__all__ = ["PairWriter", "align_pairs"]


class PairWriter(Protocol):
    """What takes successive pairs with their links and segments, such as `cepts.io.SentencePairWriter`."""

    def __enter__(self) -> Any:
        """Open the file."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Put it in its place."""

    def write(
        self, pairs: Sequence[SentencePair], links: Alignments | None = None, segments: Segments | None = None
    ) -> None:
        """Write the next pairs."""


class _RunWriter:
    """Gives a writer of pairs the pairs to which links belong."""

    def __init__(self, writer: PairWriter, pairs: Sequence[SentencePair]) -> None:
        self._writer, self._pairs, self._written = writer, pairs, 0

    def __enter__(self) -> Self:
        self._writer.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.__exit__(kind, error, trace)

    def write(self, alignments: Alignments) -> None:
        """Write the next pairs."""
        start, self._written = self._written, self._written + len(alignments)
        self._writer.write(self._pairs[start : self._written], alignments, alignments.segments)


def align_pairs(
    scorer: Scorer,
    pairs: Sequence[SentencePair],
    writer: PairWriter,
    extraction: Extraction | None = None,
    *,
    scores: str | Path | None = None,
    matrices: str | Path | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Align sentence pairs as `cepts.pipeline.align` does, and write the pairs themselves with what was found."""
    return align(
        scorer, pairs, _RunWriter(writer, pairs), extraction, scores=scores, matrices=matrices, progress=progress
    )
