"""The tables in which features look words up: WordNet, paraphrases, relatedness and names."""

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
    """The tables of a language in which features look words up; features of a table that is None are not used.

    Parameters
    ----------
    wordnet
        Relations between words in WordNet.
    paraphrases
        Words and phrases that paraphrase each other.
    relatedness
        Word vectors, whose cosines say how related two words are.
    names
        A model of how one name turns into another, and a list of nicknames.
    """

    wordnet: WordNet | None = None
    paraphrases: Paraphrases | None = None
    relatedness: Relatedness | None = None
    names: NameModel | None = None

    def names_of_tables(self) -> list[str]:
        """The names of the tables that are not None."""
        return [name for name in TABLES if getattr(self, name) is not None]
