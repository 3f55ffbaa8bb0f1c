"""What is done to a view's vectors before a model sees them: unit length, and their mean subtracted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.errors import UsageError
from cepts.names import STEPS
from cepts.spaces.retrieve import unit_rows


def check_steps(steps: Sequence[str]) -> None:
    """Refuse steps that are not of `STEPS`."""
    unknown = [step for step in steps if step not in STEPS]
    if isinstance(steps, str) or unknown:
        raise UsageError(f"`prepare` must have the steps {' and '.join(STEPS)} only. Got {steps!r} instead.")


@dataclass(frozen=True, slots=True, eq=False)
class Preparation:
    """Steps in their order (see `SpaceModel`), and the mean that each step `centre` subtracts."""

    steps: tuple[str, ...]
    centres: tuple[NDArray[np.float32], ...]

    @classmethod
    def learn(cls, matrix: NDArray[np.floating], steps: Sequence[str]) -> tuple[Preparation, NDArray[np.float32]]:
        """Preparation of the view that `matrix` holds, and its prepared vectors."""
        check_steps(steps)
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
