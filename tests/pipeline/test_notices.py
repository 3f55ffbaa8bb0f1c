"""Lines about words that a loaded model does not know."""

from __future__ import annotations

import pytest

from cepts.data import Bitext, Text
from cepts.extract import ScorerMixture
from cepts.pipeline.inputs import BitextFiles
from cepts.pipeline.notices import note_unknown_words, unknown_notice
from cepts.pipeline.quick import align
from cepts.words import IBM1
from toy_lm import toy_model

PAIRS = [("the blue house", "la maison bleue"), ("the old car", "la vieille voiture")]


def notices(model, *pairs):
    found: list[str] = []
    note_unknown_words(("new.en", "new.fr"), model, Bitext.from_tokens(pairs), found)
    return found


@pytest.fixture(scope="module")
def model():
    return IBM1(iterations=1).fit(PAIRS)


def test_known_words_and_punctuation_give_no_notice(model):
    assert notices(model, *PAIRS) == []
    assert notices(model, ("THE blue house !! 12 99", "la maison , 33")) == []


def test_each_side_with_many_unknown_words_is_named(model):
    assert notices(model, ("un chien noir", "la maison bleue")) == [
        "new.en: the model does not know 100% of the words; check that language, domain and tokenisation are those of "
        "its training text."
    ]


def test_exchanged_sides_are_told_apart_from_unknown_words(model):
    (found,) = notices(model, *(pair[::-1] for pair in PAIRS))
    assert "exchange the two sides" in found


def test_capitals_are_named_as_the_cause():
    sensitive = IBM1(iterations=1, lowercase=False).fit(PAIRS)
    (found,) = notices(sensitive, ("The Blue house", "la maison bleue"))
    assert found == (
        "new.en: the model does not know 67% of the words, but only 0% if they are lower-cased; lower-case the text, "
        "or train a model that ignores case (`lowercase`)."
    )


def test_members_of_a_mixture_are_asked(model):
    assert len(notices(ScorerMixture([model, model]), ("un chien", "la maison"))) == 2


def test_files_and_lists_are_looked_at(tmp_path):
    (tmp_path / "a").write_text("Hello, world!\n")
    (tmp_path / "b").write_text("Bonjour le monde !\n")
    found: list[str] = []
    BitextFiles(source=tmp_path / "a", target=tmp_path / "b").read(found)
    assert len(found) == 1
    assert found[0].startswith(f"{tmp_path / 'a'}: 100% of the punctuation")
    told: list[str] = []
    align(["Hello, world!"], ["Bonjour le monde !"], model=IBM1(iterations=1), notices=told)
    assert told[0].startswith("the source: 100% of the punctuation")


def test_a_language_model_knows_the_words_of_its_vocabulary():
    model = toy_model(0)
    assert unknown_notice("talk.txt", Text.from_tokens(["w0 w1 w5"]), model.knows) is None
    found = unknown_notice("talk.txt", Text.from_tokens(["W0 W1 w5"]), model.knows)
    assert found is not None
    assert "does not know 67% of the words, but only 0% if they are lower-cased" in found
    assert "100% of the words; check" in str(unknown_notice("talk.txt", Text.from_tokens(["a b"]), model.knows))
