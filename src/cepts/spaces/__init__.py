"""Word-vector spaces of two or more languages, joined by factor analysis."""

from cepts.names import SPACE_METHODS, resolve
from cepts.spaces.associate import Scoring, SpaceScorer
from cepts.spaces.entries import Entries, entry_weights, find_entries, identical_strings
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.induce import Induction
from cepts.spaces.methods import CCA, IBFA, MBFA, LeastSquares, Procrustes, Ridge
from cepts.spaces.mixture import GaussianMixture, fit_mixture
from cepts.spaces.model import Sample, SpaceModel
from cepts.spaces.persist import SpaceRecord
from cepts.spaces.retrieve import Neighbours, WordTranslation, retrieve
from cepts.spaces.senses import WordSense, find_senses
from cepts.spaces.space import Preparation, Space
from cepts.spaces.training import FitReport

__all__ = [
    "CCA",
    "IBFA",
    "MBFA",
    "METHODS",
    "Entries",
    "FactorModel",
    "FitReport",
    "GaussianMixture",
    "Induction",
    "LeastSquares",
    "Neighbours",
    "Preparation",
    "Procrustes",
    "Ridge",
    "Sample",
    "Scoring",
    "Space",
    "SpaceModel",
    "SpaceRecord",
    "SpaceScorer",
    "WordSense",
    "WordTranslation",
    "entry_weights",
    "find_entries",
    "find_senses",
    "fit_mixture",
    "identical_strings",
    "retrieve",
]

# The classes by the names that users give, in the order in which they are listed.
METHODS: dict[str, type[SpaceModel]] = {name: resolve(home) for name, home in SPACE_METHODS.items()}
