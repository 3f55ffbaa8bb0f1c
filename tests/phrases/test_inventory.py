from __future__ import annotations

import json

from cepts.phrases.inventory import FREQUENT_WORDS, Inventory, chunk_type
from cepts.sentences import Sentence, SentencePair


def pair(source, target, sure=(), **columns):
    return SentencePair(Sentence(tuple(source.split()), **columns), Sentence(tuple(target.split())), sure=sure)


def test_types_of_chunks():
    assert [chunk_type(label) for label in ("B-NP", "I-NP", "B-ADV-P", "O", "")] == ["np", "np", "adv-p", "", ""]


def test_what_is_frequent_has_a_number():
    pairs = [
        pair("The dog Barks", "the cat", ((1, 1), (0, 0)), pos=("DT", "NN", "VB"), chunk=("B-NP", "I-NP", "O")),
        *[pair("the dog", "The cat", ((1, 1),), pos=("DT", "NN"), chunk=("B-NP", "I-NP")) for _ in range(4)],
    ]
    inventory = Inventory.of_pairs(pairs)
    assert inventory == Inventory(("DT", "NN"), ("np",), ("cat", "dog", "the"), (("dog", "cat"),))
    assert inventory.numbers["tags"] == {"DT": 1, "NN": 2}
    assert inventory.numbers["linked"] == {("dog", "cat"): 1}


def test_a_pair_of_words_must_be_linked_more_than_once_and_differ():
    pairs = [pair("a b", "a c", ((0, 0), (1, 1))), pair("A x", "a y", ((0, 0), (1, 1))), pair("X", "y", ((0, 0),))]
    assert Inventory.of_pairs(pairs).linked == (("x", "y"),)


def test_only_so_many_words_are_frequent():
    words = " ".join(f"w{n}" for n in range(FREQUENT_WORDS + 20))
    assert len(Inventory.of_pairs([pair(words, words)] * 3).words) == FREQUENT_WORDS


def test_nothing_is_known_of_nothing_and_json_holds_it():
    assert Inventory.of_pairs([]) == Inventory()
    inventory = Inventory(("DT",), ("np",), ("the",), (("a", "b"),))
    again = Inventory.from_columns(json.loads(json.dumps(inventory.columns())))
    assert again == inventory and again.numbers == inventory.numbers
