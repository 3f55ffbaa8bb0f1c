"""The co-occurrence index: each pair of a source word and a target word that occur together has a number, its *cell*.

One index serves all models and both directions. The text is cut into *shards*, which are tasks of their own, and these
into *blocks* of whole sentence pairs. Each block numbers its own cells, so that its part of the lexicon and of the
counts fits the processor's caches; the shard numbers the cells of its blocks, and the lexicon those of all shards. The
lexicon is cut into *ranges* of source words, so that no task needs all of it. How all this is cut depends on the text
alone, never on the number of threads or workers, so that sums are always added in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import Bitext, Flat, Vocabulary, lazy_property, offsets_of, take_runs
from cepts.engine import cut_runs, map_shards
from cepts.words.forms import Forms, number

if TYPE_CHECKING:
    from cepts.kernels.lookup import TokenPairs

CELLS_IN_BLOCK = 1 << 21
RANGES_BEFORE_GROWTH = 32


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the parts are into which a text and its lexicon are cut.

    Attributes
    ----------
    block, shard
        Token pairs of a block and of a shard.
    range, largest_range
        Cells of a range of the lexicon, as far as they can be foreseen: of a small one, and at most. In between, they
        grow with the lexicon, because a task reads a part of each range, and many small parts take long.
    """

    block: int = CELLS_IN_BLOCK
    shard: int = 1 << 21
    range: int = 1 << 20
    largest_range: int = 1 << 21

    def range_of(self, cells: float) -> int:
        """Cells of a range of a lexicon that has so many in all."""
        return int(min(max(cells / RANGES_BEFORE_GROWTH, self.range), max(self.largest_range, self.range)))


@dataclass(frozen=True, eq=False)
class Pairs(Flat):
    """Sentence pairs as numbers of forms, -1 for a form that the model does not know.

    `longest` is the length of the longest sentence; pairs that are not aligned have no words here.
    """

    source_ids: NDArray[np.int32]
    source_offsets: NDArray[np.int64]
    target_ids: NDArray[np.int32]
    target_offsets: NDArray[np.int64]

    pairs: ClassVar = "source_offsets"
    layout: ClassVar = {
        "source_ids": ("source_offsets", np.empty(0, dtype=np.int32)),
        "target_ids": ("target_offsets", np.empty(0, dtype=np.int32)),
    }

    @lazy_property
    def source_lengths(self) -> NDArray[np.int64]:
        """I of each pair."""
        return np.diff(self.source_offsets)

    @lazy_property
    def target_lengths(self) -> NDArray[np.int64]:
        """J of each pair."""
        return np.diff(self.target_offsets)

    @lazy_property
    def longest(self) -> int:
        """Length of the longest sentence of either side."""
        return int(max(self.source_lengths.max(initial=0), self.target_lengths.max(initial=0)))

    @lazy_property
    def cell_offsets(self) -> NDArray[np.int64]:
        """Where each pair's I x J matrix starts."""
        return offsets_of(self.source_lengths * self.target_lengths)

    @lazy_property
    def by_length(self) -> NDArray[np.int64]:
        """The indices of the pairs, sorted by source length and then by target length."""
        return np.lexsort((self.target_lengths, self.source_lengths))

    def tokens(self, source_words: NDArray, target_words: NDArray) -> TokenPairs:
        """What kernels read of the pairs, with these words as their tokens (along the last axis)."""
        from cepts.kernels.lookup import TokenPairs

        words = np.ascontiguousarray(source_words), np.ascontiguousarray(target_words)
        return TokenPairs(*words, self.source_offsets, self.target_offsets, self.cell_offsets)

    def renumbered(self, source: NDArray[np.int32], target: NDArray[np.int32]) -> Pairs:
        """The same pairs with other numbers of words, which are given for each number of these."""
        # Without words there is nothing to take from.
        source_ids, target_ids = (
            numbers[own] if len(own) else own for numbers, own in ((source, self.source_ids), (target, self.target_ids))
        )
        return Pairs(source_ids, self.source_offsets, target_ids, self.target_offsets)

    def distinct(self) -> tuple[Pairs, NDArray[np.float32], NDArray[np.int64]]:
        """The distinct pairs, how often each occurs, and the place of every pair among them.

        Texts repeat themselves, and EM needs each pair only once.
        """
        from cepts.kernels.index import distinct_pairs

        count = len(self)
        places = np.empty(count, dtype=np.int64)
        firsts = np.empty(count, dtype=np.int64)
        times = np.empty(count, dtype=np.float32)
        table = np.full(1 << (2 * count + 1).bit_length(), -1, dtype=np.int64)
        sentences = self.source_ids, self.source_offsets, self.target_ids, self.target_offsets
        kinds = distinct_pairs(*sentences, table, places, firsts, times)
        return self.take(firsts[:kinds]), times[:kinds].copy(), places


