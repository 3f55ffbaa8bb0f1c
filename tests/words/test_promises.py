"""Lines in = lines out, valid indices, the same bytes for any number of threads, clear refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitexts_words import TOY, WORDS_WITH_STEMS, bitext_of, bitexts, copy_of, results, sentence_pairs
from cepts.data import Bitext
from cepts.errors import UsageError
from cepts.words import HMM, MODELS
from cepts.words import aligner as aligner_module
from cepts.words.index import Sizes

every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
every_lexicon = pytest.mark.parametrize("lexicon", ["ml", "bayes", "backoff"])


def all_bytes(aligner, bitext):
    """Everything that an aligner says of a bitext."""
    return [array.tobytes() for array in results(aligner, bitext)]


# -- threads -------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_shards(monkeypatch):
    """Cut texts into many shards, as large ones are."""
    monkeypatch.setattr(aligner_module, "SIZES", Sizes(block=300, shard=900, range=600))


@pytest.fixture(scope="module")
def many_pairs():
    """A hundred pairs, some of which repeat or are empty on a side."""
    random = np.random.default_rng(0)

    def sentence():
        return [WORDS_WITH_STEMS[word] for word in random.integers(0, len(WORDS_WITH_STEMS), random.integers(0, 12))]

    pairs = [(sentence(), sentence()) for _ in range(80)]
    return Bitext.from_tokens([*pairs, *pairs[:20]])


@every_model
@every_lexicon
@pytest.mark.usefixtures("small_shards")
def test_any_number_of_threads_gives_the_same_bytes(model, lexicon, many_pairs):
    bitext = many_pairs
    fitted = [model(lexicon=lexicon, threads=threads).fit(bitext) for threads in (1, 3)]
    assert len(fitted[0].directions(bitext).makers) > 6
    assert fitted[0].objectives_ == fitted[1].objectives_
    tables = [aligner.lexicon_.table.tobytes() for aligner in fitted]
    assert tables[0] == tables[1]
    for text in (bitext, copy_of(bitext)):
        one, three = (all_bytes(aligner, text) for aligner in fitted)
        assert one == three


@every_model
def test_training_twice_gives_the_same_bytes(model):
    bitext = bitext_of(TOY)
    assert all_bytes(model(threads=2).fit(bitext), bitext) == all_bytes(model(threads=2).fit(bitext), bitext)


# -- lines in = lines out ------------------------------------------------------------------------------------------


def check_results(aligner, bitext):
    """Every pair has its line, every index is in its sentence, every probability is one."""
    pairs = sentence_pairs(bitext)
    longest = aligner.max_length
    used = [bool(s and t) and max(len(s), len(t)) <= longest for s, t in pairs]
    for combine in ("agreement", "union"):
        aligned = aligner.align(bitext, combine=combine, threshold=0.0)
        assert len(aligned) == len(pairs)
        for (source, target), use, alignment in zip(pairs, used, aligned, strict=True):
            if use and combine == "agreement":
                assert len(alignment) == len(source) * len(target)
            if not use:
                assert len(alignment) == 0
            assert all(0 <= i < len(source) and 0 <= j < len(target) for i, j in alignment.links)
            assert ((alignment.confidence >= 0) & (alignment.confidence <= 1)).all()
    for association in aligner.posteriors(bitext):
        assert len(association) == len(pairs)
        assert (association.values >= 0).all()
        assert (association.values <= 1 + 1e-5).all()
    scores = aligner.score(bitext)
    assert scores.shape == (len(pairs), 2)
    assert np.isfinite(scores).all()
    assert (scores[~np.array(used, dtype=bool)] == 0).all()


@every_model
@every_lexicon
@settings(deadline=None, max_examples=12)
@given(bitexts(words=WORDS_WITH_STEMS, max_pairs=6, max_length=5), st.sampled_from([1, 2, 1000]), st.booleans())
def test_every_line_comes_out_with_valid_links(model, lexicon, bitext, max_length, agreement):
    aligner = model(lexicon=lexicon, agreement=agreement, max_length=max_length, iterations=3, threads=1, tolerance=0.0)
    aligner.fit(bitext)
    check_results(aligner, bitext)
    check_results(aligner, copy_of(bitext))
    check_results(aligner, bitext_of([("élève x", "1998 parlia y"), ("x", ""), ("", "x")]))


STRANGE = {
    "one pair": [("a b", "c d")],
    "one word": [("a", "a")],
    "one word many times": [("a a a", "a a a a")] * 4,
    "identical lines": [("a b c", "x y z")] * 20,
    "only empty lines": [("", "")] * 3,
    "no pair with both sides": [("a b", ""), ("", "c")],
    "one long pair among short ones": [("a", "b"), ("a " * 120, "b " * 80)],
    "one word against many": [("a", "b " * 50), ("a " * 50, "b")],
}


@every_model
@every_lexicon
@pytest.mark.parametrize("lines", STRANGE.values(), ids=STRANGE)
def test_strange_texts(model, lexicon, lines):
    bitext = bitext_of(lines)
    aligner = model(lexicon=lexicon, iterations=2, start_iterations=2, threads=1).fit(bitext)
    check_results(aligner, bitext)
    check_results(aligner, bitext_of([*TOY, ("", ""), ("a b", "c d")]))


@every_model
@pytest.mark.parametrize("agreement", [False, True])
def test_many_iterations_stay_finite(model, agreement):
    """Counts that go to nothing must not end in 0 / 0."""
    bitext = bitext_of([*TOY, ("a b c d", "a b c d"), ("a", "d")])
    options = {"lexicon": "ml", "agreement": agreement, "iterations": 100, "tolerance": 0.0, "threads": 1}
    aligner = model(**options).fit(bitext)
    assert np.isfinite(aligner.objectives_).all()
    check_results(aligner, bitext)
    check_results(aligner, bitext_of([("das Buch a", "house d is"), ("kleines", "the")]))


def test_pairs_that_are_too_long_teach_nothing():
    long = ("das " * 7 + "Haus", "the house")
    aligner = HMM(max_length=7, threads=1).fit(bitext_of([*TOY, long]))
    without = HMM(max_length=7, threads=1).fit(bitext_of(TOY))
    np.testing.assert_allclose(aligner.objectives_, without.objectives_, rtol=1e-9)
    np.testing.assert_array_equal(aligner.lexicon_.table, without.lexicon_.table)
    assert len(aligner.align(bitext_of([long]))[0]) == 0


def test_words_of_pairs_that_teach_nothing_are_unknown():
    skipped = [("allein", ""), ("", "alone"), ("zu lang für uns", "too long for us")]
    aligner = HMM(max_length=3, threads=1).fit(bitext_of([*skipped, ("das Haus", "the house")]))
    assert aligner.source_.vocabulary.words == ["das", "haus"]
    assert aligner.target_.vocabulary.words == ["the", "house"]


# -- forms change statistics, never the text -----------------------------------------------------------------------


def test_lower_casing_is_for_statistics_only():
    bitext = bitext_of([("Das Haus", "THE House"), ("das Buch", "the book"), ("DAS BUCH", "The BOOK")])
    before = sentence_pairs(bitext)
    lower, cased = (HMM(lowercase=lowercase, threads=1).fit(bitext) for lowercase in (True, False))
    assert sentence_pairs(bitext) == before
    assert len(lower.source_) == 3
    assert len(cased.source_) == len(bitext.source.vocabulary) == 6
    assert lower.objectives_ != cased.objectives_
    for pair in ("das haus", "the house"), ("DAS HAUS", "THE HOUSE"):
        (scores,) = lower.score(bitext_of([pair]))
        np.testing.assert_array_equal(scores, lower.score(bitext)[0])


def test_a_prefix_is_for_statistics_only():
    bitext = bitext_of([("parlement", "parliament"), ("parlementaire", "parliamentary"), ("maison", "house")])
    whole, cut_words = (HMM(prefix=prefix, threads=1).fit(bitext) for prefix in (None, 4))
    assert cut_words.source_.vocabulary.words == ["parl", "mais"]
    assert len(whole.source_) == 3
    assert whole.objectives_ != cut_words.objectives_
    assert bitext.source.vocabulary.words == ["parlement", "parlementaire", "maison"]
    np.testing.assert_array_equal(*cut_words.score(bitext)[:2])
    assert [alignment.links for alignment in cut_words.align(bitext)] == [[(0, 0)]] * 3


# -- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("lexicon", "best"),
        ("iterations", -1),
        ("start_iterations", -1),
        ("null_prob", 0.0),
        ("null_prob", 1.0),
        ("null_prob", float("nan")),
        ("max_length", 0),
        ("threads", 0),
        ("prefix", 0),
        ("stems", (4, 6)),
        ("stems", (4, 4)),
        ("stems", (0,)),
        ("spelling", -0.1),
        ("spelling", float("nan")),
        ("concentration", 0.0),
        ("concentration", -1.0),
        ("tolerance", -0.1),
        ("tolerance", float("nan")),
    ],
)
def test_options_out_of_range_are_refused_when_the_aligner_is_made(option, value):
    with pytest.raises(UsageError, match=f"`{option}`") as raised:
        HMM(**{option: value})
    message = str(raised.value)
    assert "\n" not in message
    assert "Got" in message


@every_model
def test_an_aligner_without_any_iterations_is_refused(model):
    with pytest.raises(UsageError, match="iterations"):
        model(iterations=0, start_iterations=0)
