"""The loop from sentence pairs to files: score, extract and write in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from cepts.atomic import together
from cepts.data import Alignments, Bitext, Scorer, as_bitext, offsets_of, reach_of
from cepts.errors import ModelError, UsageError
from cepts.extract import AlignedRun, Extraction, LaterPairs, aligned_runs
from cepts.io import AssociationWriter, open_output
from cepts.pipeline.passing import Passing, PassingText
from cepts.pipeline.reports import counted
from cepts.progress import Progress
from cepts.words.text import ShelvedText


class RunWriter(AbstractContextManager[Any], Protocol):
    """A writer of the links of successive pairs, such as `cepts.io.LinkWriter`."""

    def write(self, alignments: Alignments) -> None:
        """Write the links of the next pairs."""


class WriterOfRuns:
    """Base of writers whose method `write` passes the links of successive pairs, and more, to another writer."""

    def __init__(self, writer: Any) -> None:
        self.writer = writer

    def __enter__(self) -> Self:
        self.writer.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.writer.__exit__(*error)


@dataclass(slots=True)
class CeptCounts:
    """Numbers of cepts and null words, and the noise, of many pairs; `noise` is the sum of P(noise) over the pairs."""

    pairs: int = 0
    cepts: int = 0
    source_words: int = 0
    target_words: int = 0
    source_null: int = 0
    target_null: int = 0
    noise: float = 0.0

    def add(self, alignments: Alignments) -> None:
        """Count the cepts of `alignments`, if they have some."""
        cepts = alignments.cepts
        if cepts is None:
            return
        full = cepts.source_offsets[1:] > cepts.source_offsets[:-1]
        self.pairs += int(full.sum())
        self.noise += float(cepts.noise[full].sum(dtype=np.float64))
        self.cepts += int(reach_of(cepts.source_offsets, cepts.source).sum())
        self.source_words += len(cepts.source)
        self.target_words += len(cepts.target)
        self.source_null += int((cepts.source < 0).sum())
        self.target_null += int((cepts.target < 0).sum())

    def lines(self) -> list[str]:
        """The counts as lines for people."""
        if not self.pairs:
            return ["cepts    none"]
        source = self.source_null / max(self.source_words, 1)
        target = self.target_null / max(self.target_words, 1)
        return [
            f"cepts    {self.cepts:,} ({self.cepts / self.pairs:.1f} per pair); noise {self.noise / self.pairs:.2%}",
            f"null     {source:.1%} of the source and {target:.1%} of the target words",
        ]


@dataclass(slots=True, kw_only=True)
class Summary:
    """What an alignment run did: numbers of pairs, words and links.

    `cepts` counts cepts, if links were made of them. `listed` is the direction of lists, if these were written instead
    of links. `not_saved` is the error if the model could not be saved although the links were written. `tuned` says
    what was learnt from gold links.
    """

    pairs: int = 0
    source_words: int = 0
    target_words: int = 0
    links: int = 0
    source_covered: int = 0
    target_covered: int = 0
    empty: int = 0
    too_long: int = 0
    sure: int = 0
    max_length: int | None = None
    cepts: CeptCounts | None = None
    listed: str | None = None
    forward_listed: int = 0
    reverse_listed: int = 0
    not_saved: ModelError | None = None
    tuned: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        return asdict(self)

    def add(self, alignments: Alignments) -> None:
        """Count the links of the next pairs."""
        self.pairs += len(alignments)
        self.links += len(alignments.source)
        self.sure += int(alignments.sure.sum())
        self.source_covered += _covered(alignments.offsets, alignments.source)
        self.target_covered += _covered(alignments.offsets, alignments.target)
        if alignments.cepts is not None:
            self.cepts = self.cepts or CeptCounts()
            self.cepts.add(alignments)

    def lines(self, seconds: float, listed: str = "alignments") -> list[str]:
        """The summary as lines for people; `listed` says what the lists contain."""
        words = f"{self.source_words:,} + {self.target_words:,} words"
        lines = [f"aligned  {counted(self.pairs, 'pair')}, {words}, in {seconds:,.1f} s"]
        if self.listed is not None:
            lists = {"forward": self.forward_listed, "reverse": self.reverse_listed}
            counts = [f"{count:,} {name}" for name, count in lists.items() if self.listed in {name, "both"}]
            lines.append(f"lists    {' and '.join(counts)} {listed}")
        else:
            source, target = self.source_covered, self.target_covered
            covered = (
                f"{_share(source, self.source_words)} of the source and {_share(target, self.target_words)} of the"
            )
            lines.append(f"links    {self.links:,}; covered {covered} target words")
        if self.cepts is not None:
            lines += [f"sure     {_share(self.sure, self.links)} of the links", *self.cepts.lines()]
        if self.empty:
            lines.append(f"empty    {counted(self.empty, 'pair')} with an empty side, without links")
        if self.too_long:
            long = f"a sentence of more than {self.max_length:,} words, without links (`max_length`)"
            lines.append(f"skipped  {counted(self.too_long, 'pair')} with {long}")
        return lines if self.tuned is None else [*lines, self.tuned]

    def of_text(self, text: Bitext | ShelvedText, max_length: int | None) -> None:
        """Count the words and the pairs that cannot be aligned."""
        for part in parts_of(text):
            self.of_part(part, max_length)

    def of_part(self, part: Bitext, max_length: int | None) -> None:
        """Count the words, and the pairs that cannot be aligned, of a part of the text."""
        self.max_length = max_length
        lengths = part.source.lengths, part.target.lengths
        self.source_words += len(part.source.ids)
        self.target_words += len(part.target.ids)
        self.empty += int((np.minimum(*lengths) == 0).sum())
        self.too_long += 0 if max_length is None else int((np.maximum(*lengths) > max_length).sum())


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"


def _covered(offsets: NDArray[np.int64], positions: NDArray[np.int32]) -> int:
    """Number of words of one side that have a link."""
    words = offsets_of(reach_of(offsets, positions))
    covered = np.zeros(int(words[-1]), dtype=np.bool_)
    covered[np.repeat(words[:-1], np.diff(offsets)) + positions] = True
    return int(covered.sum())


def align(
    scorer: Scorer,
    pairs: Any,
    writer: RunWriter,
    extraction: Extraction | None = None,
    *,
    scores: str | Path | None = None,
    quality: str | Path | None = None,
    matrices: str | Path | None = None,
    progress: Progress | None = None,
    runs: Iterable[AlignedRun] | None = None,
) -> Summary:
    """Score sentence pairs, extract their links and write them as they are found.

    Parameters
    ----------
    scorer
        A trained model, a space, given matrices or links, or a mixture of these.
    pairs
        The sentence pairs, as `scorer.directions` takes them, or `Passing`; None for given matrices or links
        without sentences.
    writer
        A writer of links, such as `cepts.io.LinkWriter`; this function opens and closes it.
    extraction
        How links are made; None uses the defaults.
    scores
        A file for the scores of each pair, forward and reverse, separated by a tab: log P(target | source) and
        log P(source | target) of a word model, or the normalised decoding scores of a phrase model.
    quality
        A file for one number from 0 to 1 for each pair: whether its sentences translate each other, see
        `cepts.extract.pair_quality`.
    matrices
        A file for the association matrices behind the links, with the words; `cepts factor` reads it.
    progress
        Called after each run of pairs.
    runs
        What the scorer says of all pairs, in order, if that is known already.
    """
    extraction = extraction or Extraction()
    passing = isinstance(pairs, Passing)
    bitext = pairs if pairs is None or passing or isinstance(pairs, ShelvedText) else as_bitext(pairs)
    cepts = extraction.factoring.cepts if extraction.combine == "onmf" else None
    if bitext is not None and not passing:
        check_cepts(cepts, bitext, scorer.max_length)
    summary, longest = Summary(), LongestPair(scorer.max_length)
    with together(), ExitStack() as files:
        files.enter_context(writer)
        kept = None if matrices is None else files.enter_context(AssociationWriter(matrices))
        scored = None if scores is None else files.enter_context(open_output(scores))
        judged = None if quality is None else files.enter_context(open_output(quality))
        # Matrices are those of all pairs in order, which a text on a shelf gives shard by shard.
        parts = pairs if passing or (isinstance(pairs, ShelvedText) and kept is not None) else [pairs]
        what: dict[str, Any] = {"matrices": kept is not None, "scores": scored is not None}
        what |= {"quality": judged is not None, "progress": pairs.counting(progress) if passing else progress}

        def runs_of(part: Any) -> Iterator[AlignedRun]:
            if not passing:
                return aligned_runs(scorer, part, extraction, **what)
            text = as_bitext(part)
            summary.of_part(text, scorer.max_length)
            longest.add(text)
            return aligned_runs(LaterPairs(scorer, pairs.before), part, extraction, **what)

        if runs is None:
            runs = chain.from_iterable(map(runs_of, parts))
        for run in runs:
            writer.write(run.links)
            if scored is not None and run.scores is not None:
                _write_scores(scored, run.scores)
            if judged is not None and run.quality is not None:
                judged.write("".join(f"{value:.6f}\n" for value in run.quality.tolist()).encode())
            if kept is not None and run.matrix is not None:
                end = summary.pairs + len(run.links)
                kept.write(run.matrix, None if bitext is None else bitext.part(summary.pairs, end))
            summary.add(run.links)
        longest.check(cepts)
    if bitext is not None and not passing:
        summary.of_text(bitext, scorer.max_length)
    return summary


def parts_of(text: Bitext | ShelvedText | PassingText) -> Iterable[Bitext]:
    """The parts of a text, of which only one need be in memory."""
    return [text] if isinstance(text, Bitext) else text


def check_cepts(cepts: str | int | None, text: Bitext | ShelvedText, max_length: int | None) -> None:
    """Refuse a number of cepts that no pair can have; shorter pairs will have fewer."""
    if isinstance(cepts, int):
        longest = LongestPair(max_length)
        for part in parts_of(text):
            longest.add(part)
        longest.check(cepts)


class LongestPair:
    """Finds the pair with the longest shorter side, among those without a sentence of more than `max_length` words."""

    def __init__(self, max_length: int | None) -> None:
        self.max_length = max_length
        self._pairs = self._most = self._longest = 0

    def add(self, part: Bitext) -> None:
        """Look at the next pairs."""
        shorter = np.minimum(part.source.lengths, part.target.lengths)
        if self.max_length is not None:
            shorter[np.maximum(part.source.lengths, part.target.lengths) > self.max_length] = 0
        if int(shorter.max(initial=0)) > self._most:
            self._most, self._longest = int(shorter.max()), self._pairs + int(shorter.argmax())
        self._pairs += len(part)

    def check(self, cepts: str | int | None) -> None:
        """Refuse a number of cepts that none of the pairs can have."""
        if isinstance(cepts, int) and 0 < self._most < cepts:
            raise UsageError(
                f"`cepts` must be at most {self._most:,}, the length of the shorter side of the longest sentence pair "
                f"({self._longest + 1:,}). Got {cepts:,} instead."
            )


def _write_scores(file: BinaryIO, scores: NDArray[np.float64]) -> None:
    file.write("".join(f"{forward:.6f}\t{reverse:.6f}\n" for forward, reverse in scores.tolist()).encode())
