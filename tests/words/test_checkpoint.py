"""A training that was interrupted ends as if it had not been."""

from __future__ import annotations

import numpy as np
import pytest

from bitexts_words import TOY, bitext_of, copy_of
from cepts.errors import ModelError
from cepts.words import HMM, IBM1, MODELS, Mixed, load_aligner

every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
every_lexicon = pytest.mark.parametrize("lexicon", ["ml", "bayes", "backoff"])
BITEXT = bitext_of(TOY)
NEW = bitext_of([("das kleine Buch", "the small book"), ("ein neues Haus", "a new house"), ("x", "y")])
OPTIONS = {"iterations": 3, "tolerance": 0.0, "threads": 1}


class Interrupted(Exception):
    """Stands for Ctrl-C."""


def interrupt_in(stage, iteration):
    """A progress callback that stops the training while it is in this iteration of a stage."""

    def report(step):
        if step.stage == f"training {stage}" and step.iteration == iteration:
            raise Interrupted

    return report


def assert_same(resumed, whole):
    assert resumed.objectives_ == whole.objectives_
    for bitext in (BITEXT, copy_of(BITEXT), NEW):
        for got, want in zip(resumed.posteriors(bitext), whole.posteriors(bitext), strict=True):
            np.testing.assert_array_equal(got.values, want.values)
        np.testing.assert_array_equal(resumed.score(bitext), whole.score(bitext))
        assert [a.links for a in resumed.align(bitext)] == [a.links for a in whole.align(bitext)]


@every_model
@every_lexicon
@pytest.mark.parametrize("iteration", [1, 3])
def test_a_training_interrupted_in_its_last_stage(tmp_path, model, lexicon, iteration):
    options = {**OPTIONS, "lexicon": lexicon}
    if model is Mixed:
        options["scarce"] = 0.0  # or a text as small as this has no iterations in the last stage
    with pytest.raises(Interrupted):
        model(**options).fit(BITEXT, checkpoint=tmp_path, progress=interrupt_in(model.name, iteration))
    resumed = model(**options).fit(BITEXT, checkpoint=tmp_path)
    assert_same(resumed, model(**options).fit(BITEXT))


@every_lexicon
@pytest.mark.parametrize("iteration", [2, 4])
def test_a_training_interrupted_in_its_first_stage(tmp_path, lexicon, iteration):
    options = {**OPTIONS, "lexicon": lexicon}
    with pytest.raises(Interrupted):
        HMM(**options).fit(BITEXT, checkpoint=tmp_path, progress=interrupt_in("ibm1", iteration))
    resumed = HMM(**options).fit(BITEXT, checkpoint=tmp_path)
    assert_same(resumed, HMM(**options).fit(BITEXT))


@every_model
@every_lexicon
def test_a_finished_training_is_taken_as_it_is(tmp_path, model, lexicon):
    options = {**OPTIONS, "lexicon": lexicon}
    whole = model(**options).fit(BITEXT, checkpoint=tmp_path)
    steps = []
    resumed = model(**options).fit(BITEXT, checkpoint=tmp_path, progress=steps.append)
    assert all(step.iteration == step.resumed for step in steps if step.stage.startswith("training"))
    assert_same(resumed, whole)
    resumed.save(tmp_path / "model")
    assert_same(load_aligner(tmp_path / "model", threads=1), whole)


def test_a_training_that_stopped_early_goes_on_with_the_next_stage(tmp_path):
    # The first stage ends by its tolerance; the interruption comes in the second.
    options = {"iterations": 6, "start_iterations": 50, "tolerance": 0.05, "threads": 1}
    with pytest.raises(Interrupted):
        HMM(**options).fit(BITEXT, checkpoint=tmp_path, progress=interrupt_in("hmm", 2))
    whole = HMM(**options).fit(BITEXT)
    assert len(whole.objectives_) < 50
    assert_same(HMM(**options).fit(BITEXT, checkpoint=tmp_path), whole)


def test_a_checkpoint_of_another_text_is_refused(tmp_path):
    IBM1(**OPTIONS).fit(BITEXT, checkpoint=tmp_path)
    with pytest.raises(ModelError) as raised:
        IBM1(**{**OPTIONS, "iterations": 5}).fit(bitext_of([("a b", "c d")]), checkpoint=tmp_path)
    assert "\n" not in str(raised.value)


def test_a_checkpoint_of_another_text_of_the_same_size_is_refused(tmp_path):
    IBM1(**OPTIONS).fit(bitext_of([("a b", "c d"), ("a", "c")]), checkpoint=tmp_path)
    with pytest.raises(ModelError, match="text"):
        IBM1(**{**OPTIONS, "iterations": 5}).fit(bitext_of([("a b", "c d"), ("b", "d")]), checkpoint=tmp_path)


def test_a_checkpoint_of_another_lexicon_is_refused(tmp_path):
    IBM1(**OPTIONS).fit(BITEXT, checkpoint=tmp_path)
    with pytest.raises(ModelError) as raised:
        IBM1(**{**OPTIONS, "iterations": 5, "lexicon": "backoff"}).fit(BITEXT, checkpoint=tmp_path)
    assert "\n" not in str(raised.value)


def test_more_iterations_go_on_from_a_checkpoint(tmp_path):
    HMM(**OPTIONS).fit(BITEXT, checkpoint=tmp_path)
    more = {**OPTIONS, "iterations": 5}
    assert_same(HMM(**more).fit(BITEXT, checkpoint=tmp_path), HMM(**more).fit(BITEXT))
