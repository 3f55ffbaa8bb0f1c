"""Association matrices of sentence pairs from the vectors that an encoder gives to their words: links without training.

The similarity of two words is the cosine of their vectors, from which the mean of their sentence is subtracted, because
the vectors of many encoders lie in a narrow cone, and some words are near to all others. A preference for the diagonal
is added, and support from the links of neighbouring words, as in `cepts.spaces`. One of four methods makes
probabilities from the result: a softmax over each row and each column with null as one more word (as in awesome-align,
Dou and Neubig, 2021), of which ``argmax`` keeps the mutually best cells and ``itermax`` also the best of those that
remain (SimAlign, Sabet et al., 2020), or unbalanced optimal transport (OTAlign, Arase et al., 2023), in which words
without a good partner keep their mass, so that null needs no rule of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association, Bitext, Runs, Text, Vocabulary, as_bitext, offsets_of
from cepts.encoders.encoder import Encoder, Matrix, unit_vectors
from cepts.errors import DataError, UsageError, check_choice, check_least
from cepts.extract import Aligning, share_links, similarity_runs, token_similarities
from cepts.names import ENCODER_METHODS

# The defaults of `Similarity` were set for `cepts.encoders.universal`, on the trial pairs of the Hansards and on gold
# pairs of four other language pairs (benchmarks/encoders.py).
SWEEPS = 500  # of optimal transport, at most
LEAST = 1e-6  # keeps all links that argmax and itermax leave
THRESHOLDS = {"softmax": 0.5, "argmax": LEAST, "itermax": LEAST, "transport": 0.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Similarity:
    """How the similarities of words become link probabilities.

    Attributes
    ----------
    method
        ``softmax``, ``argmax``, ``itermax`` or ``transport``.
    temperature
        Factor of the similarities before exponentials are taken: higher is sharper.
    null
        Similarity of null to every word: higher leaves more words unlinked.
    centred
        Subtract from each vector what the words of its sentence have in common: (n - 1) / n of their mean.
    diagonal
        Preference for words at the same relative position of their sentences: a probability is multiplied by
        ``exp(-diagonal)`` if one word is at the beginning and the other at the end. Use 0 for languages whose word
        order is free or different.
    support
        How much links support the links next to them; 0 scores every word on its own.
    rounds
        How many times the support is computed.
    best_rounds
        For ``itermax``: how many times the mutually best cells are taken.
    stay
        For ``transport``: how much it costs to leave mass where it is, in units of the temperature's exponent; higher
        leaves fewer words unlinked.
    max_length
        Pairs with a longer sentence, in words, have no matrix.
    """

    method: str = "softmax"
    temperature: float = 24.0
    null: float = 0.2
    centred: bool = True
    diagonal: float = 4.0
    support: float = 3.0
    rounds: int = 4
    best_rounds: int = 2
    stay: float = 2.0
    max_length: int = 1000

    def __post_init__(self) -> None:
        check_choice("method", self.method, ENCODER_METHODS)
        check_least(self, 0, "temperature", "diagonal", "support", "rounds", "stay")
        check_least(self, 1, "best_rounds", "max_length")
        if not np.isfinite(self.null):
            raise UsageError(f"`null` must be a number. Got {self.null} instead.")


class EncoderScorer(Aligning):
    """Scores the links of sentence pairs by the vectors that an encoder gives to their words.

    Pairs that are too long, or empty on one side, have a 0 x 0 matrix.

    Parameters
    ----------
    encoder
        Gives the vectors.
    similarity
        How they become link probabilities; None uses the defaults of `Similarity`.
    threads
        Number of threads; None uses one for each processor. Results do not depend on it.

    Examples
    --------
    >>> scorer = EncoderScorer(UniversalEncoder())  # doctest: +SKIP
    >>> scorer.align_pair("the house", "la maison").links  # doctest: +SKIP
    [(0, 0), (1, 1)]
    """

    def __init__(self, encoder: Encoder, similarity: Similarity | None = None, *, threads: int | None = None) -> None:
        self.encoder, self.threads = encoder, threads
        self.similarity = similarity or Similarity()
        self.max_length: int = self.similarity.max_length
        # Encoders are not made for several callers.
        self._lock = Lock()
        # The vectors of the vocabularies that were encoded last: the parts of a text have the same ones, or have most
        # words in common.
        self._encoded: tuple[tuple[Vocabulary, ...], tuple[Matrix, Matrix]] | None = None

    @property
    def needs_whole_text(self) -> bool:
        """Whether vectors depend, in their last digits, on what is encoded together with them."""
        return not getattr(self.encoder, "independent", False)

    def directions(self, pairs: Any, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """The link probabilities of all pairs in both directions, run by run."""
        bitext = as_bitext(pairs)
        vectors = None if self.encoder.contextual else self._of_words((bitext.source, bitext.target))

        def shares(part: Bitext) -> tuple[Association, Association]:
            return self._shares(*(self._in_context(part) if vectors is None else (part, vectors)))

        return similarity_runs(
            bitext,
            shares,
            cells=cells,
            max_length=self.max_length,
            threshold=THRESHOLDS[self.similarity.method],
            name="an encoder",
            threads=self.threads,
        )

    def _of_words(self, texts: tuple[Text, ...]) -> tuple[Matrix, Matrix]:
        """One vector for each word of the two vocabularies."""
        vocabularies = tuple(text.vocabulary for text in texts)
        with self._lock:
            known = self._encoded
            if known is None or any(one is not other for one, other in zip(known[0], vocabularies, strict=True)):
                source, target = (self._words_of(vocabulary, side) for side, vocabulary in enumerate(vocabularies))
                self._encoded = known = vocabularies, self._checked(source, target)
            return known[1]

    def _words_of(self, vocabulary: Vocabulary, side: int) -> Matrix:
        """One vector for each word of a vocabulary, of which those of the vocabulary before it are known."""
        words = vocabulary.words
        if self._encoded is None:
            return unit_vectors(self.encoder, [[word] for word in words], side)
        before, vectors = self._encoded[0][side], self._encoded[1][side]
        rows = before.numbers(words)
        new = unit_vectors(self.encoder, [[words[number]] for number in np.flatnonzero(rows < 0)], side)
        if not len(new):
            return vectors[rows]
        found = np.empty((len(words), new.shape[1]), dtype=np.float32)
        found[rows >= 0], found[rows < 0] = vectors[rows[rows >= 0]], new
        return found

    def _in_context(self, part: Bitext) -> tuple[Bitext, tuple[Matrix, Matrix]]:
        """One vector for each token, and the part with tokens numbered one after the other."""
        texts = part.source, part.target
        with self._lock:
            sides = [
                unit_vectors(self.encoder, [text[n] for n in range(len(text))], side) for side, text in enumerate(texts)
            ]
        numbered = (Text(np.arange(len(text.ids), dtype=np.int32), text.offsets, text.vocabulary) for text in texts)
        return Bitext(*numbered), self._checked(sides[0], sides[1])

    def _checked(self, source: Matrix, target: Matrix) -> tuple[Matrix, Matrix]:
        if source.shape[1] != target.shape[1] and len(source) and len(target):
            raise DataError(
                f"{self.encoder.name}: found vectors of {source.shape[1]:,} numbers for the source and "
                f"{target.shape[1]:,} for the target, wanted vectors of one space; encode both sides with one model."
            )
        return source, target

    def _shares(self, part: Bitext, vectors: tuple[Matrix, Matrix]) -> tuple[Association, Association]:
        """Forward and reverse probabilities of a run of pairs."""
        from cepts.kernels.encoder_links import centre

        how = self.similarity
        nothing = tuple(np.zeros(len(side), dtype=np.float32) for side in vectors)
        plain = tuple(np.zeros(len(side), dtype=np.int64) for side in vectors)
        logits = token_similarities(part, vectors, nothing, plain, plain)
        if how.centred:
            lengths = part.source.lengths, part.target.lengths
            centre(*lengths, offsets_of(lengths[0] * lengths[1]), logits, np.empty(int(lengths[1].max(initial=0))))
        found = share_links(
            part,
            logits,
            temperature=how.temperature,
            null=how.null,
            diagonal=how.diagonal,
            support=how.support,
            rounds=how.rounds,
        )
        if how.method == "transport":
            return _transported(found[0], logits, how)
        if how.method != "softmax":
            _keep_best(found, logits, how.best_rounds if how.method == "itermax" else 1)
        return found


def _keep_best(found: tuple[Association, Association], logits: NDArray[np.float32], rounds: int) -> None:
    """Set the probabilities of all cells to 0 but those of the mutually best ones; what is taken goes to null."""
    from cepts.kernels.encoder_links import mutual_best

    forward, reverse = found
    lengths = forward.source_lengths, forward.target_lengths
    kept = np.empty(len(logits), dtype=np.bool_)
    room = np.empty((4, int(max(lengths[0].max(initial=0), lengths[1].max(initial=0)))), dtype=np.int64)
    mutual_best(*lengths, forward.offsets, logits, rounds, room, kept)
    for matrix, null, by_target in ((forward, forward.target_null, True), (reverse, reverse.source_null, False)):
        matrix.values[~kept] = 0.0
        assert null is not None
        null[:] = np.maximum(1.0 - matrix.line_sums(by_target=by_target)[0], 0.0)


def _transported(shape: Association, logits: NDArray[np.float32], how: Similarity) -> tuple[Association, Association]:
    """What share of its mass each word gives to each word of the other side; null has what it keeps.

    A word that gives more than its mass has no null, and its shares are scaled to add up to 1.
    """
    from cepts.kernels.encoder_links import transport

    lengths = shape.source_lengths, shape.target_lengths
    plan = np.empty(len(logits), dtype=np.float32)
    room = np.empty((2, int(max(lengths[0].max(initial=0), lengths[1].max(initial=0)))))
    null = float(how.temperature * how.null)
    transport(*lengths, shape.offsets, logits, null, float(how.stay), SWEEPS, room, plan)
    found = []
    for by_target, side in ((True, lengths[1]), (False, lengths[0])):
        masses = np.repeat(side, np.diff(shape.offsets))
        given = Association(*lengths, shape.offsets, (plan * masses).astype(np.float32))
        sums, line = given.line_sums(by_target=by_target)
        values = (given.values / np.maximum(sums, 1.0)[line]).astype(np.float32)
        nulls = np.maximum(1.0 - sums, 0.0).astype(np.float32)
        of_sides = (None, nulls) if by_target else (nulls, None)
        found.append(Association(*lengths, shape.offsets, values, *of_sides))
    return found[0], found[1]
