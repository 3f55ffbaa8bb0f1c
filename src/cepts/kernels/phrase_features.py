"""What the features of phrase aligners share: how they are declared, how words match, and how categories are numbered.

The modules `token_features`, `span_features` and `null_features` each declare their features in a table and compute
them below it. A *value* is a real number with one weight. An *attribute* is a whole number from 0 to below its size; a
*category* is a combination of attributes, with one weight for each combination. Features are declared nowhere else:
kernels and layouts take their columns from the tables.

A sentence is an array with one row for each word and the columns below.
"""

from __future__ import annotations

import re
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.kernels import kernel
from cepts.kernels.wordnet import DERIVATION, SYNONYM


class Value(NamedTuple):
    """A feature with a real value."""

    family: str
    name: str


class Attribute(NamedTuple):
    """A whole number below `size`; a size that depends on the model is given by name."""

    name: str
    size: int | str


class Category(NamedTuple):
    """A feature with one weight for each combination of these attributes; the last one varies fastest."""

    family: str
    name: str
    attributes: tuple[str, ...]


class FeatureGroup(NamedTuple):
    """All features of one kind of item: cells, pairs of spans, or words with null."""

    values: tuple[Value, ...]
    attributes: tuple[Attribute, ...]
    categories: tuple[Category, ...]


def columns(declared: tuple[Any, ...]) -> Any:
    """The column of each value or attribute, by its name: `found_source` for "found, source"."""
    names = [re.sub(r"\W+", "_", one.name) for one in declared]
    made: Any = namedtuple("Columns", names)  # type: ignore[misc]
    return made(*range(len(names)))


class Likeness(NamedTuple):
    """How similar each source word and each target word are, by tables and by spelling: matrices I x J.

    Attributes
    ----------
    match, strength
        How two words match (`MATCHES`), and the strength of that match.
    spelling
        The measures of `kernels.likeness.spelling_likeness`; I x J x 8.
    relations
        Bits of WordNet's relations.
    expressions
        1 or 2 in the cell of a verb and a word of the other side if the verb and its particle (which need not be side
        by side) are together related to that word, or synonymous with it; 3 or 4 in the cell of the particle.
    lists, rules, rule_scores
        Which paraphrase lists have the two words, the row of their rule (-1 for none), and the scores of all rules.
    cosine
        Cosine of the word vectors; `source_known` and `target_known` tell which words have one.
    names, nicknames
        How similar two names are, and whether one is a known short form of the other.
    linked
        How often training links two words.
    """

    match: NDArray[np.int32]
    strength: NDArray[np.float32]
    spelling: NDArray[np.float32]
    relations: NDArray[np.uint16]
    expressions: NDArray[np.uint8]
    lists: NDArray[np.uint8]
    rules: NDArray[np.int32]
    rule_scores: NDArray[np.float32]
    cosine: NDArray[np.float32]
    source_known: NDArray[np.bool_]
    target_known: NDArray[np.bool_]
    names: NDArray[np.float32]
    nicknames: NDArray[np.bool_]
    linked: NDArray[np.int32]


# Columns of a sentence's array: the numbers of the form, the lower-cased form and the lemma (common to both sentences
# of a pair), of the tag, the chunk type and the frequent word (0 for other words); the kind; whether the word has a
# capital; where its chunk starts and stops; how often its lower-cased form occurs in the sentence, and before the word.
WordColumns = namedtuple(
    "WordColumns", "form lower lemma tag chunk frequent kind capital chunk_start chunk_stop occurrences before"
)
WORD = WordColumns(*range(12))
KINDS = 4
CONTENT, FUNCTION, PUNCTUATION, NUMBER = range(KINDS)
# The group of a word is its kind modulo this, so numbers are in the group of content words.
GROUPS = 3

# How two words may match, and the strength of each match; the first that holds is used.
MATCHES = {
    "identical": 1.0,
    "lower": 1.0,
    "lemma": 0.95,
    "nickname": 0.9,
    "synonym": 0.85,
    "paraphrases": 0.8,
    "paraphrase": 0.7,
    "derived": 0.7,
    "related": 0.55,
    "near": 0.6,
    "alike": 0.55,
    "loose": 0.35,
    "none": 0.0,
}
STRENGTHS = np.array(list(MATCHES.values()), dtype=np.float32)
IDENTICAL = list(MATCHES).index("lower")  # the last match of one form
SURE = list(MATCHES).index("lemma")  # the last match that counts as identical
STRONG = list(MATCHES).index("paraphrase")  # the last match that a table vouches for as the same meaning
NONE = list(MATCHES).index("none")

