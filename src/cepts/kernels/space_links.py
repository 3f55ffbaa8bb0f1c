"""Links of sentence pairs from the similarity of their words in a vector space."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.kernels import kernel, vector_kernel

# Links with less support than this are not added to their neighbours.
LEAST_SUPPORT = 1e-4
# Tuned on the trial sentences of the Hansards (37 pairs) only.
REACH = 3  # how many words away a link supports others
BEND, FADE = 0.7, 0.5  # how fast the support falls: per word off the diagonal, and per word of distance


def support_weights() -> NDArray[np.float64]:
    """How much a link supports the link that is i source and j target words away, for i and j from -3 to 3.

    exp(-0.7 abs(i - j) - 0.5 (abs(i) + abs(j) - 2)); 0 in its own row and column, whose links compete with it.
    """
    steps = np.arange(-REACH, REACH + 1)
    i, j = steps[:, None], steps[None, :]
    weights = np.exp(-BEND * np.abs(i - j) - FADE * (np.abs(i) + np.abs(j) - 2))
    return np.where((i == 0) | (j == 0), 0.0, weights)


@vector_kernel
def _dot(one, other):
    total = np.float32(0)
    for place in range(len(one)):
        total += one[place] * other[place]
    return total


class Sharing(NamedTuple):
    """How similarities become shares, see `link_shares`."""

    temperature: Any
    null: Any
    diagonal: Any
    support: Any
    weights: Any
    rounds: Any


@kernel
def word_similarities(tokens, vectors, factor, less, kinds, forms, identical, values):
    """Fill `values` with factor x dot product - `less` of either word, for all token pairs.

    `vectors`, `less`, `kinds` and `forms` are pairs of arrays, for source words and for target words. The kind of a
    word is 0 if its vector is used, 1 for a symbol with a vector, 2 for a number with a vector, 3 for a word without a
    vector. Two equal forms get `identical` unless both are of kind 0. Otherwise, two words of which one has no vector,
    or exactly one is a symbol, get minus infinity.
    """
    source_offsets, target_offsets, cell_offsets = tokens.source_offsets, tokens.target_offsets, tokens.cell_offsets
    for pair in range(len(cell_offsets) - 1):
        cell = cell_offsets[pair]
        for i in range(source_offsets[pair], source_offsets[pair + 1]):
            source = tokens.source[i]
            kind = kinds[0][source]
            for j in range(target_offsets[pair], target_offsets[pair + 1]):
                target = tokens.target[j]
                other = kinds[1][target]
                if forms[0][source] == forms[1][target] and (kind != 0 or other != 0):
                    values[cell] = identical
                elif kind == 3 or other == 3 or (kind == 1) != (other == 1):
                    values[cell] = -np.inf
                else:
                    similarity = _dot(vectors[0][source], vectors[1][target])
                    values[cell] = factor * similarity - less[0][source] - less[1][target]
                cell += 1


@kernel
def link_shares(
    source_lengths, target_lengths, cell_offsets, similarities, how, room, forward, reverse, source_null, target_null
):
    """Distribute each word over the words of the other side and null.

    `forward` sums to 1 over a target word's column and its null, `reverse` over a source word's row and its null.
    `how.weights` is how much support a link adds to each of its neighbours, by their distance in either sentence.
    `similarities` become the logits of the last round: similarity times temperature, with position and support.
    `room` is a buffer of two rows, as long as the largest matrix.
    """
    temperature, null, weights = how.temperature, how.null, how.weights
    source = 0
    target = 0
    half = weights.shape[0] // 2
    for pair in range(len(cell_offsets) - 1):
        rows = source_lengths[pair]
        columns = target_lengths[pair]
        start = cell_offsets[pair]
        stop = cell_offsets[pair + 1]
        ahead = forward[start:stop]
        back = reverse[start:stop]
        given = room[0, : stop - start]
        logits = room[1, : stop - start]
        for i in range(rows):
            for j in range(columns):
                cell = i * columns + j
                distance = abs((i + 0.5) / rows - (j + 0.5) / columns)
                # A temperature of 0 must not turn minus infinity into NaN.
                similarity = similarities[start + cell]
                given[cell] = temperature * similarity - how.diagonal * distance if similarity > -np.inf else -np.inf
                logits[cell] = given[cell]
        for turn in range(how.rounds + 1):
            for j in range(columns):
                target_null[target + j] = _normalise(logits[j::columns], temperature * null, ahead[j::columns])
            for i in range(rows):
                row = slice(i * columns, (i + 1) * columns)
                source_null[source + i] = _normalise(logits[row], temperature * null, back[row])
            if turn == how.rounds:
                for cell in range(stop - start):
                    similarities[start + cell] = logits[cell]
                break
            for cell in range(stop - start):
                logits[cell] = given[cell]
            for i in range(rows):
                for j in range(columns):
                    both = how.support * np.sqrt(np.float64(ahead[i * columns + j]) * back[i * columns + j])
                    if both < LEAST_SUPPORT:
                        continue
                    for k in range(max(i - half, 0), min(i + half + 1, rows)):
                        for m in range(max(j - half, 0), min(j + half + 1, columns)):
                            logits[k * columns + m] += both * weights[k - i + half, m - j + half]
        source += rows
        target += columns


@kernel
def _normalise(logits, null, shares):
    """Fill `shares` with the softmax over `logits` and `null`; returns the share of null."""
    peak = null
    for logit in logits:
        peak = max(peak, logit)
    total = np.exp(null - peak)
    for logit in logits:
        total += np.exp(logit - peak)
    for place in range(len(logits)):
        shares[place] = np.exp(logits[place] - peak) / total
    return np.exp(null - peak) / total
