"""What a user of an aligner sees."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

import oracles_words as oracles
from bitexts_words import TOY, bitext_of, copy_of, sentence_pairs
from cepts.data import Bitext
from cepts.errors import UsageError
from cepts.words import HMM, IBM1, IBM2, MODELS, Diagonal, Mixed

ANSWERS = {
    ("das Haus", "the house"): [(0, 0), (1, 1)],
    ("ein Buch", "a book"): [(0, 0), (1, 1)],
    ("ein kleines Buch", "a small book"): [(0, 0), (1, 1), (2, 2)],
    ("das Haus ist klein", "the house is small"): [(0, 0), (1, 1), (2, 2), (3, 3)],
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
every_lexicon = pytest.mark.parametrize("lexicon", ["ml", "bayes", "backoff"])


@pytest.mark.parametrize("agreement", [False, True])
@pytest.mark.parametrize(
    ("model", "lexicon"),
    [(IBM1, "ml"), (IBM2, "ml"), *itertools.product([Diagonal, HMM], ["ml", "bayes", "backoff"])],
)
def test_a_toy_bitext_is_aligned_right(model, lexicon, agreement):
    aligner = model(lexicon=lexicon, agreement=agreement, iterations=8, threads=1).fit(bitext_of(TOY * 3))
    for (source, target), links in ANSWERS.items():
        assert aligner.align_pair(source.split(), target.split()).links == links


@every_model
def test_a_toy_bitext_is_aligned_right_by_default(model):
    bitext = bitext_of(TOY * 3)
    aligned = model(threads=1).fit(bitext).align(bitext)
    for pair, lines in enumerate(TOY * 3):
        if lines in ANSWERS:
            assert aligned[pair].links == ANSWERS[lines]


@pytest.mark.parametrize("lexicon", ["ml", "backoff"])
@pytest.mark.parametrize("pairs", [20, 60, 200])
def test_the_hmm_learns_that_words_move(lexicon, pairs):
    """The target is the source from right to left."""
    random = np.random.default_rng(0)
    sentences = [random.permutation(list("abcdefgh"))[:5] for _ in range(pairs)]
    bitext = Bitext.from_tokens([(words, [word.upper() for word in words[::-1]]) for words in sentences])
    aligner = HMM(lexicon=lexicon, lowercase=False, threads=1).fit(bitext)
    for alignment in aligner.align(bitext):
        assert alignment.links == [(i, 4 - i) for i in range(5)]
    for jumps in aligner.positions_.jumps:
        assert jumps.argmax() == aligner.positions_.reach - 1


@every_model
def test_viterbi_of_the_toy_bitext(model):
    bitext = bitext_of(TOY * 3)
    aligner = model(lexicon="ml", agreement=False, iterations=8, threads=1).fit(bitext)
    for combine in ("forward", "reverse"):
        alignments = aligner.align(bitext, combine=combine)
        assert len(alignments) == len(bitext)
        assert alignments[0].links == [(0, 0), (1, 1)]
        assert (alignments.confidence > 0).all()
        assert (alignments.confidence <= 1).all()


@every_model
@pytest.mark.parametrize("threshold", [None, 0.0, 0.03, 0.25, 0.5, 0.85, 1.0])
def test_agreement_takes_the_links_whose_confidence_reaches_the_threshold(model, threshold):
    """By default, those whose posteriors have a geometric mean of at least 0.4; the confidence is made of that mean."""
    bitext = bitext_of([*TOY, ("ein seltenes Wort", "a rare word")])
    aligner = model(threads=1, iterations=2).fit(bitext)
    lines = [([e.lower() for e in source], [f.lower() for f in target]) for source, target in sentence_pairs(bitext)]
    sides = [Counter(word for line in side for word in line) for side in zip(*lines, strict=True)]
    forward, reverse = aligner.posteriors(bitext)
    aligned = aligner.align(bitext, threshold=threshold)
    for pair, (source, target) in enumerate(lines):
        mean = np.sqrt(forward[pair].astype(float) * reverse[pair])
        rarer = np.array([[min(sides[0][e], sides[1][f]) for f in target] for e in source])
        wanted = mean if model is IBM1 else oracles.in_sample_confidence(mean, rarer)
        judged, least = (mean, 0.4) if threshold is None else (wanted, threshold)
        surely, perhaps = (set(zip(*np.nonzero(judged >= least + off), strict=True)) for off in (1e-5, -1e-5))
        assert surely <= set(aligned[pair].links) <= perhaps
        for (i, j), confidence in zip(aligned[pair].links, aligned[pair].confidence, strict=True):
            assert confidence == pytest.approx(wanted[i, j], abs=1e-5)


@every_model
@every_lexicon
def test_the_text_of_training_and_a_copy_of_it_are_aligned_alike(model, lexicon):
    """A copy is looked up word by word; there must be nothing in it that the cells of training do not have."""
    bitext = bitext_of([*TOY, ("", "a"), *TOY])
    aligner = model(lexicon=lexicon, threads=1).fit(bitext)
    for method in ("agreement", "forward", "reverse", "grow-diag-final-and"):
        own, other = (aligner.align(text, combine=method) for text in (bitext, copy_of(bitext)))
        for name in ("offsets", "source", "target", "confidence"):
            np.testing.assert_array_equal(getattr(own, name), getattr(other, name))
    np.testing.assert_array_equal(aligner.score(bitext), aligner.score(copy_of(bitext)))


@pytest.mark.parametrize("model", [model for model in MODELS.values() if model is not Mixed])
def test_scores_of_training_add_up_to_the_next_objective(model):
    """The objective is the likelihood before each M-step: that of the last one shows after one iteration more.

    `Mixed` gives pairs the HMM's scores, and trains Model 4 last.
    """
    bitext = bitext_of(TOY)
    options = {"lexicon": "ml", "agreement": False, "threads": 1, "tolerance": 0.0}
    scores = model(iterations=3, **options).fit(bitext).score(bitext)
    assert scores.shape == (len(bitext), 2)
    assert (scores < 0).all()
    assert scores.sum() == pytest.approx(model(iterations=4, **options).fit(bitext).objectives_[-1], rel=1e-5)


@every_model
def test_a_translation_scores_above_nonsense(model):
    aligner = model(threads=1).fit(bitext_of(TOY * 3))
    scores = aligner.score(bitext_of([("das Haus", "the house"), ("das Haus", "a book")]))
    assert (scores[0] > scores[1]).all()


@every_model
def test_directions_are_the_posteriors_run_by_run(model):
    bitext = bitext_of([*TOY, *TOY[:3]])
    aligner = model(threads=1).fit(bitext)
    runs = aligner.directions(bitext, cells=1, in_order=True)
    assert runs.groups is None
    found = [make() for make in runs.makers]
    assert [run.first for run in found] == list(range(len(bitext)))
    forward, reverse = aligner.posteriors(bitext)
    for wanted, given in (
        (forward.values, [run.forward.values for run in found]),
        (forward.target_null, [run.forward.target_null for run in found]),
        (reverse.values, [run.reverse.values for run in found]),
        (reverse.source_null, [run.reverse.source_null for run in found]),
        (aligner.score(bitext), [run.scores for run in found]),
    ):
        np.testing.assert_array_equal(np.concatenate(given), wanted)


@pytest.mark.parametrize("of_training", [True, False])
def test_repeated_pairs_are_scored_once(of_training):
    bitext = bitext_of([*TOY, *TOY])
    aligner = IBM1(threads=1).fit(bitext)
    runs = aligner.directions(bitext if of_training else copy_of(bitext))
    assert runs.pairs == sum(len(make().forward) for make in runs.makers) == len(TOY)
    ((size, places_of),) = runs.groups
    assert size == len(list(runs.makers))
    np.testing.assert_array_equal(places_of()[: len(TOY)], places_of()[len(TOY) :])


@every_model
@every_lexicon
def test_words_never_seen_are_aligned_without_harm(model, lexicon):
    aligner = model(lexicon=lexicon, threads=1).fit(bitext_of(TOY * 3))
    new = bitext_of([("das Haus quux", "the house frob"), ("quux", "frob"), ("zzz das", "1 2 3 4 5 6")])
    for found in aligner.posteriors(new):
        assert np.isfinite(found.values).all()
    assert np.isfinite(aligner.score(new)).all()


@every_lexicon
def test_known_words_beside_words_never_seen_are_linked(lexicon):
    aligner = HMM(lexicon=lexicon, threads=1).fit(bitext_of(TOY * 3))
    links = aligner.align_pair(["das", "Haus", "quux"], ["the", "house", "frob"]).links
    assert {(0, 0), (1, 1)} <= set(links)


def test_identical_words_never_seen_are_linked():
    aligner = HMM(threads=1).fit(bitext_of(TOY * 3))
    links = aligner.align_pair(["Zürich", "das", "Haus", "1998"], ["1998", "the", "house", "Zürich"]).links
    assert {(0, 3), (3, 0)} <= set(links)


def test_a_new_form_of_a_known_stem_is_linked_as_the_stem_is():
    lines = [
        ("le parlement siège", "the parliament sits"),
        ("le parlement", "the parliament"),
        ("la maison", "the house"),
        ("il siège", "he sits"),
        ("la maison brûle", "the house burns"),
    ]
    aligner = HMM(threads=1).fit(bitext_of(lines * 4))
    links = aligner.align_pair(["la", "maison", "parlementaire"], ["the", "parliamentary", "house"]).links
    assert {(1, 2), (2, 1)} <= set(links)


@every_model
def test_longer_sentences_than_those_of_training_are_aligned(model):
    aligner = model(threads=1).fit(bitext_of(TOY))
    source, target = ("das Haus " * 40).split(), ("the house " * 40).split()
    alignment = aligner.align_pair(source, target, threshold=0.0)
    assert len(alignment) == 80 * 80
    assert np.isfinite(alignment.confidence).all()


def test_an_aligner_that_is_not_trained_says_so():
    bitext = bitext_of(TOY)
    for use in (HMM().align, HMM().posteriors, HMM().score, HMM().directions):
        with pytest.raises(UsageError, match="not trained"):
            use(bitext)


def test_a_method_that_does_not_exist_is_refused():
    bitext = bitext_of(TOY)
    aligner = IBM1(iterations=1).fit(bitext)
    with pytest.raises(UsageError, match=r"grow-diag-final-and.*'best'"):
        aligner.align(bitext, combine="best")


def test_fitting_again_forgets_the_text_before():
    first, second = bitext_of(TOY), bitext_of([("x y", "u v"), ("x", "u")])
    again = IBM2(threads=1).fit(first).fit(second)
    fresh = IBM2(threads=1).fit(second)
    np.testing.assert_array_equal(again.lexicon_.table, fresh.lexicon_.table)
    assert again.objectives_ == fresh.objectives_
    assert len(again.align(first)) == len(first)


@every_model
def test_progress_ends_with_all_done(model):
    bitext, steps = bitext_of(TOY), []
    aligner = model(iterations=2, threads=1, tolerance=0.0).fit(bitext, progress=steps.append)
    stages = list(dict.fromkeys(step.stage for step in steps))
    assert stages == ["indexing", *(f"training {stage.name}" for stage in aligner.stages() if stage.iterations)]
    assert steps[-1].done == steps[-1].total
    assert steps[-1].objective == aligner.objectives_[-1]
    steps.clear()
    aligner.align(bitext, progress=steps.append)
    assert [(step.stage, step.done, step.total) for step in steps] == [("aligning", 0, 1), ("aligning", 11, 11)]


def test_no_pairs_at_all():
    nothing = Bitext.from_tokens([])
    aligner = HMM(threads=1).fit(nothing)
    assert len(aligner.align(nothing)) == 0
    assert aligner.score(nothing).shape == (0, 2)
    assert [len(found) for found in aligner.posteriors(nothing)] == [0, 0]


@every_model
def test_agreement_is_the_same_whether_the_directions_are_wanted_too(model):
    """Matrices are made of both directions, links of the model's own agreement; the bytes are equal."""
    bitext = bitext_of(TOY)
    aligner = model(threads=1).fit(bitext)
    copy = bitext_of(TOY)
    apart, at_once = (
        [make() for make in aligner.directions(copy, in_order=in_order).makers] for in_order in (True, False)
    )
    for one, other in zip(apart, at_once, strict=True):
        for name, values, _ in one.agreement.masses():
            np.testing.assert_array_equal(values, getattr(other.agreement, name))
