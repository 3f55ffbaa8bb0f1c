"""The lexicon of a text on a shelf, in ranges of which only what is needed is in memory."""

from __future__ import annotations

from concurrent.futures import Future
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vocabulary, offsets_of
from cepts.engine import piece_name
from cepts.words.index import IndexBlock, in_word_order, kept_rows
from cepts.words.indexed_text import IndexedText
from cepts.words.levels import build_levels, words_by_level
from cepts.words.lexicon import BackOff, Bayes, Lexicon, Side
from cepts.words.ranges import levels_of

# Tables of the lexicon are read only once in an iteration if they have no more bytes than this. Those of a larger
# lexicon are kept as what each shard needs of them: reading all of them for each shard would take time in proportion to
# the square of the text.
TABLES_IN_MEMORY = 64 << 20
BYTES_OF_CELL = 8


class LexiconTable:
    """The lexicon of an indexed text, of which only what is needed is in memory.

    `version` names the tables on the shelf; None is the uniform lexicon before the first iteration. When training has
    ended, the lexicon is `settled`: every pair of words has at least the lowest probability.
    """

    def __init__(self, indexed: IndexedText) -> None:
        self.indexed, self.shelf = indexed, indexed.shelf
        self.version: str | None = None
        self.settled = False
        self.target_totals = np.zeros(len(indexed.sides[1]))
        # Has the parameters that ranges share (strengths); it has no cells.
        self.shared = self._without_cells()
        self._whole: tuple[str | None, Lexicon] | None = None
        self._tables: tuple[str | None, dict[int, NDArray[np.float32]]] = (None, {})
        self._lock = Lock()

    def _without_cells(self) -> Lexicon:
        aligner, target = self.indexed.aligner, self.indexed.sides[1]
        cells = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32)
        options: dict[str, Any] = {}
        if aligner.lexicon == "backoff":
            nothing = words_by_level([], np.empty(0, dtype=np.int64), tuple(aligner.stems))
            options["levels"] = build_levels(*cells, nothing, self.indexed.target_levels)
        nobody = Side(Vocabulary.from_words([]), np.empty(0, dtype=np.int64))
        return aligner.new_lexicon(*cells, nobody, target, **options)

    def of_range(self, number: int) -> Lexicon:
        """The lexicon of a range, not yet estimated."""
        indexed, piece = self.indexed, self.shelf.get(piece_name("ranges", number))
        options: dict[str, Any] = {}
        if indexed.aligner.lexicon == "backoff":
            options["levels"] = levels_of(piece, indexed.target_levels)
        sides = indexed.source_of(number), indexed.sides[1]
        found = indexed.aligner.new_lexicon(piece["rows"], piece["targets"], *sides, **options)
        found.source_words = len(indexed.sides[0])
        if isinstance(found, Bayes):
            found.target_sizes = self._target_sizes
        if isinstance(found, BackOff) and isinstance(self.shared, BackOff):
            found.strengths = self.shared.strengths
        return found

    @cached_property
    def _target_sizes(self) -> NDArray[np.int64]:
        ranges = range(len(self.indexed.ranges))
        return np.sum([self.shelf.get(piece_name("ranges", number))["target_sizes"] for number in ranges], axis=0)

    @property
    def by_shard(self) -> bool:
        """Whether entries are kept shard by shard, and not as tables."""
        indexed = self.indexed
        size = len(indexed.ranges) * indexed.sizes.range * BYTES_OF_CELL
        return indexed.text.shards > 1 and len(indexed.ranges) > 1 and size > TABLES_IN_MEMORY

    def put(self, name: str, number: int, table: NDArray[np.float32]) -> None:
        """Keep the table of a range, or what each shard needs of it, shard by shard."""
        if self.by_shard:
            from cepts.kernels.lexicon import gather_rows

            numbers = self.shelf.get(piece_name("ranges", number))["numbers"]
            entries = np.empty((len(numbers), 2), dtype=np.float32)
            gather_rows(table, numbers, entries)
            self.shelf.put(name, {"entries": entries})
        else:
            self.shelf.put(name, {"table": table})

    def entries(self, shard: int) -> NDArray[np.float32]:
        """The entries of all cells of a shard."""
        own = self._gathered(shard)
        return np.maximum(own, self.shared.floor) if self.settled else own

    def _gathered(self, shard: int) -> NDArray[np.float32]:
        from cepts.kernels.lexicon import gather_rows

        indexed = self.indexed
        starts = indexed.range_starts(shard)
        own = np.empty((int(starts[-1]), 2), dtype=np.float32)
        if self.version is None:
            own[:, 0] = 1.0 / max(len(indexed.sides[1]), 1)
            own[:, 1] = 1.0 / max(len(indexed.sides[0]), 1)
            return own
        if indexed.text.shards == 1 and len(indexed.ranges) == 1 and indexed.prior is None:
            return self._table(0)
        for number in range(len(indexed.ranges)):
            piece, part = self.shelf.get(piece_name("ranges", number)), own[starts[number] : starts[number + 1]]
            bounds = piece.part("number_offsets", shard, shard + 2).tolist()
            kept = self.shelf.get(piece_name(self.version, number))
            if "entries" in kept:
                part[:] = kept.part("entries", *bounds)
            else:
                gather_rows(self._table(number), piece.part("numbers", *bounds), part)
        return own

    def _table(self, number: int) -> NDArray[np.float32]:
        """The table of a range; those of a small lexicon stay in memory until the next version."""
        with self._lock:
            version, tables = self._tables
            if version != self.version:
                version, tables = self._tables = self.version, {}
            found = tables.get(number)
        if found is None:
            assert version is not None
            found = self.shelf.get(piece_name(version, number))["table"]
            with self._lock:
                if sum(table.nbytes for table in tables.values()) + found.nbytes <= TABLES_IN_MEMORY:
                    tables[number] = found
        return found

    def forget_tables(self) -> None:
        """Forget the tables that stayed in memory."""
        with self._lock:
            self._tables = None, {}

    def whole(self) -> Lexicon:
        """The whole lexicon in memory, with its rows in the order of the words.

        Of a trained lexicon, it has only the cells that are needed, which are few if directions were trained to agree.
        """
        if self._whole is None or self._whole[0] != self.version:
            self._whole = self.version, self._assembled()
        return self._whole[1]

    def _assembled(self) -> Lexicon:
        indexed = self.indexed
        rows, targets, counts = zip(*map(self._kept, range(len(indexed.ranges))), strict=True)
        starts = offsets_of([len(part) for part in targets])
        joined = np.concatenate([*(part[:-1] + start for part, start in zip(rows, starts, strict=False)), starts[-1:]])
        order, new_rows = in_word_order(joined, indexed.ranges.ranks)
        found = indexed.aligner.new_lexicon(new_rows, np.concatenate(targets)[order], *indexed.sides)
        if self.version is not None:
            state = {**self.shared.state(), "counts": np.concatenate(counts)[order]}
            found.restore({**state, "target_totals": self.target_totals})
            found.settle()
        return found

    def _kept(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
        """The rows, the target words and the counts of those cells of a range that are needed."""
        piece = self.shelf.get(piece_name("ranges", number))
        rows, targets = piece["rows"], piece["targets"]
        if self.version is None:
            return rows, targets, np.empty((0, 1), dtype=np.float32)
        counts = self.shelf.get(piece_name(self.version.replace("/tables-", "/sums-"), number))["counts"]
        kept = self.shared.kept(counts)
        return kept_rows(rows, kept), targets[kept], counts[kept]


class TrainedShards:
    """Shards of the training text with the entries of their cells, of which the last few are in memory."""

    def __init__(self, indexed: IndexedText, lexicon: LexiconTable, most: int) -> None:
        self.indexed, self.lexicon, self.most = indexed, lexicon, most
        self._lock = Lock()
        self._kept: dict[int, Future[tuple[list[IndexBlock], NDArray[np.float32]]]] = {}

    def block(self, shard: int, place: int) -> tuple[IndexBlock, NDArray[np.float32]]:
        """A block of a shard, and the entries of all cells of the shard."""
        with self._lock:
            kept = self._kept.get(shard)
            loading = kept is None
            if kept is None:
                while len(self._kept) >= self.most:
                    del self._kept[next(iter(self._kept))]
                kept = self._kept[shard] = Future()
        if loading:
            # Outside the lock, so that threads load shards side by side; who needs the same one waits for it.
            try:
                kept.set_result((self.indexed.shard(shard).blocks, self.lexicon.entries(shard)))
            except BaseException as error:
                kept.set_exception(error)
        blocks, entries = kept.result()
        return blocks[place], entries
