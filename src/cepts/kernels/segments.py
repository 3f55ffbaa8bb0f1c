"""The lattice of the semi-Markov CRF of semicrf, section 3: sums, marginals and the best path.

A path divides the observed sentence (length I) into segments of at most `longest` words. Each is aligned with a span of
the other sentence (length J, spans of at most `widest` words), or with null, if it has at most as many words as `null`
has columns (one, unless null spans are wanted). A segment whose score is -inf is not allowed. The score of a path is

    sum of emit[i, l - 1, j, w - 1]        for segments [i, i + l) aligned with spans [j, j + w)
  + sum of null[i, l - 1]                  for segments [i, i + l) aligned with null
  + sum of jump[k, j], stay[k]             for steps from state k to a span that starts at j, or to null
  + final[k]                               for the last state.

State k <= J means that the last span stops before word k (0: the start of the sentence). A step to null leads from k to
null_next[k]: to one null state J + 1, as in the paper, or to J + 1 + k, a null that remembers where it came from. The
score of a step depends only on where one span stops and the next starts. So all segments with the same stop are summed
before the step, and a sentence pair takes I J (J + longest * widest) operations, not I J^2 longest * widest^2.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import allocating_kernel, kernel


@kernel
def _step(row, jump_weight, out):
    """For each j: log sum_k exp(row[k]) jump_weight[k, j]; `jump_weight` is exp(jump)."""
    states, width = jump_weight.shape
    top = -np.inf
    for k in range(states):
        top = max(top, row[k])
    for j in range(width):
        out[j] = 0.0
    for k in range(states):
        weight = np.exp(row[k] - top)
        if weight > 0.0:
            for j in range(width):
                out[j] += weight * jump_weight[k, j]
    for j in range(width):
        out[j] = np.log(out[j]) + top


@allocating_kernel
def segment_marginals(emit, null, jump, stay, null_next, final, segments, null_segments, jumps, stays, finals):
    """Fill the marginals by a forward and a backward pass; returns log Z.

    `segments` and `null_segments` receive the probability that a path has the segment, aligned with a span or with
    null; `jumps`, `stays` and `finals` the expected number of each step.
    """
    length, longest, width, widest = emit.shape
    most_null = null.shape[1]
    states = len(stay)
    # Log sums over partial paths: over the first i words to state k; and with the step to a span that starts at j.
    forward = np.empty((length + 1, states))
    entering = np.empty((length, width))
    backward = np.empty((length + 1, states))
    leaving = np.empty((length, width))
    jump_weight = np.empty((states, width))
    turned = np.empty((width, states))
    work = np.empty((2, width + 1))
    for k in range(states):
        stays[k] = 0.0
        backward[length, k] = final[k]
        for i in range(length + 1):
            forward[i, k] = -np.inf
        for j in range(width):
            jumps[k, j] = 0.0
            jump_weight[k, j] = turned[j, k] = np.exp(jump[k, j])
    forward[0, 0] = 0.0
    for i in range(length + 1):
        # Segments that stop here, by the stop of their span: one pass for the largest term, one for the sum.
        if i > 0:
            for k in range(width + 1):
                work[0, k] = -np.inf
                work[1, k] = 0.0
            for second in range(2):
                for span in range(1, min(longest, i) + 1):
                    for j in range(width):
                        for wide in range(min(widest, width - j)):
                            score = entering[i - span, j] + emit[i - span, span - 1, j, wide]
                            if not score > -np.inf:
                                continue
                            stop = j + wide + 1
                            if second:
                                work[1, stop] += np.exp(score - work[0, stop])
                            elif score > work[0, stop]:
                                work[0, stop] = score
            for k in range(1, width + 1):
                if work[1, k] > 0.0:
                    forward[i, k] = work[0, k] + np.log(work[1, k])
            for span in range(1, min(most_null, i) + 1):
                for k in range(states):
                    score = forward[i - span, k] + stay[k] + null[i - span, span - 1]
                    if score > -np.inf:
                        forward[i, null_next[k]] = np.logaddexp(forward[i, null_next[k]], score)
        if i < length:
            _step(forward[i], jump_weight, entering[i])
    top = -np.inf
    total = 0.0
    for k in range(states):
        top = max(top, forward[length, k] + final[k])
    for k in range(states):
        total += np.exp(forward[length, k] + final[k] - top)
    log_z = top + np.log(total)
    for k in range(states):
        finals[k] = np.exp(forward[length, k] + final[k] - log_z)
    for step in range(length):
        i = length - 1 - step
        for j in range(width):
            leaving[i, j] = -np.inf
            for span in range(longest):
                for wide in range(widest):
                    segments[i, span, j, wide] = 0.0
            top = -np.inf
            for span in range(min(longest, length - i)):
                for wide in range(min(widest, width - j)):
                    top = max(top, emit[i, span, j, wide] + backward[i + span + 1, j + wide + 1])
            if top == -np.inf:
                continue
            total = 0.0
            scale = np.exp(entering[i, j] + top - log_z)
            for span in range(min(longest, length - i)):
                for wide in range(min(widest, width - j)):
                    score = emit[i, span, j, wide] + backward[i + span + 1, j + wide + 1] - top
                    if not score > -np.inf:
                        continue
                    part = np.exp(score)
                    total += part
                    segments[i, span, j, wide] = part * scale
            leaving[i, j] = top + np.log(total)
        _step(leaving[i], turned, backward[i])
        for span in range(most_null):
            null_segments[i, span] = 0.0
            if i + span >= length:
                continue
            for k in range(states):
                score = stay[k] + null[i, span] + backward[i + span + 1, null_next[k]]
                part = np.exp(forward[i, k] + score - log_z)
                stays[k] += part
                null_segments[i, span] += part
                backward[i, k] = np.logaddexp(backward[i, k], score)
        # Steps: forward[i, k] + jump[k, j] + leaving[i, j]; exp(jump) is multiplied in after the sum over i.
        top = -np.inf
        for j in range(width):
            top = max(top, leaving[i, j])
        for j in range(width):
            work[0, j] = np.exp(leaving[i, j] - top)
        for k in range(states):
            weight = np.exp(forward[i, k] + top - log_z)
            if weight > 0.0:
                for j in range(width):
                    jumps[k, j] += weight * work[0, j]
    for k in range(states):
        for j in range(width):
            jumps[k, j] *= jump_weight[k, j]
    return log_z


@allocating_kernel
def segment_path(emit, null, jump, stay, null_next, final, starts, stops):
    """The best path, by Viterbi (semicrf, section 3.2); returns its score.

    Fills, for each observed word, `starts` (the start of its segment) and `stops` (I x 2: the span that the segment is
    aligned with, -1 for null). Among equal scores the first found wins.
    """
    length, longest, width, widest = emit.shape
    most_null = null.shape[1]
    states = len(stay)
    best = np.empty((length + 1, states))
    entering = np.empty((length, width))
    came_from = np.empty((length, width), dtype=np.int64)
    # The length of the last segment, below 0 for null; and the start of its span, or the state before null.
    kept = np.empty((length + 1, states, 2), dtype=np.int64)
    for i in range(length + 1):
        for k in range(states):
            best[i, k] = 0.0 if i + k == 0 else -np.inf
            kept[i, k, 0] = kept[i, k, 1] = 0
        if i > 0:
            for span in range(1, min(most_null, i) + 1):
                for k in range(states):
                    score = best[i - span, k] + stay[k] + null[i - span, span - 1]
                    if score > best[i, null_next[k]]:
                        best[i, null_next[k]] = score
                        kept[i, null_next[k], 0] = -span
                        kept[i, null_next[k], 1] = k
            for span in range(1, min(longest, i) + 1):
                start = i - span
                for j in range(width):
                    for wide in range(min(widest, width - j)):
                        score = entering[start, j] + emit[start, span - 1, j, wide]
                        if score > best[i, j + wide + 1]:
                            best[i, j + wide + 1] = score
                            kept[i, j + wide + 1, 0] = span
                            kept[i, j + wide + 1, 1] = j
        if i < length:
            for j in range(width):
                entering[i, j] = -np.inf
                came_from[i, j] = 0
            for k in range(states):
                if best[i, k] > -np.inf:
                    for j in range(width):
                        score = best[i, k] + jump[k, j]
                        if score > entering[i, j]:
                            entering[i, j] = score
                            came_from[i, j] = k
    k = 0
    for other in range(1, states):
        if best[length, other] + final[other] > best[length, k] + final[k]:
            k = other
    score = best[length, k] + final[k]
    i = length
    while i > 0:
        span, source = kept[i, k, 0], kept[i, k, 1]
        if span < 0:
            for word in range(i + span, i):
                starts[word] = i + span
                stops[word, 0] = stops[word, 1] = -1
            i += span
            k = source
        else:
            for word in range(i - span, i):
                starts[word] = i - span
                stops[word, 0] = source
                stops[word, 1] = k
            i -= span
            k = came_from[i, source]
    return score


@kernel
def segment_links(segments, links):
    """Fill `links` (I x J) with the probability that two words are linked: the sum over all segments with both."""
    length, longest, width, widest = segments.shape
    for i in range(length):
        for j in range(width):
            links[i, j] = 0.0
    for i in range(length):
        for span in range(min(longest, length - i)):
            for j in range(width):
                for wide in range(min(widest, width - j)):
                    part = segments[i, span, j, wide]
                    if part > 0.0:
                        for row in range(i, i + span + 1):
                            for column in range(j, j + wide + 1):
                                links[row, column] += part
