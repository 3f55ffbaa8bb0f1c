"""Model directories of phrase aligners."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.data import Vectors
from cepts.errors import ModelError, UsageError
from cepts.phrases import languages
from cepts.phrases.aligner import PhraseAligner, TokenAligner
from cepts.phrases.annotate import Annotator
from cepts.phrases.lexical import Lexical
from cepts.phrases.paraphrases import Paraphrases, Rule
from cepts.phrases.persist import KIND, own_tables
from cepts.phrases.relatedness import Relatedness
from cepts.store import load_model, save_model
from toy_paraphrases import PHRASE, toy_pairs

TEST = toy_pairs(20, seed=1)
RELATED = Relatedness.from_vectors(
    Vectors.from_words([f"{c}{n}" for n in range(12) for c in "wv"], np.repeat(np.eye(12), 2, axis=0))
)


def trained(kind=PhraseAligner, **options):
    sizes = {} if kind is TokenAligner else {"longest": 2, "widest": 2}
    given = {"language": None, "lexical": PHRASE, "iterations": 10, "threads": 1, **sizes, **options}
    return kind(**given).fit(toy_pairs(30))


@pytest.fixture(scope="module")
def aligner():
    return trained()


def contents(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def same_alignments(one, other):
    for a, b in zip(one.posteriors(TEST), other.posteriors(TEST), strict=True):
        np.testing.assert_array_equal(a.values, b.values)
    assert [found.links for found in one.align(TEST)] == [found.links for found in other.align(TEST)]
    assert one.align(TEST).segments.scores.tolist() == other.align(TEST).segments.scores.tolist()


@pytest.mark.parametrize("kind", [PhraseAligner, TokenAligner])
def test_what_is_saved_aligns_alike(tmp_path, kind):
    first = trained(kind)
    first.save(tmp_path / "one")
    second = PhraseAligner.load(tmp_path / "one", threads=1)
    assert type(second) is kind and second.options() == first.options()
    assert second.columns_ == first.columns_ and second.inventory_ == first.inventory_
    assert second.layout_ == first.layout_
    # Weights are kept as float32.
    np.testing.assert_allclose(second.weights_, first.weights_, rtol=1e-6, atol=1e-12)
    for a, b in zip(first.posteriors(TEST), second.posteriors(TEST), strict=True):
        np.testing.assert_allclose(a.values, b.values, atol=1e-4)
    second.save(tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    same_alignments(second, PhraseAligner.load(tmp_path / "two", threads=1))


def test_tables_of_the_user_are_kept_with_the_model(tmp_path):
    given = Lexical(
        paraphrases=Paraphrases.from_rules([Rule("give up", "quit", "[VP]", (1.0,) * 8)], [("w1", "w2")]),
        relatedness=RELATED,
    )
    first = trained(lexical=given)
    assert own_tables(first.lexical_, first.language) == ["paraphrases", "relatedness"]
    first.save(tmp_path / "model")
    again = PhraseAligner.load(tmp_path / "model", threads=1)
    for name in ("codes", "offsets", "others", "marks", "rule_entries", "rule_rows", "rule_scores"):
        np.testing.assert_array_equal(
            getattr(again.lexical_.paraphrases, name), getattr(given.paraphrases, name), err_msg=name
        )
    np.testing.assert_array_equal(again.lexical_.relatedness.codes, RELATED.codes)
    np.testing.assert_array_equal(again.lexical_.relatedness.matrix, RELATED.matrix)
    assert again.lexical_.wordnet is None and again.lexical_.names is None
    again.save(tmp_path / "again")
    assert contents(tmp_path / "model") == contents(tmp_path / "again")
    same_alignments(again, PhraseAligner.load(tmp_path / "again", threads=1))


@pytest.fixture
def small_english(monkeypatch):
    """English with two small tables, and nothing that annotates."""
    tables = Lexical(paraphrases=PHRASE.paraphrases, relatedness=RELATED)
    monkeypatch.setattr(languages, "english_lexical", lambda: tables)
    monkeypatch.setattr(languages, "english_annotator", Annotator)
    return tables


def test_tables_of_the_language_are_not_kept(tmp_path, small_english):
    first = trained(language="english", lexical=None)
    assert first.lexical is None and own_tables(first.lexical_, "english") == []
    first.save(tmp_path / "model")
    assert not [name for name in load_model(tmp_path / "model").arrays if name != "weights"]
    assert PhraseAligner.load(tmp_path / "model").lexical_ == small_english


def test_a_table_of_the_user_in_place_of_the_language_s(tmp_path, small_english):
    own = Lexical(paraphrases=Paraphrases.from_rules([], [("w1", "w2")]), relatedness=small_english.relatedness)
    trained(language="english", lexical=own).save(tmp_path / "model")
    again = PhraseAligner.load(tmp_path / "model")
    assert len(again.lexical_.paraphrases) == 1 and len(again.lexical_.paraphrases.rule_entries) == 0
    assert again.lexical_.relatedness is small_english.relatedness


def test_a_model_that_left_out_a_table_of_the_language_goes_without_it(tmp_path, small_english):
    trained(language="english", lexical=Lexical(relatedness=small_english.relatedness)).save(tmp_path / "model")
    assert PhraseAligner.load(tmp_path / "model").lexical_.paraphrases is None


def test_tables_that_have_changed_are_noticed(tmp_path, small_english, monkeypatch):
    trained(language="english", lexical=None).save(tmp_path / "model")
    monkeypatch.setattr(languages, "english_lexical", lambda: Lexical(paraphrases=small_english.paraphrases))
    with pytest.raises(ModelError, match="model was trained with other features than its tables give now; train it"):
        PhraseAligner.load(tmp_path / "model")


def altered(aligner, directory, change):
    """The model with `change(settings, arrays)` made to it, its checksums right."""
    aligner.save(directory)
    model = load_model(directory)
    arrays = dict(model.arrays)
    change(model.settings, arrays)
    save_model(directory, kind=KIND, settings=model.settings, arrays=arrays)


@pytest.mark.parametrize(
    "change",
    [
        lambda settings, arrays: settings.pop("layout"),
        lambda settings, arrays: settings["layout"].pop(),
        lambda settings, arrays: settings["layout"][0].append(["string"]),
        lambda settings, arrays: settings["options"].update(colour="red"),
        lambda settings, arrays: settings["options"].update(longest=0),
        lambda settings, arrays: settings["inventory"].pop("words"),
        lambda settings, arrays: settings.update(columns=None),
        lambda settings, arrays: arrays.pop("weights"),
        lambda settings, arrays: arrays.update(weights=arrays["weights"][:, :-1]),
        lambda settings, arrays: arrays.update(weights=arrays["weights"][:1]),
        lambda settings, arrays: arrays.pop("paraphrases.codes"),
        lambda settings, arrays: settings.update(own_tables=["colours"]),
    ],
)
def test_a_model_of_another_version_is_refused(aligner, tmp_path, change):
    altered(aligner, tmp_path / "model", change)
    with pytest.raises(ModelError, match=r"model is whole but does not hold an aligner .*train it again") as caught:
        PhraseAligner.load(tmp_path / "model")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["model.json", "arrays.safetensors"])
def test_a_damaged_directory_is_refused(aligner, tmp_path, name):
    aligner.save(tmp_path / "model")
    path = tmp_path / "model" / name
    data = path.read_bytes()
    for damaged in (data[:-1], data[: len(data) // 2] + b"\x00" + data[len(data) // 2 + 1 :], b""):
        path.write_bytes(damaged)
        with pytest.raises(ModelError, match="model"):
            PhraseAligner.load(tmp_path / "model")
    path.unlink()
    with pytest.raises(ModelError, match=name):
        PhraseAligner.load(tmp_path / "model")


def test_a_model_of_another_kind_or_none_is_refused(tmp_path):
    save_model(tmp_path / "model", kind="hmm", settings={}, arrays={})
    with pytest.raises(ModelError, match="hmm"):
        PhraseAligner.load(tmp_path / "model")
    with pytest.raises(ModelError, match="missing"):
        PhraseAligner.load(tmp_path / "missing")


def test_an_untrained_aligner_is_not_saved(tmp_path):
    with pytest.raises(UsageError, match="is not trained"):
        PhraseAligner(language=None).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()