# Bits of `lists`: which paraphrase lists have the pair, whether there is a rule, whether that has only the symbol [X],
# and whether one side is an acronym of the other, or of words with these among them.
FIRST_LIST, SECOND_LIST, RULE, ONLY_X, ACRONYM = 1, 2, 4, 8, 32
RULE_SCORES = 8
RULE_SCALE = 10.0
RULE_VALUES = (
    Value("paraphrase", "rule"),
    *(Value("paraphrase", f"rule's score {place}") for place in range(1, RULE_SCORES + 1)),
)

DISTANCE_EDGES = np.array([0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45])


@kernel
def match_words(source, target, like):
    """Fill `match` and `strength` of `like` from its other matrices."""
    for i in range(len(source)):
        for j in range(len(target)):
            listed = like.lists[i, j]
            related = like.relations[i, j]
            near = like.cosine[i, j]
            if source[i, WORD.form] == target[j, WORD.form]:
                found = 0
            elif source[i, WORD.lower] == target[j, WORD.lower]:
                found = 1
            elif source[i, WORD.lemma] == target[j, WORD.lemma]:
                found = 2
            elif like.nicknames[i, j]:
                found = 3
            elif related & SYNONYM:
                found = 4
            elif listed & FIRST_LIST and listed & SECOND_LIST:
                found = 5
            elif listed & (FIRST_LIST | SECOND_LIST | RULE | ACRONYM):
                found = 6
            elif related & DERIVATION:
                found = 7
            elif related:
                found = 8
            elif near >= 0.65:
                found = 9
            elif like.spelling[i, j, 0] >= 0.85:
                found = 10
            elif near >= 0.45:
                found = 11
            else:
                found = NONE
            like.match[i, j] = found
            like.strength[i, j] = STRENGTHS[found]


@kernel
def combine(attributes, sizes, parts, part_offsets, bases, numbers, categories):
    """Fill `categories` (items x features) with the numbers of combinations; returns -1.

    Feature f combines the attributes `parts[part_offsets[f]:part_offsets[f + 1]]` (rows of `attributes`), and its
    combinations are numbered from `bases[f]`. If an attribute is not below its size, its row is returned and nothing is
    filled. `numbers` is a buffer with one number for each item.
    """
    items = attributes.shape[1]
    for part in parts:
        for item in range(items):
            if attributes[part, item] < 0 or attributes[part, item] >= sizes[part]:
                return part
    for feature in range(len(bases)):
        for item in range(items):
            numbers[item] = 0
        for place in range(part_offsets[feature], part_offsets[feature + 1]):
            part = parts[place]
            for item in range(items):
                numbers[item] = numbers[item] * sizes[part] + attributes[part, item]
        for item in range(items):
            categories[item, feature] = bases[feature] + numbers[item]
    return -1


@kernel
def bin_of(value, edges):
    """How many of `edges` the value reaches."""
    place = 0
    while place < len(edges) and value >= edges[place]:
        place += 1
    return place


@kernel
def level_of(match, i, j):
    """2 if the words have the same form or lemma, or both are beyond the ends; 1 if they match otherwise; else 0."""
    length, width = match.shape
    if (i < 0 and j < 0) or (i >= length and j >= width):
        return 2
    if i < 0 or j < 0 or i >= length or j >= width or match[i, j] == NONE:
        return 0
    return 2 if match[i, j] <= SURE else 1


@kernel
def fill_rule(rule, rule_scores, scale, values, row, column):
    """Fill whether there is a rule, and its scores: minus log probabilities, reversed so that more is better.

    All are multiplied by `scale`.
    """
    if rule >= 0:
        values[row, column] = scale
        for place in range(RULE_SCORES):
            score = 1.0 - rule_scores[rule, place] / RULE_SCALE
            values[row, column + 1 + place] = scale * score if score > 0.0 else 0.0
