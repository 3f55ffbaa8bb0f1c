"""Scorers and extractors: a scorer says how strongly words are associated, an extractor makes links from that."""

from cepts.extract.aligning import AlignedRun, Aligning, LaterPairs, aligned_runs, needs_whole_text
from cepts.extract.associations import ASSOCIATIONS, NBEST, association_of, association_of_nbest, compete
from cepts.extract.closure import cepts_of_links, closure
from cepts.extract.extractors import EXTRACTORS, Extraction, Extractor, without_loose_words
from cepts.extract.given import LinkScorer, MatrixDirections, MatrixScorer, are_probabilities
from cepts.extract.heuristics import METHODS, check_range, combine
from cepts.extract.matrices import best, threshold
from cepts.extract.mixing import Said, ScorerMixture, mixed, said_together
from cepts.extract.phrase_pairs import (
    Derivation,
    PhraseNumbers,
    PhrasePairs,
    PhraseTable,
    derive,
    phrase_pairs,
    phrase_table,
)
from cepts.extract.quality import pair_quality
from cepts.extract.rectangles import rectangles
from cepts.extract.similarity import share_links, similarity_runs, token_similarities

__all__ = [
    "ASSOCIATIONS",
    "EXTRACTORS",
    "METHODS",
    "NBEST",
    "AlignedRun",
    "Aligning",
    "Derivation",
    "Extraction",
    "Extractor",
    "LaterPairs",
    "LinkScorer",
    "MatrixDirections",
    "MatrixScorer",
    "PhraseNumbers",
    "PhrasePairs",
    "PhraseTable",
    "Said",
    "ScorerMixture",
    "aligned_runs",
    "are_probabilities",
    "association_of",
    "association_of_nbest",
    "best",
    "cepts_of_links",
    "check_range",
    "closure",
    "combine",
    "compete",
    "derive",
    "mixed",
    "needs_whole_text",
    "pair_quality",
    "phrase_pairs",
    "phrase_table",
    "rectangles",
    "said_together",
    "share_links",
    "similarity_runs",
    "threshold",
    "token_similarities",
    "without_loose_words",
]
