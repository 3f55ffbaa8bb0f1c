"""Model 2 along the diagonal."""

from __future__ import annotations

from typing import Any

from cepts.words.aligner import Aligner
from cepts.words.mixture import DiagonalPrior

__all__ = ["Diagonal"]


class Diagonal(Aligner):
    """Model 2 whose positions follow the diagonal, with one learnt tension a direction (Dyer et al., 2013).

    By default with a sparse Dirichlet prior on the lexicon, as fast_align is used. See `Aligner` for the options.
    """

    name = "diagonal"
    positions_class = DiagonalPrior

    def __init__(self, *, iterations: int = 5, lexicon: str = "bayes", **options: Any) -> None:
        super().__init__(iterations=iterations, lexicon=lexicon, **{"start_iterations": 1, **options})
