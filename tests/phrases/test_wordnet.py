from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from cepts.errors import DataError, ModelError
from cepts.kernels.wordnet import RELATIONS
from cepts.phrases.wordnet import PARTS, WordNet

SMALL = WordNet.from_synsets(
    [
        ("verb", ["bark"]),
        ("noun", ["dog", "domestic_dog"]),
        ("noun", ["canine"]),
        ("noun", ["Wolf"]),
        ("noun", ["living thing"]),
        ("noun", ["bark"]),
        ("noun", ["tree"]),
    ],
    [(1, 2, "hypernym"), (3, 2, "hypernym"), (2, 4, "hypernym"), (6, 5, "meronym")],
    [("dog", "domestic_dog", "derivation"), ("dog", "wolf", "antonym")],
)


def related(table, one, other, **parts):
    found = int(table.relations(table.numbers([one]), table.numbers([other]), **parts)[0, 0])
    return [name for bit, name in enumerate(RELATIONS) if found >> bit & 1]


def test_words_and_their_relations():
    assert len(SMALL) == 7
    assert (SMALL.numbers(["Dog", "WOLF", "x", "domestic dog", ""]) >= 0).tolist() == [True, True, False, True, False]
    assert related(SMALL, "dog", "wolf") == ["cohyponym", "antonym"]
    assert related(SMALL, "dog", "canine") == ["hypernym"]


def test_phrases_are_words_too():
    numbers = SMALL.span_numbers(["a", "Domestic", "dog"], 2)
    assert np.argwhere(numbers >= 0).tolist() == [[1, 1], [2, 0]]
    found = SMALL.relations(numbers.reshape(-1), SMALL.numbers(["dog", "wolf"])).reshape(3, 2, 2)
    assert found[1, 1].tolist() == [1 | 1 << RELATIONS.index("derivation"), 1 << RELATIONS.index("cohyponym")]
    assert len(WordNet.from_synsets([("noun", ["a", "b_c", "d e f", "g_h i_j"])])) == 3


def test_senses_of_other_parts_of_speech_can_be_left_out():
    verb = np.array([1 << PARTS.index("verb")], dtype=np.uint8)
    assert related(SMALL, "tree", "bark") == ["meronym"]
    assert related(SMALL, "bark", "tree") == ["holonym"]
    assert related(SMALL, "tree", "bark", target_parts=verb) == []
    assert related(SMALL, "bark", "bark", target_parts=verb) == ["synonym"]


@pytest.mark.parametrize(
    ("source", "target"), [([], ["dog"]), (["dog"], []), ([], []), (["x"], ["y"]), (["x"], ["dog"])]
)
def test_nothing_is_related_to_nothing(source, target):
    for table in (SMALL, WordNet.from_synsets([])):
        found = table.relations(table.numbers(source), table.numbers(target))
        assert found.shape == (len(source), len(target))
        assert not found.any()


def test_what_is_saved_answers_alike(tmp_path):
    path = tmp_path / "wordnet.safetensors"
    words = ["dog", "wolf", "canine", "bark", "tree", "x"]
    for table in (SMALL, WordNet.from_synsets([])):
        table.save(path)
        again = WordNet.load(path)
        assert repr(again) == repr(table)
        numbers = again.numbers(words)
        np.testing.assert_array_equal(numbers, table.numbers(words))
        np.testing.assert_array_equal(again.relations(numbers, numbers), table.relations(numbers, numbers))


def test_damage_is_found(tmp_path):
    path = tmp_path / "wordnet.safetensors"
    SMALL.save(path)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelError, match=r"wordnet\.safetensors is damaged \(its checksum differs\); .*make_wordnet"):
        WordNet.load(path)


@pytest.mark.parametrize(
    ("one", "other", "relations"),
    [
        ("car", "automobile", ["synonym"]),
        ("dog", "canine", ["hypernym"]),
        ("canine", "dog", ["hyponym"]),
        ("dog", "animal", ["hypernym2"]),
        ("animal", "dog", ["hyponym2"]),
        ("big", "huge", ["similar"]),
        ("snore", "sleep", ["entailment"]),
        ("decide", "decision", ["derivation"]),
        ("tree", "trunk", ["meronym"]),
        ("trunk", "tree", ["holonym"]),
        ("asdf", "car", []),
    ],
)
def test_the_english_table_knows_wordnet(one, other, relations):
    assert related(ENGLISH, one, other) == relations


def test_antonyms():
    assert "antonym" in related(ENGLISH, "good", "bad")
    assert "antonym" in related(ENGLISH, "bad", "good")


NOUNS = """  1 This is the licence.
00000001 03 n 02 dog 0 domestic_dog 0 002 @ 00000002 n 0000 + 00000001 v 0101 | a pet
00000002 03 n 01 canine 0 000 | a mammal
00000003 03 n 01 New_York 0 000 | a city
"""


def write_wordnet(directory, nouns=NOUNS):
    for name in ("verb", "adj", "adv"):
        (directory / f"data.{name}").write_text("")
    (directory / "data.noun").write_text(nouns)
    (directory / "data.verb").write_text("00000001 38 v 01 chase 0 000 01 + 08 00 | go after\n")
    (directory / "data.adj").write_text("00000001 00 s 01 galore(ip) 0 000 | in plenty\n")


def test_the_files_of_wordnet_become_a_table(tmp_path):
    read = runpy.run_path(str(Path(__file__).parents[2] / "resources" / "make_wordnet.py"))["read_wordnet"]
    with pytest.raises(DataError, match=r"cannot read .*data\.noun: No such file"):
        read(tmp_path)
    write_wordnet(tmp_path)
    table = read(tmp_path)
    assert repr(table) == "WordNet(5 words, 5 synsets)"
    assert (table.numbers(["dog", "domestic dog", "galore", "new york"]) >= 0).tolist() == [True, True, True, False]
    assert related(table, "domestic dog", "canine") == ["hypernym"]
    assert related(table, "chase", "dog") == ["derivation"]
    assert related(table, "chase", "domestic dog") == []
    write_wordnet(tmp_path, NOUNS.replace("n 02 dog", "n 09 dog"))
    with pytest.raises(DataError, match=r"data\.noun, line 2: this is no synset"):
        read(tmp_path)


ENGLISH = WordNet.load()
