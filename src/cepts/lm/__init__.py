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
from cepts.lm.fit import BackgroundSource, FitRecord
from cepts.lm.hidden import HiddenDocuments, HistoryOptions, document_counts, window_counts
from cepts.lm.kneser_ney import KneserNey
from cepts.lm.predictor import Memory, Predictor, Scored
from cepts.lm.scorer import IncrementalScorer, State
from cepts.lm.stop import function_words
from cepts.lm.tuning import best_weights, tune

__all__ = [
    "AdaptedModel",
    "Background",
    "BackgroundSource",
    "BackoffModel",
    "Cache",
    "FitRecord",
    "HiddenDocuments",
    "HistoryOptions",
    "IncrementalScorer",
    "KenLMModel",
    "KneserNey",
    "Memory",
    "Predictor",
    "PyCTCDecodeModel",
    "Scored",
    "State",
    "TorchaudioModel",
    "best_weights",
    "document_counts",
    "function_words",
    "tune",
    "window_counts",
    "with_vocabulary",
]
