"""The co-occurrence index: each pair of a source word and a target word that occur together has a number, its *cell*.

One index serves all models and both directions. It is divided into shards of whole sentence pairs, each of which
numbers its own cells, so that a shard's part of the lexicon and of the counts fits the processor's caches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.data import Bitext, Flat, Text, Vocabulary, offsets_of
from cepts.engine import cut_runs, map_shards
from cepts.words.forms import Forms, number

if TYPE_CHECKING:
    from cepts.kernels.lookup import TokenPairs

CELLS_IN_SHARD = 1 << 21


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

    @cached_property
    def source_lengths(self) -> NDArray[np.int64]:
        """I of each pair."""
        return np.diff(self.source_offsets)

    @cached_property
    def target_lengths(self) -> NDArray[np.int64]:
        """J of each pair."""
        return np.diff(self.target_offsets)

    @cached_property
    def longest(self) -> int:
        """Length of the longest sentence of either side."""
        return int(max(self.source_lengths.max(initial=0), self.target_lengths.max(initial=0)))

    @cached_property
    def cell_offsets(self) -> NDArray[np.int64]:
        """Where each pair's I x J matrix starts."""
        return offsets_of(self.source_lengths * self.target_lengths)

    @cached_property
    def by_length(self) -> NDArray[np.int64]:
        """The indices of the pairs, sorted by source length and then by target length."""
        return np.lexsort((self.target_lengths, self.source_lengths))

    def tokens(self, source_words: NDArray, target_words: NDArray) -> TokenPairs:
        """What kernels read of the pairs, with these words as their tokens (along the last axis)."""
        from cepts.kernels.lookup import TokenPairs

        words = np.ascontiguousarray(source_words), np.ascontiguousarray(target_words)
        return TokenPairs(*words, self.source_offsets, self.target_offsets, self.cell_offsets)

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


def form_pairs(bitext: Bitext, forms: Forms, max_length: int) -> tuple[Vocabulary, Vocabulary, Pairs]:
    """The source forms and the target forms of a bitext, and its pairs, with each word as the number of its form.

    Pairs that are empty on one side or have a sentence of more than `max_length` words are made empty.
    """
    lengths = bitext.source.lengths, bitext.target.lengths
    keep = (np.minimum(*lengths) > 0) & (np.maximum(*lengths) <= max_length)
    source, source_places = number(forms, bitext.source.vocabulary.words)
    target, target_places = number(forms, bitext.target.vocabulary.words)
    pairs = Pairs(*_kept(bitext.source, keep, source_places), *_kept(bitext.target, keep, target_places))
    return source, target, pairs


