"""The exchange algorithm for word classes, on counts of word bigrams.

The bigrams of a text lie in rows: those that start with word w are `rows[w]:rows[w + 1]`, with the words that follow
and how often they do. One word more than the text has stands for the end of a sentence, and it has one class more than
there are to choose from.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import allocating_kernel, kernel

# What a move must bring, in nats: enough that rounding never passes for a gain, nothing beside a whole text.
LEAST_GAIN = 1e-6


@allocating_kernel
def transpose_bigrams(rows, followers, counts, other_rows, leaders, other_counts):
    """The same bigrams by their second word: a counting sort."""
    other_rows[:] = 0
    for word in followers:
        other_rows[word + 1] += 1
    for word in range(len(other_rows) - 1):
        other_rows[word + 1] += other_rows[word]
    place = other_rows.copy()
    for word in range(len(rows) - 1):
        for bigram in range(rows[word], rows[word + 1]):
            follower = followers[bigram]
            leaders[place[follower]] = word
            other_counts[place[follower]] = counts[bigram]
            place[follower] += 1


@kernel
def count_classes(rows, followers, counts, class_of, joint):
    """Bigrams of classes: `joint[c, d]` is how often a word of class d follows one of class c."""
    joint[:] = 0
    for word in range(len(rows) - 1):
        for bigram in range(rows[word], rows[word + 1]):
            joint[class_of[word], class_of[followers[bigram]]] += counts[bigram]


@kernel
def _entropy_term(count):
    return count * np.log(count) if count > 0 else 0.0


@kernel
def _touched(word, rows, others, counts, class_of, found, mass):
    """Classes beside `word` and how often each is: fills `found`, `mass`; returns their number and what is itself."""
    itself = 0.0
    number = 0
    for bigram in range(rows[word], rows[word + 1]):
        other = others[bigram]
        if other == word:
            itself += counts[bigram]
            continue
        its_class = class_of[other]
        if mass[its_class] == 0:
            found[number] = its_class
            number += 1
        mass[its_class] += counts[bigram]
    return number, itself


@kernel
def _add_to(
    here, sign, after, after_number, after_mass, before, before_number, before_mass, itself, joint, back, terms
):
    """Put a word's bigrams into class `here`, or take them out; `terms[0]` holds N log N of `joint`, `terms[1]` of its
    transpose `back`.
    """
    for place in range(after_number):
        other = after[place]
        joint[here, other] += sign * after_mass[other]
    for place in range(before_number):
        other = before[place]
        joint[other, here] += sign * before_mass[other]
    joint[here, here] += sign * itself
    for place in range(after_number):
        other = after[place]
        back[other, here] = joint[here, other]
        terms[0, here, other] = terms[1, other, here] = _entropy_term(joint[here, other])
    for place in range(before_number):
        other = before[place]
        back[here, other] = joint[other, here]
        terms[0, other, here] = terms[1, here, other] = _entropy_term(joint[other, here])
    back[here, here] = joint[here, here]
    terms[0, here, here] = terms[1, here, here] = _entropy_term(joint[here, here])


@allocating_kernel
def exchange(
    order,
    frequencies,
    rows,
    followers,
    follower_counts,
    other_rows,
    leaders,
    leader_counts,
    class_of,
    joint,
    totals,
):
    """Move each word of `order` to the class that raises sum N(c,d) log N(c,d) - 2 sum N(c) log N(c) most.

    A word's difference for a class comes from the bigrams between that class and those beside the word, and nothing
    else; among equal classes the word's own wins, then the first. `joint` and `totals` are kept up to date. Returns how
    many words moved, and what was gained.
    """
    classes = len(totals)
    back = np.ascontiguousarray(joint.T)
    terms = np.empty((2, classes + 1, classes + 1))
    for first in range(classes + 1):
        for second in range(classes + 1):
            terms[0, first, second] = _entropy_term(joint[first, second])
            terms[1, second, first] = terms[0, first, second]
    after = np.empty(classes + 1, np.int64)
    before = np.empty(classes + 1, np.int64)
    after_mass = np.zeros(classes + 1)
    before_mass = np.zeros(classes + 1)
    gain = np.empty(classes)
    moved = 0
    gained = 0.0
    for word in order:
        here = class_of[word]
        frequency = frequencies[word]
        after_number, itself = _touched(word, rows, followers, follower_counts, class_of, after, after_mass)
        before_number, _ = _touched(word, other_rows, leaders, leader_counts, class_of, before, before_mass)
        beside = (after, after_number, after_mass, before, before_number, before_mass, itself, joint, back, terms)
        _add_to(here, -1.0, *beside)
        totals[here] -= frequency
        for there in range(classes):
            # The diagonal takes what is counted from both sides, and the word after itself.
            both = after_mass[there] + before_mass[there]
            term = _entropy_term(joint[there, there] + both + itself) + terms[0, there, there]
            term -= _entropy_term(joint[there, there] + after_mass[there])
            term -= _entropy_term(joint[there, there] + before_mass[there])
            gain[there] = term - 2 * (_entropy_term(totals[there] + frequency) - _entropy_term(totals[there]))
        for place in range(after_number):
            other = after[place]
            for there in range(classes):
                gain[there] += _entropy_term(back[other, there] + after_mass[other]) - terms[1, other, there]
        for place in range(before_number):
            other = before[place]
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
        for place in range(after_number):
            after_mass[after[place]] = 0
        for place in range(before_number):
            before_mass[before[place]] = 0
    return moved, gained
