"""Figures: association matrices and their factors, the choice of the number of cepts, fitted spaces."""

from cepts.plot.criterion import plot_criterion
from cepts.plot.factors import plot_factors
from cepts.plot.pair import draw_pair
from cepts.plot.spaces import plot_correlations, plot_likelihood, plot_space

__all__ = ["draw_pair", "plot_correlations", "plot_criterion", "plot_factors", "plot_likelihood", "plot_space"]
