"""Word-vector spaces of two or more languages, joined by factor analysis."""

from cepts.spaces.choose import EXPONENTS, SHRINKAGES
from cepts.spaces.entries import Entries, entry_weights, find_entries, identical_strings
from cepts.spaces.fit import METHODS, FitReport, Options, fit_space
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.induce import Induction
from cepts.spaces.persist import SavedSpace, load_space, save_space
from cepts.spaces.prepare import STEPS, Preparation
from cepts.spaces.retrieve import MEASURES, Neighbours, retrieve
from cepts.spaces.sampling import Sample, sample_words
from cepts.spaces.space import Space
from cepts.spaces.translate import TRANSLATION_MEASURES, mutual_translations, translate_words

__all__ = [
    "EXPONENTS",
    "MEASURES",
    "METHODS",
    "SHRINKAGES",
    "STEPS",
    "TRANSLATION_MEASURES",
    "Entries",
    "FactorModel",
    "FitReport",
    "Induction",
    "Neighbours",
    "Options",
    "Preparation",
    "Sample",
    "SavedSpace",
    "Space",
    "entry_weights",
    "find_entries",
    "fit_space",
    "identical_strings",
    "load_space",
    "mutual_translations",
    "retrieve",
    "sample_words",
    "save_space",
    "translate_words",
]
