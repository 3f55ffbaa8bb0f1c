"""The table of association matrices: each is read off what a scorer says, whatever the scorer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cepts.data import Association, Directions, NBest, offsets_of
from cepts.errors import UsageError, check_choice

if TYPE_CHECKING:
    from cepts.extract.extractors import Extraction

NBEST = 100
# Rules by which the kernel weighs the entries of a list.
RULES = {"nbest": 0, "nbest-probability": 1, "nbest-rank": 2, "nbest-agreement": 1}
# Share of null's mass that is spread over neighbours. Set on the trial sentences of the Hansards (benchmarks/onmf.py)
# only, for posteriors and for lists.
SPREAD = 0.75
SPREAD_LISTS = 0.6


class AssociationKind(NamedTuple):
    """A way to make association matrices.

    Attributes
    ----------
    what
        A line that says what an entry is.
    make
        Makes the matrices of a run of pairs; the second argument is the length of lists.
    certain
        The entry of a certain link, given the length of lists; None where there is no such entry.
    spread
        The share of null's mass that is spread over neighbours by default; 0 where there is no null.
    lists
        Whether links are counted in lists of the best alignments, whose length can be chosen.
    """

    what: str
    make: Callable[[Directions, int], Association]
    certain: Callable[[int], float | None] = lambda nbest: 1.0
    spread: float = SPREAD
    lists: bool = False


def association_of(directions: Directions, extraction: Extraction) -> Association:
    """The matrices that `extraction` names, made once for each run."""
    key = ("association", extraction.association, extraction.length)
    return directions.once(key, lambda: ASSOCIATIONS[extraction.association].make(directions, extraction.length))


def _mean(directions: Directions, nbest: int) -> Association:
    forward, reverse = directions.forward, directions.reverse
    values = np.float32(0.5) * (forward.values + reverse.values)
    return replace(forward, values=values, source_null=reverse.source_null)


def _lists(what: str, name: str) -> AssociationKind:
    def make(directions: Directions, nbest: int) -> Association:
        return association_of_nbest(*directions.lists(nbest), name, length=nbest)

    return AssociationKind(what, make, lambda nbest: 2.0 * nbest, SPREAD_LISTS, lists=True)


def _statistic(what: str, name: str) -> AssociationKind:
    return AssociationKind(
        what, lambda directions, nbest: compete(directions.statistic(name)), lambda nbest: None, spread=0.0
    )


ASSOCIATIONS: dict[str, AssociationKind] = {
    "agreement": AssociationKind(
        "geometric mean of the directions' posteriors, with P(null) of each word",
        lambda directions, nbest: directions.for_cepts,
    ),
    "mean": AssociationKind("arithmetic mean of the directions' posteriors, with P(null) of each word", _mean),
    "forward": AssociationKind(
        "posteriors of the model that explains the target, with P(null) of each target word",
        lambda directions, nbest: directions.forward,
    ),
    "reverse": AssociationKind(
        "posteriors of the model that explains the source, with P(null) of each source word",
        lambda directions, nbest: directions.reverse,
    ),
    "nbest": _lists("how many of the best alignments of either direction have a link, or a word at null", "nbest"),
    "nbest-probability": _lists(
        "the same, each alignment weighted by its probability among the best", "nbest-probability"
    ),
    "nbest-rank": _lists("the same, each alignment weighted by one over its rank", "nbest-rank"),
    "nbest-agreement": _lists(
        "geometric mean of the directions' lists, each alignment weighted by its probability", "nbest-agreement"
    ),
    "tables": AssociationKind(
        "mean of the directions' lexicon x P(position), not normalised over the sentence",
        lambda directions, nbest: directions.tables(),
        lambda nbest: None,
    ),
    "counts": _statistic("in how many sentence pairs of the training text both words stand", "counts"),
    "dice": _statistic("Dice coefficient of these counts", "dice"),
    "pmi": _statistic("pointwise mutual information of these counts, where positive", "pmi"),
    "llr": _statistic("log-likelihood ratio of these counts, where words attract each other", "llr"),
}


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
        ``nbest-agreement`` weighs them by their probability, and takes twice the geometric mean of the directions
        instead of their sum, so that what only one of them has counts for nothing.
    length
        How many alignments were asked for. A list that is shorter has all alignments of its pair, likely and unlikely:
        its entries are weighted by their probability, and as a whole count as much as a list of that length.
    """
    from cepts.kernels.association import add_nbest, nbest_weights

    check_choice("name", name, RULES)
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
        add_nbest(one.offsets, one.positions, weights, words, offsets, is_reverse, values, null, room)
        # Links are counted in both directions, null only in the one that explains the word.
        nulls.append(2 * null)
    if other is not counted:
        counted = 2 * np.sqrt(counted * other)
    return Association(source_lengths, target_lengths, offsets, counted, *nulls)


def compete(association: Association) -> Association:
    """Each value as the geometric mean of its share in its row and of its share in its column, between 0 and 1.

    Frequent words have high counts with all words, and dominate whatever is made of them (onmf, section 7.2). Shares
    set each word's values against one another instead: a pair of words loses where either has a better partner.
    """
    from cepts.kernels.association import shares_of_lines

    if association.source_null is not None or association.target_null is not None:
        raise UsageError("`association` must have no null, whose mass has no row and column.")
    values = association.values.copy()
    shares_of_lines(
        association.source_lengths,
        association.target_lengths,
        association.offsets,
        values,
        np.empty(int(association.source_lengths.max(initial=0))),
        np.empty(int(association.target_lengths.max(initial=0))),
    )
    return Association(association.source_lengths, association.target_lengths, association.offsets, values)
