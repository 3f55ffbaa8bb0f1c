"""The data types that all packages share: texts, links, matrices, documents, vectors.

The data of many sentence pairs is stored in flat arrays with offsets; an index gives the data of one pair.
"""

from cepts.data.association import Association, geometric_mean
from cepts.data.directions import Directions, GivenDirections, Pulls, Runs, Scorer
from cepts.data.lazy import lazy_property
from cepts.data.links import Alignment, Alignments, Cept, Cepts, NBest, NullLink, NullLinks
from cepts.data.lm import END, KENLM_MAGIC, SPECIAL, START, UNKNOWN, Documents, Hypothesis, NGrams, Utterance
from cepts.data.offsets import Flat, Lengths, offsets_of, reach_of, take_runs
from cepts.data.priors import NULL_WORD, PriorEntries
from cepts.data.sentences import COLUMNS, Link, Segment, Segments, Sentence, SentencePair, Span, gold_alignments
from cepts.data.text import Bitext, Text, as_bitext, as_sentence_pairs, as_text, runs_right_to_left, words_of
from cepts.data.tokenisation import TokenStyle, tokenisation_notice
from cepts.data.vectors import Dictionary, VectorReading, Vectors
from cepts.data.vocabulary import Vocabulary, WordBound

__all__ = [
    "COLUMNS",
    "END",
    "KENLM_MAGIC",
    "NULL_WORD",
    "SPECIAL",
    "START",
    "UNKNOWN",
    "Alignment",
    "Alignments",
    "Association",
    "Bitext",
    "Cept",
    "Cepts",
    "Dictionary",
    "Directions",
    "Documents",
    "Flat",
    "GivenDirections",
    "Hypothesis",
    "Lengths",
    "Link",
    "NBest",
    "NGrams",
    "NullLink",
    "NullLinks",
    "PriorEntries",
    "Pulls",
    "Runs",
    "Scorer",
    "Segment",
    "Segments",
    "Sentence",
    "SentencePair",
    "Span",
    "Text",
    "TokenStyle",
    "Utterance",
    "VectorReading",
    "Vectors",
    "Vocabulary",
    "WordBound",
    "as_bitext",
    "as_sentence_pairs",
    "as_text",
    "geometric_mean",
    "gold_alignments",
    "lazy_property",
    "offsets_of",
    "reach_of",
    "runs_right_to_left",
    "take_runs",
    "tokenisation_notice",
    "words_of",
]
