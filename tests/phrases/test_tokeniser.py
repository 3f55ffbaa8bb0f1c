"""Running English becomes the tokens of the Penn Treebank; tokens stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Sentence, SentencePair
from cepts.io import read_sentence_pairs
from cepts.phrases.tokeniser import ABBREVIATIONS, LONGEST, looks_untokenised, tokenise, tokenised

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # Contractions and possessives, with either apostrophe.
        ('"Don\'t do it!" he said', '" Do n\'t do it ! " he said'),
        ("He's can't won't they'll I'd've", "He 's ca n't wo n't they 'll I 'd 've"),
        ("It’s the dogs’ home, isn’t it", "It ’s the dogs ’ home , is n’t it"),
        ("I cannot, gonna CANNOT", "I can not , gon na CAN NOT"),
        ("'Tis O'Brien's o'clock ma'am", "'T is O'Brien 's o'clock ma'am"),
        ("the '90s rock 'n' roll for 'em", "the '90s rock 'n' roll for 'em"),
        ("the 1980's U.S.'s", "the 1980 's U.S. 's"),
        # Quotation marks, brackets and dashes.
        ("“Yes,” she said.", "“ Yes , ” she said ."),
        ("a 'quoted word' and ``this''", "a ' quoted word ' and `` this ''"),
        ("(see word(s) [1], {x})", "( see word ( s ) [ 1 ] , { x } )"),
        ("well-known -- or not—ever", "well-known -- or not — ever"),
        ("wait...what? No!!! Why?!", "wait ... what ? No !!! Why ?!"),
        ("so… then", "so … then"),
        # Full stops.
        ("Mr. Smith, Jr., of the U.S. left.", "Mr. Smith , Jr. , of the U.S. left ."),
        ("e.g. this, i.e. that, etc. and more", "e.g. this , i.e. that , etc. and more"),
        ("at 10 a.m. on Jan. 5.", "at 10 a.m. on Jan. 5 ."),
        ("He left. She stayed.", "He left . She stayed ."),
        ("i went home. then i slept.", "i went home . then i slept ."),
        ("J. R. Tolkien, plan B.", "J. R. Tolkien , plan B ."),
        ("Roe v. Wade, so do I. Me too", "Roe v. Wade , so do I . Me too"),
        ("No. 5 said no. No. Never.", "No. 5 said no . No . Never ."),
        ("1. Open it. In 2010. The end", "1. Open it . In 2010 . The end"),
        ('He said "no."', 'He said " no . "'),
        ("the Sat. show in the sun.", "the Sat. show in the sun ."),
        ("pro-U.S. and then-Gov. Brown", "pro-U.S. and then-Gov. Brown"),
        # Numbers, money, times.
        ("$1,000.50, US$5m, £3 and 5€", "$ 1,000.50 , US$ 5m , £ 3 and 5 €"),
        ("50% of a 50%-owned firm", "50 % of a 50%-owned firm"),
        ("at 10:30: 3:1, 1/2, -5, 1,2", "at 10:30 : 3:1 , 1/2 , -5 , 1,2"),
        # What is written only on screens.
        ("See https://a.org/b_(c)?d=e, or (www.x.org).", "See https://a.org/b_(c)?d=e , or ( www.x.org ) ."),
        ("Mail me@x.co.uk!", "Mail me@x.co.uk !"),
        ("#tag, @name AT&T R&amp;D", "#tag , @name AT&T R&amp;D"),
        ("fine:-) :( <3", "fine :-) :( <3"),
        ("great👍🏽👨‍👩‍👧🇬🇧🇫🇷!", "great 👍🏽 👨‍👩‍👧 🇬🇧 🇫🇷 !"),
        ("❤️😂😂 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿x", "❤️ 😂 😂 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 x"),
        ("and/or naïve coöperation, Zürich", "and/or naïve coöperation , Zürich"),
        ("one\u00a0two\u200bthree", "one two three"),
        ("", ""),
    ],
)
def test_tokens(text, tokens):
    assert tokenise(text) == tokens.split(" ") if tokens else tokenise(text) == []
    assert tokenise(tokens) == tokenise(text)


SIGNS = "abIN5.,;:!?'’\"“”()[]$%-…`@#&/é "
STRINGS = "n't 's Mr. U.S. no. cannot ... -- '' www. :// 👍🏽 🇬🇧 🇬 ❤️ \u200d \ufe0f :-) &amp; x@y.z word 10"
PIECES = st.sampled_from([*SIGNS, *STRINGS.split()])


@settings(max_examples=1000, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=30))
def test_tokens_are_not_cut_again_and_no_character_is_lost(text):
    tokens = tokenise(text)
    assert tokenise(" ".join(tokens)) == tokens
    assert "".join(tokens) == "".join("".join(text.split()).translate({0x200B: None, 0x2060: None, 0xFEFF: None}))
    assert all(tokens)


def test_tokenised_examples_stay_as_they_are():
    pairs = read_sentence_pairs(EXAMPLES / "paraphrases.jsonl")
    for sentence in (side for pair in pairs for side in (pair.source, pair.target)):
        assert tokenise(" ".join(sentence.tokens)) == list(sentence.tokens)


def test_text_that_is_tokenised_in_another_way_does_not_look_untokenised():
    lines = (EXAMPLES / "sample.en").read_text(encoding="utf-8").splitlines()
    assert not looks_untokenised([running(line, line) for line in lines])
    plain = [line for line in lines if "'" not in line and "annot" not in line]
    assert len(plain) > 400
    assert [tokenise(line) for line in plain] == [line.split() for line in plain]


def test_a_piece_that_is_no_word_is_left_whole():
    assert tokenise("a," * LONGEST) == ["a," * LONGEST]


def test_abbreviations_are_lower_case():
    assert {word.lower() for word in ABBREVIATIONS} == set(ABBREVIATIONS)


def running(*texts, **more):
    return SentencePair(*(Sentence(tuple(text.split()), running=True) for text in texts), **more)


def tokens_of(pair):
    return " ".join(pair.source.tokens), " ".join(pair.target.tokens)


def test_only_running_text_without_gold_links_is_tokenised():
    texts = "It's here.", "Here it's."
    (pair,) = tokenised([running(*texts, id="7", label=1.0)])
    assert tokens_of(pair) == ("It 's here .", "Here it 's .")
    assert (pair.id, pair.label, pair.source.running) == ("7", 1.0, False)
    given = SentencePair(*(Sentence(tuple(text.split())) for text in texts))
    linked = running(*texts, sure=((0, 1),), possible=())
    assert tokenised([given, linked]) == [given, linked]
    mixed = SentencePair(Sentence(("It's", "here.")), Sentence(("Here", "it's."), running=True))
    assert tokens_of(tokenised([mixed])[0]) == ("It's here.", "Here it 's .")


@pytest.mark.parametrize(
    ("texts", "untokenised"),
    [
        (('"Don\'t do it!" he said', "He said it."), True),
        (("he does n't know", "he doesn't know"), True),  # nothing but a contraction tells
        (("he does n't know .", "he doesn't know ."), False),  # somebody has tokenised it in another way
        (("He bought a car", "he purchased a vehicle"), False),
        (("The U.S. did it .", "It was the U.S. ."), False),
        (("", ""), False),
    ],
)
def test_whether_text_looks_untokenised(texts, untokenised):
    assert looks_untokenised([running(*texts)]) is untokenised
    assert not looks_untokenised([SentencePair(*(Sentence(tuple(text.split())) for text in texts))])
