"""The features of words with words, spans with spans and words with null, a row an item, in a fixed order of columns.

What each column is, and how many categories it has, is told in cepts.phrases.token_features and span_features; the
orders there and here must be the same. Sentences come as arrays with a row a word and the columns below.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel

__all__ = ["fill_null", "fill_spans", "fill_tokens", "match_words"]

# Columns of a sentence's array.
FORM, LOWER, LEMMA, TAG, CHUNK, FREQUENT, KIND, CAPITAL, CHUNK_START, CHUNK_STOP = range(10)
CONTENT, FUNCTION, PUNCTUATION, NUMBER = range(4)
MATCHES = 13
NONE = 12
SURE = 2  # the last kind of match that is as good as identical
# What each kind of match counts for where one number must stand for it.
STRENGTHS = np.array([1.0, 1.0, 0.95, 0.9, 0.85, 0.8, 0.7, 0.7, 0.55, 0.6, 0.55, 0.35, 0.0], dtype=np.float32)

SPELLING_EDGES = np.arange(0.5, 1.0, 0.06)
DISTANCE_EDGES = np.array([0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45])
COSINE_EDGES = np.arange(0.05, 0.95, 0.075)
WINDOW_EDGES = np.array([0.3, 0.6, 1.0, 1.6, 2.2, 3.0])
CHUNK_EDGES = np.array([0.01, 0.3, 0.6, 0.9])
FOUND_EDGES = np.array([0.01, 0.34, 0.6, 0.99])
MATCHED_EDGES = np.array([0.01, 0.2, 0.4, 0.6, 0.8, 0.94])
SPAN_COSINE_EDGES = np.arange(0.2, 1.0, 0.1)
BEST_EDGES = np.array([0.3, 0.5, 0.65, 0.75, 0.9, 0.99])
NEAREST_EDGES = np.arange(0.05, 0.95, 0.15)
REACH = 3
RULE_SCALE = 10.0


@kernel
def _bin(value, edges):
    """How many of `edges` the value reaches."""
    place = 0
    while place < len(edges) and value >= edges[place]:
        place += 1
    return place


@kernel
def match_words(source, target, spelling, relations, synonym, derived, kinds, cosine, nicknames, match, strength):
    """Fill `match` with how each two words match (the first that holds) and `strength` with what that counts for."""
    for i in range(len(source)):
        for j in range(len(target)):
            listed = kinds[i, 0, j, 0]
            related = relations[i, 0, j, 0]
            if source[i, FORM] == target[j, FORM]:
                found = 0
            elif source[i, LOWER] == target[j, LOWER]:
                found = 1
            elif source[i, LEMMA] == target[j, LEMMA]:
                found = 2
            elif nicknames[i, j]:
                found = 3
            elif related & synonym:
                found = 4
            elif listed & 3 == 3:
                found = 5
            elif listed & 7:
                found = 6
            elif related & derived:
                found = 7
            elif related:
                found = 8
            elif cosine[i, j] >= 0.65:
                found = 9
            elif spelling[i, j, 0] >= 0.85:
                found = 10
            elif cosine[i, j] >= 0.45:
                found = 11
            else:
                found = NONE
            match[i, j] = found
            strength[i, j] = STRENGTHS[found]


@kernel
def _level(match, i, j):
    """2 where words match as good as identically or both lie beyond the ends, 1 where they match somehow, 0 else."""
    length, width = match.shape
    if (i < 0 and j < 0) or (i >= length and j >= width):
        return 2
    if i < 0 or j < 0 or i >= length or j >= width or match[i, j] == NONE:
        return 0
    return 2 if match[i, j] <= SURE else 1


@kernel
def _strength_at(strength, i, j):
    if i < 0 or j < 0 or i >= strength.shape[0] or j >= strength.shape[1]:
        return 0.0
    return strength[i, j]


@kernel
def _neighbour(strength, i, j):
    """The strength of a neighbouring cell; 1 where both words lie beyond the sentences' ends."""
    if (i < 0 and j < 0) or (i >= strength.shape[0] and j >= strength.shape[1]):
        return 1.0
    return _strength_at(strength, i, j)


@kernel
def _occurrences(words, counts, ordinals):
    """Of each word, how often its lower-cased form occurs, and how often before."""
    for i in range(len(words)):
        counts[i] = 0
        ordinals[i] = 0
        for other in range(len(words)):
            if words[other, LOWER] == words[i, LOWER]:
                counts[i] += 1
                if other < i:
                    ordinals[i] += 1


