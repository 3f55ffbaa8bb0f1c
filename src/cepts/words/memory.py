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
# Bytes for each token pair of a block and of a shard, and for each cell of a range, in each thread.
OF_BLOCK, OF_SHARD, OF_RANGE = 32, 12, 40
# Bytes in files for each token pair of the text.
ON_DISK = 12
SMALLEST, LARGEST_SHARD, LARGEST_RANGE = 1 << 17, 1 << 25, 1 << 23


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

    def for_words(self, words: int) -> MemoryPlan:
        """The plan for a text with so many words in both vocabularies, which is refused if it does not fit."""
        if self.estimate(words) > self.budget:
            threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
            raise UsageError(
                f"`memory` must be at least {_said(self._least(words))} for this text, whose two vocabularies have "
                f"{words:,} words, with {threads}. Got {_said(self.budget)} instead. Give more memory"
                f"{'' if self.threads == 1 else ', or use fewer threads'}."
            )
        plan = self
        while plan.sizes.range < LARGEST_RANGE:
            larger = replace(plan, sizes=replace(plan.sizes, range=2 * plan.sizes.range))
            if larger.estimate(words) > self.budget:
                break
            plan = larger
        return plan

    def _least(self, words: int) -> int:
        """The lowest budget with which the text fits, in whole MiB."""
        least = self.budget
        while (needed := MemoryPlan.within(least, self.threads).estimate(words)) > least:
            least = -(-needed // MIB) * MIB
        return least

    def estimate(self, words: int) -> int:
        """How many bytes training needs at most, with so many words in both vocabularies."""
        of_thread = _bytes_of_shard(self.sizes.shard) + OF_RANGE * self.sizes.range
        return PROGRAM + OF_WORD * words + self.shelf + min(TABLES_IN_MEMORY, self.budget) + self.threads * of_thread

    def said(self, words: int, cells: int) -> str:
        """The estimate in words, for a text with so many token pairs."""
        return (
            f"memory   at most {_said(self.estimate(words))} of {_said(self.budget)}, and about "
            f"{_said(ON_DISK * cells)} in files"
        )


def _bytes_of_shard(shard: int) -> int:
    return OF_BLOCK * min(shard, CELLS_IN_BLOCK) + OF_SHARD * shard


def _said(size: int) -> str:
    return f"{size / MIB:,.0f}M" if size < 10240 * MIB else f"{size / MIB / 1024:,.1f}G"
