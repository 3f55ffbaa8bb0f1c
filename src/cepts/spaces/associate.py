"""Association matrices of sentence pairs from a fitted space: links without parallel text.

The only evidence about two words is how near they lie in the shared space, and their positions. For a target word, the
softmax of its similarities to the words of the source sentence, with null as one more word, gives the probability that
it translates each of them; a source word is treated likewise. Most errors concern words that occur more than once in a
sentence, and function words, which are similar to many others. The links around them decide: a link supports the links
a few words away on both sides, most of all those on the same diagonal, and the shares are computed again. If a sentence
has "the" three times, each is linked to the article next to the noun to which its own noun is linked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association, Bitext, Runs, Vectors, as_bitext
from cepts.errors import UsageError, check_choice, check_least
from cepts.extract import Aligning, share_links, similarity_runs, token_similarities
from cepts.names import LINK_MEASURES
from cepts.spaces.retrieve import mean_similarity, unit_rows
from cepts.spaces.space import Space

# These constants, and the defaults of `Scoring`, were tuned on the trial sentences of the Hansards (37 pairs) only.
LEAST_SHARE = 0.5  # the smallest agreement of a link
# Temperature, similarity of null and similarity of identical words, on the scale of each measure.
SCALES = {"csls": (8.0, -0.4, 0.6), "cosine": (16.0, 0.3, 0.9)}

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """How the similarities of words become link probabilities (shares).

    Attributes
    ----------
    measure
        ``csls`` (corrected for words that are near to everything) or ``cosine``.
    temperature
        Factor of the similarities before the softmax, as in `cepts.spaces.retrieve`: higher is sharper. None uses the
        default of the measure.
    null
        How similar null is to every word: higher leaves more words unlinked. None uses the default of the measure.
    diagonal
        Preference for words at the same relative position of their sentences: a share is multiplied by
        ``exp(-diagonal)`` if one word is at the beginning and the other at the end. Use 0 for languages whose word
        order is free or different.
    support
        How much links support the links next to them; 0 scores every word on its own.
    rounds
        How many times the support is computed.
    neighbourhood
        Number of nearest words whose mean similarity csls subtracts.
    max_length
        Pairs with a longer sentence, in words, have no matrix.
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
        check_least(self, 0, "temperature", "diagonal", "support", "rounds")
        check_least(self, 1, "neighbourhood", "max_length")
        if self.null is not None and not np.isfinite(self.null):
            raise UsageError(f"`null` must be a number. Got {self.null} instead.")


