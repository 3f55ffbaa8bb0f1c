"""Texts of which not all words are held while they are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cepts.data import Vocabulary, WordBound
from cepts.errors import DataError
from cepts.io import bitext_blocks, bitext_parts, read_bitext
from cepts.io.files import InputFile
from cepts.io.tokens import MOST_NUMBERS, TextWords, number_block, text_blocks
from cepts.kernels.text import settle_numbers

# Words around the 8 bytes that are hashed at a time.
WORDS = [letter * length for letter in "abé" for length in (1, 2, 3, 7, 8, 9, 15, 16, 17)]
lines = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
texts = st.lists(lines, min_size=1, max_size=12)


def first_letters(vocabulary: Vocabulary, counts: np.ndarray) -> tuple[Vocabulary, np.ndarray]:
    """Keep words that have occurred twice; the others become their first letter and a space."""
    names = [word if count > 1 else f"{word[0]} " for word, count in zip(vocabulary.decoded(), counts, strict=True)]
    found = list(dict.fromkeys(names))
    return Vocabulary.from_words(found), np.array([found.index(name) for name in names], dtype=np.int32)


def wanted(lines: list[str], most: int) -> tuple[list[str], dict[str, int], list[int]]:
    """The definition, word by word: the words that tokens end as, counts, and the numbers that were given out."""
    tokens: list[list[str]] = []  # each holds its present name; tokens of one word share it
    given: list[int] = []
    held: dict[str, list[str]] = {}
    numbers: dict[str, int] = {}
    counts: dict[str, int] = {}
    following = 0
    for line in lines:
        new = {*line.split()} - {*held}
        if held and new and len(held) + len(new) > most:
            names = {word: word if counts[word] > 1 else f"{word[0]} " for word in held}
            merged: dict[str, list[str]] = {}
            kept: dict[str, int] = {}
            occurred: dict[str, int] = {}
            for word, name in names.items():
                if name in merged:
                    for token in tokens:
                        if token is held[word]:
                            token[0] = name
                else:
                    merged[name], kept[name] = held[word], numbers[word]
                    held[word][0] = name
                for place, token in enumerate(tokens):
                    if token is held[word]:
                        tokens[place] = merged[name]
                occurred[name] = occurred.get(name, 0) + counts[word]
            held, numbers, counts = merged, kept, occurred
        for word in line.split():
            if word not in held:
                held[word], numbers[word], counts[word] = [word], following, 0
                following += 1
            counts[word] += 1
            tokens.append(held[word])
            given.append(numbers[word])
    return [token[0] for token in tokens], counts, given


def read(path: Path, most: int, block_bytes: int) -> tuple[TextWords, np.ndarray]:
    words = TextWords(WordBound(most, first_letters))
    with InputFile(path, block_bytes=block_bytes) as file:
        ids = [words.add(number_block(block)) for block in text_blocks(file, "strict", keep=True)]
    return words, np.concatenate(ids)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("bounds")


@given(texts, st.integers(1, 12), st.integers(1, 60) | st.just(1 << 16))
@example(["a b", "a b", "a b aa bb aaa bbb"], 3, 1 << 16)
@example(["a", "b", "a"], 1, 1 << 16)
@settings(deadline=None)
def test_words_are_lost_as_defined_for_any_blocks(folder, lines, most, block_bytes):
    path = folder / "text"
    path.write_text("".join(f"{line}\n" for line in lines))
    words, ids = read(path, most, block_bytes)
    names, counts, given = wanted(lines, most)
    assert ids.tolist() == given
    numbers, vocabulary = words.numbers(), words.vocabulary().words
    assert [vocabulary[number] for number in (ids if numbers is None else numbers[ids]).tolist()] == names
    assert dict(zip(vocabulary, words.counts().tolist(), strict=True)) == counts


@given(texts, st.integers(1, 60))
@settings(deadline=None)
def test_a_text_with_no_more_words_than_the_bound_is_read_as_without(folder, lines, block_bytes):
    path = folder / "text"
    path.write_text("".join(f"{line}\n" for line in lines))
    words, ids = read(path, max(len({*" ".join(lines).split()}), 1), block_bytes)
    plain = TextWords()
    assert words.numbers() is None
    assert ids.tolist() == plain.add(number_block(np.frombuffer(path.read_bytes(), np.uint8))).tolist()
    assert words.vocabulary().words == plain.vocabulary().words


@given(st.lists(st.integers(0, 100), min_size=1, max_size=30))
@settings(deadline=None)
def test_numbers_are_settled_by_following_their_heirs(draws):
    heirs = [draw % (number + 1) for number, draw in enumerate(draws)]
    own = [number for number, heir in enumerate(heirs) if heir == number]

    def word(number: int) -> int:
        return own.index(number) if heirs[number] == number else word(heirs[number])

    found = np.array(heirs, dtype=np.int32)
    settle_numbers(found)
    assert found.tolist() == [word(number) for number in range(len(heirs))]


@pytest.mark.parametrize("one_file", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_each_side_of_a_bitext_has_its_own_bound(tmp_path, one_file, threads):
    pairs = [(f"a{n} a{n % 7} the", f"b{n % 40} b{n % 3}") for n in range(200)]
    (tmp_path / "both").write_text("".join(f"{source} ||| {target}\n" for source, target in pairs))
    (tmp_path / "source").write_text("".join(f"{source}\n" for source, _ in pairs))
    (tmp_path / "target").write_text("".join(f"{target}\n" for _, target in pairs))
    files = (tmp_path / "both",) if one_file else (tmp_path / "source", tmp_path / "target")
    how = {"block_bytes": 64, "threads": threads, "bound": WordBound(43, first_letters)}
    source, target = [], []
    with bitext_blocks(*files, **how) as blocks:
        for block in blocks:
            source += block.source_ids.tolist()
            target += block.target_ids.tolist()
        assert blocks.target_numbers() is None  # 40 + 3 words
        numbers, vocabulary = blocks.source_numbers(), blocks.source_vocabulary()
        assert [blocks.target_vocabulary()[word] for word in target] == " ".join(pair[1] for pair in pairs).split()
    names, _, given = wanted([pair[0] for pair in pairs], 43)
    assert source == given
    assert [vocabulary[number] for number in numbers[source]] == names


def test_a_text_that_needs_too_many_numbers_is_refused():
    words = TextWords(WordBound(2, first_letters))
    words.add(number_block(np.frombuffer(b"a b\nc d\n", np.uint8)))
    words._given_out = MOST_NUMBERS - 1
    with pytest.raises(DataError, match="raise `max_vocabulary`"):
        words.add(number_block(np.frombuffer(b"e f\ng h\n", np.uint8)))


@given(texts, st.integers(1, 60))
@settings(deadline=None)
def test_parts_have_the_sentences_of_the_whole(folder, lines, block_bytes):
    for name, text in (("source", lines), ("target", [line * 3 for line in lines])):
        (folder / name).write_text("".join(f"{line}\n" for line in text))
    files = folder / "source", folder / "target"
    whole = read_bitext(*files)
    parts = list(bitext_parts(*files, block_bytes=block_bytes))
    assert [part[pair] for part in parts for pair in range(len(part))] == [whole[pair] for pair in range(len(whole))]
