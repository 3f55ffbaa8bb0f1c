"""The exchange algorithm for word classes, on counts of word bigrams.

One more word than the text has stands for the edge of a sentence. It has a class of its own, after those that other
words may have.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import allocating_kernel, kernel

# The least gain of a move, in nats: more than rounding errors, and far less than anything that matters to a whole text.
LEAST_GAIN = 1e-6


class Bigrams(NamedTuple):
    """The words beside word w, on one side of it, are `others[rows[w]:rows[w + 1]]`, with as many `counts`."""

    rows: Any
    others: Any
    counts: Any


@kernel
def count_classes(after, class_of, joint):
    """Bigrams of classes: `joint[c, d]` is how often a word of class d follows one of class c."""
    joint[:] = 0
    for word in range(len(after.rows) - 1):
        for bigram in range(after.rows[word], after.rows[word + 1]):
            joint[class_of[word], class_of[after.others[bigram]]] += after.counts[bigram]


@kernel
def _entropy_term(count):
    return count * np.log(count) if count > 0 else 0.0


@kernel
def _touched(word, bigrams, class_of, found, mass):
    """Fill `found` with the classes beside `word` and `mass` with how often each occurs there.

    Returns the number of classes, and how often the word occurs beside itself, which is not counted in `mass`.
    """
    itself = 0.0
    number = 0
    for bigram in range(bigrams.rows[word], bigrams.rows[word + 1]):
        other = bigrams.others[bigram]
        if other == word:
            itself += bigrams.counts[bigram]
            continue
        its_class = class_of[other]
        if mass[its_class] == 0:
            found[number] = its_class
            number += 1
        mass[its_class] += bigrams.counts[bigram]
    return number, itself


@kernel
def _add_to(here, sign, after, after_mass, before, before_mass, itself, joint, back, terms):
    """Add the bigrams of a word to class `here`, or subtract them.

    `back` is the transpose of `joint`; `terms` holds N log N of `joint` and of `back`.
    """
    for other in after:
        joint[here, other] += sign * after_mass[other]
    for other in before:
        joint[other, here] += sign * before_mass[other]
    joint[here, here] += sign * itself
    for other in after:
        back[other, here] = joint[here, other]
        terms[0, here, other] = terms[1, other, here] = _entropy_term(joint[here, other])
    for other in before:
        back[here, other] = joint[other, here]
        terms[0, other, here] = terms[1, here, other] = _entropy_term(joint[other, here])
    back[here, here] = joint[here, here]
    terms[0, here, here] = terms[1, here, here] = _entropy_term(joint[here, here])


@allocating_kernel
def exchange(order, frequencies, words_after, words_before, class_of, joint, totals):
    """Move each word of `order` to the class that raises sum N(c,d) log N(c,d) - 2 sum N(c) log N(c) most.

    The gain of a class depends only on the bigrams of that class with the classes beside the word. Among equal classes
    the word's own wins, then the first. `joint` and `totals` are updated. Returns the number of moves and the gain.
    """
    classes = len(totals)
    back = np.ascontiguousarray(joint.T)
    terms = np.empty((2, classes + 1, classes + 1))
    for first in range(classes + 1):
        for second in range(classes + 1):
            terms[0, first, second] = _entropy_term(joint[first, second])
            terms[1, second, first] = terms[0, first, second]
    found = np.empty((2, classes + 1), np.int64)
    after_mass = np.zeros(classes + 1)
    before_mass = np.zeros(classes + 1)
    gain = np.empty(classes)
    moved = 0
    gained = 0.0
    for word in order:
        here = class_of[word]
        frequency = frequencies[word]
        number, itself = _touched(word, words_after, class_of, found[0], after_mass)
        after = found[0, :number]
        number, _ = _touched(word, words_before, class_of, found[1], before_mass)
        before = found[1, :number]
        beside = (after, after_mass, before, before_mass, itself, joint, back, terms)
        _add_to(here, -1.0, *beside)
        totals[here] -= frequency
        for there in range(classes):
            # The diagonal cell gets the word's bigrams from both sides, and those of the word with itself.
            both = after_mass[there] + before_mass[there]
            term = _entropy_term(joint[there, there] + both + itself) + terms[0, there, there]
            term -= _entropy_term(joint[there, there] + after_mass[there])
            term -= _entropy_term(joint[there, there] + before_mass[there])
            gain[there] = term - 2 * (_entropy_term(totals[there] + frequency) - _entropy_term(totals[there]))
        for other in after:
            for there in range(classes):
                gain[there] += _entropy_term(back[other, there] + after_mass[other]) - terms[1, other, there]
        for other in before:
            for there in range(classes):
                gain[there] += _entropy_term(joint[other, there] + before_mass[other]) - terms[0, other, there]
        best = here
        for there in range(classes):
            if gain[there] > gain[best] + (LEAST_GAIN if best == here else 0.0):
                best = there
        if best != here:
            moved += 1
            gained += gain[best] - gain[here]
            class_of[word] = best
        _add_to(best, 1.0, *beside)
        totals[best] += frequency
        for other in after:
            after_mass[other] = 0
        for other in before:
            before_mass[other] = 0
    return moved, gained
