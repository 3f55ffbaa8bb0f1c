"""Anderson acceleration: extrapolates a fixed-point iteration from its last steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RIDGE = 1e-10  # relative, so that steps which repeat each other do not make the small system singular


class Anderson:
    """Extrapolates the iteration x -> g(x).

    Of all combinations of the last steps it takes the one whose residual g(x) - x would be smallest if g were linear
    (Anderson 1965; Walker & Ni 2011). It does not know the objective: the caller must reject a point that is worse, use
    g(x) instead and call `forget`. `memory` is the number of past steps that are used.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.forget()

    def forget(self) -> None:
        """Forget all steps, and start again from the next point."""
        # Row s of `_steps` is how far g moved in a step and row s of `_changes` how the residual changed; the oldest
        # row is overwritten. Single precision is enough for directions, and reading them is most of the cost.
        self._steps = self._changes = np.empty((0, 0), dtype=np.float32)
        self._gram = np.zeros((0, 0))
        self._seen = 0
        self._last: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None

    def extrapolate(self, here: NDArray[np.float64], there: NDArray[np.float64]) -> NDArray[np.float64]:
        """The point to try next, where g has taken `here` to `there`."""
        residual = there - here
        if self._last is not None:
            self._remember(here - self._last[0], residual - self._last[1])
        self._last = here, residual
        count = min(self._seen, self.memory)
        gram = self._gram[:count, :count]
        if not np.trace(gram) > 0.0:  # no steps yet, or steps that are too small to be told apart
            return there
        right = self._changes[:count] @ residual.astype(np.float32)
        ridge = RIDGE * np.trace(gram) / count
        shares = np.linalg.solve(gram + ridge * np.eye(count), right.astype(np.float64))
        return there - shares.astype(np.float32) @ self._steps[:count]

    def _remember(self, moved: NDArray[np.float64], changed: NDArray[np.float64]) -> None:
        """Keep one more step: how far x moved (and g with it), and how the residual changed."""
        if not self._steps.size:
            self._steps = np.empty((self.memory, len(moved)), dtype=np.float32)
            self._changes = np.empty_like(self._steps)
            self._gram = np.zeros((self.memory, self.memory))
        row = self._seen % self.memory
        self._seen += 1
        self._changes[row] = changed
        self._steps[row] = moved + changed
        count = min(self._seen, self.memory)
        products = self._changes[:count] @ self._changes[row]
        self._gram[row, :count] = self._gram[:count, row] = products
