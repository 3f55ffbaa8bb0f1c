"""Model 3, and what it shares with Model 4."""

from __future__ import annotations

from typing import Any

from cepts.errors import UsageError
from cepts.words.aligner import Aligner
from cepts.words.fertility import Displacements, Fertility
from cepts.words.hmm import SMOOTHING
from cepts.words.jumps import Jumps
from cepts.words.mixture import Uniform
from cepts.words.positions import Positions

__all__ = ["IBM3", "FertilityAligner"]


class FertilityAligner(Aligner):
    """Trained from Model 1 by way of the HMM, whose paths are where the climb to better alignments starts.

    Parameters
    ----------
    iterations
        EM iterations of the model itself.
    hmm_iterations
        EM iterations of the HMM before them.
    start_iterations
        EM iterations of Model 1 before those.
    null_prob
        P(null) of Model 1 and of the HMM, and p1 of the model itself (see `cepts.words.fertility`).
    """

    positions_: Fertility

    def __init__(
        self,
        *,
        iterations: int = 3,
        hmm_iterations: int = 4,
        start_iterations: int = 4,
        lexicon: str = "backoff",
        agreement: bool = True,
        null_prob: float | None = 0.1,
        **options: Any,
    ) -> None:
        super().__init__(
            iterations=iterations,
            start_iterations=start_iterations,
            lexicon=lexicon,
            agreement=agreement,
            null_prob=null_prob,
            **options,
        )
        if hmm_iterations < 0:
            raise UsageError(f"hmm_iterations must be 0 or more. Got {hmm_iterations} instead.")
        self.hmm_iterations = hmm_iterations

    def stages(self) -> list[tuple[str, Positions, int]]:
        """Model 1, the HMM, the model itself."""
        return [
            ("ibm1", Uniform(null_prob=self.null_prob), self.start_iterations),
            ("hmm", self.positions_.jumps, self.hmm_iterations),
            (self.name, self.positions_, self.iterations),
        ]

    def new_jumps(self) -> Jumps:
        """Jumps as the HMM aligner has them."""
        return Jumps(null_prob=self.null_prob, smoothing=SMOOTHING if self.lexicon == "backoff" else 0.0)

    def options(self) -> dict[str, Any]:
        """The options with which the aligner was made, `threads` apart."""
        return {**super().options(), "hmm_iterations": self.hmm_iterations}


class IBM3(FertilityAligner):
    """Each source word has a fertility, and places its target words near the diagonal; see `FertilityAligner`."""

    name = "ibm3"
    positions_class = Displacements

    def new_positions(self) -> Displacements:
        """Fertilities and displacements."""
        return Displacements(null_prob=self.null_prob, jumps=self.new_jumps())
