from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_association as oracles
from bitexts_words import TOY, bitext_of, bitexts, sentence_pairs
from cepts.data import Association, Bitext, offsets_of
from cepts.errors import UsageError
from cepts.words import HMM, load_aligner
from cepts.words.cooccurrence import STATISTICS, Cooccurrence, compete


@pytest.mark.parametrize("name", STATISTICS)
@settings(deadline=None, max_examples=50)
@given(bitexts(max_pairs=6), bitexts(words=("a", "b", "zzz"), max_pairs=3))
def test_statistics_equal_their_definitions(name, bitext, new):
    found = Cooccurrence(threads=1).fit(bitext)
    for text in (bitext, new):
        association = found.association(text, name)
        assert len(association) == len(text)
        for matrix, (source, target) in zip(association, sentence_pairs(text), strict=True):
            if not (source and target):
                assert matrix.shape == (0, 0)
                continue
            wanted = [[oracles.statistic(sentence_pairs(bitext), s, t, name) for t in target] for s in source]
            np.testing.assert_allclose(matrix, wanted, rtol=1e-5, atol=1e-6)


def test_llr_of_a_table_from_the_literature():
    """A table of 110, 2442, 111 and 29114, whose log-likelihood ratio Dunning (1993) gives as 270.72."""
    lines = [("a b", "x y")] * 110 + [("a", "z")] * 2442 + [("z", "x")] * 111 + [("z", "z")] * 29114
    found = Cooccurrence(threads=1).fit(bitext_of(lines))
    value = found.association(bitext_of([("a", "x")]), "llr").values[0]
    assert value == pytest.approx(270.72, abs=0.005)


def test_a_pair_of_words_counts_once_a_sentence_pair_and_every_sentence_pair_counts():
    bitext = bitext_of([("a a b", "x x"), ("a a b", "x x"), ("a", "y")])
    found = Cooccurrence(threads=1).fit(bitext)
    np.testing.assert_array_equal(found.association(bitext, "counts")[0], np.full((3, 2), 2))
    assert found.association(bitext, "counts")[2] == 1
    assert found.pairs_ == 3


def test_case_prefix_and_length_are_the_callers():
    bitext = bitext_of([("Haus", "house"), ("haus", "houses"), ("a b c", "x")])
    new = bitext_of([("HAUS", "housing"), ("a b c", "x")])
    found = Cooccurrence(prefix=4, max_length=2, threads=1).fit(bitext)
    association = found.association(new, "counts")
    assert [matrix.tolist() for matrix in association] == [[[2.0]], []]
    assert Cooccurrence(lowercase=False, threads=1).fit(bitext).association(new, "counts").values[0] == 0


def test_the_index_of_training_gives_the_same_statistics():
    bitext = bitext_of([*TOY, *TOY[:3], ("", "x"), ("y", "")])
    aligner = HMM(threads=1).fit(bitext)
    for name in STATISTICS:
        ours = Cooccurrence.of(aligner).association(bitext, name)
        theirs = Cooccurrence(threads=1).fit(bitext).association(bitext, name)
        np.testing.assert_array_equal(ours.values, theirs.values)
        np.testing.assert_array_equal(ours.offsets, theirs.offsets)


@pytest.mark.parametrize("threads", [1, 3])
def test_runs_and_threads_change_nothing(threads, monkeypatch):
    from cepts.words import cooccurrence as module
    from cepts.words.index import cut

    bitext = bitext_of(TOY)
    whole = Cooccurrence(threads=1).fit(bitext).association(bitext, "llr")
    monkeypatch.setattr(module, "cut", lambda pairs, *_, **__: cut(pairs, 8))
    steps = []
    parts = list(Cooccurrence(threads=threads).fit(bitext).blocks(bitext, "llr", progress=steps.append))
    assert len(parts) > 1
    np.testing.assert_array_equal(np.concatenate([part.values for part in parts]), whole.values)
    assert [(step.done, step.total) for step in steps] == [(n + 1, len(parts)) for n in range(len(parts))]


def association_of(matrices):
    rows, columns = (np.array([matrix.shape[axis] for matrix in matrices], dtype=np.int64) for axis in (0, 1))
    values = [matrix.ravel() for matrix in matrices]
    return Association(rows, columns, offsets_of(rows * columns), np.concatenate(values).astype(np.float32))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=3), st.integers(0, 99))
def test_competing_values_are_the_mean_of_their_shares(shapes, seed):
    random = np.random.default_rng(seed)
    matrices = [(random.uniform(0, 9, shape) * (random.random(shape) < 0.7)).astype(np.float32) for shape in shapes]
    for got, matrix in zip(compete(association_of(matrices)), matrices, strict=True):
        np.testing.assert_allclose(got, oracles.shares(matrix.astype(float)), rtol=1e-5)


def test_the_largest_and_smallest_values_compete_without_harm():
    limits = np.finfo(np.float32)
    for value in (limits.max, limits.smallest_subnormal):
        matrix = np.full((2, 2), value, dtype=np.float32)
        np.testing.assert_allclose(compete(association_of([matrix]))[0], 0.5, rtol=1e-3)


def test_competing_takes_the_edge_off_common_words():
    bitext = bitext_of([("le chat", "the cat"), ("le chien", "the dog"), ("le", "the"), ("le", "a the")])
    found = Cooccurrence(threads=1).fit(bitext)
    plain, competing = (found.association(bitext, "counts", competing=on)[0] for on in (False, True))
    assert plain[1].tolist() == [1, 1]
    assert competing[1, 1] > competing[1, 0]


def test_misuse_is_one_clear_line(tmp_path):
    bitext = bitext_of(TOY)
    with pytest.raises(UsageError, match=r"one of counts, dice, pmi, llr\. Got 'chi'"):
        next(Cooccurrence().fit(bitext).blocks(bitext, "chi"))
    with pytest.raises(UsageError, match="call fit"):
        next(Cooccurrence().blocks(bitext, "dice"))
    with pytest.raises(UsageError, match="max_length must be 1 or more"):
        Cooccurrence(max_length=0)
    aligner = HMM(threads=1).fit(bitext)
    aligner.save(tmp_path / "model")
    with pytest.raises(UsageError, match="a loaded model does not hold"):
        Cooccurrence.of(load_aligner(tmp_path / "model"))
    null = np.zeros(1, dtype=np.float32)
    with pytest.raises(ValueError, match="without null"):
        compete(Association(np.array([1]), np.array([1]), offsets_of([1]), null, source_null=null))


def test_no_pairs_at_all():
    nothing = Bitext.from_tokens([])
    assert len(Cooccurrence(threads=1).fit(nothing).association(nothing, "pmi")) == 0
