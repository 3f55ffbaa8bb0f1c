"""Slow, plain twins of the semi-Markov CRF: every path of a tiny lattice, one after the other.

A path is a tuple of parts (i, l, j, w): the observed span [i, i + l) with the other's span [j, j + w); j is -1 and w 0
for null. A lattice is (emit, null, jump, stay, null_next, final), as kernels.segments takes it.
"""

from __future__ import annotations

from collections import Counter
from itertools import takewhile

import numpy as np
from hypothesis import strategies as st


@st.composite
def lattices(draw, largest=4):
    """Random scores, some of them -inf; NaN stands where a span leaves its sentence, so that nobody may read it."""
    length, width = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    longest, widest = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale, share = draw(st.sampled_from([0.0, 1.0, 10.0])), draw(st.sampled_from([0.0, 0.3, 1.0]))
    options = {"memory": draw(st.booleans()), "most_null": draw(st.integers(1, 3))}
    return lattice(random, length, width, longest, widest, scale=scale, share=share, **options)


def lattice(random, length, width, longest, widest, *, memory, scale=1.0, share=0.0, most_null=1):
    """`share` of the emitted scores are -inf; up to `most_null` words are one segment of null."""
    stops = np.arange(width + 1)
    null_next = np.concatenate([width + 1 + stops] * 2) if memory else np.full(width + 2, width + 1)
    states = len(null_next)
    emit = random.uniform(-scale, scale, (length, longest, width, widest))
    emit[random.random(emit.shape) < share] = -np.inf
    for i in range(length):
        emit[i, length - i :] = np.nan
    for j in range(width):
        emit[:, :, j, width - j :] = np.nan
    shapes = (length, most_null), (states, width), (states,), (states,)
    null, jump, stay, final = (random.uniform(-scale, scale, shape) for shape in shapes)
    for i in range(length):
        null[i, length - i :] = np.nan
    return emit, null, jump, stay, null_next, final


def all_paths(length, width, longest, widest, most_null=1, start=0):
    """Every path over the observed words from `start` on."""
    if start == length:
        yield ()
        return
    for size in range(1, min(most_null, length - start) + 1):
        for rest in all_paths(length, width, longest, widest, most_null, start + size):
            yield ((start, size, -1, 0), *rest)
    for size in range(1, min(longest, length - start) + 1):
        rests = list(all_paths(length, width, longest, widest, most_null, start + size))
        for j in range(width):
            for wide in range(1, min(widest, width - j) + 1):
                for rest in rests:
                    yield ((start, size, j, wide), *rest)


def paths_of(emit, null):
    """Every path of a lattice with these `emit` and `null`."""
    length, longest, width, widest = emit.shape
    return list(all_paths(length, width, longest, widest, null.shape[1]))


def steps_of_path(path, null_next):
    """The states of a path: [(state before, start of the span or -1 for null)], and the last state."""
    state, steps = 0, []
    for _, _, j, wide in path:
        steps.append((state, j))
        state = int(null_next[state]) if j < 0 else j + wide
    return steps, state


def path_score(path, emit, null, jump, stay, null_next, final):
    """The sum of the path's scores."""
    steps, last = steps_of_path(path, null_next)
    total = final[last]
    for (i, size, j, wide), (state, _) in zip(path, steps, strict=True):
        total += stay[state] + null[i, size - 1] if j < 0 else jump[state, j] + emit[i, size - 1, j, wide - 1]
    return total


def path_counts(path, emit, null, jump, stay, null_next, final):
    """What a path has of segments, null segments, jumps, steps to null and last steps, as arrays of counts."""
    counts = [np.zeros(np.shape(part)) for part in (emit, null, jump, stay, final)]
    segments, words, jumps, stays, finals = counts
    steps, last = steps_of_path(path, null_next)
    finals[last] = 1
    for (i, size, j, wide), (state, _) in zip(path, steps, strict=True):
        if j < 0:
            words[i, size - 1] += 1
            stays[state] += 1
        else:
            segments[i, size - 1, j, wide - 1] += 1
            jumps[state, j] += 1
    return counts


