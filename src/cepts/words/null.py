"""The null word of each direction: t(word | null)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

EVIDENCE = ("null.source_counts", "null.target_counts")


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

    # The least smoothing when training starts from the counts of earlier texts.
    START = 0.1

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
        # Expected counts behind the distributions (None if they are not known any more), and those of earlier texts,
        # which are added.
        self.counts: tuple[NDArray[np.float64], NDArray[np.float64]] | None = (
            np.zeros(len(source_frequencies)),
            np.zeros(len(target_frequencies)),
        )
        self.earlier: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
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

    def estimate(
        self, source_counts: NDArray[np.float64], target_counts: NDArray[np.float64], *, starting: bool = False
    ) -> None:
        """M-step from the expected number of times that null explains each word, in this text and in earlier ones.

        If training is only starting, no word is ruled out.
        """
        if self.earlier is not None:
            source_counts, target_counts = source_counts + self.earlier[0], target_counts + self.earlier[1]
        self.counts = source_counts, target_counts
        smoothing = max(self.smoothing, self.START) if starting else self.smoothing
        self.source = self._distribution(source_counts, self._unigrams[0], smoothing)
        self.target = self._distribution(target_counts, self._unigrams[1], smoothing)

    def _distribution(
        self, counts: NDArray[np.float64], unigrams: NDArray[np.float64], smoothing: float
    ) -> NDArray[np.float32]:
        total = counts.sum()
        if total <= 0:
            return unigrams.astype(np.float32)
        if self.concentration is not None:
            from scipy.special import digamma

            a = self.concentration
            return np.exp(digamma(counts + a) - digamma(total + a * len(counts))).astype(np.float32)
        smooth = smoothing * total
        return ((counts + smooth * unigrams) / (total + smooth)).astype(np.float32)

    def evidence(self) -> dict[str, NDArray]:
        """The expected counts, by the names under which they are saved."""
        return {} if self.counts is None else dict(zip(EVIDENCE, self.counts, strict=True))

    def remember(self, state: Mapping[str, NDArray]) -> None:
        """Take the expected counts from a saved state, if it has them."""
        self.counts = (state[EVIDENCE[0]], state[EVIDENCE[1]]) if EVIDENCE[0] in state else None

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
