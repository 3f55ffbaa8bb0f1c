"""What an encoder is: it gives one vector for each word of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError

Matrix = NDArray[np.float32]
Sentences = Sequence[Sequence[str]]


class Encoder(Protocol):
    """What a class needs to be an encoder.

    Attributes
    ----------
    contextual
        Whether the vector of a word depends on its sentence. Each distinct word is encoded only once if not.
    name
        What messages call the encoder.

    An encoder may also have an attribute `independent`, which is true if no digit of a vector depends on what else is
    encoded in the same call. Only then can a text be aligned in parts and give the same bytes.
    """

    contextual: bool
    name: str

    def encode(self, sentences: Sentences, side: int) -> Matrix:
        """One vector for each word, those of all sentences one after the other (words x width).

        `side` is 0 for sentences of the source and 1 for those of the target, for encoders that must know the language.
        """


def encodable(word: str) -> str:
    """The word without lone surrogates, which stand for bytes that are not UTF-8 and which libraries refuse."""
    return word.encode("utf-8", "replace").decode("utf-8")


def unit_vectors(encoder: Encoder, sentences: Sentences, side: int) -> Matrix:
    """The vectors of an encoder, scaled to length 1; vectors of zeros stay as they are.

    Raises `DataError` if they are not one finite vector for each word.
    """
    wanted = sum(map(len, sentences))
    found = np.ascontiguousarray(encoder.encode(sentences, side), dtype=np.float32)
    if found.ndim != 2 or len(found) != wanted:
        shape = " x ".join(map(str, found.shape))
        raise DataError(f"{encoder.name}: found an array of {shape}, wanted one vector for each of {wanted:,} words.")
    if not np.isfinite(found).all():
        raise DataError(f"{encoder.name}: found a vector with NaN or infinity, wanted finite numbers; check the model.")
    lengths = np.sqrt(np.einsum("ij,ij->i", found, found, dtype=np.float64))[:, None]
    return (found / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
