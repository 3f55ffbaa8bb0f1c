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
from cepts.phrases.likeness import ONE_WORD_MORE, Anchors, anchors_of, compare_spans, compare_words, look_up
from cepts.phrases.words import words_of


@dataclass(frozen=True, slots=True, eq=False)
class PairFeatures:
    """The features of one sentence pair.

    Attributes
    ----------
    length, width
        Number of source words I and of target words J.
    tokens
        The features of pairs of words (I x J).
    spans, items
        The features of pairs of spans, and which pairs these are: places in an array I x Ls x J x Lt. Other pairs of
        spans cannot be aligned. Both are None in a token model.
    parallel, matched, same
        Which spans are parallel (I x J x lengths), and which words match in any way or have the same lemma (I x J); see
        `cepts.kernels.correspondence`.
    source_null, target_null
        The features of each side's words with null.
    anchors
        Links and phrases that are favoured, but not in training (`cepts.phrases.likeness`).
    """

    length: int
    width: int
    tokens: FeatureTable
    spans: FeatureTable | None
    items: NDArray[np.int64] | None
    parallel: NDArray[np.bool_]
    matched: NDArray[np.bool_]
    same: NDArray[np.bool_]
    source_null: FeatureTable
    target_null: FeatureTable
    anchors: Anchors


# Pairs of spans of up to this many words can always be aligned; longer ones only if they are whole chunks, parallel, or
# known to a table (`kernels.span_features.candidate_spans`).
SHORT = 3
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
        from cepts.kernels.correspondence import find_parallel
        from cepts.kernels.null_features import fill_null
        from cepts.kernels.phrase_features import NONE, SURE
        from cepts.kernels.span_features import SPAN_COLUMNS, candidate_spans, describe_spans, fill_spans
        from cepts.kernels.token_features import fill_tokens

        own = linked_words(pair) if training else None
        source, target = words_of(pair, self.inventory, tagged=self._tagged)
        words = source.numbers, target.numbers
        found = look_up(source, target, self.lexical, self.longest, self.widest)
        like = compare_words(source, target, found, self.inventory, own)
        tokens = self._tokens.table(like.match.size, lambda *filled: fill_tokens(*words, like, *filled))
        anchors = anchors_of(source, target, like.match, found)
        parallel = np.empty((*like.match.shape, min(self.longest, self.widest)), dtype=np.bool_)
        find_parallel(like.match, parallel)
        spans = items = None
        if self._spans is not None:
            of_spans = compare_spans(like, found)
            described = []
            for numbers, longest in zip(words, (self.longest, self.widest), strict=True):
                described.append(np.zeros((len(numbers), longest, SPAN_COLUMNS), dtype=np.int64))
                describe_spans(numbers, described[-1])
            known = np.zeros(found.relations.shape, dtype=np.bool_)
            known[tuple((anchors.phrases - ONE_WORD_MORE).T)] = True
            items = np.empty(known.size, dtype=np.int64)
            count = candidate_spans(*described, parallel, known.reshape(-1), SHORT, items)
            items = items[:count].copy()
            spans = self._spans.table(
                count,
                lambda *filled: fill_spans(*words, *described, like.match, of_spans, items, self.upweight, *filled),
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
            items,
            parallel,
            like.match < NONE,
            like.match <= SURE,
            with_null(source.numbers, like.strength, like.cosine),
            with_null(target.numbers, like.strength.T, like.cosine.T),
            anchors,
        )