@kernel
def _chunk_found(source, target, strength, i, j):
    """How well the other words of the source word's chunk are found among the others of the target word's chunk."""
    others = source[i, CHUNK_STOP] - source[i, CHUNK_START] - 1
    total = 0.0
    for row in range(source[i, CHUNK_START], source[i, CHUNK_STOP]):
        if row != i:
            best = 0.0
            for column in range(target[j, CHUNK_START], target[j, CHUNK_STOP]):
                if column != j:
                    best = max(best, strength[row, column])
            total += best
    return total / max(others, 1)


@kernel
def _put_rule(rule, rule_scores, values, first):
    """Whether there is a paraphrase rule, and its scores: minus log probabilities, turned so that more is better."""
    values[first] = rule >= 0
    for place in range(8):
        score = 0.0
        if rule >= 0:
            score = max(0.0, 1.0 - rule_scores[rule, place] / RULE_SCALE)
        values[first + 1 + place] = score


@kernel
def fill_tokens(
    source,
    target,
    match,
    strength,
    spelling,
    relations,
    relation_count,
    expressions,
    kinds,
    rules,
    rule_scores,
    cosine,
    names,
    nicknames,
    linked,
    source_known,
    target_known,
    tags,
    chunks,
    values,
    categories,
):
    """Fill the features of every cell, the row i * J + j."""
    length, width = len(source), len(target)
    source_counts, source_ordinals = np.empty(length, np.int64), np.empty(length, np.int64)
    target_counts, target_ordinals = np.empty(width, np.int64), np.empty(width, np.int64)
    _occurrences(source, source_counts, source_ordinals)
    _occurrences(target, target_counts, target_ordinals)
    better_source = np.empty(width, np.int64)
    for i in range(length):
        kind_source = source[i, KIND]
        group_source = 0 if kind_source == NUMBER else kind_source
        for j in range(width):
            better_source[j] = 0
            for other in range(length):
                better_source[j] += strength[other, j] > strength[i, j]
        for j in range(width):
            row = i * width + j
            kind_target = target[j, KIND]
            group = max(group_source, 0 if kind_target == NUMBER else kind_target)
            found = match[i, j]
            lower = source[i, LOWER] == target[j, LOWER]
            same_tag = source[i, TAG] == target[j, TAG] and source[i, TAG] > 0
            distance = abs((i + 0.5) / length - (j + 0.5) / width)
            near = _bin(distance, DISTANCE_EDGES)
            better = 0
            equal = 0
            for other in range(width):
                better += strength[i, other] > strength[i, j]
                equal += strength[i, other] == strength[i, j]
            window = 0.0
            for other in range(max(0, i - REACH), min(length, i + REACH + 1)):
                kind = source[other, KIND]
                if other != i and kind in (CONTENT, NUMBER):
                    for column in range(max(0, j - REACH), min(width, j + REACH + 1)):
                        if column != j:
                            window += strength[other, column]
            neighbours = _level(match, i - 1, j - 1) * 3 + _level(match, i + 1, j + 1)

            values[row, 0] = source[i, FORM] == target[j, FORM]
            values[row, 1] = lower
            values[row, 2] = found <= SURE
            for place in range(5):
                values[row, 3 + place] = spelling[i, j, place]
            values[row, 8] = distance
            values[row, 9] = i == length - 1 and j == width - 1
            for bit in range(relation_count):
                values[row, 10 + bit] = (relations[i, 0, j, 0] >> bit) & 1
            after = 10 + relation_count
            _put_rule(rules[i, 0, j, 0], rule_scores, values[row], after)
            values[row, after + 9] = max(cosine[i, j], 0.0)
            values[row, after + 10] = names[i, j]
            values[row, after + 11] = nicknames[i, j]
            values[row, after + 12] = _strength_at(strength, i - 2, j - 2) + _strength_at(strength, i + 2, j + 2)
            values[row, after + 13] = _neighbour(strength, i - 1, j - 1) + _neighbour(strength, i + 1, j + 1)
            values[row, after + 14] = min(window, 4.0)

            categories[row, 0] = found * 16 + kind_source * 4 + kind_target
            categories[row, 1] = _bin(spelling[i, j, 0], SPELLING_EDGES) * 3 + group
            repeats = 0
            if lower:
                order = np.sign(source_ordinals[i] - target_ordinals[j]) + 1
                repeats = (min(source_counts[i], 3) * 12 + min(target_counts[j], 3) * 3 + order) * 3 + group
            categories[row, 2] = repeats
            rank = min(better, 2) * 6 + min(better_source[j], 2) * 2 + (equal > 1)
            categories[row, 3] = (rank * MATCHES + found) * 3 + group
            categories[row, 4] = near * 3 + group
            categories[row, 5] = near * MATCHES + found
            categories[row, 6] = source[i, TAG] * tags + target[j, TAG]
            categories[row, 7] = (found * 2 + same_tag) * 3 + group
            categories[row, 8] = kinds[i, 0, j, 0] & 7
            level = _bin(cosine[i, j], COSINE_EDGES) + 1 if source_known[i] and target_known[j] else 0
            categories[row, 9] = (level * 2 + same_tag) * 3 + group
            categories[row, 10] = (neighbours * MATCHES + found) * 3 + group
            categories[row, 11] = (_bin(window, WINDOW_EDGES) * MATCHES + found) * 3 + group
            categories[row, 12] = source[i, CHUNK] * chunks + target[j, CHUNK]
            together = _bin(_chunk_found(source, target, strength, i, j), CHUNK_EDGES)
            categories[row, 13] = (together * MATCHES + found) * 3 + group
            categories[row, 14] = linked[i, j]
            categories[row, 15] = source[i, FREQUENT] if lower else 0
            categories[row, 16] = 0 if lower else source[i, FREQUENT]
            categories[row, 17] = 0 if lower else target[j, FREQUENT]
            categories[row, 18] = expressions[i, j]


