"""Perplexities, against their definition word by word."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepts.errors import DataError
from cepts.evaluate import perplexities

# A document is its sentences; a sentence is its words, each with its probability under two models, or None if unknown.
PROBS = st.tuples(st.floats(1e-6, 1), st.floats(1e-6, 1))
DOCUMENTS = st.lists(
    st.lists(st.tuples(st.lists(st.one_of(st.none(), PROBS), max_size=4), PROBS), min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)


def scored(documents, *, count_ends=True):
    """What `perplexities` makes of them."""
    places = [
        (word or (0.5, 0.5), word is not None, False) if place < len(words) else (end, True, True)
        for document in documents
        for words, end in document
        for place, word in enumerate([*words, end])
    ]
    probs = np.array([prob for prob, _, _ in places])
    lengths = [sum(len(words) + 1 for words, _ in document) for document in documents]
    return perplexities(
        {"one": probs[:, 0], "two": probs[:, 1]},
        np.array([known for _, known, _ in places]),
        np.array([end for _, _, end in places]),
        np.concatenate([[0], np.cumsum(lengths)]),
        [f"d{number}" for number in range(len(documents))],
        count_ends=count_ends,
        facts={"model": "toy"},
    )


def by_definition(documents, model, count_ends):
    logs = [
        math.log(word[model])
        for document in documents
        for words, end in document
        for word in [*words, *([end] if count_ends else [])]
        if word is not None
    ]
    return math.exp(-sum(logs) / len(logs)) if logs else math.nan


@given(DOCUMENTS, st.booleans())
def test_they_are_what_the_definition_says(documents, count_ends):
    if not any(word for document in documents for words, _ in document for word in words):
        with pytest.raises(DataError, match="knows none of the"):
            scored(documents, count_ends=count_ends)
        return
    found = scored(documents, count_ends=count_ends)
    for place, model in enumerate(("one", "two")):
        assert found.values[model] == pytest.approx(by_definition(documents, place, count_ends))
        for number, document in enumerate(documents):
            wanted = by_definition([document], place, count_ends)
            assert found.of_documents()[number, place] == pytest.approx(wanted, nan_ok=True)
    every = [word for document in documents for words, _ in document for word in words]
    figures = found.as_dict()
    assert figures["words"] == len(every)
    assert figures["unknown"] == every.count(None)
    assert figures["unknown_rate"] == every.count(None) / len(every)
    assert figures["sentences"] == sum(map(len, documents))
    assert figures["counted"] == len(every) - every.count(None) + count_ends * figures["sentences"]


def test_a_uniform_model_has_the_perplexity_of_its_vocabulary():
    found = scored([[([(0.1, 0.25)] * 3, (0.1, 0.25))]])
    assert found.values == pytest.approx({"one": 10.0, "two": 4.0})


def test_a_word_of_no_probability_makes_it_infinite_and_null_in_json():
    probs = {"none": np.array([0.0, 0.5]), "some": np.array([0.5, 0.5])}
    found = perplexities(probs, np.array([True, True]), np.array([False, True]), np.array([0, 2]), ["d"])
    assert found.values == {"none": math.inf, "some": pytest.approx(2.0)}
    assert found.as_dict()["perplexity"]["none"] is None


def test_the_signature_says_what_was_left_out():
    found = scored([[([None, (0.5, 0.5)], (0.5, 0.5))]])
    assert found.signature.startswith("documents:1|words:2|unknown:1-left-out|ends:counted|model:toy|cepts:")
    assert "ends:left-out" in scored([[([(0.5, 0.5)], (0.5, 0.5))]], count_ends=False).signature
