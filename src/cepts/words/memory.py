"""How much memory training needs, and how a text and its lexicon are cut so that it fits.

The figures are upper bounds of what was measured (`benchmarks/scale.py`): what grows with the vocabulary, with the
parts on which each thread works, and what may be kept in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cepts.errors import UsageError
from cepts.words.index import CELLS_IN_BLOCK, Sizes
from cepts.words.lexicon_table import TABLES_IN_MEMORY

MIB = 1 << 20
# The program itself with its kernels, and buffers of reading.
PROGRAM = 200 * MIB
# Bytes for each word of either vocabulary, while words are numbered.
OF_WORD = 400
# Bytes in each thread for each token pair of a block and of a shard, and for each cell of a range: in the lexicon, and
# in every shard that has it.
OF_BLOCK, OF_SHARD, OF_CELL, OF_CELL_IN_SHARD = 32, 12, 30, 40
# Bytes in files for each token pair of the text.
ON_DISK = 15
# Token pairs x have about FACTOR x^POWER cells, in a shard and in a whole text.
CELLS_OF_SHARD, CELLS_OF_TEXT = (6.0, 0.81), (13.0, 0.76)
SMALLEST, LARGEST_SHARD, LARGEST_RANGE = 1 << 14, 1 << 25, 1 << 23


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
        sizes = Sizes(block=min(shard, CELLS_IN_BLOCK), shard=shard, range=SMALLEST)
        return cls(sizes, min(budget // 16, 1024 * MIB), threads, budget)

    def for_text(self, words: int, cells: int) -> MemoryPlan:
        """The plan for a text with so many words in both vocabularies and so many token pairs.

        It is refused if it does not fit.
        """
        if self.estimate(words, cells) > self.budget:
            threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
            raise UsageError(
                f"`memory` must be at least {_said(self._least(words, cells))} for this text, whose two vocabularies "
                f"have {words:,} words, with {threads}. Got {_said(self.budget)} instead. Give more memory"
                f"{'' if self.threads == 1 else ', or use fewer threads'}."
            )
        plan = self
        while plan.sizes.range < LARGEST_RANGE:
            larger = replace(plan, sizes=replace(plan.sizes, range=2 * plan.sizes.range))
            if larger.estimate(words, cells) > self.budget:
                break
            plan = larger
        return plan

    def _least(self, words: int, cells: int) -> int:
        """The lowest budget with which the text fits, in whole MiB."""
        least = self.budget
        while (needed := MemoryPlan.within(least, self.threads).estimate(words, cells)) > least:
            least = -(-needed // MIB) * MIB
        return least

    def estimate(self, words: int, cells: int) -> int:
        """How many bytes training needs at most, with so many words and token pairs."""
        of_cell = OF_CELL + OF_CELL_IN_SHARD * self._shards_of_cell(cells)
        of_thread = _bytes_of_shard(self.sizes.shard) + int(of_cell * self.sizes.range)
        return PROGRAM + OF_WORD * words + self.shelf + min(TABLES_IN_MEMORY, self.budget) + self.threads * of_thread

    def _shards_of_cell(self, cells: int) -> float:
        """In about how many shards a pair of words occurs that occurs at all."""
        shards = max(cells / self.sizes.shard, 1.0)
        in_shards = shards * _power(CELLS_OF_SHARD, cells / shards)
        return max(in_shards / max(_power(CELLS_OF_TEXT, cells), 1.0), 1.0)

    def said(self, words: int, cells: int) -> str:
        """The estimate in words."""
        return (
            f"memory   at most {_said(self.estimate(words, cells))} of {_said(self.budget)}, and about "
            f"{_said(ON_DISK * cells)} in files"
        )


def _power(law: tuple[float, float], token_pairs: float) -> float:
    factor, power = law
    return min(factor * token_pairs**power, token_pairs)


def _bytes_of_shard(shard: int) -> int:
    return OF_BLOCK * min(shard, CELLS_IN_BLOCK) + OF_SHARD * shard


def _said(size: int) -> str:
    return f"{size / MIB:,.0f}M" if size < 10240 * MIB else f"{size / MIB / 1024:,.1f}G"
