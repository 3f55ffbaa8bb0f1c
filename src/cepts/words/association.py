"""The association matrices that a trained aligner makes, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association, Bitext, NBest, offsets_of
from cepts.errors import UsageError
from cepts.progress import Progress
from cepts.words.aligner import CELLS_OF_LISTS, Aligner
from cepts.words.cooccurrence import STATISTICS, Cooccurrence
from cepts.words.index import CELLS_IN_SHARD
from cepts.words.mixture import Mixture, Shapes, Uniform
from cepts.words.positions import Block

__all__ = ["ASSOCIATIONS", "associate", "associate_all", "association_of_nbest", "scale_to_words"]

ASSOCIATIONS = {
    "agreement": "geometric mean of the directions' posteriors, with P(null) of each word",
    "mean": "arithmetic mean of the directions' posteriors, with P(null) of each word",
    "forward": "posteriors of the model that explains the target, with P(null) of each target word",
    "reverse": "posteriors of the model that explains the source, with P(null) of each source word",
    "nbest": "how many of the best alignments of either direction have a link, or a word at null",
    "nbest-probability": "the same, each alignment weighted by its probability among the best",
    "nbest-rank": "the same, each alignment weighted by one over its rank",
    "nbest-agreement": "geometric mean of the directions' lists, each alignment weighted by its probability",
    "tables": "mean of the directions' lexicon x P(position), not normalised over the sentence",
    "counts": "in how many sentence pairs of the training text both words stand",
    "dice": "Dice coefficient of these counts",
    "pmi": "pointwise mutual information of these counts, where positive",
    "llr": "log-likelihood ratio of these counts, where words attract each other",
}

NBEST = 100
RULES = {"nbest": 0, "nbest-probability": 1, "nbest-rank": 2, "nbest-agreement": 1}

Scorer = Callable[[Aligner, Block], Association]


def associate(
    aligner: Aligner,
    bitext: Bitext,
    name: str = "agreement",
    *,
    nbest: int = NBEST,
    competing: bool = False,
    cooccurrence: Cooccurrence | None = None,
    progress: Progress | None = None,
) -> Iterator[Association]:
    """One matrix for each pair of `bitext`, run by run; 0 x 0 for a pair that is empty on one side or too long.

    Parameters
    ----------
    aligner
        A trained aligner.
    bitext
        The sentence pairs.
    name
        One of `ASSOCIATIONS`, which says what each is.
    nbest
        For ``nbest`` and its kin: how many alignments to take in each direction. Entries are between 0 and twice as
        many, and so are those of null, which only the direction that explains the word has and which count twice.
    competing
        For co-occurrence statistics: see `cepts.words.cooccurrence.compete`.
    cooccurrence
        Statistics of another text than that of training, which a loaded model does not have.
    progress
        Told after each run.
    """
    if name not in ASSOCIATIONS:
        raise UsageError(f"association must be one of {', '.join(ASSOCIATIONS)}. Got {name!r} instead.")
    if nbest < 1:
        raise UsageError(f"nbest must be 1 or more. Got {nbest} instead.")
    if name in STATISTICS:
        found = Cooccurrence.of(aligner) if cooccurrence is None else cooccurrence
        return found.blocks(bitext, name, competing=competing, progress=progress)
    if competing:
        raise UsageError(f"only {', '.join(STATISTICS)} can compete; the association is {name}.")
    if name in RULES:
        scorer: Scorer = partial(_counts, name=name, count=nbest)
        # Few pairs at a time: the lists are far larger than the matrices.
        makers = aligner._new_blocks(bitext, cells=max(min(CELLS_IN_SHARD, CELLS_OF_LISTS // nbest), 1))
    else:
        scorer, makers = SCORERS[name], aligner._new_blocks(bitext)
    return (made for _, made in aligner._map(makers, partial(scorer, aligner), progress))


def associate_all(aligner: Aligner, bitext: Bitext, name: str = "agreement", **options: Any) -> Association:
    """The matrices of all pairs of `bitext` at once; the options are those of `associate`."""
    return Association.concatenate(list(associate(aligner, bitext, name, **options)))


def association_of_nbest(
    forward: NBest, reverse: NBest, name: str = "nbest", *, length: int | None = None
) -> Association:
    """The links of both directions' N-best lists counted, as in section 5 of onmf.

    Parameters
    ----------
    forward, reverse
        The lists of the same sentence pairs, by target word and by source word.
    name
        ``nbest`` counts entries. ``nbest-probability`` weighs them by their probability, ``nbest-rank`` by one over
        their rank; the weights of a list sum to its length, so that the scale of the counts stays.
        ``nbest-agreement`` weighs them by their probability, and takes twice the geometric mean of the directions in
        the place of their sum, so that what only one of them has counts for nothing.
    length
        How many alignments were asked for. A list that is shorter has all alignments of its pair, likely and unlikely:
        its entries are weighted by their probability, and as a whole count as much as a list of that length.
    """
    from cepts.kernels.association import add_nbest, nbest_weights

    if name not in RULES:
        raise UsageError(f"name must be one of {', '.join(RULES)}. Got {name!r} instead.")
    if len(forward) != len(reverse):
        raise ValueError(
            f"both lists must be of as many sentence pairs. Got {len(forward)} and {len(reverse)} instead."
        )
    source_lengths, target_lengths = reverse.lengths, forward.lengths
    cells = source_lengths * target_lengths
    offsets = offsets_of(cells)
    counted = np.zeros(int(offsets[-1]), dtype=np.float32)
    other = np.zeros_like(counted) if name == "nbest-agreement" else counted
    nulls = []
    for one, is_reverse, values in ((reverse, True, other), (forward, False, counted)):
        weights = np.empty(len(one.log_probabilities))
        nbest_weights(one.offsets, one.log_probabilities, RULES[name], 0 if length is None else length, weights)
        words = offsets_of(one.lengths)
        null = np.zeros(int(words[-1]), dtype=np.float32)
        room = np.empty(int((cells + one.lengths).max(initial=0)))
        add_nbest(
            one.offsets,
            one.lengths,
            one.positions,
            weights,
            words,
            offsets,
            target_lengths,
            is_reverse,
            values,
            null,
            room,
        )
        # Links are counted in both directions, null only in the one that explains the word.
        nulls.append(2 * null)
    if other is not counted:
        counted = 2 * np.sqrt(counted * other)
    return Association(source_lengths, target_lengths, offsets, counted, *nulls)


def scale_to_words(association: Association, weight: float = 1.0) -> Association:
    """Scale each matrix as a whole, so that it and half its null sum to `weight` times half the words of the pair.

    That is what ``mean`` sums to with a weight of 1, and ``nbest`` with twice the length of the lists. Where a number
    of cepts is chosen by likelihood, the sum of the matrix is the number of observations, and matters. A matrix of
    zeros stays as it is.
    """
    total = np.zeros(len(association))
    for field, values, offsets in association.masses():
        total += (1.0 if field == "values" else 0.5) * _sums(values, offsets)
    wanted = weight * (association.source_lengths + association.target_lengths) / 2
    return association.scaled(np.divide(wanted, total, out=np.ones_like(total), where=total > 0))


def _sums(values: NDArray[np.float32], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum of each run."""
    full = np.flatnonzero(np.diff(offsets) > 0)
    sums = np.zeros(len(offsets) - 1)
    if len(full):
        sums[full] = np.add.reduceat(values, offsets[full], dtype=np.float64)
    return sums


