"""Word-vector spaces of two or more languages, joined by factor analysis."""

from cepts.names import SPACE_METHODS, resolve
from cepts.spaces.associate import Scoring, SpaceScorer
from cepts.spaces.choose import EXPONENTS, SHRINKAGES
from cepts.spaces.entries import Entries, entry_weights, find_entries, identical_strings
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.induce import Induction
from cepts.spaces.methods import CCA, IBFA, MBFA, LeastSquares, Procrustes, Ridge
from cepts.spaces.mixture import GaussianMixture, choose_components, fit_mixture
from cepts.spaces.model import SpaceModel, Translation, WordSense
from cepts.spaces.persist import FitRecord
from cepts.spaces.prepare import Preparation
from cepts.spaces.retrieve import Neighbours, retrieve
from cepts.spaces.sampling import Sample, sample_words
from cepts.spaces.senses import Sense, find_senses
from cepts.spaces.space import Space
from cepts.spaces.training import FitReport
from cepts.spaces.translate import mutual_translations, translate_words

__all__ = [
    "CCA",
    "EXPONENTS",
    "IBFA",
    "MBFA",
    "METHODS",
    "SHRINKAGES",
    "Entries",
    "FactorModel",
    "FitRecord",
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
    "Sense",
    "Space",
    "SpaceModel",
    "SpaceScorer",
    "Translation",
    "WordSense",
    "choose_components",
    "entry_weights",
    "find_entries",
    "find_senses",
    "fit_mixture",
    "identical_strings",
    "mutual_translations",
    "retrieve",
    "sample_words",
    "translate_words",
]

# The classes by the names that users give, in the order in which they are listed.
METHODS: dict[str, type[SpaceModel]] = {name: resolve(home) for name, home in SPACE_METHODS.items()}
