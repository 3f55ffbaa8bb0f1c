"""Counting n-grams in shards, and adding the counts by ranges of first words.

What a shard leaves, and what is left for a range, is a trie in flat arrays. Level n has an entry for each n-gram, in
the order of their words: ``words`` is the last word of each, ``counts`` how often it occurs, and the entries of the
next level that continue entry e are ``first[e]:first[e + 1]``. The n-grams that begin with words of a range are
consecutive in every level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import END, START, Documents, offsets_of
from cepts.engine import JOB, PieceStep, Workplace, cut_runs, keep_terms, piece_name, run_steps
from cepts.lm.shelved import DocumentShard, ShelvedDocuments
from cepts.progress import Progress
from cepts.store import Piece, Shelf

RANGE_WORDS = 1 << 20  # occurrences of the first words of a range
SHARDS, RANGES = "shards", "ranges"  # where the pieces are


class Level(NamedTuple):
    """The n-grams of one order: their last words, how often each occurs, and how many of the next order continue each.

    `branches` is empty for the highest order.
    """

    words: NDArray[np.int32]
    counts: NDArray[np.int64]
    branches: NDArray[np.int32]


def count_ngrams(
    documents: Documents,
    numbers: NDArray[np.int32],
    size: int,
    order: int,
    workplace: Workplace,
    progress: Progress | None = None,
) -> list[Level]:
    """Count the n-grams of all orders up to `order`; each sentence has a start and an end.

    Parameters
    ----------
    documents
        The sentences.
    numbers
        The number of each word of their vocabulary among the words of the model.
    size
        How many words the model has. Each of them is a unigram, even if it does not occur.
    order
        The highest order.
    workplace
        Who counts, and where.
    progress
        Called after each task.
    """
    with workplace.shelf() as shelf:
        begin_counting(shelf, documents, numbers, size, order)
        *_, merging = run_steps(ngram_steps(shelf), shelf, workplace.engine, progress)
        if workplace.directory is None:
            shelf.drop(SHARDS)
        return [_whole_level(list(merging.pieces(shelf)), n, n == order) for n in range(1, order + 1)]


def begin_counting(shelf: Shelf, documents: Documents, numbers: NDArray[np.int32], size: int, order: int) -> None:
    """Put on a shelf what counting needs; the parameters are those of `count_ngrams`."""
    ShelvedDocuments.put(shelf, documents)
    keep_terms(shelf, JOB, {"numbers": numbers}, kind="ngrams", size=size, order=order)


def ngram_steps(shelf: Shelf) -> Iterator[PieceStep]:
    """The steps of counting on a shelf that has a text and the terms of counting."""
    counting = PieceStep("counting n-grams", SHARDS, f"{__name__}:count_shard", ShelvedDocuments(shelf).shards)
    yield counting
    if not shelf.has(RANGES):
        shelf.put(RANGES, {"bounds": _bounds(shelf, counting)})
    yield PieceStep("adding n-grams", RANGES, f"{__name__}:add_range", len(shelf.get(RANGES)["bounds"]) - 1)


def count_shard(shelf: Shelf, number: int) -> dict[str, NDArray[Any]]:
    """The n-grams of a shard."""
    terms = shelf.get(JOB)
    shard = ShelvedDocuments(shelf).shard(number)
    stream, places = _stream_of(shard, terms["numbers"])
    size = terms.settings["size"]
    # Entries are numbered in each level from 0; `entries` has that of the n-gram that ends at each place.
    words, entries, counts = np.unique(stream, return_inverse=True, return_counts=True)
    trie = _named(1, words, counts.astype(np.int32))
    below = len(words)
    for n in range(2, terms.settings["order"] + 1):
        ends = np.flatnonzero(places >= n - 1)
        keys, inverse, counts = np.unique(
            entries[ends - 1] * size + stream[ends], return_inverse=True, return_counts=True
        )
        trie |= _named(n, keys % size, counts.astype(np.int32))
        trie[f"first{n - 1}"] = _first_of(keys // size, below)
        entries = np.zeros(len(stream), dtype=np.int64)
        entries[ends] = inverse
        below = len(keys)
    return trie


def add_range(shelf: Shelf, number: int) -> dict[str, NDArray[Any]]:
    """The n-grams of all shards that begin with a word of a range."""
    terms = shelf.get(JOB)
    size, order = terms.settings["size"], terms.settings["order"]
    start, stop = shelf.get(RANGES)["bounds"][number : number + 2].tolist()
    shards = [shelf.get(piece_name(SHARDS, shard)) for shard in range(ShelvedDocuments(shelf).shards)]
    # The entries of the level in each shard, and the entry of each of them in the range.
    spans = [np.searchsorted(shard["words1"], (start, stop)).tolist() for shard in shards]
    own = [shard.part("words1", *span).astype(np.int64) - start for shard, span in zip(shards, spans, strict=True)]
    counts = np.zeros(stop - start, dtype=np.int64)
    for shard, span, entries in zip(shards, spans, own, strict=True):
        counts[entries] += shard.part("counts1", *span)
    trie = _named(1, np.arange(start, stop), counts)
    for n in range(2, order + 1):
        firsts = [shard.part(f"first{n - 1}", a, b + 1) for shard, (a, b) in zip(shards, spans, strict=True)]
        spans = [(int(first[0]), int(first[-1])) for first in firsts]
        keys = [
            np.repeat(entries, np.diff(first)) * size + shard.part(f"words{n}", *span)
            for shard, span, first, entries in zip(shards, spans, firsts, own, strict=True)
        ]
        found = [shard.part(f"counts{n}", *span) for shard, span in zip(shards, spans, strict=True)]
        distinct, inverse, sums = _summed(np.concatenate(keys), np.concatenate(found))
        trie |= _named(n, distinct % size, sums)
        trie[f"first{n - 1}"] = _first_of(distinct // size, len(counts))
        own = np.split(inverse, np.cumsum([len(part) for part in keys])[:-1])
        counts = sums
    return trie


def _stream_of(shard: DocumentShard, numbers: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The words of a shard with sentence starts and ends, and the position of each in its sentence."""
    lengths = shard.lengths.astype(np.int64) + 2
    starts = offsets_of(lengths)
    places = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    stream = np.full(starts[-1], END, dtype=np.int64)
    stream[starts[:-1]] = START
    inner = np.ones(len(stream), dtype=np.bool_)
    inner[starts[:-1]] = inner[starts[1:] - 1] = False
    stream[inner] = numbers[shard.ids]
    return stream, places