def kept_pairs(bitext: Bitext, max_length: int) -> Pairs:
    """The pairs of a bitext as numbers of words, of which those that are not aligned have none."""
    kept = bitext.limited(max_length)
    return Pairs(kept.source.ids, kept.source.offsets, kept.target.ids, kept.target.offsets)


def form_pairs(bitext: Bitext, forms: Forms, max_length: int) -> tuple[Vocabulary, Vocabulary, Pairs]:
    """The source forms and the target forms of a bitext, and its kept pairs as numbers of these."""
    source, source_places = number(forms.of(bitext.source.vocabulary.words))
    target, target_places = number(forms.of(bitext.target.vocabulary.words))
    pairs = kept_pairs(bitext, max_length)
    return source, target, pairs.renumbered(source_places, target_places)


@dataclass(frozen=True, slots=True, eq=False)
class IndexBlock:
    """A run of distinct sentence pairs with the cells of its token pairs.

    `cells` are numbered within the block; cell c of the block is cell `cell_numbers[c]` of the shard. `times` is how
    often each pair occurs in the shard.
    """

    pairs: Pairs
    times: NDArray[np.float32]
    cells: NDArray[np.int32]
    cell_numbers: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class IndexShard:
    """The distinct pairs of a shard and their cells, as flat arrays, which can be kept in a file.

    Attributes
    ----------
    pairs, times
        The distinct pairs, each block sorted by length, and how often each occurs in the shard.
    places
        The distinct pair of each pair of the shard.
    bounds
        Block b has the pairs `bounds[b]:bounds[b + 1]`.
    cells
        The cell of each token pair, numbered within its block.
    cell_numbers, number_offsets
        Cell c of block b is cell `cell_numbers[number_offsets[b] + c]` of the shard.
    ranks, starts, targets
        The ranks of the source words that have cells, in ascending order; the cells of the word of rank `ranks[w]` are
        `starts[w]:starts[w + 1]`, and `targets` are their target words. Words that the shard does not have take no
        room.
    """

    pairs: Pairs
    times: NDArray[np.float32]
    places: NDArray[np.int64]
    bounds: NDArray[np.int64]
    cells: NDArray[np.int32]
    cell_numbers: NDArray[np.int32]
    number_offsets: NDArray[np.int64]
    ranks: NDArray[np.int32]
    starts: NDArray[np.int64]
    targets: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.targets)

    def rows(self, words: int) -> NDArray[np.int64]:
        """Where the cells of each of `words` source words start, by rank."""
        return rows_between(self.ranks, self.starts, 0, words)

    @property
    def blocks(self) -> list[IndexBlock]:
        """The blocks, without copying anything."""
        cell_bounds = self.pairs.cell_offsets[self.bounds]
        return [
            IndexBlock(
                self.pairs.part(start, stop),
                self.times[start:stop],
                self.cells[first:last],
                self.cell_numbers[low:high],
            )
            for start, stop, first, last, low, high in zip(
                self.bounds[:-1].tolist(),
                self.bounds[1:].tolist(),
                cell_bounds[:-1].tolist(),
                cell_bounds[1:].tolist(),
                self.number_offsets[:-1].tolist(),
                self.number_offsets[1:].tolist(),
                strict=True,
            )
        ]

    def arrays(self) -> dict[str, NDArray]:
        """All arrays by name."""
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "pairs"}
        return {**{field.name: getattr(self.pairs, field.name) for field in fields(self.pairs)}, **own}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray]) -> Self:
        """The shard that `arrays` returned."""
        pairs = Pairs(*(arrays[field.name] for field in fields(Pairs)))
        return cls(pairs, *(arrays[field.name] for field in fields(cls) if field.name != "pairs"))


