"""Small languages whose words mean the same by their number, for tests of spaces."""

from __future__ import annotations

import numpy as np

from cepts.data import Dictionary, Vectors

LANGUAGES = ("en", "fr", "ru")


def toy_views(words: int = 120, widths: tuple[int, ...] = (10, 8), *, noise: float = 0.05, seed: int = 0):
    """Views of one latent space of 6 dimensions, a linear map and a little noise away; word n is en<n>, fr<n>."""
    random = np.random.default_rng(seed)
    latent = random.standard_normal((words, 6))
    views = []
    for language, width in zip(LANGUAGES, widths, strict=False):
        matrix = latent @ random.standard_normal((6, width)) + noise * random.standard_normal((words, width))
        views.append(
            Vectors.from_words((f"{language}{n}" for n in range(words)), matrix.astype(np.float32), name=language)
        )
    return views


def toy_dictionary(languages=("en", "fr"), numbers=range(80)) -> Dictionary:
    """Entries of the words with these numbers."""
    entries = tuple(tuple(f"{language}{n}" for language in languages) for n in numbers)
    return Dictionary(tuple(languages), entries, "toy dictionary")
