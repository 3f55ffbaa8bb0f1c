"""The training text of a word model on a shelf: shards of word numbers, two vocabularies, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cepts.data import Bitext, Text, Vocabulary, offsets_of
from cepts.engine import cut_blocks, piece_name
from cepts.errors import UsageError
from cepts.store import Shelf, checksum
from cepts.words.adjacent import AdjacentWords
from cepts.words.classes import word_classes
from cepts.words.index import Pairs

SIDES = ("source", "target")
NUMBERS = "text/numbers"  # the piece that says what became of the numbers of words
BLOCK = ("source_ids", "source_lengths", "target_ids", "target_lengths")
# A pair with more token pairs counts as if it had this many: it is probably too long to be aligned.
LARGEST_PAIR = 1_000_000
# A growing shard has at most one so many-th of the token pairs that came before it, and at most so many times those of
# the first shards. The larger shards are, the fewer files a large text has, and the fewer times a cell is added up.
SHARDS_BEFORE, LARGEST_GROWTH = 16, 4


@dataclass(frozen=True, slots=True, eq=False)
class TextFacts:
    """What position models need to know of a text before they are trained on it.

    Attributes
    ----------
    pairs
        Number of distinct pairs.
    longest
        Length of the longest sentence.
    source_lengths, target_lengths
        The distinct pairs of lengths that occur, in ascending order.
    words
        Number of source words and of target words in the vocabularies.
    classes
        Gives the word classes of the source and of the target: at most so many, found in at most so many passes.
    """

    pairs: int
    longest: int
    source_lengths: NDArray[np.int64]
    target_lengths: NDArray[np.int64]
    words: tuple[int, int]
    classes: Callable[[int, int], tuple[NDArray[np.int32], NDArray[np.int32]]]

    @classmethod
    def of(cls, pairs: Pairs) -> TextFacts:
        """The facts of a text in memory."""
        keys = shapes_of(pairs)
        words = int(pairs.source_ids.max(initial=-1)) + 1, int(pairs.target_ids.max(initial=-1)) + 1

        def classes(count: int, passes: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
            source = AdjacentWords.of(pairs.source_ids, pairs.source_offsets, words[0])
            target = AdjacentWords.of(pairs.target_ids, pairs.target_offsets, words[1])
            how: dict[str, Any] = {"classes": count, "passes": passes}
            return word_classes(source, **how), word_classes(target, **how)

        return cls(len(pairs), pairs.longest, keys >> 32, keys & 0xFFFFFFFF, words, classes)


def shapes_of(pairs: Pairs) -> NDArray[np.int64]:
    """The distinct pairs of lengths, I x 2^32 + J, in ascending order, without those of empty pairs."""
    keys = np.unique((pairs.source_lengths << 32) | pairs.target_lengths)
    return np.asarray(keys[(keys >> 32 > 0) & (keys & 0xFFFFFFFF > 0)])


class BlockOfPairs(Protocol):
    """Consecutive sentence pairs, such as those of `cepts.io.bitext_blocks`."""

    @property
    def source_ids(self) -> NDArray[np.int32]:
        """The words of all source sentences."""

    @property
    def source_lengths(self) -> NDArray[np.integer]:
        """The number of words of each source sentence."""

    @property
    def target_ids(self) -> NDArray[np.int32]:
        """The words of all target sentences."""

    @property
    def target_lengths(self) -> NDArray[np.integer]:
        """The number of words of each target sentence."""


class Sentences(Protocol):
    """All sentence pairs of a text, of which a writer takes the next ones."""

    def part(self, start: int, stop: int) -> Bitext:
        """Pairs `start` to `stop` (exclusive)."""


class ShelvedText:
    """A bitext on a shelf, cut into shards of whole sentence pairs, or some consecutive shards of it.

    `shards` is the number of all shards, `pairs` how many pairs each of them has, and `cells` the number of token pairs
    of all; `numbers` are the shards that belong to this part. `fingerprint` is a digest of all words of the text in
    order, `about` what `put` was told of it. `sentences` may be set to what reads the text again; it is asked for words
    to show if not all of them were kept.
    """

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self._head = shelf.get("text")
        self.shards: int = self._head.settings["shards"]
        self.pairs: list[int] = self._head.settings["pairs"]
        self.cells: int = self._head.settings["cells"]
        self.fingerprint: str = self._head.settings["fingerprint"]
        self.about: dict[str, Any] = self._head.settings["about"]
        self.numbers = range(self.shards)
        self.sentences: Sentences | None = None

    @classmethod
    def put(
        cls, shelf: Shelf, bitext: Bitext, cells_in_shard: int, *, growing: bool = False, **about: Any
    ) -> ShelvedText:
        """Put a bitext that is in memory on a shelf."""
        sides = bitext.source, bitext.target
        block = TextBlock(bitext.source.ids, bitext.source.lengths, bitext.target.ids, bitext.target.lengths)
        vocabularies = [side.vocabulary for side in sides]
        return cls.put_blocks(shelf, [block], lambda: vocabularies, cells_in_shard, growing=growing, **about)

    @classmethod
    def put_blocks(
        cls,
        shelf: Shelf,
        blocks: Iterable[BlockOfPairs],
        vocabularies: Callable[[], Sequence[Vocabulary]],
        cells_in_shard: int,
        *,
        growing: bool = False,
        numbers: Callable[[], Sequence[NDArray[np.int32] | None]] | None = None,
        **about: Any,
    ) -> ShelvedText:
        """Put a text on a shelf while it is read.

        Parameters
        ----------
        shelf
            The shelf.
        blocks
            The sentence pairs, block by block, as numbers of words.
        vocabularies
            Gives the two vocabularies when all blocks have been read.
        cells_in_shard
            How many token pairs a shard has.
        growing
            Whether later shards of a large text have more.
        numbers
            Gives, when all blocks have been read, the number in its vocabulary of each number in the blocks, for each
            side; None where these are the same.
        about
            What else should be kept with the text.
        """
        shelf.drop("text")
        sizes, cells = [], 0
        sums: list[int] = []
        for number, shard in enumerate(_shards(blocks, cells_in_shard, growing)):
            arrays = {name: getattr(shard, name) for name in BLOCK}
            arrays |= {name: arrays[name].astype(np.int32) for name in ("source_lengths", "target_lengths")}
            shelf.put_away(shard_name(number), arrays)
            sums += map(checksum, arrays.values())
            sizes.append(len(shard.source_lengths))
            cells += int((shard.source_lengths.astype(np.int64) * shard.target_lengths).sum())
        words: dict[str, NDArray] = {}
        for name, vocabulary in zip(SIDES, vocabularies(), strict=True):
            words |= {f"{name}_buffer": vocabulary.buffer, f"{name}_offsets": vocabulary.offsets}
        maps = dict(zip(SIDES, (None, None) if numbers is None else numbers(), strict=True))
        kept = {name: found for name, found in maps.items() if found is not None}
        if kept:
            shelf.put(NUMBERS, kept)
        sums += map(checksum, [*words.values(), *kept.values()])
        fingerprint = f"{checksum(np.array(sums, dtype=np.uint64)):016x}"
        facts = {"shards": len(sizes), "pairs": sizes, "cells": cells, "fingerprint": fingerprint}
        facts["numbers"] = {name: len(found) for name, found in kept.items()}
        shelf.flush("text")
        shelf.commit("text", words, **facts, about=about)
        return cls(shelf)

    @property
    def words(self) -> int:
        """Number of words in both vocabularies."""
        return sum(len(self._head[f"{side}_offsets"]) - 1 for side in SIDES)

    @property
    def word_numbers(self) -> int:
        """How many numbers its words had while it was read, on the sides that did not keep all their words."""
        return sum(self._head.settings["numbers"].values())

    @property
    def has_all_words(self) -> bool:
        """Whether all words of the text were kept; if not, symbols stand for the others."""
        return not self._head.settings["numbers"]

    def only(self, numbers: range) -> ShelvedText:
        """Some consecutive shards of the text."""
        part = ShelvedText(self.shelf)
        part.numbers, part.sentences = numbers, self.sentences
        return part

    def __len__(self) -> int:
        return sum(self.pairs[number] for number in self.numbers)

    def part(self, start: int, stop: int) -> Bitext:
        """Pairs `start` to `stop` (exclusive), which must lie in one shard, with all their words."""
        if not self.has_all_words:
            before = sum(self.pairs[: self.numbers.start])
            return self._sentences().part(before + start, before + stop)
        for number in self.numbers:
            if start < self.pairs[number]:
                return self.shard(number).part(start, stop)
            start, stop = start - self.pairs[number], stop - self.pairs[number]
        return self.shard(self.numbers[-1]).part(0, 0)

    def check_words(self) -> None:
        """Raise an error if words cannot be shown, because they were not kept and the text cannot be read again."""
        if not self.has_all_words:
            self._sentences()

    def _sentences(self) -> Sentences:
        if self.sentences is None:
            raise UsageError(
                "the text has more words than are kept (`max_vocabulary`), and it cannot be read again to show them; "
                "put it into files, or write the links in a format without words, such as pharaoh."
            )
        return self.sentences

    @cached_property
    def _numbers(self) -> dict[str, NDArray[np.int32]]:
        """The vocabulary's number of each number in the shards, for sides that did not keep all their words."""
        return {} if self.has_all_words else dict(self.shelf.get(NUMBERS))

    @cached_property
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """The source and the target vocabulary."""
        head = self._head
        source, target = (Vocabulary(head[f"{side}_buffer"], head[f"{side}_offsets"]) for side in SIDES)
        return source, target

    def shard(self, number: int) -> Bitext:
        """The sentence pairs of a shard; symbols stand for words that were not kept."""
        piece, maps = self.shelf.get(shard_name(number)), self._numbers
        source, target = (
            Text(
                maps[side][piece[f"{side}_ids"]] if side in maps else piece[f"{side}_ids"],
                offsets_of(piece[f"{side}_lengths"]),
                vocabulary,
            )
            for side, vocabulary in zip(SIDES, self.vocabularies, strict=True)
        )
        return Bitext(source, target)

    def __iter__(self) -> Iterator[Bitext]:
        return map(self.shard, self.numbers)


