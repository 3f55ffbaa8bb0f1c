"""Figures: a sentence pair's association matrix and its factors, and the choice of the number of cepts."""

from cepts.plot.criterion import plot_criterion
from cepts.plot.factors import plot_factors
from cepts.plot.pair import draw_pair

__all__ = ["draw_pair", "plot_criterion", "plot_factors"]