def as_path(starts, stops):
    """The path of what kernels fill: where each word's segment starts, and its span, -1 for null."""
    path = []
    for i in np.flatnonzero(starts == np.arange(len(starts))).tolist():
        size, (start, stop) = int((starts == i).sum()), stops[i].tolist()
        assert (stops[i : i + size] == stops[i]).all() and (starts[i : i + size] == i).all()
        path.append((i, size, start, stop - start))
    return tuple(path)


def path_links(path):
    """The links (observed, other) of a path."""
    return {
        (row, column)
        for i, size, j, wide in path
        for row in range(i, i + size)
        for column in range(j, j + max(wide, 0))
    }


def log_sum(values):
    """The log of the sum of exp(values)."""
    top = np.max(values)
    return top if top == -np.inf else top + np.log(np.sum(np.exp(np.asarray(values) - top)))


def expectations(given):
    """log Z, and the expected counts of `path_counts` over all paths."""
    paths = paths_of(*given[:2])
    scores = np.array([path_score(path, *given) for path in paths])
    log_z = log_sum(scores)
    totals = [np.zeros(np.shape(given[place])) for place in (0, 1, 2, 3, 5)]
    for path, probability in zip(paths, np.exp(scores - log_z), strict=True):
        if probability > 0:
            for total, count in zip(totals, path_counts(path, *given), strict=True):
                total += probability * count
    return log_z, totals


def log_partition(emit, null, jump, stay, null_next, final):
    """log Z by the plain recursion over words and states, without any sum taken out of the step."""
    length, longest, width, widest = emit.shape
    ending = [{0: 0.0}]
    for i in range(1, length + 1):
        here = {}

        def add(state, score, here=here):
            here[state] = np.logaddexp(here.get(state, -np.inf), score)

        for size in range(1, min(null.shape[1], i) + 1):
            for state, score in ending[i - size].items():
                add(int(null_next[state]), score + stay[state] + null[i - size, size - 1])
        for size in range(1, min(longest, i) + 1):
            for state, score in ending[i - size].items():
                for j in range(width):
                    for wide in range(1, min(widest, width - j) + 1):
                        add(j + wide, score + jump[state, j] + emit[i - size, size - 1, j, wide - 1])
        ending.append(here)
    return log_sum([score + final[state] for state, score in ending[length].items()])


def linked(segments):
    """The probability of each link: the sum over the segments that have it."""
    length, longest, width, widest = segments.shape
    links = np.zeros((length, width))
    for row in range(length):
        for column in range(width):
            links[row, column] = sum(
                segments[i, size - 1, j, wide - 1]
                for i in range(length)
                for size in range(1, min(longest, length - i) + 1)
                for j in range(width)
                for wide in range(1, min(widest, width - j) + 1)
                if i <= row < i + size and j <= column < j + wide
            )
    return links


def gold_paths(cells, longest, widest, most_null=1, allowed=None):
    """Of all paths without a link that is not in `cells`, those with the most links; of these, the fewest segments.

    Of these again, those with the fewest segments of null. `allowed` says which segments a path may have.
    """
    length, width = cells.shape
    allowed = [
        path
        for path in all_paths(length, width, longest, widest, most_null)
        if all(cells[link] for link in path_links(path))
        and (allowed is None or all(j < 0 or allowed[i, size - 1, j, wide - 1] for i, size, j, wide in path))
    ]

    def rank(path):
        return -len(path_links(path)), sum(j >= 0 for _, _, j, _ in path), len(path)

    best = min(map(rank, allowed))
    return {path for path in allowed if rank(path) == best}