def _named(n: int, words: NDArray[np.integer], counts: NDArray[np.integer]) -> dict[str, NDArray[Any]]:
    """The arrays of a level, but for ``first``, which is known with the next level."""
    return {f"words{n}": words.astype(np.int32), f"counts{n}": counts}


def _first_of(contexts: NDArray[np.int64], entries: int) -> NDArray[np.int32]:
    """Where the continuations of each entry start, and where those of the last one end."""
    return offsets_of(np.bincount(contexts, minlength=entries)).astype(np.int32)


def _summed(
    keys: NDArray[np.int64], counts: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys in order, the place of each given key among them, and the sum of the counts of each."""
    order = np.argsort(keys, kind="stable")  # which merges the sorted keys of the shards
    in_order = keys[order]
    new = np.ones(len(keys), dtype=np.bool_)
    new[1:] = in_order[1:] != in_order[:-1]
    inverse = np.empty(len(keys), dtype=np.int64)
    inverse[order] = np.cumsum(new) - 1
    starts = np.flatnonzero(new)
    sums = np.add.reduceat(counts[order], starts, dtype=np.int64) if len(starts) else np.empty(0, dtype=np.int64)
    return in_order[starts], inverse, sums


def _bounds(shelf: Shelf, counting: PieceStep) -> NDArray[np.int64]:
    """Where the ranges of first words start, and where the last one ends."""
    size: int = shelf.get(JOB).settings["size"]
    counts = np.zeros(size, dtype=np.int64)
    for piece in counting.pieces(shelf):
        counts[piece["words1"]] += piece["counts1"]
    runs = list(cut_runs(offsets_of(counts), RANGE_WORDS))
    return np.array([0, *(stop for _, stop in runs)], dtype=np.int64)


def _whole_level(ranges: Sequence[Piece], n: int, last: bool) -> Level:
    """A level of all ranges, one after the other."""
    words, counts = (np.concatenate([piece[f"{name}{n}"] for piece in ranges]) for name in ("words", "counts"))
    branches = [] if last else [np.diff(piece[f"first{n}"]).astype(np.int32) for piece in ranges]
    return Level(words, counts, np.concatenate([np.empty(0, dtype=np.int32), *branches]))
