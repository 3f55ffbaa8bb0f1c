"""Anderson's method: where a fixed-point iteration is going, from its last steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Anderson"]

RIDGE = 1e-10  # relative, so that steps which repeat each other do not make the small system singular


class Anderson:
    """Extrapolates the iteration x -> g(x).

    Among the combinations of the last steps it takes the one whose residual g(x) - x would be smallest if g were linear
    (Anderson 1965; Walker & Ni 2011). Nothing here looks at an objective: the caller must refuse a worse point, take
    g(x) instead and call `forget`.

    Parameters
    ----------
    memory
        Number of past steps that are used.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.forget()

    def forget(self) -> None:
        """Start anew from the next point."""
        self._steps: list[NDArray[np.float32]] = []
        self._changes: list[NDArray[np.float32]] = []
        self._gram = np.zeros((0, 0))
        self._last: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None

    def extrapolate(self, here: NDArray[np.float64], there: NDArray[np.float64]) -> NDArray[np.float64]:
        """The point to try next, where g has taken `here` to `there`."""
        residual = there - here
        if self._last is not None:
            self._remember(here - self._last[0], residual - self._last[1])
        self._last = here, residual
        if not np.trace(self._gram) > 0.0:  # nothing to go by: no steps yet, or steps that are too small to tell apart
            return there
        narrow = residual.astype(np.float32)
        right = np.array([float(np.dot(change, narrow)) for change in self._changes])
        ridge = RIDGE * np.trace(self._gram) / len(self._gram)
        shares = np.linalg.solve(self._gram + ridge * np.eye(len(self._gram)), right)
        point = there.copy()
        for share, step in zip(shares, self._steps, strict=True):
            point -= share * step
        return point

    def _remember(self, moved: NDArray[np.float64], changed: NDArray[np.float64]) -> None:
        """Keep one more step: how far x moved (and g with it), and how the residual changed.

        Differences are kept in single precision: they are only directions, and reading them is most of the cost.
        """
        change = changed.astype(np.float32)
        self._changes.append(change)
        self._steps.append((moved + changed).astype(np.float32))
        products = np.array([float(np.dot(old, change)) for old in self._changes])
        count = len(self._changes)
        gram = np.zeros((count, count))
        gram[:-1, :-1] = self._gram
        gram[-1] = gram[:, -1] = products
        if count > self.memory:
            self._changes.pop(0)
            self._steps.pop(0)
            gram = gram[1:, 1:]
        self._gram = gram
