"""The scores of a phrase model for a run of sentence pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import (
    Alignments,
    Association,
    Directions,
    Segment,
    Segments,
    SentencePair,
    geometric_mean,
    lazy_property,
    offsets_of,
)
from cepts.extract import rectangles, threshold
from cepts.phrases.gaps import join_expressions
from cepts.phrases.inventory import Inventory
from cepts.phrases.wordnet import WordNet

# The least probability of the links that gather several words around one.
GATHERED = 0.6


class Correspondence(NamedTuple):
    """Which spans of a pair are parallel, and which words have the same lemma (`cepts.kernels.correspondence`)."""

    parallel: NDArray[np.bool_]
    same: NDArray[np.bool_]


NO_CORRESPONDENCE = Correspondence(np.zeros((0, 0, 1), np.bool_), np.zeros((0, 0), np.bool_))


class PosteriorPair(NamedTuple):
    """P(link) in each direction.

    `forward` runs along the target words and has P(null) of each target word; `reverse` runs along the source words and
    has P(null) of each source word.
    """

    forward: Association
    reverse: Association

    def averaged(self, other: PosteriorPair) -> PosteriorPair:
        """The means of the probabilities of two models, also of null."""
        forward, reverse = (
            replace(
                one,
                **{
                    name: (getattr(one, name) + getattr(two, name)) / np.float32(2)
                    for name in ("values", "source_null", "target_null")
                    if getattr(one, name) is not None
                },
            )
            for one, two in zip(self, other, strict=True)
        )
        return PosteriorPair(forward, reverse)


class PhraseDirections(Directions):
    """The marginals and the best paths of the CRFs of both directions.

    Parameters
    ----------
    words, phrases
        P(link) in each direction: if the words of a segment are linked where they stand for each other, and if all
        words of its one side are linked with all words of the other.
    forward_path, reverse_path
        The segments of the best path of each direction, with their probabilities and the scores of the path.
    correspondences
        Which words of each pair stand for each other.
    sentence_pairs
        The pairs, with all columns of training.
    inventory, wordnet
        Used for cepts with gaps: the inventory of the model, and WordNet if there is one.
    first
        The index of the first pair of the run, from 0.
    links
        ``words`` or ``phrases``: which of the two probabilities are `forward` and `reverse`.
    """

    name = "a phrase model"
    # Chosen on a part of the training pairs of MSR06 and Edinburgh++ (benchmarks/phrases.py --tables thresholds).
    threshold = 0.4
    looseness = 0.4

    def __init__(
        self,
        words: PosteriorPair,
        phrases: PosteriorPair,
        forward_path: Segments,
        reverse_path: Segments,
        correspondences: Sequence[Correspondence],
        sentence_pairs: Sequence[SentencePair],
        inventory: Inventory,
        wordnet: WordNet | None = None,
        first: int = 0,
        *,
        links: str = "words",
    ) -> None:
        self.words, self.phrases, self.links = words, phrases, links
        self.forward, self.reverse = words if links == "words" else phrases
        self._correspondences = correspondences
        self.forward_path, self.reverse_path = forward_path, reverse_path
        self.sentence_pairs, self.first = sentence_pairs, first
        self._inventory, self._wordnet = inventory, wordnet

    @lazy_property
    def paths(self) -> tuple[Alignments, Alignments]:
        """The links of the best segments."""
        if self.links == "phrases":
            return self.forward_path.alignments(), self.reverse_path.alignments()
        return self._word_links(self.forward_path), self._word_links(self.reverse_path)

    def _word_links(self, path: Segments) -> Alignments:
        """The links of words that stand for each other in the segments of a path."""
        from cepts.kernels.correspondence import path_links

        links = path.alignments()
        kept = np.zeros(len(links.source), dtype=np.bool_)
        for n, (parallel, same) in enumerate(self._correspondences):
            own, run = slice(*path.offsets[n : n + 2]), slice(*links.offsets[n : n + 2])
            if run.start < run.stop:
                matrix = np.zeros(same.shape)
                path_links(path.spans[own], parallel, same, matrix)
                kept[run] = matrix[links.source[run], links.target[run]] > 0
        return links.only(kept)

    @lazy_property
    def scores(self) -> NDArray[np.float64]:
        """The normalised decoding scores, forward and reverse (Yao et al., 2013, section 5)."""
        return np.stack([self.forward_path.normalised_scores, self.reverse_path.normalised_scores], axis=1)

    def segments(self, links: Alignments) -> Segments:
        """The phrases that go with links: the segments of a direction's best path, or those on which both agree.

        Phrases on which both directions agree are the rectangles of `phrases` at the default threshold, as far as they
        hold a link, and rectangles of the links outside of them. Their scores are those of both paths, added.
        """
        paths = self.forward_path, self.reverse_path
        for path, own in zip(paths, self.paths, strict=True):
            if links is own:
                return path
        if self.links == "phrases":
            rows = list(rectangles(links, every_link=True))
        else:
            agreed = rectangles(threshold(geometric_mean(*self.phrases), self.threshold), every_link=True)
            rows = _with_links(agreed, links)
        scores, words = paths[0].scores + paths[1].scores, paths[0].path_words + paths[1].path_words
        return Segments(
            offsets_of([len(row) for row in rows]),
            np.array([(*one, *other) for row in rows for one, other, _ in row], np.int32).reshape(-1, 4),
            np.array([confidence for row in rows for _, _, confidence in row], np.float32),
            scores,
            words,
        )

    @lazy_property
    def for_cepts(self) -> Association:
        """The link probabilities from which cepts are made, so that phrases may have gaps.

        They are the geometric means of both directions, with one exception. If one direction links several words with
        the same word of the other side, each with a probability of at least `GATHERED`, these links keep the
        probabilities of that direction: only the direction that runs along the several words can link them all, so
        agreement would lose them. This does not apply to a word that merely occurs twice. Verbs are then joined with
        their particles (`join_expressions`).
        """
        agreed = geometric_mean(self.forward, self.reverse)
        for n, pair in enumerate(self.sentence_pairs):
            matrix = agreed[n]
            for one, found, words in (
                (matrix, self.reverse[n], pair.source.lemma or pair.source.tokens),
                (matrix.T, self.forward[n].T, pair.target.lemma or pair.target.tokens),
            ):
                likely = found >= GATHERED
                for word in np.flatnonzero(likely.sum(axis=0) > 1):
                    places = np.flatnonzero(likely[:, word])
                    if len({words[place].lower() for place in places}) == len(places):
                        one[places, word] = np.maximum(one[places, word], found[places, word])
        if self._wordnet is None:
            return agreed
        return join_expressions(agreed, self.sentence_pairs, self._inventory, self._wordnet)


def _with_links(phrases: Segments, links: Alignments) -> list[list[Segment]]:
    """The phrases of each pair that hold one of its links, and rectangles of the links that are in none, in order."""
    outside = np.ones(len(links.source), dtype=np.bool_)
    kept = []
    for n, segments in enumerate(phrases):
        run = slice(*links.offsets[n : n + 2])
        source, target = links.source[run], links.target[run]
        own = []
        for segment in segments:
            (start, stop), (other, end), _ = segment
            inside = (start <= source) & (source < stop) & (other <= target) & (target < end)
            if inside.any():
                own.append(segment)
                outside[run] &= ~inside
        kept.append(own)
    rest = rectangles(links.only(outside), every_link=True)
    return [sorted([*own, *more]) for own, more in zip(kept, rest, strict=True)]
