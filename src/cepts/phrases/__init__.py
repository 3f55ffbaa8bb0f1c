"""Phrases: a sentence aligned with its paraphrase, by a token CRF or a semi-Markov CRF (Yao et al., 2013)."""

from cepts.phrases.aligner import PhraseAligner, TokenAligner
from cepts.phrases.annotate import Annotator
from cepts.phrases.columns import FAMILIES
from cepts.phrases.lexical import Lexical
from cepts.phrases.synthesis import synthesise
from cepts.phrases.tokeniser import tokenise

__all__ = [
    "FAMILIES",
    "Annotator",
    "Lexical",
    "PhraseAligner",
    "TokenAligner",
    "synthesise",
    "tokenise",
]
