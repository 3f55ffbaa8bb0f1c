"""Features of one source word with one target word (section 3.3 of semicrf).

Groups of words: content words and numbers; function words; punctuation. A cell is of the later group of its two words.
"""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.phrase_features import (
    BEFORE,
    CHUNK,
    CHUNK_START,
    CHUNK_STOP,
    CONTENT,
    DISTANCE_EDGES,
    FORM,
    FREQUENT,
    GROUPS,
    KIND,
    KINDS,
    LOWER,
    MATCHES,
    OCCURRENCES,
    RULE_VALUES,
    SURE,
    TAG,
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

__all__ = ["TOKENS", "fill_tokens"]

SPELLING_EDGES = np.arange(0.5, 1.0, 0.06)
COSINE_EDGES = np.arange(0.05, 0.95, 0.075)
WINDOW_EDGES = np.array([0.3, 0.6, 1.0, 1.6, 2.2, 3.0])
CHUNK_EDGES = np.array([0.01, 0.3, 0.6, 0.9])
REACH = 3
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
        Value("position", "distance"),
        Value("position", "both last"),
        *(Value("wordnet", name) for name in RELATIONS),
        *RULE_VALUES,
        Value("relatedness", "cosine"),
        Value("name", "edits"),
        Value("name", "nickname"),
        Value("context", "second neighbours"),
        Value("context", "neighbours"),
        Value("context", "window"),
    ),
    attributes=(
        Attribute("match", len(MATCHES)),
        Attribute("source kind", KINDS),
        Attribute("target kind", KINDS),
        Attribute("group", GROUPS),
        Attribute("spelling", len(SPELLING_EDGES) + 1),
        Attribute("repeats", 4 * 4 * 3 * GROUPS),  # 0 where the words differ
        Attribute("better targets", 3),
        Attribute("better sources", 3),
        Attribute("equal", 2),
        Attribute("distance", len(DISTANCE_EDGES) + 1),
        Attribute("source tag", "tags"),
        Attribute("target tag", "tags"),
        Attribute("same tag", 2),
        Attribute("lists", 8),
        Attribute("cosine", len(COSINE_EDGES) + 2),
        Attribute("before", 3),
        Attribute("after", 3),
        Attribute("window", len(WINDOW_EDGES) + 1),
        Attribute("source chunk", "chunks"),
        Attribute("target chunk", "chunks"),
        Attribute("others of chunk", len(CHUNK_EDGES) + 1),
        Attribute("linked", "linked"),
        Attribute("frequent", "words"),
        Attribute("frequent source", "words"),
        Attribute("frequent target", "words"),
        Attribute("expression", 5),
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
def _strength_at(strength, i, j, beyond):
    """The strength of a cell; `beyond` where both words lie beyond the sentences' ends, 0 where one does."""
    length, width = strength.shape
    if (i < 0 and j < 0) or (i >= length and j >= width):
        return beyond
    if i < 0 or j < 0 or i >= length or j >= width:
        return 0.0
    return np.float64(strength[i, j])


@kernel
def _chunk_found(source, target, strength, i, j):
    """How well the other words of the source word's chunk are found among the others of the target word's chunk."""
    total = 0.0
    others = 0
    for row in range(source[i, CHUNK_START], source[i, CHUNK_STOP]):
        if row != i:
            best = 0.0
            for column in range(target[j, CHUNK_START], target[j, CHUNK_STOP]):
                if column != j and strength[row, column] > best:
                    best = strength[row, column]
            total += best
            others += 1
    return total / others if others else 0.0


@kernel
def fill_tokens(source, target, like, values, attributes):
    """Fill the values and attributes, which are 0 before, of every cell: item i * J + j."""
    length, width = like.match.shape
    match, strength, spelling, cosine = like.match, like.strength, like.spelling, like.cosine
    for i in range(length):
        for j in range(width):
            item = i * width + j
            found = match[i, j]
            strong = strength[i, j]
            near = np.float64(cosine[i, j])
            distance = abs((i + 0.5) / length - (j + 0.5) / width)
            source_kind, target_kind = source[i, KIND], target[j, KIND]
            group = max(source_kind % GROUPS, target_kind % GROUPS)
            same = source[i, LOWER] == target[j, LOWER]
            tag, other_tag = source[i, TAG], target[j, TAG]

            values[item, V.identical] = source[i, FORM] == target[j, FORM]
            values[item, V.lower_case] = same
            values[item, V.lemma] = found <= SURE
            for place in range(spelling.shape[2]):
                values[item, V.Jaro_Winkler + place] = spelling[i, j, place]
            values[item, V.distance] = distance
            values[item, V.both_last] = i == length - 1 and j == width - 1
            for bit in range(RELATION_COUNT):
                values[item, V.synonym + bit] = (like.relations[i, j] >> bit) & 1
            fill_rule(like.rules[i, j], like.rule_scores, values, item, V.rule)
            values[item, V.cosine] = max(near, 0.0)
            values[item, V.edits] = like.names[i, j]
            values[item, V.nickname] = like.nicknames[i, j]
            values[item, V.second_neighbours] = _strength_at(strength, i - 2, j - 2, 0.0) + _strength_at(
                strength, i + 2, j + 2, 0.0
            )
            values[item, V.neighbours] = _strength_at(strength, i - 1, j - 1, 1.0) + _strength_at(
                strength, i + 1, j + 1, 1.0
            )
            window = 0.0
            for other in range(i - REACH, i + REACH + 1):
                if other < 0 or other >= length or other == i:
                    continue
                if source[other, KIND] % GROUPS == CONTENT:
                    for column in range(j - REACH, j + REACH + 1):
                        if column >= 0 and column < width and column != j:
                            window += strength[other, column]
            values[item, V.window] = 4.0 if window > 4.0 else window

            attributes[A.match, item] = found
            attributes[A.source_kind, item] = source_kind
            attributes[A.target_kind, item] = target_kind
            attributes[A.group, item] = group
            attributes[A.spelling, item] = bin_of(np.float64(spelling[i, j, 0]), SPELLING_EDGES)
            if same:
                order = 1
                if source[i, BEFORE] < target[j, BEFORE]:
                    order = 0
                elif source[i, BEFORE] > target[j, BEFORE]:
                    order = 2
                times = min(source[i, OCCURRENCES], 3) * 4 + min(target[j, OCCURRENCES], 3)
                attributes[A.repeats, item] = (times * 3 + order) * GROUPS + group
                attributes[A.frequent, item] = source[i, FREQUENT]
            else:
                attributes[A.frequent_source, item] = source[i, FREQUENT]
                attributes[A.frequent_target, item] = target[j, FREQUENT]
            better = 0
            equal = 0
            for other in range(width):
                better += strength[i, other] > strong
                equal += strength[i, other] == strong
            attributes[A.better_targets, item] = min(better, 2)
            attributes[A.equal, item] = equal > 1
            better = 0
            for other in range(length):
                better += strength[other, j] > strong
            attributes[A.better_sources, item] = min(better, 2)
            attributes[A.distance, item] = bin_of(distance, DISTANCE_EDGES)
            attributes[A.source_tag, item] = tag
            attributes[A.target_tag, item] = other_tag
            attributes[A.same_tag, item] = tag == other_tag and tag > 0
            attributes[A.lists, item] = like.lists[i, j] & 7
            if like.source_known[i] and like.target_known[j]:
                attributes[A.cosine, item] = bin_of(near, COSINE_EDGES) + 1
            attributes[A.before, item] = level_of(match, i - 1, j - 1)
            attributes[A.after, item] = level_of(match, i + 1, j + 1)
            attributes[A.window, item] = bin_of(window, WINDOW_EDGES)
            attributes[A.source_chunk, item] = source[i, CHUNK]
            attributes[A.target_chunk, item] = target[j, CHUNK]
            attributes[A.others_of_chunk, item] = bin_of(_chunk_found(source, target, strength, i, j), CHUNK_EDGES)
            attributes[A.linked, item] = like.linked[i, j]
            attributes[A.expression, item] = like.expressions[i, j]
