"""The table of association matrices, each of which can be computed from the `Directions` of any scorer."""

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
# The rule by which the kernel weights the entries of a list.
RULES = {"nbest": 0, "nbest-plain": 0, "nbest-probability": 1, "nbest-rank": 2, "nbest-agreement": 1}
# Share of the null mass that is spread over neighbouring words, for posteriors and for lists. Set only on the trial
# sentences of the Hansards (benchmarks/onmf.py).
SPREAD = 0.75
SPREAD_LISTS = 0.6


class AssociationKind(NamedTuple):
    """A way to make association matrices.

    Attributes
    ----------
    what
        One line that says what an entry is.
    make
        Makes the matrices of a run of pairs; the second argument is the length of the N-best lists.
    certain
        Returns the entry of a certain link, given the length of the N-best lists; None if there is no such entry.
    spread
        Default share of the null mass that is spread over neighbouring words.
    lists
        Whether links are counted in N-best lists, whose length can be chosen.
    null
        Whether there are null masses.
    scaled
        Whether the matrices are put on the scale of counts before they are factorised; if not, they are counts already.
    """

    what: str
    make: Callable[[Directions, int], Association]
    certain: Callable[[int], float | None] = lambda nbest: 1.0
    spread: float = SPREAD
    lists: bool = False
    null: bool = True
    scaled: bool = True


def association_of(directions: Directions, extraction: Extraction) -> Association:
    """The association matrices that `extraction` asks for, computed once for each run."""
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


def _plain_lists(directions: Directions, nbest: int) -> Association:
    return association_of_nbest(*directions.lists(nbest), "nbest-plain")


def _statistic(what: str, name: str) -> AssociationKind:
    return AssociationKind(
        what, lambda directions, nbest: compete(directions.statistic(name)), lambda nbest: None, spread=0.0, null=False
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
    "nbest": _lists(
        "how many of the best alignments of both directions have a link, or a word at null; null counts twice", "nbest"
    ),
    "nbest-plain": AssociationKind(
        "plain counts of the best alignments of both directions, as in Goutte et al. (2004): null counts once",
        _plain_lists,
        lambda nbest: 2.0 * nbest,
        spread=0.0,
        lists=True,
        scaled=False,
    ),
    "nbest-probability": _lists(
        "as nbest, with each alignment weighted by its probability among the best", "nbest-probability"
    ),
    "nbest-rank": _lists("as nbest, with each alignment weighted by one over its rank", "nbest-rank"),
    "nbest-agreement": _lists(
        "geometric mean of the directions' lists, with each alignment weighted by its probability", "nbest-agreement"
    ),
    "tables": AssociationKind(
        "mean over both directions of lexicon x P(position), not normalised over the sentence",
        lambda directions, nbest: directions.tables(),
        lambda nbest: None,
    ),
    "counts": _statistic("number of sentence pairs of the training text that have both words", "counts"),
    "dice": _statistic("Dice coefficient of these counts", "dice"),
    "pmi": _statistic("pointwise mutual information of these counts, where positive", "pmi"),
    "llr": _statistic("log-likelihood ratio of these counts, where words attract each other", "llr"),
}


def association_of_nbest(
    forward: NBest, reverse: NBest, name: str = "nbest", *, length: int | None = None
) -> Association:
    """Count the links in the N-best lists of both directions, as in Goutte et al. (2004), section 5.

    Parameters
    ----------
    forward, reverse
        The lists of both directions for the same sentence pairs.
    name
        ``nbest-plain`` counts alignments, as Goutte et al. did. A link can be in the lists of both directions, but the
        null of a word only in those of the direction that explains it, so a word that is certain to belong to null has
        half the mass of a certain link. All others count null twice, so that the two weigh the same. ``nbest`` counts
        alignments otherwise alike. ``nbest-probability`` weights each alignment by its probability, ``nbest-rank`` by
        one over its rank; the weights of a list add up to its length, so the scale of the counts stays the same.
        ``nbest-agreement`` weights alignments by their probability and takes twice the geometric mean of the two
        directions instead of their sum, so that a link that only one direction has gets 0.
    length
        How many alignments were requested. A shorter list has all alignments of its pair, probable or not, so its
        entries are weighted by their probability, and together they count as much as a list of this length.
    """
    from cepts.kernels.association import add_nbest, nbest_weights

    check_choice("name", name, RULES)
    if len(forward) != len(reverse):
        raise ValueError(
            f"`forward` and `reverse` must have the same number of sentence pairs. "
            f"Got {len(forward)} and {len(reverse)} instead."
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
        nulls.append(null if name == "nbest-plain" else 2 * null)
    if other is not counted:
        counted = 2 * np.sqrt(counted * other)
    return Association(source_lengths, target_lengths, offsets, counted, *nulls)


def compete(association: Association) -> Association:
    """Replace each value by the geometric mean of its share of its row and its share of its column (0 to 1).

    Frequent words have high counts with all words, and dominate whatever is computed from the counts (Goutte et al.,
    2004, section 7.2). With shares, the partners of a word compete: a pair of words gets a low value if either of them
    has a better partner.
    """
    from cepts.kernels.association import shares_of_lines

    if association.source_null is not None or association.target_null is not None:
        raise UsageError("`association` must not have null masses, which belong to no row and column.")
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
