"""A fitted space: several views, each with a map into the shared space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.errors import UsageError, check_choice
from cepts.names import STEPS, TRANSLATION_MEASURES
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.retrieve import unit_rows

BLOCK_ROWS = 1 << 15  # a large view is prepared and mapped a block at a time


def check_steps(steps: Sequence[str]) -> None:
    """Refuse steps that are not among `STEPS`."""
    unknown = [step for step in steps if step not in STEPS]
    if isinstance(steps, str) or unknown:
        raise UsageError(f"`prepare` must have only the steps {' and '.join(STEPS)}. Got {steps!r} instead.")


@dataclass(frozen=True, slots=True, eq=False)
class Preparation:
    """How the vectors of a view are prepared: steps (see `SpaceModel`), and the mean that each `centre` subtracts."""

    steps: tuple[str, ...]
    centres: tuple[NDArray[np.float32], ...]

    @classmethod
    def learn(cls, matrix: NDArray[np.floating], steps: Sequence[str]) -> tuple[Preparation, NDArray[np.float32]]:
        """Learn the preparation of the vectors of a view; returns it and the prepared vectors."""
        check_steps(steps)
        centres: list[NDArray[np.float32]] = []
        prepared = np.array(matrix, dtype=np.float32)
        for step in steps:
            if step == "centre":
                centres.append(prepared.mean(axis=0, dtype=np.float64).astype(np.float32))
            prepared = unit_rows(prepared) if step == "unit" else np.subtract(prepared, centres[-1], out=prepared)
        return cls(tuple(steps), tuple(centres)), prepared

    def apply(self, matrix: NDArray[np.floating]) -> NDArray[np.float32]:
        """Prepare other vectors of the same view in the same way."""
        prepared = np.array(matrix, dtype=np.float32)
        centres = iter(self.centres)
        for step in self.steps:
            prepared = unit_rows(prepared) if step == "unit" else np.subtract(prepared, next(centres), out=prepared)
        return prepared


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Views mapped into one shared space, in which words with the same meaning lie near each other.

    Attributes
    ----------
    method
        The method by which the space was fitted: one of `cepts.spaces.METHODS`.
    languages
        The name of each view.
    preparations
        How the vectors of each view are prepared.
    centres, maps
        A prepared vector x of view i is mapped to ``(x - centres[i]) @ maps[i]``.
    model
        The factor model (IBFA, MBFA), in the coordinates of prepared vectors; None for other methods.
    correlations
        How well a single view predicts each dimension of the space, in descending order; for IBFA and CCA these are the
        canonical correlations.
    objectives
        Mean log-likelihood of an entry before each step of EM, for whitened views; it differs from that of the vectors
        themselves by a constant.
    """

    method: str
    languages: tuple[str, ...]
    preparations: tuple[Preparation, ...]
    centres: tuple[NDArray[np.float32], ...]
    maps: tuple[NDArray[np.float32], ...]
    model: FactorModel | None = None
    correlations: NDArray[np.float64] | None = None
    objectives: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.maps)

    @property
    def width(self) -> int:
        """Number of dimensions of the shared space."""
        return int(self.maps[0].shape[1])

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of dimensions of each view."""
        return tuple(len(matrix) for matrix in self.maps)

    def view(self, language: str | int) -> int:
        """The number of a language's view; the language is given by name or by number."""
        if isinstance(language, int | np.integer):
            if not 0 <= language < len(self):
                raise UsageError(f"the number of a view must be 0 to {len(self) - 1}. Got {language} instead.")
            return int(language)
        if language not in self.languages:
            raise UsageError(f"the language must be one of {', '.join(self.languages)}. Got {language!r} instead.")
        return self.languages.index(language)

    def checked_view(self, vectors: NDArray[np.floating], language: str | int) -> int:
        """The number of a language's view; raises `UsageError` if `vectors` do not have the width of that view."""
        view = self.view(language)
        if vectors.ndim != 2 or vectors.shape[1] != self.widths[view]:
            found = f"width {vectors.shape[1]}" if vectors.ndim == 2 else f"shape {vectors.shape}"
            raise UsageError(
                f"found vectors of {found} for {self.languages[view]}, wanted width {self.widths[view]} as when the "
                f"space was fitted; give the vectors that it was fitted on."
            )
        return view

    def direction(self, source: str | int | None = None, target: str | int | None = None) -> tuple[int, int]:
        """The numbers of the views to translate from and into.

        Without `source`, it is the first language that is not the `target`. With two languages, `target` may be left
        out, too.
        """
        if target is None and len(self) > 2:
            raise UsageError(
                f"the space has the languages {', '.join(self.languages)}; choose the one to translate into (`target`)."
            )
        given = [None if language is None else self.view(language) for language in (source, target)]
        if given == [None, None]:
            given[0] = 0
        free = [view for view in range(len(self)) if view not in given]
        first, second = (free[0] if view is None else view for view in given)
        if first == second:
            raise UsageError(
                f"`source` and `target` are both {self.languages[first]}; choose two different languages from "
                f"{', '.join(self.languages)}."
            )
        return first, second

    def project(self, vectors: NDArray[np.floating], language: str | int) -> NDArray[np.float32]:
        """Map vectors of a language into the shared space; each row is a vector as it was read."""
        view = self.checked_view(vectors, language)
        placed = np.empty((len(vectors), self.width), dtype=np.float32)
        for start in range(0, len(vectors), BLOCK_ROWS):
            block = self.preparations[view].apply(vectors[start : start + BLOCK_ROWS])
            block -= self.centres[view]
            np.matmul(block, self.maps[view], out=placed[start : start + BLOCK_ROWS])
        return placed

    def check_measure(self, measure: str) -> None:
        """Raise `UsageError` for an unknown measure, and for the likelihood if there is no factor model."""
        check_choice("measure", measure, TRANSLATION_MEASURES)
        if measure == "likelihood" and self.model is None:
            raise UsageError(
                f"{self.method} has no likelihood; fit the space by ibfa or mbfa, or choose another `measure`."
            )

    def likelihood_points(
        self, sources: NDArray[np.floating], targets: NDArray[np.floating], source: str | int, target: str | int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Queries, targets and a bias for each target, such that dot + bias ranks target words y by log p(x | y).

        Under a uniform prior over the target words this is the order of P(y | x). log p(x | y) is a constant minus
        half the squared Mahalanobis distance of x from E[x | y] (Vargas et al. 2019, appendix D, with the sides
        exchanged), so x and E[x | y] are whitened by the covariance of p(x | y).
        """
        self.check_measure("likelihood")
        assert self.model is not None
        x, y = self.view(source), self.view(target)
        slope, mean, covariance = self.model.conditional(y, x)
        values, vectors = np.linalg.eigh(covariance)
        root = vectors / np.sqrt(np.maximum(values, 1e-9 * values[-1]))
        queries = ((self.preparations[x].apply(sources) - mean) @ root).astype(np.float32)
        expected = (self.preparations[y].apply(targets) - self.model.means[y]) @ (slope @ root)
        bias = -0.5 * np.einsum("ij,ij->i", expected, expected)
        return queries, expected.astype(np.float32), bias.astype(np.float32)
