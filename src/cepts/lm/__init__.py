"""Language models that adapt: n-grams, hidden documents that a history chooses among, and caches."""

from cepts.lm.adapted import AdaptedModel, Memory, Scored
from cepts.lm.adapters import PyCTCDecodeModel, TorchaudioModel
from cepts.lm.background import Background
from cepts.lm.backoff import BackoffModel, joined_vocabulary, with_vocabulary
from cepts.lm.binary import KenLMModel
from cepts.lm.caches import Cache
from cepts.lm.counts import document_counts, window_counts
from cepts.lm.export import static_ngrams
from cepts.lm.fit import CACHES, FitOptions, fit_adapted
from cepts.lm.hidden import SEGMENTATIONS, HiddenDocuments, HistoryOptions, Segmentation, fit_hidden_documents
from cepts.lm.kneser_ney import train_ngrams
from cepts.lm.mixture import MIXTURES, Mixture
from cepts.lm.persist import load_adapted, save_adapted
from cepts.lm.scorer import Scorer, State
from cepts.lm.stop import function_words
from cepts.lm.tuning import best_weights, tune

__all__ = [
    "CACHES",
    "MIXTURES",
    "SEGMENTATIONS",
    "AdaptedModel",
    "Background",
    "BackoffModel",
    "Cache",
    "FitOptions",
    "HiddenDocuments",
    "HistoryOptions",
    "KenLMModel",
    "Memory",
    "Mixture",
    "PyCTCDecodeModel",
    "Scored",
    "Scorer",
    "Segmentation",
    "State",
    "TorchaudioModel",
    "best_weights",
    "document_counts",
    "fit_adapted",
    "fit_hidden_documents",
    "function_words",
    "joined_vocabulary",
    "load_adapted",
    "save_adapted",
    "static_ngrams",
    "train_ngrams",
    "tune",
    "window_counts",
    "with_vocabulary",
]
