"""What all word aligners share: training on a bitext, and scoring sentence pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import Bitext, NBest, Runs, WordBound, as_bitext
from cepts.engine import BYTES_IN_MEMORY, Engine, default_threads, map_shards, piece_name
from cepts.errors import ModelError, UsageError, check_choice, check_least
from cepts.estimator import Estimator
from cepts.extract import Aligning
from cepts.names import DIRECTIONS
from cepts.progress import Progress, Step, silent
from cepts.store import DiskShelf, MemoryShelf, Shelf, SpillingShelf
from cepts.words.blocks import PairBlock, block_of, new_block
from cepts.words.cohesion import Cohesion
from cepts.words.cooccurrence import Cooccurrence
from cepts.words.directions import WordDirections
from cepts.words.forms import Forms, is_symbol, number
from cepts.words.index import Sizes, cut, form_pairs
from cepts.words.indexed_text import IndexedText
from cepts.words.job import TrainingJob, other_checkpoint
from cepts.words.lexicon import LEXICONS, Lexicon, Side, Tokens
from cepts.words.lexicon_table import LexiconTable, TrainedShards
from cepts.words.mixture import Uniform
from cepts.words.null import NullWords
from cepts.words.positions import Positions, Stage
from cepts.words.prior import Prior
from cepts.words.rare import bound_of, known_names
from cepts.words.text import ShelvedText

NULL_SMOOTHING = 0.01
# Default prior count of identical words, by lexicon; 0 where EM should be exact.
SPELLING = {"ml": 0.0, "bayes": 0.0, "backoff": 0.1}
SIZES = Sizes()
# Token pairs times alignments in a block of N-best lists: about 16 MB of positions for sentences of twenty words.
CELLS_OF_LISTS = 40 << 20
# If at most this share of the pairs of a text is distinct, each distinct pair is scored only once.
FEW_REPEATS = 0.95


@dataclass(frozen=True, slots=True)
class Translation:
    """A word and a translation of it, from the lexicon of a word model.

    Attributes
    ----------
    asked
        The word as the caller wrote it.
    word
        The form under which the model counts it, such as its lower-cased form.
    other
        The translation.
    probability, back
        P(other | word) and P(word | other).
    count
        Expected number of links between the two in the training text.
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