# -- one run of pairs ------------------------------------------------------------------------------------------------


def _shape(block: Block) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    return block.pairs.source_lengths, block.pairs.target_lengths, block.cell_offsets


def _agreement(aligner: Aligner, block: Block) -> Association:
    found = aligner.positions_.posterior(block, agreeing=True)
    return Association(*_shape(block), found.forward, found.source_free, found.target_free)


def _mean(aligner: Aligner, block: Block) -> Association:
    found = aligner.positions_.posterior(block)
    return Association(
        *_shape(block), np.float32(0.5) * (found.forward + found.reverse), found.source_free, found.target_free
    )


def _forward(aligner: Aligner, block: Block) -> Association:
    found = aligner.positions_.posterior(block)
    return Association(*_shape(block), found.forward, target_null=found.target_free)


def _reverse(aligner: Aligner, block: Block) -> Association:
    found = aligner.positions_.posterior(block)
    return Association(*_shape(block), found.reverse, source_null=found.source_free)


def _counts(aligner: Aligner, block: Block, *, name: str, count: int) -> Association:
    return association_of_nbest(*aligner.positions_.nbest(block, count), name, length=count)


def _tables(aligner: Aligner, block: Block) -> Association:
    """Lexicon times position prior: that of Model 2 and its kin, and a uniform one for models whose links depend on
    one another.
    """
    from cepts.kernels.association import mean_of_tables

    positions = aligner.positions_
    if not isinstance(positions, Mixture):
        positions = Uniform(null_prob=getattr(positions, "null_prob", None))
    pairs = block.pairs
    shapes = Shapes.of(pairs)
    priors = positions.priors(shapes)
    values = np.empty(int(block.cell_offsets[-1]), dtype=np.float32)
    source_null, target_null = np.zeros_like(block.source_null), np.zeros_like(block.target_null)
    mean_of_tables(
        pairs.source_offsets,
        pairs.target_offsets,
        block.cell_offsets,
        block.cells,
        block.lexicon,
        block.source_null,
        block.target_null,
        shapes.places(pairs),
        *priors.arrays(),
        values,
        source_null,
        target_null,
    )
    return Association(*_shape(block), values, source_null, target_null)


SCORERS: dict[str, Scorer] = {
    "agreement": _agreement,
    "mean": _mean,
    "forward": _forward,
    "reverse": _reverse,
    "tables": _tables,
}