def cut(pairs: Pairs, cells: int = CELLS_IN_BLOCK) -> Iterator[tuple[int, int]]:
    """Divide into runs of whole pairs with about `cells` token pairs each; a larger pair is a run by itself."""
    return cut_runs(pairs.cell_offsets, cells)


def index_shard(
    pairs: Pairs, ranks: NDArray[np.int32], target_words: int, *, cells_in_block: int = CELLS_IN_BLOCK, threads: int = 1
) -> IndexShard:
    """Number the cells of the distinct ones among `pairs`.

    `ranks` is the place of each source word among the rows; `target_words` is the size of the target vocabulary.
    """
    distinct, times, places = pairs.distinct()
    # Only words that occur here are looked at: in a large text, these are few of all.
    own_ranks, source = _own_words(ranks[distinct.source_ids], len(ranks))
    own_targets, target = _own_words(distinct.target_ids, target_words)
    # Sorted by length in each block, because the HMM can then treat pairs of the same length together.
    runs = list(cut(distinct, cells_in_block))
    order = np.concatenate(
        [np.empty(0, np.int64), *(start + distinct.part(start, stop).by_length for start, stop in runs)]
    )
    own = Pairs(source, distinct.source_offsets, target, distinct.target_offsets).take(order)
    distinct, times, places = distinct.take(order), times[order], np.argsort(order)[places]
    bounds = np.array([0, *(stop for _, stop in runs)], dtype=np.int64)
    cells = np.empty(int(distinct.cell_offsets[-1]), dtype=np.int32)
    of_block = [cells[slice(*distinct.cell_offsets[list(run)])] for run in runs]
    numbered = list(
        map_shards(
            lambda place: _number(own.part(*runs[place]), len(own_ranks), len(own_targets), of_block[place]),
            range(len(runs)),
            threads=threads,
        )
    )
    starts, targets, numbers = merge_cells(numbered, len(own_ranks), len(own_targets))
    by_use = [_by_use(own, part) for own, part in zip(of_block, numbers, strict=True)]
    return IndexShard(
        distinct,
        times,
        places,
        bounds,
        cells,
        np.concatenate([np.empty(0, dtype=np.int32), *by_use]),
        offsets_of([len(part) for part in by_use]),
        own_ranks,
        starts,
        own_targets[targets],
    )


