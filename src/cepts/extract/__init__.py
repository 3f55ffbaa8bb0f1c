"""From what the models give to alignments: combine two directions, or read an association matrix."""

from cepts.extract.association import agreement, best, threshold
from cepts.extract.cepts import without_loose_words
from cepts.extract.directions import METHODS, Method, check_range, combine
from cepts.extract.rectangles import rectangles

__all__ = [
    "METHODS",
    "Method",
    "agreement",
    "best",
    "check_range",
    "combine",
    "rectangles",
    "threshold",
    "without_loose_words",
]
