"""A loaded aligner is the one that was saved."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitexts_words import TOY, WORDS_WITH_STEMS, bitext_of, bitexts, copy_of, results
from cepts.errors import ModelError, UsageError
from cepts.store import save_model
from cepts.words import HMM, IBM1, MODELS, Aligner, load_aligner

every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
every_lexicon = pytest.mark.parametrize("lexicon", ["ml", "bayes", "backoff"])
NEW = bitext_of(
    [
        ("das kleine Buch", "the small book"),
        ("ein neues Haus in Zürich", "a new house in Zürich"),
        ("", "x"),
        ("Hausboot", "houseboat"),
        ("das " * 30, "the " * 25),
    ]
)


def assert_same(loaded, fitted, bitexts):
    for bitext in bitexts:
        for got, want in zip(results(loaded, bitext), results(fitted, bitext), strict=True):
            np.testing.assert_array_equal(got, want)


@every_model
@every_lexicon
@pytest.mark.parametrize("agreement", [False, True])
def test_a_loaded_aligner_gives_the_same_bytes(tmp_path, model, lexicon, agreement):
    bitext = bitext_of([*TOY, ("", "a"), *TOY])
    fitted = model(lexicon=lexicon, agreement=agreement, threads=1).fit(bitext)
    before = results(fitted, bitext)
    fitted.save(tmp_path / "model")
    loaded = load_aligner(tmp_path / "model", threads=1)
    assert type(loaded) is model
    for got, want in zip(results(loaded, bitext), before, strict=True):
        np.testing.assert_array_equal(got, want)
    assert_same(loaded, fitted, [bitext, copy_of(bitext), NEW])


@every_lexicon
@settings(deadline=None, max_examples=15)
@given(
    bitext=bitexts(words=WORDS_WITH_STEMS, max_pairs=6, max_length=5),
    new=bitexts(words=(*WORDS_WITH_STEMS, "parliamentary", "houses", "x"), max_length=4),
    iterations=st.integers(1, 6),
    stems=st.sampled_from([(), (4,), (6, 4)]),
    spelling=st.sampled_from([0.0, 0.1, 1.0]),
    lowercase=st.booleans(),
    prefix=st.sampled_from([None, 5]),
)
def test_any_saved_aligner_is_loaded_alike(tmp_path_factory, lexicon, bitext, new, **options):
    """Cells without counts are left out of a saved model: nobody may see that."""
    fitted = HMM(lexicon=lexicon, threads=1, tolerance=0.0, **options).fit(bitext)
    directory = tmp_path_factory.mktemp("saved") / "model"
    fitted.save(directory)
    assert_same(load_aligner(directory, threads=1), fitted, [bitext, new])


def test_a_loaded_aligner_has_the_options_and_objectives_of_the_saved_one(tmp_path):
    options = {"iterations": 2, "null_prob": 0.2, "lowercase": False, "prefix": 7, "stems": (5, 3), "max_length": 9}
    fitted = HMM(**options).fit(bitext_of(TOY))
    fitted.save(tmp_path)
    loaded = HMM.load(tmp_path, threads=2)
    assert loaded.get_params() == {**fitted.get_params(), "threads": 2}
    assert loaded.objectives_ == fitted.objectives_
    assert loaded.threads == 2


def test_a_saved_aligner_can_be_saved_again(tmp_path):
    fitted = HMM(threads=1).fit(bitext_of(TOY))
    fitted.save(tmp_path / "first")
    load_aligner(tmp_path / "first").save(tmp_path / "second")
    assert_same(load_aligner(tmp_path / "second", threads=1), fitted, [bitext_of(TOY), NEW])


def test_using_an_aligner_does_not_change_what_is_saved(tmp_path):
    fitted = HMM(threads=1).fit(bitext_of(TOY))
    want = results(fitted, bitext_of(TOY))
    fitted.align(bitext_of([("das " * 100, "the " * 100)]))
    fitted.save(tmp_path)
    for got, wanted in zip(results(load_aligner(tmp_path), bitext_of(TOY)), want, strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("lines", [[("", "")], [("a", "b")], [("a b", "")]], ids=["empty", "one pair", "one side"])
@every_model
@every_lexicon
def test_aligners_of_hardly_any_text(tmp_path, model, lexicon, lines):
    fitted = model(lexicon=lexicon, threads=1).fit(bitext_of(lines))
    fitted.save(tmp_path)
    assert_same(load_aligner(tmp_path, threads=1), fitted, [bitext_of(lines), NEW])


@every_model
@every_lexicon
def test_an_aligner_of_model_1_iterations_alone(tmp_path, model, lexicon):
    """Its positions are those it began with."""
    iterations = {"iterations": 1} if model is IBM1 else {"iterations": 0, "start_iterations": 1}
    fitted = model(lexicon=lexicon, **iterations, threads=1).fit(bitext_of(TOY))
    fitted.save(tmp_path)
    assert_same(load_aligner(tmp_path, threads=1), fitted, [bitext_of(TOY), NEW])


def test_load_checks_the_class(tmp_path):
    IBM1(iterations=1).fit(bitext_of(TOY)).save(tmp_path)
    assert isinstance(Aligner.load(tmp_path), IBM1)
    with pytest.raises(ModelError, match="ibm1"):
        HMM.load(tmp_path)


def test_an_untrained_aligner_cannot_be_saved(tmp_path):
    with pytest.raises(UsageError, match="not trained"):
        HMM().save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_another_kind_of_model_is_refused(tmp_path):
    save_model(tmp_path, kind="spaces", settings={}, arrays={"x": np.zeros(1)})
    with pytest.raises(ModelError) as raised:
        load_aligner(tmp_path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("settings", [{}, {"model": "ibm9", "options": {}}, {"model": "hmm", "options": {"x": 1}}])
def test_a_whole_directory_without_an_aligner_is_refused_in_one_line(tmp_path, settings):
    save_model(tmp_path, kind="words", settings=settings, arrays={"x": np.zeros(1)})
    with pytest.raises(ModelError, match=str(tmp_path)) as raised:
        load_aligner(tmp_path)
    assert "\n" not in str(raised.value)
