"""Figures: aligned pairs, matrices and their factors, the choice of the number of cepts, spaces, hidden documents.

Each function writes one file, whose suffix (.svg, .pdf or .png) is the format. Matplotlib must be installed.
"""

from cepts.plot.curves import plot_correlations, plot_criterion, plot_hidden_documents, plot_likelihood, plot_space
from cepts.plot.factors import plot_factors, plot_pair_factors
from cepts.plot.figure import Drawn, FigureWarning
from cepts.plot.pairs import plot_pair

__all__ = [
    "Drawn",
    "FigureWarning",
    "plot_correlations",
    "plot_criterion",
    "plot_factors",
    "plot_hidden_documents",
    "plot_likelihood",
    "plot_pair",
    "plot_pair_factors",
    "plot_space",
]
