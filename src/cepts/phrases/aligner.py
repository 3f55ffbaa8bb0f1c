"""Aligners of sentences and their rewordings: training, and what a trained model says of new pairs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cepts import extract
from cepts.data import COLUMNS, Alignments, Association, Segments, SentencePair, offsets_of
from cepts.engine import default_threads, map_shards
from cepts.errors import DataError, ModelError, UsageError
from cepts.phrases.annotate import Annotator, check_columns, shared_columns
from cepts.phrases.columns import FAMILIES
from cepts.phrases.crf import Shape, best_path, lattice_of, marginals
from cepts.phrases.features import FeatureMaker
from cepts.phrases.inventory import Inventory
from cepts.phrases.lexical import Lexical
from cepts.phrases.training import COSTS, Training
from cepts.progress import Progress, Step, silent

if TYPE_CHECKING:
    from cepts.phrases.nbest import Alternative

__all__ = ["COMBINATIONS", "THRESHOLD", "Decoded", "PhraseAligner", "PhraseAlignments", "TokenAligner"]

# Chosen on a part of the training pairs of MSR06 and Edinburgh++ (benchmarks/phrases.py --tune).
THRESHOLD = 0.4
COMBINATIONS = ("agreement", *extract.METHODS)
PAIRS_AT_A_TIME = 32


class PhraseAlignments(NamedTuple):
    """The links of sentence pairs, each with a confidence, and the segments that they form."""

    links: Alignments
    segments: Segments


class Decoded(NamedTuple):
    """What a trained model says of a run of pairs.

    Attributes
    ----------
    forward, reverse
        The probability of each link in a direction: along the target words (with P(null) of each), along the source
        words.
    forward_path, reverse_path
        The best segments of each direction, with their probabilities and the path's scores.
    pairs
        The pairs, with all columns of training.
    """

    forward: Association
    reverse: Association
    forward_path: Segments
    reverse_path: Segments
    pairs: Sequence[SentencePair] = ()

    def aligned(self, combine: str, threshold: float) -> PhraseAlignments:
        """Links and segments by a method of `COMBINATIONS`."""
        paths = self.forward_path, self.reverse_path
        if combine in ("forward", "reverse"):
            segments = paths[combine == "reverse"]
            return PhraseAlignments(segments.alignments(), segments)
        if combine == "agreement":
            links = extract.threshold(extract.agreement(self.forward, self.reverse), threshold)
        else:
            links = extract.combine(*(path.alignments() for path in paths), method=combine)  # type: ignore[arg-type]
        return PhraseAlignments(links, self.segments_of(links))

    def segments_of(self, links: Alignments) -> Segments:
        """The rectangles of links, with the scores of both directions' best paths."""
        found = extract.rectangles(links, every_link=True)
        first, second = self.forward_path, self.reverse_path
        scores, states = first.scores + second.scores, first.states + second.states
        return Segments(found.offsets, found.spans, found.confidence, scores, states)


