"""What all word aligners share: from a bitext to a trained model, and from a model to posteriors and alignments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from cepts import extract
from cepts.data import Alignment, Alignments, Association, Bitext, NBest, Vocabulary
from cepts.engine import default_threads, map_shards, run_em
from cepts.errors import ModelError, UsageError
from cepts.progress import Progress, Step, silent
from cepts.words.cohesion import Cohesion
from cepts.words.forms import Forms, number
from cepts.words.index import CELLS_IN_SHARD, Index, Pairs, arrange, build_index, cut, form_pairs
from cepts.words.lexicon import LEXICONS, Lexicon, Side, Tokens
from cepts.words.mixture import Uniform
from cepts.words.null import NullWords
from cepts.words.positions import Block, Positions
from cepts.words.results import Posteriors, path_links
from cepts.words.training import Training, block_of
from cepts.words.translations import Translation, translations

if TYPE_CHECKING:
    from cepts.words.factored import Factoring

__all__ = ["THRESHOLD", "Aligner"]

# Set on the trial sentences of the Hansards (benchmarks/threshold.py), and on nothing else.
THRESHOLD = 0.4
NULL_SMOOTHING = 0.01
# Prior count of identical words; none where EM is to be exact.
SPELLING = {"ml": 0.0, "bayes": 0.0, "backoff": 0.1}
PAIRS_AT_A_TIME = 1 << 16
# Token pairs times alignments in a block of lists: some 16 MB of positions, where sentences have twenty words.
CELLS_OF_LISTS = 40 << 20

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """The text of training: its index, which has each pair once, and the place there of each pair of the text."""

    bitext: Bitext
    index: Index
    places: NDArray[np.int64]


class Aligner:
    """A word aligner of both directions.

    Parameters
    ----------
    iterations
        EM iterations of the model itself.
    start_iterations
        EM iterations of Model 1 before them.
    lexicon
        ``ml`` (maximum likelihood), ``bayes`` (sparse Dirichlet prior) or ``backoff`` (from words to their stems).
    agreement
        Multiply the two directions' posteriors in the E-step, so that each learns only what the other confirms
        (Liang, Taskar and Klein, 2006).
    null_prob
        P(null); None is the model's own default.
    lowercase
        Keep statistics of lower-cased words.
    prefix
        Keep statistics of the words' first letters only, so many of them.
    stems
        For ``backoff``: how many first letters make the stems, in falling order.
    spelling
        The count that identical words are given beforehand, like-spelt ones a part of it: it helps rare words, numbers
        and names. None is 0.1 for ``backoff`` and 0 for the others.
    concentration
        For ``bayes``: of the Dirichlet prior.
    max_length
        Pairs with a longer sentence on either side are left unaligned.
    tolerance
        Stop EM early when its objective grows by less than this share.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.
    """

    name: ClassVar[str] = ""
    positions_class: ClassVar[type[Positions]]

    def __init__(
        self,
        *,
        iterations: int = 5,
        start_iterations: int = 5,
        lexicon: str = "ml",
        agreement: bool = False,
        null_prob: float | None = None,
        lowercase: bool = True,
        prefix: int | None = None,
        stems: Sequence[int] = (6, 4),
        spelling: float | None = None,
        concentration: float = 0.01,
        max_length: int = 1000,
        tolerance: float = 0.0,
        threads: int | None = None,
    ) -> None:
        if lexicon not in LEXICONS:
            raise UsageError(f"lexicon must be one of {', '.join(LEXICONS)}. Got {lexicon!r} instead.")
        for name, value, least in (
            ("iterations", iterations, 0),
            ("start_iterations", start_iterations, 0),
            ("max_length", max_length, 1),
            ("prefix", 1 if prefix is None else prefix, 1),
            ("threads", 1 if threads is None else threads, 1),
            ("spelling", 0 if spelling is None else spelling, 0),
            ("tolerance", tolerance, 0),
        ):
            # Written so that NaN fails.
            if not least <= value < math.inf:
                raise UsageError(f"{name} must be {least} or more. Got {value} instead.")
        if not 0 < concentration < math.inf:
            raise UsageError(f"concentration must be above 0. Got {concentration} instead.")
        if null_prob is not None and not 0 < null_prob < 1:
            raise UsageError(f"null_prob must lie between 0 and 1. Got {null_prob} instead.")
        if list(stems) != sorted(set(stems), reverse=True) or any(letters < 1 for letters in stems):
            raise UsageError(f"stems must be falling numbers of letters, such as 6, 4. Got {tuple(stems)} instead.")
        if iterations + (0 if issubclass(self.positions_class, Uniform) else start_iterations) < 1:
            raise UsageError("iterations must not be 0 in all: an aligner learns in at least one.")
        self.iterations = iterations
        self.start_iterations = start_iterations
        self.lexicon = lexicon
        self.agreement = agreement
        self.null_prob = null_prob
        self.lowercase = lowercase
        self.prefix = prefix
        self.stems = tuple(stems)
        self.spelling = spelling
        self.concentration = concentration
        self.max_length = max_length
        self.tolerance = tolerance
        self.threads = default_threads() if threads is None else threads
        self._forms = Forms(lowercase, prefix)
        self._fitted: _Fitted | None = None
        self._cohesion: tuple[Cohesion, Cohesion] | None = None

    # -- training ------------------------------------------------------------------------------------------------

    def fit(self, bitext: Bitext, *, progress: Progress | None = None, checkpoint: str | Path | None = None) -> Self:
        """Train both directions on `bitext`.

        `checkpoint` names a directory in which the parameters are kept after each iteration and from which an
        interrupted training goes on.
        """
        report = progress or silent
        report(Step(stage="indexing", done=0, total=1))
        source_forms, source_places = number(self._forms, bitext.source.vocabulary.words)
        target_forms, target_places = number(self._forms, bitext.target.vocabulary.words)
        pairs = form_pairs(bitext, source_places, target_places, self.max_length)
        self.source_, source_ids = _used(source_forms, pairs.source_ids)
        self.target_, target_ids = _used(target_forms, pairs.target_ids)
        pairs = Pairs(source_ids, pairs.source_offsets, target_ids, pairs.target_offsets)
        distinct, times, places = pairs.distinct()
        order = arrange(distinct)
        distinct, times, places = distinct.take(order), times[order], np.argsort(order)[places]
        index = build_index(distinct, len(self.source_), len(self.target_), times=times, threads=self.threads)
        report(Step(stage="indexing", done=1, total=1))

        self.lexicon_ = self.new_lexicon(index.rows, index.targets)
        self.null_ = NullWords(
            self.source_.frequencies,
            self.target_.frequencies,
            smoothing=NULL_SMOOTHING if self.lexicon == "backoff" else 0.0,
            concentration=self.concentration if self.lexicon == "bayes" else None,
        )
        self.positions_ = self.new_positions()
        self.objectives_: list[float] = []
        for stage, positions, iterations in self.stages():
            positions.prepare(distinct)
            self.objectives_ += run_em(
                Training(index, self.lexicon_, self.null_, positions, agreeing=self.agreement, threads=self.threads),
                iterations=iterations,
                tolerance=self.tolerance,
                stage=f"training {stage}",
                progress=progress,
                checkpoint=None if checkpoint is None else Path(checkpoint) / stage,
            )
        self.lexicon_.settle()
        self._fitted = _Fitted(bitext, index, places)
        self._cohesion = None
        return self

    def stages(self) -> list[tuple[str, Positions, int]]:
        """What is trained one after the other: the stage's name, its positions, its iterations."""
        last = (self.name, self.positions_, self.iterations)
        if isinstance(self.positions_, Uniform):
            return [last]
        return [("ibm1", Uniform(null_prob=self.null_prob), self.start_iterations), last]

    def new_positions(self) -> Positions:
        """A position model that has learnt nothing yet."""
        return self.positions_class(null_prob=self.null_prob)  # type: ignore[call-arg]

    def new_lexicon(self, rows: NDArray[np.int64], targets: NDArray[np.int32]) -> Lexicon:
        """A lexicon of the aligner's kind over the given cells, that has learnt nothing yet."""
        options: dict[str, Any] = {"spelling": SPELLING[self.lexicon] if self.spelling is None else self.spelling}
        if self.lexicon == "backoff":
            options["stems"] = self.stems
        elif self.lexicon == "bayes":
            options["concentration"] = self.concentration
        return LEXICONS[self.lexicon](rows, targets, self.source_, self.target_, **options)

    def cohesion(self) -> tuple[Cohesion, Cohesion]:
        """How closely words of the training text belong to their neighbours, on the source and on the target side."""
        self.check_fitted()
        if self._cohesion is None:
            assert self._fitted is not None
            tokens = self._tokens(self._fitted.bitext)
            pairs = tokens.pairs
            self._cohesion = (
                Cohesion.of(tokens.source_known[pairs.source_ids], pairs.source_offsets, len(self.source_)),
                Cohesion.of(tokens.target_known[pairs.target_ids], pairs.target_offsets, len(self.target_)),
            )
        return self._cohesion

    def restore_cohesion(self, source: Cohesion, target: Cohesion) -> None:
        """Take what a saved model knew of its training text."""
        self._cohesion = source, target

    def skipped(self, bitext: Bitext) -> int:
        """How many pairs of `bitext` have a sentence longer than `max_length`."""
        longest = np.maximum(bitext.source.lengths, bitext.target.lengths)
        return int((longest > self.max_length).sum())

    def options(self) -> dict[str, Any]:
        """The options with which the aligner was made, `threads` apart."""
        return {
            "iterations": self.iterations,
            "start_iterations": self.start_iterations,
            "lexicon": self.lexicon,
            "agreement": self.agreement,
            "null_prob": self.null_prob,
            "lowercase": self.lowercase,
            "prefix": self.prefix,
            "stems": list(self.stems),
            "spelling": self.spelling,
            "concentration": self.concentration,
            "max_length": self.max_length,
            "tolerance": self.tolerance,
        }

    def save(self, directory: str | Path) -> None:
        """Keep the trained model in a directory, from which `load` takes it."""
        from cepts.words.persist import save_aligner

        save_aligner(self, directory)

    @classmethod
    def load(cls, directory: str | Path, *, threads: int | None = None) -> Self:
        """The aligner that `save` kept in `directory`, which must be of this class (any, if called on `Aligner`)."""
        from cepts.words.persist import load_aligner

        aligner = load_aligner(directory, threads=threads)
        if not isinstance(aligner, cls):
            raise ModelError(f"{directory} holds a model of kind {aligner.name}, not {cls.name}.")
        return aligner

    # -- using a trained model -----------------------------------------------------------------------------------

    def posteriors(self, bitext: Bitext) -> Posteriors:
        """Posteriors of all pairs of `bitext`; for a large one, `blocks` needs less memory."""
        blocks = list(self.blocks(bitext))
        forward = Association.concatenate([block.forward for block in blocks])
        reverse = Association.concatenate([block.reverse for block in blocks])
        log_likelihoods = np.concatenate([block.log_likelihoods for block in blocks] or [np.empty((0, 2))])
        return Posteriors(0, forward, reverse, log_likelihoods)

    def blocks(self, bitext: Bitext, *, progress: Progress | None = None) -> Iterator[Posteriors]:
        """Posteriors of `bitext`, run by run."""
        first = 0
        for block, found in self._map(self._new_blocks(bitext), self.positions_.posterior, progress):
            shape = (block.pairs.source_lengths, block.pairs.target_lengths, block.cell_offsets)
            yield Posteriors(
                first,
                Association(*shape, found.forward, target_null=found.target_free),
                Association(*shape, found.reverse, source_null=found.source_free),
                found.log_likelihoods,
            )
            first += len(block.pairs)

    def score(self, bitext: Bitext) -> NDArray[np.float64]:
        """Log P(target | source) and log P(source | target) of each pair, given the lengths; 0 for unaligned ones."""
        return np.concatenate([scores for _, scores in self.align_blocks(bitext)] or [np.empty((0, 2))])

    def viterbi(self, bitext: Bitext) -> tuple[Alignments, Alignments]:
        """The most probable alignment of each direction; a link's confidence is its posterior."""
        both = [links for _, (links, _) in self._map(self._new_blocks(bitext), self._path_links, None)]
        return Alignments.concatenate([one for one, _ in both]), Alignments.concatenate([other for _, other in both])

    def nbest(self, bitext: Bitext, count: int) -> tuple[NBest, NBest]:
        """The `count` most probable alignments of each pair in either direction; for many, see `nbest_blocks`."""
        both = list(self.nbest_blocks(bitext, count))
        return NBest.concatenate([one for one, _ in both]), NBest.concatenate([other for _, other in both])

    def nbest_blocks(
        self, bitext: Bitext, count: int, *, progress: Progress | None = None
    ) -> Iterator[tuple[NBest, NBest]]:
        """What `nbest` gives, run by run: forward (target words explained by the source) and reverse.

        Lists are in falling order, exact where the model can be searched exactly, and the first of each is then the
        alignment of `viterbi`; of Models 3 and 4 it may be a better one. They are shorter than `count` where fewer
        alignments are possible. A pair that is not aligned has none, and no words.
        """
        if count < 1:
            raise UsageError(f"count must be 1 or more. Got {count} instead.")
        makers = self._new_blocks(bitext, cells=max(min(CELLS_IN_SHARD, CELLS_OF_LISTS // count), 1))
        for _, lists in self._map(makers, partial(self.positions_.nbest, count=count), progress):
            yield lists

    def align(
        self,
        bitext: Bitext,
        *,
        combine: str = "agreement",
        threshold: float = THRESHOLD,
        factoring: Factoring | None = None,
    ) -> Alignments:
        """The links of every pair of `bitext`.

        Parameters
        ----------
        bitext
            The sentence pairs; those of training are the fastest.
        combine
            ``agreement`` takes every link for which the geometric mean of the directions' posteriors reaches
            `threshold`; ``onmf`` finds cepts, which give every word its partners or null; the other methods of
            `cepts.extract` combine the directions' most probable alignments.
        threshold
            For ``agreement``.
        factoring
            For ``onmf``.
        """
        if combine == "onmf":
            from cepts.words.factored import align_by_cepts

            return Alignments.concatenate(list(align_by_cepts(self, bitext, factoring)))
        blocks = self.align_blocks(bitext, combine=combine, threshold=threshold)
        return Alignments.concatenate([alignments for alignments, _ in blocks])

    def align_blocks(
        self,
        bitext: Bitext,
        *,
        combine: str = "agreement",
        threshold: float = THRESHOLD,
        progress: Progress | None = None,
    ) -> Iterator[tuple[Alignments, NDArray[np.float64]]]:
        """What `align` and `score` give, run by run."""
        if combine != "agreement" and combine not in extract.METHODS:
            methods = ", ".join(["agreement", "onmf", *extract.METHODS])
            raise UsageError(f"combine must be one of {methods}. Got {combine!r} instead.")

        def align(block: Block) -> tuple[Alignments, NDArray[np.float64]]:
            return self._align_block(block, combine, threshold)

        if self._fitted is None or self._fitted.bitext is not bitext:
            for _, result in self._map(self._new_blocks(bitext), align, progress):
                yield result
            return
        # The index has each pair once: align those, then write them out as often as they stand.
        makers = [partial(block_of, shard, self.lexicon_, self.null_) for shard in self._fitted.index.shards]
        results = [result for _, result in self._map(makers, align, progress)]
        distinct = Alignments.concatenate([alignments for alignments, _ in results])
        scores = np.concatenate([part for _, part in results] or [np.empty((0, 2))])
        for start in range(0, len(bitext), PAIRS_AT_A_TIME):
            places = self._fitted.places[start : start + PAIRS_AT_A_TIME]
            yield distinct.take(places), scores[places]

    def align_pair(self, source: Sequence[str], target: Sequence[str], *, threshold: float = THRESHOLD) -> Alignment:
        """Links of one pair of tokenised sentences, by agreement."""
        return self.align(Bitext.from_tokens([(source, target)]), threshold=threshold)[0]

    def translations(
        self,
        *,
        direction: Literal["forward", "reverse"] = "forward",
        words: Sequence[str] | None = None,
        top: int = 10,
        least: float = 0.01,
    ) -> list[Translation]:
        """What the lexicon has for `words` (all of them by default): the `top` entries of at least `least`."""
        self.check_fitted()
        return list(translations(self.lexicon_, self._forms, direction=direction, words=words, top=top, least=least))

    def _align_block(self, block: Block, combine: str, threshold: float) -> tuple[Alignments, NDArray[np.float64]]:
        pairs = block.pairs
        shape = (pairs.source_lengths, pairs.target_lengths, block.cell_offsets)
        if combine == "agreement":
            found = self.positions_.posterior(block, agreeing=True)
            association = Association(*shape, found.forward, found.source_free, found.target_free)
            return extract.threshold(association, threshold), found.log_likelihoods
        links, log_likelihoods = self._path_links(block)
        return extract.combine(*links, *shape[:2], method=cast(extract.Method, combine)), log_likelihoods

    def _path_links(self, block: Block) -> tuple[tuple[Alignments, Alignments], NDArray[np.float64]]:
        """Links of the most probable path of either direction, and the pairs' log-likelihoods."""
        found = self.positions_.posterior(block)
        return path_links(block, found, *self.positions_.paths(block)), found.log_likelihoods

    def _map(
        self,
        makers: Sequence[Callable[[], Block]],
        function: Callable[[Block], Result],
        progress: Progress | None,
    ) -> Iterator[tuple[Block, Result]]:
        """`function` of every block that `makers` make, in order, on all threads."""
        report = progress or silent

        def run(make: Callable[[], Block]) -> tuple[Block, Result]:
            block = make()
            return block, function(block)

        for done, result in enumerate(map_shards(run, makers, threads=self.threads), start=1):
            yield result
            report(Step(stage="aligning", done=done, total=len(makers)))

    def _new_blocks(self, bitext: Bitext, *, cells: int | None = None) -> list[Callable[[], Block]]:
        """Makers of the blocks of any bitext, whose words the lexicon may not know."""
        self.check_fitted()
        tokens = self._tokens(bitext)
        # Once for all blocks, and before threads share them.
        self.lexicon_.place(tokens)
        self.positions_.widen(tokens.pairs)
        runs = cut(tokens.pairs) if cells is None else cut(tokens.pairs, cells=cells)
        return [partial(self._new_block, tokens, start, stop) for start, stop in runs]

    def _tokens(self, bitext: Bitext) -> Tokens:
        """The pairs of a new bitext, and which of their forms the model knows."""
        source_forms, source_places = number(self._forms, bitext.source.vocabulary.words)
        target_forms, target_places = number(self._forms, bitext.target.vocabulary.words)
        return Tokens(
            form_pairs(bitext, source_places, target_places, self.max_length),
            source_forms,
            target_forms,
            self.source_.vocabulary.numbers(source_forms.words),
            self.target_.vocabulary.numbers(target_forms.words),
        )

    def _new_block(self, tokens: Tokens, start: int, stop: int) -> Block:
        """Pairs `start` to `stop` with the lexicon entries of each token pair, each a cell of its own."""
        part = tokens.part(start, stop)
        pairs = part.pairs
        table = self.lexicon_.look_up(part)
        source_words, target_words = tokens.source_known[pairs.source_ids], tokens.target_known[pairs.target_ids]
        return Block(
            pairs,
            pairs.cell_offsets,
            pairs.by_length,
            np.arange(len(table), dtype=np.int32),
            table,
            self.null_.of_source(source_words),
            self.null_.of_target(target_words),
            source_words,
            target_words,
        )

    def check_fitted(self) -> None:
        """Refuse to work untrained."""
        if not hasattr(self, "lexicon_"):
            raise UsageError(f"this {type(self).__name__} is not trained; call fit, or load a trained one.")


def _used(forms: Vocabulary, ids: NDArray[np.int32]) -> tuple[Side, NDArray[np.int32]]:
    """The forms that `ids` use, and the ids among those: pairs that are left out teach nothing, not even words."""
    frequencies = np.bincount(ids, minlength=len(forms))
    used = frequencies > 0
    if used.all():
        return Side(forms, frequencies), ids
    names = [word for word, is_used in zip(forms.words, used, strict=True) if is_used]
    numbers = (np.cumsum(used) - 1).astype(np.int32)
    return Side(Vocabulary.from_words(names), frequencies[used]), numbers[ids]
