"""The senses of a word, and the translations of each.

The vector of a word with several senses is, to a good approximation, the sum of the vectors of its senses (Arora et
al. 2018), and the most frequent sense hides the others: all nearest neighbours of "bank" are about finance. Here senses
are found one after the other, as in matching pursuit. The translation nearest to the vector, and the nearest other
translations from the same field of a mixture of factor analysers, form a sense. The directions that they span are
removed from the vector, and the next translation is searched near what remains; for "bank" it is the French word for
the side of a river. The search ends when no translation is near enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vectors
from cepts.errors import UsageError
from cepts.progress import Progress
from cepts.spaces.mixture import GaussianMixture
from cepts.spaces.retrieve import mean_similarity, unit_rows

# Nearness is twice the cosine minus the mean similarity of the translation to its nearest source words. These are how
# near a translation must be to the remaining vector and to the word itself, the smallest share of a vector that is not
# noise, and how much farther away than the best translation of a sense the others may be. They were set by inspecting a
# few dozen English words with French translations.
LEAST_NEARNESS = 0.25
LEAST_TO_WORD = -0.35
LEAST_WEIGHT = 0.03
MARGIN = 0.3
SAME_FIELD = 0.5
SPANNING = 5  # translations that span a sense
DIMENSIONS = 3  # dimensions of the span that are removed
SOURCES = 20_000  # the most frequent source words, which show which targets are hubs

Matrix = NDArray[np.float32]


class WordSense(NamedTuple):
    """One sense of a word.

    Attributes
    ----------
    weight
        How much of the word's vector the sense explains, as a share of what all its senses explain; from 0 to 1.
    nearness
        How near the best translation is to the part of the vector that the senses found before do not explain; higher
        is nearer.
    translations
        Words of the target language, the best first.
    neighbours
        Words of the source language that are nearest to these translations, without the word itself.
    """

    weight: float
    nearness: float
    translations: tuple[str, ...]
    neighbours: tuple[str, ...]


def find_senses(
    mixture: GaussianMixture,
    views: Sequence[Vectors],
    rows: Sequence[int] | NDArray[np.integer],
    *,
    languages: tuple[str | int, str | int] = (0, 1),
    most: int = 4,
    count: int = 5,
    least: float = LEAST_NEARNESS,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[list[WordSense]]:
    """Find the senses of source words: for each word a list, with the senses that explain most of its vector first.

    Parameters
    ----------
    mixture
        The semantic fields of the space, made by `fit_mixture`.
    views, languages
        Vectors of the source and of the target language, and the names or numbers of these languages in the space.
    rows
        Rows of the source words in their vectors.
    most
        Maximum number of senses of a word.
    count
        Maximum number of translations, and of neighbours, of a sense.
    least
        How near the best translation of a further sense must be to the part of the vector that is not yet explained;
        higher finds fewer senses.
    threads
        Number of threads; None uses one for each processor. Results do not depend on it.
    progress
        Called after each block of words.
    """
    for name, value in (("most", most), ("count", count)):
        if value < 1:
            raise UsageError(f"`{name}` must be 1 or more. Got {value} instead.")
    if not np.isfinite(least):
        raise UsageError(f"`least` must be a number. Got {least} instead.")
    space = mixture.space
    sources, targets = (
        unit_rows(space.project(view.matrix, language)) for view, language in zip(views, languages, strict=True)
    )
    hubs = mean_similarity(targets, sources[:SOURCES], threads=threads, progress=progress)
    fields = mixture.senses(views[1].matrix, languages[1])
    words = views[0].words, views[1].words
    search = _SenseSearch(words, sources, targets, hubs, fields, most, count, least)
    return [search.senses(int(row)) for row in rows]


@dataclass(frozen=True, slots=True, eq=False)
class _SenseSearch:
    """The vectors, words and fields in which the senses of every word are searched."""

    words: tuple[Sequence[str], Sequence[str]]
    sources: Matrix
    targets: Matrix
    hubs: NDArray[np.float32]
    fields: NDArray[np.float64]
    most: int
    count: int
    least: float

    def senses(self, row: int) -> list[WordSense]:
        """The senses of a word."""
        word = self.sources[row].astype(np.float64)
        near = self._nearness(word) > LEAST_TO_WORD
        found: list[WordSense] = []
        basis = np.zeros((len(word), 0))
        left = word
        explained = 0.0
        while len(found) < self.most and np.linalg.norm(left) > 1e-6:
            nearness = np.where(near, self._nearness(left / np.linalg.norm(left)), -np.inf)
            best = int(nearness.argmax())
            if nearness[best] == -np.inf or (found and nearness[best] < self.least):
                break
            members = self._companions(best, nearness)
            span = np.linalg.svd(self.targets[members[:SPANNING]].astype(np.float64), full_matrices=False)[2]
            basis = np.linalg.qr(np.concatenate([basis, span[:DIMENSIONS].T], axis=1))[0]
            left = word - basis @ (basis.T @ word)
            weight = max(1 - float(left @ left) - explained, 0.0)
            if found and weight < LEAST_WEIGHT:
                break
            explained += weight
            own, others = self.words
            neighbours = tuple(own[other] for other in self._neighbours(members, row))
            translations = tuple(others[member] for member in members[: self.count])
            found.append(WordSense(weight, float(nearness[best]), translations, neighbours))
            near[members] = False
        total = sum(sense.weight for sense in found) or 1.0
        return sorted((sense._replace(weight=sense.weight / total) for sense in found), key=lambda sense: -sense.weight)

    def _nearness(self, direction: NDArray[np.float64]) -> NDArray[np.float32]:
        return 2 * (self.targets @ direction.astype(np.float32)) - self.hubs

    def _companions(self, best: int, nearness: NDArray[np.float32]) -> NDArray[np.int64]:
        """The best translation and the nearest other ones from its field."""
        likely = np.argsort(-nearness, kind="stable")[: 20 * max(self.count, SPANNING)]
        likely = likely[nearness[likely] > nearness[best] - MARGIN]
        together = self.fields[likely] @ self.fields[best] >= SAME_FIELD
        others = likely[together & (likely != best)]
        return np.concatenate([[best], others])[: max(self.count, SPANNING)]

    def _neighbours(self, members: NDArray[np.int64], row: int) -> NDArray[np.int64]:
        """The source words nearest to the translations of a sense."""
        centre = self.targets[members[:SPANNING]].sum(axis=0)
        order = np.argsort(-(self.sources @ centre), kind="stable")[: self.count + 1]
        return order[order != row][: self.count]
