"""The senses of a word, and the translations of each.

The vector of a word with several senses is, to a good approximation, the sum of the vectors of its senses (Arora et
al. 2018), and the most frequent one hides the others: all nearest neighbours of "bank" are of finance. Here senses are
found one after the other, as in matching pursuit. The translation that is nearest to what is left of the vector, and
its nearest companions from the same field of a mixture of factor analysers, are a sense; what they span is taken away,
and what is nearest to the rest of "bank" is the French word for the side of a river. The search ends when nothing near
is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vectors
from cepts.errors import UsageError
from cepts.progress import Progress
from cepts.spaces.mixture import GaussianMixture
from cepts.spaces.retrieve import mean_similarity, unit_rows

__all__ = ["LEAST_NEARNESS", "Sense", "find_senses"]

# How near a translation must be to what is left of a vector (twice the cosine less its mean similarity to its nearest
# source words), and to the word itself; and how much farther than the best of a sense its companions may be. Set on a
# few dozen English words with French translations, by looking.
LEAST_NEARNESS = 0.25
LEAST_TO_WORD = -0.35
# Below this share of a vector there is only noise.
LEAST_WEIGHT = 0.03
MARGIN = 0.3
SAME_FIELD = 0.5
SPANNING = 5  # translations that span a sense
DIMENSIONS = 3  # of what they span
SOURCES = 20_000  # the most frequent source words, by which hubs are known

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Sense:
    """One sense of a word.

    Attributes
    ----------
    weight
        Share of the word's vector that it explains, of all that its senses do.
    nearness
        Of the best translation to what the senses before had left of the vector.
    translations
        Rows of the target words, the best first.
    neighbours
        Rows of the source words nearest to these translations, without the word itself.
    field
        The component of the mixture in which the best translation is.
    """

    weight: float
    nearness: float
    translations: NDArray[np.int64]
    neighbours: NDArray[np.int64]
    field: int


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
) -> list[list[Sense]]:
    """The senses of source words, those that explain most of their vectors first.

    Parameters
    ----------
    mixture
        Fields of the space.
    views
        Vectors of the source and of the target language.
    rows
        The source words.
    languages
        The views of the space to which they belong.
    most
        Largest number of senses of a word.
    count
        Largest number of translations, and of neighbours, of a sense.
    least
        How near to what is left of the vector the best translation of a further sense must be.
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
    search = _Search(sources, targets, hubs, mixture.senses(views[1].matrix, languages[1]), most, count, least)
    return [search.senses(int(row)) for row in rows]


class _Search:
    """What the senses of every word are searched in."""

    def __init__(
        self,
        sources: Matrix,
        targets: Matrix,
        hubs: NDArray[np.float32],
        fields: NDArray[np.float64],
        most: int,
        count: int,
        least: float,
    ) -> None:
        self.sources, self.targets, self.hubs, self.fields = sources, targets, hubs, fields
        self.most, self.count, self.least = most, count, least

    def senses(self, row: int) -> list[Sense]:
        """The senses of a word."""
        word = self.sources[row].astype(np.float64)
        near = self._nearness(word) > LEAST_TO_WORD
        found: list[Sense] = []
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
            field = int(self.fields[best].argmax())
            neighbours = self._neighbours(members, row)
            found.append(Sense(weight, float(nearness[best]), members[: self.count], neighbours, field))
            near[members] = False
        total = sum(sense.weight for sense in found) or 1.0
        shared = [
            Sense(sense.weight / total, sense.nearness, sense.translations, sense.neighbours, sense.field)
            for sense in found
        ]
        return sorted(shared, key=lambda sense: -sense.weight)

    def _nearness(self, direction: NDArray[np.float64]) -> NDArray[np.float32]:
        return 2 * (self.targets @ direction.astype(np.float32)) - self.hubs

    def _companions(self, best: int, nearness: NDArray[np.float32]) -> NDArray[np.int64]:
        """The best translation and the nearest others of its field."""
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
