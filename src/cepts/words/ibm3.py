"""Model 3, and what it shares with Model 4."""

from __future__ import annotations

from dataclasses import dataclass

from cepts.words.aligner import Aligner
from cepts.words.fertility import Displacements, Fertility
from cepts.words.hmm import SMOOTHING
from cepts.words.jumps import Jumps
from cepts.words.mixture import Uniform
from cepts.words.positions import Positions


@dataclass(kw_only=True, eq=False, repr=False)
class FertilityAligner(Aligner):
    """Trained from Model 1 through the HMM, from whose paths hill climbing to better alignments starts.

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

    iterations: int = 3
    start_iterations: int = 4
    lexicon: str = "backoff"
    agreement: bool = True
    null_prob: float | None = 0.1
    hmm_iterations: int = 4

    def least(self) -> dict[str, int]:
        """The least value of each parameter that is a count."""
        return {**super().least(), "hmm_iterations": 0}

    def stages(self) -> list[tuple[str, Positions, int]]:
        """Model 1, the HMM, the model itself."""
        positions = self.positions_
        assert isinstance(positions, Fertility)
        return [
            ("ibm1", Uniform(null_prob=self.null_prob), self.start_iterations),
            ("hmm", positions.jumps, self.hmm_iterations),
            (self.name, positions, self.iterations),
        ]

    def new_jumps(self) -> Jumps:
        """Jumps as the HMM aligner has them."""
        return Jumps(null_prob=self.null_prob, smoothing=SMOOTHING if self.lexicon == "backoff" else 0.0)


@dataclass(kw_only=True, eq=False, repr=False)
class IBM3(FertilityAligner):
    """Each source word has a fertility, and places its target words near the diagonal; see `FertilityAligner`."""

    name = "ibm3"
    positions_class = Displacements

    def new_positions(self) -> Displacements:
        """Fertilities and displacements."""
        return Displacements(null_prob=self.null_prob, jumps=self.new_jumps())
