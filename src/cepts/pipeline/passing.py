"""Sentence pairs that are read while they are aligned, so that memory does not grow with the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import Bitext
from cepts.engine import cut_blocks, release_memory
from cepts.progress import Progress, Step, silent

# Words of both sides, and pairs, in a part: about 50,000 pairs. More would find more pairs that are repeated.
WORDS_IN_PART = 1 << 20


class PassingText:
    """The sentence pairs of a text, part by part, each with vocabularies of its own. They can be used only once.

    How the text is cut depends on the text alone. One part is read ahead, so that errors in a text that is not much
    larger than a part are found before it is used.

    Parameters
    ----------
    read
        Reads the sentence pairs in parts of any size, and reports how many bytes it has read.
    progress
        Is told how much was read.
    """

    def __init__(self, read: Callable[[Progress], Iterator[Bitext]], progress: Progress | None = None) -> None:
        self._progress = progress or silent
        self._share = 0.0  # of the bytes that were read; 0 if it is not known
        self._parts = cut_blocks(read(self._read), _words_of, Bitext.part, Bitext.joined, WORDS_IN_PART)
        self._before = 0  # pairs before `now`
        self.now = next(self._parts)  # the present part
        self._following = next(self._parts, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Bitext]:
        yield self.now
        while self._following is not None:
            self._before += len(self.now)
            self.now, self._following = self._following, next(self._parts, None)
            release_memory()  # otherwise arrays of other sizes leave more and more gaps
            yield self.now

    def close(self) -> None:
        """Close the files."""
        self._parts.close()

    @property
    def is_one_part(self) -> bool:
        """Whether the first part is the whole text."""
        return self._following is None and not self._before

    def whole(self) -> Bitext:
        """All sentence pairs at once."""
        parts = list(self)
        return parts[0] if len(parts) == 1 else Bitext.joined(parts)

    def part(self, start: int, stop: int) -> Bitext:
        """Pairs `start` to `stop` (exclusive) of the text, which must lie in the present part."""
        return self.now.part(start - self._before, stop - self._before)

    def counting(self, progress: Progress | None) -> Progress | None:
        """A progress for work on each part that counts the pairs of all parts.

        How many pairs the text has is estimated from the bytes that have been read.
        """
        if progress is None:
            return None

        def report(step: Step) -> None:
            read = self._before + len(self.now) + len(self._following or ())
            progress(replace(step, done=self._before + step.done, total=round(read / (self._share or 1.0))))

        return report

    def _read(self, step: Step) -> None:
        self._share = step.done / step.total if step.total else 0.0
        self._progress(step)


def _words_of(part: Bitext) -> NDArray[np.int64]:
    """What each pair adds to the size of a part; an empty pair needs memory, too."""
    return part.source.lengths + part.target.lengths + 1
