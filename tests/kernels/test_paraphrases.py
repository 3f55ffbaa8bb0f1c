from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lexical as oracles
from cepts.kernels.paraphrases import find_codes, number_spans, word_codes
from cepts.phrases.tables import packed

TOKENS = st.lists(st.text("aé b", max_size=3), max_size=6)


@settings(deadline=None)
@given(TOKENS)
def test_codes_are_fnv(tokens):
    codes = np.empty(len(tokens), dtype=np.uint64)
    word_codes(*packed(tokens), codes)
    assert codes.tolist() == [oracles.code(token) for token in tokens]


@settings(deadline=None)
@given(st.lists(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_codes_are_found_where_they_stand(asked, known):
    ordered = sorted(known)
    places = np.empty(len(asked), dtype=np.int32)
    find_codes(np.array(ordered, dtype=np.uint64), np.array(asked, dtype=np.uint64), places)
    assert places.tolist() == [ordered.index(code) if code in known else -1 for code in asked]


@settings(deadline=None)
@given(TOKENS, st.integers(1, 4), st.data())
def test_spans_have_the_code_of_their_words_with_blanks_between(tokens, longest, data):
    spans = {(i, n): " ".join(tokens[i : i + n]) for i in range(len(tokens)) for n in range(1, len(tokens) - i + 1)}
    texts = sorted(set(spans.values()))
    kept = set(data.draw(st.lists(st.sampled_from(texts)))) if texts else set()
    known = sorted(oracles.code(text) for text in kept)
    numbers = np.empty((len(tokens), longest), dtype=np.int64)
    number_spans(*packed(tokens), np.array(known, dtype=np.uint64), numbers)
    for i in range(len(tokens)):
        for n in range(1, longest + 1):
            text = spans.get((i, n))
            assert numbers[i, n - 1] == (known.index(oracles.code(text)) if text in kept else -1)
