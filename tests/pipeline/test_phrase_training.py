"""Training of phrase aligners from file to file."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cepts.errors import DataError, ModelError, UsageError
from cepts.io import SentencePairWriter
from cepts.names import PHRASE_FAMILIES
from cepts.phrases import PhraseAligner, TokenAligner
from cepts.pipeline.phrase_training import (
    PAPER,
    TrainingFiles,
    new_phrase_aligner,
    train_phrase_aligner,
)
from toy_paraphrases import toy_pairs

QUICK = {"language": None, "iterations": 3, "threads": 1}


@pytest.fixture
def gold(tmp_path):
    with SentencePairWriter(tmp_path / "gold.jsonl", format="json") as writer:
        writer.write(toy_pairs(10))
    return str(tmp_path / "gold.jsonl")


def test_parameters_that_are_not_given_are_those_of_the_aligner():
    assert new_phrase_aligner("phrase", {}).get_params() == PhraseAligner().get_params()
    assert new_phrase_aligner("token", {}).get_params() == TokenAligner().get_params()
    some = new_phrase_aligner("phrase", {"longest": 2, "penalty": 0.0, "language": None}, without=["name"])
    assert (some.longest, some.penalty, some.language) == (2, 0.0, None)
    assert some.families_ == tuple(name for name in PHRASE_FAMILIES if name != "name")


def test_the_papers_parameters_give_way_to_what_is_given():
    paper = new_phrase_aligner("phrase", {"penalty": 2.0}, paper=True)
    assert {name: getattr(paper, name) for name in PAPER} == {**PAPER, "penalty": 2.0}
    assert "lexical" not in paper.families_
    some = new_phrase_aligner("phrase", {"families": ["lexical", "string"]}, paper=True)
    assert some.families_ == ("string", "lexical")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"model": "tokens"}, "`model` must be one of phrase, token"),
        ({"model": "token", "widest": 2}, "`widest` goes with `model` phrase"),
        ({"cost": "none", "missed_cost": 1.0}, "go with a cost"),
        ({"families": ["pos"], "without": ["pos"]}, "`families` pos and `without` pos contradict"),
        ({"without": PHRASE_FAMILIES}, "`without` leaves no family"),
        ({"penalty": -1.0}, "`penalty` must be 0 or more"),
    ],
)
def test_parameters_that_do_not_go_together(parameters, message):
    model, without = parameters.pop("model", "phrase"), parameters.pop("without", ())
    with pytest.raises(UsageError, match=message):
        new_phrase_aligner(model, parameters, without=without)


def test_what_is_kept_is_what_is_trained(gold, tmp_path):
    aligner = PhraseAligner(**QUICK)
    report = train_phrase_aligner(aligner, TrainingFiles(pairs=[gold], dev=gold), tmp_path / "model")
    want = PhraseAligner(**QUICK).fit(toy_pairs(10))
    kept = PhraseAligner.load(tmp_path / "model")
    np.testing.assert_array_equal(kept.weights_, want.weights_.astype(np.float32))
    np.testing.assert_array_equal(aligner.weights_, want.weights_)
    links = sum(len(pair.sure) for pair in toy_pairs(10))
    counts = {name: report.values[name] for name in ("pairs", "used", "links", "synthesised")}
    assert counts == {"pairs": 10, "used": 10, "links": links, "synthesised": 0}
    assert report.values["forward"]["objective"] == want.objectives_[0][-1]
    assert report.values["reverse"]["weights"] == want.weights_.shape[1]
    assert f"{100 * report.values['dev']['all']['f1']:.2f}" == report.shown[-1].rows[0][3]
    assert report.said[0].startswith(f"trained  on 10 pairs with {links} links, in ")
    assert report.said[1] == "columns  lemma"
    assert float(report.shown[-1].rows[0][3]) > 50


def test_a_wrong_place_is_found_before_anything_is_read(tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(ModelError, match="notes"):
        train_phrase_aligner(PhraseAligner(**QUICK), TrainingFiles(pairs=["nowhere"]), tmp_path)


def test_files_that_cannot_be_learnt_from(tmp_path):
    with pytest.raises(UsageError, match="`gold_links` goes with one file of pairs, or with two"):
        TrainingFiles(pairs=["a", "b", "c"], gold_links="d")
    (tmp_path / "plain.jsonl").write_text(json.dumps({"source": "a", "target": "a"}) + "\n")
    with pytest.raises(DataError, match=r"plain\.jsonl, pair 1: found no gold links"):
        TrainingFiles(pairs=[str(tmp_path / "plain.jsonl")]).read_pairs()
    with pytest.raises(DataError, match=r"a\.conllu: text and CoNLL-U have no gold links"):
        TrainingFiles(pairs=["a.conllu"]).read_pairs()
