"""Figures: aligned pairs, matrices and their factors, the choice of the number of cepts, spaces, hidden documents."""

from cepts.plot.curves import plot_correlations, plot_criterion, plot_hidden_documents, plot_likelihood, plot_space
from cepts.plot.factors import draw_pair, plot_factors
from cepts.plot.figure import Drawn, FigureWarning
from cepts.plot.pairs import plot_pair

__all__ = [
    "Drawn",
    "FigureWarning",
    "draw_pair",
    "plot_correlations",
    "plot_criterion",
    "plot_factors",
    "plot_hidden_documents",
    "plot_likelihood",
    "plot_pair",
    "plot_space",
]
