"""What all word aligners share: from a bitext to a trained model, and from a model to what it says of new pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import Bitext, NBest, Runs, Vocabulary, as_bitext
from cepts.engine import map_shards, run_em
from cepts.errors import ModelError, UsageError, check_choice, check_least
from cepts.estimator import Estimator
from cepts.extract import Aligning
from cepts.names import DIRECTIONS
from cepts.progress import Progress, Step, silent
from cepts.words.blocks import block_of, new_block
from cepts.words.cohesion import Cohesion
from cepts.words.cooccurrence import Cooccurrence
from cepts.words.directions import WordDirections
from cepts.words.forms import Forms
from cepts.words.index import CELLS_IN_SHARD, Index, arrange, build_index, cut, form_pairs
from cepts.words.lexicon import LEXICONS, Lexicon, Side, Tokens
from cepts.words.mixture import Uniform
from cepts.words.null import NullWords
from cepts.words.positions import Positions
from cepts.words.training import AlignerTraining

NULL_SMOOTHING = 0.01
# Prior count of identical words; none where EM is to be exact.
SPELLING = {"ml": 0.0, "bayes": 0.0, "backoff": 0.1}
# Token pairs times alignments in a block of lists: some 16 MB of positions, where sentences have twenty words.
CELLS_OF_LISTS = 40 << 20
# A text with fewer distinct pairs than this share is aligned pair by distinct pair.
FEW_REPEATS = 0.95


@dataclass(frozen=True, slots=True)
class Translation:
    """A word, a word of the other language, and what links them.

    `asked` is the word as the caller wrote it, `word` the form under which the model keeps its statistics.
    """

    asked: str
    word: str
    other: str
    probability: float
    back: float
    count: float

    def as_dict(self) -> dict[str, Any]:
        """The entry as plain data."""
        return {
            "word": self.word,
            "other": self.other,
            "probability": round(self.probability, 6),
            "back": round(self.back, 6),
            "count": round(self.count, 4),
        }


@dataclass(frozen=True, slots=True, eq=False)
class TrainingText:
    """The text of training: its index, which has each pair once, and the place there of each pair of the text."""

    bitext: Bitext
    index: Index
    places: NDArray[np.int64]


@dataclass(kw_only=True, eq=False, repr=False)
class Aligner(Estimator, Aligning):
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
        Keep statistics of this many first letters of each word; None keeps whole words.
    stems
        For ``backoff``: how many first letters make the stems, in falling order.
    spelling
        Prior count of identical words, with a share of it for words spelt alike: it helps rare words, numbers and
        names. None is 0.1 for ``backoff`` and 0 for the others.
    concentration
        For ``bayes``: concentration of the Dirichlet prior.
    max_length
        Pairs with a longer sentence on either side are left unaligned.
    tolerance
        Stop a stage of EM early when its objective changes by less than this share of its range so far; 0 never does.
        See `cepts.engine.run_em`.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.
    """

    name: ClassVar[str] = ""
    positions_class: ClassVar[type[Positions]]
    # The least value of each parameter that is a count.
    LEAST: ClassVar[dict[str, int]] = {
        **dict.fromkeys(("prefix", "max_length", "threads"), 1),
        **dict.fromkeys(("iterations", "start_iterations", "spelling", "tolerance"), 0),
    }

    iterations: int = 5
    start_iterations: int = 5
    lexicon: str = "ml"
    agreement: bool = False
    null_prob: float | None = None
    lowercase: bool = True
    prefix: int | None = None
    stems: Sequence[int] = (6, 4)
    spelling: float | None = None
    concentration: float = 0.01
    max_length: int = 1000
    tolerance: float = 0.0
    threads: int | None = None

    def __post_init__(self) -> None:
        check_choice("lexicon", self.lexicon, LEXICONS)
        for name, least in self.LEAST.items():
            check_least(self, least, name)
        if not 0 < self.concentration < math.inf:
            raise UsageError(f"`concentration` must be above 0. Got {self.concentration} instead.")
        if self.null_prob is not None and not 0 < self.null_prob < 1:
            raise UsageError(f"`null_prob` must lie between 0 and 1. Got {self.null_prob} instead.")
        stems = list(self.stems)
        if stems != sorted(set(stems), reverse=True) or any(letters < 1 for letters in stems):
            raise UsageError(f"`stems` must be falling numbers of letters, such as 6, 4. Got {tuple(stems)} instead.")
        if self.iterations + (0 if issubclass(self.positions_class, Uniform) else self.start_iterations) < 1:
            raise UsageError("`iterations` must not be 0 in all: an aligner learns in at least one.")
        self._training_text: TrainingText | None = None
        self._cohesion: tuple[Cohesion, Cohesion] | None = None
        self._cooccurrence: Cooccurrence | None = None

    # -- training ------------------------------------------------------------------------------------------------

    def fit(self, bitext: Bitext, *, progress: Progress | None = None, checkpoint: str | Path | None = None) -> Self:
        """Train both directions.

        Parameters
        ----------
        bitext
            The sentence pairs: a `Bitext`, or a list of pairs of sentences.
        progress
            Told of each part of an iteration.
        checkpoint
            Directory in which the parameters are kept after each iteration, and from which an interrupted training
            goes on.
        """
        bitext = as_bitext(bitext)
        report = progress or silent
        report(Step(stage="indexing", done=0, total=1))
        self.forms_ = Forms(self.lowercase, self.prefix)
        source_forms, target_forms, pairs = form_pairs(bitext, self.forms_, self.max_length)
        self.source_, source_ids = _used(source_forms, pairs.source_ids)
        self.target_, target_ids = _used(target_forms, pairs.target_ids)
        pairs = replace(pairs, source_ids=source_ids, target_ids=target_ids)
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
                AlignerTraining(
                    index, self.lexicon_, self.null_, positions, agreeing=self.agreement, threads=self.threads
                ),
                iterations=iterations,
                tolerance=self.tolerance,
                stage=f"training {stage}",
                progress=progress,
                checkpoint=None if checkpoint is None else Path(checkpoint) / stage,
            )
        self.lexicon_.settle()
        self._training_text = TrainingText(bitext, index, places)
        self._cohesion = self._cooccurrence = None
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
            options["stems"] = tuple(self.stems)
        elif self.lexicon == "bayes":
            options["concentration"] = self.concentration
        return LEXICONS[self.lexicon](rows, targets, self.source_, self.target_, **options)

    def cohesion(self) -> tuple[Cohesion, Cohesion]:
        """How closely words of the training text belong to their neighbours, on the source and on the target side."""
        self.check_fitted()
        if self._cohesion is None:
            assert self._training_text is not None
            tokens = self.tokens(self._training_text.bitext)
            pairs = tokens.pairs
            self._cohesion = (
                Cohesion.of(tokens.source_known[pairs.source_ids], pairs.source_offsets, len(self.source_)),
                Cohesion.of(tokens.target_known[pairs.target_ids], pairs.target_offsets, len(self.target_)),
            )
        return self._cohesion

    def restore_cohesion(self, source: Cohesion, target: Cohesion) -> None:
        """Take what a saved model knew of its training text."""
        self._cohesion = source, target

    def cooccurrence(self) -> Cooccurrence:
        """In how many pairs of the training text each two words stand together."""
        self.check_fitted()
        if self._cooccurrence is None:
            if self._training_text is None:
                raise UsageError(
                    "co-occurrence statistics need the text of training, which a loaded model does not hold; train the "
                    "model again, or choose another `association`."
                )
            self._cooccurrence = Cooccurrence.of_index(
                self.source_.vocabulary, self.target_.vocabulary, self._training_text.index
            )
        return self._cooccurrence

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

    def directions(self, pairs: Any, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """What the model says of sentence pairs, run by run; those of training are the fastest.

        Pairs that are empty on one side or too long have no matrix (0 x 0).
        """
        self.check_fitted()
        bitext = as_bitext(pairs)
        text = self._training_text
        if text is not None and text.bitext is bitext and not in_order and cells is None:
            # The index has each pair once, with its lexicon entries at hand.
            makers = [
                partial(WordDirections, self, partial(block_of, shard, self.lexicon_, self.null_))
                for shard in text.index.shards
            ]
            return Runs(makers, sum(len(shard.pairs) for shard in text.index.shards), text.places, self.threads)
        tokens = self.tokens(bitext)
        places = None
        if not in_order:
            distinct, _, where = tokens.pairs.distinct()
            if len(distinct) <= FEW_REPEATS * len(bitext):
                tokens, places = replace(tokens, pairs=distinct), where
        # Once for all blocks, and before threads share them.
        self.lexicon_.place(tokens)
        self.positions_.widen(tokens.pairs)
        makers = [
            partial(WordDirections, self, partial(new_block, part, self.lexicon_, self.null_), start, in_order)
            for start, part in (
                (start, tokens.part(start, stop)) for start, stop in cut(tokens.pairs, cells or CELLS_IN_SHARD)
            )
        ]
        return Runs(makers, len(tokens.pairs), places, self.threads)

    def nbest(self, pairs: Any, count: int) -> tuple[NBest, NBest]:
        """The `count` most probable alignments of each pair in either direction; for many, see `nbest_runs`."""
        both = list(self.nbest_runs(pairs, count))
        return NBest.concatenate([one for one, _ in both]), NBest.concatenate([other for _, other in both])

    def nbest_runs(self, pairs: Any, count: int, *, progress: Progress | None = None) -> Iterator[tuple[NBest, NBest]]:
        """What `nbest` gives, run by run: forward (target words explained by the source) and reverse.

        Lists are in falling order, exact where the model can be searched exactly, and the first of each is then the
        most probable alignment; of Models 3 and 4 it may be a better one than ``align`` finds. They are shorter than
        `count` where fewer alignments are possible. A pair that is not aligned has none, and no words.
        """
        if count < 1:
            raise UsageError(f"`count` must be 1 or more. Got {count} instead.")
        report = progress or silent
        pairs = as_bitext(pairs)
        runs = self.directions(pairs, cells=max(min(CELLS_IN_SHARD, CELLS_OF_LISTS // count), 1), in_order=True)
        done = 0
        for lists in map_shards(lambda make: make().lists(count), runs.makers, threads=runs.threads):
            yield lists
            done += len(lists[0])
            report(Step(stage="listing", done=done, total=max(len(pairs), done)))

    def translations(
        self,
        *,
        direction: str = "forward",
        words: Sequence[str] | None = None,
        top: int = 10,
        least: float = 0.01,
    ) -> list[Translation]:
        """What the lexicon has for `words` (all of them by default): the `top` entries of at least `least`.

        Words come in order of first use, or in the order of `words`; the entries of each by falling probability.
        """
        self.check_fitted()
        check_choice("direction", direction, DIRECTIONS)
        lexicon, column = self.lexicon_, DIRECTIONS.index(direction)
        source = np.repeat(np.arange(len(self.source_)), np.diff(lexicon.rows))
        sides = (self.source_.vocabulary, source), (self.target_.vocabulary, lexicon.targets)
        (mine, of_mine), (others, of_other) = sides[:: 1 - 2 * column]
        count = lexicon.counts[:, min(column, lexicon.counts.shape[1] - 1)]
        shown = np.flatnonzero((lexicon.table[:, column] >= least) & (count > 0))
        # By word, then falling probability, then the other word, so that the order is deterministic.
        order = shown[np.lexsort((of_other[shown], -lexicon.table[shown, column], of_mine[shown]))]
        bounds = np.searchsorted(of_mine[order], np.arange(len(mine) + 1))
        forms = mine.words if words is None else self.forms_.of(words)
        found = []
        for asked, word in zip(forms if words is None else words, forms, strict=True):
            number = mine.number(word)
            for cell in order[bounds[number] : min(bounds[number] + top, bounds[number + 1])] if number >= 0 else ():
                probability, back = lexicon.table[cell, [column, 1 - column]].tolist()
                other = others[int(of_other[cell])]
                found.append(Translation(asked, word, other, probability, back, float(count[cell])))
        return found

    def knows(self, words: Sequence[str], side: int) -> NDArray[np.bool_]:
        """Which of `words` were in the training text, of the source (`side` 0) or of the target (1)."""
        known = (self.source_, self.target_)[side].vocabulary
        return known.numbers(self.forms_.of(words)) >= 0

    def tokens(self, bitext: Bitext) -> Tokens:
        """The pairs of a new bitext, and which of their forms the model knows."""
        source, target, pairs = form_pairs(bitext, self.forms_, self.max_length)
        known = self.source_.vocabulary.numbers(source.words), self.target_.vocabulary.numbers(target.words)
        return Tokens(pairs, source, target, *known)


def _used(forms: Vocabulary, ids: NDArray[np.int32]) -> tuple[Side, NDArray[np.int32]]:
    """The forms that `ids` use, and the ids among those: words of unaligned pairs are not part of the model."""
    frequencies = np.bincount(ids, minlength=len(forms))
    used = frequencies > 0
    if used.all():
        return Side(forms, frequencies), ids
    names = [word for word, is_used in zip(forms.words, used, strict=True) if is_used]
    numbers = (np.cumsum(used) - 1).astype(np.int32)
    return Side(Vocabulary.from_words(names), frequencies[used]), numbers[ids]
