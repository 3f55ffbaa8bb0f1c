"""The tagger: features, training, saving, and what it says of bad input; and the English ones that are shipped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cepts
import oracles_tagger as oracles
from cepts.data import offsets_of
from cepts.errors import DataError, ModelError
from cepts.phrases import tagger as module
from cepts.phrases.tagger import TAG_TEMPLATES, WORD_TEMPLATES, Tagger

ENGLISH = Path(cepts.__file__).parent / "phrases" / "english"

TEXT = [
    "the/DT/B-NP dog/NN/I-NP barks/VBZ/B-VP loudly/RB/B-ADVP ././O",
    "a/DT/B-NP small/JJ/I-NP cat/NN/I-NP sleeps/VBZ/B-VP ././O",
    "dogs/NNS/B-NP chase/VBP/B-VP the/DT/B-NP cats/NNS/I-NP ././O",
    "Mary/NNP/B-NP sees/VBZ/B-VP a/DT/B-NP loud/JJ/I-NP dog/NN/I-NP in/IN/B-PP Paris/NNP/B-NP ././O",
    "cats/NNS/B-NP sleep/VBP/B-VP in/IN/B-PP the/DT/B-NP small/JJ/I-NP houses/NNS/I-NP ././O",
]
OURS = "The old shops on Market Street are closed for now , but two of them will open again in May ."
WORDS, TAGS, CHUNKS = ([[token.split("/")[k] for token in line.split()] for line in TEXT] for k in range(3))

SENTENCES = st.lists(st.lists(st.text(min_size=1, max_size=8), max_size=6), min_size=1, max_size=4)


@given(st.data())
@settings(deadline=None)
def test_keys_are_equal_where_features_are(data):
    """Two features have the same key just if template and strings are the same; what a word lacks has key 0."""
    words = st.sampled_from(
        ["a", "The", "the", "x-1", "1990s", "Élan", "élan", "İ", "McX", "running", "walking", "$", "ß"]
    )
    sentences = data.draw(st.lists(st.lists(words, max_size=5), min_size=1, max_size=3))
    tags = [[data.draw(st.sampled_from(["NN", "DT", "V"])) for _ in sentence] for sentence in sentences]
    tagger = Tagger(templates=(*WORD_TEMPLATES, *TAG_TEMPLATES))
    keys = tagger._keys(sentences, tags, offsets_of([len(sentence) for sentence in sentences]))
    names = [
        row
        for sentence, column in zip(sentences, tags, strict=True)
        for row in oracles.features(sentence, column, tagger.templates)
    ]
    seen: dict[object, int] = {}
    for row, found in zip(names, keys.tolist(), strict=True):
        for name, key in zip(row, found, strict=True):
            assert (key == 0) == (name is None)
            assert name is None or seen.setdefault(name, key) == key
    assert len(set(seen.values())) == len(seen)


def test_it_learns_its_training_text():
    tagger = Tagger(iterations=10).fit(WORDS, TAGS)
    assert tagger.predict(WORDS) == [tuple(column) for column in TAGS]
    assert tagger.predict([["Houses", "bark", "loudly"]])[0][2] == "RB"
    chunker = Tagger(templates=TAG_TEMPLATES, bio=True).fit(WORDS, CHUNKS, TAGS)
    assert chunker.predict(WORDS, TAGS) == [tuple(column) for column in CHUNKS]
    assert chunker.uses_tags
    assert not tagger.uses_tags


def test_weights_are_the_average_of_the_perceptron():
    """Whole training against the oracle, which knows neither hashes nor sums with a clock."""
    words, gold = [line[:3] for line in WORDS[:3]], [line[:3] for line in CHUNKS[:3]]
    templates = ("lower[0]", "suffix1[0]", "lower[-1] lower[0]")
    tagger = Tagger(templates=templates, bio=True, iterations=3, seed=4).fit(words, gold)
    names = [oracles.features(sentence, None, templates) for sentence in words]
    numbers = {name: row for row, name in enumerate(sorted({f for s in names for t in s for f in t if f}, key=repr))}
    sentences = [[[numbers.get(name, -1) for name in token] for token in sentence] for sentence in names]
    labels = list(tagger.labels_)
    allowed = np.ones((len(labels) + 1, len(labels)), dtype=bool)
    for column, label in enumerate(labels):
        if label[0] == "I":
            allowed[:, column] = [before in (label, f"B{label[1:]}") for before in (*labels, "start")]
    random = np.random.default_rng(4)
    passes = [random.permutation(len(words)).tolist() for _ in range(3)]
    right = [[labels.index(label) for label in line] for line in gold]
    weights, transitions = oracles.averaged_perceptron(
        sentences, right, passes, len(numbers), len(labels), allowed, 2.0
    )
    np.testing.assert_allclose(tagger._weights.transitions, transitions, rtol=1e-6)
    largest = np.abs(weights).max()
    for sentence, rows in zip(words, sentences, strict=True):
        keys = tagger._keys([sentence], None, offsets_of([len(sentence)]))
        places = module._rows(keys, tagger._weights.keys)
        for token in range(len(sentence)):
            for row, place in zip(rows[token], places[token].tolist(), strict=True):
                if row < 0:
                    assert place < 0
                    continue
                found = np.zeros(len(labels))
                if place >= 0:
                    run = slice(tagger._bounds[place], tagger._bounds[place + 1])
                    found[tagger._weights.labels[run]] = tagger._values[run]
                # One byte holds the square root: half a step of 1/127 of the largest.
                np.testing.assert_allclose(
                    np.sqrt(np.abs(found)), np.sqrt(np.abs(weights[row])), atol=largest**0.5 / 250
                )
                assert (found * weights[row] >= 0).all()


@given(SENTENCES, st.integers(0, 5))
@settings(deadline=None, max_examples=40)
def test_labels_are_bio_whatever_the_text(sentences, seed):
    chunker = Tagger(templates=("form[0]", "suffix1[0]"), bio=True, iterations=1, seed=seed).fit(WORDS, CHUNKS)
    found = chunker.predict(sentences)
    assert [len(column) for column in found] == [len(sentence) for sentence in sentences]
    for column in found:
        for before, label in zip(("O", *column), column, strict=False):
            assert not label.startswith("I-") or before[2:] == label[2:]


@given(SENTENCES)
@settings(deadline=None, max_examples=40)
def test_a_sentence_has_the_same_labels_alone_and_among_others(sentences):
    tagger = Tagger(iterations=2).fit(WORDS, TAGS)
    assert tagger.predict(sentences) == [tagger.predict([sentence])[0] for sentence in sentences]


def test_blocks_do_not_show(monkeypatch):
    tagger = Tagger(templates=TAG_TEMPLATES).fit(WORDS, CHUNKS, TAGS)
    whole = tagger.predict(WORDS, TAGS)
    monkeypatch.setattr(module, "BLOCK_TOKENS", 9)
    assert tagger.predict(WORDS, TAGS) == whole
    assert tagger.predict([], []) == []
    assert tagger.predict([[]], [[]]) == [()]


def test_saved_and_loaded_it_is_the_same(tmp_path):
    chunker = Tagger(templates=TAG_TEMPLATES, bio=True, size=150).fit(WORDS, CHUNKS, TAGS)
    chunker.save(tmp_path / "one")
    loaded = Tagger.load(tmp_path / "one")
    assert loaded.predict(WORDS[::-1], TAGS[::-1]) == chunker.predict(WORDS[::-1], TAGS[::-1])
    assert {**loaded.get_params(), "templates": TAG_TEMPLATES} == chunker.get_params()
    assert tuple(loaded.templates) == TAG_TEMPLATES
    loaded.save(tmp_path / "two")
    Tagger(templates=TAG_TEMPLATES, bio=True, size=150).fit(WORDS, CHUNKS, TAGS).save(tmp_path / "three")
    assert len({(tmp_path / name).read_bytes() for name in ("one", "two", "three")}) == 1


def test_size_and_count_make_it_smaller():
    whole, small = Tagger().fit(WORDS, TAGS), Tagger(size=50).fit(WORDS, TAGS)
    frequent = Tagger(min_count=2).fit(WORDS, TAGS)
    assert len(whole._values) > 200
    # Weights that are equal to the last one kept are kept too.
    assert 50 <= len(small._values) < 100
    np.testing.assert_array_equal(np.sort(np.abs(small._values)), np.sort(np.abs(whole._values))[-len(small._values) :])
    assert len(frequent._weights.keys) < len(whole._weights.keys)


def test_progress_is_told():
    steps = []
    Tagger(iterations=3).fit(WORDS, TAGS, progress=steps.append)
    assert [(step.iteration, step.done, step.total) for step in steps] == [(1, 1, 3), (2, 2, 3), (3, 3, 3)]
    assert steps[0].objective > steps[-1].objective


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (lambda: Tagger().fit(WORDS, TAGS[1:]), "5 sentences but labels of 4"),
        (lambda: Tagger().fit([["a", "b"]], [["X"]]), "sentence 1 has 2 words but 1 labels"),
        (lambda: Tagger().fit([[]], [[]]), "no word to learn from"),
        (lambda: Tagger().fit([list("ab") * 200], [[str(k) for k in range(400)]]), "400 labels"),
        (lambda: Tagger(bio=True).fit(WORDS, TAGS), "is none of B-X, I-X and O"),
        (lambda: Tagger(bio=True).fit([["a"], ["b", "c"]], [["O"], ["B-NP", "I-VP"]]), "sentence 2, word 2: I-VP does"),
        (lambda: Tagger(bio=True).fit([["a"], ["b"]], [["B-NP"], ["I-NP"]]), "sentence 2, word 1: I-NP does"),
        (lambda: Tagger(templates=TAG_TEMPLATES).fit(WORDS, CHUNKS), "read a column of tags"),
        (lambda: Tagger(templates=TAG_TEMPLATES).fit(WORDS, CHUNKS, TAGS).predict([["a"]], [[]]), "1 words but 0 tags"),
    ],
)
def test_bad_data_are_named(job, message):
    with pytest.raises(DataError, match=message):
        job()


@pytest.mark.parametrize(
    "settings",
    [
        {"templates": ["word[0]"]},
        {"templates": ["form"]},
        {"templates": [""]},
        {"templates": []},
        {"iterations": 0},
        {"size": 0},
    ],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(ValueError, match="must"):
        Tagger(**settings)


def test_it_must_be_fitted(tmp_path):
    for job in (lambda: Tagger().predict(WORDS), lambda: Tagger().save(tmp_path / "tagger")):
        with pytest.raises(ValueError, match="this Tagger is not trained"):
            job()


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "tagger.safetensors"
    with pytest.raises(ModelError, match=r"tagger\.safetensors"):
        Tagger.load(path)
    Tagger().fit(WORDS, TAGS).save(path)
    data = path.read_bytes()
    for bad in (data[:-9], data[:-9] + b"x" + data[-8:], b"", b"tagger"):
        path.write_bytes(bad)
        with pytest.raises(ModelError, match=r"tagger\.safetensors"):
            Tagger.load(path)


def test_the_shipped_ones_tag_and_chunk_english():
    tagger, chunker = (Tagger.load(ENGLISH / f"{name}.safetensors") for name in ("tagger", "chunker"))
    sentence = OURS.split()
    (tags,) = tagger.predict([sentence])
    assert " ".join(tags) == "DT JJ NNS IN NNP NNP VBP VBN IN RB , CC CD IN PRP MD VB RB IN NNP ."
    (chunks,) = chunker.predict([sentence], [tags])
    assert chunks[:9] == ("B-NP", "I-NP", "I-NP", "B-PP", "B-NP", "I-NP", "B-VP", "I-VP", "B-PP")
    assert chunks[11:] == ("O", "B-NP", "B-PP", "B-NP", "B-VP", "I-VP", "B-ADVP", "B-PP", "B-NP", "O")
    lower = [word.lower() for word in sentence]
    assert sum(a == b for a, b in zip(tagger.predict([lower])[0], tags, strict=True)) >= len(tags) - 2
    sizes = [(ENGLISH / f"{name}.safetensors").stat().st_size for name in ("tagger", "chunker")]
    assert sum(sizes) < 4_000_000