def _own_words(words: NDArray[np.int32], vocabulary: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The distinct ones among words, in ascending order, and the place of each word among them."""
    occurs = np.zeros(vocabulary, dtype=np.bool_)
    occurs[words] = True
    own = np.flatnonzero(occurs).astype(np.int32)
    places = np.empty(vocabulary, dtype=np.int32)
    places[own] = np.arange(len(own), dtype=np.int32)
    return own, places[words]


def rows_between(ranks: NDArray[np.int32], starts: NDArray[np.int64], first: int, last: int) -> NDArray[np.int64]:
    """Where the cells of each source word of rank `first` to `last` (exclusive) start, counted from those of `first`.

    `ranks` and `starts` are those of an `IndexShard`.
    """
    low, high = np.searchsorted(ranks, [first, last]).tolist()
    sizes = np.zeros(last - first, dtype=np.int64)
    sizes[ranks[low:high] - first] = np.diff(starts[low : high + 1])
    return offsets_of(sizes)


def merge_cells(
    parts: Sequence[tuple[NDArray[np.int64], NDArray[np.int32]]], source_words: int, target_words: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], list[NDArray[np.int32]]]:
    """Merge the cells of several parts: the rows and targets of all, and the new numbers of each part."""
    from cepts.kernels.index import merge_rows

    if len(parts) == 1:
        ((rows, targets),) = parts
        return rows, targets, [np.arange(len(targets), dtype=np.int32)]
    starts = offsets_of([len(targets) for _, targets in parts])
    if starts[-1] >= np.iinfo(np.int32).max:
        raise MemoryError("the text has too many distinct word pairs for one range; lower `max_vocabulary`.")
    part_rows = np.array([rows for rows, _ in parts], dtype=np.int64).reshape(-1, source_words + 1)
    numbers = np.empty(int(starts[-1]), dtype=np.int32)
    targets = np.empty(int(starts[-1]), dtype=np.int32)
    rows = np.empty(source_words + 1, dtype=np.int64)
    # The row of a word is merged from its rows in all parts.
    count = merge_rows(
        np.add.outer(np.arange(source_words), (source_words + 1) * np.arange(len(parts))).reshape(-1),
        len(parts) * np.arange(source_words + 1),
        np.arange(target_words, dtype=np.int32),
        (part_rows + starts[:-1, None]).reshape(-1),
        np.concatenate([np.empty(0, np.int32), *(part for _, part in parts)]),
        *_unseen(target_words),
        numbers,
        targets,
        rows,
    )
    return rows, targets[:count].copy(), [numbers[start:stop] for start, stop in pairwise(starts)]


def in_word_order(rows: NDArray[np.int64], ranks: NDArray[np.int32]) -> tuple[Any, NDArray[np.int64]]:
    """The order that brings cells from the order of ranks to that of words, and the rows of the words."""
    if (np.diff(ranks) == 1).all():
        return slice(None), rows
    return take_runs(rows, ranks.astype(np.int64))


def kept_rows(rows: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The rows of the cells that are kept, as numbers of these."""
    return offsets_of(kept.view(np.uint8))[rows]


def _by_use(cells: NDArray[np.int32], numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Renumber a block's cells in order of first use, and return their numbers in the shard in the new order."""
    from cepts.kernels.index import renumber_by_use

    ordered = np.empty(len(numbers), dtype=np.int32)
    renumber_by_use(cells, numbers, np.full(len(numbers), -1, dtype=np.int32), ordered)
    return ordered


def _unseen(words: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return np.full(words, -1, dtype=np.int32), np.empty(words, dtype=np.int32)


def _number(
    pairs: Pairs, source_words: int, target_words: int, cells: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Fill `cells` with the cell of each token pair; return where the rows of the cells start, and their targets."""
    from cepts.kernels.index import number_cells, occurrences_by_word, token_rows

    offsets = pairs.cell_offsets
    tokens = len(pairs.source_ids)
    starts = np.empty(source_words + 1, dtype=np.int64)
    order = np.empty(tokens, dtype=np.int64)
    occurrences_by_word(pairs.source_ids, starts, order)
    sentence_of = np.empty(tokens, dtype=np.int64)
    row_of = np.empty(tokens, dtype=np.int64)
    token_rows(pairs.source_offsets, pairs.target_offsets, offsets, sentence_of, row_of)
    targets = np.empty(int(offsets[-1]), dtype=np.int32)
    rows = np.empty(source_words + 1, dtype=np.int64)
    tokens_of = starts, order, sentence_of, row_of, pairs.target_ids, pairs.target_offsets
    count = number_cells(*tokens_of, *_unseen(target_words), cells, targets, rows)
    return rows, targets[:count].copy()
