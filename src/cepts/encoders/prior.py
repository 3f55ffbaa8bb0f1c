"""What an encoder says of the words of a text, as counts of links for the lexicon of a word model.

A text of a few hundred pairs tells little about most of its words, of which an encoder knows what they mean. Its links
are summed over the text for each pair of words (e, f): c(e, f). The count for the lexicon is

    weight x c(e, f) / sqrt(n(e) n(f)) x c(e, f) / sqrt(c(e) c(f)),

where n is how often a word occurs and c(e), c(f) are its links in all: how often the two are linked where they occur,
times how consistent these links are; where an encoder does not know a word, it links it to something else each time.
So each word gets at most `weight`, however often it occurs, and the text decides about frequent words. The weight falls
with the size of the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association, Bitext, PriorEntries, Scorer
from cepts.engine import map_shards

# Set on the trial pairs of the Hansards with texts of 100 to 25,000 pairs, and on the gold pairs of four other language
# pairs, of which the encoder knew two (benchmarks/encoders.py).
LEAST_LINK = 0.05  # weaker links are not counted
COUNTS = 10.0  # the weight of a text of one pair; that of n pairs is this divided by n
MOST_PAIRS = 10_000  # in larger texts the trial pairs got no better


@dataclass(frozen=True, slots=True, eq=False)
class LinkCounts:
    """How often words are linked in a text.

    Attributes
    ----------
    source_words, target_words
        The words.
    source, target, counts
        Numbers of two words that are linked, and the sum of the probabilities of their links.
    source_times, target_times
        How often each word occurs.
    pairs
        Number of sentence pairs.
    """

    source_words: list[str]
    target_words: list[str]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    counts: NDArray[np.float64]
    source_times: NDArray[np.int64]
    target_times: NDArray[np.int64]
    pairs: int

    @property
    def totals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The links of each source word and of each target word."""
        source, target = len(self.source_words), len(self.target_words)
        return _sums(self.source, self.counts, source), _sums(self.target, self.counts, target)

    def entries(self) -> PriorEntries:
        """Counts for the lexicon of a word model that is trained on the text."""
        weight = COUNTS / max(self.pairs, 1)
        linked = self.totals[0][self.source] * self.totals[1][self.target]
        seen = self.source_times[self.source].astype(np.float64) * self.target_times[self.target]
        counts = weight * self.counts**2 / np.sqrt(linked * seen)
        source = [self.source_words[word] for word in self.source.tolist()]
        target = [self.target_words[word] for word in self.target.tolist()]
        return PriorEntries(source, target, counts)


def count_links(scorer: Scorer, parts: Iterable[Bitext], *, lowercase: bool = True) -> LinkCounts:
    """Sum the probabilities of all links of a text for each pair of words.

    Parameters
    ----------
    scorer
        Gives the links.
    parts
        The text, in one or more parts with the same vocabularies.
    lowercase
        Whether words that differ in case count as one.
    """
    forms: tuple[_Forms, _Forms] | None = None
    keys, sums = [np.empty(0, np.int64)], [np.empty(0)]
    pairs = 0
    for part in parts:
        texts = part.source, part.target
        forms = forms or (_Forms(texts[0].vocabulary.words, lowercase), _Forms(texts[1].vocabulary.words, lowercase))
        ids = [form.count(text.ids) for form, text in zip(forms, texts, strict=True)]
        runs = scorer.directions(part, in_order=True)
        done = 0
        for matrix in map_shards(lambda make: make().agreement, runs.makers, threads=runs.threads):
            run = slice(done, done + len(matrix))
            found, counts = _cells(matrix, ids, texts[0].offsets[run], texts[1].offsets[run])
            keys.append(found)
            sums.append(counts)
            done += len(matrix)
        pairs += len(part)
    cells, places = np.unique(np.concatenate(keys), return_inverse=True)
    counted = _sums(places, np.concatenate(sums), len(cells))
    source, target = forms or (_Forms([], lowercase), _Forms([], lowercase))
    times = source.times, target.times
    return LinkCounts(source.words, target.words, cells >> 32, cells & 0xFFFFFFFF, counted, *times, pairs)


class _Forms:
    """The forms of words that count as one, and how often they occur."""

    def __init__(self, words: Iterable[str], lowercase: bool) -> None:
        numbers: dict[str, int] = {}
        found = [numbers.setdefault(word.lower() if lowercase else word, len(numbers)) for word in words]
        self.of_word = np.array(found, dtype=np.int64)
        self.words = list(numbers)
        self.times = np.zeros(len(numbers), dtype=np.int64)

    def count(self, ids: NDArray[np.int32]) -> NDArray[np.int64]:
        """The forms of the words of a text, which are counted."""
        found: NDArray[np.int64] = self.of_word[ids]
        self.times += np.bincount(found, minlength=len(self.words))
        return found


def _cells(
    matrix: Association, ids: list[NDArray[np.int64]], *starts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The pairs of words of the cells that count, as one number each, and their probabilities, summed."""
    place = np.flatnonzero(matrix.values >= LEAST_LINK)
    pair = np.searchsorted(matrix.offsets, place, side="right") - 1
    cell = place - matrix.offsets[pair]
    width = matrix.target_lengths[pair]
    words = ids[0][starts[0][pair] + cell // width], ids[1][starts[1][pair] + cell % width]
    keys, inverse = np.unique((words[0] << 32) | words[1], return_inverse=True)
    return keys, _sums(inverse, matrix.values[place], len(keys))


def _sums(places: NDArray[np.integer], values: NDArray[np.floating], length: int) -> NDArray[np.float64]:
    """The sum of the values at each place."""
    found: NDArray[np.float64] = np.bincount(places, values, length).astype(np.float64)
    return found
