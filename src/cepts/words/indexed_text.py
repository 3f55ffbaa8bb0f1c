"""A text on a shelf with its words, its index and the cells of its lexicon, made by tasks on shards and ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vocabulary, offsets_of
from cepts.engine import default_threads, map_shards, piece_name
from cepts.store import Piece
from cepts.words.adjacent import AdjacentSum, AdjacentWords
from cepts.words.classes import word_classes
from cepts.words.cohesion import Cohesion
from cepts.words.forms import number as number_words
from cepts.words.index import IndexShard, Sizes, index_shard, kept_pairs, merge_cells, rows_between
from cepts.words.levels import Words, build_levels, words_by_level
from cepts.words.lexicon import Side
from cepts.words.positions import Positions
from cepts.words.prior import ShelvedPrior
from cepts.words.ranges import Ranges, cut_ranges, level_arrays
from cepts.words.rare import share_symbols
from cepts.words.text import SIDES, ShelvedText, TextFacts, shapes_of

if TYPE_CHECKING:
    from cepts.words.aligner import Aligner

# About how many tokens of a side are enough to find word classes, and to learn which words belong together. All pairs
# of adjacent words of a large text would not fit into memory.
TOKENS_FOR_CLASSES, TOKENS_FOR_COHESION = 1 << 21, 1 << 23
INDEXED = "indexed"  # the piece that says that indexing has ended


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
        self._range_starts: dict[int, NDArray[np.int64]] = {}

    @cached_property
    def prior(self) -> ShelvedPrior | None:
        """What was learnt before, if anything."""
        return ShelvedPrior(self.shelf) if self.shelf.has("prior") else None

    # -- words -------------------------------------------------------------------------------------------------------

    def number_words(self) -> None:
        """Number the forms that occur in pairs that can be aligned, and cut them into ranges."""
        arrays: dict[str, NDArray] = {}
        sides = []
        frequencies = [np.zeros(len(vocabulary), dtype=np.int64) for vocabulary in self.text.vocabularies]
        cells = 0
        for source, target, own in map_shards(self._frequencies, range(self.text.shards), threads=self.threads):
            frequencies[0] += source
            frequencies[1] += target
            cells += own
        for name, vocabulary, found in zip(SIDES, self.text.vocabularies, frequencies, strict=True):
            forms, places, counted = self._forms(name, vocabulary, found)
            used = counted > 0
            # Words of unaligned pairs alone are left out.
            numbers = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
            side = Side(forms if used.all() else forms.take(np.flatnonzero(used)), counted[used])
            if self.prior is not None:
                side, maps = self.prior.extended(name, side)
                arrays |= maps
            sides.append(side)
            arrays |= {
                f"{name}.numbers": numbers[places] if len(places) else np.empty(0, dtype=np.int32),
                f"{name}.buffer": side.vocabulary.buffer,
                f"{name}.offsets": side.vocabulary.offsets,
                f"{name}.frequencies": side.frequencies,
            }
        stems = self.aligner.stems if self.aligner.lexicon == "backoff" else ()
        opposite = cells / max(int(frequencies[0].sum()), 1)
        ranges = cut_ranges(sides[0], sides[1], stems[-1] if stems else None, self.sizes, opposite)
        if self.prior is not None:
            self.prior.cut(arrays, ranges.ranks, ranges.bounds)
        self.shelf.put("words", {**arrays, "ranks": ranges.ranks, "bounds": ranges.bounds})

    def _forms(
        self, side: str, vocabulary: Vocabulary, frequencies: NDArray[np.int64]
    ) -> tuple[Vocabulary, NDArray[np.int32], NDArray[np.int64]]:
        """The forms of words or, of rare ones, their symbols; the form of each word, and how often each form occurs."""
        aligner = self.aligner
        forms, places = number_words(aligner.forms_.of(vocabulary.decoded()))
        counted = np.bincount(places, frequencies, len(forms)).astype(np.int64)
        if not aligner.shares_symbols:
            return forms, places, counted
        how: dict[str, Any] = {"min_count": aligner.min_count, "max_vocabulary": aligner.max_vocabulary}
        symbols = share_symbols(forms.words, counted, tuple(aligner.stems), **how)
        if self.prior is not None:
            # A word that was frequent enough in an earlier text stays a word.
            known = self.prior.words(side)
            symbols = [form if form in known else symbol for form, symbol in zip(forms.words, symbols, strict=True)]
        names, shared = number_words(symbols)
        return names, shared[places], np.bincount(shared, counted, len(names)).astype(np.int64)

    def _frequencies(self, shard: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """How often each word occurs in the pairs of a shard that can be aligned, and their number of token pairs."""
        pairs = kept_pairs(self.text.shard(shard), self.aligner.max_length)
        source, target = (
            np.bincount(ids, minlength=len(vocabulary))
            for ids, vocabulary in zip((pairs.source_ids, pairs.target_ids), self.text.vocabularies, strict=True)
        )
        return source, target, int(pairs.cell_offsets[-1])

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
        range_starts = shard.starts[np.searchsorted(shard.ranks, self.ranges.bounds)]
        self.shelf.put_away(
            piece_name("index", number),
            {**shard.arrays(), "range_starts": range_starts, "shapes": shapes_of(shard.pairs)},
            blocks=len(shard.bounds) - 1,
            pairs=len(shard.pairs),
            longest=shard.pairs.longest,
        )

    def shard(self, number: int) -> IndexShard:
        """The index of a shard."""
        return IndexShard.of(self.shelf.get(piece_name("index", number)))

    def range_starts(self, shard: int) -> NDArray[np.int64]:
        """Where the cells of each range start in a shard, and where those of the last one end."""
        if shard not in self._range_starts:
            # Every task on a range asks for all of them, and they are small.
            self._range_starts[shard] = self.shelf.get(piece_name("index", shard))["range_starts"].copy()
        return self._range_starts[shard]

    def merge(self, number: int) -> None:
        """Task: number the cells of a range over all shards."""
        first, last = self.ranges.bounds[number : number + 2].tolist()
        parts, words = [], len(self.sides[1])
        for shard in range(self.text.shards):
            piece = self.shelf.get(piece_name("index", shard))
            start, stop = self.range_starts(shard)[number : number + 2].tolist()
            rows = rows_between(piece["ranks"], piece["starts"], first, last)
            # A copy, so that the files of all shards need not be in memory at once.
            parts.append((rows, piece.part("targets", start, stop).copy()))
        earlier = None
        if self.prior is not None:
            columns = 1 if self.aligner.agreement else 2
            rows, targets, earlier = self.prior.cells(number, self.ranges.bounds, columns)
            parts.append((rows, targets))
        if not parts:
            parts.append((np.zeros(last - first + 1, dtype=np.int64), np.empty(0, dtype=np.int32)))
        rows, targets, numbers = merge_cells(parts, last - first, words)
        arrays: dict[str, NDArray] = {
            "rows": rows,
            "targets": targets,
            "numbers": np.concatenate(numbers),
            "number_offsets": offsets_of([len(part) for part in numbers]),
        }
        if earlier is not None:
            arrays["prior"] = earlier
        if self.aligner.lexicon == "backoff":
            side = self.source_of(number)
            stems = tuple(self.aligner.stems)
            total = int(self.sides[0].frequencies.sum())
            source = words_by_level(side.vocabulary.words, side.frequencies, stems, total=total)
            arrays |= level_arrays(build_levels(rows, targets, source, self.target_levels))
        elif self.aligner.lexicon == "bayes":
            arrays["target_sizes"] = np.bincount(targets, minlength=words)
        self.shelf.put_away(piece_name("ranges", number), arrays)

    def source_of(self, number: int) -> Side:
        """The source words of a range."""
        side = self.sides[0]
        if len(self.ranges) == 1:
            return side
        words = self.ranges.words_of(number)
        return Side(side.vocabulary.take(words), side.frequencies[words])

    @cached_property
    def target_levels(self) -> list[Words]:
        """Target words and their stems, for a lexicon that backs off, without their names."""
        side = self.sides[1]
        levels = words_by_level(side.vocabulary.decoded(), side.frequencies, tuple(self.aligner.stems))
        return [replace(words, names=()) for words in levels]

    @cached_property
    def facts(self) -> TextFacts:
        """What position models need to know of the text."""
        pieces = [self.shelf.get(piece_name("index", shard)) for shard in range(self.text.shards)]
        keys = np.unique(np.concatenate([np.empty(0, np.int64), *(piece["shapes"] for piece in pieces)]))
        facts = TextFacts(
            sum(piece.settings["pairs"] for piece in pieces),
            max((piece.settings["longest"] for piece in pieces), default=0),
            keys >> 32,
            keys & 0xFFFFFFFF,
            (len(self.sides[0]), len(self.sides[1])),
            self.classes,
        )
        return facts if self.prior is None else self.prior.facts(facts)

    def give_prior(self, positions: Positions) -> None:
        """Give a position model, which is prepared for this text, what was learnt before."""
        if self.prior is not None:
            self.prior.give(positions, self._words)

    def earlier_free(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """How often null explained each word of the earlier texts."""
        if self.prior is None:
            return None
        source, target = self.prior.free(self._words, self.facts.words)
        return source, target

    def classes(self, count: int, passes: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Word classes of the source and of the target, which are found once and kept on the shelf."""
        name = f"classes-{count}"
        if not self.shelf.has(name):
            both = self.adjacent(self._shards_with(TOKENS_FOR_CLASSES))

            def find(place: int) -> NDArray[np.int32]:
                known = None if self.prior is None else self.prior.classes(self._words, place, both[place].words)
                return word_classes(both[place], classes=count, passes=passes, known=known)

            self.shelf.put(name, dict(zip(SIDES, map_shards(find, range(2), threads=self.threads), strict=True)))
        piece = self.shelf.get(name)
        return piece["source"], piece["target"]

    def _shards_with(self, tokens: int) -> Sequence[int]:
        """Shards from all over the text that have about so many tokens a side, or all of them."""
        shards = self.text.shards
        there = max(int(side.frequencies.sum()) for side in self.sides)
        wanted = min(shards, max(1, shards * tokens // max(there, 1)))
        return [shards * number // wanted for number in range(wanted)]

    def adjacent(self, shards: Sequence[int], *, repeated: bool = False) -> tuple[AdjacentWords, AdjacentWords]:
        """Adjacent words of the distinct pairs of each of these shards, or of all their pairs if `repeated`."""
        words = self.facts.words
        source, target = AdjacentSum(words[0]), AdjacentSum(words[1])

        def count(shard: int) -> tuple[AdjacentWords, AdjacentWords]:
            part = self.shard(shard)
            pairs, times = part.pairs, part.times.astype(np.int64) if repeated else None
            return (
                AdjacentWords.of(pairs.source_ids, pairs.source_offsets, words[0], times),
                AdjacentWords.of(pairs.target_ids, pairs.target_offsets, words[1], times),
            )

        for own, other in map_shards(count, shards, threads=self.threads):
            source.add(own)
            target.add(other)
        return source.total(), target.total()

    def cohesion(self) -> tuple[Cohesion, Cohesion]:
        """How closely words belong to their neighbours, in the whole text or, of a large one, in a part of it."""
        shards = self._shards_with(TOKENS_FOR_COHESION)
        found = []
        for place, part in enumerate(self.adjacent(shards, repeated=True)):
            earlier = [] if self.prior is None else self.prior.adjacent(self._words, place, part.words)
            counts = self.sides[place].frequencies
            if len(shards) < self.text.shards:
                part = part.scaled(counts.sum() - sum(each.counts.sum() for each in earlier))
            found.append(Cohesion.of(AdjacentWords.joined([part, *earlier], counts)))
        return found[0], found[1]

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

    def not_indexed(self, there: Callable[[str], bool] | None = None) -> list[int]:
        """The shards that are not indexed yet; `there` says if a piece is there."""
        there = there or self.shelf.has
        return [each for each in range(self.text.shards) if not there(piece_name("index", each))]

    def not_merged(self, there: Callable[[str], bool] | None = None) -> list[int]:
        """The ranges whose cells are not numbered yet."""
        there = there or self.shelf.has
        return [each for each in range(len(self.ranges)) if not there(piece_name("ranges", each))]

    def end(self) -> None:
        """Say that the first iteration may begin: who merges the last range cannot know that it is the last."""
        if not self.shelf.has(INDEXED):
            self.shelf.flush("words", "index", "ranges")
            self.shelf.commit(INDEXED, {})

    def is_ready(self) -> bool:
        """Whether the first iteration may begin, if nothing is damaged."""
        return self.shelf.holds(INDEXED) and self.shelf.holds("words") and not self.not_merged(self.shelf.holds)
