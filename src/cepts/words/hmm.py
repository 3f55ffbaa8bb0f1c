"""The HMM aligner: the default."""

from __future__ import annotations

from dataclasses import dataclass

from cepts.words.aligner import Aligner
from cepts.words.jumps import Jumps

SMOOTHING = 10.0


@dataclass(kw_only=True, eq=False, repr=False)
class HMM(Aligner):
    """Each target word's position depends on the last one's, by the jump between them (Vogel, Ney, Tillmann, 1996).

    By default the two directions are trained to agree, on a lexicon that backs off from words to stems. With
    ``agreement=False, lexicon="ml"`` it is trained by exact EM and its likelihood never falls. See `Aligner` for the
    options.
    """

    name = "hmm"
    positions_class = Jumps

    iterations: int = 4
    start_iterations: int = 4
    lexicon: str = "backoff"
    agreement: bool = True
    null_prob: float | None = 0.1
    tolerance: float = 0.24

    def new_positions(self) -> Jumps:
        """Jumps, smoothed unless the lexicon is maximum likelihood, because a small text has few of them."""
        return Jumps(null_prob=self.null_prob, smoothing=SMOOTHING if self.lexicon == "backoff" else 0.0)
