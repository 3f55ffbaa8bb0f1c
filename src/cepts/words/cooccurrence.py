"""Association of words by co-occurrence statistics, without an alignment model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association, Bitext, Vocabulary
from cepts.engine import default_threads
from cepts.errors import check_choice, check_least
from cepts.estimator import Estimator
from cepts.names import STATISTICS
from cepts.words.forms import Forms
from cepts.words.index import IndexShard, Pairs, form_pairs, in_word_order, index_shard, merge_cells


@dataclass(kw_only=True, eq=False, repr=False)
class Cooccurrence(Estimator):
    """Association of words by the number of sentence pairs of a bitext in which they occur together.

    A sentence pair counts once for two words, however often they occur in it. If a of N sentence pairs have both words,
    s have the source word and t have the target word, the statistics are

    - ``counts``: a
    - ``dice``: 2a / (s + t)
    - ``pmi``: ln(aN / st), the pointwise mutual information
    - ``llr``: the log-likelihood ratio of Dunning (1993), twice the sum of k ln(kN / (row sum x column sum)) over the
      four cells k of the contingency table

    Words that occur together no more often than by chance have a ``pmi`` and ``llr`` of 0, and words that never occur
    together have 0 in all statistics. There are no null masses.

    Parameters
    ----------
    lowercase, prefix
        The forms under which words are counted, as for `Aligner`.
    max_length
        Pairs with a longer sentence on either side are not counted, and have an empty matrix.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.
    """

    lowercase: bool = True
    prefix: int | None = None
    max_length: int = 1000
    threads: int | None = None

    def __post_init__(self) -> None:
        check_least(self, 1, "prefix", "max_length", "threads")
        self._forms = Forms(self.lowercase, self.prefix)

    def fit(self, bitext: Bitext) -> Self:
        """Count the words of `bitext`."""
        self.source_, self.target_, pairs = form_pairs(bitext, self._forms, self.max_length)
        ranks = np.arange(len(self.source_), dtype=np.int32)
        threads = default_threads() if self.threads is None else self.threads
        self._count([index_shard(pairs, ranks, len(self.target_), threads=threads)], ranks)
        return self

    @classmethod
    def of_shards(
        cls, source: Vocabulary, target: Vocabulary, shards: Sequence[IndexShard], ranks: NDArray[np.int32]
    ) -> Cooccurrence:
        """The statistics of a text that is already indexed, over the words of two vocabularies."""
        found = cls()
        found.source_, found.target_ = source, target
        found._count(shards, ranks)
        return found

    def association(self, bitext: Bitext, statistic: str) -> Association:
        """The matrices of all pairs of `bitext`; a pair that is too long or empty on one side has a 0 x 0 matrix.

        Parameters
        ----------
        bitext
            The sentence pairs.
        statistic
            ``counts``, ``dice``, ``pmi`` or ``llr``.
        """
        source_forms, target_forms, pairs = form_pairs(bitext, self._forms, self.max_length)
        source, target = self.source_.numbers(source_forms.words), self.target_.numbers(target_forms.words)
        return self.of_words(source[pairs.source_ids], target[pairs.target_ids], pairs, statistic)

    def of_words(
        self, source_words: NDArray[np.int32], target_words: NDArray[np.int32], pairs: Pairs, statistic: str
    ) -> Association:
        """The matrices of `pairs`, with the tokens given as numbers of words, -1 for unknown words."""
        from cepts.kernels.cooccurrence import look_up_statistic

        check_choice("statistic", statistic, STATISTICS)
        self.check_fitted()
        values = np.empty(int(pairs.cell_offsets[-1]), dtype=np.float32)
        look_up_statistic(
            pairs.tokens(source_words, target_words),
            self.rows_,
            self.targets_,
            self.together_,
            self.source_counts_,
            self.target_counts_,
            self.pairs_,
            STATISTICS.index(statistic),  # its number in the kernel
            values,
        )
        return Association(pairs.source_lengths, pairs.target_lengths, pairs.cell_offsets, values)

    def _count(self, shards: Sequence[IndexShard], ranks: NDArray[np.int32]) -> None:
        """Set the counts from the shards of a text, which have each distinct pair once, with how often it occurs."""
        from cepts.kernels.cooccurrence import add_pairs_with
        from cepts.kernels.index import sort_rows

        parts = [(shard.rows(len(ranks)), shard.targets) for shard in shards]
        nothing = np.zeros(len(ranks) + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
        rows, targets, numbers = merge_cells(parts or [nothing], len(ranks), len(self.target_))
        together = np.zeros(len(targets), dtype=np.int32)
        source, target = np.zeros(len(self.source_)), np.zeros(len(self.target_))
        pairs = 0.0
        for shard, own in zip(shards, numbers, strict=False):
            for block in shard.blocks:
                counts = np.zeros(len(block.cell_numbers), dtype=np.int32)
                add_pairs_with(block.cells, block.pairs.cell_offsets, block.times, _unseen(counts), counts)
                together[own[block.cell_numbers]] += counts
                for ids, offsets, counted in (
                    (block.pairs.source_ids, block.pairs.source_offsets, source),
                    (block.pairs.target_ids, block.pairs.target_offsets, target),
                ):
                    add_pairs_with(ids, offsets, block.times, _unseen(counted), counted)
                pairs += float(block.times[np.diff(block.pairs.cell_offsets) > 0].sum(dtype=np.float64))
        self.pairs_ = pairs
        self.source_counts_, self.target_counts_ = source, target
        in_words, self.rows_ = in_word_order(rows, ranks)
        targets, together = targets[in_words], together[in_words]
        order = np.empty(len(targets), dtype=np.int64)
        sort_rows(self.rows_, targets, order)
        self.targets_, self.together_ = targets[order], together[order]


def _unseen(counts: NDArray) -> NDArray[np.int64]:
    return np.full(len(counts), -1, dtype=np.int64)
