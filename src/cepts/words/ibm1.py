"""IBM Model 1."""

from __future__ import annotations

from typing import Any

from cepts.words.aligner import Aligner
from cepts.words.mixture import Uniform

__all__ = ["IBM1"]


class IBM1(Aligner):
    """Every target word is a mixture over the source words and null, all equally likely: eq. (1e) of ibm12.

    By default trained by maximum likelihood, eq. (25), whose likelihood never falls. See `Aligner` for the options.
    """

    name = "ibm1"
    positions_class = Uniform

    def __init__(self, *, iterations: int = 5, **options: Any) -> None:
        super().__init__(iterations=iterations, **{"start_iterations": 0, **options})
