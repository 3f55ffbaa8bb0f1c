"""What comes with the package for a language."""

from __future__ import annotations

from cepts.phrases import english
from cepts.phrases.annotate import Annotator
from cepts.phrases.lexical import Lexical

LANGUAGES = ("english",)


def annotator_of(language: str | None) -> Annotator:
    """The language's tagger, chunker and lemmatiser; none where there is no language."""
    return Annotator() if language is None else english.annotator()


def lexical_of(language: str | None) -> Lexical:
    """The language's tables; none where there is no language."""
    return Lexical() if language is None else english.lexical()