@dataclass(frozen=True, slots=True, eq=False)
class TextBlock:
    """Consecutive sentence pairs: the numbers of all words, and the number of words of each sentence."""

    source_ids: NDArray[np.int32]
    source_lengths: NDArray[np.integer]
    target_ids: NDArray[np.int32]
    target_lengths: NDArray[np.integer]


def _shards(blocks: Iterable[BlockOfPairs], cells_in_shard: int, growing: bool) -> Iterator[BlockOfPairs]:
    """Cut a text, as `cut_runs` would cut the whole of it."""

    def size(cells_before: int) -> int:
        most = LARGEST_GROWTH * cells_in_shard
        return min(max(cells_before // SHARDS_BEFORE, cells_in_shard), most) if growing else cells_in_shard

    def cells_of(block: BlockOfPairs) -> NDArray[np.int64]:
        return np.minimum(block.source_lengths.astype(np.int64) * block.target_lengths, LARGEST_PAIR)

    return cut_blocks(blocks, cells_of, _part, _joined, size)


def _part(block: BlockOfPairs, start: int, stop: int) -> BlockOfPairs:
    """Pairs `start` to `stop` (exclusive)."""
    source, target = (
        slice(int(lengths[:start].sum()), int(lengths[:stop].sum()))
        for lengths in (block.source_lengths, block.target_lengths)
    )
    return TextBlock(
        block.source_ids[source],
        block.source_lengths[start:stop],
        block.target_ids[target],
        block.target_lengths[start:stop],
    )


def _joined(blocks: Sequence[BlockOfPairs]) -> BlockOfPairs:
    if len(blocks) == 1:
        return blocks[0]
    return TextBlock(*(np.concatenate([getattr(block, name) for block in blocks]) for name in BLOCK))


def shard_name(number: int) -> str:
    """The name of a shard of the text."""
    return piece_name("text", number)
