"""What a text shows about its tokens, and when a line is said about it."""

from __future__ import annotations

from importlib.resources import files

import pytest

from cepts.data import Text, TokenStyle, tokenisation_notice

JAPANESE = [
    "私は学生です。",
    "昨日の夜、東京駅の近くで古い友達に会いました。",
    "この本はとても面白いので読んでください。",
]
SEGMENTED = ["私 は 学生 です 。", "昨日 の 夜 、 東京 駅 の 近く で 古い 友達 に 会い まし た 。", "コンピューター"]
THAI = ["ฉันเป็นนักเรียนและชอบอ่านหนังสือ", "เมื่อวานนี้ฉันไปตลาดกับแม่ของฉัน"]
SEGMENTED_THAI = ["ฉัน เป็น นักเรียน และ ชอบ อ่าน หนังสือ", "เมื่อวานนี้ ฉัน ไป ตลาด กับ แม่ ของ ฉัน"]
PLAIN = ["Hello, world!", "The house, which is blue, is old.", "Is it?"]


def notice(sentences):
    return tokenisation_notice("x.txt", Text.from_tokens(sentences))


@pytest.mark.parametrize(
    ("sentences", "part"),
    [
        (
            JAPANESE,
            "x.txt: the text is probably not split into words: a sentence has 1.0 tokens and a token 17 characters",
        ),
        ([" ".join([line, line]) for line in JAPANESE], "the text is probably not split into words"),
        (["私は猫です", "これは本"], "not split into words: a sentence has 1.0 tokens"),
        (THAI, "the text is probably not split into words"),
        (["Wirhabenkeineleerzeichenindiesemsatz", "Auchhiersindkeineindiesemsatz"], "not split into words"),
        ([line.replace(" ", "\u3000") for line in SEGMENTED], "some tokens contain U+3000, the ideographic space, but"),
        (PLAIN, "100% of the punctuation is part of the word before it"),
        (['"Don\'t do it!" he said.'], "of the punctuation is part of the word"),
        (["Ce n'est pas vrai, mais bon; voilà."], "of the punctuation is part of the word"),
        (["مرحبا، كيف حالك؟"], "of the punctuation is part of the word"),
    ],
)
def test_what_looks_wrong_is_said_in_one_line(sentences, part):
    found = notice(sentences)
    assert found is not None
    assert part in found
    assert "\n" not in found


@pytest.mark.parametrize(
    "sentences",
    [
        SEGMENTED,
        SEGMENTED_THAI,
        ["猫", "本", "学生", "コンピューター"],  # a list of words, not sentences
        [],
        [""],
        ["File", "Edit", "Internationalisation"],  # a list of terms is about one token a sentence
        ["Mr. Smith of the U.S. met Dr. Brown in St. Louis ."],
        ["he worked for acme inc.", *(["no punctuation at all in this text"] * 9)],
        ["1,000 of 3.5 % : a b"],
        ["le prix est 10\u00a0000 euros !"],
    ],
)
def test_normal_text_gives_no_notice(sentences):
    assert notice(sentences) is None


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_sample_gives_no_notice(language):
    lines = (files("cepts") / "sample" / f"sample.{language}").read_text("utf-8").splitlines()
    assert notice(lines) is None


def test_a_long_text_is_sampled_over_its_whole_length():
    text = Text.from_tokens(["a b c ."] * 4_000 + ["Hello, world!"] * 4_000)
    style = TokenStyle.of(text[number] for number in range(0, len(text), 4))
    assert style.glued_sentences == style.sentences / 2
    assert tokenisation_notice("x", text) is not None
