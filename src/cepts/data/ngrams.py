"""Back-off n-gram models as flat arrays: the content of ARPA files, ready for kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data.vocabulary import Vocabulary

# The numbers of the words that every model has.
UNKNOWN, START, END = 0, 1, 2
SPECIAL = ("<unk>", "<s>", "</s>")
# The first bytes of KenLM's binaries.
KENLM_MAGIC = b"mmap lm http://kheafield.com/code"


@dataclass(frozen=True, slots=True, eq=False)
class NGrams:
    """P(word | the words before it), backing off to shorter contexts; a trie of n-grams in one set of arrays.

    An *entry* is an n-gram. The entries of order 1 come first, entry `w` being word `w`; then those of order 2, sorted
    by the entry of their first n - 1 words and then by their last word; and so on, so that the continuations of entry
    `e` are the entries `first[e]` to `first[e + 1]`, sorted by word. With each n-gram the model has the n-grams without
    its first and without its last word.

    P(w | context entry e) is `probs[c]` where `e` has a continuation `c` with word `w`, else
    `backoffs[e]` * P(w | `suffixes[e]`); a context entry of -1 is the empty context, whose continuations are the words.

    Attributes
    ----------
    vocabulary
        The words; the first three are `SPECIAL`. `<s>` is a context only and has probability 0.
    levels
        Where the entries of each order start, and where the last one's end (int64, order + 1 numbers).
    words
        The last word of each entry (int32).
    probs, backoffs
        Probability of each entry's last word after the others, and weight of what its own context leaves to the
        shorter one (float32; 1 where an entry is no context).
    first
        First continuation of each entry, and one more number (int64).
    suffixes
        The entry without its first word; -1 for order 1 (int64).
    source
        The file that the model was read from, if any.
    """

    vocabulary: Vocabulary
    levels: NDArray[np.int64]
    words: NDArray[np.int32]
    probs: NDArray[np.float32]
    backoffs: NDArray[np.float32]
    first: NDArray[np.int64]
    suffixes: NDArray[np.int64]
    source: str = ""

    def __len__(self) -> int:
        return len(self.words)

    @property
    def order(self) -> int:
        """Words of the longest n-grams."""
        return len(self.levels) - 1

    @property
    def contexts(self) -> NDArray[np.int64]:
        """Each entry without its last word; -1 for order 1."""
        continued = np.repeat(np.arange(len(self)), np.diff(self.first))
        return np.concatenate([np.full(self.levels[1], -1), continued])
