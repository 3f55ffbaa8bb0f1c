"""The tables that features may ask: WordNet, paraphrases, relatedness, names. Each may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


# Table -> its class.
TABLES: dict[str, Any] = {
    "wordnet": WordNet,
    "paraphrases": Paraphrases,
    "relatedness": Relatedness,
    "names": NameModel,
}
