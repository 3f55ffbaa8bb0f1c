"""A fitted space as an encoder: the vectors of words, whatever their sentence."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cepts.errors import UsageError
from cepts.spaces.model import SpaceModel


class SpaceEncoder:
    """The positions of words in the shared space of two languages, see `cepts.encoders.Encoder`.

    A word without a vector gets random numbers that depend on its letters in lower case: it is near to the same word on
    the other side, such as a name or a number, and to no other.

    Parameters
    ----------
    directory
        What `SpaceModel.save` wrote, with its vectors.
    source_language, target_language
        The languages of the two sides; by default the first of the space and the other one.
    layer
        Must be None: a space has no layers.
    threads
        Number of threads; None uses one for each processor.
    """

    contextual = False
    independent = True

    def __init__(
        self,
        directory: str | Path,
        source_language: str | None = None,
        target_language: str | None = None,
        *,
        layer: int | None = None,
        threads: int | None = None,
    ) -> None:
        if layer is not None:
            raise UsageError("`layer` goes with hf: models; a space has no layers.")
        self.name = f"space:{directory}"
        scorer = SpaceModel.load(directory, threads=threads).scorer(source_language, target_language, threads=threads)
        self._views = tuple(view.vocabulary for view in scorer.views)
        self._vectors = scorer.projected.vectors

    def encode(self, sentences: Sequence[Sequence[str]], side: int) -> NDArray[np.float32]:
        """One vector for each word, looked up as it is and then in lower case."""
        words = [word for sentence in sentences for word in sentence]
        rows = self._views[side].find(words)
        found: NDArray[np.float32] = self._vectors[side][rows].astype(np.float32)
        for place in np.flatnonzero(rows < 0).tolist():
            found[place] = _of_letters(words[place], found.shape[1])
        return found


def _of_letters(word: str, width: int) -> NDArray[np.float32]:
    """Random numbers that depend on the letters of a word."""
    letters = word.lower().encode("utf-8", "surrogatepass")
    return np.random.default_rng(zlib.crc32(letters)).standard_normal(width).astype(np.float32)