def link_cost(part, cells, excused, wrong, missed):
    """What a part of a path costs: its links that are not gold, and the gold links of its words that it lacks."""
    i, size, j, wide = part
    total = 0.0
    for row in range(i, i + size):
        for column in range(cells.shape[1]):
            inside = j <= column < j + wide
            if inside and not cells[row, column] and not excused[row, column]:
                total += wrong
            if cells[row, column] and not inside:
                total += missed
    return total


def state_cost(part, gold, cost):
    """The words of a part of a path that have another span on the path `gold`."""
    i, size, j, wide = part
    spans = {word: (start, width) for first, count, start, width in gold for word in range(first, first + count)}
    return cost * sum(spans[word] != (j, wide) for word in range(i, i + size))


def every_part(length, width, longest, widest, most_null=1):
    """Every part that a path may have."""
    for i in range(length):
        for size in range(1, min(most_null, length - i) + 1):
            yield i, size, -1, 0
        for size in range(1, min(longest, length - i) + 1):
            for j in range(width):
                for wide in range(1, min(widest, width - j) + 1):
                    yield i, size, j, wide


# -- features ----------------------------------------------------------------------------------------------------------


def table_row(values, categories, item, value_weights, category_weights):
    """An item's row of the weights' vector: its values, and how often it has each category."""
    counts = np.zeros(category_weights)
    for category in categories[item]:
        counts[category] += 1
    return [np.asarray(values[item], dtype=float).reshape(value_weights), counts]


def path_features(path, features, sizes, shape, steps, step_weights, null_sizes):
    """The features of a path of a `LatticeShape`, in the order of the weights."""
    parts = [np.zeros(step_weights), *(np.zeros(size) for size in sizes)]
    moves, last = steps_of_path(path, steps.null_next)
    parts[0][steps.final[last]] += 1
    side = features.target_null if shape.by_target else features.source_null
    for (i, size, j, wide), (state, _) in zip(path, moves, strict=True):
        if j < 0:
            parts[0][steps.stay[state]] += 1
            parts[0][null_sizes + size - 1] += 1
            rows = [(side, 5, i + step) for step in range(size)]
        else:
            parts[0][steps.jump[state, j]] += 1
            (a, source), (b, target) = ((j, wide), (i, size)) if shape.by_target else ((i, size), (j, wide))
            words = [(features.tokens, 1, (a + step) * features.width + b + step) for step in range(source)]
            if source == target == 1:
                rows = words
            else:
                item = ((a * shape.longest + source - 1) * features.width + b) * shape.widest + target - 1
                rows = [(features.spans, 3, features.items.tolist().index(item))]
                if shape.by_words and source == target and features.parallel[a, b, source - 1]:
                    rows += [word for step, word in enumerate(words) if features.matched[a + step, b + step]]
        for table, place, item in rows:
            row = table_row(table.values, table.categories, item, sizes[place - 1], sizes[place])
            parts[place] += row[0]
            parts[place + 1] += row[1]
    return np.concatenate(parts)


def is_allowed(path, features, shape):
    """Whether all segments of a path are single words with single words, or among the pairs of spans with features."""
    items = set() if features.items is None else set(features.items.tolist())
    for i, size, j, wide in path:
        (a, source), (b, target) = ((j, wide), (i, size)) if shape.by_target else ((i, size), (j, wide))
        item = ((a * shape.longest + source - 1) * features.width + b) * shape.widest + target - 1
        if j >= 0 and not source == target == 1 and item not in items:
            return False
    return True


def objective(cases, weights, penalty):
    """Softmax-margin: value and gradient. A case is (features of all paths, their costs, number of the gold path)."""
    value, gradient = 0.5 * np.sum(penalty * weights**2), penalty * weights
    for rows, costs, gold in cases:
        scores = rows @ weights + costs
        log_z = log_sum(scores)
        value += log_z - rows[gold] @ weights
        gradient = gradient + np.exp(scores - log_z) @ rows - rows[gold]
    return value, gradient


# -- spelling ----------------------------------------------------------------------------------------------------------


def common(one, other):
    """How many first characters two strings share."""
    return len(list(takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False))))


