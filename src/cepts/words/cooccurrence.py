"""Association of words by corpus statistics alone: no model, no alignment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association, Bitext
from cepts.engine import default_threads, map_shards
from cepts.errors import UsageError
from cepts.progress import Progress, Step, silent
from cepts.words.aligner import Aligner
from cepts.words.forms import Forms, number
from cepts.words.index import Index, Pairs, build_index, cut, form_pairs

__all__ = ["STATISTICS", "Cooccurrence", "compete"]

# The place of each name is its number in the kernel.
STATISTICS = ("counts", "dice", "pmi", "llr")


class Cooccurrence:
    """In how many sentence pairs of a bitext each two words stand together.

    A sentence pair counts once for two words, however often they stand in it. With a of N sentence pairs that have
    both words, s that have the source word and t that have the target word, the statistics are

    - ``counts``: a
    - ``dice``: 2a / (s + t)
    - ``pmi``: ln(aN / st), the pointwise mutual information
    - ``llr``: the log-likelihood ratio of Dunning (1993), twice the sum of k ln(kN / (row sum x column sum)) over the
      four fields of the table of both, one and neither word

    where ``pmi`` and ``llr`` are 0 for words that stand together no more often than by chance, and all are 0 for words
    that never do. There is no null: statistics know only words that are there.

    Parameters
    ----------
    lowercase, prefix
        As for `Aligner`: the forms under which words are counted.
    max_length
        Pairs with a longer sentence on either side are not counted, and have an empty matrix.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.
    """

    def __init__(
        self,
        *,
        lowercase: bool = True,
        prefix: int | None = None,
        max_length: int = 1000,
        threads: int | None = None,
    ) -> None:
        for name, value in (("prefix", prefix), ("max_length", max_length), ("threads", threads)):
            if value is not None and value < 1:
                raise UsageError(f"{name} must be 1 or more. Got {value} instead.")
        self.max_length = max_length
        self.threads = default_threads() if threads is None else threads
        self._forms = Forms(lowercase, prefix)

    def fit(self, bitext: Bitext) -> Self:
        """Count the words of `bitext`."""
        self.source_, source_places = number(self._forms, bitext.source.vocabulary.words)
        self.target_, target_places = number(self._forms, bitext.target.vocabulary.words)
        pairs, times, _ = form_pairs(bitext, source_places, target_places, self.max_length).distinct()
        self._count(build_index(pairs, len(self.source_), len(self.target_), times=times, threads=self.threads))
        return self

    @classmethod
    def of(cls, aligner: Aligner) -> Cooccurrence:
        """The statistics of the text on which `aligner` was trained, from the index that it made of it."""
        aligner.check_fitted()
        if aligner._fitted is None:
            raise UsageError(
                "co-occurrence statistics need the text of training, which a loaded model does not hold; "
                "count a text with Cooccurrence().fit, or train the model again."
            )
        found = cls(
            lowercase=aligner.lowercase, prefix=aligner.prefix, max_length=aligner.max_length, threads=aligner.threads
        )
        found.source_, found.target_ = aligner.source_.vocabulary, aligner.target_.vocabulary
        found._count(aligner._fitted.index)
        return found

    def association(self, bitext: Bitext, statistic: str, *, competing: bool = False) -> Association:
        """The matrices of all pairs of `bitext`; for a large one, `blocks` needs less memory."""
        return Association.concatenate(list(self.blocks(bitext, statistic, competing=competing)))

    def blocks(
        self, bitext: Bitext, statistic: str, *, competing: bool = False, progress: Progress | None = None
    ) -> Iterator[Association]:
        """The matrices of any bitext, run by run.

        Parameters
        ----------
        bitext
            The sentence pairs; an empty or too long pair has a matrix of 0 x 0.
        statistic
            ``counts``, ``dice``, ``pmi`` or ``llr``.
        competing
            See `compete`.
        progress
            Told after each run.
        """
        if statistic not in STATISTICS:
            raise UsageError(f"statistic must be one of {', '.join(STATISTICS)}. Got {statistic!r} instead.")
        if not hasattr(self, "together_"):
            raise UsageError("this Cooccurrence has counted nothing yet; call fit.")
        source_forms, source_places = number(self._forms, bitext.source.vocabulary.words)
        target_forms, target_places = number(self._forms, bitext.target.vocabulary.words)
        pairs = form_pairs(bitext, source_places, target_places, self.max_length)
        known = self.source_.numbers(source_forms.words), self.target_.numbers(target_forms.words)
        runs = list(cut(pairs))

        def run(bounds: tuple[int, int]) -> Association:
            found = self._look_up(pairs.part(*bounds), *known, STATISTICS.index(statistic))
            return compete(found) if competing else found

        report = progress or silent
        for done, found in enumerate(map_shards(run, runs, threads=self.threads), start=1):
            yield found
            report(Step(stage="associating", done=done, total=len(runs)))

    def _count(self, index: Index) -> None:
        """Take the counts of `index`, whose pairs stand once each, so many times."""
        from cepts.kernels.cooccurrence import add_pairs_with
        from cepts.kernels.index import sort_rows

        together = np.zeros(len(index.targets), dtype=np.int32)
        source = np.zeros(len(self.source_))
        target = np.zeros(len(self.target_))
        pairs = 0.0
        for shard in index.shards:
            counts = np.zeros(len(shard.cell_numbers), dtype=np.int32)
            add_pairs_with(shard.cells, shard.cell_offsets, shard.times, _unseen(counts), counts)
            together[shard.cell_numbers] += counts
            for ids, offsets, counted in (
                (shard.pairs.source_ids, shard.pairs.source_offsets, source),
                (shard.pairs.target_ids, shard.pairs.target_offsets, target),
            ):
                add_pairs_with(ids, offsets, shard.times, _unseen(counted), counted)
            pairs += float(shard.times[np.diff(shard.cell_offsets) > 0].sum(dtype=np.float64))
        self.pairs_ = pairs
        self.source_counts_, self.target_counts_ = source, target
        self.rows_ = index.rows
        order = np.empty(len(index.targets), dtype=np.int64)
        sort_rows(index.rows, index.targets, order)
        self.targets_, self.together_ = index.targets[order], together[order]

    def _look_up(
        self, pairs: Pairs, source: NDArray[np.int32], target: NDArray[np.int32], statistic: int
    ) -> Association:
        from cepts.kernels.cooccurrence import look_up_statistic

        values = np.empty(int(pairs.cell_offsets[-1]), dtype=np.float32)
        look_up_statistic(
            source[pairs.source_ids],
            target[pairs.target_ids],
            pairs.source_offsets,
            pairs.target_offsets,
            pairs.cell_offsets,
            self.rows_,
            self.targets_,
            self.together_,
            self.source_counts_,
            self.target_counts_,
            self.pairs_,
            statistic,
            values,
        )
        return Association(pairs.source_lengths, pairs.target_lengths, pairs.cell_offsets, values)


def compete(association: Association) -> Association:
    """Each value as the geometric mean of its share in its row and of its share in its column, between 0 and 1.

    Common words have high counts with all words, and rule whatever is made of them (onmf, section 7.2). Shares set each
    word's values against one another instead: where a pair of words has a better partner on either side, it loses.
    """
    from cepts.kernels.association import shares_of_lines

    if association.source_null is not None or association.target_null is not None:
        raise ValueError("compete takes associations without null, whose mass has no row and column.")
    values = association.values.copy()
    shares_of_lines(
        association.source_lengths,
        association.target_lengths,
        association.offsets,
        values,
        np.empty(int(association.source_lengths.max(initial=0))),
        np.empty(int(association.target_lengths.max(initial=0))),
    )
    return Association(association.source_lengths, association.target_lengths, association.offsets, values)


def _unseen(counts: NDArray) -> NDArray[np.int64]:
    return np.full(len(counts), -1, dtype=np.int64)
