"""The scores of a phrase model for a run of sentence pairs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Association, Directions, Segments, SentencePair, geometric_mean
from cepts.extract import rectangles
from cepts.phrases.gaps import join_expressions
from cepts.phrases.inventory import Inventory
from cepts.phrases.wordnet import WordNet

# The least probability of the links that gather several words around one.
GATHERED = 0.6


class PhraseDirections(Directions):
    """The marginals and the best paths of the CRFs of both directions.

    Parameters
    ----------
    forward, reverse
        The probability of each link in each direction. `forward` runs along the target words and has P(null) of each
        target word; `reverse` runs along the source words and has P(null) of each source word.
    forward_path, reverse_path
        The segments of the best path of each direction, with their probabilities and the scores of the path.
    sentence_pairs
        The pairs, with all columns of training.
    inventory, wordnet
        Used for cepts with gaps: the inventory of the model, and WordNet if there is one.
    first
        The index of the first pair of the run, from 0.
    """

    name = "a phrase model"
    # Chosen on a part of the training pairs of MSR06 and Edinburgh++ (benchmarks/phrases.py --tables thresholds).
    threshold = 0.4
    looseness = 0.4

    def __init__(
        self,
        forward: Association,
        reverse: Association,
        forward_path: Segments,
        reverse_path: Segments,
        sentence_pairs: Sequence[SentencePair],
        inventory: Inventory,
        wordnet: WordNet | None = None,
        first: int = 0,
    ) -> None:
        self.forward, self.reverse = forward, reverse
        self.forward_path, self.reverse_path = forward_path, reverse_path
        self.sentence_pairs, self.first = sentence_pairs, first
        self._inventory, self._wordnet = inventory, wordnet

    @cached_property
    def paths(self) -> tuple[Alignments, Alignments]:
        """The links of the best segments."""
        return self.forward_path.alignments(), self.reverse_path.alignments()

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """The normalised decoding scores, forward and reverse (Yao et al., 2013, section 5)."""
        return np.stack([self.forward_path.normalised_scores, self.reverse_path.normalised_scores], axis=1)

    def segments(self, links: Alignments) -> Segments:
        """The segments of a direction's best path; for other links their rectangles, with both paths' scores added."""
        paths = self.forward_path, self.reverse_path
        for path, own in zip(paths, self.paths, strict=True):
            if links is own:
                return path
        found = rectangles(links, every_link=True)
        scores, states = paths[0].scores + paths[1].scores, paths[0].states + paths[1].states
        return Segments(found.offsets, found.spans, found.confidence, scores, states)

    @cached_property
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
