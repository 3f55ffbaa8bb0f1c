"""Features of one source word with one target word (semicrf, section 3.3).

Words are in three groups: content words and numbers, function words, punctuation. A cell has the later group of its two
words.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.phrase_features import (
    ACRONYM,
    CONTENT,
    DISTANCE_EDGES,
    GROUPS,
    KINDS,
    MATCHES,
    RULE_VALUES,
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
from cepts.kernels.wordnet import RELATIONS

SPELLING_EDGES = np.arange(0.5, 1.0, 0.06)
COSINE_EDGES = np.arange(0.05, 0.95, 0.075)
WINDOW_EDGES = np.array([0.3, 0.6, 1.0, 1.6, 2.2, 3.0])
CHUNK_EDGES = np.array([0.01, 0.3, 0.6, 0.9])
REACH = 3
COPIED = 4
RELATION_COUNT = len(RELATIONS)

TOKENS = FeatureGroup(
    values=(
        Value("string", "identical"),
        Value("string", "lower case"),
        Value("string", "lemma"),
        Value("string", "Jaro-Winkler"),
        Value("string", "bigrams"),
        Value("string", "trigrams"),
        Value("string", "prefix"),
        Value("string", "suffix"),
        Value("string", "Levenshtein"),
        Value("string", "Hamming"),
        Value("string", "Jaccard"),
        Value("position", "distance"),
        Value("position", "both last"),
        *(Value("wordnet", name) for name in RELATIONS),
        *RULE_VALUES,
        Value("relatedness", "cosine"),
        Value("name", "edits"),
        Value("name", "nickname"),
        Value("name", "acronym"),
        Value("context", "second neighbours"),
        Value("context", "neighbours"),
        Value("context", "window"),
    ),
    attributes=(
        Attribute("match", len(MATCHES)),
        Attribute("group", GROUPS),
        Attribute("spelling", len(SPELLING_EDGES) + 1),
        Attribute("repeats", 4 * 4 * 3 * GROUPS),  # 0 where the words differ
        Attribute("better targets", 3),
        Attribute("better sources", 3),
        Attribute("equal", 2),
        Attribute("distance", len(DISTANCE_EDGES) + 1),
        Attribute("same tag", 2),
        Attribute("lists", 8),
        Attribute("cosine", len(COSINE_EDGES) + 2),
        Attribute("before", 3),
        Attribute("after", 3),
        Attribute("window", len(WINDOW_EDGES) + 1),
        Attribute("others of chunk", len(CHUNK_EDGES) + 1),
        Attribute("linked", "linked"),
        Attribute("frequent", "words"),
        Attribute("expression", 5),
        # Columns of each sentence's array, in their order; frequent words only where they differ.
        Attribute("source tag", "tags"),
        Attribute("source chunk", "chunks"),
        Attribute("frequent source", "words"),
        Attribute("source kind", KINDS),
        Attribute("target tag", "tags"),
        Attribute("target chunk", "chunks"),
        Attribute("frequent target", "words"),
        Attribute("target kind", KINDS),
    ),
    categories=(
        Category("string", "match, kinds", ("match", "source kind", "target kind")),
        Category("string", "Jaro-Winkler, group", ("spelling", "group")),
        Category("string", "repeated words, group", ("repeats",)),
        Category(
            "string",
            "better matches, match, group",
            ("better targets", "better sources", "equal", "match", "group"),
        ),
        Category("position", "distance, group", ("distance", "group")),
        Category("position", "distance, match", ("distance", "match")),
        Category("pos", "tags", ("source tag", "target tag")),
        Category("pos", "match, same tag, group", ("match", "same tag", "group")),
        Category("paraphrase", "lists", ("lists",)),
        Category("relatedness", "cosine, same tag, group", ("cosine", "same tag", "group")),
        Category("context", "neighbours, match, group", ("before", "after", "match", "group")),
        Category("context", "window, match, group", ("window", "match", "group")),
        Category("chunk", "types", ("source chunk", "target chunk")),
        Category("chunk", "chunks' other words, match, group", ("others of chunk", "match", "group")),
        Category("lexical", "linked words", ("linked",)),
        Category("lexical", "frequent word", ("frequent",)),
        Category("lexical", "frequent source word", ("frequent source",)),
        Category("lexical", "frequent target word", ("frequent target",)),
        Category("wordnet", "verb and particle", ("expression",)),
    ),
)
V, A = columns(TOKENS.values), columns(TOKENS.attributes)


@kernel
def _around(source, strength, i, j, values):
    """Fill the values of a cell's neighbours; returns the sum of the strengths of content words in a window.

    Direct neighbours that are both beyond the ends count as found.
    """
    length, width = strength.shape
    total = 0.0
    for row in range(i - REACH, i + REACH + 1):
        for column in range(j - REACH, j + REACH + 1):
            distance = row - i if row > i else i - row
            if 0 <= row < length and 0 <= column < width:
                if row != i and column != j and source[row, WORD.kind] % GROUPS == CONTENT:
                    total += strength[row, column]
                if row - i == column - j and 0 < distance < REACH:
                    values[V.neighbours + 1 - distance] += strength[row, column]
            elif (
                row - i == column - j
                and distance == 1
                and ((row < 0 and column < 0) or (row >= length and column >= width))
            ):
                values[V.neighbours] += 1.0
    values[V.window] = 4.0 if total > 4.0 else total
    return total


@kernel
def _chunk_found(source, target, strength, i, j):
    """How well the other words of the source word's chunk match the other words of the target word's chunk."""
    total = 0.0
    others = 0
    for row in range(source[i, WORD.chunk_start], source[i, WORD.chunk_stop]):
        if row != i:
            best = 0.0
            for column in range(target[j, WORD.chunk_start], target[j, WORD.chunk_stop]):
                if column != j and strength[row, column] > best:
                    best = strength[row, column]
            total += best
            others += 1
    return total / others if others else 0.0


@kernel
def fill_tokens(source, target, like, values, attributes):
    """Fill the values and attributes, all 0 before, of every cell: item i * J + j."""
    length, width = like.match.shape
    match, strength, spelling = like.match, like.strength, like.spelling
    for i in range(length):
        for j in range(width):
            item = i * width + j
            strong = strength[i, j]
            near = np.float64(like.cosine[i, j])
            distance = abs((i + 0.5) / length - (j + 0.5) / width)
            group, other_group = source[i, WORD.kind] % GROUPS, target[j, WORD.kind] % GROUPS
            group = max(group, other_group)
            same = source[i, WORD.lower] == target[j, WORD.lower]

            values[item, V.identical] = source[i, WORD.form] == target[j, WORD.form]
            values[item, V.lower_case] = same
            values[item, V.lemma] = match[i, j] <= SURE
            for place in range(spelling.shape[2]):
                values[item, V.Jaro_Winkler + place] = spelling[i, j, place]
            values[item, V.distance] = distance
            values[item, V.both_last] = i == length - 1 and j == width - 1
            for bit in range(RELATION_COUNT):
                values[item, V.synonym + bit] = (like.relations[i, j] >> bit) & 1
            fill_rule(like.rules[i, j], like.rule_scores, np.float32(1.0), values, item, V.rule)
            values[item, V.cosine] = near if near > 0.0 else 0.0
            values[item, V.edits] = like.names[i, j]
            values[item, V.nickname] = like.nicknames[i, j]
            values[item, V.acronym] = like.lists[i, j] & ACRONYM > 0
            window = _around(source, strength, i, j, values[item])

            for place in range(COPIED):
                attributes[A.source_tag + place, item] = source[i, WORD.tag + place]
                attributes[A.target_tag + place, item] = target[j, WORD.tag + place]
            if same:
                order = (
                    1
                    + (source[i, WORD.before] > target[j, WORD.before])
                    - (source[i, WORD.before] < target[j, WORD.before])
                )
                times, other_times = source[i, WORD.occurrences], target[j, WORD.occurrences]
                times = (times if times < 3 else 3) * 4 + (other_times if other_times < 3 else 3)
                attributes[A.repeats, item] = (times * 3 + order) * GROUPS + group
                attributes[A.frequent, item] = source[i, WORD.frequent]
                attributes[A.frequent_source, item] = 0
                attributes[A.frequent_target, item] = 0
            attributes[A.match, item] = match[i, j]
            attributes[A.group, item] = group
            attributes[A.spelling, item] = bin_of(np.float64(spelling[i, j, 0]), SPELLING_EDGES)
            better = 0
            equal = 0
            for other in range(width):
                better += strength[i, other] > strong
                equal += strength[i, other] == strong
            attributes[A.better_targets, item] = better if better < 2 else 2
            attributes[A.equal, item] = equal > 1
            better = 0
            for other in range(length):
                better += strength[other, j] > strong
            attributes[A.better_sources, item] = better if better < 2 else 2
            attributes[A.distance, item] = bin_of(distance, DISTANCE_EDGES)
            attributes[A.same_tag, item] = source[i, WORD.tag] == target[j, WORD.tag] and source[i, WORD.tag] > 0
            attributes[A.lists, item] = like.lists[i, j] & 7
            if like.source_known[i] and like.target_known[j]:
                attributes[A.cosine, item] = bin_of(near, COSINE_EDGES) + 1
            attributes[A.before, item] = level_of(match, i - 1, j - 1)
            attributes[A.after, item] = level_of(match, i + 1, j + 1)
            attributes[A.window, item] = bin_of(window, WINDOW_EDGES)
            attributes[A.others_of_chunk, item] = bin_of(_chunk_found(source, target, strength, i, j), CHUNK_EDGES)
            attributes[A.linked, item] = like.linked[i, j]
            attributes[A.expression, item] = like.expressions[i, j]
