"""Model 4."""

from __future__ import annotations

from dataclasses import dataclass

from cepts.words.fertility import Distortions
from cepts.words.ibm3 import FertilityAligner


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

    classes: int = 50

    def least(self) -> dict[str, int]:
        """The least value of each parameter that is a count."""
        return {**super().least(), "classes": 1}

    def new_positions(self) -> Distortions:
        """Fertilities, word classes and distortions."""
        return Distortions(null_prob=self.null_prob, jumps=self.new_jumps(), classes=self.classes)
