from __future__ import annotations

import pytest

from cepts.data import Sentence, SentencePair
from cepts.errors import DataError
from cepts.phrases.annotate import Annotator, check_columns, shared_columns


class Upper:
    """Tags a word by its upper-cased form, after what it was given."""

    def __init__(self):
        self.seen = []

    def predict(self, sentences, tags=None):
        self.seen += sentences
        given = tags or [("",) * len(tokens) for tokens in sentences]
        return [
            tuple(tag + token.upper() for tag, token in zip(row, tokens, strict=True))
            for row, tokens in zip(given, sentences, strict=True)
        ]


class First:
    """The lemma of a word is its first letter and its tag."""

    def lemmas(self, tokens, tags):
        return tuple(token[0] + tag for token, tag in zip(tokens, tags, strict=True))


PAIR = SentencePair(Sentence(("ab", "c")), Sentence(("d",), pos=("X",)), id="p", sure=((0, 0),))


def annotator(**parts):
    return Annotator(**{"tagger": Upper(), "chunker": Upper(), "lemmatiser": First(), **parts})


def test_missing_columns_are_filled_in_and_others_stay():
    (done,) = annotator().annotate([PAIR], ("pos", "chunk", "lemma"))
    assert done.source == Sentence(("ab", "c"), ("AB", "C"), ("ABAB", "CC"), ("aAB", "cC"))
    assert done.target == Sentence(("d",), ("X",), ("XD",), ("dX",))
    assert done.id == "p" and done.sure == ((0, 0),)
    kept = Sentence(("a",), ("1",), ("2",), ("3",))
    assert annotator().complete([kept], ("pos", "chunk", "lemma")) == [kept]


def test_only_what_is_wanted_is_made():
    made = annotator()
    assert made.annotate([PAIR], ()) == [PAIR] and not made.tagger.seen
    (done,) = made.annotate([PAIR], ("pos",))
    assert made.tagger.seen == [("ab", "c")] and not made.chunker.seen
    assert done.source.chunk is None and done.source.lemma is None


def test_without_tags_there_are_neither_chunks_nor_lemmas():
    (done,) = annotator(tagger=None).annotate([PAIR], ("chunk", "lemma"))
    assert done.source == PAIR.source and done.target.lemma == ("dX",)
    assert Annotator().annotate([PAIR], ("pos", "lemma")) == [PAIR]


def test_lines_in_are_lines_out():
    empty = SentencePair(Sentence(()), Sentence(()))
    assert annotator().annotate([], ("pos",)) == []
    done = annotator().annotate([empty, PAIR, empty], ("pos", "chunk", "lemma"))
    assert [len(pair.source) for pair in done] == [0, 2, 0] and done[0].source.lemma == ()


def test_a_missing_column_is_named_with_its_pair():
    check_columns([PAIR], ())
    with pytest.raises(DataError, match=r"the source sentence of pair 1 \(p\) has no pos column.*source_pos"):
        check_columns([PAIR], ("pos",))
    check_columns([SentencePair(Sentence(()), Sentence(()))], ("pos",))  # nothing to tell of no words
    whole = SentencePair(Sentence(("a",), lemma=("a",)), Sentence(("b",)))
    with pytest.raises(DataError, match="the target sentence of pair 34 has no lemma column"):
        check_columns([whole], ("lemma",), before=33)


def test_shared_columns_are_those_of_all_sentences_with_words():
    def pair(**columns):
        return SentencePair(Sentence(("a",), **columns), Sentence(("b",), pos=("X",), lemma=("b",)))

    assert shared_columns([pair(pos=("Y",), lemma=("a",)), pair(pos=("Z",))]) == ("pos",)
    assert shared_columns([pair(pos=("Y",)), SentencePair(Sentence(()), Sentence(()))]) == ("pos",)
    assert shared_columns([pair()]) == ()


def test_taggers_see_plain_forms_and_sentences_keep_theirs():
    made = annotator()
    (done,) = made.complete([Sentence(("“", "n’t"))], ("pos", "chunk", "lemma"))
    assert made.tagger.seen == made.chunker.seen == [('"', "n't")]
    assert done.tokens == ("“", "n’t") and done.lemma == ('""', "nN'T")
