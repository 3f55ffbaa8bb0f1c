"""Figures: aligned pairs, matrices and their factors, the choice of the number of cepts, spaces, language models.

Each function writes one file, whose suffix (.svg, .pdf or .png) is the format. Matplotlib must be installed.
"""

from cepts.errors import FigureWarning
from cepts.plot.curves import (
    plot_correlations,
    plot_criterion,
    plot_iterations,
    plot_likelihood,
    plot_reliability,
    plot_space,
    plot_training,
)
from cepts.plot.factors import plot_factors, plot_pair_factors
from cepts.plot.figure import Drawn
from cepts.plot.language_models import plot_hidden_documents, plot_perplexities
from cepts.plot.pairs import plot_pair

__all__ = [
    "Drawn",
    "FigureWarning",
    "plot_correlations",
    "plot_criterion",
    "plot_factors",
    "plot_hidden_documents",
    "plot_iterations",
    "plot_likelihood",
    "plot_pair",
    "plot_pair_factors",
    "plot_perplexities",
    "plot_reliability",
    "plot_space",
    "plot_training",
]
