"""Features are declared in one place: their weights, their columns and their ranges follow from the declaration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cepts
from cepts.data import Sentence, SentencePair
from cepts.errors import DataError
from cepts.kernels import null_features, phrase_features, span_features, token_features
from cepts.kernels.phrase_features import Attribute, Category, FeatureGroup, Value, columns
from cepts.phrases import words
from cepts.phrases.columns import FAMILIES, FeatureBlock, FeatureColumns
from cepts.phrases.features import FeatureMaker
from cepts.phrases.inventory import Inventory
from cepts.phrases.lexical import Lexical

GROUPS = {
    "token_features.py": token_features.TOKENS,
    "span_features.py": span_features.SPANS,
    "null_features.py": null_features.NULL,
}


@st.composite
def filled_groups(draw):
    """Attributes and combinations of them, and numbers that may leave their ranges."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    attributes = tuple(Attribute(f"a{place}", size) for place, size in enumerate(sizes))
    names = [attribute.name for attribute in attributes]
    combined = draw(st.lists(st.lists(st.sampled_from(names), min_size=1, max_size=3), max_size=4))
    families = draw(st.lists(st.sampled_from(["string", "pos"]), min_size=len(combined), max_size=len(combined)))
    categories = tuple(
        Category(family, f"c{place}", tuple(parts))
        for place, (family, parts) in enumerate(zip(families, combined, strict=True))
    )
    items = draw(st.integers(0, 4))
    stray = draw(st.booleans())
    numbers = [
        [draw(st.integers(-1, size) if stray else st.integers(0, size - 1)) for _ in range(items)] for size in sizes
    ]
    return FeatureGroup((), attributes, categories), np.array(numbers, dtype=np.int32).reshape(len(sizes), items)


@settings(deadline=None)
@given(filled_groups())
def test_categories_are_numbered_without_overlap_and_stray_attributes_are_refused(filled):
    group, numbers = filled
    made = FeatureColumns(group, {}, ["string"])
    places = {attribute.name: place for place, attribute in enumerate(group.attributes)}
    wanted = [category for category in group.categories if category.family == "string"]
    used = {places[name] for category in wanted for name in category.attributes}

    def fill(values, attributes):
        attributes[:] = numbers

    if any(((numbers[place] < 0) | (numbers[place] >= group.attributes[place].size)).any() for place in used):
        with pytest.raises(ValueError, match=r"the attribute 'a\d' must lie between 0 and \d\. Got values from"):
            made.table(numbers.shape[1], fill)
        return
    table = made.table(numbers.shape[1], fill)
    base = 0
    for column, (category, block) in enumerate(zip(wanted, made.blocks[1], strict=True)):
        own = [places[name] for name in category.attributes]
        sizes = [group.attributes[place].size for place in own]
        assert block == FeatureBlock("string", category.name, np.prod(sizes))
        want = np.ravel_multi_index(tuple(numbers[own]), sizes) if numbers.size else []
        np.testing.assert_array_equal(table.categories[:, column] - base, want)
        base += block.weights
    assert table.categories.shape == (numbers.shape[1], len(wanted))


def test_a_feature_that_is_declared_and_filled_has_weights_of_its_own(monkeypatch):
    """Nothing else has to know of it: this is all that a new feature needs, in one file."""
    plain = token_features.TOKENS
    more = FeatureGroup(
        (*plain.values, Value("string", "vowels")),
        (*plain.attributes, Attribute("first letter", 26)),
        (*plain.categories, Category("string", "first letter, match", ("first letter", "match"))),
    )
    compiled = token_features.fill_tokens

    def fill(source, target, like, values, attributes):
        compiled(source, target, like, values, attributes)
        values[:, columns(more.values).vowels] = 0.5
        attributes[columns(more.attributes).first_letter] = 25

    inventory = Inventory(("NN",), ("np",), ("the",))
    pair = SentencePair(Sentence(("the", "dog")), Sentence(("The",)))
    before = FeatureMaker(inventory, Lexical(), FAMILIES, 2, 2)
    old = before.features(pair)
    monkeypatch.setattr(token_features, "TOKENS", more)
    monkeypatch.setattr(token_features, "fill_tokens", fill)
    after = FeatureMaker(inventory, Lexical(), FAMILIES, 2, 2)
    values, categories = after.layout.tokens
    assert values == (*before.layout.tokens[0], FeatureBlock("string", "vowels", 1))
    assert categories == (*before.layout.tokens[1], FeatureBlock("string", "first letter, match", 26 * 13))
    assert after.layout.spans == before.layout.spans and after.layout.null == before.layout.null
    new = after.features(pair)
    np.testing.assert_array_equal(new.tokens.values[:, :-1], old.tokens.values)
    np.testing.assert_array_equal(new.tokens.categories[:, :-1], old.tokens.categories)
    assert (new.tokens.values[:, -1] == 0.5).all()
    start = sum(block.weights for block in before.layout.tokens[1])
    # "the" and "The" match in lower case, "dog" and "The" not at all.
    assert new.tokens.categories[:, -1].tolist() == [start + 25 * 13 + 1, start + 25 * 13 + 12]


def test_no_other_file_names_a_feature():
    root = Path(cepts.__file__).parent
    # Tuning has features of its own, some of the same name.
    texts = {path: path.read_text() for path in root.rglob("*.py") if path.parent.name != "tuning"}
    for home, group in GROUPS.items():
        for feature in (*group.values, *group.categories):
            if " " not in feature.name or feature in phrase_features.RULE_VALUES:
                continue  # one word may stand for other things; rules are declared for tokens and spans together
            named = {path.name for path, text in texts.items() if f'"{feature.name}"' in text}
            assert named == {home}, feature


@pytest.mark.parametrize("group", GROUPS.values(), ids=list(GROUPS))
def test_declarations_are_consistent(group):
    assert {feature.family for feature in (*group.values, *group.categories)} <= set(FAMILIES)
    for declared in group:
        assert len({one.name for one in declared}) == len(declared)
    assert {name for category in group.categories for name in category.attributes} == {
        attribute.name for attribute in group.attributes
    }


def test_too_many_names_are_refused():
    with pytest.raises(DataError, match=r"found 40,000 tags.*wanted at most 32,767"):
        FeatureColumns(FeatureGroup((), (Attribute("tag", "tags"),), ()), {"tags": 40_000}, FAMILIES)


def test_kinds_of_words_are_the_same_in_kernels():
    for name in ("CONTENT", "FUNCTION", "PUNCTUATION", "NUMBER"):
        assert getattr(words, name) == getattr(phrase_features, name)
    assert len(words.KINDS) == phrase_features.KINDS
