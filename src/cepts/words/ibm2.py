"""IBM Model 2."""

from __future__ import annotations

from dataclasses import dataclass

from cepts.words.aligner import Aligner
from cepts.words.mixture import PositionTable


@dataclass(kw_only=True, eq=False, repr=False)
class IBM2(Aligner):
    """Model 1 with a learnt table of positions P(a_j = i | I, J): eqs. (1a)-(1d) of ibm12.

    By default trained by maximum likelihood, eq. (25), whose likelihood never falls. See `Aligner` for the options.
    """

    name = "ibm2"
    positions_class = PositionTable
