"""Word-vector spaces of two or more languages, joined by factor analysis."""

from cepts.spaces.associate import LINK_MEASURES, Scoring, associate_space, space_directions
from cepts.spaces.choose import EXPONENTS, SHRINKAGES
from cepts.spaces.entries import Entries, entry_weights, find_entries, identical_strings
from cepts.spaces.fit import METHODS, FitReport, Options, fit_space
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.induce import Induction
from cepts.spaces.mixture import Mixture, choose_components, fit_mixture
from cepts.spaces.persist import SavedSpace, load_space, save_space
from cepts.spaces.prepare import STEPS, Preparation
from cepts.spaces.retrieve import MEASURES, Neighbours, retrieve
from cepts.spaces.sampling import Sample, sample_words
from cepts.spaces.senses import Sense, find_senses
from cepts.spaces.space import Space
from cepts.spaces.translate import TRANSLATION_MEASURES, mutual_translations, translate_words

__all__ = [
    "EXPONENTS",
    "LINK_MEASURES",
    "MEASURES",
    "METHODS",
    "SHRINKAGES",
    "STEPS",
    "TRANSLATION_MEASURES",
    "Entries",
    "FactorModel",
    "FitReport",
    "Induction",
    "Mixture",
    "Neighbours",
    "Options",
    "Preparation",
    "Sample",
    "SavedSpace",
    "Scoring",
    "Sense",
    "Space",
    "associate_space",
    "choose_components",
    "entry_weights",
    "find_entries",
    "find_senses",
    "fit_mixture",
    "fit_space",
    "identical_strings",
    "load_space",
    "mutual_translations",
    "retrieve",
    "sample_words",
    "save_space",
    "space_directions",
    "translate_words",
]
