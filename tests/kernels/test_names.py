from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lexical as oracles
from cepts.kernels.names import name_expected_counts, name_log_probabilities, nickname_pairs, pair_code

NAMES = st.text("abß'", max_size=3)


def random_parameters(seed):
    random = np.random.default_rng(seed)
    return [random.dirichlet(np.ones(n), size=m) for m, n in ((5, 4), (5, 2), (27, 27))] + [
        random.dirichlet(np.ones(27))
    ]


def flat(names):
    offsets = np.cumsum([0, *map(len, names)])
    return np.array([ord(c) for name in names for c in name], dtype=np.uint32), offsets


@settings(deadline=None)
@given(st.lists(st.tuples(NAMES, NAMES), max_size=3), st.integers(0, 99))
def test_expected_counts_equal_enumeration(pairs, seed):
    parameters = random_parameters(seed)
    counts = [np.zeros_like(each) for each in parameters]
    work = [np.full((5, 5, 5), np.nan) for _ in range(2)]
    sides = (*flat([a for a, _ in pairs]), *flat([b for _, b in pairs]))
    likelihood = name_expected_counts(*sides, *parameters, *work, *counts)
    wanted = [oracles.edit_counts(a, b, *parameters) for a, b in pairs]
    np.testing.assert_allclose(likelihood, sum(np.log(total) for total, _ in wanted), rtol=1e-10, atol=1e-12)
    for number, got in enumerate(counts):
        want = sum((found[number] for _, found in wanted), np.zeros_like(got))
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@settings(deadline=None)
@given(st.lists(NAMES, max_size=3), st.lists(NAMES, max_size=3), st.integers(0, 99))
def test_probabilities_equal_enumeration(source, target, seed):
    parameters = random_parameters(seed)
    random = np.random.default_rng(seed)
    which, others = random.random(len(source)) < 0.7, random.random(len(target)) < 0.7
    out = np.zeros((len(source), len(target)))
    name_log_probabilities(*flat(source), *flat(target), which, others, *parameters, np.empty((4, 4, 5)), out)
    for i, a in enumerate(source):
        for j, b in enumerate(target):
            want = 0.0
            if which[i] and others[j]:
                want = np.log(oracles.edit_counts(a, b, *parameters)[0])
            np.testing.assert_allclose(out[i, j], want, rtol=1e-10)


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
    out = np.zeros((1, len(names)))
    which = np.ones(1, dtype=np.bool_), np.ones(len(names), dtype=np.bool_)
    name_log_probabilities(*flat(["ab"]), *flat(names), *which, *parameters, np.empty((3, 12, 5)), out)
    np.testing.assert_allclose(np.exp(out).sum(), 1.0, atol=1e-4)


CODES = st.lists(st.integers(0, 2**64 - 1), max_size=5)


@settings(deadline=None)
@given(CODES, CODES, st.data())
def test_pairs_are_found_either_way_round(source, target, data):
    every = [(a, b) for a in source for b in target]
    listed = data.draw(st.lists(st.sampled_from(every), max_size=4)) if every else []
    known = np.unique(np.array([pair_code(np.uint64(b), np.uint64(a)) for a, b in listed], dtype=np.uint64))
    out = np.empty((len(source), len(target)), dtype=np.bool_)
    nickname_pairs(np.array(source, dtype=np.uint64), np.array(target, dtype=np.uint64), known, out)
    for i, a in enumerate(source):
        for j, b in enumerate(target):
            assert out[i, j] == ((a, b) in listed or (b, a) in listed)
