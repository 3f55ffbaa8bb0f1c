"""Blocks of sentence pairs with everything that an E-step reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.words.index import IndexBlock, Pairs
from cepts.words.lexicon import Lexicon, Tokens
from cepts.words.null import NullWords

if TYPE_CHECKING:
    from cepts.kernels.blocks import BlockArrays


@dataclass(frozen=True, slots=True, eq=False)
class PairBlock:
    """Sentence pairs with the lexicon entry of each cell, and t(word | null) of each token.

    `source_words` and `target_words` are the numbers of the tokens in the model's vocabularies, -1 for unknown tokens.
    `times`, if given, is how often each pair counts.
    """

    pairs: Pairs
    cells: NDArray[np.int32]
    lexicon: NDArray[np.float32]
    source_given_null: NDArray[np.float32]
    target_given_null: NDArray[np.float32]
    source_words: NDArray[np.int32]
    target_words: NDArray[np.int32]
    times: NDArray[np.float32] | None = None

    @property
    def arrays(self) -> BlockArrays:
        """What kernels read."""
        from cepts.kernels.blocks import BlockArrays

        return BlockArrays(
            self.pairs.by_length,
            self.pairs.source_offsets,
            self.pairs.target_offsets,
            self.pairs.cell_offsets,
            self.cells,
            self.lexicon,
            self.source_given_null,
            self.target_given_null,
            np.ones(len(self.pairs), dtype=np.float32) if self.times is None else self.times,
        )


def block_of(block: IndexBlock, entries: NDArray[np.float32], null: NullWords) -> PairBlock:
    """A block of the training text with its part of the lexicon; `entries` are those of all cells of its shard."""
    from cepts.kernels.lexicon import gather_rows

    own = np.empty((len(block.cell_numbers), 2), dtype=np.float32)
    gather_rows(entries, block.cell_numbers, own)
    words = block.pairs.source_ids, block.pairs.target_ids
    return PairBlock(block.pairs, block.cells, own, *null.given(*words), *words, block.times)


def new_block(tokens: Tokens, lexicon: Lexicon, null: NullWords) -> PairBlock:
    """New sentence pairs, some of whose words may not be in the lexicon; each token pair is a separate cell."""
    table = lexicon.look_up(tokens)
    words = tokens.source_known[tokens.pairs.source_ids], tokens.target_known[tokens.pairs.target_ids]
    return PairBlock(tokens.pairs, np.arange(len(table), dtype=np.int32), table, *null.given(*words), *words)
