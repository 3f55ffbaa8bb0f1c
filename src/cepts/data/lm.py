"""The data of language models: documents, n-gram models, and the hypotheses of a recogniser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from cepts.data.offsets import offsets_of, take_runs
from cepts.data.text import Text
from cepts.data.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """Documents in order; document `n` has the sentences `offsets[n]:offsets[n + 1]` of `text`.

    Attributes
    ----------
    text
        All sentences, as word numbers.
    offsets
        Where each document starts, in sentences, and where the last one ends (int64).
    names
        Names of the documents for messages and tables.
    lowercase
        Whether the words were lower-cased.
    boundaries
        What separates documents: ``file`` (each file is one), ``blank`` (blank lines), ``jsonl`` (one object per line),
        or several of these joined by ``+``; ``given`` if the documents do not come from files.
    sources
        The files that were read.
    """

    text: Text
    offsets: NDArray[np.int64]
    names: tuple[str, ...]
    lowercase: bool = False
    boundaries: str = "given"
    sources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.names) != len(self.offsets) - 1:
            raise ValueError(
                f"`names` must have one name for each of the {len(self)} documents. Got {len(self.names)} instead."
            )

    @classmethod
    def from_tokens(cls, documents: Iterable[Sequence[Sequence[str]]], names: Sequence[str] | None = None) -> Documents:
        """Documents from lists of tokenised sentences; without `names`, they are numbered from 1."""
        documents = [list(document) for document in documents]
        text = Text.from_tokens(sentence for document in documents for sentence in document)
        named = tuple(names) if names is not None else tuple(str(n + 1) for n in range(len(documents)))
        return cls(text, offsets_of([len(document) for document in documents]), named)

    def __repr__(self) -> str:
        return f"Documents({len(self):,} documents, {len(self.text):,} sentences, {len(self.text.ids):,} words)"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def word_offsets(self) -> NDArray[np.int64]:
        """Where each document starts in `text.ids`, and where the last one ends."""
        return self.text.offsets[self.offsets]

    def chosen(self, wanted: NDArray[np.bool_]) -> Documents:
        """The documents for which `wanted` is true, with the same vocabulary."""
        sentences, offsets = take_runs(self.offsets, np.flatnonzero(wanted))
        words, word_offsets = take_runs(self.text.offsets, sentences)
        text = Text(self.text.ids[words], word_offsets, self.text.vocabulary)
        return replace(self, text=text, offsets=offsets, names=tuple(compress(self.names, wanted)))

    def lowercased(self) -> Documents:
        """The same documents in lower case."""
        return replace(self, text=self.text.lowercased(), lowercase=True)


# Numbers of the special words, which every model has.
UNKNOWN, START, END = 0, 1, 2
SPECIAL = ("<unk>", "<s>", "</s>")
# The first bytes of KenLM's binaries.
KENLM_MAGIC = b"mmap lm http://kheafield.com/code"


@dataclass(frozen=True, slots=True, eq=False)
class NGrams:
    """An n-gram model: P(word | the words before it) with back-off to shorter contexts, as a trie in flat arrays.

    An *entry* is an n-gram. The entries of order 1 come first, entry `w` being word `w`; then those of order 2, sorted
    by the entry of their first n - 1 words and then by their last word; and so on, so that the continuations of entry
    `e` are the entries `first[e]:first[e + 1]`, sorted by word. For each n-gram, the model also has the n-grams that
    lack its first word and its last word.

    P(w | context entry e) is `probs[c]` if `e` has a continuation `c` with word `w`, and otherwise `backoffs[e]` times
    P(w | `suffixes[e]`). A context entry of -1 is the empty context, whose continuations are the entries of order 1.

    Attributes
    ----------
    vocabulary
        The words; the first three are `SPECIAL`. `<s>` is a context only and has probability 0.
    levels
        Where the entries of each order start, and where those of the highest order end (int64, order + 1 numbers).
    words
        The last word of each entry (int32).
    probs, backoffs
        Probability of each entry's last word after its other words, and the back-off weight that applies when the entry
        is the context (float32; 1 for an entry that is never a context).
    first
        Where the continuations of each entry start, and where those of the last entry end (int64).
    suffixes
        For each entry, the entry without its first word; -1 for order 1 (int64).
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
        """Number of words in the longest n-grams."""
        return len(self.levels) - 1

    @property
    def contexts(self) -> NDArray[np.int64]:
        """For each entry, the entry without its last word; -1 for order 1."""
        continued = np.repeat(np.arange(len(self)), np.diff(self.first))
        return np.concatenate([np.full(self.levels[1], -1), continued])


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One hypothesis of an utterance; scores are natural logarithms, and higher is better.

    `score` is the recogniser's score without a language model (acoustic or optical). `lm_score` is the score of the
    recogniser's own language model, or None if the list does not have it.
    """

    tokens: tuple[str, ...]
    score: float
    lm_score: float | None = None


@dataclass(frozen=True, slots=True)
class Utterance:
    """The hypotheses of one utterance, in the order of the list, and the reference transcript if it is known."""

    id: str
    hypotheses: tuple[Hypothesis, ...]
    reference: tuple[str, ...] | None = None