class PhraseAligner:
    """Aligns the phrases of two sentences by semi-Markov CRFs of both directions (semicrf, section 3).

    Parameters
    ----------
    longest, widest
        The longest source and target phrase, in words.
    families
        The families of features to use; all of `FAMILIES` by default.
    memory
        Let null remember where the last segment stopped. False is the paper's one null state.
    cost
        Of the softmax-margin objective: ``links`` counts wrong and missed links, ``states`` words in the wrong state
        (the paper's Hamming cost), ``none`` trains by maximum likelihood.
    wrong_cost, missed_cost
        What a wrong and a missed link cost (a wrong state costs `wrong_cost`).
    penalty
        Precision of the Gaussian prior of the weights (L2).
    iterations
        The most iterations of L-BFGS.
    upweight
        Multiply what a phrase is worth by its length (section 3.4).
    language
        ``english`` uses the tagger, chunker and tables that come with the package; None uses what the sentences bring.
    annotator, lexical
        Others than the language's.
    max_length
        Pairs with a longer sentence on either side are left unaligned.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.
    """

    name: ClassVar[str] = "phrase"

    def __init__(
        self,
        *,
        longest: int = 3,
        widest: int = 3,
        families: Collection[str] | None = None,
        memory: bool = True,
        cost: str = "links",
        wrong_cost: float = 1.0,
        missed_cost: float = 1.0,
        penalty: float = 1.0,
        iterations: int = 120,
        upweight: bool = True,
        language: str | None = "english",
        annotator: Annotator | None = None,
        lexical: Lexical | None = None,
        max_length: int = 500,
        threads: int | None = None,
    ) -> None:
        for name, value in (
            ("longest", longest),
            ("widest", widest),
            ("iterations", iterations),
            ("max_length", max_length),
        ):
            if value < 1:
                raise UsageError(f"{name} must be 1 or more. Got {value} instead.")
        for name, number in (("wrong_cost", wrong_cost), ("missed_cost", missed_cost), ("penalty", penalty)):
            # Written so that NaN fails.
            if not 0 <= number < math.inf:
                raise UsageError(f"{name} must be 0 or more. Got {number} instead.")
        if cost not in COSTS:
            raise UsageError(f"cost must be one of {', '.join(COSTS)}. Got {cost!r} instead.")
        unknown = sorted(set(families or ()) - set(FAMILIES))
        if unknown:
            raise UsageError(f"families must be among {', '.join(FAMILIES)}. Got {unknown[0]!r} instead.")
        if language not in (None, "english"):
            raise UsageError(f"language must be 'english' or None. Got {language!r} instead.")
        self.longest, self.widest = longest, widest
        self.families = tuple(name for name in FAMILIES if families is None or name in families)
        self.memory = memory
        self.cost, self.wrong_cost, self.missed_cost = cost, wrong_cost, missed_cost
        self.penalty, self.iterations, self.upweight = penalty, iterations, upweight
        self.language = language
        self.max_length = max_length
        self.threads = default_threads() if threads is None else threads
        self._annotator, self._lexical = annotator, lexical

    def options(self) -> dict[str, Any]:
        """The options with which the aligner was made, tables and `threads` apart."""
        names = (
            "longest",
            "widest",
            "memory",
            "cost",
            "wrong_cost",
            "missed_cost",
            "penalty",
            "iterations",
            "upweight",
        )
        return {
            **{name: getattr(self, name) for name in names},
            "families": list(self.families),
            "language": self.language,
            "max_length": self.max_length,
        }

    @property
    def annotator(self) -> Annotator:
        """What fills in missing columns."""
        if self._annotator is None:
            from cepts.phrases import english

            self._annotator = english.annotator() if self.language == "english" else Annotator()
        return self._annotator

    @property
    def lexical(self) -> Lexical:
        """The tables that features ask."""
        if self._lexical is None:
            from cepts.phrases import english

            self._lexical = english.lexical() if self.language == "english" else Lexical()
        return self._lexical

    @lexical.setter
    def lexical(self, lexical: Lexical) -> None:
        self._lexical = lexical

    # -- training ------------------------------------------------------------------------------------------------

    def fit(self, pairs: Sequence[SentencePair], *, progress: Progress | None = None) -> Self:
        """Train both directions on pairs with gold links; `sure` links are learnt, `possible` ones cost nothing."""
        report = progress or silent
        check_gold(pairs)
        used = [pair for pair in pairs if self.fits(pair)]
        if not any(pair.sure for pair in used):
            raise DataError(
                f"none of the {len(pairs):,} pairs has words on both sides, at most {self.max_length:,}, and a sure "
                f"link; there is nothing to learn."
            )
        used = self.annotator.annotate(used, COLUMNS)
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
        for name, shape in zip(("forward", "reverse"), self.shapes(), strict=True):
            training = Training(used, features, self.layout_, shape, self)
            weights.append(training.run(f"training {name}", report))
            self.objectives_.append(training.objectives)
        self.weights_ = np.stack(weights)
        return self

    def shapes(self) -> tuple[Shape, Shape]:
        """The lattices of the forward and the reverse direction."""
        distortion = "distortion" in self.families
        forward, reverse = (
            Shape(self.longest, self.widest, by_target, self.memory, distortion) for by_target in (True, False)
        )
        return forward, reverse

    def maker(self) -> FeatureMaker:
        """What makes the features."""
        return FeatureMaker(
            self.inventory_, self.lexical, self.families, self.longest, self.widest, upweight=self.upweight
        )

    def fits(self, pair: SentencePair) -> bool:
        """Whether a pair can be aligned: words on both sides, and no more than `max_length`."""
        sizes = len(pair.source), len(pair.target)
        return min(sizes) > 0 and max(sizes) <= self.max_length

    # -- using a trained model -----------------------------------------------------------------------------------

    def align(
        self, pairs: Sequence[SentencePair], *, combine: str = "agreement", threshold: float = THRESHOLD
    ) -> PhraseAlignments:
        """The links and segments of every pair.

        Parameters
        ----------
        pairs
            The sentence pairs; missing columns are filled in.
        combine
            ``agreement`` takes every link for which the geometric mean of the directions' probabilities reaches
            `threshold`; ``forward`` and ``reverse`` give the best path of one direction; the other methods of
            `cepts.extract` combine the two best paths.
        threshold
            For ``agreement``.
        """
        check_combination(combine)
        found = [decoded.aligned(combine, threshold) for decoded in self.blocks(pairs)]
        return PhraseAlignments(
            Alignments.concatenate([part.links for part in found]),
            Segments.concatenate([part.segments for part in found]),
        )

    def nbest(
        self, pairs: Sequence[SentencePair], count: int
    ) -> tuple[list[list[Alternative]], list[list[Alternative]]]:
        """The `count` best paths of each pair, forward and reverse; see `cepts.phrases.nbest`."""
        from cepts.phrases.nbest import nbest

        return nbest(self, pairs, count)

    def posteriors(self, pairs: Sequence[SentencePair]) -> tuple[Association, Association]:
        """The probability of each link, forward and reverse."""
        found = list(self.blocks(pairs))
        return (
            Association.concatenate([part.forward for part in found]),
            Association.concatenate([part.reverse for part in found]),
        )

    def blocks(self, pairs: Sequence[SentencePair], *, progress: Progress | None = None) -> Iterator[Decoded]:
        """What the model says of the pairs, run by run."""
        self.check_fitted()
        report = progress or silent
        runs = range(0, len(pairs), PAIRS_AT_A_TIME)
        done = 0

        def of_run(start: int) -> Decoded:
            return self._decode(self.prepared(pairs[start : start + PAIRS_AT_A_TIME], start))

        for decoded in map_shards(of_run, runs, threads=self.threads):
            done += len(decoded.forward)
            report(Step(stage="aligning", done=done, total=len(pairs)))
            yield decoded

    def check_fitted(self) -> None:
        """Refuse to work untrained."""
        if not hasattr(self, "weights_"):
            raise UsageError(f"this {type(self).__name__} is not trained; call fit, or load a trained one.")

    def prepared(self, pairs: Sequence[SentencePair], before: int = 0) -> list[SentencePair]:
        """The pairs with all columns of training; messages count pairs from where `before` others end."""
        complete = self.annotator.annotate(pairs, self.columns_)
        check_columns(complete, self.columns_, before)
        return complete

    def _decode(self, pairs: Sequence[SentencePair]) -> Decoded:
        from cepts.kernels.segments import segment_links

        maker, sizes = self.maker(), self.layout_.sizes
        # A pair that is left out has no matrix, lest one that is far too long should take all memory.
        sizes_of = [(len(pair.source), len(pair.target)) if self.fits(pair) else (0, 0) for pair in pairs]
        lengths = np.array(sizes_of, dtype=np.int64).reshape(-1, 2)
        offsets = offsets_of(lengths[:, 0] * lengths[:, 1])
        values = np.zeros((2, offsets[-1]), dtype=np.float32)
        target_null = np.ones(int(lengths[:, 1].sum()), dtype=np.float32)
        source_null = np.ones(int(lengths[:, 0].sum()), dtype=np.float32)
        nulls = target_null, source_null
        starts = offsets_of(lengths[:, 1]), offsets_of(lengths[:, 0])
        paths: tuple[list[_Path], list[_Path]] = ([], [])
        for n, pair in enumerate(pairs):
            if not lengths[n].all():
                for path in paths:
                    path.append(_Path(np.empty((0, 4), np.int32), np.empty(0, np.float32), 0.0, 0))
                continue
            features = maker.features(pair)
            for way, shape in enumerate(self.shapes()):
                lattice = lattice_of(features, self.weights_[way], sizes, shape)
                found = marginals(lattice)
                links = np.empty(lattice.emit.shape[::2])
                segment_links(found.segments, links)
                values[way, offsets[n] : offsets[n + 1]] = (links.T if shape.by_target else links).reshape(-1)
                nulls[way][starts[way][n] : starts[way][n + 1]] = found.null
                score, words, spans = best_path(lattice)
                paths[way].append(_segments(score, words, spans, found.segments, shape.by_target))
        np.clip(values, 0.0, 1.0, out=values)
        shape_of = lengths[:, 0].copy(), lengths[:, 1].copy(), offsets
        return Decoded(
            Association(*shape_of, values[0], target_null=target_null),
            Association(*shape_of, values[1], source_null=source_null),
            _joined(paths[0]),
            _joined(paths[1]),
            pairs,
        )

    def check_layout(self, name: str) -> None:
        """Refuse to work where the tables give other features than those of training; `name` says whose they are."""
        if self.maker().layout != self.layout_:
            raise ModelError(
                f"{name} was trained with other features than its tables give now; train it again, with the tables "
                f"that it is to use."
            )

    # -- keeping -------------------------------------------------------------------------------------------------

    def save(self, directory: str | Path) -> None:
        """Keep the trained model in a directory, from which `load` takes it."""
        from cepts.phrases.persist import save_phrase_aligner

        save_phrase_aligner(self, directory)

    @classmethod
    def load(cls, directory: str | Path, *, threads: int | None = None) -> PhraseAligner:
        """The aligner that `save` kept in `directory`; `phrase` and `token` are the English ones of the package."""
        from cepts.phrases.persist import load_phrase_aligner

        return load_phrase_aligner(directory, threads=threads)


