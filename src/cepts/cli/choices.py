"""Names that options may take, listed here so that `--help` need not import what knows them."""

from __future__ import annotations

__all__ = ["FORMATS", "LIST_FORMATS", "METHODS", "MODELS"]

# As in cepts.io (LINK_FORMATS, NBEST_FORMATS), cepts.extract.METHODS and cepts.words.MODELS, which tests compare them
# with.
FORMATS = ("pharaoh", "scored", "naacl", "giza", "json")
LIST_FORMATS = ("json", "giza")
METHODS = (
    "intersection",
    "union",
    "grow-diag",
    "grow-diag-final",
    "grow-diag-final-and",
    "forward",
    "reverse",
)
MODELS = ("ibm1", "ibm2", "diagonal", "hmm", "ibm3", "ibm4")
