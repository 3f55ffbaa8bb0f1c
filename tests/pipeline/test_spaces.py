"""Spaces held against tasks, beside loops that do the same word by word."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.data import Dictionary, Text
from cepts.errors import DataError
from cepts.pipeline.space_scores import PrecisionTask, score_retrieval, score_translations, score_word_similarity
from cepts.pipeline.spaces import WordLookup
from cepts.spaces import IBFA
from toy_spaces import toy_dictionary, toy_views

VIEWS = toy_views(noise=0.6)
MODEL = IBFA().fit(VIEWS, toy_dictionary())
PLACES = [MODEL.project(view.matrix, number).astype(np.float64) for number, view in enumerate(VIEWS)]


def cosines(one, two):
    return (one / np.linalg.norm(one, axis=1)[:, None]) @ (two / np.linalg.norm(two, axis=1)[:, None]).T


@pytest.mark.parametrize("source", [0, 1])
def test_precision_of_translation(source):
    target = 1 - source
    languages = (VIEWS[source].name, VIEWS[target].name)
    entries = [*toy_dictionary(languages, range(70, 130)), (f"{languages[0]}70", f"{languages[1]}3")]
    test = Dictionary(languages, tuple(entries), "test")
    score = score_translations(MODEL, test, WordLookup(source=source, target=target, measure="cosine"), at=(1, 3))
    found = np.argsort(-cosines(PLACES[source], PLACES[target])[70:120], axis=1)
    right = [{n, 3} if n == 70 else {n} for n in range(70, 120)]
    for k in (1, 3):
        hits = [bool(answers & set(row[:k].tolist())) for answers, row in zip(right, found, strict=True)]
        assert score.precision[k] == pytest.approx(100 * np.mean(hits))
    assert (score.asked, score.covered) == (60, 50)
    assert score.precision[1] < 100
    assert score.facts["direction"] == "-".join(languages)
    assert "sources" not in score.facts


def test_the_signature_says_by_which_words_hubs_were_measured():
    score = score_translations(MODEL, toy_dictionary(numbers=range(80, 100)), WordLookup(sources=50))
    assert score.facts["sources"] == 50
    assert score.facts["neighbourhood"] == 10
    score = score_translations(MODEL, toy_dictionary(numbers=range(80, 100)), WordLookup(measure="inverted-softmax"))
    assert score.facts["sources"] == 120
    assert score.facts["temperature"] == 30


def text_of(language, lines):
    return Text.from_tokens([f"{language}{n}" for n in line] for line in lines)


@pytest.mark.parametrize("paper", [False, True])
def test_precision_of_retrieval(paper):
    """With `paper`, word vectors keep their lengths and no weight is below 1."""
    random = np.random.default_rng(1)
    # Also a word without a vector, a word twice, and a pair without any vector on one side.
    lines = [random.choice(120, 2, replace=False).tolist() for _ in range(40)] + [[5, 5, 9], [7, 999], [999]]
    texts = text_of("en", lines), text_of("fr", lines)
    scores = score_retrieval(MODEL, texts, PrecisionTask(measures=["cosine"], at=(1, 2), paper=paper))
    weights = np.zeros(120)
    for line in lines:
        weights[[n for n in set(line) if n < 120]] += 1
    weights = np.maximum(1.0 if paper else 0.1, np.log10(len(lines) / np.maximum(weights, 1)))
    sides = []
    for places in PLACES:
        unit = places if paper else places / np.linalg.norm(places, axis=1)[:, None]
        rows = []
        for line in lines:
            known = [n for n in set(line) if n < 120]
            rows.append(sum((weights[n] * unit[n] for n in known), np.zeros(MODEL.space_.width)))
        sides.append(np.array(rows))
    for score, (asked, others) in zip(scores, (sides, sides[::-1]), strict=True):
        found = np.argsort(-cosines(asked[:-1], others[:-1]), axis=1)
        right = found == np.arange(len(found))[:, None]
        for k in (1, 2):
            assert score.precision[k] == pytest.approx(100 * right[:, :k].any(axis=1).sum() / len(lines))
        assert (score.asked, score.covered) == (43, 42)
        assert 0 < score.precision[1] < 100


def test_queries_of_retrieval_are_drawn_by_the_seed():
    lines = [[n, n + 1] for n in range(100)]
    texts = text_of("en", lines), text_of("fr", lines)
    one, two, other = (
        score_retrieval(MODEL, texts, PrecisionTask(queries=20, seed=seed))[0].ranks.tolist() for seed in (1, 1, 2)
    )
    assert len(one) == 20
    assert one == two
    assert one != other


def test_wrong_numbers_of_sentences():
    lines = [[n] for n in range(12)]
    with pytest.raises(DataError, match="found 12 source and 11 target sentences"):
        score_retrieval(MODEL, (text_of("en", lines), text_of("fr", lines[:11])), PrecisionTask())
    with pytest.raises(DataError, match="wanted at least 10"):
        score_retrieval(MODEL, (text_of("en", lines[:9]), text_of("fr", lines[:9])), PrecisionTask())


def test_similarity_looks_words_up_in_lower_case_too():
    from cepts.io import WordSimilarities

    random = np.random.default_rng(0)
    pairs = [(f"EN{n}", f"en{n + 7}") for n in range(50)] + [("en1", "nowhere")]
    task = WordSimilarities("task", pairs, random.random(51))
    found = score_word_similarity(MODEL, task)
    assert (found.space.pairs, found.space.covered, found.alone.covered) == (51, 50, 50)
    for score, matrix in ((found.alone, VIEWS[0].matrix.astype(float)), (found.space, PLACES[0])):
        values = np.diag(cosines(matrix[:50], matrix[7:57]))
        ranks = [np.argsort(np.argsort(each)) for each in (values, task.scores[:50])]
        assert score.spearman == pytest.approx(100 * np.corrcoef(*ranks)[0, 1])
