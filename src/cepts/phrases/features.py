"""All features of a sentence pair, which are computed once for both directions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cepts.data import SentencePair
from cepts.phrases.columns import FeatureBlocks, FeatureColumns, FeatureTable
from cepts.phrases.inventory import LINKED_CATEGORIES, Inventory, linked_words
from cepts.phrases.lexical import Lexical
from cepts.phrases.likeness import Anchors, anchors_of, compare_spans, compare_words, look_up
from cepts.phrases.words import words_of


@dataclass(frozen=True, slots=True, eq=False)
class PairFeatures:
    """The features of one sentence pair.

    `tokens` are the features of pairs of words (I x J), `spans` those of pairs of spans (I x Ls x J x Lt; None for a
    token model), and `source_null` and `target_null` those of each side's words with null. Training does not use the
    `anchors` (`cepts.phrases.likeness`).
    """

    length: int
    width: int
    tokens: FeatureTable
    spans: FeatureTable | None
    source_null: FeatureTable
    target_null: FeatureTable
    anchors: Anchors


# Families that have features only if their table is given.
TABLE_OF_FAMILY = {
    "wordnet": "wordnet",
    "paraphrase": "paraphrases",
    "relatedness": "relatedness",
    "name": "names",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """The blocks of weights of each feature table, in order: those of values, then those of categories."""

    tokens: tuple[FeatureBlocks, FeatureBlocks]
    spans: tuple[FeatureBlocks, FeatureBlocks]
    null: tuple[FeatureBlocks, FeatureBlocks]

    @property
    def parts(self) -> list[FeatureBlocks]:
        """The blocks of token values, token categories, span values, span categories, null values, null categories."""
        return [*self.tokens, *self.spans, *self.null]

    @classmethod
    def of_parts(cls, parts: Sequence[FeatureBlocks]) -> Layout:
        """The inverse of `parts`."""
        first, second, third, fourth, fifth, sixth = parts
        return cls((first, second), (third, fourth), (fifth, sixth))

    @property
    def sizes(self) -> list[int]:
        """The number of weights of each of `parts`."""
        return [sum(block.weights for block in part) for part in self.parts]


class FeatureMaker:
    """Computes the features of sentence pairs.

    Parameters
    ----------
    inventory
        The tags, chunk types, words and pairs of words that have their own features.
    lexical
        The tables in which words are looked up; families whose table is missing have no features.
    families
        The families of features to compute (`FAMILIES`).
    longest, widest
        The longest source span and the longest target span, in words; 1 and 1 for a token model.
    upweight
        Multiply the values of a phrase by its length (semicrf, section 3.4).
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
        # The table of a family that is not used must not have an effect through other families.
        off = {table: None for family, table in TABLE_OF_FAMILY.items() if family not in used}
        self.lexical = replace(lexical, **off)
        self._tagged = "pos" in used
        from cepts.kernels.null_features import NULL
        from cepts.kernels.span_features import SPANS
        from cepts.kernels.token_features import TOKENS

        sizes = {
            "tags": len(inventory.tags) + 1,
            "chunks": len(inventory.chunks) + 1,
            "words": len(inventory.words) + 1,
            "linked": LINKED_CATEGORIES,
            "sizes": longest * widest,
        }
        self._tokens = FeatureColumns(TOKENS, sizes, used)
        self._null = FeatureColumns(NULL, sizes, used)
        self._spans = FeatureColumns(SPANS, sizes, used) if longest * widest > 1 else None
        self.layout = Layout(
            self._tokens.blocks, ((), ()) if self._spans is None else self._spans.blocks, self._null.blocks
        )

    def features(self, pair: SentencePair, *, training: bool = False) -> PairFeatures:
        """The features of a pair whose sentences both have words.

        In `training`, they are computed without what the inventory learnt from the pair itself.
        """
        from cepts.kernels.null_features import fill_null
        from cepts.kernels.span_features import SPAN_COLUMNS, describe_spans, fill_spans
        from cepts.kernels.token_features import fill_tokens

        own = linked_words(pair) if training else None
        source, target = words_of(pair, self.inventory, tagged=self._tagged)
        words = source.numbers, target.numbers
        found = look_up(source, target, self.lexical, self.longest, self.widest)
        like = compare_words(source, target, found, self.inventory, own)
        tokens = self._tokens.table(like.match.size, lambda *filled: fill_tokens(*words, like, *filled))
        spans = None
        if self._spans is not None:
            of_spans = compare_spans(like, found)
            described = []
            for numbers, longest in zip(words, (self.longest, self.widest), strict=True):
                described.append(np.zeros((len(numbers), longest, SPAN_COLUMNS), dtype=np.int64))
                describe_spans(numbers, described[-1])
            spans = self._spans.table(
                found.relations.size,
                lambda *filled: fill_spans(*words, *described, like.match, of_spans, self.upweight, *filled),
            )

        def with_null(words: NDArray[np.int32], *matrices: NDArray[np.float32]) -> FeatureTable:
            """The features of one side's words with null; the matrices have a row for each word."""
            rows = [np.ascontiguousarray(matrix) for matrix in matrices]
            return self._null.table(len(words), lambda _, attributes: fill_null(words, *rows, attributes))

        return PairFeatures(
            len(source),
            len(target),
            tokens,
            spans,
            with_null(source.numbers, like.strength, like.cosine),
            with_null(target.numbers, like.strength.T, like.cosine.T),
            anchors_of(source, target, like.match, found.numbers),
        )
