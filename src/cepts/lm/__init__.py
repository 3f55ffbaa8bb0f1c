"""Language models that adapt to a topic: n-grams, hidden documents weighted by the history, and caches.

`AdaptedModel` is the model itself; `KneserNey` trains plain n-gram models, and `IncrementalScorer` serves decoders. A
*hidden document* is a distribution over words that occur together, as about one topic (Novak and Mammone, 2001).
"""

from cepts.lm.adapted import AdaptedModel
from cepts.lm.adapters import PyCTCDecodeModel, TorchaudioModel
from cepts.lm.background import Background
from cepts.lm.backoff import BackoffModel, with_vocabulary
from cepts.lm.binary import KenLMModel
from cepts.lm.caches import Cache
from cepts.lm.counts import document_counts, window_counts
from cepts.lm.factorise import HiddenOptions, fit_hidden_documents
from cepts.lm.fit import BackgroundSource, FitRecord
from cepts.lm.hidden import HiddenDocuments
from cepts.lm.history import HistoryOptions
from cepts.lm.kneser_ney import KneserNey
from cepts.lm.predictor import Memory, Predictor, Scored
from cepts.lm.projection import ProjectedWords
from cepts.lm.scorer import IncrementalScorer, State
from cepts.lm.stop import ENGLISH_FUNCTION_WORDS, function_words
from cepts.lm.tuning import best_weights, tune

__all__ = [
    "ENGLISH_FUNCTION_WORDS",
    "AdaptedModel",
    "Background",
    "BackgroundSource",
    "BackoffModel",
    "Cache",
    "FitRecord",
    "HiddenDocuments",
    "HiddenOptions",
    "HistoryOptions",
    "IncrementalScorer",
    "KenLMModel",
    "KneserNey",
    "Memory",
    "Predictor",
    "ProjectedWords",
    "PyCTCDecodeModel",
    "Scored",
    "State",
    "TorchaudioModel",
    "best_weights",
    "document_counts",
    "fit_hidden_documents",
    "function_words",
    "tune",
    "window_counts",
    "with_vocabulary",
]
