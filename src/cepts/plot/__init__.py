"""Figures: association matrices, factors, the choice of the number of cepts, fitted spaces, hidden documents."""

from cepts.plot.criterion import plot_criterion
from cepts.plot.factors import plot_factors
from cepts.plot.hidden_documents import plot_hidden_documents
from cepts.plot.pair import draw_pair
from cepts.plot.spaces import plot_correlations, plot_likelihood, plot_space

__all__ = [
    "draw_pair",
    "plot_correlations",
    "plot_criterion",
    "plot_factors",
    "plot_hidden_documents",
    "plot_likelihood",
    "plot_space",
]