class TokenAligner(PhraseAligner):
    """Aligns words by CRFs of both directions (semicrf, section 3.1): a phrase aligner whose phrases are words."""

    name = "token"

    def __init__(self, **options: Any) -> None:
        if options.get("longest", 1) != 1 or options.get("widest", 1) != 1:
            raise UsageError("a token aligner has no phrases; longest and widest must be 1.")
        super().__init__(**{**options, "longest": 1, "widest": 1})


class _Path(NamedTuple):
    spans: NDArray[np.int32]
    confidence: NDArray[np.float32]
    score: float
    states: int


def _segments(
    score: float, starts: NDArray[np.int32], spans: NDArray[np.int32], probabilities: NDArray, by_target: bool
) -> _Path:
    """The segments of a path, sorted by source; states are its segments and its null words."""
    first = np.flatnonzero(starts == np.arange(len(starts)))
    states = len(first)
    linked = first[spans[first, 0] >= 0]
    lengths = np.bincount(starts, minlength=len(starts))[linked]
    start, stop = spans[linked].T
    confidence = probabilities[linked, lengths - 1, start, stop - start - 1].astype(np.float32)
    observed = np.stack([linked, linked + lengths], axis=1)
    sides = [spans[linked], observed] if by_target else [observed, spans[linked]]
    rows = np.concatenate(sides, axis=1).astype(np.int32)
    order = np.lexsort(rows.T[::-1])
    return _Path(rows[order], np.minimum(confidence[order], 1.0), score, states)


