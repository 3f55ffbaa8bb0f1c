"""What a word model computes for a block of sentence pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Association, Directions, NBest, Pulls, geometric_mean, lazy_property, offsets_of
from cepts.words.blocks import PairBlock
from cepts.words.confidence import in_sample_confidence, least_posterior
from cepts.words.mixture import IndependentPositions, Uniform
from cepts.words.positions import Expected

if TYPE_CHECKING:
    from cepts.words.aligner import Aligner


class WordDirections(Directions):
    """Posteriors, paths and lists of a block under a trained aligner.

    Parameters
    ----------
    aligner
        Has the position model, and what was learnt from the training text.
    make_block
        Makes the block when it is first needed.
    first
        Index of the block's first pair.
    both_wanted
        Whether the two directions are needed as well, so that the agreement is made from them and the pairs are not
        scored twice.
    trained
        Whether the pairs are known to be pairs of the training text.
    """

    name = "a word model"
    # Set on the trial sentences of the Hansards (benchmarks/threshold.py) only.
    threshold = 0.4
    has_log_probabilities = True

    def __init__(
        self,
        aligner: Aligner,
        make_block: Callable[[], PairBlock],
        first: int = 0,
        both_wanted: bool = False,
        trained: bool = False,
    ) -> None:
        self._aligner, self._positions, self._trained = aligner, aligner.positions_, trained
        self._make_block, self.first, self._both_wanted = make_block, first, both_wanted

    @lazy_property
    def _block(self) -> PairBlock:
        return self._make_block()

    @lazy_property
    def _apart(self) -> Expected:
        """Posteriors of each direction."""
        return self._positions.posterior(self._block)

    @lazy_property
    def _agreed(self) -> Expected:
        """Geometric mean of the posteriors, computed by one kernel."""
        return self._positions.posterior(self._block, agreeing=True)

    def _matrix(self, values: NDArray[np.float32], **nulls: NDArray[np.float32]) -> Association:
        pairs = self._block.pairs
        return Association(pairs.source_lengths, pairs.target_lengths, self._block.pairs.cell_offsets, values, **nulls)

    @lazy_property
    def forward(self) -> Association:
        """P(link) under the model that explains the target."""
        return self._matrix(self._apart.forward, target_null=self._apart.target_free)

    @lazy_property
    def reverse(self) -> Association:
        """P(link) under the model that explains the source."""
        return self._matrix(self._apart.reverse, source_null=self._apart.source_free)

    @lazy_property
    def agreement(self) -> Association:
        """Geometric mean of the two directions, which one kernel computes if the directions are not needed."""
        if self._both_wanted:
            return geometric_mean(self.forward, self.reverse)
        found = self._agreed
        return self._matrix(found.forward, source_null=found.source_free, target_null=found.target_free)

    @lazy_property
    def scores(self) -> NDArray[np.float64]:
        """Log P(target | source) and log P(source | target) of each pair, given the lengths; 0 for unaligned ones."""
        return (self._agreed if "_agreed" in vars(self) else self._apart).log_likelihoods

    @lazy_property
    def paths(self) -> tuple[Alignments, Alignments]:
        """The most probable alignments; a link's confidence is its posterior."""
        found, block = self._apart, self._block
        source, target = self._positions.paths(block) if found.paths is None else found.paths
        forward = self._links(target, block.pairs.target_offsets, found.forward, by_target=True)
        return forward, self._links(source, block.pairs.source_offsets, found.reverse, by_target=False)

    def _links(self, partners: NDArray, offsets: NDArray, posterior: NDArray, *, by_target: bool) -> Alignments:
        """The links of the tokens of one side, whose sentences start at `offsets`, with their partners (-1: none)."""
        block = self._block
        linked = np.flatnonzero(partners >= 0)
        pair = np.searchsorted(offsets, linked, side="right") - 1
        sides = linked - offsets[pair], partners[linked]
        source, target = sides[::-1] if by_target else sides
        order = np.lexsort((target, source, pair))
        pair, source, target = pair[order], source[order], target[order]
        cell = block.pairs.cell_offsets[pair] + source * block.pairs.target_lengths[pair] + target
        return Alignments(
            offsets_of(np.bincount(pair, minlength=len(block.pairs))),
            source.astype(np.int32),
            target.astype(np.int32),
            np.minimum(posterior[cell], np.float32(1)),
            np.ones(len(pair), dtype=np.bool_),
        )

    @lazy_property
    def pulls(self) -> tuple[Pulls, Pulls]:
        """How closely words belong to their neighbours, by how often they are adjacent in the training text."""
        source, target = self._aligner.cohesion()
        pairs = self._block.pairs
        return (
            source.pulls(self._block.source_words, pairs.source_offsets),
            target.pulls(self._block.target_words, pairs.target_offsets),
        )

    @lazy_property
    def frequencies(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How often each token occurs in the training text; 0 for unknown words."""
        found = []
        for side, words in (
            (self._aligner.source_, self._block.source_words),
            (self._aligner.target_, self._block.target_words),
        ):
            # A vocabulary may be empty, or so large that it must not be copied for every block.
            times, known = np.zeros(len(words), dtype=np.int64), words >= 0
            times[known] = side.frequencies[words[known]]
            found.append(times)
        return found[0], found[1]

    @lazy_property
    def _in_sample(self) -> NDArray[np.bool_]:
        """Which pairs the model was trained on, as far as their adjacent words tell."""
        pairs, block = self._block.pairs, self._block
        if self._trained:
            return np.ones(len(pairs), dtype=np.bool_)
        source, target = self._aligner.cohesion()
        seen = source.seen(block.source_words, pairs.source_offsets)
        return seen & target.seen(block.target_words, pairs.target_offsets)

    def confidences(self, links: Alignments) -> NDArray[np.float32]:
        """Posteriors of new pairs, which are about right, and less than them in the training text.

        See `in_sample_confidence`.
        """
        if not self._aligner.overconfident:
            return links.confidence
        pairs, (source, target) = self._block.pairs, self.frequencies
        known = self._in_sample[links.pair]
        pair = links.pair[known]
        rarer = np.minimum(
            source[pairs.source_offsets[pair] + links.source[known]],
            target[pairs.target_offsets[pair] + links.target[known]],
        )
        found = links.confidence.copy()
        found[known] = in_sample_confidence(found[known], rarer)
        return found

    def least_agreement(self, confidence: float) -> float:
        """The least posterior with which a link can have this confidence."""
        return min(confidence, least_posterior(confidence)) if self._aligner.overconfident else confidence

    def lists(self, count: int) -> tuple[NBest, NBest]:
        """The `count` most probable alignments of each direction."""
        return self._positions.nbest(self._block, count)

    def tables(self) -> Association:
        """Lexicon times position prior, which is uniform for models whose links depend on one another."""
        from cepts.kernels.association import mean_of_tables

        positions = self._positions
        if not isinstance(positions, IndependentPositions):
            positions = Uniform(null_prob=getattr(positions, "null_prob", None))
        block = self._block
        priors = positions.priors_of(block)
        values = np.empty(int(block.pairs.cell_offsets[-1]), dtype=np.float32)
        source_null, target_null = np.zeros_like(block.source_given_null), np.zeros_like(block.target_given_null)
        mean_of_tables(block.arrays, priors, values, source_null, target_null)
        return self._matrix(values, source_null=source_null, target_null=target_null)

    def statistic(self, name: str) -> Association:
        """A co-occurrence statistic of the training text."""
        block = self._block
        return self._aligner.cooccurrence().of_words(block.source_words, block.target_words, block.pairs, name)