@dataclass(kw_only=True, eq=False, repr=False)
class Aligner(Estimator, Aligning):
    """Base class of the word aligners, which are trained in both directions.

    Parameters
    ----------
    iterations
        EM iterations of the model itself.
    start_iterations
        EM iterations of Model 1, which is trained first.
    lexicon
        How the lexicon is estimated: ``ml`` (maximum likelihood), ``bayes`` (sparse Dirichlet prior) or ``backoff``
        (each word is smoothed towards its stem).
    agreement
        Multiply the posteriors of the two directions in the E-step, so that each learns only what the other confirms
        (Liang, Taskar and Klein, 2006).
    null_prob
        P(null), the probability that a word has no link; None is the default of the model.
    lowercase
        Count words in lower case, so that "House" and "house" are one word.
    prefix
        Count only the first `prefix` letters of each word; None counts whole words.
    stems
        For ``backoff``: lengths of the stems, in letters and in falling order.
    spelling
        Prior count of identical words; words that are spelt alike get a share of it. It helps with rare words, numbers
        and names. None is 0.1 for ``backoff`` and 0 for the other lexicons.
    concentration
        For ``bayes``: concentration of the Dirichlet prior; the lower, the sparser.
    min_count, max_vocabulary
        Words that occur less often, and those beyond the most frequent ones of a side, share symbols by their stems, so
        that large texts need less memory and disk space; None has no limit. See `cepts.words.rare`.
    max_length
        Pairs with a sentence of more words than this on either side are left unaligned.
    tolerance
        Stop a stage of EM early when its objective changes by less than this share of its range so far; 0 never stops
        early. See `cepts.engine.run_em`.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.
    """

    name: ClassVar[str] = ""
    positions_class: ClassVar[type[Positions]]
    # Whether posteriors are too high in the training text, so that confidences of links are lower.
    overconfident: ClassVar[bool] = True
    # The least value of each parameter that is a count.
    LEAST: ClassVar[dict[str, int]] = {
        **dict.fromkeys(("prefix", "min_count", "max_vocabulary", "max_length", "threads"), 1),
        **dict.fromkeys(("iterations", "start_iterations", "spelling", "tolerance"), 0),
    }

    iterations: int = 5
    start_iterations: int = 5
    lexicon: str = "ml"
    agreement: bool = False
    null_prob: float | None = None
    lowercase: bool = True
    prefix: int | None = None
    stems: Sequence[int] = (6, 4, 3, 2)
    spelling: float | None = None
    concentration: float = 0.01
    min_count: int = 1
    max_vocabulary: int | None = None
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
            raise UsageError(
                f"`stems` must be numbers of letters in falling order, such as 6, 4. Got {tuple(stems)} instead."
            )
        if self.iterations + (0 if issubclass(self.positions_class, Uniform) else self.start_iterations) < 1:
            raise UsageError("`iterations` must be 1 or more when no other model is trained first. Got 0 instead.")
        self._indexed: IndexedText | None = None
        self._table: LexiconTable | None = None
        self._lexicon: Lexicon | None = None
        self._bitext: Bitext | None = None
        self._cohesion: tuple[Cohesion, Cohesion] | None = None
        self._cooccurrence: Cooccurrence | None = None

    # -- training ------------------------------------------------------------------------------------------------

    def fit(
        self,
        bitext: Bitext,
        *,
        prior: Prior | None = None,
        progress: Progress | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Train both directions and return the aligner itself.

        Parameters
        ----------
        bitext
            The sentence pairs: a `Bitext`, or a list of pairs of sentences.
        prior
            What was learnt from earlier texts. See also `update`.
        progress
            Called after each part of an iteration.
        checkpoint
            Directory in which the parameters are saved after each iteration. If training was interrupted, it continues
            from there.
        """
        bitext = as_bitext(bitext)
        report = progress or silent
        report(Step(stage="indexing", done=0, total=1))
        text: ShelvedText | None = None
        shelf: Shelf = SpillingShelf(BYTES_IN_MEMORY) if checkpoint is None else DiskShelf(checkpoint)
        if checkpoint is not None and shelf.has("text"):
            text = ShelvedText(shelf)
            if text.fingerprint != ShelvedText.put(MemoryShelf(), bitext, SIZES.shard, growing=True).fingerprint:
                raise other_checkpoint(shelf, "the text differs")
        text = text or ShelvedText.put(shelf, bitext, SIZES.shard, growing=True)
        self.fit_shelved(text, prior=prior, progress=progress, lasting=checkpoint is not None)
        self._bitext = bitext
        return self

    def update(
        self,
        bitext: Bitext,
        *,
        weight: float = 1.0,
        progress: Progress | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Go on training on new sentence pairs, without the old ones, and return the aligner itself.

        The expected counts of the earlier text are added to those of the new one in every M-step; words that are new
        join the vocabulary. The result is close to that of training on both texts.

        Parameters
        ----------
        bitext
            The new sentence pairs.
        weight
            How often the counts of the earlier text are added; below 1, the new text counts for more.
        progress, checkpoint
            As in `fit`.
        """
        return self.fit(bitext, prior=Prior([self], [weight]), progress=progress, checkpoint=checkpoint)

    def fit_shelved(
        self,
        text: ShelvedText,
        *,
        prior: Prior | None = None,
        progress: Progress | None = None,
        engine: Engine | None = None,
        lasting: bool = True,
        sizes: Sizes | None = None,
    ) -> Self:
        """Train on a text that is on a shelf, and leave there what training needs.

        Parameters
        ----------
        text
            The text, cut into shards.
        prior
            What was learnt from earlier texts.
        progress
            Called after each part of an iteration.
        engine
            Runs the tasks; None runs them in threads.
        lasting
            Whether the state is kept on the shelf after each iteration, so that training can continue from there.
        sizes
            How the text and its lexicon are cut, if not as by default.
        """
        report = progress or silent
        job = TrainingJob(self, text, sizes or SIZES, engine, lasting=lasting)
        if lasting:
            job.keep_options(prior)
        if prior is not None:
            prior.put(text, self)
            # Now that it is on the shelf, its models need no memory.
            del prior
        job.index(lambda done, total: report(Step(stage="indexing", done=done, total=total + 1)))
        report(Step(stage="indexing", done=1, total=1))
        job.train(progress)
        return self

    def begin(self, indexed: IndexedText) -> None:
        """Take the words of an indexed text, and set all parameters but the lexicon to those before training."""
        self.source_, self.target_ = indexed.sides
        self.null_ = NullWords(
            self.source_.frequencies,
            self.target_.frequencies,
            smoothing=NULL_SMOOTHING if self.lexicon == "backoff" else 0.0,
            concentration=self.concentration if self.lexicon == "bayes" else None,
        )
        self.positions_ = self.new_positions()
        self.stage_objectives_: dict[str, list[float]] = {}

    def end(self, indexed: IndexedText, lexicon: LexiconTable) -> None:
        """Take the lexicon of a training that has ended."""
        lexicon.settled = True
        self._indexed, self._table, self._lexicon, self._bitext = indexed, lexicon, None, None
        self._cohesion = self._cooccurrence = None

    @property
    def forms_(self) -> Forms:
        """How words are counted."""
        return Forms(self.lowercase, self.prefix)

    @property
    def shares_symbols(self) -> bool:
        """Whether rare words share symbols."""
        return self.min_count > 1 or self.max_vocabulary is not None

    @property
    def word_bound(self) -> WordBound | None:
        """How many words are held while a training text is read; None is all of them."""
        if self.max_vocabulary is None:
            return None
        return bound_of(self.max_vocabulary, self.forms_, tuple(self.stems))

    @property
    def lexicon_(self) -> Lexicon:
        """The lexicon of both directions."""
        if self._lexicon is None:
            assert self._table is not None
            self._lexicon = self._table.whole()
        return self._lexicon

    @lexicon_.setter
    def lexicon_(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    def stages(self) -> list[Stage]:
        """The stages of training, in order."""
        last = Stage(self.name, self.positions_, self.iterations)
        if isinstance(self.positions_, Uniform):
            return [last]
        return [Stage("ibm1", Uniform(null_prob=self.null_prob), self.start_iterations), last]

    def later_stages(self) -> list[Stage]:
        """The stages of training if it goes on with a new text."""
        return self.stages()[-1:]

    def new_positions(self) -> Positions:
        """Return an untrained position model."""
        return self.positions_class(null_prob=self.null_prob)  # type: ignore[call-arg]

    def new_lexicon(
        self, rows: NDArray[np.int64], targets: NDArray[np.int32], source: Side, target: Side, **levels: Any
    ) -> Lexicon:
        """Return an untrained lexicon of the aligner's kind over the given cells."""
        options: dict[str, Any] = {"spelling": SPELLING[self.lexicon] if self.spelling is None else self.spelling}
        if self.lexicon == "backoff":
            options["stems"] = tuple(self.stems)
        elif self.lexicon == "bayes":
            options["concentration"] = self.concentration
        return LEXICONS[self.lexicon](rows, targets, source, target, **options, **levels)

    @property
    def objectives_(self) -> list[float]:
        """Sum of both directions' log-likelihoods before each M-step, of all stages one after the other."""
        return [value for stage in self.stage_objectives_.values() for value in stage]

    def cohesion(self) -> tuple[Cohesion, Cohesion]:
        """How closely the source words and the target words of the training text belong to their neighbours."""
        self.check_fitted()
        if self._cohesion is None:
            assert self._indexed is not None
            self._cohesion = self._indexed.cohesion()
        return self._cohesion

    def restore_cohesion(self, source: Cohesion, target: Cohesion) -> None:
        """Set the cohesion that a saved model learnt from its training text."""
        self._cohesion = source, target

    def cooccurrence(self) -> Cooccurrence:
        """In how many sentence pairs of the training text two words occur together."""
        self.check_fitted()
        if self._cooccurrence is None:
            if self._indexed is None:
                raise UsageError(
                    "co-occurrence statistics need the training text, which a loaded model does not have; train the "
                    "model again, or choose another `association`."
                )
            indexed = self._indexed
            shards = [indexed.shard(number) for number in range(indexed.text.shards)]
            vocabularies = self.source_.vocabulary, self.target_.vocabulary
            self._cooccurrence = Cooccurrence.of_shards(*vocabularies, shards, indexed.ranges.ranks)
        return self._cooccurrence

    def save(self, directory: str | Path, *, prune: float = 0.0) -> None:
        """Save the trained model in `directory`; `load` reads it from there.

        With `prune`, pairs of words whose expected counts are lower are left out. The model is then smaller, and links
        these words by their stems.
        """
        from cepts.words.persist import save_aligner

        save_aligner(self, directory, prune=prune)

    @classmethod
    def load(cls, directory: str | Path, *, threads: int | None = None) -> Self:
        """Load the aligner that `save` wrote to `directory`.

        It must be of the class on which `load` is called; `Aligner.load` accepts any word aligner.
        """
        from cepts.words.persist import load_aligner

        aligner = load_aligner(directory, threads=threads)
        if not isinstance(aligner, cls):
            raise ModelError(
                f"{directory} holds a model of kind {aligner.name}, not {cls.name}; load it with Aligner.load."
            )
        return aligner

    # -- using a trained model -----------------------------------------------------------------------------------

    def directions(self, pairs: Any, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """Score sentence pairs, run by run; see `cepts.data.Scorer`. The training text is scored fastest.

        Pairs that are empty on one side or too long have no matrix (0 x 0).
        """
        self.check_fitted()
        if isinstance(pairs, ShelvedText) and self._indexed is not None and pairs.shelf is self._indexed.shelf:
            return self._training_runs(pairs.numbers)
        bitext = as_bitext(pairs)
        if self._bitext is bitext and not in_order and cells is None:
            assert self._indexed is not None
            return self._training_runs(self._indexed.text.numbers)
        tokens = self.tokens(bitext)
        where = None
        if not in_order:
            distinct, _, places = tokens.pairs.distinct()
            if len(distinct) <= FEW_REPEATS * len(bitext):
                tokens, where = replace(tokens, pairs=distinct), places
        # Once for all blocks, and before threads share them.
        self.lexicon_.place(tokens)
        self.positions_.widen(tokens.pairs)
        makers = [
            partial(WordDirections, self, partial(new_block, part, self.lexicon_, self.null_), start, in_order)
            for start, part in (
                (start, tokens.part(start, stop)) for start, stop in cut(tokens.pairs, cells or SIZES.block)
            )
        ]
        groups = None if where is None else [(len(makers), lambda: where)]
        return Runs(makers, len(tokens.pairs), groups, self.threads)

    def _training_runs(self, numbers: range) -> Runs:
        """Some shards of the training text, whose index has the lexicon entries of the distinct pairs."""
        assert self._indexed is not None
        assert self._table is not None
        indexed, threads = self._indexed, default_threads() if self.threads is None else self.threads
        trained = TrainedShards(indexed, self._table, threads + 1)
        pieces = {number: indexed.shelf.get(piece_name("index", number)) for number in numbers}
        makers = [
            partial(WordDirections, self, partial(self._trained_block, trained, shard, place), trained=True)
            for shard, piece in pieces.items()
            for place in range(piece.settings["blocks"])
        ]
        groups = [(piece.settings["blocks"], partial(piece.__getitem__, "places")) for piece in pieces.values()]
        return Runs(makers, sum(piece.settings["pairs"] for piece in pieces.values()), groups, self.threads)

    def _trained_block(self, trained: TrainedShards, shard: int, place: int) -> PairBlock:
        return block_of(*trained.block(shard, place), self.null_)

    def nbest(self, pairs: Any, count: int) -> tuple[NBest, NBest]:
        """The `count` most probable alignments of each pair, forward and reverse; for many pairs, see `nbest_runs`."""
        both = list(self.nbest_runs(pairs, count))
        return NBest.concatenate([one for one, _ in both]), NBest.concatenate([other for _, other in both])

    def nbest_runs(self, pairs: Any, count: int, *, progress: Progress | None = None) -> Iterator[tuple[NBest, NBest]]:
        """Yield what `nbest` returns, run by run: forward (target words explained by the source) and reverse.

        Each list is in falling order of probability. Lists are exact, and so start with the most probable alignment,
        except those of Models 3 and 4, which are found by hill climbing; their first alignment may be better than the
        one that `align` finds. A list is shorter than `count` if fewer alignments are possible, and empty for a pair
        that is not aligned.
        """
        if count < 1:
            raise UsageError(f"`count` must be 1 or more. Got {count} instead.")
        report = progress or silent
        pairs = as_bitext(pairs)
        runs = self.directions(pairs, cells=max(min(SIZES.block, CELLS_OF_LISTS // count), 1), in_order=True)
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
        """The translations of words in the lexicon, by falling probability.

        Parameters
        ----------
        direction
            ``forward`` translates source words, ``reverse`` target words.
        words
            The words to look up; None is all words of the training text, in the order in which they first occur.
        top
            The largest number of translations of each word.
        least
            The lowest probability of a translation.
        """
        self.check_fitted()
        check_choice("direction", direction, DIRECTIONS)
        lexicon, column = self.lexicon_, DIRECTIONS.index(direction)
        source = np.repeat(np.arange(len(self.source_)), np.diff(lexicon.rows))
        sides = (self.source_.vocabulary, source), (self.target_.vocabulary, lexicon.targets)
        (mine, of_mine), (others, of_other) = sides[:: 1 - 2 * column]
        counts = lexicon.observed()
        count = counts[:, min(column, counts.shape[1] - 1)]
        shown = np.flatnonzero((lexicon.table[:, column] >= least) & (count > 0))
        if self.shares_symbols:
            are_words = [np.array([not is_symbol(word) for word in side.words]) for side in (mine, others)]
            shown = shown[are_words[0][of_mine[shown]] & are_words[1][of_other[shown]]]
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
        """Which of `words` occur in the training text, on the source side (`side` 0) or the target side (1)."""
        known = (self.source_, self.target_)[side].vocabulary
        return known.numbers(self.forms_.of(words)) >= 0

    def tokens(self, bitext: Bitext) -> Tokens:
        """The pairs of a bitext as numbers of forms, and which of the forms the model knows."""
        source, target, pairs = form_pairs(bitext, self.forms_, self.max_length)
        if self.shares_symbols:
            (source, source_places), (target, target_places) = (
                number(known_names(side.vocabulary, forms.words, self.stems))
                for side, forms in ((self.source_, source), (self.target_, target))
            )
            pairs = pairs.renumbered(source_places, target_places)
        known = self.source_.vocabulary.numbers(source.words), self.target_.vocabulary.numbers(target.words)
        return Tokens(pairs, source, target, *known)
