"""Encoders of toy languages, in which en7 means fr7."""

from __future__ import annotations

import numpy as np

WIDTH = 24


def vector_of(word):
    """The same numbers for en7 and fr7."""
    return np.random.default_rng(int("0" + "".join(filter(str.isdigit, word)))).standard_normal(WIDTH)


class StaticEncoder:
    contextual = False
    name = "toy"

    def __init__(self):
        self.calls = 0

    def encode(self, sentences, side):
        self.calls += 1
        noise = np.random.default_rng(side).standard_normal(WIDTH) * 0.1
        rows = [vector_of(word) + noise for sentence in sentences for word in sentence]
        return np.array(rows, dtype=np.float32).reshape(len(rows), WIDTH)


class ContextEncoder(StaticEncoder):
    """The vector of a word has a little of that of its left neighbour."""

    contextual = True

    def encode(self, sentences, side):
        rows = []
        for sentence in sentences:
            before = np.zeros(WIDTH)
            for word in sentence:
                own = vector_of(word)
                rows.append(own + 0.3 * before)
                before = own
        return np.array(rows, dtype=np.float32).reshape(len(rows), WIDTH)
