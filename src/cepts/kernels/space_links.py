"""Links of sentence pairs from the similarity of their words in a space."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel, vector_kernel

# An entry below this lends its neighbours nothing worth adding.
LEAST_SUPPORT = 1e-4


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
    """Fill `values` with factor x dot - what belongs to either word, of all word pairs of all sentence pairs.

    `vectors`, what each word has `less`, `kinds` and `forms` are those of the source words and of the target words. A
    word's kind is 0 where its vector is to be used, 1 for symbols with a vector, 2 for numbers with one, 3 for words
    without. Equal forms of which one is not of kind 0 are worth `identical`; without a vector on both sides, and
    between symbols and what are none, there is nothing else (minus infinity).
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
    """Shares of each word's mass that the words of the other side, and null, have.

    `forward` sums to 1 over a target word's column and null, `reverse` over a source word's row and null.
    `how.weights` says how much a link lends to its neighbour so many words farther on either side; `room` is scratch of
    the size of the largest pair, twice.
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
                # Written so that a temperature of 0 leaves what cannot be linked as it is.
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
    """Fill `shares` with the softmax of `logits` and one of null, which is returned."""
    peak = null
    for logit in logits:
        peak = max(peak, logit)
    total = np.exp(null - peak)
    for logit in logits:
        total += np.exp(logit - peak)
    for place in range(len(logits)):
        shares[place] = np.exp(logits[place] - peak) / total
    return np.exp(null - peak) / total
