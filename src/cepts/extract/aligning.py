"""Alignment of sentence pairs by any scorer: the loop that all packages use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignment, Alignments, Association, Directions, Runs, Scorer
from cepts.engine import map_shards
from cepts.extract.associations import association_of
from cepts.extract.extractors import EXTRACTORS, Extraction
from cepts.extract.quality import pair_quality
from cepts.factor import Factoring
from cepts.progress import Progress, Step, silent

Result = TypeVar("Result")

PAIRS_AT_A_TIME = 1 << 16


class AlignedRun(NamedTuple):
    """The links of some consecutive pairs, with matrices and scores if these were requested.

    Attributes
    ----------
    links
        The alignments of the pairs.
    matrix
        The association matrices from which the links were made, if matrices were requested.
    scores
        Scores of the pairs in both directions (pairs x 2), if scores were requested.
    quality
        Whether the sentences of each pair translate each other, from 0 to 1, if requested; see `pair_quality`.
    """

    links: Alignments
    matrix: Association | None = None
    scores: NDArray[np.float64] | None = None
    quality: NDArray[np.float64] | None = None


def aligned_runs(
    scorer: Scorer,
    pairs: Any,
    extraction: Extraction | None = None,
    *,
    matrices: bool = False,
    scores: bool = False,
    quality: bool = False,
    progress: Progress | None = None,
) -> Iterator[AlignedRun]:
    """Score `pairs` and extract their links in one pass, run by run.

    Parameters
    ----------
    scorer
        Scores the pairs.
    pairs
        The sentence pairs: a `Bitext`, or a list of pairs of sentences.
    extraction
        How links are made; None is the default `Extraction`.
    matrices, scores, quality
        Whether to return association matrices, scores of whole pairs, and their quality, as well.
    progress
        Called after each run.
    """
    extraction = extraction or Extraction()
    extractor = EXTRACTORS[extraction.combine]
    runs = scorer.directions(pairs, cells=extractor.cells, in_order=matrices)

    def run(make: Callable[[], Directions]) -> AlignedRun:
        directions = make()
        links = extractor(directions, extraction)
        segments = directions.segments(links)
        return AlignedRun(
            links if segments is None else replace(links, segments=segments),
            extractor.matrix(directions, extraction) if matrices else None,
            directions.scores if scores else None,
            _quality_of(directions) if quality else None,
        )

    if runs.groups is None:
        return _reported(map_shards(run, runs.makers, threads=runs.threads), runs, progress)
    return _in_places(run, runs, runs.groups, progress)


def _quality_of(directions: Directions) -> NDArray[np.float64]:
    """The quality of the pairs of a run, by what the scorer knows of them."""
    agreement = directions.agreement  # first: a word model computes the scores with it
    return pair_quality(agreement, directions.scores if directions.has_log_probabilities else None)


def _reported(found: Iterator[AlignedRun], runs: Runs, progress: Progress | None) -> Iterator[AlignedRun]:
    report = progress or silent
    done = 0
    report(Step(stage="aligning", done=0, total=1))  # the first run may take a while
    for result in found:
        yield result
        done += len(result.links)
        report(Step(stage="aligning", done=done, total=runs.pairs() if callable(runs.pairs) else runs.pairs))


Places = Callable[[], NDArray[np.int64]]


def _in_places(
    run: Callable[[Callable[[], Directions]], AlignedRun],
    runs: Runs,
    groups: Sequence[tuple[int, Places]],
    progress: Progress | None,
) -> Iterator[AlignedRun]:
    """Compute the runs of each group, and copy the results to every place where the pairs occur in the text.

    A thread takes a whole group, so that no thread waits for what others have of the same group. A single group is
    shared by all threads.
    """
    report = progress or silent
    total = runs.pairs() if callable(runs.pairs) else runs.pairs
    inner = runs.threads if len(groups) == 1 else 1
    makers = iter(runs.makers)
    tasks = [(list(islice(makers, size)), places) for size, places in groups]

    def of_group(task: tuple[list[Callable[[], Directions]], Places]) -> tuple[int, list[AlignedRun]]:
        found = list(map_shards(run, task[0], threads=inner))
        return sum(len(result.links) for result in found), list(_placed(found, task[1]()))

    done = 0
    report(Step(stage="aligning", done=0, total=1))  # the first group may take a while
    for pairs, results in map_shards(of_group, tasks, threads=runs.threads):
        yield from results
        done += pairs
        report(Step(stage="aligning", done=done, total=total))


def _placed(runs: Sequence[AlignedRun], places: NDArray[np.int64]) -> Iterator[AlignedRun]:
    """The results of the pairs at `places`."""
    links = Alignments.concatenate([run.links for run in runs])
    scores = [run.scores for run in runs if run.scores is not None]
    every_score = np.concatenate(scores) if scores else None
    qualities = [run.quality for run in runs if run.quality is not None]
    every_quality = np.concatenate(qualities) if qualities else None
    for start in range(0, len(places), PAIRS_AT_A_TIME):
        here = places[start : start + PAIRS_AT_A_TIME]
        yield AlignedRun(
            links.take(here),
            None,
            None if every_score is None else every_score[here],
            None if every_quality is None else every_quality[here],
        )


@dataclass(frozen=True, slots=True)
class LaterPairs:
    """A scorer of pairs that come after `first` others, which the random starts of cepts depend on."""

    scorer: Scorer
    first: int

    @property
    def max_length(self) -> int | None:
        """That of the scorer."""
        return self.scorer.max_length

    def directions(self, pairs: Any, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """Those of the scorer, with other numbers."""
        runs = self.scorer.directions(pairs, cells=cells, in_order=in_order)
        moved = (partial(self._moved, make) for make in runs.makers)
        makers = list(moved) if isinstance(runs.makers, Sequence) else moved
        return Runs(makers, runs.pairs, runs.groups, runs.threads)

    def _moved(self, make: Callable[[], Directions]) -> Directions:
        directions = make()
        directions.first += self.first
        return directions


def needs_whole_text(*scorers: Scorer) -> bool:
    """Whether one of `scorers` gives other results if the parts of a text are scored one by one.

    A scorer that does not say so, see `Aligning`, is taken to need the whole text.
    """
    return any(getattr(scorer, "needs_whole_text", True) for scorer in scorers)


class Aligning:
    """Base class of scorers that aligns pairs, scores them and returns their posteriors, given their `directions`."""

    if TYPE_CHECKING:

        @property
        def max_length(self) -> int | None:
            """Pairs with a longer sentence on either side are left unaligned; None aligns all pairs."""

    @property
    def needs_whole_text(self) -> bool:
        """Whether what is said of a pair depends on its number in the text, or on other pairs."""
        return False

    def directions(self, pairs: Any, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """Score `pairs`, run by run; see `cepts.data.Scorer`."""
        raise NotImplementedError

    def align(
        self,
        pairs: Any,
        *,
        combine: str = "agreement",
        threshold: float | None = None,
        association: str = "agreement",
        nbest: int | None = None,
        factoring: Factoring | None = None,
        progress: Progress | None = None,
    ) -> Alignments:
        """Align sentence pairs and return the links of each.

        Parameters
        ----------
        pairs
            A `Bitext`, or a list of pairs of sentences. A word model is fastest on its training text.
        combine
            How links are made: a name of `cepts.extract.EXTRACTORS`, such as ``agreement`` or ``grow-diag-final-and``.
        threshold, association, nbest, factoring
            As in `cepts.extract.Extraction`.
        progress
            Called after each run of pairs.
        """
        extraction = Extraction(
            combine=combine,
            threshold=threshold,
            association=association,
            nbest=nbest,
            factoring=factoring or Factoring(),
        )
        return Alignments.concatenate([run.links for run in aligned_runs(self, pairs, extraction, progress=progress)])

    def align_pair(
        self,
        source: str | Sequence[str],
        target: str | Sequence[str],
        *,
        combine: str = "agreement",
        threshold: float | None = None,
        association: str = "agreement",
        nbest: int | None = None,
        factoring: Factoring | None = None,
    ) -> Alignment:
        """Align one sentence pair and return its links.

        A sentence is a list of tokens or a string. A string is split at white space, but English phrase models tokenise
        it. The other parameters are those of `align`.
        """
        pair = [(source, target)]
        return self.align(
            pair, combine=combine, threshold=threshold, association=association, nbest=nbest, factoring=factoring
        )[0]

    def posteriors(self, pairs: Any) -> tuple[Association, Association]:
        """P(link) in all pairs, forward and reverse; for many pairs, `directions` needs less memory."""
        found = list(self._read(pairs, lambda directions: (directions.forward, directions.reverse)))
        return (
            Association.concatenate([forward for forward, _ in found]),
            Association.concatenate([reverse for _, reverse in found]),
        )

    def associate(self, pairs: Any, association: str = "agreement", *, nbest: int | None = None) -> Association:
        """The association matrices of all pairs.

        Parameters
        ----------
        pairs
            A `Bitext`, or a list of pairs of sentences.
        association
            Which matrix: a name of `cepts.extract.ASSOCIATIONS`.
        nbest
            Length of the N-best lists, for associations that count links in them; None is `cepts.extract.NBEST`.
        """
        extraction = Extraction(association=association, nbest=nbest)
        return Association.concatenate(
            list(self._read(pairs, lambda directions: association_of(directions, extraction)))
        )

    def score(self, pairs: Any) -> NDArray[np.float64]:
        """Score of each pair in both directions (pairs x 2).

        The scores of a word model are log P(target | source) and log P(source | target).
        """
        return np.concatenate([np.empty((0, 2)), *self._read(pairs, lambda directions: directions.scores)])

    def quality(self, pairs: Any) -> NDArray[np.float64]:
        """Whether the sentences of each pair translate each other, from 0 to 1; see `cepts.extract.pair_quality`."""
        return np.concatenate([np.empty(0), *self._read(pairs, _quality_of)])

    def _read(self, pairs: Any, read: Callable[[Directions], Result]) -> Iterator[Result]:
        runs = self.directions(pairs, in_order=True)
        return map_shards(lambda make: read(make()), runs.makers, threads=runs.threads)
