"""Figures: association matrices, factors, the choice of the number of cepts, fitted spaces, hidden documents."""

from cepts.plot.curves import plot_correlations, plot_criterion, plot_hidden_documents, plot_likelihood, plot_space
from cepts.plot.factors import draw_pair, plot_factors

__all__ = [
    "draw_pair",
    "plot_correlations",
    "plot_criterion",
    "plot_factors",
    "plot_hidden_documents",
    "plot_likelihood",
    "plot_space",
]
