"""Random words from a factor model (mfa.txt, section 4.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepts.data import Vectors
from cepts.errors import UsageError
from cepts.progress import Progress
from cepts.spaces.retrieve import retrieve
from cepts.spaces.space import Space
from cepts.spaces.translate import translate_words

__all__ = ["Sample", "sample_words"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One draw.

    Attributes
    ----------
    words
        For each view, the word nearest to the vector that was drawn for it.
    back
        For each view but the first, the space's own translation of its word into the first view.
    log_density
        Log p of the drawn vectors.
    """

    words: tuple[str, ...]
    back: tuple[str, ...]
    log_density: float


def sample_words(
    space: Space,
    views: Sequence[Vectors],
    *,
    count: int = 28,
    draws: int = 2000,
    seed: int = 0,
    noise: float = 1.0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Sample]:
    """The `count` most probable of `draws` random tuples of vectors, each shown by the nearest word (by cosine).

    A meaning z is drawn, then a vector of each view around W z + mu with that view's noise (eq. 1), so that the words
    of a tuple are related, not translations.

    Parameters
    ----------
    noise
        Share of the noise's variance to draw with: 1 is the model, less brings the words of a tuple closer together. In
        a model fitted with much shrinkage, the shrinkage is part of the noise. Densities are always the model's own.
    """
    if space.model is None:
        raise UsageError(f"{space.method} has no model to draw from; fit the space by ibfa or mbfa.")
    if not 1 <= count <= draws:
        raise UsageError(f"`count` must be 1 to {draws:,}, the number of `draws`. Got {count:,} instead.")
    if not 0.0 <= noise <= 1.0:
        raise UsageError(f"`noise` must lie between 0 and 1. Got {noise} instead.")
    quieter = replace(space.model, noises=tuple(noise * matrix for matrix in space.model.noises))
    drawn = quieter.sample(draws, seed)
    density = space.model.log_density(dict(enumerate(drawn)))
    best = np.argsort(-density, kind="stable")[:count]
    found = []
    for view, (preparation, vectors) in enumerate(zip(space.preparations, views, strict=True)):
        places = preparation.apply(vectors.matrix)
        found.append(retrieve(drawn[view][best], places, count=1, threads=threads, progress=progress).rows[:, 0])
    back = [
        translate_words(
            space, views[view], views[0], found[view], languages=(view, 0), count=1, threads=threads, progress=progress
        ).rows[:, 0]
        for view in range(1, len(views))
    ]
    return [
        Sample(
            tuple(vectors.words[rows[n]] for vectors, rows in zip(views, found, strict=True)),
            tuple(views[0].words[rows[n]] if rows[n] >= 0 else "" for rows in back),
            float(density[draw]),
        )
        for n, draw in enumerate(best.tolist())
    ]