@kernel
def _describe_spans(words, longest, spans):
    """Fill `spans` (words x lengths x 5): the place among chunks, the chunk's type, content words, whether there is
    punctuation, the function word that it starts with. 0: crosses a chunk's edge, 1: inside of one, 2: one whole chunk,
    3: several whole ones.
    """
    for i in range(len(words)):
        content = 0
        punctuation = 0
        for size in range(min(longest, len(words) - i)):
            last = i + size
            kind = words[last, KIND]
            content += kind in (CONTENT, NUMBER)
            punctuation = punctuation or kind == PUNCTUATION
            one = words[last, CHUNK_START] == words[i, CHUNK_START]
            whole = words[i, CHUNK_START] == i and words[last, CHUNK_STOP] == last + 1
            spans[i, size, 0] = (2 if whole else 1) if one else (3 if whole else 0)
            spans[i, size, 1] = words[i, CHUNK] if one else 0
            spans[i, size, 2] = content
            spans[i, size, 3] = punctuation
            spans[i, size, 4] = words[i, FREQUENT] if content == 0 else 0


@kernel
def _found_elsewhere(lemma_before, i, size, j, wide):
    """How many words of a source span are in the target sentence, but not in the target span."""
    count = 0
    for word in range(i, i + size + 1):
        inside = lemma_before[word, j + wide + 1] - lemma_before[word, j]
        count += lemma_before[word, -1] > 0 and inside == 0
    return count


