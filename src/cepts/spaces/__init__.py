"""Word-vector spaces of two or more languages, joined by factor analysis."""

from cepts.spaces.choose import EXPONENTS, SHRINKAGES
from cepts.spaces.entries import Entries, entry_weights, find_entries, identical_strings
from cepts.spaces.fit import METHODS, FitReport, Options, fit_space
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.induce import Induction
from cepts.spaces.prepare import STEPS, Preparation
from cepts.spaces.retrieve import MEASURES, Neighbours, retrieve
from cepts.spaces.space import Space

__all__ = [
    "EXPONENTS",
    "MEASURES",
    "METHODS",
    "SHRINKAGES",
    "STEPS",
    "Entries",
    "FactorModel",
    "FitReport",
    "Induction",
    "Neighbours",
    "Options",
    "Preparation",
    "Space",
    "entry_weights",
    "find_entries",
    "fit_space",
    "identical_strings",
    "retrieve",
]
