"""Blocks of sentence pairs that were not trained on, whose words the lexicon may not know."""

from __future__ import annotations

import numpy as np

from cepts.words.lexicon import Lexicon, Tokens
from cepts.words.null import NullWords
from cepts.words.positions import PairBlock


def new_block(tokens: Tokens, lexicon: Lexicon, null: NullWords) -> PairBlock:
    """A block with the lexicon entries of each token pair, each a cell of its own."""
    pairs = tokens.pairs
    table = lexicon.look_up(tokens)
    source_words, target_words = tokens.source_known[pairs.source_ids], tokens.target_known[pairs.target_ids]
    return PairBlock(
        pairs,
        pairs.cell_offsets,
        pairs.by_length,
        np.arange(len(table), dtype=np.int32),
        table,
        null.of_source(source_words),
        null.of_target(target_words),
        source_words,
        target_words,
    )
