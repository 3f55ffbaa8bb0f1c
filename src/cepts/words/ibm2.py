"""IBM Model 2."""

from __future__ import annotations

from typing import Any

from cepts.words.aligner import Aligner
from cepts.words.mixture import PositionTable

__all__ = ["IBM2"]


class IBM2(Aligner):
    """Model 1 with a learnt table of positions P(a_j = i | I, J): eqs. (1a)-(1d) of ibm12.

    By default trained by maximum likelihood, eq. (25), whose likelihood never falls. See `Aligner` for the options.
    """

    name = "ibm2"
    positions_class = PositionTable

    def __init__(self, *, iterations: int = 5, **options: Any) -> None:
        super().__init__(iterations=iterations, **options)
