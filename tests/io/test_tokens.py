from __future__ import annotations

import io
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_io as oracles
from cepts.data import Text
from cepts.io.files import read_blocks
from cepts.io.tokens import NotUTF8Error, TextBuilder, TextWords, number_block, replace_invalid, utf8_error
from cepts.kernels.text import MULTIPLIER

SPACES = " \t\n\v\f\r"
NOT_SPACES = "\u00a0\u0085\u2028\u2029\u3000\u1680\x1c\x1d\x1e\x1f\x00"
texts = st.text(st.sampled_from(SPACES + NOT_SPACES + "abcé|語🙂"), max_size=60) | st.text(max_size=60)


def build(data: bytes, block_bytes: int = 1 << 16, slots: int = 1 << 10) -> Text:
    builder = TextBuilder(slots=slots)
    for block in read_blocks(io.BytesIO(data), block_bytes):  # type: ignore[arg-type]
        builder.feed(block)
    return builder.finish()


def check(text: Text, data: bytes) -> None:
    rows, words = oracles.numbered([oracles.tokens_of(line) for line in oracles.lines_of(data)])
    got = [text.ids[start:end].tolist() for start, end in zip(text.offsets, text.offsets[1:], strict=False)]
    assert got == rows
    assert [word.encode() for word in text.vocabulary.words] == words
    assert (text.ids.dtype, text.offsets.dtype) == (np.int32, np.int64)


@settings(deadline=None)
@given(texts, st.integers(1, 40), st.sampled_from([2, 4, 1 << 10]))
def test_tokens_are_those_of_the_oracle_for_any_block_and_table_size(text, block_bytes, slots):
    data = text.encode("utf-8", "ignore")
    check(build(data, block_bytes, slots), data)


halves = st.lists(st.sampled_from([b"\xc3", b"\xa9", b" ", b"a", b"\n"])).map(b"".join)


@settings(deadline=None)
@given(st.binary(max_size=40) | halves)
def test_bytes_are_refused_exactly_where_they_are_not_utf8(data):
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        with pytest.raises(NotUTF8Error):
            build(data, 1 << 10)
        message = str(utf8_error("x", np.frombuffer(data, np.uint8), 10))
        line = 11 + data[: error.start].count(b"\n")
        place = len(data[: error.start].rpartition(b"\n")[2]) + 1
        assert message.startswith(f"x, line {line}: byte {place} (0x")
        assert f"(0x{data[error.start]:02x})" in message
        fixed = replace_invalid(np.frombuffer(data, np.uint8)).tobytes()
        assert fixed == data.decode("utf-8", "replace").encode()
        check(build(fixed), fixed)
    else:
        check(build(data, 3), data)


def test_a_character_cut_by_a_space_is_refused_though_its_halves_join():
    with pytest.raises(NotUTF8Error):
        build(b"caf\xc3 \xa9t\n")


def test_more_words_than_the_first_table_holds():
    data = " ".join(f"w{n * 7919 % 100_003}" for n in range(60_000)).encode()
    text = build(data + b"\n" + data, block_bytes=1000, slots=64)
    assert len(text.vocabulary) == 60_000
    assert text.ids.tolist() == [*range(60_000), *range(60_000)]
    assert text.vocabulary.words == data.decode().split()


def test_a_token_longer_than_many_blocks():
    long = b"x" * 100_000
    check(build(b"a " + long + b" b\n" + long, block_bytes=7), b"a " + long + b" b\n" + long)


@settings(deadline=None)
@given(
    st.binary(max_size=60)
    | st.lists(st.sampled_from([b"\x8a", b"\xa0", b"\x89", b" ", b"\t", b"\n", b"x" * 7])).map(b"".join),
    st.sampled_from([None, 2, 4, 64]),
)
def test_any_bytes_are_numbered_and_counted_as_by_the_oracle(data, slots):
    block = number_block(np.frombuffer(data, np.uint8), slots=slots)
    rows, words = oracles.numbered([oracles.tokens_of(line) for line in oracles.lines_of(data)])
    assert block.lengths.tolist() == [len(row) for row in rows]
    assert block.ids.tolist() == [word for row in rows for word in row]
    offsets = block.words.offsets[: len(words) + 1].tolist()
    found = block.words.data.tobytes()
    assert [found[start:end] for start, end in pairwise(offsets)] == words
    assert block.words.counts[: len(words)].tolist() == [
        sum(row.count(word) for row in rows) for word in range(len(words))
    ]
    assert len(block.keys) == len(words)


def mixed(chunk: bytes) -> int:
    """What the tokeniser makes of 8 bytes of a long word, before the next 8 are mixed in."""
    product = int.from_bytes(chunk, "little") * int(MULTIPLIER) % (1 << 64)
    return product ^ product >> 32


def word_with_the_key_of(word: bytes, rng: random.Random) -> bytes:
    """Another word of 16 letters that has the key of the word `word` of 16 letters."""
    while True:
        start = bytes(rng.choices(range(97, 123), k=8))
        end = (int.from_bytes(word[8:], "little") ^ mixed(word[:8]) ^ mixed(start)).to_bytes(8, "little")
        if all(33 <= byte < 127 for byte in end) and start != word[:8]:
            return start + end


@pytest.mark.parametrize("slots", [2, 1 << 10])
def test_words_with_equal_keys_are_told_apart_by_their_bytes(slots):
    rng = random.Random(1)
    word = b"internationalism"
    words = [word, word_with_the_key_of(word, rng), word_with_the_key_of(word, rng), word + b"\0", word + b"\0\0"]
    block = number_block(np.frombuffer(b" ".join(words), np.uint8), slots=slots)
    assert len(set(block.keys.tolist())) == 1  # or this tests nothing
    assert block.ids.tolist() == [0, 1, 2, 3, 4]
    lines = [b" ".join(rng.choices(words, k=6)) for _ in range(30)]
    data = b"\n".join(lines)
    check(build(data, 1 << 10, slots), data)
    check(build(data, 1, slots), data)  # words of blocks meet words of blocks before


def test_words_and_counts_of_a_text_so_far():
    words = TextWords()
    assert (len(words.vocabulary()), words.counts().tolist()) == (0, [])
    for data, ids, known, counts in (
        (b"b a b\n", [0, 1, 0], ["b", "a"], [2, 1]),
        (b"\n", [], ["b", "a"], [2, 1]),
        (b"c a\nc", [2, 1, 2], ["b", "a", "c"], [2, 2, 2]),
    ):
        before = words.vocabulary()
        assert words.add(number_block(np.frombuffer(data, np.uint8))).tolist() == ids
        assert (words.vocabulary().words, words.counts().tolist()) == (known, counts)
        assert before.words == known[: len(before)]


def test_words_that_differ_in_their_end_or_length_only():
    data = b"a aa aaa aab aaaaaaaaaaaaaaaa aaaaaaaaaaaaaaab \x00 \x00\x00 aa a\n"
    check(build(data), data)


def test_no_blocks_are_no_sentences():
    text = TextBuilder().finish()
    assert len(text) == 0
    assert len(text.vocabulary) == 0
