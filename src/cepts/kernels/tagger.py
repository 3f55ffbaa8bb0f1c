"""The loops of a linear tagger: features of words as hashes, scores of labels, Viterbi, perceptron training."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel, piece
from cepts.kernels.text import HASH_PRIME, HASH_START

__all__ = [
    "add_scores",
    "best_labels",
    "best_path",
    "describe_words",
    "feature_keys",
    "fill_table",
    "find_rows",
    "hash_text",
    "hash_texts",
    "train_perceptron",
]

HYPHEN = 45
ZERO = 48
NINE = 57
# What is known of a word besides affixes; the affixes of 1 to `longest` characters follow, prefixes first.
FORM, LOWER, SHAPE, SIGNS = 0, 1, 2, 3
AFFIXES = 4


@piece
def mixed(code):
    """Spread what differs in `code` over all of its bits."""
    code = (code ^ (code >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    code = (code ^ (code >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return code ^ (code >> np.uint64(33))


@kernel
def hash_text(characters, start, stop):
    """FNV-1a of a run of characters; never 0, which means that a word has no such feature."""
    code = HASH_START
    for place in range(start, stop):
        code = (code ^ np.uint64(characters[place])) * HASH_PRIME
    return mixed(code) | np.uint64(1)


@kernel
def hash_texts(characters, bounds, hashes):
    """Fill `hashes` with the hash of each of several texts laid end to end."""
    for text in range(len(bounds) - 1):
        hashes[text] = hash_text(characters, bounds[text], bounds[text + 1])


@kernel
def describe_words(forms, form_bounds, lowers, lower_bounds, longest, atoms):
    """Fill `atoms[word]` with hashes of a word's form, lower form, shape, signs, prefixes and suffixes.

    The shape is the word with each run of capitals, digits and small letters as one sign, other characters as they
    are; the signs say whether it has a digit, a hyphen, a capital, and begins with a capital. Affixes are those of the
    lower form, and 0 where the word is no longer than they are.

    Parameters
    ----------
    forms, lowers
        The characters of all words (code points) as they are and in lower case.
    form_bounds, lower_bounds
        Where each word starts.
    longest
        Length of the longest affix.
    """
    for word in range(len(form_bounds) - 1):
        start, stop = form_bounds[word], form_bounds[word + 1]
        first, last = lower_bounds[word], lower_bounds[word + 1]
        atoms[word, FORM] = hash_text(forms, start, stop)
        atoms[word, LOWER] = hash_text(lowers, first, last)
        shape = HASH_START
        before = 0
        digit = hyphen = capital = initial = 0
        for k in range(stop - start):
            character = forms[start + k]
            if ZERO <= character <= NINE:
                kind = ZERO
                digit = 1
            elif first + k < last and lowers[first + k] != character:
                kind = 65
                capital = 1
                if k == 0:
                    initial = 1
            elif character > 127 or 97 <= character <= 122:
                kind = 97
            else:
                kind = character
                if character == HYPHEN:
                    hyphen = 1
            if kind != before:
                shape = (shape ^ np.uint64(kind)) * HASH_PRIME
            before = kind
        atoms[word, SHAPE] = mixed(shape) | np.uint64(1)
        signs = digit + 2 * hyphen + 4 * capital + 8 * initial
        atoms[word, SIGNS] = mixed(np.uint64(signs + 1)) | np.uint64(1)
        for k in range(1, longest + 1):
            known = last - first > k
            atoms[word, AFFIXES + k - 1] = hash_text(lowers, first, first + k) if known else np.uint64(0)
            atoms[word, AFFIXES + longest + k - 1] = hash_text(lowers, last - k, last) if known else np.uint64(0)


@kernel
def feature_keys(offsets, words, tags, word_atoms, tag_atoms, parts, keys):
    """Fill `keys[token, template]` with the 32-bit key of each feature; 0 where the word lacks it.

    `parts[template, part]` holds a column (of `word_atoms`; one past the last is the tag; -1 for no more parts) and a
    place relative to the token. Outside of the sentence stands its edge, at each distance another.
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
                keys[token, template] = np.uint32(0) if lacking else max(key, np.uint32(1))


@kernel
def fill_table(keys, table):
    """Give each of the distinct `keys` a slot of `table` (all -1, a power of two long) that holds its row."""
    mask = np.uint32(len(table) - 1)
    for row in range(len(keys)):
        slot = keys[row] & mask
        while table[slot] >= 0:
            slot = (slot + np.uint32(1)) & mask
        table[slot] = row


@kernel
def find_rows(wanted, keys, table, rows):
    """Fill `rows` with the place of each of the `wanted` keys among `keys`; -1 where it is not there."""
    mask = np.uint32(len(table) - 1)
    for place in range(len(wanted)):
        key = wanted[place]
        row = -1
        if key != 0:
            slot = key & mask
            row = table[slot]
            while row >= 0 and keys[row] != key:
                slot = (slot + np.uint32(1)) & mask
                row = table[slot]
        rows[place] = row


@kernel
def add_scores(rows, bounds, labels, values, scores):
    """Add to `scores[token]` the weights of its features, of which row `r` has those at ``bounds[r]:bounds[r + 1]``."""
    for token in range(rows.shape[0]):
        for template in range(rows.shape[1]):
            row = rows[token, template]
            if row >= 0:
                for entry in range(bounds[row], bounds[row + 1]):
                    scores[token, labels[entry]] += values[entry]


@kernel
def best_path(scores, transitions, best, back, path):
    """Viterbi: fill `path` with the labels of one sentence that have the highest sum of scores and transitions.

    ``transitions[a, b]`` is for label `b` after `a`, its last row for `b` at the start; forbidden ones are -inf. Of
    equal ones the lower label wins. `best` (2 rows) and `back` are work space.
    """
    length, count = scores.shape
    for label in range(count):
        best[0, label] = scores[0, label] + transitions[count, label]
    for token in range(1, length):
        before, now = best[(token - 1) % 2], best[token % 2]
        pointers = back[token]
        for label in range(count):
            now[label] = before[0] + transitions[0, label]
            pointers[label] = 0
        for previous in range(1, count):
            reached = before[previous]
            for label in range(count):
                score = reached + transitions[previous, label]
                better = score > now[label]
                now[label] = score if better else now[label]
                pointers[label] = previous if better else pointers[label]
        for label in range(count):
            now[label] += scores[token, label]
    final = best[(length - 1) % 2]
    label = 0
    for other in range(1, count):
        if final[other] > final[label]:
            label = other
    path[length - 1] = label
    for token in range(length - 1, 0, -1):
        label = back[token, label]
        path[token - 1] = label


@kernel
def best_labels(offsets, scores, transitions, best, back, labels):
    """`best_path` of each sentence; `back` has a row for each token of the longest one."""
    for sentence in range(len(offsets) - 1):
        start, stop = offsets[sentence], offsets[sentence + 1]
        if stop > start:
            best_path(scores[start:stop], transitions, best, back, labels[start:stop])


@kernel
def train_perceptron(
    order, offsets, rows, gold, margin, weights, sums, transitions, transition_sums, clock, scores, best, back, path
):
    """One pass of the structured perceptron over the sentences in `order`; returns how many labels were wrong.

    A label that is wrong starts `margin` ahead, so that right ones must win by as much. `sums` collect each change
    times the number of sentences before it (`clock` at the start), from which the average of all weights follows:
    ``weights - sums / clock``.

    Parameters
    ----------
    rows
        The row of each token's features in `weights` (rows, labels); -1 for none.
    scores, best, back, path
        Work space for the longest sentence.
    """
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
            best_path(scores[:length], transitions, best, back, path)
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
