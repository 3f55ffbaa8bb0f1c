"""Scores of links, phrases, judgements, translations and language models, with intervals and comparisons."""

from cepts.evaluate.calibration import Reliability, reliability
from cepts.evaluate.judgement import BinaryJudgement, Ranking, binary_judgement, choose_threshold, ranking
from cepts.evaluate.perplexity import Perplexities, perplexities
from cepts.evaluate.phrases import PARTS, PartScores, PhraseComparison, score_phrases
from cepts.evaluate.resampling import Difference, Interval, Resampled, differences, intervals, resample
from cepts.evaluate.scores import METRICS, Comparison, Scores, compare, metrics
from cepts.evaluate.similarity import SimilarityScore, sentence_similarity, spearman, word_similarity
from cepts.evaluate.translation import (
    GoldTranslations,
    TranslationScore,
    gold_translations,
    retrieval_precision,
    translation_precision,
)
from cepts.evaluate.word_errors import WordErrors, closest_hypothesis, word_errors

__all__ = [
    "METRICS",
    "PARTS",
    "BinaryJudgement",
    "Comparison",
    "Difference",
    "GoldTranslations",
    "Interval",
    "PartScores",
    "Perplexities",
    "PhraseComparison",
    "Ranking",
    "Reliability",
    "Resampled",
    "Scores",
    "SimilarityScore",
    "TranslationScore",
    "WordErrors",
    "binary_judgement",
    "choose_threshold",
    "closest_hypothesis",
    "compare",
    "differences",
    "gold_translations",
    "intervals",
    "metrics",
    "perplexities",
    "ranking",
    "reliability",
    "resample",
    "retrieval_precision",
    "score_phrases",
    "sentence_similarity",
    "spearman",
    "translation_precision",
    "word_errors",
    "word_similarity",
]
