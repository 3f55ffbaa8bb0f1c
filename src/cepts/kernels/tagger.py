"""A linear tagger: features of words as hashes, scores of labels, Viterbi, training by the perceptron."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel, piece
from cepts.kernels.text import HASH_PRIME, HASH_START

HYPHEN = 45
ZERO = 48
NINE = 57
# Columns of a word's atoms; after them come its prefixes and then its suffixes of 1 to `longest` characters.
SHAPE, SIGNS, FORM, LOWER = 0, 1, 2, 3
AFFIXES = 4
HAS_DIGIT, HAS_HYPHEN, HAS_CAPITAL, BEGINS_WITH_CAPITAL = 1, 2, 4, 8


class PerceptronWeights(NamedTuple):
    """Weights of features (rows x labels) and transitions, and for each the sum of its changes times their `clock`."""

    weights: Any
    sums: Any
    transitions: Any
    transition_sums: Any


class PerceptronRoom(NamedTuple):
    """Buffers for the longest sentence."""

    scores: Any
    best: Any
    back: Any
    path: Any


@piece
def mixed(code):
    """Mix the bits of `code`, so that a change of one bit changes all others (the finaliser of MurmurHash3)."""
    code = (code ^ (code >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    code = (code ^ (code >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return code ^ (code >> np.uint64(33))


@kernel
def describe_words(characters, bounds, longest, atoms):
    """Fill `atoms[word]` with hashes of the word's shape, signs, form, lower-cased form, prefixes and suffixes.

    The shape is the word with each run of capitals, of digits and of lower-case letters as one character, and other
    characters as they are. The signs say whether it has a digit, a hyphen, a capital, and whether it begins with a
    capital. Affixes are those of the lower-cased form; an affix as long as the word or longer is 0. Hashes are never 0.

    Parameters
    ----------
    characters
        The code points of all words as they are, then those of all words in lower case.
    bounds
        Where each word starts.
    longest
        Length of the longest affix.
    """
    for word in range(len(atoms)):
        start, stop = bounds[word], bounds[word + 1]
        first, last = bounds[len(atoms) + word], bounds[len(atoms) + word + 1]
        shape = HASH_START
        before = 0
        signs = 0
        for k in range(stop - start):
            kind = np.int64(characters[start + k])
            if ZERO <= kind <= NINE:
                kind = ZERO
                signs |= HAS_DIGIT
            elif first + k < last and characters[first + k] != kind:
                kind = 65
                signs |= HAS_CAPITAL
                if k == 0:
                    signs |= BEGINS_WITH_CAPITAL
            elif kind > 127 or 97 <= kind <= 122:
                kind = 97
            elif kind == HYPHEN:
                signs |= HAS_HYPHEN
            if kind != before:
                shape = (shape ^ np.uint64(kind)) * HASH_PRIME
            before = kind
        for column in range(AFFIXES + 2 * longest):
            begin, end = first, last
            if column == FORM:
                begin, end = start, stop
            elif column >= AFFIXES:
                size = (column - AFFIXES) % longest + 1
                if last - first <= size:
                    atoms[word, column] = 0
                    continue
                if column < AFFIXES + longest:
                    end = first + size
                else:
                    begin = last - size
            code = HASH_START
            if column == SHAPE:
                code = shape
            elif column == SIGNS:
                code = np.uint64(signs + 1)
            else:
                for place in range(begin, end):
                    code = (code ^ np.uint64(characters[place])) * HASH_PRIME
            atoms[word, column] = mixed(code) | np.uint64(1)


@kernel
def feature_keys(offsets, words, tags, word_atoms, tag_atoms, parts, keys):
    """Fill `keys[token, template]` with the 32-bit key of each feature; 0 where the word lacks it.

    `parts[template, part]` holds a column (of `word_atoms`; the one after the last is the tag; -1 ends the parts) and a
    place relative to the token. Places outside of the sentence have one atom for each distance from its edge.
    """
    columns = word_atoms.shape[1]
    for sentence in range(len(offsets) - 1):
        start, stop = offsets[sentence], offsets[sentence + 1]
        for token in range(start, stop):
            for template in range(parts.shape[0]):
                code = np.uint64(template + 1) * np.uint64(0x9E3779B97F4A7C15)
                lacking = False
                for part in range(parts.shape[1]):
                    column = parts[template, part, 0]
                    if column < 0:
                        break
                    place = token + parts[template, part, 1]
                    if place < start:
                        atom = np.uint64(2 * (start - place))
                    elif place >= stop:
                        atom = np.uint64(2 * (place - stop) + 1002)
                    elif column < columns:
                        atom = word_atoms[words[place], column]
                    else:
                        atom = tag_atoms[tags[place]]
                    lacking = lacking or atom == 0
                    code = mixed(code ^ atom)
                key = np.uint32(code >> np.uint64(32))
                if key == 0:
                    key = np.uint32(1)
                keys[token, template] = np.uint32(0) if lacking else key


@kernel
def add_scores(keys, known, starts, shift, bounds, labels, values, scores):
    """Add the weights of each token's features to its row of `scores`.

    Feature `known[row]` has the `labels` and `values` at ``bounds[row]:bounds[row + 1]``. The keys are sorted; those
    with the high bits ``key >> shift == b`` start at ``starts[b]``.
    """
    for token in range(keys.shape[0]):
        for template in range(keys.shape[1]):
            key = keys[token, template]
            row = starts[key >> shift]
            while row < len(known) and known[row] < key:
                row += 1
            if row < len(known) and known[row] == key:
                for entry in range(bounds[row], bounds[row + 1]):
                    scores[token, labels[entry]] += values[entry]


@piece
def best_path(scores, first, length, transitions, best, back, path):
    """Viterbi: fill `path` with the labels of one sentence that have the highest sum of scores and transitions.

    The sentence has `length` words, at `first` and after in `scores` and `path`. ``transitions[a, b]`` is for label `b`
    after `a`, the last row for `b` at the start of a sentence; forbidden transitions are -inf. Among equal labels the
    lowest wins. `best` (2 rows) and `back` are buffers.
    """
    count = scores.shape[1]
    for label in range(count):
        best[0, label] = scores[first, label] + transitions[count, label]
    for token in range(1, length):
        now, before = token & 1, 1 - (token & 1)
        for label in range(count):
            best[now, label] = best[before, 0] + transitions[0, label]
            back[token, label] = 0
        for previous in range(1, count):
            reached = best[before, previous]
            for label in range(count):
                score = reached + transitions[previous, label]
                better = score > best[now, label]
                best[now, label] = score if better else best[now, label]
                back[token, label] = previous if better else back[token, label]
        for label in range(count):
            best[now, label] += scores[first + token, label]
    now = (length - 1) & 1
    label = 0
    for other in range(1, count):
        if best[now, other] > best[now, label]:
            label = other
    path[first + length - 1] = label
    for step in range(1, length):
        label = back[length - step, label]
        path[first + length - step - 1] = label


@kernel
def best_labels(offsets, scores, transitions, best, back, labels):
    """`best_path` of each sentence; `back` has one row for each token of the longest sentence."""
    for sentence in range(len(offsets) - 1):
        length = offsets[sentence + 1] - offsets[sentence]
        if length > 0:
            best_path(scores, offsets[sentence], length, transitions, best, back, labels)


@kernel
def train_perceptron(order, offsets, rows, gold, margin, model, clock, room):
    """One pass of the structured perceptron over the sentences in `order`; returns the number of wrong labels.

    `rows` holds the rows of each token's features in `model.weights`, -1 for none. Wrong labels start with a score of
    `margin`, so that right ones must win by that much. `clock` is the number of sentences before this pass; at the end
    of training, the average of the weights over all sentences is ``weights - sums / clock``.
    """
    weights, sums, transitions, transition_sums = model
    scores, best, back, path = room
    count = transitions.shape[1]
    wrong = 0
    for sentence in order:
        start = offsets[sentence]
        length = offsets[sentence + 1] - start
        if length > 0:
            for token in range(length):
                for label in range(count):
                    scores[token, label] = margin
                scores[token, gold[start + token]] = 0
                for template in range(rows.shape[1]):
                    row = rows[start + token, template]
                    if row >= 0:
                        for label in range(count):
                            scores[token, label] += weights[row, label]
            best_path(scores, 0, length, transitions, best, back, path)
            right_before = found_before = count
            for token in range(length):
                right, found = gold[start + token], path[token]
                if right != found:
                    wrong += 1
                    for template in range(rows.shape[1]):
                        row = rows[start + token, template]
                        if row >= 0:
                            weights[row, right] += 1
                            weights[row, found] -= 1
                            sums[row, right] += clock
                            sums[row, found] -= clock
                if right != found or right_before != found_before:
                    transitions[right_before, right] += 1
                    transitions[found_before, found] -= 1
                    transition_sums[right_before, right] += clock
                    transition_sums[found_before, found] -= clock
                right_before, found_before = right, found
        clock += 1
    return wrong
