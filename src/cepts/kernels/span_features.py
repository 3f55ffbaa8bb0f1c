"""Features of pairs of spans, at least one of them longer than one word (semicrf, sections 3.3 and 3.4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.kernels import kernel
from cepts.kernels.phrase_features import (
    ACRONYM,
    CONTENT,
    DISTANCE_EDGES,
    FIRST_LIST,
    GROUPS,
    ONLY_X,
    PUNCTUATION,
    RULE,
    RULE_VALUES,
    SECOND_LIST,
    SURE,
    WORD,
    Attribute,
    Category,
    FeatureGroup,
    Value,
    bin_of,
    columns,
    fill_rule,
    level_of,
)
from cepts.kernels.wordnet import SYNONYM

FOUND_EDGES = np.array([0.01, 0.34, 0.6, 0.99])
MATCHED_EDGES = np.array([0.01, 0.2, 0.4, 0.6, 0.8, 0.94])
COSINE_EDGES = np.arange(0.2, 1.0, 0.1)

SPANS = FeatureGroup(
    values=(
        Value("string", "words found, source"),
        Value("string", "words found, target"),
        Value("string", "words matched, source"),
        Value("string", "words matched, target"),
        Value("string", "spelling, source"),
        Value("string", "spelling, target"),
        *RULE_VALUES,
        Value("relatedness", "cosine"),
        Value("name", "edits"),
        Value("name", "acronym"),
    ),
    attributes=(
        Attribute("size", "sizes"),  # both lengths
        Attribute("found", len(FOUND_EDGES) + 1),
        Attribute("any found", 2),
        Attribute("matched", len(MATCHED_EDGES) + 1),
        Attribute("word for word", 2),
        Attribute("source found elsewhere", 3),
        Attribute("target found elsewhere", 3),
        Attribute("distance", len(DISTANCE_EDGES) + 1),
        Attribute("first source tag", "tags"),
        Attribute("first target tag", "tags"),
        Attribute("last source tag", "tags"),
        Attribute("last target tag", "tags"),
        Attribute("tag before source", "tags"),
        Attribute("tag before target", "tags"),
        Attribute("tag after source", "tags"),
        Attribute("tag after target", "tags"),
        Attribute("both whole", 2),
        Attribute("goes on", 4),  # whether the chunks go on with words that match, before and after
        Attribute("same type", 2),
        Attribute("lists", 8),
        Attribute("cosine", len(COSINE_EDGES) + 1),
        Attribute("before", 3),
        Attribute("after", 3),
        Attribute("related", 3),
        # The columns of each span (`SPAN_COLUMNS`).
        Attribute("source place", 4),
        Attribute("source type", "chunks"),
        Attribute("source content", 4),
        Attribute("source punctuation", 2),
        Attribute("source function word", "words"),
        Attribute("source edges", 4),
        Attribute("target place", 4),
        Attribute("target type", "chunks"),
        Attribute("target content", 4),
        Attribute("target punctuation", 2),
        Attribute("target function word", "words"),
        Attribute("target edges", 4),
    ),
    categories=(
        Category("string", "size", ("size",)),
        Category("string", "found, size", ("found", "size")),
        Category("string", "matched, size", ("matched", "size")),
        Category("string", "word for word, size", ("word for word", "size")),
        Category("string", "found elsewhere", ("source found elsewhere", "target found elsewhere")),
        Category("string", "content words, found", ("source content", "target content", "any found")),
        Category("string", "punctuation", ("source punctuation", "target punctuation")),
        Category("position", "distance", ("distance",)),
        Category("pos", "first tags", ("first source tag", "first target tag")),
        Category("pos", "last tags", ("last source tag", "last target tag")),
        Category("pos", "source tags, before", ("tag before source", "first source tag")),
        Category("pos", "source tags, after", ("last source tag", "tag after source")),
        Category("pos", "target tags, before", ("tag before target", "first target tag")),
        Category("pos", "target tags, after", ("last target tag", "tag after target")),
        Category("chunk", "chunks, size", ("source place", "target place", "size")),
        Category("chunk", "edges, word for word", ("source edges", "target edges", "word for word")),
        Category("chunk", "goes on, size", ("goes on", "size")),
        Category("chunk", "chunks, found, word for word", ("source place", "target place", "found", "word for word")),
        Category("chunk", "chunks, matched", ("source place", "target place", "matched")),
        Category("chunk", "types, whole", ("source type", "target type", "both whole")),
        Category("chunk", "same type, whole", ("same type", "both whole")),
        Category("paraphrase", "lists", ("lists",)),
        Category("relatedness", "cosine, size", ("cosine", "size")),
        Category("context", "neighbours, found", ("before", "after", "found")),
        Category("lexical", "function words of source", ("source function word",)),
        Category("lexical", "function words of target", ("target function word",)),
        Category("wordnet", "related, synonymous", ("related",)),
    ),
)
V, A = columns(SPANS.values), columns(SPANS.attributes)

# Columns of a span: its place among chunks (it crosses the edge of a chunk, is inside of one, is one whole chunk, or
# several), the type of the chunk, the number of its content words (at most 3), whether it has punctuation, the function
# word that it starts with, and its edges: 1 if it starts where a chunk starts, plus 2 if it stops where a chunk stops.
SPAN_COLUMNS = 6
PLACE, TYPE, CONTENT_WORDS, HAS_PUNCTUATION, FUNCTION_WORD, EDGES = range(SPAN_COLUMNS)
CROSSING, INSIDE, WHOLE, SEVERAL = range(4)


class SpanLikeness(NamedTuple):
    """How similar all pairs of spans are; a pair is the item [i, l - 1, j, w - 1] of an array I x Ls x J x Lt.

    Attributes
    ----------
    covered
        How well the words of one span are covered by the other, by lemma, strength, spelling and name; for each, the
        mean over source words and over target words.
    cosine_sums, source_norms, target_norms
        The cosine of the spans' mean vectors is the sum of the cosines of their words, divided by the lengths of the
        sums of their unit vectors: sums over the first words of each side ((I + 1) x (J + 1)), and the lengths (words x
        lengths of spans).
    relations, lists, rules, rule_scores
        As in `Likeness`, for spans.
    lemma_before, lemma_after
        `lemma_before[i, j]`: how many of the first j target words have the lemma of source word i; `lemma_after` is the
        same with the two sides exchanged.
    """

    covered: NDArray[np.float32]
    cosine_sums: NDArray[np.float64]
    source_norms: NDArray[np.float64]
    target_norms: NDArray[np.float64]
    relations: NDArray[np.uint16]
    lists: NDArray[np.uint8]
    rules: NDArray[np.int32]
    rule_scores: NDArray[np.float32]
    lemma_before: NDArray[np.int64]
    lemma_after: NDArray[np.int64]


@kernel
def describe_spans(words, spans):
    """Fill `spans` (words x lengths x `SPAN_COLUMNS`, all 0) with the columns of each span."""
    longest = spans.shape[1]
    for i in range(len(words)):
        content = 0
        punctuation = 0
        for size in range(min(longest, len(words) - i)):
            last = i + size
            kind = words[last, WORD.kind]
            if kind % GROUPS == CONTENT:
                content += 1
            elif kind == PUNCTUATION:
                punctuation = 1
            inside = words[last, WORD.chunk_start] == words[i, WORD.chunk_start]
            starts, stops = words[i, WORD.chunk_start] == i, words[last, WORD.chunk_stop] == last + 1
            whole = starts and stops
            if inside:
                spans[i, size, PLACE] = WHOLE if whole else INSIDE
                spans[i, size, TYPE] = words[i, WORD.chunk]
            else:
                spans[i, size, PLACE] = SEVERAL if whole else CROSSING
            spans[i, size, CONTENT_WORDS] = content if content < 3 else 3
            spans[i, size, HAS_PUNCTUATION] = punctuation
            if content == 0:
                spans[i, size, FUNCTION_WORD] = words[i, WORD.frequent]
            spans[i, size, EDGES] = starts + 2 * stops


@kernel
def candidate_spans(source_spans, target_spans, parallel, known, short, items):
    """Fill `items` with the pairs of spans that a path may have, and return how many there are.

    Pairs of single words are left out. Every pair of spans of at most `short` words is a candidate. Pairs with a longer
    span are candidates if both spans are whole chunks, if they are parallel, or if a table knows them (`known`).
    """
    length, longest = source_spans.shape[:2]
    width, widest = target_spans.shape[:2]
    count = 0
    for i in range(length):
        for span in range(min(longest, length - i)):
            for j in range(width):
                for wide in range(min(widest, width - j)):
                    if span + wide == 0:
                        continue
                    item = ((i * longest + span) * width + j) * widest + wide
                    if (
                        (span < short and wide < short)
                        or (span == wide and parallel[i, j, span])
                        or known[item]
                        or (source_spans[i, span, PLACE] == WHOLE and target_spans[j, wide, PLACE] == WHOLE)
                    ):
                        items[count] = item
                        count += 1
    return count


@kernel
def _found_elsewhere(lemma_before, i, size, j, wide):
    """How many words of a source span are in the target sentence but not in the target span; at most 2."""
    count = 0
    for word in range(i, i + size + 1):
        inside = lemma_before[word, j + wide + 1] - lemma_before[word, j]
        count += lemma_before[word, -1] > 0 and inside == 0
    return count if count < 2 else 2


@kernel
def _goes_on(source, target, match, i, j, other_i, other_j):
    """Whether the words (other_i, other_j) beside (i, j) are in the same chunks as these and have the same lemma."""
    length, width = match.shape
    return (
        0 <= other_i < length
        and 0 <= other_j < width
        and source[i, WORD.chunk_start] == source[other_i, WORD.chunk_start]
        and target[j, WORD.chunk_start] == target[other_j, WORD.chunk_start]
        and match[other_i, other_j] <= SURE
    )


@kernel
def fill_spans(source, target, source_spans, target_spans, match, like, items, upweight, values, attributes):
    """Fill the values and attributes, all 0 before, of the pairs of spans `items`, one row for each.

    `source_spans` and `target_spans` come from `describe_spans`, `items` from `candidate_spans`; with `upweight`,
    values are multiplied by the longer length (semicrf, section 3.4). Paraphrases with the symbol [X] are not used
    (section 3.3).
    """
    length, width = match.shape
    longest, widest, covered = source_spans.shape[1], target_spans.shape[1], like.covered
    for row in range(len(items)):
        item = items[row]
        wide = item % widest
        j = item // widest % width
        span = item // (widest * width) % longest
        i = item // (widest * width * longest)
        scale = np.float32(1.0)
        if upweight:
            scale = np.float32((span if span > wide else wide) + 1)
        diagonal = span == wide
        if diagonal:
            for step in range(span + 1):
                diagonal = diagonal and match[i + step, j + step] <= SURE
        last_source, last_target = i + span, j + wide
        sums = like.cosine_sums
        near = sums[last_source + 1, last_target + 1] - sums[i, last_target + 1] - sums[last_source + 1, j] + sums[i, j]
        near /= like.source_norms[i, span] * like.target_norms[j, wide]
        listed = np.int64(like.lists[item])

        for measure in range(3):
            for side in range(2):
                found = scale * covered[measure, side, item]
                values[row, V.words_found_source + 2 * measure + side] = found
        if not listed & ONLY_X:
            fill_rule(like.rules[item], like.rule_scores, scale, values, row, V.rule)
        else:
            listed &= FIRST_LIST | SECOND_LIST | ACRONYM
        values[row, V.cosine] = scale * (near if near > 0.0 else 0.0)
        values[row, V.edits] = scale * (covered[3, 0, item] + covered[3, 1, item]) / 2
        values[row, V.acronym] = scale if listed & ACRONYM else np.float32(0.0)

        attributes[A.size, row] = span * widest + wide
        found, other = covered[0, 0, item], covered[0, 1, item]
        found = min(found, other)
        attributes[A.found, row] = bin_of(np.float64(found), FOUND_EDGES)
        attributes[A.any_found, row] = found > 0
        found, other = covered[1, 0, item], covered[1, 1, item]
        found = min(found, other)
        attributes[A.matched, row] = bin_of(np.float64(found), MATCHED_EDGES)
        attributes[A.word_for_word, row] = diagonal
        attributes[A.source_found_elsewhere, row] = _found_elsewhere(like.lemma_before, i, span, j, wide)
        attributes[A.target_found_elsewhere, row] = _found_elsewhere(like.lemma_after, j, wide, i, span)
        for column in range(SPAN_COLUMNS):
            attributes[A.source_place + column, row] = source_spans[i, span, column]
            attributes[A.target_place + column, row] = target_spans[j, wide, column]
        middle_source = (i + (span + 1) / 2) / length
        middle_target = (j + (wide + 1) / 2) / width
        attributes[A.distance, row] = bin_of(abs(middle_source - middle_target), DISTANCE_EDGES)
        attributes[A.first_source_tag, row] = source[i, WORD.tag]
        attributes[A.first_target_tag, row] = target[j, WORD.tag]
        attributes[A.last_source_tag, row] = source[last_source, WORD.tag]
        attributes[A.last_target_tag, row] = target[last_target, WORD.tag]
        attributes[A.tag_before_source, row] = source[i - 1, WORD.tag] if i > 0 else 0
        attributes[A.tag_before_target, row] = target[j - 1, WORD.tag] if j > 0 else 0
        attributes[A.tag_after_source, row] = source[last_source + 1, WORD.tag] if last_source + 1 < length else 0
        attributes[A.tag_after_target, row] = target[last_target + 1, WORD.tag] if last_target + 1 < width else 0
        place, other_place = source_spans[i, span, PLACE], target_spans[j, wide, PLACE]
        attributes[A.both_whole, row] = place == WHOLE and other_place == WHOLE
        before = _goes_on(source, target, match, i, j, i - 1, j - 1)
        after = _goes_on(source, target, match, last_source, last_target, last_source + 1, last_target + 1)
        attributes[A.goes_on, row] = before + 2 * after
        kind = source_spans[i, span, TYPE]
        attributes[A.same_type, row] = kind > 0 and kind == target_spans[j, wide, TYPE]
        attributes[A.lists, row] = listed & (FIRST_LIST | SECOND_LIST | RULE)
        attributes[A.cosine, row] = bin_of(near, COSINE_EDGES)
        attributes[A.before, row] = level_of(match, i - 1, j - 1)
        attributes[A.after, row] = level_of(match, last_source + 1, last_target + 1)
        related = like.relations[item]
        attributes[A.related, row] = 2 if related & SYNONYM else related > 0
