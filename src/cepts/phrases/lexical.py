"""The tables that features may ask: WordNet, paraphrases, relatedness, names. Each may be missing."""

from __future__ import annotations

from dataclasses import dataclass

from cepts.phrases.names import NameModel
from cepts.phrases.paraphrases import Paraphrases
from cepts.phrases.relatedness import Relatedness
from cepts.phrases.tables import StoredTable
from cepts.phrases.wordnet import WordNet

# Table -> its class.
TABLES: dict[str, type[StoredTable]] = {
    "wordnet": WordNet,
    "paraphrases": Paraphrases,
    "relatedness": Relatedness,
    "names": NameModel,
}


@dataclass(frozen=True, slots=True)
class Lexical:
    """Lexical knowledge of a language."""

    wordnet: WordNet | None = None
    paraphrases: Paraphrases | None = None
    relatedness: Relatedness | None = None
    names: NameModel | None = None

    def names_of_tables(self) -> list[str]:
        """The names of the tables that are there."""
        return [name for name in TABLES if getattr(self, name) is not None]