class SpaceScorer(Aligning):
    """Scores the links of sentence pairs by the positions of their words in a fitted space.

    The part of a word's probability that goes to no word of the other side goes to null. Pairs that are too long, or
    empty on one side, have a 0 x 0 matrix.

    Parameters
    ----------
    space
        The fitted space, such as `SpaceModel.space_`.
    views
        Vectors of the source and of the target language, as they were read.
    languages
        The names, or numbers, of these two languages in `space`.
    scoring
        How similarities become link probabilities; None uses the defaults of `Scoring`.
    threads
        Number of threads; None uses one for each processor. Results do not depend on it.

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
                f"`views` must be the vectors of the source and of the target. Got {len(views)} languages instead."
            )
        self.sides = space.view(languages[0]), space.view(languages[1])
        if self.sides[0] == self.sides[1]:
            raise UsageError(
                f"`languages` must be two of the space. Got {space.languages[self.sides[0]]} on both sides instead."
            )
        self.space, self.views, self.threads = space, views, threads
        self.scoring = scoring or Scoring()
        self.max_length: int = self.scoring.max_length

    @cached_property
    def projected(self) -> _Projected:
        """The words of the two languages in the shared space."""
        return _Projected(self)

    def knows(self, words: Sequence[str], side: int) -> NDArray[np.bool_]:
        """Which of `words` have a vector, in the language of the source (`side` 0) or of the target (1)."""
        return self.views[side].vocabulary.find(words) >= 0

    def directions(self, pairs: Any, *, cells: int | None = None, in_order: bool = False) -> Runs:
        """The link probabilities of all pairs in both directions, run by run.

        Forward values are the probabilities that a target word translates each source word, reverse values the
        converse. Words are looked up as they are, then in lower case. A word without a vector, such as a name, is
        linked to the same word on the other side, or otherwise to null; numbers and punctuation are linked to the same
        number or sign.
        """
        bitext = as_bitext(pairs)
        return similarity_runs(
            bitext,
            _Words(self, bitext).shares,
            cells=cells,
            max_length=self.max_length,
            threshold=LEAST_SHARE,
            name="a space",
            threads=self.threads,
        )


class _Projected:
    """All words of the two views in the shared space, and how near they are to words of the other view.

    Both are found when they are first needed, and kept for the next part of a text.
    """

    def __init__(self, scorer: SpaceScorer) -> None:
        self._near = partial(mean_similarity, count=scorer.scoring.neighbourhood, threads=scorer.threads)
        self.vectors = [
            unit_rows(scorer.space.project(view.matrix, number))
            for view, number in zip(scorer.views, scorer.sides, strict=True)
        ]
        self._means = [np.full(len(own), np.nan, dtype=np.float32) for own in self.vectors]

    def means(self, side: int, rows: NDArray[np.integer]) -> NDArray[np.float32]:
        """The mean similarities of the words in `rows` of a view to the nearest words of the other view."""
        means = self._means[side]
        new = np.unique(rows[np.isnan(means[rows])])
        means[new] = self._near(self.vectors[side][new], self.vectors[1 - side])
        return means[rows]


class _Words:
    """The words of a bitext in the shared space."""

    def __init__(self, scorer: SpaceScorer, bitext: Bitext) -> None:
        self.options = options = scorer.scoring
        temperature, null, self.identical = SCALES[options.measure]
        self.temperature = float(temperature if options.temperature is None else options.temperature)
        self.null = float(null if options.null is None else options.null)
        texts = bitext.source, bitext.target
        self.vectors: tuple[Matrix, ...] = ()
        self.kinds: tuple[NDArray[np.int64], ...] = ()
        self.less: tuple[NDArray[np.float32], ...] = ()
        self.factor = 2.0 if options.measure == "csls" else 1.0
        for side, (view, text) in enumerate(zip(scorer.views, texts, strict=True)):
            words = text.vocabulary.words
            rows = view.vocabulary.find(words)
            own = np.where(rows[:, None] >= 0, scorer.projected.vectors[side][rows], np.float32(0))
            kinds = np.array([_kind(word) for word in words], dtype=np.int64)
            kinds = np.where(own.any(axis=1), kinds, 3)
            less = np.zeros(len(own), dtype=np.float32)
            if options.measure == "csls":
                less[kinds < 3] = scorer.projected.means(side, rows[kinds < 3])
            self.vectors += (own,)
            self.kinds += (kinds,)
            self.less += (less,)
        numbers: dict[str, int] = {}
        self.forms = tuple(
            np.array([numbers.setdefault(word.lower(), len(numbers)) for word in text.vocabulary.words], dtype=np.int64)
            for text in texts
        )

    def shares(self, part: Bitext) -> tuple[Association, Association]:
        """Forward and reverse shares of a run of pairs."""
        words, options = (self.less, self.kinds, self.forms), self.options
        similarities = token_similarities(part, self.vectors, *words, factor=self.factor, identical=self.identical)
        return share_links(
            part,
            similarities,
            temperature=self.temperature,
            null=self.null,
            diagonal=options.diagonal,
            support=options.support,
            rounds=options.rounds,
        )


def _kind(word: str) -> int:
    """0 for a word with letters, 2 for a number, 1 for a symbol that is neither."""
    return 0 if any(map(str.isalpha, word)) else 2 if any(map(str.isnumeric, word)) else 1
