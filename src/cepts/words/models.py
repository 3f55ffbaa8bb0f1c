"""The word models: each class names a position model and its defaults; see `Aligner` for the parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.words.aligner import Aligner
from cepts.words.fertility import Displacements, Distortions, Fertility
from cepts.words.jumps import Jumps
from cepts.words.mixed import DoubtfulDistortions
from cepts.words.mixture import DiagonalPrior, PositionTable, Uniform
from cepts.words.positions import Positions, Stage

# Number of pseudo-jumps, distributed as the weights before training, that are added if the lexicon backs off.
SMOOTHING = 10.0


@dataclass(kw_only=True, eq=False, repr=False)
class IBM1(Aligner):
    """IBM Model 1: each target word is linked to a source word or to null, all of which are equally likely.

    Aziz (2016), eq. (1e). By default it is trained by maximum likelihood, eq. (25), and its likelihood never falls.
    """

    name = "ibm1"
    positions_class = Uniform
    # Every word of the sentence has a share, so that few posteriors are high.
    overconfident = False

    start_iterations: int = 0


@dataclass(kw_only=True, eq=False, repr=False)
class IBM2(Aligner):
    """IBM Model 2: Model 1 with learnt probabilities of positions, P(a_j = i | I, J).

    Aziz (2016), eqs. (1a) to (1d). By default it is trained by maximum likelihood, eq. (25), and its likelihood never
    falls.
    """

    name = "ibm2"
    positions_class = PositionTable


@dataclass(kw_only=True, eq=False, repr=False)
class Diagonal(Aligner):
    """Model 2 with links near the diagonal: one parameter for each direction, the tension, says how near.

    This is the model of fast_align (Dyer, Chahuneau and Smith, 2013). By default the lexicon has a sparse Dirichlet
    prior, as fast_align is usually run.
    """

    name = "diagonal"
    positions_class = DiagonalPrior

    start_iterations: int = 1
    lexicon: str = "bayes"


@dataclass(kw_only=True, eq=False, repr=False)
class HMM(Aligner):
    """HMM alignment model: each link depends on the link of the word before, by the jump between the two.

    The model is that of Vogel, Ney and Tillmann (1996). By default the two directions are trained to agree, with a
    lexicon that backs off from words to stems. With ``agreement=False, lexicon="ml"`` it is trained by exact EM, and
    its likelihood never falls.
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
        """Return untrained jumps."""
        return _jumps(self)


@dataclass(kw_only=True, eq=False, repr=False)
class FertilityAligner(Aligner):
    """Base class of Models 3 and 4, which are trained after Model 1 and the HMM.

    Hill climbing to better alignments starts from the paths of the HMM. See `Aligner` for the parameters that are not
    listed here.

    Parameters
    ----------
    iterations
        EM iterations of the model itself.
    hmm_iterations
        EM iterations of the HMM, which is trained second.
    start_iterations
        EM iterations of Model 1, which is trained first.
    null_prob
        P(null) of Model 1 and of the HMM. In the model itself, the probability that a word that null does not explain
        adds one that null explains (p1 of Brown et al., 1993).
    """

    positions_class: ClassVar[type[Fertility]]
    LEAST: ClassVar[dict[str, int]] = {**Aligner.LEAST, "hmm_iterations": 0}

    iterations: int = 3
    start_iterations: int = 4
    lexicon: str = "backoff"
    agreement: bool = True
    null_prob: float | None = 0.1
    hmm_iterations: int = 4

    def stages(self) -> list[Stage]:
        """Model 1, the HMM and the model itself."""
        assert isinstance(self.positions_, Fertility)
        first, last = super().stages()
        return [first, Stage("hmm", self.positions_.jumps, self.hmm_iterations), last]

    def new_positions(self) -> Positions:
        """Return untrained fertilities and placements, with the jumps of an HMM."""
        return self.positions_class(null_prob=self.null_prob, jumps=_jumps(self))


@dataclass(kw_only=True, eq=False, repr=False)
class IBM3(FertilityAligner):
    """IBM Model 3: each source word has a fertility, and its target words lie near the diagonal.

    The model is that of Brown et al. (1993). It is trained after Model 1 and the HMM, and hill climbing to better
    alignments starts from the paths of the HMM. See `Aligner` for the parameters that are not listed here.
    """

    name = "ibm3"
    positions_class = Displacements


@dataclass(kw_only=True, eq=False, repr=False)
class IBM4(FertilityAligner):
    """IBM Model 4: each source word has a fertility, and places its target words relative to those of the word before.

    The model is that of Brown et al. (1993). See `IBM3` and `Aligner` for the other parameters.

    Parameters
    ----------
    classes
        Number of word classes of each language, on which the placement depends.
    """

    name = "ibm4"
    positions_class = Distortions
    LEAST: ClassVar[dict[str, int]] = {**FertilityAligner.LEAST, "classes": 1}

    classes: int = 50

    def new_positions(self) -> Positions:
        """Return untrained fertilities, word classes and distortions."""
        return Distortions(null_prob=self.null_prob, jumps=_jumps(self), classes=self.classes)


@dataclass(kw_only=True, eq=False, repr=False)
class Mixed(FertilityAligner):
    """The HMM and Model 4 together: Model 4 decides where the HMM is in doubt, and confidences are those of both.

    After Model 1 and the HMM, Model 4 is trained on links that the HMM thinks possible; the lexicon is then that of
    Model 4. The posteriors are a weighted mean of those of both models, which `share` divides between them. See
    `FertilityAligner` and `Aligner` for the other parameters.

    Parameters
    ----------
    classes
        Number of word classes of each language, on which the placement in Model 4 depends.
    share
        The weight of Model 4 in the mean.
    scarce
        If the mean logarithm of how often words occur is lower than this on either side, Model 4 leaves the lexicon as
        it is, because it would fit such a text too closely.
    """

    name = "mixed"
    positions_class = DoubtfulDistortions
    LEAST: ClassVar[dict[str, int]] = {**FertilityAligner.LEAST, "classes": 1, "share": 0, "scarce": 0}

    iterations: int = 2
    hmm_iterations: int = 2
    tolerance: float = 0.24
    classes: int = 20
    share: float = 0.25
    scarce: float = 3.2

    def stages(self) -> list[Stage]:
        """Model 1, the HMM, and Model 4, which first learns its positions from a part of the text."""
        *first, last = super().stages()
        if min(_mean_log(self.source_.frequencies), _mean_log(self.target_.frequencies)) < self.scarce:
            last = last._replace(iterations=0)
        return [*first, Stage("placements", self.positions_, 1, only_positions=True), last]

    def later_stages(self) -> list[Stage]:
        """The HMM and Model 4, which has learnt its positions."""
        _, hmm, _, last = self.stages()
        return [hmm, last]

    def new_positions(self) -> Positions:
        """Return untrained jumps, fertilities and distortions."""
        how: dict[str, Any] = {"null_prob": self.null_prob, "jumps": _jumps(self)}
        return DoubtfulDistortions(classes=self.classes, share=self.share, **how)


def _mean_log(frequencies: NDArray[np.int64]) -> float:
    """The mean logarithm of the frequencies of the words of a text, running word by running word."""
    seen = frequencies[frequencies > 0]
    return float((seen * np.log(seen)).sum() / max(seen.sum(), 1))


def _jumps(aligner: Aligner) -> Jumps:
    """Jumps, smoothed if the lexicon is, because a small text has few of them."""
    return Jumps(null_prob=aligner.null_prob, smoothing=SMOOTHING if aligner.lexicon == "backoff" else 0.0)
