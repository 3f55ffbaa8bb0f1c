"""All features of a sentence pair, computed once for both directions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cepts.phrases.columns import Block, Columns, Table
from cepts.phrases.inventory import Inventory
from cepts.phrases.lexical import Lexical
from cepts.phrases.span_features import span_columns
from cepts.phrases.token_features import compare_words, null_columns, token_columns
from cepts.phrases.words import PairWords
from cepts.sentences import SentencePair

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


Blocks = tuple[Block, ...]


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
        The tables to ask.
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
        self.lexical = lexical
        self.families = frozenset(families)
        self.longest = longest
        self.widest = widest
        self.upweight = upweight

    def columns_of(self, pair: SentencePair) -> tuple[Columns, Columns | None, Columns, Columns]:
        """The columns of cells, of spans, and of source and target words with null."""
        words = PairWords(pair, self.inventory)
        like = compare_words(words, self.lexical, self.longest, self.widest)
        tokens, source, target = Columns(self.families), Columns(self.families), Columns(self.families)
        token_columns(words, like, self.lexical, self.inventory, tokens)
        null_columns(words.source, like.strength, like.cosine, self.inventory, source)
        null_columns(words.target, like.strength.T, like.cosine.T, self.inventory, target)
        spans = None
        if self.longest * self.widest > 1:
            spans = Columns(self.families)
            span_columns(words, like, self.lexical, self.inventory, self.longest, self.widest, self.upweight, spans)
        return tokens, spans, source, target

    def features(self, pair: SentencePair) -> PairFeatures:
        """The features of a pair whose sentences both have words."""
        length, width = len(pair.source), len(pair.target)
        tokens, spans, source, target = self.columns_of(pair)
        return PairFeatures(
            length,
            width,
            tokens.table((length, width)),
            None if spans is None else spans.table((length, self.longest, width, self.widest)),
            source.table((length,)),
            target.table((width,)),
        )

    def layout(self, pair: SentencePair) -> Layout:
        """The blocks of weights; the same for every pair."""
        tokens, spans, source, _ = self.columns_of(pair)

        def blocks(columns: Columns | None) -> tuple[Blocks, Blocks]:
            return ((), ()) if columns is None else (tuple(columns.value_blocks), tuple(columns.category_blocks))

        return Layout(blocks(tokens), blocks(spans), blocks(source))
