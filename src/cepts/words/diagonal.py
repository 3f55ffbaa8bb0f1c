"""Model 2 along the diagonal."""

from __future__ import annotations

from dataclasses import dataclass

from cepts.words.aligner import Aligner
from cepts.words.mixture import DiagonalPrior


@dataclass(kw_only=True, eq=False, repr=False)
class Diagonal(Aligner):
    """Model 2 whose positions follow the diagonal, with one learnt tension a direction (Dyer et al., 2013).

    By default with a sparse Dirichlet prior on the lexicon, as fast_align is used. See `Aligner` for the options.
    """

    name = "diagonal"
    positions_class = DiagonalPrior

    start_iterations: int = 1
    lexicon: str = "bayes"
