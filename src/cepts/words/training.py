"""Training of a word model as tasks on the shards of its text and the ranges of its lexicon.

Every task reads pieces from a shelf and leaves one piece there, so that it does not matter who runs it: a thread, a
process of a cluster, or a command. In an iteration

1. `count` runs the E-step of a shard, with the entries of the lexicon that its cells need, and leaves expected counts;
2. `add` sums the counts of a range over all shards, in their order;
3. `learn` does what needs all of the text: the totals of target words, null, positions, strengths of the back-off;
4. `enter` computes the lexicon of a range.

Whatever is cut is cut by the text alone, and all sums are in a fixed order, so the result is always the same to the
last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vocabulary, offsets_of
from cepts.engine import ROUNDING, Tick, default_threads, map_shards
from cepts.store import Piece, PieceError
from cepts.words.adjacent import AdjacentWords
from cepts.words.blocks import block_of
from cepts.words.classes import word_classes
from cepts.words.cohesion import Cohesion
from cepts.words.forms import number as number_forms
from cepts.words.index import IndexBlock, IndexShard, Sizes, in_word_order, index_shard, kept_pairs, merge_cells
from cepts.words.levels import Words, build_levels, words_by_level
from cepts.words.lexicon import BackOff, Bayes, LeaveOneOut, Lexicon, Side
from cepts.words.positions import Expected, Positions
from cepts.words.ranges import Ranges, cut_ranges, level_arrays, levels_of
from cepts.words.text import SIDES, ShelvedText, TextFacts, shapes_of

if TYPE_CHECKING:
    from cepts.words.aligner import Aligner

# Tables of the lexicon are read only once in an iteration if they have no more bytes than this.
TABLES_IN_MEMORY = 64 << 20
SAMPLE_PARTS = ("weight", "rest", "share", "words", "totals")


class RunTasks(Protocol):
    """Runs the task `kind` of a problem for each number."""

    def __call__(
        self, kind: str, numbers: Sequence[int], tick: Tick | None = None, problem: AlignerTraining | None = None
    ) -> None:
        """Run the tasks, and call `tick` as they end."""


class IndexedText:
    """A text on a shelf with its words, its index and the cells of its lexicon.

    Parameters
    ----------
    aligner
        Says how words are counted and which lexicon there is.
    text
        The text.
    sizes
        How large blocks and ranges are.
    threads
        Number of threads; None is one for each processor.
    """

    def __init__(self, aligner: Aligner, text: ShelvedText, sizes: Sizes, threads: int | None) -> None:
        self.aligner, self.text, self.sizes, self.threads = aligner, text, sizes, threads
        self.shelf = text.shelf

    # -- words -------------------------------------------------------------------------------------------------------

    def number_words(self) -> None:
        """Number the forms that occur in pairs that can be aligned, and cut them into ranges."""
        arrays: dict[str, NDArray] = {}
        sides = []
        frequencies = [np.zeros(len(vocabulary), dtype=np.int64) for vocabulary in self.text.vocabularies]
        for source, target in map_shards(self._frequencies, range(self.text.shards), threads=self.threads):
            frequencies[0] += source
            frequencies[1] += target
        for name, vocabulary, found in zip(SIDES, self.text.vocabularies, frequencies, strict=True):
            forms, places = number_forms(self.aligner.forms_, vocabulary.words)
            counted = np.bincount(places, found, len(forms)).astype(np.int64)
            used = counted > 0
            # Words of unaligned pairs alone are left out.
            numbers = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
            side = Side(forms if used.all() else forms.take(np.flatnonzero(used)), counted[used])
            sides.append(side)
            arrays |= {
                f"{name}.numbers": numbers[places] if len(places) else np.empty(0, dtype=np.int32),
                f"{name}.buffer": side.vocabulary.buffer,
                f"{name}.offsets": side.vocabulary.offsets,
                f"{name}.frequencies": side.frequencies,
            }
        stems = self.aligner.stems if self.aligner.lexicon == "backoff" else ()
        ranges = cut_ranges(sides[0], sides[1], stems[-1] if stems else None, self.sizes.range)
        self.shelf.put("words", {**arrays, "ranks": ranges.ranks, "bounds": ranges.bounds})

    def _frequencies(self, shard: int) -> list[NDArray[np.int64]]:
        """How often each word occurs in the pairs of a shard that can be aligned."""
        bitext = self.text.shard(shard)
        pairs = kept_pairs(bitext, self.aligner.max_length)
        return [
            np.bincount(ids, minlength=len(vocabulary))
            for ids, vocabulary in zip((pairs.source_ids, pairs.target_ids), self.text.vocabularies, strict=True)
        ]

    @cached_property
    def _words(self) -> Piece:
        return self.shelf.get("words")

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """The forms of both sides."""
        source, target = (
            Side(
                Vocabulary(self._words[f"{name}.buffer"], self._words[f"{name}.offsets"]),
                self._words[f"{name}.frequencies"],
            )
            for name in SIDES
        )
        return source, target

    @cached_property
    def ranges(self) -> Ranges:
        """How the lexicon is cut."""
        return Ranges(self._words["ranks"], self._words["bounds"])

    # -- the index ---------------------------------------------------------------------------------------------------

    def index(self, number: int) -> None:
        """Task: number the cells of a shard."""
        pairs = kept_pairs(self.text.shard(number), self.aligner.max_length)
        source, target = (self._words[f"{name}.numbers"] for name in SIDES)
        how = {"cells_in_block": self.sizes.block, "threads": self.inner_threads}
        shard = index_shard(pairs.renumbered(source, target), self.ranges.ranks, len(self.sides[1]), **how)
        self.shelf.put(
            f"index/{number:05}",
            {**shard.arrays(), "range_starts": shard.rows[self.ranges.bounds], "shapes": shapes_of(shard.pairs)},
            blocks=len(shard.bounds) - 1,
            pairs=len(shard.pairs),
            longest=shard.pairs.longest,
        )

    def shard(self, number: int) -> IndexShard:
        """The index of a shard."""
        return IndexShard.of(self.shelf.get(f"index/{number:05}"))

    def merge(self, number: int) -> None:
        """Task: number the cells of a range over all shards."""
        first, last = self.ranges.bounds[number : number + 2].tolist()
        parts, words = [], len(self.sides[1])
        for shard in range(self.text.shards):
            piece = self.shelf.get(f"index/{shard:05}")
            start, stop = piece["range_starts"][number : number + 2].tolist()
            parts.append((piece.part("rows", first, last + 1) - start, piece.part("targets", start, stop)))
        if not parts:
            parts.append((np.zeros(last - first + 1, dtype=np.int64), np.empty(0, dtype=np.int32)))
        rows, targets, numbers = merge_cells(parts, last - first, words)
        arrays: dict[str, NDArray] = {
            "rows": rows,
            "targets": targets,
            "numbers": np.concatenate(numbers),
            "number_offsets": offsets_of([len(part) for part in numbers]),
        }
        if self.aligner.lexicon == "backoff":
            side = self.source_of(number)
            stems = tuple(self.aligner.stems)
            total = int(self.sides[0].frequencies.sum())
            source = words_by_level(side.vocabulary.words, side.frequencies, stems, total=total)
            arrays |= level_arrays(build_levels(rows, targets, source, self.target_levels))
        elif self.aligner.lexicon == "bayes":
            arrays["target_sizes"] = np.bincount(targets, minlength=words)
        self.shelf.put(f"ranges/{number:05}", arrays)

    def source_of(self, number: int) -> Side:
        """The source words of a range."""
        side = self.sides[0]
        if len(self.ranges) == 1:
            return side
        words = self.ranges.words_of(number)
        return Side(side.vocabulary.take(words), side.frequencies[words])

    @cached_property
    def target_levels(self) -> list[Words]:
        """Target words and their stems, for a lexicon that backs off."""
        side = self.sides[1]
        return words_by_level(side.vocabulary.words, side.frequencies, tuple(self.aligner.stems))

    @cached_property
    def facts(self) -> TextFacts:
        """What position models need to know of the text."""
        pieces = [self.shelf.get(f"index/{shard:05}") for shard in range(self.text.shards)]
        keys = np.unique(np.concatenate([np.empty(0, np.int64), *(piece["shapes"] for piece in pieces)]))
        return TextFacts(
            sum(piece.settings["pairs"] for piece in pieces),
            max((piece.settings["longest"] for piece in pieces), default=0),
            keys >> 32,
            keys & 0xFFFFFFFF,
            (len(self.sides[0]), len(self.sides[1])),
            self.classes,
        )

    def classes(self, count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Word classes of the source and of the target, which are found once and kept on the shelf."""
        name = f"classes-{count}"
        if not self.shelf.has(name):
            found = (word_classes(adjacent, classes=count) for adjacent in self.adjacent())
            self.shelf.put(name, dict(zip(SIDES, found, strict=True)))
        piece = self.shelf.get(name)
        return piece["source"], piece["target"]

    def adjacent(self, *, repeated: bool = False) -> tuple[AdjacentWords, AdjacentWords]:
        """Adjacent words of the distinct pairs of each shard, or of all pairs if `repeated`."""
        found: tuple[list[AdjacentWords], list[AdjacentWords]] = [], []
        words = self.facts.words

        def count(shard: int) -> list[AdjacentWords]:
            part = self.shard(shard)
            pairs, times = part.pairs, part.times.astype(np.int64) if repeated else None
            return [
                AdjacentWords.of(pairs.source_ids, pairs.source_offsets, words[0], times),
                AdjacentWords.of(pairs.target_ids, pairs.target_offsets, words[1], times),
            ]

        for both in map_shards(count, range(self.text.shards), threads=self.threads):
            for side, part in zip(found, both, strict=True):
                side.append(part)
        if not self.text.shards:
            none = np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
            return AdjacentWords.of(*none, words[0]), AdjacentWords.of(*none, words[1])
        return AdjacentWords.sum(found[0]), AdjacentWords.sum(found[1])

    def cohesion(self) -> tuple[Cohesion, Cohesion]:
        """How closely words belong to their neighbours."""
        source, target = self.adjacent(repeated=True)
        return Cohesion.of(source), Cohesion.of(target)

    @property
    def inner_threads(self) -> int:
        """Threads of a task, if there are fewer shards than threads."""
        threads = default_threads() if self.threads is None else self.threads
        return max(1, threads // max(self.text.shards, 1))

    # -- what is missing ---------------------------------------------------------------------------------------------

    def number_words_once(self) -> None:
        """Number the words, unless this has been done."""
        if not self.shelf.has("words"):
            self.number_words()

    def not_indexed(self) -> list[int]:
        """The shards that are not indexed yet."""
        return [each for each in range(self.text.shards) if not self.shelf.has(f"index/{each:05}")]

    def not_merged(self) -> list[int]:
        """The ranges whose cells are not numbered yet."""
        return [each for each in range(len(self.ranges)) if not self.shelf.has(f"ranges/{each:05}")]

    def is_ready(self) -> bool:
        """Whether the first iteration may begin."""
        return self.shelf.has("words") and not self.not_merged()


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
        indexed, piece = self.indexed, self.shelf.get(f"ranges/{number:05}")
        options: dict[str, Any] = {}
        if indexed.aligner.lexicon == "backoff":
            options["levels"] = levels_of(piece, indexed.target_levels)
        sides = indexed.source_of(number), indexed.sides[1]
        found = indexed.aligner.new_lexicon(piece["rows"], piece["targets"], *sides, **options)
        if isinstance(found, Bayes):
            found.target_sizes = self._target_sizes
        if isinstance(found, BackOff) and isinstance(self.shared, BackOff):
            found.strengths = self.shared.strengths
        return found

    @cached_property
    def _target_sizes(self) -> NDArray[np.int64]:
        ranges = range(len(self.indexed.ranges))
        return np.sum([self.shelf.get(f"ranges/{number:05}")["target_sizes"] for number in ranges], axis=0)

    def entries(self, shard: int) -> NDArray[np.float32]:
        """The entries of all cells of a shard."""
        own = self._gathered(shard)
        return np.maximum(own, self.shared.floor) if self.settled else own

    def _gathered(self, shard: int) -> NDArray[np.float32]:
        from cepts.kernels.lexicon import gather_rows

        indexed = self.indexed
        starts = self.shelf.get(f"index/{shard:05}")["range_starts"]
        own = np.empty((int(starts[-1]), 2), dtype=np.float32)
        if self.version is None:
            own[:, 0] = 1.0 / max(len(indexed.sides[1]), 1)
            own[:, 1] = 1.0 / max(len(indexed.sides[0]), 1)
            return own
        for number in range(len(indexed.ranges)):
            table = self._table(number)
            if indexed.text.shards == 1 and len(indexed.ranges) == 1:
                return table
            piece = self.shelf.get(f"ranges/{number:05}")
            bounds = piece["number_offsets"][shard : shard + 2].tolist()
            gather_rows(table, piece.part("numbers", *bounds), own[starts[number] : starts[number + 1]])
        return own

    def _table(self, number: int) -> NDArray[np.float32]:
        """The table of a range; those of a small lexicon stay in memory until the next version."""
        with self._lock:
            version, tables = self._tables
            if version != self.version:
                version, tables = self._tables = self.version, {}
            found = tables.get(number)
        if found is None:
            found = self.shelf.get(f"{version}/{number:05}")["table"]
            with self._lock:
                if sum(table.nbytes for table in tables.values()) + found.nbytes <= TABLES_IN_MEMORY:
                    tables[number] = found
        return found

    def whole(self) -> Lexicon:
        """The whole lexicon in memory, with its rows in the order of the words."""
        if self._whole is None or self._whole[0] != self.version:
            self._whole = self.version, self._assembled()
        return self._whole[1]

    def _assembled(self) -> Lexicon:
        indexed = self.indexed
        ranges = range(len(indexed.ranges))
        pieces = [self.shelf.get(f"ranges/{number:05}") for number in ranges]
        starts = offsets_of([len(piece["targets"]) for piece in pieces])
        rows = np.concatenate([piece["rows"][:-1] + start for piece, start in zip(pieces, starts, strict=False)])
        rows = np.append(rows, starts[-1])
        order, new_rows = in_word_order(rows, indexed.ranges.ranks)
        source, target = indexed.sides
        found = indexed.aligner.new_lexicon(
            new_rows, np.concatenate([piece["targets"] for piece in pieces])[order], source, target
        )
        if self.version is not None:
            sums = self.version.replace("/tables-", "/sums-")
            counts = [self.shelf.get(f"{sums}/{number:05}")["counts"] for number in ranges]
            state = {**self.shared.state(), "counts": np.concatenate(counts)[order]}
            found.restore({**state, "target_totals": self.target_totals})
            found.settle()
        return found


class TrainedShards:
    """Shards of the training text with the entries of their cells, of which the last few are in memory."""

    def __init__(self, indexed: IndexedText, lexicon: LexiconTable, most: int) -> None:
        self.indexed, self.lexicon, self.most = indexed, lexicon, most
        self._lock = Lock()
        self._kept: dict[int, tuple[list[IndexBlock], NDArray[np.float32]]] = {}

    def block(self, shard: int, place: int) -> tuple[IndexBlock, NDArray[np.float32]]:
        """A block of a shard, and the entries of all cells of the shard."""
        with self._lock:
            if shard not in self._kept:
                while len(self._kept) >= self.most:
                    del self._kept[next(iter(self._kept))]
                self._kept[shard] = self.indexed.shard(shard).blocks, self.lexicon.entries(shard)
            blocks, entries = self._kept[shard]
            return blocks[place], entries


class AlignerTraining:
    """An `engine.Checkpointed` problem: one stage of training on an indexed text.

    Parameters
    ----------
    indexed, lexicon
        The text and its lexicon.
    stage
        The name of the stage.
    positions
        The position model of the stage.
    run
        Runs one of the tasks for some numbers.
    resumable
        Whether the state is kept after each iteration, and `tidy` called then.
    """

    def __init__(
        self,
        indexed: IndexedText,
        lexicon: LexiconTable,
        stage: str,
        positions: Positions,
        *,
        run: RunTasks,
        resumable: bool = False,
    ) -> None:
        self.indexed, self.lexicon, self.stage, self.positions = indexed, lexicon, stage, positions
        self.run, self.resumable = run, resumable
        self._before: str | None = None
        self.aligner = indexed.aligner
        self.null = indexed.aligner.null_
        self.agreeing = indexed.aligner.agreement
        self.shelf = indexed.shelf
        self.iteration = 0

    @property
    def allowed_fall(self) -> float:
        """Only rounding errors if this is exact EM: M-steps are exact, and directions are not trained to agree."""
        if self.agreeing or not (self.lexicon.shared.exact and self.null.exact and self.positions.exact):
            return np.inf
        return ROUNDING * float(sum(side.frequencies.sum() for side in self.indexed.sides))

    def _named(self, what: str) -> str:
        """The name of what this iteration leaves on the shelf."""
        return f"{self.stage}/{what}-{self.iteration + 1}"

    # -- the E-step --------------------------------------------------------------------------------------------------

    def e_step(self, tick: Tick) -> float:
        """Expected counts of all shards that have none yet; returns the sum of both directions' log-likelihoods."""
        shards, counted, missing = range(self.indexed.text.shards), self._named("counts"), self.not_counted()
        done = len(shards) - len(missing)
        self.run("count", missing, lambda more, total: tick(done + more, done + total), problem=self)
        return sum((self.shelf.get(f"{counted}/{shard:05}").settings["objective"] for shard in shards), 0.0)

    def not_counted(self) -> list[int]:
        """The shards without expected counts of this iteration."""
        counted = self._named("counts")
        return [each for each in range(self.indexed.text.shards) if not self.shelf.has(f"{counted}/{each:05}")]

    def count(self, number: int) -> None:
        """Task: the expected counts of a shard."""
        from cepts.kernels.lexicon import add_at

        shard, entries = self.indexed.shard(number), self.lexicon.entries(number)
        words = self.indexed.facts.words
        counts = np.zeros((len(shard), 1 if self.agreeing else 2), dtype=np.float32)
        free = np.zeros(words[0]), np.zeros(words[1])
        statistics: list[NDArray] = []
        objective = 0.0

        def expect(block: IndexBlock) -> Expected:
            return self.positions.expect(block_of(block, entries, self.null), agreeing=self.agreeing)

        blocks = shard.blocks
        for block, found in zip(blocks, map_shards(expect, blocks, threads=self.indexed.inner_threads), strict=True):
            add_at(block.cell_numbers, found.counts, counts)
            for total, ids, values, lengths in (
                (free[0], block.pairs.source_ids, found.source_free, block.pairs.source_lengths),
                (free[1], block.pairs.target_ids, found.target_free, block.pairs.target_lengths),
            ):
                total += np.bincount(ids, values * np.repeat(block.times, lengths), len(total))
            if statistics:
                for total, part in zip(statistics, found.statistics, strict=True):
                    total += part
            else:
                statistics = found.statistics
            objective += float((found.log_likelihoods * block.times[:, None]).sum())
        arrays: dict[str, NDArray] = {"counts": counts, "source_free": free[0], "target_free": free[1]}
        arrays |= {f"statistics.{place}": array for place, array in enumerate(statistics)}
        self.shelf.put(f"{self._named('counts')}/{number:05}", arrays, objective=objective)

    # -- the M-step --------------------------------------------------------------------------------------------------

    def m_step(self) -> None:
        """Lexicon, null and positions from the expected counts."""
        ranges = range(len(self.indexed.ranges))
        added, entered = self._named("sums"), self._named("tables")
        self._again_where_damaged(
            lambda: self.run("add", [each for each in ranges if not self.shelf.has(f"{added}/{each:05}")], problem=self)
        )
        self._again_where_damaged(self.learn)
        self.run("enter", [each for each in ranges if not self.shelf.has(f"{entered}/{each:05}")], problem=self)
        self._before, self.lexicon.version = self.lexicon.version, entered
        self.iteration += 1
        if not self.resumable:
            self.tidy()

    def _again_where_damaged(self, step: Callable[[], None]) -> None:
        """Run a step; where it finds that the counts of a shard are damaged, they are made again."""
        prefix = f"{self._named('counts')}/"
        for _ in range(self.indexed.text.shards):
            try:
                return step()
            except PieceError as error:
                if not error.name.startswith(prefix):
                    raise
                self.shelf.drop(error.name)
                self.count(int(error.name.removeprefix(prefix)))
        return step()

    def add(self, number: int) -> None:
        """Task: the counts of a range, summed over all shards, with their totals."""
        from cepts.kernels.lexicon import add_at

        piece = self.shelf.get(f"ranges/{number:05}")
        counts = np.zeros((len(piece["targets"]), 1 if self.agreeing else 2), dtype=np.float32)
        bounds = piece["number_offsets"].tolist()
        for shard in range(self.indexed.text.shards):
            start, stop = self.shelf.get(f"index/{shard:05}")["range_starts"][number : number + 2].tolist()
            part = self.shelf.get(f"{self._named('counts')}/{shard:05}").part("counts", start, stop)
            add_at(piece.part("numbers", bounds[shard], bounds[shard + 1]), part, counts)
        lexicon = self.lexicon.of_range(number)
        lexicon.take(counts)
        arrays: dict[str, NDArray] = {"counts": counts, "target_totals": lexicon.target_totals}
        if isinstance(lexicon, BackOff):
            for direction in range(2):
                sample = lexicon.sample(direction, 1.0 / len(self.indexed.ranges))
                arrays |= {f"sample.{direction}.{part}": getattr(sample, part) for part in SAMPLE_PARTS}
        self.shelf.put(f"{self._named('sums')}/{number:05}", arrays)

    def learn(self) -> None:
        """What all ranges and shards contribute to: totals of target words, strengths, null, positions."""
        self._learn()
        self.shelf.put(self._named("learnt"), self.state())

    def _learn(self) -> None:
        lexicon = self.lexicon
        sums = [self.shelf.get(f"{self._named('sums')}/{each:05}") for each in range(len(self.indexed.ranges))]
        lexicon.target_totals = np.sum([piece["target_totals"] for piece in sums], axis=0)
        if isinstance(lexicon.shared, BackOff):
            lexicon.shared.target_totals = lexicon.target_totals
            samples = (
                [LeaveOneOut(*(piece[f"sample.{direction}.{part}"] for part in SAMPLE_PARTS)) for piece in sums]
                for direction in range(2)
            )
            lexicon.shared.learn(*samples)
        found = [self.shelf.get(f"{self._named('counts')}/{each:05}") for each in range(self.indexed.text.shards)]
        if not found:  # A text without any pair has no statistics.
            return
        free = (np.sum([piece[f"{side}_free"] for piece in found], axis=0) for side in SIDES)
        self.null.estimate(*free)
        names = [name for name in found[0] if name.startswith("statistics.")]
        self.positions.update([np.sum([piece[name] for piece in found], axis=0) for name in names])

    def enter(self, number: int) -> None:
        """Task: the lexicon of a range."""
        lexicon, learnt = self.lexicon.of_range(number), self.shelf.get(self._named("learnt"))
        counts = self.shelf.get(f"{self._named('sums')}/{number:05}")["counts"]
        lexicon.restore({**owned_by("lexicon", learnt), "counts": counts})
        if self.agreeing:
            # Links that one direction rejects have no counts at all, which cannot happen in exact EM.
            lexicon.settle()
        self.shelf.put(f"{self._named('tables')}/{number:05}", {"table": lexicon.table})

    # -- checkpoints -------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray]:
        """All parameters but the tables of the lexicon, which are on the shelf already."""
        shared = {f"lexicon.{name}": array for name, array in self.lexicon.shared.state().items() if name != "counts"}
        return {
            **shared,
            "lexicon.target_totals": self.lexicon.target_totals,
            "null.source": self.null.source,
            "null.target": self.null.target,
            "iteration": np.array([self.iteration]),
            **{f"positions.{name}": array for name, array in self.positions.state().items()},
        }

    def restore(self, state: dict[str, NDArray]) -> None:
        """Set the parameters of a checkpoint."""
        self.iteration = int(state["iteration"][0])
        self.lexicon.version = f"{self.stage}/tables-{self.iteration}"
        self.lexicon.target_totals = state["lexicon.target_totals"]
        if isinstance(self.lexicon.shared, BackOff):
            self.lexicon.shared.strengths[:] = state["lexicon.strengths"]
            self.lexicon.shared.estimates = int(state["lexicon.estimates"][0])
        self.null.source, self.null.target = state["null.source"], state["null.target"]
        self.positions.restore(owned_by("positions", state))

    def tidy(self) -> None:
        """Remove from the shelf what the iterations before the last one left."""
        for what in ("counts", "learnt"):
            # `iteration` counts those that are finished.
            self.shelf.drop(f"{self.stage}/{what}-{self.iteration}")
        if self._before is not None:
            self.shelf.drop(self._before)
            self.shelf.drop(self._before.replace("/tables-", "/sums-"))


def owned_by(owner: str, state: Mapping[str, NDArray]) -> dict[str, NDArray]:
    """The arrays whose names start with `owner` and a dot, without this prefix."""
    return {name.removeprefix(f"{owner}."): array for name, array in state.items() if name.startswith(f"{owner}.")}
