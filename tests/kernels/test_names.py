from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lexical as oracles
from cepts.kernels.names import EditTables, fill_forward, name_expected_counts
from cepts.phrases.names import NameModel

NAMES = st.text("abß'", max_size=3)


def random_parameters(seed):
    random = np.random.default_rng(seed)
    return [random.dirichlet(np.ones(n), size=m) for m, n in ((5, 4), (5, 2), (27, 27))] + [
        random.dirichlet(np.ones(27))
    ]


def flat(names):
    offsets = np.cumsum([0, *map(len, names)])
    return np.concatenate([codes(name) for name in ["", *names]]), offsets


def codes(name):
    return np.array([ord(c) * 32 + (ord(c) - 97 if "a" <= c <= "z" else 26) for c in name], dtype=np.int64)


@settings(deadline=None)
@given(st.lists(st.tuples(NAMES, NAMES), max_size=3), st.integers(0, 99))
def test_expected_counts_equal_enumeration(pairs, seed):
    parameters = random_parameters(seed)
    counts = [np.zeros_like(each) for each in parameters]
    work = [np.full((5, 5, 5), np.nan) for _ in range(2)]
    sides = (*flat([a for a, _ in pairs]), *flat([b for _, b in pairs]))
    likelihood = name_expected_counts(*sides, EditTables(*parameters), *work, EditTables(*counts))
    wanted = [oracles.edit_counts(a, b, *parameters) for a, b in pairs]
    np.testing.assert_allclose(likelihood, sum(np.log(total) for total, _ in wanted), rtol=1e-10, atol=1e-12)
    for number, got in enumerate(counts):
        want = sum((found[number] for _, found in wanted), np.zeros_like(got))
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@settings(deadline=None)
@given(NAMES, NAMES, st.integers(0, 99))
def test_probabilities_equal_enumeration(source, target, seed):
    parameters = random_parameters(seed)
    found = fill_forward(codes(source), codes(target), *parameters, np.empty((4, 4, 5)))
    np.testing.assert_allclose(found, oracles.edit_counts(source, target, *parameters)[0], rtol=1e-10)


def test_probabilities_of_all_names_sum_to_one():
    """Over the letters alone: what insertions and changes may write is a and b."""
    parameters = random_parameters(5)
    letters = [0, 1]
    for number in (2, 3):
        kept = np.zeros_like(parameters[number])
        kept[..., letters] = parameters[number][..., letters]
        parameters[number] = kept
    changes = np.zeros((27, 27))
    changes[0, 1] = changes[1, 0] = 1.0
    parameters[2] = changes
    parameters[3] /= parameters[3].sum()
    parameters[0] = parameters[0] * [1, 1, 0.2, 1]
    parameters[0] /= parameters[0].sum(axis=1, keepdims=True)
    parameters[1] = np.tile([0.15, 0.85], (5, 1))
    names = [""]
    shorter = names
    for _ in range(11):
        shorter = [name + letter for name in shorter for letter in "ab"]
        names += shorter
    room = np.empty((3, 12, 5))
    total = sum(fill_forward(codes("ab"), codes(name), *parameters, room) for name in names)
    np.testing.assert_allclose(total, 1.0, atol=1e-4)


WORDS = st.lists(st.text("abÄ", min_size=1, max_size=2), max_size=4)


@settings(deadline=None, max_examples=30)
@given(WORDS, WORDS, st.data())
def test_pairs_are_found_either_way_round(source, target, data):
    every = [(a, b) for a in source for b in target]
    listed = data.draw(st.lists(st.sampled_from([*every, ("a", "b")]), min_size=1, max_size=4))
    found = NameModel.train(listed, iterations=1).nicknames(source, target)
    known = {(a.lower(), b.lower()) for a, b in listed}
    for i, a in enumerate(source):
        for j, b in enumerate(target):
            assert found[i, j] == bool({(a.lower(), b.lower()), (b.lower(), a.lower())} & known)
