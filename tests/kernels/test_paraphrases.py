from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lexical as oracles
from cepts.phrases.tables import codes_of, numbers_of

TOKENS = st.lists(st.text("aé b", max_size=3), max_size=6)


@settings(deadline=None)
@given(TOKENS)
def test_codes_are_fnv(tokens):
    assert codes_of(tokens).tolist() == [oracles.code(token) for token in tokens]


@settings(deadline=None)
@given(TOKENS, st.integers(1, 4), st.data())
def test_spans_have_the_code_of_their_words_with_blanks_between(tokens, longest, data):
    spans = {(i, n): " ".join(tokens[i : i + n]) for i in range(len(tokens)) for n in range(1, len(tokens) - i + 1)}
    texts = sorted(set(spans.values()))
    kept = set(data.draw(st.lists(st.sampled_from(texts)))) if texts else set()
    known = sorted(oracles.code(text) for text in kept)
    numbers = numbers_of(tokens, np.array(known, dtype=np.uint64), longest)
    for i in range(len(tokens)):
        for n in range(1, longest + 1):
            text = spans.get((i, n))
            assert numbers[i, n - 1] == (known.index(oracles.code(text)) if text in kept else -1)
