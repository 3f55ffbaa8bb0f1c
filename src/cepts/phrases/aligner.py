"""Aligners for sentences and their paraphrases: how they are trained, and how they align new pairs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from cepts.data import COLUMNS, Association, Bitext, Runs, SentencePair, as_sentence_pairs, offsets_of
from cepts.engine import map_shards
from cepts.errors import DataError, ModelError, UsageError, check_choice, check_least
from cepts.estimator import Estimator
from cepts.extract import Aligning
from cepts.names import PHRASE_COSTS, PHRASE_LINKS, PHRASE_MODELS
from cepts.phrases.annotate import Annotator, check_columns, shared_columns
from cepts.phrases.columns import FAMILIES
from cepts.phrases.crf import LatticeShape, Objective, best_path, lattice_of, marginals, null_words
from cepts.phrases.directions import NO_CORRESPONDENCE, Correspondence, PhraseDirections, PosteriorPair
from cepts.phrases.features import FeatureMaker
from cepts.phrases.inventory import Inventory
from cepts.phrases.languages import LANGUAGES, annotator_of, lexical_of, tokeniser_of
from cepts.phrases.lexical import Lexical
from cepts.phrases.paths import NO_PATH, Alternative, LatticePath, best_alternatives, joined_paths, path_of
from cepts.phrases.persist import read_aligner, write_aligner
from cepts.phrases.steps import LONGEST_NULL
from cepts.phrases.tables import ENGLISH
from cepts.phrases.training import gold_of, minimise
from cepts.progress import Progress, Step, silent

# Parameters that a saved model does not have, or has as tables.
NOT_SAVED = ("annotator", "lexical", "partner", "threads")


@dataclass(kw_only=True, eq=False, repr=False)
class PhraseAligner(Estimator, Aligning):
    """Aligns the phrases of a sentence and its paraphrase, with one semi-Markov CRF for each direction.

    The model is that of Yao et al. (2013), section 3. `PhraseAligner.load("phrase")` loads the English model that comes
    with the package; `fit` trains a new one on sentence pairs with gold links.

    Parameters
    ----------
    longest, widest
        The longest source phrase and the longest target phrase, in words. Any two phrases of up to three words can be
        aligned; longer ones if both are whole chunks, if at least half of their words match in order, or if a table
        knows them.
    links
        How the words of two aligned phrases are linked. ``words`` links words that stand for each other: word by word
        if at least half of them match in order, otherwise those with the same lemma with each other and the rest with
        the rest. ``phrases`` links all words of one phrase with all words of the other. Training always takes gold
        links as phrases.
    families
        The families of features to use, by their names in `FAMILIES`; None uses all of them.
    memory
        Let null remember where the last segment stopped. False gives the single null state of Yao et al. (2013).
    cost
        What the softmax-margin objective counts as mistakes: ``links`` counts wrong and missed links, ``states`` counts
        words in a wrong state (the Hamming cost of Yao et al., 2013); ``none`` trains by maximum likelihood.
    wrong_cost, missed_cost
        The cost of a wrong link and of a missed link. With ``states``, a wrong state costs `wrong_cost`.
    penalty
        Strength of the L2 penalty, which is the precision of a Gaussian prior on the weights.
    iterations
        Maximum number of L-BFGS iterations in each direction.
    upweight
        Multiply the feature values of a phrase by its length (Yao et al., 2013, section 3.4).
    by_words
        Also score two phrases, of which at least half of the words match in order, by the features of these words, as
        if they were aligned one by one. False scores phrases as wholes alone, as Yao et al. (2013).
    null_spans
        Let several words that follow each other be aligned with null as one segment, as in Yao et al. (2013). False
        aligns each word with null by itself.
    anchoring
        The largest bonus, in log-odds, for links that are right wherever their words stand. These are links between
        identical words that are the only ones with their lemma on either side, with a larger bonus the farther apart
        they stand, links between numbers of equal value, and links between a name and its known short form. Names,
        numbers and emoji are then linked over any distance. Phrases get the bonus, times the larger of their lengths,
        if WordNet or a list of paraphrases has them as synonyms, or if one is an acronym of the other. Training does
        not use the bonus; 0 turns it off.
    language
        ``english`` uses the tagger, chunker and tables that come with the package. None uses only the columns that the
        sentences have, and the tables in `lexical`.
    annotator
        Fills in the columns that sentences lack; None uses the annotator of the language.
    lexical
        The tables in which features look words up; None uses those of the language.
    partner
        An aligner of words. Its probabilities of word links, and those of null, are averaged with those of this
        aligner; `max_length` and `anchoring` are those of this aligner. None has no partner; the English model
        ``phrase`` has the model ``token``. It is not saved.
    max_length
        Pairs with more words than this on either side are left unaligned, and are not used for training.
    threads
        Number of threads; None uses one for each processor. Results do not depend on it.
    """

    name: ClassVar[str] = "phrase"
    PAIRS_AT_A_TIME: ClassVar[int] = 32

    longest: int = 6
    widest: int = 6
    links: str = "words"
    families: Collection[str] | None = None
    memory: bool = True
    cost: str = "links"
    wrong_cost: float = 1.0
    missed_cost: float = 1.0
    penalty: float = 1.0
    iterations: int = 300
    upweight: bool = True
    by_words: bool = True
    null_spans: bool = False
    anchoring: float = 4.0
    language: str | None = "english"
    annotator: Annotator | None = None
    lexical: Lexical | None = None
    partner: PhraseAligner | None = None
    max_length: int = 500
    threads: int | None = None

    def __post_init__(self) -> None:
        check_choice("cost", self.cost, PHRASE_COSTS)
        check_choice("links", self.links, PHRASE_LINKS)
        unknown = sorted(set(self.families or ()) - set(FAMILIES))
        if unknown:
            raise UsageError(f"`families` must be among {', '.join(FAMILIES)}. Got {unknown[0]!r} instead.")
        if self.language not in (None, *LANGUAGES):
            raise UsageError(f"`language` must be 'english' or None. Got {self.language!r} instead.")
        check_least(self, 1, "longest", "widest", "iterations", "max_length")
        check_least(self, 0, "wrong_cost", "missed_cost", "penalty", "anchoring")
        if max(self.longest, self.widest) > LONGEST_NULL and self.null_spans:
            raise UsageError(
                f"`null_spans` needs `longest` and `widest` of at most {LONGEST_NULL}. Got {self.longest} and "
                f"{self.widest} instead."
            )

    def options(self) -> dict[str, Any]:
        """The parameters that are saved with a model: all but the annotator, the tables and `threads`."""
        kept = {name: value for name, value in self.get_params().items() if name not in NOT_SAVED}
        return {**kept, "families": None if self.families is None else list(self.families_)}

    @property
    def families_(self) -> tuple[str, ...]:
        """The families of features in use, in the order of `FAMILIES`."""
        return tuple(name for name in FAMILIES if self.families is None or name in self.families)

    @property
    def annotator_(self) -> Annotator:
        """The annotator that fills in missing columns: `annotator`, or that of the language."""
        return annotator_of(self.language) if self.annotator is None else self.annotator

    @property
    def lexical_(self) -> Lexical:
        """The tables in which features look words up: `lexical`, or those of the language."""
        return lexical_of(self.language) if self.lexical is None else self.lexical

    # -- training ------------------------------------------------------------------------------------------------

    def fit(self, pairs: Sequence[SentencePair], *, progress: Progress | None = None) -> Self:
        """Train both directions on pairs with gold links, and return the aligner itself.

        The aligner learns the `sure` links of each pair. With the cost ``links``, a `possible` link counts neither as
        wrong nor as missed.
        """
        report = progress or silent
        check_gold(pairs)
        used = [pair for pair in pairs if self.fits(pair)]
        if not any(pair.sure for pair in used):
            raise DataError(
                f"none of the {len(pairs):,} pairs has a sure link and from 1 to {self.max_length:,} words on each "
                f"side, so there is nothing to learn; check the pairs and their links."
            )
        used = self.annotator_.annotate(used, COLUMNS)
        self.columns_ = shared_columns(used)
        self.inventory_ = Inventory.of_pairs(used)
        maker = self.maker()
        self.layout_ = maker.layout
        features = []
        for number, pair in enumerate(used):
            features.append(maker.features(pair, training=True))
            report(Step(stage="features", done=number + 1, total=len(used)))
        weights = []
        self.objectives_: list[list[float]] = []
        self.capped_: list[bool] = []
        for name, shape in zip(("forward", "reverse"), self.shapes(), strict=True):
            golds = [gold_of(pair, found, shape, self) for pair, found in zip(used, features, strict=True)]
            objective = Objective(
                features, golds, self.layout_.sizes, shape, penalty=self.penalty, threads=self.threads
            )
            found, objectives, capped = minimise(objective, self.iterations, f"training {name}", report)
            weights.append(found)
            self.objectives_.append(objectives)
            self.capped_.append(capped)
        self.weights_ = np.stack(weights)
        return self

    def shapes(self) -> tuple[LatticeShape, LatticeShape]:
        """The lattices of the forward and the reverse direction."""
        forward, reverse = (
            LatticeShape(
                self.longest,
                self.widest,
                by_target,
                memory=self.memory,
                distortion="distortion" in self.families_,
                by_words=self.by_words,
                null_spans=self.null_spans,
            )
            for by_target in (True, False)
        )
        return forward, reverse

    def maker(self) -> FeatureMaker:
        """The object that computes features."""
        return FeatureMaker(
            self.inventory_, self.lexical_, self.families_, self.longest, self.widest, upweight=self.upweight
        )

    def fits(self, pair: SentencePair) -> bool:
        """Whether a pair can be aligned: both sides have words, and no more than `max_length`."""
        sizes = len(pair.source), len(pair.target)
        return min(sizes) > 0 and max(sizes) <= self.max_length

    # -- using a trained model -----------------------------------------------------------------------------------

    def nbest(self, pairs: Any, count: int) -> tuple[list[list[Alternative]], list[list[Alternative]]]:
        """The `count` best segmentations (paths) of each pair, best first, in each direction.

        Parameters
        ----------
        pairs
            Sentence pairs, in any form that `align` takes.
        count
            How many paths to list for each pair and direction.

        Returns
        -------
        forward, reverse
            For each direction, one list per pair. A list is shorter if the pair has fewer paths, and empty if the pair
            is left unaligned. Its first path is the one that ``align(combine="forward")`` or
            ``align(combine="reverse")`` uses.
        """
        if count < 1:
            raise UsageError(f"`count` must be 1 or more. Got {count} instead.")
        self.check_fitted()
        pairs = self._sentence_pairs(pairs)

        def of_run(start: int) -> list[tuple[list[Alternative], list[Alternative]]]:
            maker, run = self.maker(), self.prepared(pairs[start : start + self.PAIRS_AT_A_TIME], start)
            return [self._alternatives(maker, pair, count) for pair in run]

        starts = range(0, len(pairs), self.PAIRS_AT_A_TIME)
        found = [both for run in map_shards(of_run, starts, threads=self.threads) for both in run]
        return [forward for forward, _ in found], [reverse for _, reverse in found]

    def _alternatives(
        self, maker: FeatureMaker, pair: SentencePair, count: int
    ) -> tuple[list[Alternative], list[Alternative]]:
        """The best paths of one pair, forward and reverse."""
        if not self.fits(pair):
            return [], []
        features, sizes = maker.features(pair), self.layout_.sizes
        forward, reverse = (
            best_alternatives(
                lattice_of(features, weights, sizes, shape, anchoring=self.anchoring), count, shape.by_target
            )
            for weights, shape in zip(self.weights_, self.shapes(), strict=True)
        )
        return forward, reverse

    def directions(self, pairs: Any, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """Score sentence pairs, run by run; see `cepts.data.Scorer`. Missing columns are filled in.

        If a sentence is a string, an English model tokenises it (`cepts.phrases.tokenise`), and links refer to these
        tokens. Lists of tokens stay as they are. Pairs that are empty on one side or too long have no matrix (0 x 0).
        """
        self.check_fitted()
        pairs = self._sentence_pairs(pairs)
        starts = range(0, len(pairs), self.PAIRS_AT_A_TIME)
        return Runs([partial(self._run, pairs, start) for start in starts], len(pairs), threads=self.threads)

    def _sentence_pairs(self, pairs: Any) -> list[SentencePair]:
        """The given pairs, in whatever form, as objects; strings are tokenised."""
        given: Any = pairs if isinstance(pairs, Bitext | str) else map(self._tokenised, pairs)
        return as_sentence_pairs(given)

    def _tokenised(self, pair: Any) -> Any:
        """A pair with its strings tokenised; anything else is left for `as_sentence_pairs` to check."""
        if not isinstance(pair, list | tuple):
            return pair
        tokens_of = tokeniser_of(self.language)
        return tuple(tokens_of(side) if isinstance(side, str) else side for side in pair)

    def prepared(self, pairs: Sequence[SentencePair], before: int = 0) -> list[SentencePair]:
        """The pairs with all columns of training; in messages, the first pair has the number `before` + 1."""
        complete = self.annotator_.annotate(pairs, self.columns_)
        check_columns(complete, self.columns_, before)
        return complete

    def _run(self, every_pair: Sequence[SentencePair], start: int) -> PhraseDirections:
        from cepts.kernels.correspondence import word_links
        from cepts.kernels.segments import segment_links

        pairs = self.prepared(every_pair[start : start + self.PAIRS_AT_A_TIME], start)
        maker, shapes, sizes = self.maker(), self.shapes(), self.layout_.sizes
        # A pair that is left unaligned has no matrix: that of a far too long one would take all memory.
        sizes_of = [(len(pair.source), len(pair.target)) if self.fits(pair) else (0, 0) for pair in pairs]
        lengths = np.array(sizes_of, dtype=np.int64).reshape(-1, 2)
        offsets = offsets_of(lengths[:, 0] * lengths[:, 1])
        # Of words and of phrases, forward and reverse.
        values = np.zeros((2, 2, offsets[-1]), dtype=np.float32)
        target_null = np.ones(int(lengths[:, 1].sum()), dtype=np.float32)
        source_null = np.ones(int(lengths[:, 0].sum()), dtype=np.float32)
        nulls = target_null, source_null
        starts = offsets_of(lengths[:, 1]), offsets_of(lengths[:, 0])
        paths: tuple[list[LatticePath], list[LatticePath]] = ([], [])
        correspondences = []
        for n, pair in enumerate(pairs):
            if not lengths[n].all():
                for path in paths:
                    path.append(NO_PATH)
                correspondences.append(NO_CORRESPONDENCE)
                continue
            features = maker.features(pair)
            correspondences.append(Correspondence(features.parallel, features.same))
            for way, shape in enumerate(shapes):
                lattice = lattice_of(features, self.weights_[way], sizes, shape, anchoring=self.anchoring)
                found = marginals(lattice)
                segments = found.segments.transpose(2, 3, 0, 1) if shape.by_target else found.segments
                segments = np.ascontiguousarray(segments)
                links = np.empty(lengths[n])
                word_links(segments, *correspondences[-1], links)
                values[0, way, offsets[n] : offsets[n + 1]] = links.reshape(-1)
                segment_links(segments, links)
                values[1, way, offsets[n] : offsets[n + 1]] = links.reshape(-1)
                nulls[way][starts[way][n] : starts[way][n + 1]] = null_words(found.null)
                score, words, spans = best_path(lattice)
                paths[way].append(path_of(score, words, spans, found.segments, shape.by_target))
        np.clip(values, 0.0, 1.0, out=values)
        shape_of = lengths[:, 0].copy(), lengths[:, 1].copy(), offsets
        of_words, of_phrases = (
            PosteriorPair(
                Association(*shape_of, forward, target_null=target_null),
                Association(*shape_of, reverse, source_null=source_null),
            )
            for forward, reverse in values
        )
        if self.partner is not None:
            partner = copy(self.partner).set_params(max_length=self.max_length, anchoring=self.anchoring)
            of_words = of_words.averaged(partner._run(pairs, 0).words)
        return PhraseDirections(
            of_words,
            of_phrases,
            joined_paths(paths[0]),
            joined_paths(paths[1]),
            correspondences,
            pairs,
            self.inventory_,
            self.lexical_.wordnet,
            start,
            links=self.links,
        )

    def check_layout(self, name: str) -> None:
        """Refuse to go on if the tables no longer give the features of training; messages call the model `name`."""
        if self.maker().layout != self.layout_:
            raise ModelError(
                f"{name} was trained with other features than its tables give now; train it again with the tables "
                f"that it will use."
            )

    # -- saving --------------------------------------------------------------------------------------------------

    def save(self, directory: str | Path) -> None:
        """Save the trained model in `directory`; `load` reads it from there."""
        write_aligner(self, directory)

    @classmethod
    def load(cls, directory: str | Path, *, threads: int | None = None) -> PhraseAligner:
        """Load the aligner that `save` wrote to `directory`.

        The names ``phrase`` and ``token`` stand for the English models that come with the package, unless there is a
        directory of that name.
        """
        place = Path(directory)
        shipped = str(directory) in PHRASE_MODELS and not place.exists()
        kinds = {kind.name: kind for kind in (PhraseAligner, TokenAligner)}
        aligner = read_aligner(ENGLISH / f"{directory}-model" if shipped else place, str(directory), kinds, threads)
        aligner.check_layout(str(directory))
        if shipped and aligner.name == "phrase":
            partner = read_aligner(ENGLISH / "token-model", "token", kinds, threads)
            aligner.set_params(partner=partner)
        return aligner


@dataclass(kw_only=True, eq=False, repr=False)
class TokenAligner(PhraseAligner):
    """Aligns the words of a sentence and its paraphrase, with one CRF for each direction.

    The model is that of Yao et al. (2013), section 3.1: a phrase aligner whose phrases are single words. The parameters
    are those of `PhraseAligner`, without `longest` and `widest`. `TokenAligner.load("token")` loads the English model
    that comes with the package.
    """

    name = "token"

    longest: int = field(default=1, init=False)
    widest: int = field(default=1, init=False)


def check_gold(pairs: Sequence[SentencePair]) -> None:
    """Refuse pairs without gold links, and pairs with links to words that they do not have."""
    for number, pair in enumerate(pairs, 1):
        name = f"pair {number:,}" + (f" ({pair.id})" if pair.id else "")
        if pair.sure is None:
            raise DataError(f"{name} has no gold links; training needs them for every pair.")
        length, width = len(pair.source), len(pair.target)
        for i, j in (*pair.sure, *(pair.possible or ())):
            if not (0 <= i < length and 0 <= j < width):
                raise DataError(
                    f"{name} has the gold link {i}-{j}, but only {length} source and {width} target words; number "
                    f"the words in links from 0."
                )
