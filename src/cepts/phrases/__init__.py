"""Phrases: a sentence aligned with its rewording, by a token CRF or a semi-Markov CRF (Yao et al., 2013)."""

from cepts.phrases.aligner import COMBINATIONS, THRESHOLD, Decoded, PhraseAligner, PhraseAlignments, TokenAligner
from cepts.phrases.annotate import Annotator
from cepts.phrases.columns import FAMILIES
from cepts.phrases.lexical import Lexical
from cepts.phrases.synthesis import synthesise

__all__ = [
    "COMBINATIONS",
    "FAMILIES",
    "THRESHOLD",
    "Annotator",
    "Decoded",
    "Lexical",
    "PhraseAligner",
    "PhraseAlignments",
    "TokenAligner",
    "synthesise",
]
