"""How hidden documents are found: counts of words, factorised by Poisson NMF, or by SVD as a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Documents
from cepts.engine import ThreadEngine, Workplace
from cepts.errors import DataError, UsageError, check_choice, check_least
from cepts.factor import poisson_nmf, symmetric_nmf, truncated_svd
from cepts.lm.counts import begin_documents, begin_windows, check_window, document_counts, window_counts
from cepts.lm.hidden import HiddenDocuments
from cepts.lm.history import HistoryModel
from cepts.lm.projection import ProjectedWords
from cepts.names import FACTOR_BLOCKS, FACTOR_STARTS, FACTORISATIONS, PLACES, PRIORS, SEGMENTATIONS
from cepts.progress import Progress, Step, silent


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenOptions:
    """How hidden documents are found in texts.

    Attributes
    ----------
    min_count
        Words that occur less often are left out.
    segmentation
        ``explicit`` factorises the counts of words in documents (nmf_lm, eq. 3). ``implicit`` factorises the counts of
        words near each other, in a window (nmf_lm, eq. 12), which needs no documents.
    window
        For ``implicit``: number of words in the window, an odd number.
    places
        For ``implicit``: the words that take up places in the window, ``content`` words or ``all``.
    borders
        For ``implicit``: whether windows end where a document does.
    factorisation
        ``nmf``, or ``svd`` for the projections of LSA, to which the options below do not apply.
    iterations, start, blocks, long_steps, seed
        As for `cepts.factor.poisson_nmf` and `cepts.factor.symmetric_nmf`. `blocks` is for ``explicit``, and a `start`
        from anchor words for ``implicit``.
    priors
        For ``implicit``: ``shares`` takes z of M = Q Z Q' as P(d), ``documents`` z / k ** 2; see `document_priors`.
    """

    min_count: float = 2
    segmentation: str = "implicit"
    window: int = 21
    places: str = "content"
    borders: bool = True
    factorisation: str = "nmf"
    iterations: int = 50
    start: str = "columns"
    blocks: str = "two"
    long_steps: bool = True
    priors: str = "shares"
    seed: int = 0

    def __post_init__(self) -> None:
        check_least(self, 1, "iterations")
        check_least(self, 0, "seed")
        for name, names in (
            ("segmentation", SEGMENTATIONS),
            ("places", PLACES),
            ("factorisation", FACTORISATIONS),
            ("start", FACTOR_STARTS),
            ("blocks", FACTOR_BLOCKS),
            ("priors", PRIORS),
        ):
            check_choice(name, getattr(self, name), names)
        check_window(self.window)
        if self.start == "anchors" and self.segmentation == "explicit":
            raise UsageError("`start` anchors needs `segmentation` implicit; choose that, or another start.")


def fit_hidden_documents(
    texts: Sequence[tuple[Documents, float]],
    content: NDArray[np.bool_],
    hidden: int,
    options: HiddenOptions | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    workplace: Workplace | None = None,
) -> HistoryModel:
    """Find the hidden documents of one or more texts.

    Parameters
    ----------
    texts
        The texts, all over one vocabulary, each with the weight by which its counts are multiplied.
    content
        Which words of the vocabulary are content words.
    hidden
        Number of hidden documents, or of singular vectors.
    options
        How they are found; by default `HiddenOptions()`.
    threads
        Number of threads; None uses one for each processor. Results do not depend on it.
    progress
        Called after each part of a text that is counted, and after each iteration.
    workplace
        Who counts, and where; by default `threads` of this process.
    """
    options = options or HiddenOptions()
    report = progress or silent
    used, counts, kept = _kept(texts, content, options)
    if not kept.any():
        raise DataError(
            f"the text has no content words that occur at least {options.min_count:g} times: all its words are "
            f"function words, rare or unknown; give more text, a smaller `min_count=` or another list of function "
            f"words (`stop=`)."
        )
    numbers = np.flatnonzero(kept).astype(np.int32)
    matrix, what = _counted(used, kept, options, workplace or Workplace(ThreadEngine(threads)), progress)
    if not 1 <= hidden <= min(matrix.shape):
        raise UsageError(
            f"the text has {what}, so `hidden` must be 1 to {min(matrix.shape):,}, the number of hidden documents. Got "
            f"{hidden:,} instead."
        )

    def iterated(step: Step) -> None:
        report(replace(step, stage="hidden documents"))

    if options.factorisation == "svd":
        vectors = truncated_svd(matrix, hidden, progress=iterated)
        marginals = counts[numbers] / counts[numbers].sum()
        return ProjectedWords(vectors.words, marginals.astype(np.float32), numbers)
    how: dict[str, Any] = {name: getattr(options, name) for name in ("iterations", "start", "long_steps", "seed")}
    if options.segmentation == "explicit":
        found = poisson_nmf(matrix, hidden, blocks=options.blocks, threads=threads, progress=iterated, **how)
        words, weights = found.words, found.weights
    else:
        factors = symmetric_nmf(matrix, hidden, threads=threads, progress=iterated, **how)
        words, weights = factors.words, factors.weights
        if options.priors == "documents":
            weights = document_priors(words, weights, matrix.sum(axis=1, dtype=np.float64), counts[numbers])
    living = weights > 0
    priors = (weights[living] / weights.sum()).astype(np.float32)
    return HiddenDocuments(np.ascontiguousarray(words[:, living]), priors, numbers)


def begin_hidden_documents(
    texts: Sequence[tuple[Documents, float]], content: NDArray[np.bool_], options: HiddenOptions, workplace: Workplace
) -> None:
    """Put texts into the directory of a workplace, where others can count before `fit_hidden_documents` is called."""
    used, _, kept = _kept(texts, content, options)
    for (text, _), place in zip(used, _places(workplace), strict=False):
        with place.shelf() as shelf:
            if options.segmentation == "explicit":
                begin_documents(shelf, text, kept)
            else:
                begin_windows(shelf, text, kept, **_windows(options))


def _kept(
    texts: Sequence[tuple[Documents, float]], content: NDArray[np.bool_], options: HiddenOptions
) -> tuple[list[tuple[Documents, float]], NDArray[np.float64], NDArray[np.bool_]]:
    """The texts that count, how often each word occurs in them, and which words are counted."""
    used = [(text, worth) for text, worth in texts if worth > 0]
    counts = np.zeros(len(content))
    for text, worth in used:
        counts += worth * np.bincount(text.text.ids, minlength=len(content))
    return used, counts, content & (counts >= options.min_count)


def _places(workplace: Workplace) -> Iterator[Workplace]:
    """Where each text is counted."""
    return (workplace.under(f"words-{number}") for number in count(1))


def _windows(options: HiddenOptions) -> dict[str, Any]:
    return {"window": options.window, "stop_first": options.places == "content", "borders": options.borders}


def document_priors(
    words: NDArray[np.floating], weights: NDArray[np.float64], sums: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """P(d), up to a factor, from M = Q Z Q'.

    By Novak and Mammone (2001), eq. (11), Z is K ** 2 P, so P(d) is proportional to z / k ** 2, where k is the number
    of words in a window of hidden document d. Windows around word i have `sums[i]` / `counts[i]` words on average, and
    d explains z Q_id of the counts of row i; so d explains z Q_id `counts[i]` / `sums[i]` of the windows around word i.
    Summed over i and divided by z, this is 1 / k. If all windows have the same number of words, P(d) is proportional
    to z.

    Parameters
    ----------
    words, weights
        Q and the diagonal of Z.
    sums
        The sum of each row of M.
    counts
        How often each word occurs.
    """
    windows = np.divide(counts, sums, out=np.zeros_like(sums), where=sums > 0)
    return weights * (words.astype(np.float64).T @ windows) ** 2


def _counted(
    texts: Sequence[tuple[Documents, float]],
    kept: NDArray[np.bool_],
    options: HiddenOptions,
    workplace: Workplace,
    progress: Progress | None,
) -> tuple[Any, str]:
    """The matrix to factorise, and a description of it."""
    numbers = np.flatnonzero(kept)
    matrix: Any
    if options.segmentation == "explicit":
        from scipy.sparse import hstack

        counted = [
            document_counts(text, kept, workplace=place, progress=progress)[numbers] * np.float32(worth)
            for (text, worth), place in zip(texts, _places(workplace), strict=False)
        ]
        matrix = hstack(counted).tocsr()
        matrix = matrix[:, np.flatnonzero(matrix.sum(axis=0))]
        return matrix, f"{len(numbers):,} content words in {matrix.shape[1]:,} documents with such words"
    matrix = sum(
        window_counts(text, kept, workplace=place, progress=progress, **_windows(options)) * np.float32(worth)
        for (text, worth), place in zip(texts, _places(workplace), strict=False)
    )
    return matrix[numbers][:, numbers], f"{len(numbers):,} content words"
