"""Slow, plain twins of the readers of word vectors, and a writer of fastText models."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def nearest(number: str) -> np.float32:
    """The float32 nearest to a decimal, by exact fractions; the even one of two."""
    exact = Fraction(number)
    largest = float(np.finfo(np.float32).max)
    guess = np.float32(min(max(float(number), -largest), largest))
    with np.errstate(over="ignore"):
        candidates = [guess, *(np.nextafter(guess, np.float32(side)) for side in (-np.inf, np.inf))]

    def value(candidate: np.float32) -> Fraction:
        # Infinity stands where the next power of two would be.
        return (
            Fraction(float(candidate)) if np.isfinite(candidate) else Fraction(2) ** 128 * (1 if candidate > 0 else -1)
        )

    def distance(candidate: np.float32) -> tuple[Fraction, int]:
        return abs(value(candidate) - exact), int(candidate.view(np.uint32)) & 1

    best = min(candidates, key=distance)
    return np.copysign(best, np.float32(-1 if number.startswith("-") else 1))


def rows_of(text: bytes) -> dict[str, tuple[float, ...]] | int:
    """Words and numbers of text without header, or the line of the first mistake."""
    found: dict[str, tuple[float, ...]] = {}
    width = 0
    for number, line in enumerate(text.split(b"\n"), start=1):
        fields = [(match.start(), match.end()) for match in re.finditer(rb"[^ \t]+", line.rstrip(b" \t\r"))]
        if not fields:
            continue
        values = [line[start:end] for start, end in fields]
        if not width:
            while width < len(values) - 1 and NUMBER.fullmatch(values[-1 - width]):
                width += 1
        if not width or len(values) <= width or not all(NUMBER.fullmatch(value) for value in values[-width:]):
            return number
        if len(values) > width + 1 and NUMBER.fullmatch(values[-width - 1]):
            return number
        word = line[fields[0][0] : fields[-width - 1][1]].decode()
        found.setdefault(word, tuple(float(np.float32(float(value))) for value in values[-width:]))
    return found


def fasttext_model(
    words: Sequence[str],
    matrix: NDArray[np.float32],
    *,
    minn: int,
    maxn: int,
    buckets: int,
    labels: Sequence[str] = (),
    version: int = 12,
    kind: int = 2,
    pruned: int = -1,
    quantised: bool = False,
) -> bytes:
    """A model as fastText saves it: settings, dictionary, input matrix, output matrix."""
    width = matrix.shape[1]
    settings = (width, 5, 5, 1, 5, 1, 2, kind, buckets, minn, maxn, 100)
    parts = [
        struct.pack("<2i12id", 793712314, version, *settings, 1e-4),
        struct.pack("<3i2q", len(words) + len(labels), len(words), len(labels), 1000, pruned),
    ]
    for label, entries in enumerate((words, labels)):
        parts += [entry.encode() + b"\0" + struct.pack("<qb", 7, label) for entry in entries]
    parts.append(struct.pack("<b2q", quantised, *matrix.shape) + matrix.astype("<f4").tobytes())
    parts.append(struct.pack("<b2q", 0, 0, width))
    return b"".join(parts)


def fasttext_hash(text: bytes) -> int:
    """FNV-1a of 32 bits over bytes widened with their sign."""
    code = 2166136261
    for byte in text:
        code = ((code ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) % 2**32
    return code


def fasttext_vectors(
    words: Sequence[str], matrix: NDArray[np.float32], minn: int, maxn: int, buckets: int
) -> NDArray[np.float32]:
    """Mean of each word's own row and those of its n-grams, in the order in which fastText adds them up."""
    means = np.zeros((len(words), matrix.shape[1]), dtype=np.float32)
    for number, word in enumerate(words):
        marked = f"<{word}>"
        rows = [number]
        for start in range(len(marked) if word != "</s>" else 0):
            for length in range(max(minn, 1), min(maxn, len(marked) - start) + 1):
                if length == 1 and start in (0, len(marked) - 1):
                    continue
                rows.append(len(words) + fasttext_hash(marked[start : start + length].encode()) % buckets)
        for row in rows:
            means[number] += matrix[row]
        means[number] *= np.float32(1.0 / len(rows))
    return means
