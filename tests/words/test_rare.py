"""Rare words that share symbols, and models that are saved without low counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bitexts_words import WORDS_WITH_STEMS, copy_of, results
from cepts.data import Bitext, Vocabulary
from cepts.errors import UsageError
from cepts.words import HMM, IBM1, MODELS, load_aligner
from cepts.words.forms import MARK, Forms, is_symbol
from cepts.words.rare import known_names, share_symbols, shrink

WORDS = ["a", "ab", "abc", "abcd", "abcde", "abx", "b", "ba", "bab", "c", "cab", "dab", "…", "ab…"]
SYMBOLS = ["a …", "ab …", "abc …", "ba …", MARK]  # of words that became rare before
vocabularies = st.dictionaries(st.sampled_from(WORDS + SYMBOLS), st.integers(1, 9), min_size=1)
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def wanted_symbols(counts: dict[str, int], stems, min_count, max_vocabulary) -> dict[str, str]:
    """The definition, word by word."""
    frequent = [word for word in counts if counts[word] >= min_count and not is_symbol(word)]
    if max_vocabulary is not None and len(frequent) > max_vocabulary:
        places = {word: place for place, word in enumerate(counts)}
        frequent = sorted(frequent, key=lambda word: (-counts[word], places[word]))[:max_vocabulary]
        min_count = max(min_count, counts[frequent[-1]])
    found = {word: word for word in frequent}
    for word in [word for word in counts if word not in frequent]:
        found[word] = " …"
        for letters in stems:
            stem = word.removesuffix(MARK)[:letters]
            together = sum(
                counts[other]
                for other in counts
                if other not in frequent and other.removesuffix(MARK)[:letters] == stem
            )
            if together >= min_count:
                found[word] = f"{stem} …"
                break
    return found


@given(vocabularies, st.sampled_from([(3, 2), (2,), (3, 2, 1), ()]), st.integers(1, 7), st.none() | st.integers(1, 6))
@example({"abcd": 1, "abcx": 1, "abyy": 1, "q": 1}, (3, 2), 2, None)
@settings(deadline=None)
def test_rare_words_share_the_symbol_of_their_longest_stem_that_is_not_rare(counts, stems, min_count, most):
    names, frequencies = list(counts), np.array(list(counts.values()))
    found = share_symbols(names, frequencies, stems, min_count=min_count, max_vocabulary=most)
    wanted = wanted_symbols(counts, stems, min_count, most)
    assert dict(zip(names, found, strict=True)) == wanted
    # A trained model finds the symbols of its words again.
    vocabulary = Vocabulary.from_words(dict.fromkeys(found))
    assert known_names(vocabulary, names, stems) == found


@given(
    st.dictionaries(st.sampled_from([*WORDS, *SYMBOLS, "AB", "Abc"]), st.integers(1, 9), min_size=1),
    st.sampled_from([(3, 2), (2,), ()]),
    st.integers(1, 16),
    st.none() | st.integers(1, 3),
)
@settings(deadline=None)
def test_a_vocabulary_shrinks_to_frequent_forms_and_symbols(counts, stems, most, prefix):
    vocabulary, frequencies = Vocabulary.from_words(counts), np.array(list(counts.values()))
    found, places = shrink(vocabulary, frequencies, forms=Forms(True, prefix), stems=stems, most=most)
    names = [found.words[place] for place in places.tolist()]
    assert list(dict.fromkeys(names)) == found.words  # in order of first use, and none that is not used
    assert len(found) <= max(most // 2, 1)
    forms = [word if is_symbol(word) else word.lower()[:prefix] for word in counts]
    together: dict[str, int] = {}
    for form, count in zip(forms, counts.values(), strict=True):
        together[form] = together.get(form, 0) + count
    for form, name in zip(forms, names, strict=True):
        assert name == form or (is_symbol(name) and form.startswith(name.removesuffix(MARK)))
    if len(together) <= most // 2:
        assert names == forms
        return
    words = [form for form in together if not is_symbol(form)]
    room = max(most // 2 - max(most // 8, 1), 0)
    frequent = sorted(words, key=lambda form: -together[form])[:room]
    assert sorted(name for name in found.words if not is_symbol(name)) == sorted(frequent)


def test_a_word_that_was_never_seen_has_the_symbol_of_its_stem():
    vocabulary = Vocabulary.from_words(["house", "hou …", MARK])
    assert known_names(vocabulary, ["house", "household", "mouse"], (3,)) == ["house", "hou …", MARK]


def test_a_token_is_never_a_symbol():
    assert not any(is_symbol(word) for word in WORDS)
    assert is_symbol("parlia …")


@pytest.fixture(scope="module")
def text():
    random = np.random.default_rng(3)
    rare = [f"{stem}{number}" for stem in ("parliament", "house", "q") for number in range(40)]

    def sentence():
        words = [WORDS_WITH_STEMS[word] for word in random.integers(0, len(WORDS_WITH_STEMS), random.integers(1, 8))]
        return [*words, rare[random.integers(0, len(rare))]]

    return Bitext.from_tokens([(sentence(), sentence()) for _ in range(60)])


@every_model
@pytest.mark.parametrize("cut", [{"min_count": 3}, {"max_vocabulary": 12}], ids=["min_count", "max_vocabulary"])
def test_a_model_with_symbols_is_smaller_and_the_same_when_it_is_loaded(model, cut, text, tmp_path):
    whole, aligner = model(iterations=1).fit(text), model(iterations=1, **cut).fit(text)
    for side, of_whole in ((aligner.source_, whole.source_), (aligner.target_, whole.target_)):
        assert len(side) < len(of_whole)
        assert side.frequencies.sum() == of_whole.frequencies.sum()
        assert "parlia …" in side.vocabulary.words
    aligner.save(tmp_path / "model")
    loaded = load_aligner(tmp_path / "model")
    other = copy_of(text)
    for found, wanted in zip(results(loaded, other), results(aligner, other), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert np.array_equal(loaded.align(other).source, aligner.align(text).source)


def test_dictionaries_have_no_symbols(text):
    aligner = HMM(min_count=3).fit(text)
    entries = aligner.translations(least=0.0, top=1000)
    assert entries
    assert not any(is_symbol(entry.word) or is_symbol(entry.other) for entry in entries)


@pytest.mark.parametrize("aligner", [IBM1(iterations=3), HMM()], ids=["ml", "backoff"])
def test_a_pruned_model_has_the_probabilities_of_its_own_counts(aligner, text, tmp_path):
    aligner.fit(text)
    aligner.save(tmp_path / "whole")
    aligner.save(tmp_path / "pruned", prune=0.3)
    whole, pruned = (load_aligner(tmp_path / name).lexicon_ for name in ("whole", "pruned"))
    assert 0 < len(pruned.targets) < len(whole.targets)
    assert ((pruned.counts >= 0.3) | (pruned.counts == 0)).all()
    counts = np.where(whole.counts >= 0.3, whole.counts, 0).astype(np.float32)
    assert counts.sum() == pytest.approx(pruned.counts.sum())
    if aligner.lexicon == "ml":
        source = np.repeat(np.arange(len(whole.source)), np.diff(whole.rows))
        forward = counts[:, 0] / np.bincount(source, counts[:, 0])[source].clip(1e-30)
        np.testing.assert_allclose(pruned.table[:, 0], forward[counts.any(axis=1)].clip(pruned.floor), rtol=1e-5)
    else:
        state = {name: array for name, array in whole.state().items() if name != "target_totals"}
        whole.restore({**state, "counts": counts})
        np.testing.assert_allclose(pruned.table, whole.table[counts.any(axis=1)], rtol=1e-5)


def test_a_dense_prior_is_not_pruned(text, tmp_path):
    aligner = IBM1(lexicon="bayes").fit(text)
    with pytest.raises(UsageError, match="`prune` does not go with `lexicon` bayes"):
        aligner.save(tmp_path / "model", prune=0.1)
