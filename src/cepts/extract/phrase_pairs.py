"""Phrase pairs from links, and their relative frequencies: the phrase tables of phrase-based translation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Bitext, Flat, Text, offsets_of
from cepts.errors import DataError, UsageError

LONGEST = 7  # words of a phrase, as usual in phrase-based translation


@dataclass(frozen=True, slots=True, eq=False)
class PhrasePairs(Flat):
    """The phrase pairs of many sentence pairs.

    Attributes
    ----------
    offsets
        The phrase pairs of sentence pair `n` are entries `offsets[n]:offsets[n + 1]` of `spans`.
    spans
        Source start, source stop, target start and target stop of each, where stops are not included (int32).
    """

    offsets: NDArray[np.int64]
    spans: NDArray[np.int32]

    layout: ClassVar = {"spans": ("offsets", np.empty((0, 4), dtype=np.int32))}

    def __getitem__(self, pair: int) -> list[tuple[int, ...]]:
        """The spans of one sentence pair."""
        return [tuple(row) for row in self.spans[self.offsets[pair] : self.offsets[pair + 1]].tolist()]


def phrase_pairs(alignments: Alignments, bitext: Bitext, *, longest: int = LONGEST) -> PhrasePairs:
    """Find all phrase pairs that are consistent with the links (Koehn, Och and Marcu, 2003).

    At least one link joins the two phrases, and no link joins a word of one with a word outside the other. So phrases
    may begin and end with words without links. A cept of adjacent words is a phrase pair, and a union of cepts is one
    if its words are adjacent on both sides.

    Parameters
    ----------
    alignments
        The links of the sentence pairs.
    bitext
        The sentence pairs.
    longest
        The largest number of words of a phrase, on either side.

    Examples
    --------
    >>> links = Alignments.from_links([[(0, 1), (1, 0)]])
    >>> phrase_pairs(links, Bitext.from_tokens([(["white", "house"], ["maison", "blanche"])]))[0]
    [(0, 1, 1, 2), (0, 2, 0, 2), (1, 2, 0, 1)]
    """
    from cepts.kernels.phrase_pairs import consistent_pairs

    if longest < 1:
        raise UsageError(f"`longest` must be 1 or more. Got {longest} instead.")
    lengths = bitext.source.lengths.astype(np.int64), bitext.target.lengths.astype(np.int64)
    if len(alignments) != len(bitext):
        raise DataError(f"the links are of {len(alignments):,} sentence pairs, but there are {len(bitext):,}.")
    for positions, size in zip((alignments.source, alignments.target), lengths, strict=True):
        if (positions >= size[alignments.pair]).any():
            raise DataError("links must lie within their sentences; check that they belong to these sentences.")
    counts = np.zeros(len(bitext), dtype=np.int64)
    links = alignments.offsets, alignments.source, alignments.target
    consistent_pairs(*links, *lengths, longest, counts, np.empty((0, 4), dtype=np.int32))
    offsets = offsets_of(counts)
    spans = np.empty((int(offsets[-1]), 4), dtype=np.int32)
    if len(spans):
        consistent_pairs(*links, *lengths, longest, counts, spans)
    return PhrasePairs(offsets, spans)


@dataclass(frozen=True, slots=True, eq=False)
class PhraseTable:
    """Distinct phrase pairs with how often they occur and their relative frequencies in both directions.

    Phrases are numbered by `numbers`, so that a sentence's phrases can be looked up.

    Attributes
    ----------
    source, target
        The numbers of the phrases of each entry, in ascending order.
    counts
        How often each pair was found.
    forward, reverse
        P(target phrase | source phrase) and P(source phrase | target phrase).
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    counts: NDArray[np.int64]
    forward: NDArray[np.float64]
    reverse: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.counts)

    def keys(self, targets: int) -> NDArray[np.int64]:
        """One number for each entry, in ascending order; `targets` is the number of target phrases."""
        return self.source * max(targets, 1) + self.target