def _kept(
    text: Text, keep: NDArray[np.bool_], places: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Form numbers and offsets of a text, with the sentences that are not kept made empty."""
    lengths = np.where(keep, text.lengths, 0)
    ids = places[text.ids] if len(places) else np.empty(0, dtype=np.int32)
    if not keep.all():
        ids = ids[np.repeat(keep, text.lengths)]
    return ids, offsets_of(lengths)


@dataclass(frozen=True, slots=True, eq=False)
class IndexShard:
    """A run of sentence pairs with the cells of its token pairs.

    `cells` are numbered within the shard; cell c of the shard is cell `cell_numbers[c]` of the index. `times` is how
    often each pair occurs in the text.
    """

    pairs: Pairs
    times: NDArray[np.float32]
    cells: NDArray[np.int32]
    cell_numbers: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The cells of a text: those of source word w are `rows[w]:rows[w + 1]`, and `targets` are their target words."""

    rows: NDArray[np.int64]
    targets: NDArray[np.int32]
    target_words: int
    shards: list[IndexShard]

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def source_words(self) -> int:
        """Size of the source vocabulary."""
        return len(self.rows) - 1


def arrange(pairs: Pairs, cells: int = CELLS_IN_SHARD) -> NDArray[np.int64]:
    """An order in which the pairs of a shard are sorted by length, because kernels compute similar pairs together."""
    runs = [start + pairs.part(start, stop).by_length for start, stop in cut(pairs, cells)]
    return np.concatenate(runs or [np.empty(0, dtype=np.int64)])


def cut(pairs: Pairs, cells: int = CELLS_IN_SHARD) -> Iterator[tuple[int, int]]:
    """Divide into runs of whole pairs with about `cells` token pairs each; a larger pair is a run by itself."""
    return cut_runs(pairs.cell_offsets, cells)


def build_index(
    pairs: Pairs,
    source_words: int,
    target_words: int,
    *,
    times: NDArray[np.float32] | None = None,
    threads: int | None = 1,
    cells_in_shard: int = CELLS_IN_SHARD,
) -> Index:
    """Number the cells of `pairs`, each of which occurs `times` times, over vocabularies of the given sizes."""
    from cepts.kernels.index import merge_rows

    times = np.ones(len(pairs), dtype=np.float32) if times is None else times
    runs = list(cut(pairs, cells_in_shard))
    numbered = list(
        map_shards(
            lambda run: _number(pairs.part(*run), times[slice(*run)], source_words, target_words),
            runs,
            threads=threads,
        )
    )
    shard_rows = np.array([rows for _, rows, _ in numbered], dtype=np.int64).reshape(-1, source_words + 1)
    starts = offsets_of([len(targets) for _, _, targets in numbered])
    shard_targets = np.concatenate([targets for _, _, targets in numbered] or [np.empty(0, np.int32)])
    if starts[-1] >= np.iinfo(np.int32).max:
        raise MemoryError("the text has too many distinct word pairs for one index; train on fewer sentence pairs.")
    numbers = np.empty(int(starts[-1]), dtype=np.int32)
    targets = np.empty(int(starts[-1]), dtype=np.int32)
    rows = np.empty(source_words + 1, dtype=np.int64)
    # The row of a word is merged from its rows in all shards.
    count = merge_rows(
        np.add.outer(np.arange(source_words), (source_words + 1) * np.arange(len(runs))).reshape(-1),
        len(runs) * np.arange(source_words + 1),
        np.arange(target_words, dtype=np.int32),
        (shard_rows + starts[:-1, None]).reshape(-1),
        shard_targets,
        *_unseen(target_words),
        numbers,
        targets,
        rows,
    )
    shards = [
        replace(shard, cell_numbers=_by_use(shard.cells, numbers[start:stop]))
        for (shard, _, _), start, stop in zip(numbered, starts[:-1], starts[1:], strict=True)
    ]
    return Index(rows, targets[:count].copy(), target_words, shards)


def _by_use(cells: NDArray[np.int32], numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Renumber a shard's cells in order of first use, and return their numbers in the index in the new order."""
    from cepts.kernels.index import renumber_by_use

    ordered = np.empty(len(numbers), dtype=np.int32)
    renumber_by_use(cells, numbers, np.full(len(numbers), -1, dtype=np.int32), ordered)
    return ordered


def _unseen(words: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return np.full(words, -1, dtype=np.int32), np.empty(words, dtype=np.int32)


def _number(
    pairs: Pairs, times: NDArray[np.float32], source_words: int, target_words: int
) -> tuple[IndexShard, NDArray[np.int64], NDArray[np.int32]]:
    """The shard of `pairs` with its own cell numbers, where the rows of its cells start, and their target words."""
    from cepts.kernels.index import number_cells, occurrences_by_word, token_rows

    offsets = pairs.cell_offsets
    tokens = len(pairs.source_ids)
    starts = np.empty(source_words + 1, dtype=np.int64)
    order = np.empty(tokens, dtype=np.int64)
    occurrences_by_word(pairs.source_ids, starts, order)
    sentence_of = np.empty(tokens, dtype=np.int64)
    row_of = np.empty(tokens, dtype=np.int64)
    token_rows(pairs.source_offsets, pairs.target_offsets, offsets, sentence_of, row_of)
    cells = np.empty(int(offsets[-1]), dtype=np.int32)
    targets = np.empty(int(offsets[-1]), dtype=np.int32)
    rows = np.empty(source_words + 1, dtype=np.int64)
    tokens_of = starts, order, sentence_of, row_of, pairs.target_ids, pairs.target_offsets
    count = number_cells(*tokens_of, *_unseen(target_words), cells, targets, rows)
    shard = IndexShard(pairs, times, cells, np.empty(0, dtype=np.int32))
    return shard, rows, targets[:count].copy()
