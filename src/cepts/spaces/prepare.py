"""What is done to a view's vectors before a model sees them: lengths made equal, means taken away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.spaces.retrieve import unit_rows

__all__ = ["STEPS", "Preparation"]

STEPS = ("unit", "centre")


@dataclass(frozen=True, slots=True, eq=False)
class Preparation:
    """Steps in their order, and the mean that each step `centre` takes away.

    Attributes
    ----------
    steps
        Of `STEPS`: *unit* gives each vector length 1, *centre* takes the mean of all vectors away.
    centres
        The means, one for each `centre`.
    """

    steps: tuple[str, ...]
    centres: tuple[NDArray[np.float32], ...]

    @classmethod
    def learn(cls, matrix: NDArray[np.floating], steps: Sequence[str]) -> tuple[Preparation, NDArray[np.float32]]:
        """Preparation of the view that `matrix` holds, and its prepared vectors."""
        unknown = [step for step in steps if step not in STEPS]
        if unknown:
            raise ValueError(f"steps must be of {', '.join(STEPS)}. Got {unknown[0]!r} instead.")
        prepared = np.array(matrix, dtype=np.float32)
        centres = []
        for step in steps:
            if step == "unit":
                prepared = unit_rows(prepared)
            else:
                centres.append(prepared.mean(axis=0, dtype=np.float64).astype(np.float32))
                prepared -= centres[-1]
        return cls(tuple(steps), tuple(centres)), prepared

    def apply(self, matrix: NDArray[np.floating]) -> NDArray[np.float32]:
        """Vectors of the same view, prepared in the same way."""
        prepared = np.array(matrix, dtype=np.float32)
        centres = iter(self.centres)
        for step in self.steps:
            if step == "unit":
                prepared = unit_rows(prepared)
            else:
                prepared -= next(centres)
        return prepared
