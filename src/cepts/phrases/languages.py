"""The taggers and tables that come with the package, for English; NOTICE says where they come from."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from cepts.data import words_of
from cepts.phrases.annotate import Annotator
from cepts.phrases.lemmas import Lemmatiser
from cepts.phrases.lexical import TABLES, Lexical
from cepts.phrases.tables import shipped
from cepts.phrases.tagger import Tagger
from cepts.phrases.tokeniser import tokenise

LANGUAGES = ("english",)


@lru_cache(maxsize=1)
def english_annotator() -> Annotator:
    """The English tagger, chunker and lemmatiser."""
    return Annotator(Tagger.load(shipped("tagger")), Tagger.load(shipped("chunker")), Lemmatiser.load())


@lru_cache(maxsize=1)
def english_lexical() -> Lexical:
    """English WordNet, paraphrases, word vectors and names."""
    tables: dict[str, Any] = {name: kind.load() for name, kind in TABLES.items()}
    return Lexical(**tables)


def annotator_of(language: str | None) -> Annotator:
    """The tagger, chunker and lemmatiser of a language; an empty annotator if `language` is None."""
    return Annotator() if language is None else english_annotator()


def lexical_of(language: str | None) -> Lexical:
    """The tables of a language; none if `language` is None."""
    return Lexical() if language is None else english_lexical()


def tokeniser_of(language: str | None) -> Callable[[str], list[str]]:
    """The function that cuts running text into tokens; if `language` is None, it only splits at blanks."""
    return words_of if language is None else tokenise
