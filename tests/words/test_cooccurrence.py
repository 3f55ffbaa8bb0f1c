from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import oracles_association as oracles
from bitexts_words import TOY, bitext_of, bitexts, sentence_pairs
from cepts.data import Bitext
from cepts.errors import UsageError
from cepts.names import STATISTICS
from cepts.words import HMM, load_aligner
from cepts.words.cooccurrence import Cooccurrence


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
        ours = aligner.cooccurrence().association(bitext, name)
        theirs = Cooccurrence(threads=1).fit(bitext).association(bitext, name)
        np.testing.assert_array_equal(ours.values, theirs.values)
        np.testing.assert_array_equal(ours.offsets, theirs.offsets)


def test_misuse_is_one_clear_line(tmp_path):
    bitext = bitext_of(TOY)
    with pytest.raises(UsageError, match=r"one of counts, dice, pmi, llr\. Got 'chi'"):
        Cooccurrence().fit(bitext).association(bitext, "chi")
    aligner = HMM(threads=1, iterations=1).fit(bitext)
    aligner.save(tmp_path / "model")
    with pytest.raises(UsageError, match="a loaded model does not have"):
        load_aligner(tmp_path / "model").cooccurrence()
    with pytest.raises(UsageError, match="`max_length` must be 1 or more"):
        Cooccurrence(max_length=0)


def test_no_pairs_at_all():
    nothing = Bitext.from_tokens([])
    assert len(Cooccurrence(threads=1).fit(nothing).association(nothing, "pmi")) == 0
