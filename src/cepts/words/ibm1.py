"""IBM Model 1."""

from __future__ import annotations

from dataclasses import dataclass

from cepts.words.aligner import Aligner
from cepts.words.mixture import Uniform


@dataclass(kw_only=True, eq=False, repr=False)
class IBM1(Aligner):
    """Every target word is a mixture over the source words and null, all equally likely: eq. (1e) of ibm12.

    By default trained by maximum likelihood, eq. (25), whose likelihood never falls. See `Aligner` for the options.
    """

    name = "ibm1"
    positions_class = Uniform

    start_iterations: int = 0
