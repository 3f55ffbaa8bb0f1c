"""All features of a sentence pair, computed once for both directions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from cepts.data import SentencePair
from cepts.phrases.columns import Blocks, Selection, Table
from cepts.phrases.inventory import Inventory, linked_words
from cepts.phrases.lexical import Lexical
from cepts.phrases.likeness import compare_words
from cepts.phrases.span_features import span_blocks, span_table
from cepts.phrases.token_features import null_blocks, null_table, token_blocks, token_table
from cepts.phrases.words import words_of

__all__ = ["FeatureMaker", "Layout", "PairFeatures"]


@dataclass(frozen=True, slots=True, eq=False)
class PairFeatures:
    """Features of one pair: of cells (I x J), of pairs of spans (I x Ls x J x Lt; None for a token model), and of each
    side's words with null.
    """

    length: int
    width: int
    tokens: Table
    spans: Table | None
    source_null: Table
    target_null: Table


# Families that have features only where their table is.
TABLE_OF_FAMILY = {
    "wordnet": "wordnet",
    "paraphrase": "paraphrases",
    "relatedness": "relatedness",
    "name": "names",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """The blocks of weights of each table, in order: of values, then of categories."""

    tokens: tuple[Blocks, Blocks]
    spans: tuple[Blocks, Blocks]
    null: tuple[Blocks, Blocks]

    @property
    def parts(self) -> list[Blocks]:
        """Blocks of token values, token categories, span values, span categories, null values, null categories."""
        return [*self.tokens, *self.spans, *self.null]

    @classmethod
    def of_parts(cls, parts: Sequence[Blocks]) -> Layout:
        """The inverse of `parts`."""
        first, second, third, fourth, fifth, sixth = parts
        return cls((first, second), (third, fourth), (fifth, sixth))

    @property
    def sizes(self) -> list[int]:
        """The weights of each of `parts`."""
        return [sum(block.weights for block in part) for part in self.parts]


class FeatureMaker:
    """Makes the features of sentence pairs.

    Parameters
    ----------
    inventory
        The names that have features of their own.
    lexical
        The tables to ask; families whose table is missing have no features.
    families
        The families of features to make (`FAMILIES`).
    longest, widest
        The longest source and target span; 1 and 1 for a token model.
    upweight
        Multiply a phrase's values by its length (section 3.4).
    """

    def __init__(
        self,
        inventory: Inventory,
        lexical: Lexical,
        families: Collection[str],
        longest: int,
        widest: int,
        *,
        upweight: bool = True,
    ) -> None:
        self.inventory = inventory
        self.longest, self.widest = longest, widest
        self.upweight = upweight
        missing = {family for family, table in TABLE_OF_FAMILY.items() if getattr(lexical, table) is None}
        used = set(families) - missing
        # A family that is off must not come in through what other families make of its table.
        off = {table: None for family, table in TABLE_OF_FAMILY.items() if family not in used}
        self.lexical = replace(lexical, **off)
        self._tagged = "pos" in used
        self._tokens = Selection(*token_blocks(inventory), used)
        self._null = Selection(*null_blocks(inventory), used)
        self._spans = None
        if longest * widest > 1:
            self._spans = Selection(*span_blocks(inventory, longest, widest), used)
        self.layout = Layout(
            self._tokens.blocks, ((), ()) if self._spans is None else self._spans.blocks, self._null.blocks
        )

    def features(self, pair: SentencePair, *, training: bool = False) -> PairFeatures:
        """The features of a pair whose sentences both have words; of one of training, without what itself taught."""
        own = linked_words(pair) if training else None
        source, target = words_of(pair, self.inventory, tagged=self._tagged)
        like = compare_words(source, target, self.lexical, self.inventory, self.longest, self.widest, own)
        spans = None
        if self._spans is not None:
            spans = span_table(
                source, target, like, self.inventory, self.longest, self.widest, self.upweight, self._spans
            )
        return PairFeatures(
            len(source),
            len(target),
            token_table(source, target, like, self.inventory, self._tokens),
            spans,
            null_table(source, like.strength, like.cosine, self._null),
            null_table(target, like.strength.T, like.cosine.T, self._null),
        )
