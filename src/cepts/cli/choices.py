"""Names that options may take, listed here so that `--help` need not import what knows them."""

from __future__ import annotations

__all__ = ["ASSOCIATIONS", "FORMATS", "LIST_FORMATS", "METHODS", "MODELS", "SELECTIONS"]

# As in cepts.io (LINK_FORMATS, NBEST_FORMATS), cepts.extract.METHODS, cepts.factor.SELECTIONS and cepts.words (MODELS,
# ASSOCIATIONS), which tests compare them with.
ASSOCIATIONS = (
    "agreement",
    "mean",
    "forward",
    "reverse",
    "nbest",
    "nbest-probability",
    "nbest-rank",
    "nbest-agreement",
    "tables",
    "counts",
    "dice",
    "pmi",
    "llr",
)
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
SELECTIONS = ("anneal", "anneal-bic", "aic", "bic")
