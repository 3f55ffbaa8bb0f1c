"""Features of one source word with one target word, and of a word with null (section 3.3 of semicrf).

Groups of words: content words and numbers; function words; punctuation. A cell is of the later group of its two words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepts.phrases.columns import Block, Selection, Table
from cepts.phrases.inventory import LINKED_CATEGORIES, Inventory
from cepts.phrases.likeness import MATCHES, Likeness
from cepts.phrases.wordnet import RELATIONS
from cepts.phrases.words import KINDS, SentenceWords

__all__ = ["null_blocks", "null_table", "token_blocks", "token_table"]

GROUPS = 3
RULE_COLUMNS = ("rule", *(f"rule's score {place}" for place in range(1, 9)))


def token_blocks(inventory: Inventory) -> tuple[list[Block], list[Block]]:
    """The columns that kernels.phrase_features.fill_tokens fills: values, categories."""
    values = [
        *(("string", name) for name in ("identical", "lower case", "lemma")),
        *(("string", name) for name in ("Jaro-Winkler", "bigrams", "trigrams", "prefix", "suffix")),
        ("position", "distance"),
        ("position", "both last"),
        *(("wordnet", name) for name in RELATIONS),
        *(("paraphrase", name) for name in RULE_COLUMNS),
        ("relatedness", "cosine"),
        ("name", "edits"),
        ("name", "nickname"),
        ("context", "second neighbours"),
        ("context", "neighbours"),
        ("context", "window"),
    ]
    matches, kinds = len(MATCHES), len(KINDS)
    tags, chunks, words = len(inventory.tags) + 1, len(inventory.chunks) + 1, len(inventory.words) + 1
    categories = [
        ("string", "match, kinds", matches * kinds * kinds),
        ("string", "Jaro-Winkler, group", 10 * GROUPS),
        ("string", "repeated words, group", 48 * GROUPS),
        ("string", "better matches, match, group", 18 * matches * GROUPS),
        ("position", "distance, group", 8 * GROUPS),
        ("position", "distance, match", 8 * matches),
        ("pos", "tags", tags * tags),
        ("pos", "match, same tag, group", matches * 2 * GROUPS),
        ("paraphrase", "lists", 8),
        ("relatedness", "cosine, same tag, group", 14 * 2 * GROUPS),
        ("context", "neighbours, match, group", 9 * matches * GROUPS),
        ("context", "window, match, group", 7 * matches * GROUPS),
        ("chunk", "types", chunks * chunks),
        ("chunk", "chunks' other words, match, group", 5 * matches * GROUPS),
        ("lexical", "linked words", LINKED_CATEGORIES),
        ("lexical", "frequent word", words),
        ("lexical", "frequent source word", words),
        ("lexical", "frequent target word", words),
        ("wordnet", "verb and particle", 5),
    ]
    return [Block(family, name, 1) for family, name in values], [Block(*column) for column in categories]


def null_blocks(inventory: Inventory) -> tuple[list[Block], list[Block]]:
    """The columns that kernels.phrase_features.fill_null fills; there are no values."""
    tags, words, kinds = len(inventory.tags) + 1, len(inventory.words) + 1, len(KINDS)
    categories = [
        ("string", "kind", kinds),
        ("string", "best match, alone, kind", 7 * 2 * kinds),
        ("pos", "tag", tags),
        ("pos", "tag, matched", 2 * tags),
        ("relatedness", "nearest, kind", 7 * kinds),
        ("chunk", "chunk", len(inventory.chunks) + 1),
        ("lexical", "word", words),
        ("lexical", "word, matched", 2 * words),
        ("string", "name or number, matched", 4),
    ]
    return [], [Block(*column) for column in categories]


def token_table(
    source: SentenceWords, target: SentenceWords, like: Likeness, inventory: Inventory, selection: Selection
) -> Table:
    """The features of every cell."""
    from cepts.kernels.phrase_features import fill_tokens

    def fill(values: NDArray[np.float32], categories: NDArray[np.int32]) -> None:
        fill_tokens(
            source.numbers,
            target.numbers,
            like.match,
            like.strength,
            like.spelling,
            like.relations,
            len(RELATIONS),
            like.expressions,
            like.kinds,
            like.rules,
            like.rule_scores,
            like.cosine,
            like.names,
            like.nicknames,
            like.linked,
            like.source_known,
            like.target_known,
            len(inventory.tags) + 1,
            len(inventory.chunks) + 1,
            values,
            categories,
        )

    return selection.table(len(source) * len(target), fill)


def null_table(
    words: SentenceWords, strength: NDArray[np.float32], cosine: NDArray[np.float32], selection: Selection
) -> Table:
    """The features of every word with null; `strength` and `cosine` have a row a word."""
    from cepts.kernels.phrase_features import fill_null

    def fill(_: NDArray[np.float32], categories: NDArray[np.int32]) -> None:
        fill_null(words.numbers, np.ascontiguousarray(strength), np.ascontiguousarray(cosine), categories)

    return selection.table(len(words), fill)
