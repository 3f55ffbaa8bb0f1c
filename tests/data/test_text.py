"""Texts and bitexts of what users have at hand: strings, tokens, sentence pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepts.data import Bitext, Sentence, SentencePair, Text, as_bitext, as_text, words_of

WORDS = st.text(st.characters(exclude_characters=" \t\n\v\f\r", exclude_categories=["Cs"]), min_size=1, max_size=3)
SENTENCES = st.lists(WORDS, max_size=4)


@given(st.lists(st.lists(SENTENCES, max_size=4), max_size=4), st.data())
def test_joined_texts_are_one_text(texts, data):
    """Also if the vocabulary of a text has words that it does not use, because it is a part of another."""
    kept = [data.draw(st.integers(0, len(text))) for text in texts]
    parts = [Text.from_tokens(text).part(first, len(text)) for first, text in zip(kept, texts, strict=True)]
    sentences = [sentence for first, text in zip(kept, texts, strict=True) for sentence in text[first:]]
    found, wanted = Text.joined(parts), Text.from_tokens(sentences)
    assert found.vocabulary.words == wanted.vocabulary.words
    np.testing.assert_array_equal(found.ids, wanted.ids)
    np.testing.assert_array_equal(found.offsets, wanted.offsets)
    assert (found.ids.dtype, found.vocabulary.offsets.tolist()) == (np.int32, wanted.vocabulary.offsets.tolist())


@given(st.lists(st.tuples(SENTENCES, SENTENCES), max_size=4))
def test_strings_tokens_and_sentence_pairs_give_the_same_bitext(pairs):
    for given_pairs in (
        pairs,
        [(tuple(source), tuple(target)) for source, target in pairs],
        [[" ".join(source), target] for source, target in pairs],
        [(f"\t{'  '.join(source)}\n", " ".join(target)) for source, target in pairs],
        [SentencePair(Sentence(tuple(source)), Sentence(tuple(target))) for source, target in pairs],
        (pair for pair in pairs),
    ):
        bitext = as_bitext(given_pairs)
        assert [bitext[n] for n in range(len(bitext))] == pairs
        assert len(bitext.source.vocabulary) == len({word for source, _ in pairs for word in source})


@given(st.lists(SENTENCES, max_size=4))
def test_a_text_of_strings_is_that_of_their_tokens(sentences):
    for given_sentences in (sentences, [" ".join(words) for words in sentences], map(tuple, sentences)):
        text = as_text(given_sentences)
        assert [text[n] for n in range(len(text))] == sentences


def test_only_ascii_white_space_separates_words():
    assert words_of(" a\u00a0b\tc\u2003d \v e\r\n") == ["a\u00a0b", "c\u2003d", "e"]
    assert Text.from_tokens(["a\u00a0b c"])[0] == ["a\u00a0b", "c"]


def test_a_token_may_hold_blanks():
    assert Bitext.from_tokens([(["New York"], "x")])[0] == (["New York"], ["x"])


def test_what_is_a_text_or_bitext_stays_it():
    bitext = Bitext.from_tokens([("a", "b")])
    assert as_bitext(bitext) is bitext
    assert as_text(bitext.source) is bitext.source


def test_arrays_of_words_are_sentences():
    assert Text.from_tokens([np.array(["a", "b"])])[0] == ["a", "b"]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (
            "the house",
            "pairs must be a sequence of .source, target. pairs. Got 'the house' .str. instead; put one",
        ),
        (b"ab", "pairs must be a sequence"),
        (None, "pairs must be a sequence .* Got None"),
        (3, "pairs must be a sequence .* Got 3 .int."),
        (["ab", "cd"], "a pair must be a source and a target sentence. Got 'ab' .str. instead; give pairs such as"),
        (("the house", "la maison"), "a pair must be a source and a target sentence. Got 'the house'"),
        ([("a", "b", "c")], "a pair must be a source and a target sentence. Got .'a', 'b', 'c'. .tuple."),
        ([{"source": "a", "target": "b"}], "a pair must be a source and a target sentence"),
        ([(["a"], ["b", 3])], "a token must be a string. Got 3 .int. instead"),
        ([([["a"]], ["b"])], "a token must be a string. Got .'a'. .list. instead"),
        ([(b"ab", "b")], "a token must be a string. Got 97"),
        ([("a", None)], "a sentence must be a string or a sequence of tokens. Got None"),
        ([("a", 3)], "a sentence must be a string or a sequence of tokens. Got 3 .int."),
    ],
)
def test_what_is_no_bitext_is_refused_with_a_remedy(pairs, message):
    with pytest.raises(TypeError, match=message):
        as_bitext(pairs)


@pytest.mark.parametrize("sentences", ["the house", b"the house", None, 3])
def test_what_is_no_text_is_refused_with_a_remedy(sentences):
    with pytest.raises(TypeError, match=r"sentences must be a sequence of sentences.*or split a text into lines"):
        as_text(sentences)
