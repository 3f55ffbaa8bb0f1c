"""The null word of each direction: t(word | null)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class NullWords:
    """P(word | null) of target words (forward) and of source words (reverse).

    Parameters
    ----------
    source_frequencies, target_frequencies
        How often each word occurs in training.
    smoothing
        Weight of the unigram frequencies relative to the expected counts of null; 0 is maximum likelihood.
    concentration
        Concentration of a sparse Dirichlet prior (variational Bayes), as in the lexicon; None is no prior.
    """

    def __init__(
        self,
        source_frequencies: NDArray[np.int64],
        target_frequencies: NDArray[np.int64],
        *,
        smoothing: float = 0.0,
        concentration: float | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.concentration = concentration
        self._unigrams = tuple(
            frequencies / max(frequencies.sum(), 1) for frequencies in (source_frequencies, target_frequencies)
        )
        self._rarest = tuple(1.0 / (frequencies.sum() + 1) for frequencies in (source_frequencies, target_frequencies))
        if smoothing > 0:
            self.source, self.target = (unigrams.astype(np.float32) for unigrams in self._unigrams)
        else:
            self.source, self.target = (
                np.full(len(unigrams), 1.0 / max(len(unigrams), 1), dtype=np.float32) for unigrams in self._unigrams
            )

    @property
    def exact(self) -> bool:
        """Whether `estimate` is the maximum-likelihood M-step."""
        return self.smoothing == 0 and self.concentration is None

    def estimate(self, source_counts: NDArray[np.float64], target_counts: NDArray[np.float64]) -> None:
        """M-step from the expected number of times that null explains each word."""
        self.source = self._distribution(source_counts, self._unigrams[0])
        self.target = self._distribution(target_counts, self._unigrams[1])

    def _distribution(self, counts: NDArray[np.float64], unigrams: NDArray[np.float64]) -> NDArray[np.float32]:
        total = counts.sum()
        if total <= 0:
            return unigrams.astype(np.float32)
        if self.concentration is not None:
            from scipy.special import digamma

            a = self.concentration
            return np.exp(digamma(counts + a) - digamma(total + a * len(counts))).astype(np.float32)
        smooth = self.smoothing * total
        return ((counts + smooth * unigrams) / (total + smooth)).astype(np.float32)

    def given(
        self, source_words: NDArray[np.int32], target_words: NDArray[np.int32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """P(word | null) of source and of target words; an unknown word (-1) is as rare as a word seen once."""
        rare_source, rare_target = self._rarest
        return _gather(self.source, source_words, rare_source), _gather(self.target, target_words, rare_target)


def _gather(distribution: NDArray[np.float32], words: NDArray[np.int32], rarest: float) -> NDArray[np.float32]:
    from cepts.kernels.lexicon import gather_null

    found = np.empty(len(words), dtype=np.float32)
    gather_null(distribution, words, np.float32(rarest), found)
    return found
