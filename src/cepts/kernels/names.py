"""A stochastic edit distance in which each edit depends on the one before: probabilities and expected counts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepts.kernels import kernel

# Edits; the columns of `steps` are these minus one.
START, COPY, CHANGE, INSERT, DELETE = 0, 1, 2, 3, 4
EDITS = 5

# A character is a code point and, in these low bits, its symbol: 0 to 25 for a to z, 26 for all others.
SYMBOL = 31


class EditTables(NamedTuple):
    """Probabilities or expected counts of edits.

    `steps[e]` is for the edits after edit e; `ends[e]`, after the whole source is read, for an insertion and for the
    end. `changes[a, b]` is for symbol a that becomes b, `inserts[b]` for an inserted b.
    """

    steps: Any
    ends: Any
    changes: Any
    inserts: Any


@kernel
def fill_forward(source, target, steps, ends, changes, inserts, forward):
    """Fill `forward[i, j, e]`: probability that i characters are read and j written, and that e was the last edit.

    Returns the probability of the whole target given the whole source.
    """
    rows = len(source)
    columns = len(target)
    for i in range(rows + 1):
        for j in range(columns + 1):
            for edit in range(EDITS):
                forward[i, j, edit] = 0.0
    forward[0, 0, START] = 1.0
    for i in range(rows + 1):
        one = source[i] & SYMBOL if i < rows else 0
        for j in range(columns + 1):
            other = target[j] & SYMBOL if j < columns else 0
            same = i < rows and j < columns and source[i] == target[j]
            for edit in range(EDITS):
                mass = forward[i, j, edit]
                if mass == 0.0:
                    continue
                if i < rows:
                    forward[i + 1, j, DELETE] += mass * steps[edit, DELETE - 1]
                    if same:
                        forward[i + 1, j + 1, COPY] += mass * steps[edit, COPY - 1]
                    elif j < columns:
                        forward[i + 1, j + 1, CHANGE] += mass * steps[edit, CHANGE - 1] * changes[one, other]
                    insert = steps[edit, INSERT - 1]
                else:
                    insert = ends[edit, 0]
                # An insertion leads to the next column, which comes later.
                if j < columns:
                    forward[i, j + 1, INSERT] += mass * insert * inserts[other]
    total = 0.0
    for edit in range(EDITS):
        total += forward[rows, columns, edit] * ends[edit, 1]
    return total


@kernel
def fill_backward(source, target, steps, ends, changes, inserts, backward):
    """Fill `backward[i, j, e]`: probability of all further edits, given that the last one was e."""
    rows = len(source)
    columns = len(target)
    for i in range(rows, -1, -1):
        one = source[i] & SYMBOL if i < rows else 0
        for j in range(columns, -1, -1):
            other = target[j] & SYMBOL if j < columns else 0
            same = i < rows and j < columns and source[i] == target[j]
            for edit in range(EDITS):
                mass = ends[edit, 1] if i == rows and j == columns else 0.0
                if i < rows:
                    mass += steps[edit, DELETE - 1] * backward[i + 1, j, DELETE]
                    if same:
                        mass += steps[edit, COPY - 1] * backward[i + 1, j + 1, COPY]
                    elif j < columns:
                        mass += steps[edit, CHANGE - 1] * changes[one, other] * backward[i + 1, j + 1, CHANGE]
                if j < columns:
                    insert = steps[edit, INSERT - 1] if i < rows else ends[edit, 0]
                    mass += insert * inserts[other] * backward[i, j + 1, INSERT]
                backward[i, j, edit] = mass


@kernel
def name_expected_counts(source, source_offsets, target, target_offsets, probs, forward, backward, counts):
    """Add the expected number of each edit in all pairs of names to the counts; returns the log-likelihood."""
    steps, ends, changes, inserts = probs
    step_counts, end_counts, change_counts, insert_counts = counts
    likelihood = 0.0
    for pair in range(len(source_offsets) - 1):
        a = source[source_offsets[pair] : source_offsets[pair + 1]]
        b = target[target_offsets[pair] : target_offsets[pair + 1]]
        total = fill_forward(a, b, steps, ends, changes, inserts, forward)
        likelihood += np.log(total)
        fill_backward(a, b, steps, ends, changes, inserts, backward)
        for i in range(len(a) + 1):
            for j in range(len(b) + 1):
                for edit in range(EDITS):
                    mass = forward[i, j, edit] / total
                    if mass == 0.0:
                        continue
                    if i < len(a):
                        step_counts[edit, DELETE - 1] += mass * steps[edit, DELETE - 1] * backward[i + 1, j, DELETE]
                        if j < len(b) and a[i] == b[j]:
                            step_counts[edit, COPY - 1] += mass * steps[edit, COPY - 1] * backward[i + 1, j + 1, COPY]
                        elif j < len(b):
                            one = a[i] & SYMBOL
                            other = b[j] & SYMBOL
                            share = mass * steps[edit, CHANGE - 1] * changes[one, other]
                            share *= backward[i + 1, j + 1, CHANGE]
                            step_counts[edit, CHANGE - 1] += share
                            change_counts[one, other] += share
                    elif j == len(b):
                        end_counts[edit, 1] += mass * ends[edit, 1]
                    if j < len(b):
                        other = b[j] & SYMBOL
                        insert = steps[edit, INSERT - 1] if i < len(a) else ends[edit, 0]
                        share = mass * insert * inserts[other] * backward[i, j + 1, INSERT]
                        insert_counts[other] += share
                        if i < len(a):
                            step_counts[edit, INSERT - 1] += share
                        else:
                            end_counts[edit, 0] += share
    return likelihood