@kernel
def fill_spans(
    source,
    target,
    match,
    lemma_before,
    lemma_after,
    found,
    matched,
    spelt,
    named,
    cosine,
    relations,
    synonym,
    kinds,
    rules,
    rule_scores,
    upweight,
    tags,
    chunks,
    values,
    categories,
):
    """Fill the features of every pair of spans, the row of [i, l - 1, j, w - 1]; rows of single words and of spans that
    leave their sentences are left 0.

    `lemma_before[i, j]`: how many of the first j target words have the lemma of source word i; `lemma_after` the same
    with the sides changed. `found`, `matched`, `spelt`, `named`: coverages, source (0) and target (1).
    """
    _, length, longest, width, widest = found.shape
    sizes = longest * widest
    source_spans = np.zeros((length, longest, 5), np.int64)
    target_spans = np.zeros((width, widest, 5), np.int64)
    _describe_spans(source, longest, source_spans)
    _describe_spans(target, widest, target_spans)
    values[:] = 0.0
    categories[:] = 0
    for i in range(length):
        for span in range(min(longest, length - i)):
            for j in range(width):
                for wide in range(min(widest, width - j)):
                    if span + wide == 0:
                        continue
                    row = ((i * longest + span) * width + j) * widest + wide
                    size = span * widest + wide
                    scale = np.float32(max(span, wide) + 1) if upweight else np.float32(1.0)
                    both = min(found[0, i, span, j, wide], found[1, i, span, j, wide])
                    either = min(matched[0, i, span, j, wide], matched[1, i, span, j, wide])
                    level = _bin(both, FOUND_EDGES)
                    strong = _bin(either, MATCHED_EDGES)
                    diagonal = span == wide
                    if diagonal:
                        for step in range(span + 1):
                            diagonal = diagonal and match[i + step, j + step] <= SURE
                    last_source, last_target = i + span, j + wide

                    for side in range(2):
                        values[row, side] = scale * found[side, i, span, j, wide]
                        values[row, 2 + side] = scale * matched[side, i, span, j, wide]
                        values[row, 4 + side] = scale * spelt[side, i, span, j, wide]
                    _put_rule(rules[i, span, j, wide], rule_scores, values[row], 6)
                    values[row, 15] = scale * max(cosine[i, span, j, wide], np.float32(0.0))
                    values[row, 16] = scale * (named[0, i, span, j, wide] + named[1, i, span, j, wide]) / 2

                    categories[row, 0] = size
                    categories[row, 1] = level * sizes + size
                    categories[row, 2] = strong * sizes + size
                    categories[row, 3] = diagonal * sizes + size
                    lost_source = _found_elsewhere(lemma_before, i, span, j, wide)
                    lost_target = _found_elsewhere(lemma_after, j, wide, i, span)
                    categories[row, 4] = min(lost_source, 2) * 3 + min(lost_target, 2)
                    content = min(source_spans[i, span, 2], 3) * 4 + min(target_spans[j, wide, 2], 3)
                    categories[row, 5] = content * 2 + (both > 0)
                    categories[row, 6] = source_spans[i, span, 3] * 2 + target_spans[j, wide, 3]
                    middle_source = (i + (span + 1) / 2) / length
                    middle_target = (j + (wide + 1) / 2) / width
                    categories[row, 7] = _bin(abs(middle_source - middle_target), DISTANCE_EDGES)
                    categories[row, 8] = source[i, TAG] * tags + target[j, TAG]
                    categories[row, 9] = source[last_source, TAG] * tags + target[last_target, TAG]
                    chunked = source_spans[i, span, 0] * 4 + target_spans[j, wide, 0]
                    categories[row, 10] = chunked * sizes + size
                    categories[row, 11] = (chunked * 5 + level) * 2 + diagonal
                    categories[row, 12] = chunked * 7 + strong
                    type_source, type_target = source_spans[i, span, 1], target_spans[j, wide, 1]
                    whole = chunked == 10
                    categories[row, 13] = (type_source * chunks + type_target) * 2 + whole
                    categories[row, 14] = (type_source == type_target and type_source > 0) * 2 + whole
                    categories[row, 15] = kinds[i, span, j, wide] & 15
                    categories[row, 16] = _bin(cosine[i, span, j, wide], SPAN_COSINE_EDGES) * sizes + size
                    neighbours = _level(match, i - 1, j - 1) * 3 + _level(match, last_source + 1, last_target + 1)
                    categories[row, 17] = neighbours * 5 + level
                    categories[row, 18] = source_spans[i, span, 4]
                    categories[row, 19] = target_spans[j, wide, 4]
                    related = relations[i, span, j, wide]
                    categories[row, 20] = 2 if related & synonym else int(related > 0)


@kernel
def fill_null(words, strength, cosine, categories):
    """Fill the features of every word of one side with null; `strength` and `cosine` have a row a word."""
    for i in range(len(words)):
        best = 0.0
        second = 0.0
        nearest = -1.0
        for j in range(strength.shape[1]):
            value = strength[i, j]
            if value > best:
                second = best
                best = value
            elif value > second:
                second = value
            nearest = max(nearest, cosine[i, j])
        kind = words[i, KIND]
        matched = best > 0.9
        special = kind == NUMBER or words[i, CAPITAL] > 0
        categories[i, 0] = kind
        categories[i, 1] = (_bin(best, BEST_EDGES) * 2 + (second == best)) * 4 + kind
        categories[i, 2] = words[i, TAG]
        categories[i, 3] = words[i, TAG] * 2 + matched
        categories[i, 4] = _bin(nearest, NEAREST_EDGES) * 4 + kind
        categories[i, 5] = words[i, CHUNK]
        categories[i, 6] = words[i, FREQUENT]
        categories[i, 7] = words[i, FREQUENT] * 2 + matched
        categories[i, 8] = special * 2 + (best > 0.5)
