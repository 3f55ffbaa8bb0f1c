from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lexical as oracles
from cepts.kernels.wordnet import RELATIONS
from cepts.phrases.wordnet import LEXICAL_ROLES, PARTS, SYNSET_ROLES, WordNet

WORDS = st.sampled_from(["a", "b", "C", "d", "two_words", "one two_words more"])
SYNSETS = st.lists(st.tuples(st.sampled_from(PARTS), st.lists(WORDS, max_size=3)), min_size=1, max_size=8)


@st.composite
def wordnets(draw):
    synsets = draw(SYNSETS)
    numbers = st.integers(0, len(synsets) - 1)
    pointers = draw(st.lists(st.tuples(numbers, numbers, st.sampled_from(SYNSET_ROLES)), max_size=12))
    lexical = draw(st.lists(st.tuples(WORDS, WORDS, st.sampled_from(LEXICAL_ROLES)), max_size=4))
    return synsets, pointers, lexical


@settings(deadline=None, max_examples=300)
@given(
    wordnets(),
    st.lists(st.tuples(st.sampled_from("abCDx"), st.integers(0, 15)), max_size=4),
    st.lists(st.tuples(st.sampled_from("abcdx"), st.integers(0, 15)), max_size=4),
)
def test_relations_are_those_of_the_definitions(wordnet, source, target):
    table = WordNet.from_synsets(*wordnet)
    numbers = [table.numbers([word for word, _ in side]) for side in (source, target)]
    masks = [np.array([mask for _, mask in side], dtype=np.uint8) for side in (source, target)]

    def names(found):
        return {name for bit, name in enumerate(RELATIONS) if found >> bit & 1}

    def parts(mask):
        return {part for bit, part in enumerate(PARTS) if mask >> bit & 1}

    all_senses, some = table.relations(*numbers), table.relations(*numbers, *masks)
    assert all_senses.shape == some.shape == (len(source), len(target))
    for i, (one, mask) in enumerate(source):
        for j, (other, other_mask) in enumerate(target):
            assert names(all_senses[i, j]) == oracles.relations(*wordnet, one, other, PARTS, PARTS)
            want = oracles.relations(*wordnet, one, other, parts(mask), parts(other_mask))
            assert names(some[i, j]) == want


def test_more_entries_than_there_was_room_for():
    synsets = [("noun", ["thing"])] * 3000 + [("noun", ["thing", "object"])]
    table = WordNet.from_synsets(synsets)
    assert table.relations(table.numbers(["thing"]), table.numbers(["object"])).tolist() == [[1]]
