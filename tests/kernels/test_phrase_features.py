"""The features of cells, spans and words with null, held against their definitions, one column after the other."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_phrase_features as oracles
import oracles_phrases as paths
from cepts.data import Sentence, SentencePair, Vectors
from cepts.kernels.likeness import span_coverage
from cepts.kernels.wordnet import RELATIONS
from cepts.phrases.columns import FAMILIES
from cepts.phrases.features import FeatureMaker
from cepts.phrases.inventory import Inventory, LinkedWords
from cepts.phrases.lexical import Lexical
from cepts.phrases.likeness import compare_words, look_up
from cepts.phrases.names import NameModel
from cepts.phrases.paraphrases import Paraphrases, Rule
from cepts.phrases.relatedness import Relatedness
from cepts.phrases.wordnet import WordNet
from cepts.phrases.words import words_of

WORDS = [
    "the",
    "The",
    "dog",
    "dogs",
    "hound",
    "animal",
    "give",
    "up",
    "quit",
    "is",
    "Bob",
    "Robert",
    "3",
    "three",
    "42",
    "🎉",
    "’s",
    "'s",
    "twice",
    "times",
    "D.G.",
    ",",
    ".",
]
INVENTORY = Inventory(
    ("DT", "NN", "VB"),
    ("np", "vp"),
    ("is", "the", "up"),
    (LinkedWords("dog", "hound", 3, 4), LinkedWords("give", "quit", 1, 9)),
)
LEXICAL = Lexical(
    WordNet.from_synsets([("noun", ["dog", "hound"]), ("noun", ["animal"])], [(0, 1, "hypernym")]),
    Paraphrases.from_rules(
        [
            Rule("give up", "quit", "[VP]", (1.0, 2, 3, 4, 5, 6, 7, 11)),
            Rule("dog", "animal", "[X]", (0.5,) * 8),
            Rule("the dog", "animal", "[X]", (0.5,) * 8),
        ],
        [("give", "quit"), ("is", "up"), ("the dog", "hound is")],
        [("give", "quit")],
    ),
    Relatedness.from_vectors(
        Vectors.from_words(WORDS[:9], np.random.default_rng(3).normal([0.7, 0.0, 0.0], size=(9, 3))),
    ),
    NameModel.train([("bob", "robert"), ("bob", "bobby")], iterations=2),
)


@st.composite
def sentences(draw):
    tokens = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))
    tags = [draw(st.sampled_from(["DT", "NN", "VB", "IN", "JJ"])) for _ in tokens]
    chunks = []
    for _ in tokens:
        label = draw(st.sampled_from(["O", "B-NP", "B-VP", "B-PP", "I"]))
        chunks.append(
            f"I{chunks[-1][1:]}" if label == "I" and chunks and chunks[-1] != "O" else label.replace("I", "O")
        )
    return Sentence(
        tuple(tokens),
        pos=tuple(tags) if draw(st.booleans()) else None,
        chunk=tuple(chunks) if draw(st.booleans()) else None,
        lemma=tuple(token.rstrip("s") or token for token in tokens) if draw(st.booleans()) else None,
    )


def prepared(pair, longest, widest):
    words = words_of(pair, INVENTORY)
    found = look_up(*words, LEXICAL, longest, widest)
    like = compare_words(*words, found, INVENTORY)
    plain = oracles.Pair(pair, INVENTORY, like, found, RELATIONS)
    assert [[oracles.MATCHES[match] for match in row] for row in like.match] == plain.match
    np.testing.assert_array_equal(like.strength, np.array(plain.strength, dtype=np.float32))
    return plain


def assert_row(table, blocks, row, values, categories):
    """A row of a table is what the definitions say, column for column."""
    assert [block[:2] for block in blocks[0]] == list(values)
    for column, (name, want) in enumerate(values.items()):
        np.testing.assert_allclose(table.values[row, column], float(want), rtol=1e-5, atol=1e-6, err_msg=str(name))
    assert sorted(block[:2] for block in blocks[1]) == sorted(categories)
    base = 0
    for column, block in enumerate(blocks[1]):
        assert table.categories[row, column] - base == categories[block[:2]], block
        base += block.weights


def maker(longest, widest, upweight=True):
    return FeatureMaker(INVENTORY, LEXICAL, FAMILIES, longest, widest, upweight=upweight)


@settings(deadline=None, max_examples=150)
@given(sentences(), sentences())
def test_features_of_cells_and_of_null_equal_their_definitions(source, target):
    pair, made = SentencePair(source, target), maker(1, 1)
    plain = prepared(pair, 1, 1)
    features, layout = made.features(pair), made.layout
    anchored = features.anchors.links.tolist(), features.anchors.pull.tolist()
    found = [(*link, share) for link, share in zip(*anchored, strict=True)]
    assert sorted(found) == sorted(oracles.anchors(plain, [side.pos for side in (source, target)]))
    for i in range(len(source)):
        for j in range(len(target)):
            cell = oracles.token_values(plain, i, j), oracles.token_categories(plain, i, j)
            assert_row(features.tokens, layout.tokens, i * len(target) + j, *cell)
    for side, table in enumerate((features.source_null, features.target_null)):
        for place in range(len((source, target)[side])):
            assert_row(table, layout.null, place, {}, oracles.null_categories(plain, side, place))


@settings(deadline=None, max_examples=60)
@given(sentences(), sentences(), st.integers(1, 5), st.integers(2, 5), st.booleans())
def test_features_of_spans_equal_their_definitions(source, target, longest, widest, upweight):
    pair, made = SentencePair(source, target), maker(longest, widest, upweight)
    plain = prepared(pair, longest, widest)
    features, blocks = made.features(pair), made.layout.spans
    shape = len(source), longest, len(target), widest
    rows = {item: row for row, item in enumerate(features.items.tolist())}
    assert list(rows) == sorted(rows)
    matched = np.array([[match != "none" for match in row] for row in plain.match])
    np.testing.assert_array_equal(features.matched, matched)
    for item, (i, span, j, wide) in enumerate(np.ndindex(shape)):
        size, width = span + 1, wide + 1
        if size == width == 1 or i + size > len(source) or j + width > len(target):
            assert item not in rows
            continue
        place = i, size, j, width
        parallel = size == width and paths.is_parallel(matched, i, j, size)
        if size == width:
            assert features.parallel[i, j, span] == parallel
        assert (item in rows) == oracles.is_candidate(plain, *place, parallel, features.anchors.phrases.tolist())
        if item not in rows:
            continue
        row = rows[item]

        def covered(matrix, place=(i, span, j, wide)):
            both = np.zeros((2, *shape), dtype=np.float32)
            span_coverage(np.ascontiguousarray(matrix, dtype=np.float32), np.empty(widest), both)
            return [float(side[place]) for side in both]

        one = plain.lookups.source_vectors[i : i + size].sum(axis=0)
        other = plain.lookups.target_vectors[j : j + width].sum(axis=0)
        norms = np.linalg.norm(one) * np.linalg.norm(other)
        cosine = float(one @ other / norms) if norms > 1e-6 else 0.0
        values = oracles.span_values(plain, *place, upweight, covered, cosine)
        categories = oracles.span_categories(plain, *place, longest, widest, covered, cosine)
        assert_row(features.spans, blocks, row, values, categories)
