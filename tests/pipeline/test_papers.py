"""The settings of papers: what they are, and what takes their place."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from cepts.extract import ASSOCIATIONS, EXTRACTORS, Extraction
from cepts.extract.extractors import association_of
from cepts.factor import Factoring
from cepts.names import ALIGNMENT_PAPERS, WORD_MODELS, resolve
from cepts.pipeline.papers import ONMF
from cepts.words import IBM4
from test_one_surface import SOURCE, TARGET


@pytest.mark.parametrize("name", ALIGNMENT_PAPERS)
def test_settings_are_those_of_the_model_and_of_the_extraction(name):
    paper = resolve(ALIGNMENT_PAPERS[name])
    training = dict(paper.training)
    model = resolve(WORD_MODELS[training.pop("model")])(**training)
    assert (model.lexicon, model.agreement) == ("ml", False)
    links = dict(paper.links)
    assert links["combine"] in EXTRACTORS
    factoring = Factoring(**{key: links.pop(key) for key in list(links) if key in Factoring.__slots__})
    Extraction(**links, factoring=factoring)


def test_what_is_given_takes_precedence():
    assert ONMF.options({"cepts": "bic"})["cepts"] == "bic"
    assert ONMF.options({"model": "hmm"})["lexicon"] == "ml"
    assert "model" not in ONMF.options({}, without=["training"])
    assert ONMF.options({"combine": "onmf"})["association"] == "nbest-plain"


def test_what_does_not_go_with_other_options_is_left_out():
    assert {"nbest", "restarts"} <= set(ONMF.options({"cepts": "bic", "association": "nbest"}))
    assert "nbest" not in ONMF.options({"association": "agreement"})
    assert "restarts" not in ONMF.options({"cepts": "anneal"})
    assert ONMF.options({"cepts": 3, "restarts": 2})["restarts"] == 2


def test_the_settings_of_a_paper_do_not_depend_on_defaults():
    """What the papers state is spelt out, so that another default does not change their tables."""
    assert {field.name for field in fields(Factoring)} - set(ONMF.links) == {"noise", "sure", "seed"}
    for name in ALIGNMENT_PAPERS:
        assert {"model", "lexicon", "agreement"} <= set(resolve(ALIGNMENT_PAPERS[name]).training)


def test_another_extractor_makes_links_as_it_does_by_default():
    assert set(ONMF.options({"combine": "union"})) == {"model", "lexicon", "agreement", "combine"}


def test_the_matrix_of_onmf_is_that_of_plain_counts():
    """Section 5 of onmf: how often a link is in the two lists; null is in one of them only. Nothing is spread."""
    bitext = [*zip(SOURCE, TARGET, strict=True)]
    aligner = IBM4(**{key: value for key, value in ONMF.training.items() if key != "model"}, threads=1).fit(bitext)
    forward, reverse = aligner.nbest(bitext, 7)
    extraction = Extraction(combine="onmf", association="nbest-plain", nbest=7)
    run = next(iter(aligner.directions(bitext, in_order=True).makers))()
    found = EXTRACTORS["onmf"].matrix(run, extraction)
    assert found is association_of(run, extraction)
    for pair, (source, target) in enumerate(bitext):
        size, length = len(source.split()), len(target.split())
        matrix, source_null, target_null = np.zeros((size, length)), np.zeros(size), np.zeros(length)
        for positions in forward[pair][1]:
            for j, i in enumerate(positions.tolist()):
                if i < 0:
                    target_null[j] += 1
                else:
                    matrix[i, j] += 1
        for positions in reverse[pair][1]:
            for i, j in enumerate(positions.tolist()):
                if j < 0:
                    source_null[i] += 1
                else:
                    matrix[i, j] += 1
        np.testing.assert_array_equal(found[pair], matrix)
        offsets = found.source_offsets, found.target_offsets
        np.testing.assert_array_equal(found.source_null[offsets[0][pair] : offsets[0][pair + 1]], source_null)
        np.testing.assert_array_equal(found.target_null[offsets[1][pair] : offsets[1][pair + 1]], target_null)
    assert ASSOCIATIONS["nbest-plain"].spread == 0
