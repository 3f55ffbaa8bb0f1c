"""Sentence pairs that are read while they are aligned, so that memory does not grow with the text."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sized
from dataclasses import replace
from itertools import chain, islice
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from cepts.data import Bitext, SentencePair
from cepts.engine import cut_blocks, release_memory
from cepts.progress import Progress, Step, silent

# Words of both sides, and pairs, in a part: about 50,000 pairs. More would find more pairs that are repeated.
WORDS_IN_PART = 1 << 20
# The same for sentence pairs with annotation, which are Python objects.
WORDS_IN_ANNOTATED_PART = 1 << 17
PAIRS_AT_A_TIME = 256

Part = TypeVar("Part", bound=Sized)


class Passing(Generic[Part]):
    """The sentence pairs of a text, part by part. They can be used only once.

    How the text is cut depends on the text alone. One part is read ahead, so that errors in a text that is not much
    larger than a part are found before it is used.

    Parameters
    ----------
    read
        Reads the parts, and reports how many bytes it has read.
    progress
        Is told how much was read.
    """

    def __init__(self, read: Callable[[Progress], Generator[Part]], progress: Progress | None = None) -> None:
        self._progress = progress or silent
        self._share = 0.0  # of the bytes that were read; 0 if it is not known
        self._parts = read(self._read)
        self.before = 0  # pairs before the present part
        self.now = next(self._parts)  # the present part
        self._following = next(self._parts, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Part]:
        yield self.now
        while self._following is not None:
            self.before += len(self.now)
            self.now, self._following = self._following, next(self._parts, None)
            release_memory()  # otherwise arrays of other sizes leave more and more gaps
            yield self.now

    def close(self) -> None:
        """Close the files."""
        self._parts.close()

    @property
    def is_one_part(self) -> bool:
        """Whether the first part is the whole text."""
        return self._following is None and not self.before

    def counting(self, progress: Progress | None) -> Progress | None:
        """A progress for work on each part that counts the pairs of all parts.

        How many pairs the text has is estimated from the bytes that have been read. Of standard input nothing is known.
        """
        if progress is None:
            return None

        def report(step: Step) -> None:
            read, done = self.before + len(self.now) + len(self._following or ()), self.before + step.done
            if self._share:
                progress(replace(step, done=done, total=round(read / self._share)))
            else:
                progress(replace(step, done=done, total=0, note=f"{done:,} pairs"))

        return report

    def _read(self, step: Step) -> None:
        self._share = step.done / step.total if step.total else 0.0
        self._progress(step)


class PassingText(Passing[Bitext]):
    """Sentence pairs as numbers of words; each part has vocabularies of its own.

    Parameters
    ----------
    read
        Reads the pairs in parts of any size, and reports how many bytes it has read.
    progress
        Is told how much was read.
    """

    def __init__(self, read: Callable[[Progress], Iterator[Bitext]], progress: Progress | None = None) -> None:
        super().__init__(
            lambda report: cut_blocks(read(report), _words_of, Bitext.part, Bitext.joined, WORDS_IN_PART), progress
        )

    def whole(self) -> Bitext:
        """All sentence pairs at once."""
        parts = list(self)
        return parts[0] if len(parts) == 1 else Bitext.joined(parts)

    def part(self, start: int, stop: int) -> Bitext:
        """Pairs `start` to `stop` (exclusive) of the text, which must lie in the present part."""
        return self.now.part(start - self.before, stop - self.before)


class PassingPairs(Passing[list[SentencePair]]):
    """Sentence pairs with annotation.

    Parameters
    ----------
    read
        Reads the pairs one by one, and reports how many bytes it has read.
    progress
        Is told how much was read.
    """

    def __init__(self, read: Callable[[Progress], Iterator[SentencePair]], progress: Progress | None = None) -> None:
        self._change: Callable[[list[SentencePair], int], list[SentencePair]] | None = None

        def blocks(report: Progress) -> Iterator[list[SentencePair]]:
            pairs = read(report)
            while block := list(islice(pairs, PAIRS_AT_A_TIME)):
                yield block

        super().__init__(
            lambda report: cut_blocks(
                blocks(report), _words_of_pairs, _slice, lambda parts: [*chain(*parts)], WORDS_IN_ANNOTATED_PART
            ),
            progress,
        )

    def __iter__(self) -> Iterator[list[SentencePair]]:
        for number, part in enumerate(super().__iter__()):
            if number and self._change is not None:
                self.now = self._change(part, self.before)
            yield self.now

    def change(self, change: Callable[[list[SentencePair], int], list[SentencePair]]) -> None:
        """Change the pairs of each part when its turn comes; the function also gets the number of pairs before it."""
        self._change = change
        self.now = change(self.now, self.before)

    def pairs(self, start: int, stop: int) -> list[SentencePair]:
        """Pairs `start` to `stop` (exclusive) of the text, which must lie in the present part."""
        return self.now[start - self.before : stop - self.before]

    def part(self, start: int, stop: int) -> Bitext:
        """What `pairs` returns, without annotation."""
        return Bitext.from_tokens(self.pairs(start, stop))


def _words_of(part: Bitext) -> NDArray[np.int64]:
    """What each pair adds to the size of a part; an empty pair needs memory, too."""
    return part.source.lengths + part.target.lengths + 1


def _words_of_pairs(part: list[SentencePair]) -> NDArray[np.int64]:
    return np.array([len(pair.source) + len(pair.target) + 1 for pair in part], dtype=np.int64)


def _slice(part: list[SentencePair], start: int, stop: int) -> list[SentencePair]:
    return part[start:stop]
