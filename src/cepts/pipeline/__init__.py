"""The rooms joined: from files to files."""

from cepts.pipeline.align import Summary, align_bitext
from cepts.pipeline.factor import CeptCounts, FactorSummary, factor_matrices
from cepts.pipeline.nbest import ListSummary, list_bitext

__all__ = [
    "CeptCounts",
    "FactorSummary",
    "ListSummary",
    "Summary",
    "align_bitext",
    "factor_matrices",
    "list_bitext",
]
