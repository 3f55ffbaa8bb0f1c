"""Features of a pair: their shapes and layout, families that are off, and a few cells by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.data import Sentence, SentencePair, Vectors
from cepts.phrases.columns import FAMILIES
from cepts.phrases.features import FeatureMaker, Layout
from cepts.phrases.inventory import Inventory, LinkedWords
from cepts.phrases.lexical import Lexical
from cepts.phrases.paraphrases import Paraphrases, Rule
from cepts.phrases.relatedness import Relatedness

INVENTORY = Inventory(("DT", "NN", "VB"), ("np", "vp"), ("the", "up"), (LinkedWords("give", "quit", 2, 3),))
LEXICAL = Lexical(
    paraphrases=Paraphrases.from_rules([Rule("give up", "quit", "[VP]", (1.0,) * 8)]),
    relatedness=Relatedness.from_vectors(
        Vectors.from_words(["give", "quit", "dog"], np.array([[1.0, 0], [0.8, 0.6], [0, 1]]))
    ),
)


def sentence(text, tags="", chunks="", lemmas=""):
    columns = {
        name: tuple(column.split())
        for name, column in zip(("pos", "chunk", "lemma"), (tags, chunks, lemmas), strict=True)
    }
    return Sentence(tuple(text.split()), **{name: column or None for name, column in columns.items()})


PAIRS = [
    SentencePair(
        sentence("The Dogs give up", "DT NN VB RP", "B-NP I-NP B-VP I-VP", "the dog give up"),
        sentence("the dog Quit", "DT NN VB", "B-NP I-NP B-VP", "the dog quit"),
    ),
    SentencePair(sentence("a"), sentence("b")),
    SentencePair(sentence("x , y ."), sentence("The 3 the 3 .")),
]


def maker(longest=3, widest=2, families=tuple(FAMILIES), lexical=LEXICAL, inventory=INVENTORY, **options):
    return FeatureMaker(inventory, lexical, families, longest, widest, **options)


def column(table, blocks, family, name):
    """One column of values, by its name."""
    (place,) = [place for place, block in enumerate(blocks[0]) if block[:2] == (family, name)]
    return table.values[:, place]


def categories(table, blocks, family, name):
    """One column of categories, by its name, from 0."""
    (place,) = [place for place, block in enumerate(blocks[1]) if block[:2] == (family, name)]
    base = sum(block.weights for block in blocks[1][:place])
    return table.categories[:, place] - base


def span_column(features, blocks, family, name, shape):
    """One column of values of all pairs of spans; NaN for pairs without features."""
    whole = np.full(np.prod(shape), np.nan)
    whole[features.items] = column(features.spans, blocks, family, name)
    return whole.reshape(shape)


def tables_of(features):
    return [features.tokens, features.spans, features.source_null, features.target_null]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("sizes", [(1, 1), (1, 3), (3, 2)])
@pytest.mark.parametrize("lexical", [LEXICAL, Lexical()], ids=["tables", "no tables"])
def test_shapes_and_ranges(pair, sizes, lexical):
    made = maker(*sizes, lexical=lexical)
    features, layout = made.features(pair), made.layout
    length, width = len(pair.source), len(pair.target)
    assert (features.length, features.width) == (length, width)
    assert (features.spans is None) == (sizes == (1, 1)) and (layout.spans == ((), ())) == (sizes == (1, 1))
    spans = 0 if features.items is None else len(features.items)
    items = [length * width, spans, length, width]
    blocks = [layout.tokens, layout.spans, layout.null, layout.null]
    for table, count, (values, kinds) in zip(tables_of(features), items, blocks, strict=True):
        if table is None:
            continue
        assert table.values.shape == (count, len(values)) and table.categories.shape == (count, len(kinds))
        assert np.isfinite(table.values).all()
        assert all(block.weights == 1 for block in values)
        starts = np.cumsum([0, *(block.weights for block in kinds)])
        assert (table.categories >= starts[:-1]).all() and (table.categories < starts[1:]).all()


def test_the_layout_is_the_parts_in_order():
    layout = maker().layout
    assert Layout.of_parts(layout.parts) == layout
    assert layout.sizes == [sum(block.weights for block in part) for part in layout.parts]
    for part in layout.parts:
        assert len({block[:2] for block in part}) == len(part)


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - {"distortion"}))
def test_a_family_that_is_off_has_no_columns_and_leaves_the_others(family):
    lexical = LEXICAL if family not in ("wordnet", "name") else Lexical()
    whole, part = (maker(families=families, lexical=lexical) for families in (FAMILIES, set(FAMILIES) - {family}))
    assert not any(block.family == family for blocks in part.layout.parts for block in blocks)
    kept = [tuple(block for block in blocks if block.family != family) for blocks in whole.layout.parts]
    assert part.layout == Layout.of_parts(kept)


@pytest.mark.parametrize(
    "family", ["string", "pos", "position", "context", "chunk", "lexical", "paraphrase", "relatedness"]
)
def test_every_family_has_columns(family):
    alone = maker(families=[family])
    found = {block.family for part in alone.layout.parts for block in part}
    assert found == {family}
    features = alone.features(PAIRS[0])
    assert sum(table.values.shape[1] + table.categories.shape[1] for table in tables_of(features)) > 0


def test_families_without_their_table_have_no_columns():
    found = {block.family for part in maker(lexical=Lexical()).layout.parts for block in part}
    assert found == set(FAMILIES) - {"wordnet", "paraphrase", "relatedness", "name", "distortion"}


def test_how_words_are_the_same():
    made = maker()
    features, blocks = made.features(PAIRS[0]), made.layout.tokens
    want = {
        "identical": [],
        "lower case": [(0, 0)],
        # Dogs and dog have one lemma; what is lower-case the same has it too.
        "lemma": [(0, 0), (1, 1)],
    }
    for name, cells in want.items():
        found = column(features.tokens, blocks, "string", name).reshape(4, 3)
        assert list(zip(*map(np.ndarray.tolist, np.nonzero(found)), strict=True)) == cells
        assert set(found.ravel().tolist()) <= {0.0, 1.0}
    same = SentencePair(PAIRS[0].source, PAIRS[0].source)
    found = column(made.features(same).tokens, blocks, "string", "identical").reshape(4, 4)
    np.testing.assert_array_equal(found, np.eye(4))


def test_tables_are_asked():
    made = maker()
    features, blocks = made.features(PAIRS[0]), made.layout
    cosine = column(features.tokens, blocks.tokens, "relatedness", "cosine").reshape(4, 3)
    assert cosine[2, 2] == pytest.approx(0.8, abs=0.01) and cosine[3].tolist() == [0.0, 0.0, 0.0]
    rule = span_column(features, blocks.spans, "paraphrase", "rule", (4, 3, 3, 2))
    assert np.argwhere(rule > 0).tolist() == [[2, 1, 2, 0]]
    linked = categories(features.tokens, blocks.tokens, "lexical", "linked words").reshape(4, 3)
    assert np.argwhere(linked).tolist() == [[2, 2]]


def test_values_of_phrases_count_for_their_length():
    up, plain = maker(upweight=True), maker(upweight=False)
    found, blocks = up.features(PAIRS[0]), up.layout.spans
    once = plain.features(PAIRS[0])
    strings = ("words found, source", "words found, target", "words matched, source")
    names = [*(("string", name) for name in strings), ("paraphrase", "rule"), ("paraphrase", "rule's score 1")]
    for family, name in [*names, ("relatedness", "cosine")]:
        more, less = (span_column(one, blocks, family, name, (4, 3, 3, 2)) for one in (found, once))
        assert np.nanmax(less) > 0
        for (i, span, j, wide), value in np.ndenumerate(more):
            if i + span < 4 and j + wide < 3 and span + wide:
                assert value == pytest.approx(less[i, span, j, wide] * max(span + 1, wide + 1))
    np.testing.assert_array_equal(found.spans.categories, once.spans.categories)


def test_spans_by_hand():
    made = maker()
    features, blocks = made.features(PAIRS[0]), made.layout.spans
    source, target = (
        span_column(features, blocks, "string", f"words found, {side}", (4, 3, 3, 2)) for side in ("source", "target")
    )
    # "The Dogs" with "the dog": all words found; "The Dogs give" with it: two of three, and three words long.
    assert source[0, 1, 0, 1] == target[0, 1, 0, 1] == pytest.approx(2.0)
    assert source[0, 2, 0, 1] == pytest.approx(2.0) and target[0, 2, 0, 1] == pytest.approx(3.0)
    assert source[2, 1, 2, 0] == 0.0


@pytest.mark.parametrize("pair", PAIRS)
def test_changing_the_sides_transposes_what_is_the_same_for_both(pair):
    there, back = maker(2, 2), maker(2, 2)
    one, other = there.features(pair), back.features(SentencePair(pair.target, pair.source))
    length, width = len(pair.source), len(pair.target)
    blocks = there.layout.tokens
    names = ["identical", "lower case", "lemma", "Jaro-Winkler", "bigrams", "trigrams", "prefix", "suffix"]
    names += ["Levenshtein", "Hamming", "Jaccard"]
    for family, name in [*(("string", name) for name in names), ("position", "distance"), ("relatedness", "cosine")]:
        first = column(one.tokens, blocks, family, name).reshape(length, width)
        second = column(other.tokens, blocks, family, name).reshape(width, length)
        np.testing.assert_allclose(first, second.T, atol=1e-6)
    spans = there.layout.spans
    first = span_column(one, spans, "string", "words found, source", (length, 2, width, 2))
    second = span_column(other, spans, "string", "words found, target", (width, 2, length, 2))
    np.testing.assert_allclose(first, second.transpose(2, 3, 0, 1), atol=1e-6)
    np.testing.assert_array_equal(one.source_null.categories, other.target_null.categories)
    np.testing.assert_array_equal(one.target_null.categories, other.source_null.categories)


def test_features_do_not_depend_on_what_was_made_before():
    made = maker()
    first = [made.features(pair) for pair in PAIRS]
    again = [made.features(pair) for pair in reversed(PAIRS)][::-1]
    for one, other in zip(first, again, strict=True):
        for table, same in zip(tables_of(one), tables_of(other), strict=True):
            np.testing.assert_array_equal(table.values, same.values)
            np.testing.assert_array_equal(table.categories, same.categories)


def test_a_training_pair_does_not_see_what_itself_taught():
    alone = maker(inventory=Inventory(linked=(LinkedWords("give", "quit", 1, 1),)))
    linked = SentencePair(PAIRS[0].source, PAIRS[0].target, sure=((2, 2),))
    cells = [
        categories(alone.features(linked, training=training).tokens, alone.layout.tokens, "lexical", "linked words")
        for training in (False, True)
    ]
    assert cells[0].reshape(4, 3)[2, 2] > 0
    assert not cells[1].any()
