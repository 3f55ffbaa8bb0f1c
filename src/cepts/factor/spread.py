"""Words with much null mass get a share of the associations of their neighbours.

An association matrix says little about words that a model links to null, such as many articles and prepositions. But
these words belong to their neighbours, and text in their own language shows how closely. So part of the null mass takes
a random walk along the sentence until some word absorbs it, and the word where it started gets a share of the
associations of that word.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cepts.data import Association, Pulls
from cepts.errors import UsageError


def spread(
    association: Association,
    source_pulls: Pulls,
    target_pulls: Pulls,
    strength: float,
) -> Association:
    """Give words with a large null mass a share of their neighbours' associations.

    Articles and prepositions, for example, are often linked to null, although they belong to a neighbouring word. The
    row m_i of word i becomes x_i = m_i + s n_i (l_i x_{i-1} + r_i x_{i+1}), where n_i is the share of null in the
    word's mass, s the strength, and l_i and r_i are the pulls of the words before and after it. The columns are treated
    in the same way. The share 1 - s (l_i + r_i) of the null mass stays.

    Parameters
    ----------
    association
        Matrices with null masses; None counts as masses of 0.
    source_pulls, target_pulls
        For each word, the probabilities that it belongs to the word before it and to the word after it, which are 0 at
        the edges of a sentence. What remains of 1 is the probability that it belongs to neither.
    strength
        Share of the null mass that is spread, from 0 to below 1.
    """
    from cepts.kernels.spread import SideWalk, spread_pairs

    if not 0 <= strength < 1:
        raise UsageError(f"`strength` must be at least 0 and below 1. Got {strength} instead.")
    nulls = association.source_null, association.target_null
    if strength == 0 or (nulls[0] is None and nulls[1] is None):
        return association
    lengths = association.source_lengths, association.target_lengths
    source_null, target_null = (
        np.zeros(int(words.sum()), dtype=np.float32) if null is None else null.astype(np.float32)
        for null, words in zip(nulls, lengths, strict=True)
    )
    values = association.values.astype(np.float32)
    sides = (
        SideWalk(offsets, null, *(np.ascontiguousarray(pull, dtype=np.float32) for pull in pulls))
        for offsets, null, pulls in (
            (association.source_offsets, source_null, source_pulls),
            (association.target_offsets, target_null, target_pulls),
        )
    )
    spread_pairs(np.ascontiguousarray(association.offsets, dtype=np.int64), values, *sides, float(strength))
    return replace(
        association,
        values=values,
        source_null=None if nulls[0] is None else source_null,
        target_null=None if nulls[1] is None else target_null,
    )
