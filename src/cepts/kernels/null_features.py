"""Features of a word with null (semicrf, section 3.3)."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel
from cepts.kernels.phrase_features import (
    KINDS,
    NUMBER,
    WORD,
    Attribute,
    Category,
    FeatureGroup,
    bin_of,
    columns,
)

BEST_EDGES = np.array([0.3, 0.5, 0.65, 0.75, 0.9, 0.99])
NEAREST_EDGES = np.arange(0.05, 0.95, 0.15)

NULL = FeatureGroup(
    values=(),
    attributes=(
        Attribute("kind", KINDS),
        Attribute("best match", len(BEST_EDGES) + 1),
        Attribute("shared", 2),  # whether another word matches as well as the best
        Attribute("matched well", 2),
        Attribute("matched", 2),
        Attribute("nearest", len(NEAREST_EDGES) + 1),
        Attribute("tag", "tags"),
        Attribute("chunk", "chunks"),
        Attribute("word", "words"),
        Attribute("name or number", 2),
    ),
    categories=(
        Category("string", "kind", ("kind",)),
        Category("string", "best match, alone, kind", ("best match", "shared", "kind")),
        Category("pos", "tag", ("tag",)),
        Category("pos", "tag, matched", ("tag", "matched well")),
        Category("relatedness", "nearest, kind", ("nearest", "kind")),
        Category("chunk", "chunk", ("chunk",)),
        Category("lexical", "word", ("word",)),
        Category("lexical", "word, matched", ("word", "matched well")),
        Category("string", "name or number, matched", ("name or number", "matched")),
    ),
)
A = columns(NULL.attributes)


@kernel
def fill_null(words, strength, cosine, attributes):
    """Fill the attributes of every word of one side; `strength` and `cosine` have one row for each word."""
    for i in range(len(words)):
        best = 0.0
        second = 0.0
        nearest = -1.0
        for j in range(strength.shape[1]):
            value = np.float64(strength[i, j])
            if value > best:
                second = best
                best = value
            elif value > second:
                second = value
            if cosine[i, j] > nearest:
                nearest = np.float64(cosine[i, j])
        attributes[A.kind, i] = words[i, WORD.kind]
        attributes[A.best_match, i] = bin_of(best, BEST_EDGES)
        attributes[A.shared, i] = second == best
        attributes[A.matched_well, i] = best > 0.9
        attributes[A.matched, i] = best > 0.5
        attributes[A.nearest, i] = bin_of(nearest, NEAREST_EDGES)
        attributes[A.tag, i] = words[i, WORD.tag]
        attributes[A.chunk, i] = words[i, WORD.chunk]
        attributes[A.word, i] = words[i, WORD.frequent]
        attributes[A.name_or_number, i] = words[i, WORD.kind] == NUMBER or words[i, WORD.capital] > 0
