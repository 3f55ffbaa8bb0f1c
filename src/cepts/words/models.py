"""The word models: each names a position model and its defaults; see `Aligner` for the options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cepts.words.aligner import Aligner
from cepts.words.fertility import Displacements, Distortions, Fertility
from cepts.words.jumps import Jumps
from cepts.words.mixture import DiagonalPrior, PositionTable, Uniform
from cepts.words.positions import Positions

# Jumps of the weights before training that count beside those of the text, where the lexicon backs off.
SMOOTHING = 10.0


@dataclass(kw_only=True, eq=False, repr=False)
class IBM1(Aligner):
    """Every target word is a mixture over the source words and null, all equally likely: eq. (1e) of ibm12.

    By default trained by maximum likelihood, eq. (25), whose likelihood never falls.
    """

    name = "ibm1"
    positions_class = Uniform

    start_iterations: int = 0


@dataclass(kw_only=True, eq=False, repr=False)
class IBM2(Aligner):
    """Model 1 with a learnt table of positions P(a_j = i | I, J): eqs. (1a)-(1d) of ibm12.

    By default trained by maximum likelihood, eq. (25), whose likelihood never falls.
    """

    name = "ibm2"
    positions_class = PositionTable


@dataclass(kw_only=True, eq=False, repr=False)
class Diagonal(Aligner):
    """Model 2 whose positions follow the diagonal, with one learnt tension a direction (Dyer et al., 2013).

    By default with a sparse Dirichlet prior on the lexicon, as fast_align is used.
    """

    name = "diagonal"
    positions_class = DiagonalPrior

    start_iterations: int = 1
    lexicon: str = "bayes"


@dataclass(kw_only=True, eq=False, repr=False)
class HMM(Aligner):
    """Each target word's position depends on the last one's, by the jump between them (Vogel, Ney, Tillmann, 1996).

    By default the two directions are trained to agree, on a lexicon that backs off from words to stems. With
    ``agreement=False, lexicon="ml"`` it is trained by exact EM and its likelihood never falls.
    """

    name = "hmm"
    positions_class = Jumps

    iterations: int = 4
    start_iterations: int = 4
    lexicon: str = "backoff"
    agreement: bool = True
    null_prob: float | None = 0.1
    tolerance: float = 0.24

    def new_positions(self) -> Positions:
        """Jumps that have learnt nothing yet."""
        return _jumps(self)


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

    positions_class: ClassVar[type[Fertility]]
    LEAST: ClassVar[dict[str, int]] = {**Aligner.LEAST, "hmm_iterations": 0}

    iterations: int = 3
    start_iterations: int = 4
    lexicon: str = "backoff"
    agreement: bool = True
    null_prob: float | None = 0.1
    hmm_iterations: int = 4

    def stages(self) -> list[tuple[str, Positions, int]]:
        """Model 1, the HMM, the model itself."""
        assert isinstance(self.positions_, Fertility)
        first, last = super().stages()
        return [first, ("hmm", self.positions_.jumps, self.hmm_iterations), last]

    def new_positions(self) -> Positions:
        """Fertilities and placements, with the jumps of the HMM aligner."""
        return self.positions_class(null_prob=self.null_prob, jumps=_jumps(self))


@dataclass(kw_only=True, eq=False, repr=False)
class IBM3(FertilityAligner):
    """Each source word has a fertility, and places its target words near the diagonal; see `FertilityAligner`."""

    name = "ibm3"
    positions_class = Displacements


@dataclass(kw_only=True, eq=False, repr=False)
class IBM4(FertilityAligner):
    """Each source word has a fertility, and places its target words relative to those of the last one.

    See `FertilityAligner` for the other options.

    Parameters
    ----------
    classes
        Word classes of either language, on which the placement depends.
    """

    name = "ibm4"
    positions_class = Distortions
    LEAST: ClassVar[dict[str, int]] = {**FertilityAligner.LEAST, "classes": 1}

    classes: int = 50

    def new_positions(self) -> Positions:
        """Fertilities, word classes and distortions."""
        return Distortions(null_prob=self.null_prob, jumps=_jumps(self), classes=self.classes)


def _jumps(aligner: Aligner) -> Jumps:
    """Jumps, smoothed where the lexicon is, because a small text has few of them."""
    return Jumps(null_prob=aligner.null_prob, smoothing=SMOOTHING if aligner.lexicon == "backoff" else 0.0)
