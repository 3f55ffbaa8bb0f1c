from __future__ import annotations

import json

from cepts.data import Sentence, SentencePair
from cepts.phrases.inventory import FREQUENT_WORDS, LINKED_CATEGORIES, RATE_EDGES, Inventory, LinkedWords, chunk_type


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
    assert inventory == Inventory(("DT", "NN"), ("np",), ("cat", "dog", "the"), (LinkedWords("dog", "cat", 5, 5),))
    assert inventory.numbers["tags"] == {"DT": 1, "NN": 2}


def test_linked_words_differ_and_are_counted_once_a_pair():
    pairs = [
        pair("a b", "a c", ((0, 0), (1, 1))),
        pair("A x x", "a y", ((0, 0), (1, 1), (2, 1))),
        pair("X", "y", ((0, 0),)),
        pair("x", "y"),
    ]
    assert Inventory.of_pairs(pairs).linked == (LinkedWords("b", "c", 1, 1), LinkedWords("x", "y", 2, 3))


def test_a_training_pair_is_left_out_of_its_own_counts():
    inventory = Inventory(linked=(LinkedWords("b", "c", 1, 1), LinkedWords("x", "y", 2, 3)))
    rates = len(RATE_EDGES) + 1
    assert inventory.linked_category("b", "c") == 1 + 0 * rates + 3
    assert inventory.linked_category("b", "c", {("b", "c")}) == 0
    assert inventory.linked_category("x", "y") == 1 + 1 * rates + 3
    assert inventory.linked_category("x", "y", {("x", "y")}) == 1 + 0 * rates + 2  # 1 of 2
    assert inventory.linked_category("x", "y", set()) == 1 + 1 * rates + 3  # 2 of 2: together, but not linked
    assert inventory.linked_category("y", "x") == 0


def test_categories_are_as_many_as_there_are():
    most = max(
        Inventory(linked=(LinkedWords("a", "b", linked, together),)).linked_category("a", "b")
        for linked in range(1, 9)
        for together in range(linked, 90)
    )
    assert most == LINKED_CATEGORIES - 1


def test_only_so_many_words_are_frequent():
    words = " ".join(f"w{n}" for n in range(FREQUENT_WORDS + 20))
    assert len(Inventory.of_pairs([pair(words, words)] * 3).words) == FREQUENT_WORDS


def test_nothing_is_known_of_nothing_and_json_holds_it():
    assert Inventory.of_pairs([]) == Inventory()
    inventory = Inventory(("DT",), ("np",), ("the",), (LinkedWords("a", "b", 2, 3),))
    again = Inventory.from_columns(json.loads(json.dumps(inventory.columns())))
    assert again == inventory and again.numbers == inventory.numbers


def test_words_count_in_plain_form():
    pairs = [pair("it ’s", "it is", ((1, 1),)), *[pair("'s", "x") for _ in range(4)]]
    inventory = Inventory.of_pairs(pairs)
    assert inventory.words == ("'s",)
    assert inventory.linked == (LinkedWords("'s", "is", 1, 1),)
