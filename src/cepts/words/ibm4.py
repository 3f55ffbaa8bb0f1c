"""Model 4."""

from __future__ import annotations

from typing import Any

from cepts.errors import UsageError
from cepts.words.fertility import Distortions
from cepts.words.ibm3 import FertilityAligner

__all__ = ["IBM4"]


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

    def __init__(self, *, classes: int = 50, **options: Any) -> None:
        if classes < 1:
            raise UsageError(f"classes must be 1 or more. Got {classes} instead.")
        self.classes = classes
        super().__init__(**options)

    def new_positions(self) -> Distortions:
        """Fertilities, word classes and distortions."""
        return Distortions(null_prob=self.null_prob, jumps=self.new_jumps(), classes=self.classes)

    def options(self) -> dict[str, Any]:
        """The options with which the aligner was made, `threads` apart."""
        return {**super().options(), "classes": self.classes}
