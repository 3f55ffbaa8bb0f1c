from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles_hypotheses as oracles
from cepts.data import Text, Vocabulary
from cepts.lm import stop


def chosen(tokens: list[str], **options: float) -> set[str]:
    text = Text.from_tokens([tokens])
    return {word for word, yes in zip(text.vocabulary.words, stop.function_words(text, **options), strict=True) if yes}


def passages(count: int = 60) -> list[str]:
    """Passages of 250 words, each on one of ten subjects, with the same words of grammar in all of them."""
    rng = np.random.default_rng(0)
    tokens: list[str] = []
    for number in range(count):
        subject = [f"subject{number % 10}", f"matter{number % 10}"]
        grammar = rng.choice(
            ["der", "und", "nicht", "<num>", "1999", ",", "selten"], 200, p=[0.4, 0.3, 0.1, *[0.05] * 4]
        )
        passage = [*grammar.tolist(), *rng.choice(subject, 50).tolist()]
        rng.shuffle(passage)
        tokens += passage
    return tokens


@pytest.mark.parametrize(
    ("token", "word"),
    [
        ("cell", True),
        ("l'", True),
        ("細胞", True),
        ("कोशिका", True),
        ("b2", True),
        ("<num>", False),
        ("<s>", False),
        ("1,000", False),
        ("...", False),
        ("<", False),
        ("-", False),
        ("<b", True),
    ],
)
def test_what_is_a_word(token, word):
    assert stop.is_word(token) is word


def test_words_of_a_list():
    vocabulary = Vocabulary.from_words(["the", "cell", ".", "<unk>", "of", "The"])
    assert stop.marked_words(vocabulary, ["of", "the", "never"]).tolist() == [True, False, True, True, True, False]
    assert stop.marked_words(vocabulary).tolist() == [False, False, True, True, False, False]


def test_even_words_are_function_words_and_subjects_are_not():
    assert chosen(passages()) == {"der", "und", "nicht", "selten", "<num>", "1999", ","}


def test_rare_words_are_none():
    tokens = passages()
    assert "selten" not in chosen(tokens, least_share=0.1)
    tokens[::1000] = ["kaum"] * len(tokens[::1000])  # 15 times, as even as can be
    assert "kaum" not in chosen(tokens)


def test_the_less_spread_is_allowed_the_fewer_words():
    tokens = passages()
    assert chosen(tokens, most_spread=100) == chosen(tokens)  # for the words fall apart below that
    assert chosen(tokens) > chosen(tokens, most_spread=-1)
    assert chosen(tokens, most_spread=-1) == {"<num>", "1999", ","}


@given(st.lists(st.sampled_from("abc"), min_size=4, max_size=60), st.integers(1, 5))
def test_spread_equals_plain_counting(tokens, stretch):
    tokens = tokens[: len(tokens) // stretch * stretch] or tokens[:1] * stretch
    text = Text.from_tokens([tokens])
    words = len(text.vocabulary)
    spread = stop._spread(text.ids, np.arange(words), words, stretch)
    for word, found in zip(text.vocabulary.words, spread, strict=True):
        assert found == pytest.approx(oracles.spread(tokens, word, stretch))


@given(st.lists(st.sampled_from([1, 2, 4, 32, 64, 512]), min_size=2, max_size=12))
def test_the_parting_equals_trying_each(spread):
    assume(len(set(spread)) > 1)
    values = [math.log(value) for value in spread]
    tried = [oracles.inside_variance(values, value) for value in set(values) - {min(values)}]
    found = stop._parting(np.array(spread, dtype=float))
    assert oracles.inside_variance(values, math.log(found)) == pytest.approx(min(tried))


def test_nothing_parts_words_that_are_all_alike():
    assert stop._parting(np.array([-0.2, 0.05, 0.1])) == np.inf
    assert stop._parting(np.array([])) == np.inf


def test_large_texts_are_sampled_evenly(monkeypatch):
    tokens = passages(120)
    monkeypatch.setattr(stop, "MOST_STRETCHES", 30)
    assert {"der", "und", "nicht"} <= chosen(tokens)
    assert not any(word.startswith(("subject", "matter")) for word in chosen(tokens))


def test_little_or_no_text():
    assert chosen([]) == set()
    assert chosen(["the", "1"]) == {"1"}
    assert chosen(["the"] * 30) == {"the"}
    with pytest.raises(ValueError, match="`stretch` must be at least 1"):
        chosen(["a"], stretch=0)
