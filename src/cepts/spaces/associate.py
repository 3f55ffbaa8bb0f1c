"""Association matrices of sentence pairs from a fitted space: links without parallel text.

All that is known of two words is how near they lie in the shared space, and where they stand. For a target word, the
softmax of its similarities to the words of the source sentence, with null as one more of them, says which of these it
translates; for a source word likewise. Most that goes wrong are words which a sentence has more than once, and function
words, which are near to many: there the links around decide. A link lends support to those a few words farther on both
sides, the more the straighter, and the shares are computed again; where a sentence says "the" three times, each goes
with the article beside the noun that its own noun goes with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association, Bitext, Directions, GivenDirections, Runs, Text, Vectors, as_bitext, offsets_of
from cepts.engine import cut_runs
from cepts.errors import UsageError, check_choice
from cepts.extract import Aligning
from cepts.names import LINK_MEASURES
from cepts.spaces.retrieve import mean_similarity, unit_rows
from cepts.spaces.space import Space

__all__ = ["Scoring", "SpaceScorer", "support_weights"]

CELLS_IN_SHARD = 1 << 18
# The least agreement of a link. Set on the trial sentences of the Hansards only, as is all of this module.
LEAST_SHARE = 0.5
# How far a link reaches, and how much less it lends for each word of a bend, and of distance.
REACH = 3
BEND = 0.7
FADE = 0.5

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Scale:
    """Temperature, similarity of null and similarity of identical words, on the scale of a measure."""

    temperature: float
    null: float
    identical: float


# Set on the trial sentences of the Hansards (37 pairs), as are the defaults of `Scoring`, and on nothing else.
SCALES: dict[str, _Scale] = {"csls": _Scale(8.0, -0.4, 0.6), "cosine": _Scale(16.0, 0.3, 0.9)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """How similarities become shares.

    Attributes
    ----------
    measure
        ``csls`` (without the advantage of words that are near to everything) or ``cosine``.
    temperature
        What similarities are multiplied with before the softmax, as in `cepts.spaces.retrieve`: higher is sharper. None
        is the measure's own.
    null
        How similar null is to every word: more leaves more words unlinked. None is the measure's own.
    diagonal
        Preference for words at the same place of their sentences: a share falls by exp(-diagonal) from one end to the
        other. 0 for languages whose order of words is free or different.
    support
        How much links lend to those beside them; 0 leaves every word to itself.
    rounds
        How often the links around are looked at.
    neighbourhood
        Nearest words whose mean similarity csls takes away.
    max_length
        Pairs with a longer sentence have no matrix.
    """

    measure: str = "csls"
    temperature: float | None = None
    null: float | None = None
    diagonal: float = 4.0
    support: float = 3.0
    rounds: int = 4
    neighbourhood: int = 10
    max_length: int = 1000

    def __post_init__(self) -> None:
        check_choice("measure", self.measure, LINK_MEASURES)
        for name in ("temperature", "null", "diagonal", "support"):
            value = getattr(self, name)
            if value is not None and (not np.isfinite(value) or (name != "null" and value < 0)):
                wanted = "a number" if name == "null" else "0 or more"
                raise UsageError(f"`{name}` must be {wanted}. Got {value} instead.")
        for name, least in (("rounds", 0), ("neighbourhood", 1), ("max_length", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"`{name}` must be {least} or more. Got {getattr(self, name)} instead.")


class SpaceScorer(Aligning):
    """Scores the words of sentence pairs by their places in a fitted space.

    Null has what is left: the mass of each source (target) word that no word of the other side is similar enough to.
    Pairs that are empty on a side or too long have a 0 x 0 matrix.

    Parameters
    ----------
    space
        A fitted space.
    views
        Vectors of the source and of the target language, as they were read.
    languages
        The views of the space to which they belong.
    scoring
        How similarities become shares.
    threads
        Threads to use; None is one for each processor. Results do not depend on it.

    Examples
    --------
    >>> scorer = SpaceScorer(space, [english, french])  # doctest: +SKIP
    >>> scorer.align_pair("the house", "la maison").links  # doctest: +SKIP
    [(0, 0), (1, 1)]
    """

    def __init__(
        self,
        space: Space,
        views: Sequence[Vectors],
        *,
        languages: tuple[str | int, str | int] = (0, 1),
        scoring: Scoring | None = None,
        threads: int | None = None,
    ) -> None:
        if len(views) != 2:
            raise UsageError(
                f"`views` must be the vectors of the source and of the target. Got those of {len(views)} languages."
            )
        self.sides = space.view(languages[0]), space.view(languages[1])
        if self.sides[0] == self.sides[1]:
            raise UsageError(
                f"`languages` must be two of the space. Got {space.languages[self.sides[0]]} on both sides."
            )
        self.space, self.views, self.threads = space, views, threads
        self.scoring = scoring or Scoring()
        self.max_length: int = self.scoring.max_length

    def directions(self, pairs: Any, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """Forward and reverse shares of all pairs, run by run.

        Forward values say of which source word each target word is the translation, reverse ones the converse. Words
        are looked up as they are, then in lower case. Those without a vector go with the same word on the other side (a
        name, a number), else to null; numbers and punctuation go with the same.
        """
        bitext = as_bitext(pairs)
        words = _Words(self.space, self.views, bitext, self.sides, self.scoring, self.threads)
        lengths = bitext.source.lengths, bitext.target.lengths
        kept = (np.minimum(*lengths) > 0) & (np.maximum(*lengths) <= self.max_length)
        texts = [_without(text, kept) for text in (bitext.source, bitext.target)]
        offsets = offsets_of(texts[0].lengths * texts[1].lengths)

        def run(start: int, stop: int) -> Directions:
            forward, reverse = words.shares(texts[0].part(start, stop), texts[1].part(start, stop))
            return GivenDirections(forward, reverse, first=start, threshold=LEAST_SHARE, name="a space")

        runs = cut_runs(offsets, min(cells or CELLS_IN_SHARD, CELLS_IN_SHARD))
        return Runs([partial(run, *bounds) for bounds in runs], len(bitext), threads=self.threads)


def support_weights() -> NDArray[np.float64]:
    """How much a link lends to the one i source and j target words farther, i and j from -3 to 3.

    exp(-0.7 |i - j| - 0.5 (|i| + |j| - 2)); nothing in its own row and column, whose links compete with it.
    """
    steps = np.arange(-REACH, REACH + 1)
    i, j = steps[:, None], steps[None, :]
    weights = np.exp(-BEND * np.abs(i - j) - FADE * (np.abs(i) + np.abs(j) - 2))
    return np.where((i == 0) | (j == 0), 0.0, weights)


class _Words:
    """The words of a bitext in the shared space, each vocabulary placed once."""

    def __init__(
        self,
        space: Space,
        views: Sequence[Vectors],
        bitext: Bitext,
        sides: tuple[int, int],
        options: Scoring,
        threads: int | None,
    ) -> None:
        self.options = options
        self.scale = SCALES[options.measure]
        texts = bitext.source, bitext.target
        placed = [_Side(space, *given) for given in zip(views, sides, texts, strict=True)]
        numbers: dict[str, int] = {}
        self.forms = [
            np.array([numbers.setdefault(word.lower(), len(numbers)) for word in text.vocabulary.words], dtype=np.int64)
            for text in texts
        ]
        self.kinds = [side.kinds for side in placed]
        self.vectors = [side.own for side in placed]
        self.factor = 2.0 if options.measure == "csls" else 1.0
        self.less = [np.zeros(len(side.own), dtype=np.float32) for side in placed]
        if options.measure == "csls":
            for less, side, other in zip(self.less, placed, reversed(placed), strict=True):
                known = side.kinds < 3
                count = options.neighbourhood
                less[known] = mean_similarity(side.own[known], other.everything, count=count, threads=threads)
        self.weights = support_weights()

    def shares(self, source: Text, target: Text) -> tuple[Association, Association]:
        """Forward and reverse shares of a run of pairs."""
        from cepts.kernels.space_links import link_shares, word_similarities

        lengths = source.lengths, target.lengths
        cells = offsets_of(lengths[0] * lengths[1])
        similarities, forward, reverse = (np.empty(int(cells[-1]), dtype=np.float32) for _ in range(3))
        source_null, target_null = (np.empty(len(text.ids), dtype=np.float32) for text in (source, target))
        scale, options = self.scale, self.options
        word_similarities(
            np.ascontiguousarray(source.ids),
            np.ascontiguousarray(target.ids),
            source.offsets,
            target.offsets,
            cells,
            *self.vectors,
            self.factor,
            *self.less,
            *self.kinds,
            *self.forms,
            scale.identical,
            similarities,
        )
        link_shares(
            *lengths,
            cells,
            similarities,
            float(scale.temperature if options.temperature is None else options.temperature),
            float(scale.null if options.null is None else options.null),
            float(options.diagonal),
            float(options.support),
            self.weights,
            options.rounds if options.support else 0,
            np.empty((2, int(np.diff(cells).max(initial=0)))),
            forward,
            reverse,
            source_null,
            target_null,
        )
        return (
            Association(*lengths, cells, forward, target_null=target_null),
            Association(*lengths, cells, reverse, source_null=source_null),
        )


class _Side:
    """Unit vectors of a view's words in the shared space, and of the words of a text."""

    def __init__(self, space: Space, view: Vectors, number: int, text: Text) -> None:
        self.everything = unit_rows(space.project(view.matrix, number))
        words = text.vocabulary.words
        rows = view.vocabulary.find(words)
        self.own = np.zeros((len(words), space.width), dtype=np.float32)
        self.own[rows >= 0] = self.everything[rows[rows >= 0]]
        self.kinds = np.array([_kind(word) for word in words], dtype=np.int64)
        self.kinds[~self.own.any(axis=1)] = 3


def _kind(word: str) -> int:
    """0 for a word with letters, 2 for a number, 1 for a symbol that is neither."""
    if any(character.isalpha() for character in word):
        return 0
    return 2 if any(character.isnumeric() for character in word) else 1


def _without(text: Text, kept: NDArray[np.bool_]) -> Text:
    """The same with no words in the sentences that are not kept."""
    lengths = np.where(kept, text.lengths, 0)
    return Text(text.ids[np.repeat(kept, text.lengths)], offsets_of(lengths), text.vocabulary)
