"""How good links, translations and similarities are: scores against gold, intervals, the comparison of two systems."""

from cepts.evaluate.counts import COLUMNS, count_links
from cepts.evaluate.resampling import Countable, Difference, Interval, differences, intervals
from cepts.evaluate.scores import METRICS, Comparison, Scores, compare, metrics
from cepts.evaluate.similarity import SimilarityScore, sentence_similarity, spearman, word_similarity
from cepts.evaluate.translation import (
    GoldTranslations,
    TranslationScore,
    first_hits,
    gold_translations,
    retrieval_precision,
    translation_precision,
)

__all__ = [
    "COLUMNS",
    "METRICS",
    "Comparison",
    "Countable",
    "Difference",
    "GoldTranslations",
    "Interval",
    "Scores",
    "SimilarityScore",
    "TranslationScore",
    "compare",
    "count_links",
    "differences",
    "first_hits",
    "gold_translations",
    "intervals",
    "metrics",
    "retrieval_precision",
    "sentence_similarity",
    "spearman",
    "translation_precision",
    "word_similarity",
]