def _joined(paths: Sequence[_Path]) -> Segments:
    return Segments(
        offsets_of([len(path.spans) for path in paths]),
        np.concatenate([path.spans for path in paths] or [np.empty((0, 4), np.int32)]),
        np.concatenate([path.confidence for path in paths] or [np.empty(0, np.float32)]),
        np.array([path.score for path in paths], dtype=np.float64),
        np.array([path.states for path in paths], dtype=np.int64),
    )


def check_gold(pairs: Sequence[SentencePair]) -> None:
    """Refuse pairs that cannot be learnt from: without gold links, or with links of words that are not there."""
    for number, pair in enumerate(pairs, 1):
        name = f"pair {number:,}" + (f" ({pair.id})" if pair.id else "")
        if pair.sure is None:
            raise DataError(f"{name} has no gold links; training needs them for every pair.")
        length, width = len(pair.source), len(pair.target)
        for i, j in (*pair.sure, *(pair.possible or ())):
            if not (0 <= i < length and 0 <= j < width):
                raise DataError(
                    f"{name} has the gold link {i}-{j}, but {length} source and {width} target words; links count "
                    f"words from 0."
                )


def check_combination(combine: str) -> None:
    """Refuse a method that is none of `COMBINATIONS`."""
    if combine not in COMBINATIONS:
        raise UsageError(f"combine must be one of {', '.join(COMBINATIONS)}. Got {combine!r} instead.")
