"""Word-vector spaces of two or more languages, joined by factor analysis or by linear maps.

Each language has its own word vectors, a *view*. `fit` of a model such as `IBFA` maps the views into one shared space,
in which words with the same meaning lie near each other; the fitted model translates words and aligns sentences.
"""

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

# The classes by the names that users type, in the order in which they are listed.
METHODS: dict[str, type[SpaceModel]] = {name: resolve(home) for name, home in SPACE_METHODS.items()}
