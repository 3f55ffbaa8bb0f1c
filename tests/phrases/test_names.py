from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import oracles_lexical as oracles
from cepts.errors import DataError, ModelError
from cepts.phrases.names import LONGEST, NameModel, _Training

PAIRS = [("William", "Will"), ("William", "Bill"), ("Robert", "Rob"), ("Robert", "Bob"), ("Abigail", "Abby")]
SMALL = NameModel.train(PAIRS, iterations=5)


def test_em_never_lowers_the_objective():
    steps = []
    NameModel.train(PAIRS, iterations=12, progress=steps.append)
    objectives = [step.objective for step in steps if step.done == 1000 * step.iteration]
    assert len(objectives) == 12
    assert np.diff(objectives).min() >= -1e-9
    assert objectives[-1] > objectives[0] + 10


def test_one_iteration_shares_out_the_expected_counts():
    one = NameModel.train([("ab", "b")], iterations=1, prior=0.25)
    start = _Training([("ab", "b")], 0.25)
    parameters = (start.steps, start.ends, start.changes, start.inserts)
    pairs = [("ab", "b"), ("b", "ab"), ("ab", "ab"), ("b", "b")]
    found = [oracles.edit_counts(a, b, *parameters)[1] for a, b in pairs]
    for number, name in enumerate(("steps", "ends", "changes", "inserts")):
        counts = sum(each[number] for each in found) + 0.25
        counts[parameters[number] == 0] = 0
        want = counts / counts.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(getattr(one, name), want, rtol=1e-10)


def test_training_learns_what_it_sees():
    parameters = (SMALL.steps, SMALL.ends, SMALL.changes, SMALL.inserts)
    for each in (*parameters, SMALL.spelling):
        np.testing.assert_allclose(each.sum(axis=-1), 1, rtol=1e-12)
    assert (np.diag(SMALL.changes)[:-1] == 0).all()
    assert SMALL.changes[ord("w") - 97].argmax() == ord("b") - 97
    got = SMALL.log_probabilities(["Rob"], ["Bob"])[0, 0]
    np.testing.assert_allclose(got, np.log(oracles.edit_counts("rob", "bob", *parameters)[0]), rtol=1e-10)


def test_a_score_is_the_share_that_is_saved():
    scores = SMALL.scores(["Rob", "Mary"], ["bob", "xyzzy"])
    scratch = sum(np.log(SMALL.spelling[ord(c) - 97]) for c in "bob") + np.log(SMALL.spelling[-1])
    want = 1 - SMALL.log_probabilities(["Rob"], ["bob"])[0, 0] / scratch
    np.testing.assert_allclose(scores[0, 0], want, rtol=1e-6)
    assert scores.dtype == np.float32
    assert scores.min() == 0 and scores.max() <= 1


@pytest.mark.parametrize(("source", "target"), [([], ["Bill"]), (["Bill"], []), ([], [])])
def test_empty_sentences(source, target):
    assert SMALL.scores(source, target).shape == (len(source), len(target))
    assert SMALL.nicknames(source, target).shape == (len(source), len(target))


def test_long_names_accents_and_other_scripts():
    names = ["x" * (LONGEST + 30), "José", "jose", "Путин", "", "\udc80"]
    scores = SMALL.scores(names, names)
    assert np.isfinite(scores).all()
    assert scores[1, 2] == scores[2, 1] == scores[1, 1] > 0.5
    assert scores[3, 3] > 0.5 > scores[3, 2]


def test_nicknames_are_found_either_way_round():
    found = SMALL.nicknames(["BILL", "Bob", "x"], ["William", "bob", "Robert"])
    assert found.tolist() == [[True, False, False], [False, False, True], [False, False, False]]


def test_nothing_to_train_on():
    with pytest.raises(ValueError, match="at least one pair"):
        NameModel.train([])


def test_what_is_saved_answers_alike(tmp_path):
    path = tmp_path / "names.safetensors"
    SMALL.save(path)
    again = NameModel.load(path)
    names = ["Bill", "Billy", "Bob"]
    np.testing.assert_array_equal(again.scores(names, names), SMALL.scores(names, names))
    np.testing.assert_array_equal(again.nicknames(names, ["William"]), SMALL.nicknames(names, ["William"]))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ModelError, match=r"damaged.*make_names"):
        NameModel.load(path)


def test_the_english_model_ranks_the_names_of_the_paper():
    """The example of section 3.3 of semicrf, in its order."""
    english = NameModel.load()
    same, billy, william, mary = english.scores(["Bill"], ["Bill", "Billy", "William", "Mary"])[0]
    assert same > billy > william > mary
    assert english.nicknames(["Bill"], ["William", "Mary"]).tolist() == [[True, False]]


def test_the_list_of_nicknames_is_read(tmp_path):
    read = runpy.run_path(str(Path(__file__).parents[2] / "resources" / "make_names.py"))["read_pairs"]
    path = tmp_path / "names.csv"
    path.write_text("name1,relationship,name2\naaron,has_nickname, ron \n")
    assert read(path) == [("aaron", "ron")]
    path.write_text("name1,relationship,name2\naaron,has_nickname\n")
    with pytest.raises(DataError, match=r"names\.csv, line 2: wanted name1,relationship,name2"):
        read(path)
    with pytest.raises(DataError, match="say with --data"):
        read(tmp_path / "missing.csv")
