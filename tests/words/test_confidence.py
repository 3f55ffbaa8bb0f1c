"""Confidences of links in the training text and in new text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import oracles_words as oracles
from bitexts_words import TOY, bitext_of
from cepts.words import HMM, Mixed, load_aligner
from cepts.words.confidence import in_sample_confidence, least_posterior

probabilities = st.floats(0, 1, width=32)
frequencies = st.integers(1, 10**6)
NEW = [("klein ist das Haus", "small is the house"), ("Haus das", "house the"), ("das Xyz", "the xyz")]


@settings(deadline=None)
@given(st.lists(st.tuples(probabilities, frequencies), min_size=1))
@example([(0.0, 1), (1.0, 1), (1e-12, 10**6), (1.0, 10**6)])
def test_a_confidence_is_the_mean_that_the_formula_says(links):
    posterior, rarer = (np.array(column) for column in zip(*links, strict=True))
    got = in_sample_confidence(posterior, rarer)
    np.testing.assert_allclose(got, oracles.in_sample_confidence(posterior, rarer), rtol=1e-5, atol=2e-6)
    assert ((got >= 0) & (got <= 1)).all()


@given(probabilities, probabilities, frequencies, frequencies)
def test_a_confidence_rises_with_the_posterior_and_with_the_frequency(p, other_p, n, other_n):
    (low, high), (rare, frequent) = sorted([p, other_p]), sorted([n, other_n])
    at = [
        in_sample_confidence(np.array([a]), np.array([b]))[0] for a, b in ((low, rare), (high, rare), (low, frequent))
    ]
    assert at[0] <= at[1]
    assert at[0] <= at[2]


@given(probabilities, probabilities, frequencies)
@example(0.9, 1.0, 10**6)
@example(0.0, 0.0, 1)
def test_no_link_below_the_least_posterior_has_the_confidence(confidence, p, n):
    if p < np.float32(least_posterior(confidence)):
        assert in_sample_confidence(np.array([p]), np.array([n]))[0] < np.float32(confidence)


def test_the_least_posterior_leaves_out_most_cells():
    """Otherwise every cell of a text would be looked at."""
    assert least_posterior(0.5) > 0.35
    assert least_posterior(1.0) > 0.999


@pytest.mark.parametrize("model", [HMM, Mixed])
def test_links_of_new_pairs_keep_their_posteriors(tmp_path, model):
    """The first two pairs have words in an order, and the third has a word, that the training text does not have."""
    aligner = model(threads=1).fit(bitext_of(TOY))
    aligner.save(tmp_path)
    for each in (aligner, load_aligner(tmp_path, threads=1)):
        links = each.align(bitext_of(NEW))
        matrices = each.associate(bitext_of(NEW))
        for pair, alignment in enumerate(links):
            assert alignment.confidence.tolist() == [
                pytest.approx(matrices[pair][link], abs=1e-6) for link in alignment.links
            ]
        assert len(links.source) > 0


@pytest.mark.parametrize("model", [HMM, Mixed])
def test_a_pair_of_the_training_text_has_the_same_confidences_alone_and_under_a_loaded_model(tmp_path, model):
    aligner = model(threads=1).fit(bitext_of(TOY))
    whole = aligner.align(bitext_of(TOY))
    raw = aligner.associate(bitext_of(TOY))
    aligner.save(tmp_path)
    for each in (aligner, load_aligner(tmp_path, threads=1)):
        for pair, line in enumerate(TOY):
            alone = each.align(bitext_of([line]))[0]
            assert alone.links == whole[pair].links
            np.testing.assert_allclose(alone.confidence, whole[pair].confidence, atol=1e-5)
            posterior = np.array([raw[pair][link] for link in alone.links])
            assert (alone.confidence < posterior - 0.01)[posterior > 0.9].all()


def test_words_that_occur_once_are_less_certain():
    """Words of one pair of a text have no rival, so that the model takes their links for certain."""
    bitext = bitext_of([*TOY, *TOY, ("das seltene Haus", "the rare house")])
    aligner = Mixed(threads=1).fit(bitext)
    links = aligner.align(bitext)[len(bitext) - 1]
    confidence = dict(zip(links.links, links.confidence.tolist(), strict=True))
    assert aligner.associate(bitext)[len(bitext) - 1][1, 1] > 0.9
    assert confidence[1, 1] < 0.89
    assert confidence[2, 2] > confidence[1, 1]