class PhraseNumbers:
    """Numbers of all phrases of a text with up to `longest` words: equal phrases have equal numbers.

    A phrase is numbered by that of all its words but the last, and by its last word, so there are no collisions.
    """

    def __init__(self, text: Text, longest: int = LONGEST) -> None:
        self.text, self.offsets, self.longest = text, text.offsets, longest
        self._firsts: list[int] = []
        ids = text.ids.astype(np.int64)
        self._numbers = np.full((longest, len(ids)), -1, dtype=np.int64)
        ends = np.repeat(text.offsets[1:], np.diff(text.offsets))
        words = int(ids.max(initial=-1)) + 1
        first = 0
        for length in range(1, longest + 1):
            fits = np.flatnonzero(np.arange(len(ids)) + length <= ends)
            if not len(fits):
                break
            before = ids[fits] if length == 1 else self._numbers[length - 2, fits] * words + ids[fits + length - 1]
            # The numbers of a length continue those of the one before.
            self._firsts.append(first)
            numbers = np.unique(before, return_inverse=True)[1].reshape(-1)
            self._numbers[length - 1, fits] = numbers + first
            first += int(numbers.max()) + 1
        self.count = first

    def of_sentence(self, sentence: int) -> NDArray[np.int64]:
        """The numbers of all phrases of a sentence, with a row for each length; -1 for those that do not fit."""
        return np.ascontiguousarray(self._numbers[:, self.offsets[sentence] : self.offsets[sentence + 1]])

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """Of each phrase, by its number, the index of the word where it first starts, among all words of the text."""
        found = np.zeros(self.count, dtype=np.int64)
        for numbers in self._numbers:
            starts = np.flatnonzero(numbers >= 0)[::-1]  # the last of equal ones stays, so backwards
            found[numbers[starts]] = starts
        return found

    def words(self, number: int) -> list[str]:
        """The words of a phrase."""
        start = int(self._places[number])
        length = int(np.searchsorted(self._firsts, number, side="right"))
        return [self.text.vocabulary[word] for word in self.text.ids[start : start + length].tolist()]

    def of(self, sentence: NDArray[np.int64], start: NDArray[np.int32], stop: NDArray[np.int32]) -> NDArray[np.int64]:
        """The numbers of spans of sentences."""
        return self._numbers[stop - start - 1, self.offsets[sentence] + start]


def phrase_table(pairs: PhrasePairs, source: PhraseNumbers, target: PhraseNumbers) -> PhraseTable:
    """Count phrase pairs and divide by the counts of their phrases.

    Parameters
    ----------
    pairs
        The phrase pairs of sentence pairs, which are the first ones of the numbered texts.
    source, target
        The numbers of the phrases of both sides.
    """
    sentence = np.repeat(np.arange(len(pairs)), np.diff(pairs.offsets))
    spans = pairs.spans
    both = source.of(sentence, spans[:, 0], spans[:, 1]), target.of(sentence, spans[:, 2], spans[:, 3])
    key, counts = np.unique(both[0] * max(target.count, 1) + both[1], return_counts=True)
    of_source, of_target = np.divmod(key, max(target.count, 1))
    forward, reverse = (counts / np.bincount(side, counts, minlength=1)[side] for side in (of_source, of_target))
    return PhraseTable(of_source, of_target, counts, forward, reverse)


class Derivation(NamedTuple):
    """How a target sentence can be derived from its source by phrase pairs; see `derive`."""

    log_probability: float
    target_words: int
    source_words: int
    phrases: int


def derive(
    table: PhraseTable,
    source: PhraseNumbers,
    target: PhraseNumbers,
    sentences: Sequence[int],
    *,
    fallback: float = -10.0,
) -> list[Derivation]:
    """The most probable monotone derivation of target sentences from their source sentences by a phrase table.

    Phrases follow each other in the same order on both sides. This is forced decoding without reordering: it says how
    much of a translation a table can explain, and how probable it is.

    Parameters
    ----------
    table
        The phrase table; its P(target phrase | source phrase) are multiplied.
    source, target
        The numbers of the phrases.
    sentences
        The indices of the sentence pairs in the numbered texts.
    fallback
        Log-probability of each word, on either side, that no phrase pair explains.

    Returns
    -------
    list of Derivation
        The log-probability, the numbers of target and source words that are explained, and of phrase pairs.
    """
    from cepts.kernels.phrase_pairs import monotone_derivation

    keys, logs = table.keys(target.count), np.log(table.forward)
    found = []
    for sentence in sentences:
        sides = [numbers.of_sentence(sentence) for numbers in (source, target)]
        sizes = np.array([sides[0].shape[1], sides[1].shape[1], max(target.count, 1)])
        found.append(Derivation(*monotone_derivation(*sides, sizes, keys, logs, fallback)))
    return found
