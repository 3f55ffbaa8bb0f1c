"""Phrases with gaps, which semicrf leaves to future work.

A path of the CRF gives every observed word one span. So a verb and a particle that stands apart from it can both be
linked with one word of the other side only in the direction that runs along their own sentence; and annotators often
leave the particle unlinked. WordNet knows what the probabilities lack: "put off" is one entry and means "postpone". If
a verb is linked with such a word, its particle is linked with that word too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cepts.data import Association, SentencePair
from cepts.phrases.inventory import Inventory
from cepts.phrases.likeness import related_expressions
from cepts.phrases.wordnet import WordNet
from cepts.phrases.words import SentenceWords, words_of

SYNONYMOUS = 2
# The probability of a link between a verb and its synonym in WordNet if the model aligns both words with null.
BELIEF = 0.8
LEAST = 0.1


def join_expressions(
    association: Association, pairs: Sequence[SentencePair], inventory: Inventory, wordnet: WordNet
) -> Association:
    """Join a verb and its particle if WordNet has the two together as a synonym of a word of the other side.

    Let v be the probability of the verb's link with that word or, if that is more, `BELIEF` times the lower of the null
    probabilities of the two. The verb's link gets the probability v. The particle's row r becomes (1 - v) r, plus v at
    that word: with probability v, the particle is linked as its verb is.

    Parameters
    ----------
    association
        Link probabilities, with the null probabilities of both sides.
    pairs
        The sentence pairs, with part-of-speech tags; without tags nothing is joined.
    """
    if association.source_null is None or association.target_null is None:
        raise ValueError("association must have the null probabilities of both sides.")
    values = association.values.copy()
    nulls = association.source_null.copy(), association.target_null.copy()
    source_offsets, target_offsets = association.source_offsets, association.target_offsets
    for n, pair in enumerate(pairs):
        start, stop = association.offsets[n : n + 2]
        if start == stop:  # a pair that was left unaligned
            continue
        source, target = words_of(pair, inventory)
        if not source.expressions and not target.expressions:
            continue
        matrix = values[start:stop].reshape(len(source), len(target))
        source_null = nulls[0][source_offsets[n] : source_offsets[n + 1]]
        target_null = nulls[1][target_offsets[n] : target_offsets[n + 1]]
        _join(source, target, matrix, source_null, target_null, wordnet)
        _join(target, source, matrix.T, target_null, source_null, wordnet)
    return replace(association, values=values, source_null=nulls[0], target_null=nulls[1])


def _join(
    words: SentenceWords,
    others: SentenceWords,
    matrix: NDArray[np.float32],
    null: NDArray[np.float32],
    other_null: NDArray[np.float32],
    wordnet: WordNet,
) -> None:
    """Join the expressions of one side, in place; `matrix` has a row for each of its words."""
    for verb, particle, levels in related_expressions(words, wordnet.numbers(others.lemmas), wordnet):
        synonyms = np.flatnonzero(levels == SYNONYMOUS)
        if not len(synonyms):
            continue
        beliefs = np.maximum(matrix[verb, synonyms], BELIEF * np.minimum(null[verb], other_null[synonyms]))
        best = int(np.argmax(beliefs))
        word, belief = int(synonyms[best]), float(beliefs[best])
        if belief < LEAST:
            continue
        matrix[verb, word] = max(float(matrix[verb, word]), belief)
        matrix[particle] *= 1.0 - belief
        matrix[particle, word] += belief
        null[particle] *= 1.0 - belief
        null[verb] = min(float(null[verb]), 1.0 - belief)
        other_null[word] = min(float(other_null[word]), 1.0 - belief)
