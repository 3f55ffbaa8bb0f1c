"""The tables that features may ask: WordNet, paraphrases, relatedness, names. Each may be missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cepts.phrases.names import NameModel
    from cepts.phrases.paraphrases import Paraphrases
    from cepts.phrases.relatedness import Relatedness
    from cepts.phrases.wordnet import WordNet

__all__ = ["TABLES", "Lexical"]


@dataclass(frozen=True, slots=True)
class Lexical:
    """Lexical knowledge of a language."""

    wordnet: WordNet | None = None
    paraphrases: Paraphrases | None = None
    relatedness: Relatedness | None = None
    names: NameModel | None = None


def _wordnet() -> Any:
    from cepts.phrases.wordnet import WordNet

    return WordNet


def _paraphrases() -> Any:
    from cepts.phrases.paraphrases import Paraphrases

    return Paraphrases


def _relatedness() -> Any:
    from cepts.phrases.relatedness import Relatedness

    return Relatedness


def _names() -> Any:
    from cepts.phrases.names import NameModel

    return NameModel


# Table -> what gives its class.
TABLES: dict[str, Callable[[], Any]] = {
    "wordnet": _wordnet,
    "paraphrases": _paraphrases,
    "relatedness": _relatedness,
    "names": _names,
}
