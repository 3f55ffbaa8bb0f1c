"""How good links, phrases, judgements and translations are: scores against gold, intervals, comparisons of systems."""

from cepts.evaluate.counts import COLUMNS, count_links
from cepts.evaluate.judgement import KEEP, BinaryJudgement, Ranking, binary_judgement, choose_threshold, ranking
from cepts.evaluate.phrases import PARTS, PROTOCOLS, PartScores, PhraseComparison, Protocol, score_phrases
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
    "KEEP",
    "METRICS",
    "PARTS",
    "PROTOCOLS",
    "BinaryJudgement",
    "Comparison",
    "Countable",
    "Difference",
    "GoldTranslations",
    "Interval",
    "PartScores",
    "PhraseComparison",
    "Protocol",
    "Ranking",
    "Scores",
    "SimilarityScore",
    "TranslationScore",
    "binary_judgement",
    "choose_threshold",
    "compare",
    "count_links",
    "differences",
    "first_hits",
    "gold_translations",
    "intervals",
    "metrics",
    "ranking",
    "retrieval_precision",
    "score_phrases",
    "sentence_similarity",
    "spearman",
    "translation_precision",
    "word_similarity",
]
