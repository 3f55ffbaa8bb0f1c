"""How much memory training needs, and how a text and its lexicon are cut so that it fits.

The figures are upper bounds of what was measured (`benchmarks/scale.py`): what grows with the vocabulary, with the
parts on which each thread works, and what may be kept in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cepts.data import WordBound
from cepts.errors import UsageError
from cepts.words.index import CELLS_IN_BLOCK, Sizes
from cepts.words.lexicon_table import TABLES_IN_MEMORY
from cepts.words.rare import LEAST_HELD, WORDS_HELD
from cepts.words.text import ShelvedText

MIB = 1 << 20
# The program itself with its kernels, and buffers of reading.
PROGRAM = 200 * MIB
# Bytes for each word of either vocabulary, while words are numbered, and for each number that words had while they were
# read, if not all of them were kept.
OF_WORD, OF_NUMBER = 400, 8
# Bytes in each thread for each token pair of a block and of a shard, and for each cell of a range: in the lexicon, and
# in every shard that has it.
OF_BLOCK, OF_SHARD, OF_CELL, OF_CELL_IN_SHARD = 32, 12, 30, 40
# Pairs of adjacent words, while word classes are found and while a model is saved; no shard is in memory then.
NEIGHBOURS = 128 * MIB
# Bytes in files for each token pair of the text.
ON_DISK = 15
# Token pairs x have about FACTOR x^POWER cells, in a shard and in a whole text.
CELLS_OF_SHARD, CELLS_OF_TEXT = (6.0, 0.81), (13.0, 0.76)
SMALLEST, LARGEST_SHARD, LARGEST_RANGE = 1 << 14, 1 << 25, 1 << 23


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSize:
    """What the memory for a text depends on.

    Attributes
    ----------
    words
        How many words of both vocabularies are held at once.
    cells
        Number of token pairs.
    numbers
        How many numbers words had while the text was read, if not all words were kept.
    """

    words: int
    cells: int
    numbers: int = 0

    @classmethod
    def of(cls, text: ShelvedText, bound: WordBound | None) -> TextSize:
        """The size of a text that was read with this bound."""
        words = text.words
        if bound is not None and not text.has_all_words:
            # Reading held so many, even if fewer are left.
            words = max(words, 2 * bound.most)
        return cls(words=words, cells=text.cells, numbers=text.word_numbers)


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """How to train within a budget.

    Attributes
    ----------
    sizes
        How the text and its lexicon are cut.
    shelf
        How many bytes of the pieces of training are kept in memory.
    threads
        Number of threads.
    budget
        The bytes that training may use.
    """

    sizes: Sizes
    shelf: int
    threads: int
    budget: int

    @classmethod
    def within(cls, budget: int, threads: int) -> MemoryPlan:
        """A plan for a text that is not known yet: how it is cut into shards while it is read."""
        share = budget // 5
        shard = LARGEST_SHARD
        while shard > SMALLEST and threads * _bytes_of_shard(shard) > share:
            shard //= 2
        sizes = Sizes(block=min(shard, CELLS_IN_BLOCK), shard=shard, range=SMALLEST, largest_range=SMALLEST)
        return cls(sizes, min(budget // 16, 1024 * MIB), threads, budget)

    def for_text(self, size: TextSize) -> MemoryPlan:
        """The plan for a text of this size, which is refused if it does not fit."""
        if self.estimate(size) > self.budget:
            threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
            advice = ["Give more memory"]
            if self.threads > 1:
                advice.append("use fewer threads")
            if (most := self._most_words(size)) is not None:
                advice.append(f"keep fewer words (`max_vocabulary` {most:,} or less)")
            raise UsageError(
                f"`memory` must be at least {_said(self._least(size))} for this text, whose two vocabularies "
                f"have {size.words:,} words, with {threads}. Got {_said(self.budget)} instead. {', or '.join(advice)}."
            )
        plan = self
        while plan.sizes.range < LARGEST_RANGE:
            larger = replace(plan, sizes=_with_range(plan.sizes, 2 * plan.sizes.range))
            if larger.estimate(size) > self.budget:
                break
            plan = larger
        return plan

    def _least(self, size: TextSize) -> int:
        """The lowest budget with which the text fits, in whole MiB."""
        least = self.budget
        while (needed := MemoryPlan.within(least, self.threads).estimate(size)) > least:
            least = -(-needed // MIB) * MIB
        return least

    def _most_words(self, size: TextSize) -> int | None:
        """How many words of each side may be kept so that the text fits; None if that does not help."""
        room = (self.budget - self.estimate(replace(size, words=0))) // (2 * OF_WORD)
        return room // WORDS_HELD if room >= LEAST_HELD else None

    def estimate(self, size: TextSize) -> int:
        """How many bytes training needs at most."""
        of_cell = OF_CELL + OF_CELL_IN_SHARD * self._shards_of_cell(size.cells)
        of_thread = _bytes_of_shard(self.sizes.shard) + int(of_cell * self.sizes.range)
        of_words = OF_WORD * size.words + OF_NUMBER * size.numbers
        of_work = max(self.threads * of_thread, NEIGHBOURS)
        return PROGRAM + of_words + self.shelf + min(TABLES_IN_MEMORY, self.budget) + of_work

    def _shards_of_cell(self, cells: int) -> float:
        """In about how many shards a pair of words occurs that occurs at all."""
        shards = max(cells / self.sizes.shard, 1.0)
        in_shards = shards * _power(CELLS_OF_SHARD, cells / shards)
        return max(in_shards / max(_power(CELLS_OF_TEXT, cells), 1.0), 1.0)

    def said(self, size: TextSize) -> str:
        """The estimate in words."""
        return (
            f"memory   at most {_said(self.estimate(size))} of {_said(self.budget)}, and about "
            f"{_said(ON_DISK * size.cells)} in files"
        )


def _with_range(sizes: Sizes, cells: int) -> Sizes:
    """Ranges that do not grow with the lexicon."""
    return replace(sizes, range=cells, largest_range=cells)


def _power(law: tuple[float, float], token_pairs: float) -> float:
    factor, power = law
    return min(factor * token_pairs**power, token_pairs)


def _bytes_of_shard(shard: int) -> int:
    return OF_BLOCK * min(shard, CELLS_IN_BLOCK) + OF_SHARD * shard


def _said(size: int) -> str:
    return f"{size / MIB:,.0f}M" if size < 10240 * MIB else f"{size / MIB / 1024:,.1f}G"