def jaro_winkler(one, other):
    """Jaro-Winkler similarity of two strings."""
    if not one or not other:
        return 0.0
    reach = max(max(len(one), len(other)) // 2 - 1, 0)
    free = dict(enumerate(other))
    found = []
    for i, character in enumerate(one):
        places = [j for j in sorted(free) if abs(i - j) <= reach and free[j] == character]
        if places:
            del free[places[0]]
            found.append(character)
    if not found:
        return 0.0
    others = [character for j, character in enumerate(other) if j not in free]
    halves = sum(a != b for a, b in zip(found, others, strict=True)) / 2
    m = len(found)
    jaro = (m / len(one) + m / len(other) + (m - halves) / m) / 3
    return jaro + min(4, common(one, other)) * 0.1 * (1 - jaro)


def dice(one, other, size):
    """Twice the shared n-grams by those of both."""
    grams = [Counter(word[i : i + size] for i in range(len(word) - size + 1)) for word in (one, other)]
    if not all(grams):
        return 0.0
    return 2 * (grams[0] & grams[1]).total() / (grams[0].total() + grams[1].total())


def levenshtein(one, other):
    """The fewest insertions, deletions and substitutions of characters, by the plain recursion."""
    if not one or not other:
        return len(one) + len(other)
    changed = levenshtein(one[1:], other[1:]) + (one[0] != other[0])
    return min(changed, levenshtein(one[1:], other) + 1, levenshtein(one, other[1:]) + 1)


def spelling(one, other):
    """Jaro-Winkler, Dice of bigrams and of trigrams, common prefix and suffix by the longer word, and more.

    That is 1 minus the Levenshtein and the Hamming distance by the longer word, and Jaccard's coefficient.
    """
    if not one or not other:
        return [0.0] * 8
    longer = max(len(one), len(other))
    prefix = common(one, other) / longer
    suffix = common(one[::-1], other[::-1]) / longer
    edits = 1 - levenshtein(one, other) / longer
    hamming = sum(a == b for a, b in zip(one, other, strict=False)) / longer
    jaccard = len(set(one) & set(other)) / len(set(one) | set(other))
    grams = dice(one, other, 2), dice(one, other, 3)
    return [jaro_winkler(one, other), *grams, prefix, suffix, edits, hamming, jaccard]


def coverage(likeness, i, size, j, wide):
    """Of two spans, the mean over the words of each of the best likeness to a word of the other."""
    part = likeness[i : i + size, j : j + wide]
    return part.max(axis=1).mean(), part.max(axis=0).mean()


def favoured(emit, links, gains):
    """The scores of segments, raised for each link that one holds; spans beyond a sentence keep theirs."""
    raised = emit.copy()
    for (a, size, b, wide), _ in np.ndenumerate(emit):
        source, target = range(a, a + size + 1), range(b, b + wide + 1)
        if source[-1] < emit.shape[0] and target[-1] < emit.shape[2]:
            raised[a, size, b, wide] += sum(
                gain for (i, j), gain in zip(links, gains, strict=True) if i in source and j in target
            )
    return raised


# -- words of phrases --------------------------------------------------------------------------------------------------


def is_parallel(matched, i, j, size):
    """Whether at least half of the words of two spans of `size` words match in order; single words always are."""
    if i + size > matched.shape[0] or j + size > matched.shape[1]:
        return False
    return size == 1 or sum(matched[i + step, j + step] for step in range(size)) >= size / 2


def linked_words(i, size, j, wide, matched, same):
    """The links of words that stand for each other in two spans."""
    if size == wide and is_parallel(matched, i, j, size):
        return {(i + step, j + step) for step in range(size)}
    cells = {(row, column) for row in range(i, i + size) for column in range(j, j + wide)}
    found = {cell for cell in cells if same[cell]}
    rows, columns = {row for row, _ in found}, {column for _, column in found}
    return found | {(row, column) for row, column in cells if row not in rows and column not in columns}
