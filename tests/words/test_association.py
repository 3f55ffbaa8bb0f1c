"""Association matrices of a trained aligner."""

from __future__ import annotations

import numpy as np
import pytest

from bitexts_words import TOY, bitext_of
from cepts.data import Bitext, offsets_of
from cepts.errors import UsageError
from cepts.extract import ASSOCIATIONS, compete
from cepts.factor import scaled_to_words
from cepts.names import STATISTICS
from cepts.words import HMM, IBM1, IBM2, MODELS, Cooccurrence, Diagonal
from cepts.words.blocks import new_block

NEW = [("das Haus", "the house"), ("", ""), ("ein quux", "a small frob"), ("das", ""), ("ein", "a")]


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_posteriors_have_the_means_that_their_names_say(model):
    text = bitext_of(TOY)
    bitext = bitext_of(NEW)
    aligner = model(threads=1).fit(text)
    ahead, back = aligner.posteriors(bitext)
    forward, reverse = ahead.values.astype(float), back.values.astype(float)
    source_null, target_null = back.source_null, ahead.target_null
    close = {"rtol": 1e-5, "atol": 1e-7}
    wanted = {
        "agreement": (np.sqrt(forward * reverse), source_null, target_null),
        "mean": ((forward + reverse) / 2, source_null, target_null),
        "forward": (forward, None, target_null),
        "reverse": (reverse, source_null, None),
    }
    for name, (values, of_source, of_target) in wanted.items():
        got = aligner.associate(bitext, name)
        np.testing.assert_array_equal(got.source_lengths, [2, 0, 2, 0, 1])
        np.testing.assert_array_equal(got.target_lengths, [2, 0, 3, 0, 1])
        np.testing.assert_allclose(got.values, values, **close)
        for null, want in ((got.source_null, of_source), (got.target_null, of_target)):
            assert (null is None) == (want is None)
            if want is not None:
                np.testing.assert_allclose(null, want, **close)


@pytest.mark.parametrize("model", [IBM1, IBM2, Diagonal])
def test_tables_normalised_over_the_sentence_are_the_posteriors_of_independent_links(model):
    bitext = bitext_of(NEW)
    aligner = model(threads=1, lexicon="ml", agreement=False).fit(bitext_of(TOY))
    got = aligner.associate(bitext, "tables")
    assert (got.values > 0).all()
    assert (got.source_null > 0).all()
    for pair, (forward, reverse) in enumerate(zip(*aligner.posteriors(bitext), strict=True)):
        if not forward.size:
            continue
        scores = aligner.score(bitext)[pair]
        ahead, back = column_masses(aligner, bitext, pair)
        np.testing.assert_allclose(2 * got[pair], forward * ahead + reverse * back[:, None], rtol=1e-4)
        assert np.log(ahead).sum() == pytest.approx(scores[0], rel=1e-4, abs=1e-5)
        assert np.log(back).sum() == pytest.approx(scores[1], rel=1e-4, abs=1e-5)


def column_masses(aligner, bitext: Bitext, pair: int):
    """P(target word | source) of each target word, and P(source word | target): the tables' null over its posterior."""
    tables = aligner.associate(bitext, "tables")
    forward, reverse = aligner.posteriors(bitext)
    source, target = offsets_of(tables.source_lengths), offsets_of(tables.target_lengths)
    columns, rows = slice(target[pair], target[pair + 1]), slice(source[pair], source[pair + 1])
    ahead = tables.target_null[columns].astype(float) / forward.target_null[columns]
    back = tables.source_null[rows].astype(float) / reverse.source_null[rows]
    return ahead, back


def test_tables_of_the_hmm_have_a_uniform_prior():
    aligner = HMM(threads=1).fit(bitext_of(TOY))
    bitext = bitext_of([("das Haus ist", "the house")])
    tokens = aligner.tokens(bitext)
    aligner.lexicon_.place(tokens)
    block = new_block(tokens, aligner.lexicon_, aligner.null_)
    lexicon = block.lexicon[block.cells].reshape(3, 2, 2)
    got = aligner.associate(bitext, "tables")
    wanted = 0.9 * (lexicon[..., 0] / 3 + lexicon[..., 1] / 2) / 2
    np.testing.assert_allclose(got[0], wanted, rtol=1e-5)
    np.testing.assert_allclose(got.target_null, 0.1 * block.target_given_null, rtol=1e-5)


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_are_those_of_the_training_text_and_compete(name):
    text, bitext = bitext_of(TOY), bitext_of(NEW)
    got = IBM1(threads=1, iterations=1).fit(text).associate(bitext, name)
    counted = Cooccurrence(threads=1).fit(text).association(bitext, name)
    np.testing.assert_array_equal(got.values, compete(counted).values)
    assert got.source_null is None


@pytest.mark.parametrize("name", ASSOCIATIONS)
def test_runs_change_nothing(name):
    text = bitext_of(TOY)
    aligner = IBM2(threads=1).fit(text)
    whole = aligner.associate(text, name, nbest=5 if ASSOCIATIONS[name].lists else None)
    assert (whole.values >= 0).all()
    runs = aligner.directions(text, cells=8).makers
    assert len(runs) > 3
    parts = [ASSOCIATIONS[name].make(make(), 5) for make in runs]
    np.testing.assert_array_equal(np.concatenate([part.values for part in parts]), whole.values)


def test_lists_of_all_alignments_by_probability_are_the_posteriors():
    """With every alignment in the list, weights by probability make the mean of the posteriors."""
    text = bitext_of(TOY)
    bitext = bitext_of([("das Haus", "the house"), ("ein", "a")])
    for model in (IBM1, IBM2, Diagonal, HMM):
        aligner = model(threads=1).fit(text)
        mean = aligner.associate(bitext, "mean")
        got = scaled_to_words(aligner.associate(bitext, "nbest-probability", nbest=9))
        for field in ("values", "source_null", "target_null"):
            np.testing.assert_allclose(getattr(got, field), getattr(mean, field), rtol=1e-3, atol=1e-5)


def test_a_mean_is_scaled_to_words_already():
    bitext = bitext_of(NEW)
    mean = HMM(threads=1).fit(bitext_of(TOY)).associate(bitext, "mean")
    for weight in (1.0, 50.0):
        scaled = scaled_to_words(mean, weight)
        for (_, got, _), (_, given, _) in zip(scaled.masses(), mean.masses(), strict=True):
            np.testing.assert_allclose(got, weight * given, rtol=1e-5)


def test_misuse_is_one_clear_line():
    bitext = bitext_of(TOY)
    aligner = IBM1(threads=1, iterations=1).fit(bitext)
    with pytest.raises(UsageError, match=r"one of agreement, .*llr\. Got 'posterior'"):
        aligner.associate(bitext, "posterior")
    with pytest.raises(UsageError, match=r"`nbest` must be 1 or more\. Got 0"):
        aligner.associate(bitext, "nbest", nbest=0)
    with pytest.raises(UsageError, match="not trained"):
        HMM().associate(bitext, "mean")


def test_no_pairs_at_all():
    nothing = Bitext.from_tokens([])
    aligner = HMM(threads=1).fit(nothing)
    for name in ASSOCIATIONS:
        assert len(aligner.associate(nothing, name)) == 0
