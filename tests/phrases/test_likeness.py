"""What tables say of two sentences' words: here verbs that stand apart from their particles."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.data import Sentence, SentencePair
from cepts.phrases.inventory import Inventory
from cepts.phrases.lexical import Lexical
from cepts.phrases.likeness import compare_words, known_phrases, look_up, mark_numbers, number_cells
from cepts.phrases.names import NameModel
from cepts.phrases.numbers import same_numbers
from cepts.phrases.paraphrases import Paraphrases, Rule
from cepts.phrases.wordnet import WordNet
from cepts.phrases.words import words_of

WORDNET = WordNet.from_synsets(
    [("verb", ["put off", "postpone"]), ("verb", ["act"]), ("verb", ["put"])], [(0, 1, "hypernym")]
)


def marks(source: str, target: str) -> dict[tuple[str, str], int]:
    """The marked cells of two sentences of word/tag, by their words."""
    sides = []
    for text in (source, target):
        words, tags = zip(*(item.split("/") for item in text.split()), strict=True)
        sides.append(Sentence(words, tags, None, words))
    first, second = words_of(SentencePair(*sides), Inventory())
    found = look_up(first, second, Lexical(WORDNET), 3, 3).expressions
    return {(first.tokens[i], second.tokens[j]): int(found[i, j]) for i, j in np.argwhere(found)}


def test_a_verb_and_its_particle_are_found_apart_and_together():
    both = {("put", "postpone"): 2, ("off", "postpone"): 4}
    assert marks("put/VB the/DT meeting/NN off/RP", "postpone/VB it/PRP") == both
    assert marks("put/VB off/RP", "postpone/VB") == both
    assert marks("postpone/VB it/PRP", "put/VB it/PRP off/IN") == {(b, a): level for (a, b), level in both.items()}


def test_a_relation_counts_less_than_a_synonym():
    assert marks("put/VB it/PRP off/RP", "act/VB") == {("put", "act"): 1, ("off", "act"): 3}


@pytest.mark.parametrize(
    "source",
    [
        "off/RP put/VB",  # in the wrong order
        "put/VB a/DT b/NN c/NN d/NN off/RP",  # too far apart
        "put/NN off/RP",  # no verb
        "put/VB off/NN",  # no particle
    ],
)
def test_other_words_are_no_expression(source):
    assert marks(source, "postpone/VB") == {}


def test_without_tags_there_are_no_expressions():
    pair = SentencePair(Sentence(("put", "off")), Sentence(("postpone",)))
    first, second = words_of(pair, Inventory())
    assert not look_up(first, second, Lexical(WORDNET), 3, 3).expressions.any()


def test_phrases_have_relations_of_their_own():
    pair = SentencePair(Sentence(("put", "off")), Sentence(("postpone",)))
    first, second = words_of(pair, Inventory())
    relations = look_up(first, second, Lexical(WORDNET), 2, 1).relations
    assert relations.shape == (2, 2, 1, 1)
    assert relations[0, 1, 0, 0] == 1
    assert relations[:, 0].sum() == 0


def test_numbers_of_one_value_are_marked_in_the_lists_and_word_for_word():
    source, target = ["i", "came", "twice", "a", "year"], ["two", "times", "the", "two", "came"]
    lists = np.zeros((5, 2, 5, 2), dtype=np.uint8)
    mark_numbers(source, target, same_numbers(source, target), lists)
    assert {tuple(place) for place in np.argwhere(lists).tolist()} == {(2, 0, 0, 1), (2, 0, 0, 0), (2, 0, 1, 0)}
    assert set(lists[lists > 0].tolist()) == {3}


def test_words_that_both_numbers_have_are_left_to_themselves():
    source, target = ["one", "hundred"], ["a", "hundred"]
    (same,) = same_numbers(source, target)
    assert number_cells(source, target, same) == [(0, 0)]


def test_numbers_need_the_paraphrase_family():
    pair = SentencePair(Sentence(("two",)), Sentence(("2",)))
    words = words_of(pair, Inventory())
    assert look_up(*words, Lexical(), 1, 1).lists.tolist() == [[[[0]]]]
    found = look_up(*words, Lexical(paraphrases=Paraphrases.from_rules()), 1, 1)
    assert found.lists.tolist() == [[[[3]]]]
    assert [one.alone for one in found.numbers] == [True]


def phrases_of(source, target, lexical):
    words = words_of(SentencePair(Sentence(tuple(source.split())), Sentence(tuple(target.split()))), Inventory())
    found = look_up(*words, lexical, 3, 3)
    match = compare_words(*words, found, Inventory()).match
    return {tuple(row) for row in known_phrases(*words, match, found).tolist()}


def test_phrases_that_a_table_knows():
    listed = Paraphrases.from_rules([Rule("a b", "c", "[NP]", (1.0,) * 8)], [("for now", "temporarily")])
    lexical = Lexical(WORDNET, listed, names=NameModel.train([("bob", "robert")], iterations=1))
    assert phrases_of("put off", "postpone put off", lexical) == {(0, 2, 0, 1)}  # not with itself
    # What has all lemmas of the other needs no table, unless the rest is a name.
    listed = Lexical(paraphrases=Paraphrases.from_rules(first=[("close up", "close"), ("york city", "york")]))
    assert phrases_of("close up", "close", listed) == phrases_of("close", "close up", listed) == set()
    assert phrases_of("York City", "York", listed) == {(0, 2, 0, 1)}
    assert phrases_of("York City", "York X City", listed) == set()
    assert phrases_of("york city", "york", listed) == set()
    assert phrases_of("temporarily x", "y for now", lexical) == {(0, 1, 1, 2)}
    assert phrases_of("NYC", "New York City", lexical) == {(0, 1, 0, 3)}
    assert phrases_of("twice", "two times", lexical) == {(0, 1, 0, 2)}
    # Rules have scores of which features are made; relations other than synonyms are not enough.
    assert phrases_of("a b", "c", lexical) == phrases_of("put off", "act", lexical) == set()
    assert phrases_of("put", "postpone", lexical) == set()
