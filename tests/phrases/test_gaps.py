"""Verbs and particles that stand apart, joined in association matrices."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.data import Association, Sentence, SentencePair, offsets_of
from cepts.phrases.gaps import BELIEF, join_expressions
from cepts.phrases.inventory import Inventory
from cepts.phrases.wordnet import WordNet

WORDNET = WordNet.from_synsets([("verb", ["put off", "postpone"]), ("verb", ["act"])], [(0, 1, "hypernym")])
APART = Sentence(("put", "it", "off"), ("VB", "PRP", "RP"))
WORD = Sentence(("postpone", "it"), ("VB", "PRP"))


def association(matrix, source_null, target_null) -> Association:
    values = np.array(matrix, dtype=np.float32)
    lengths = [np.array([size]) for size in values.shape]
    masses = (np.array(null, dtype=np.float32) for null in (source_null, target_null))
    return Association(*lengths, offsets_of([values.size]), values.reshape(-1), *masses)


LINKED = association([[0.7, 0.1], [0.0, 1.0], [0.2, 0.2]], [0.2, 0.0, 0.6], [0.3, 0.0])


def joined(found: Association, source: Sentence, target: Sentence) -> Association:
    return join_expressions(found, [SentencePair(source, target)], Inventory(), WORDNET)


def test_the_particle_goes_where_its_verb_goes():
    found = joined(LINKED, APART, WORD)
    np.testing.assert_allclose(found[0], [[0.7, 0.1], [0.0, 1.0], [0.3 * 0.2 + 0.7, 0.3 * 0.2]], rtol=1e-6)
    np.testing.assert_allclose(found.source_null, [0.2, 0.0, 0.3 * 0.6], rtol=1e-6)
    # The particle has as much in all as before.
    assert found[0][2].sum() + found.source_null[2] == pytest.approx(1.0)
    np.testing.assert_array_equal(LINKED[0][2], np.float32([0.2, 0.2]))


def test_the_sides_can_change():
    turned = association(LINKED[0].T, LINKED.target_null, LINKED.source_null)
    found, wanted = joined(turned, WORD, APART), joined(LINKED, APART, WORD)
    np.testing.assert_array_equal(found[0], wanted[0].T)
    np.testing.assert_array_equal(found.target_null, wanted.source_null)


def test_words_that_are_left_to_null_are_linked_by_the_entry_alone():
    left = association([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [0.9, 0.0, 1.0], [0.6, 0.0])
    belief = BELIEF * 0.6
    found = joined(left, APART, WORD)
    np.testing.assert_allclose(found[0][:, 0], [belief, 0.0, belief], rtol=1e-6)
    np.testing.assert_allclose(found.source_null, [1 - belief, 0.0, 1 - belief], rtol=1e-6)
    assert found.target_null[0] == pytest.approx(1 - belief)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (Sentence(("put", "it", "off")), WORD),  # no tags
        (APART, Sentence(("act", "it"), ("VB", "PRP"))),  # related, but no synonym
        (Sentence(("put", "it", "up"), ("VB", "PRP", "RP")), WORD),  # no entry
    ],
)
def test_nothing_else_changes(source, target):
    found = joined(LINKED, source, target)
    np.testing.assert_array_equal(found.values, LINKED.values)
    np.testing.assert_array_equal(found.source_null, LINKED.source_null)


def test_a_pair_that_was_left_out_has_no_matrix():
    found = joined(association(np.empty((0, 0)), [], []), APART, WORD)
    assert len(found.values) == len(found.source_null) == 0


def test_null_masses_are_needed():
    bare = Association(LINKED.source_lengths, LINKED.target_lengths, LINKED.offsets, LINKED.values)
    with pytest.raises(ValueError, match="null probabilities of both sides"):
        joined(bare, APART, WORD)
