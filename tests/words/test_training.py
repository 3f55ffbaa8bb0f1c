"""EM never lowers its objective where theory says so."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitexts_words import TOY, bitext_of, bitexts
from cepts.engine import ThreadEngine
from cepts.store import MemoryShelf
from cepts.words import HMM, IBM1, IBM2, IBM3, IBM4, Diagonal
from cepts.words.index import Sizes
from cepts.words.job import TrainingJob
from cepts.words.jumps import Jumps
from cepts.words.lexicon_table import LexiconTable
from cepts.words.mixture import Uniform
from cepts.words.positions import Stage
from cepts.words.text import SIDES, ShelvedText
from cepts.words.training import AlignerTraining, add_statistics

EXACT = {"lexicon": "ml", "agreement": False, "tolerance": 0.0, "threads": 1}
MODELS = [IBM1, IBM2, Diagonal, HMM]


def largest_fall(model, bitext, iterations):
    """How much the objective falls in its worst step, as a share of its size (float32 rounds at about 1e-7)."""
    start = 0 if model is IBM1 else 2
    objectives = model(iterations=iterations, start_iterations=start, **EXACT).fit(bitext).objectives_
    assert len(objectives) == start + iterations
    # Model 1 and what follows are two objectives: each has to rise by itself.
    stages = [np.array(objectives[:start]), np.array(objectives[start:])]
    size = max(1.0, np.abs(objectives).max())
    return max(float(-np.diff(stage).min(initial=0.0)) for stage in stages) / size


@pytest.mark.parametrize("model", MODELS)
@settings(deadline=None, max_examples=40)
@given(bitexts(max_pairs=8, max_length=7))
def test_no_step_lowers_the_likelihood(model, bitext):
    assert largest_fall(model, bitext, 6) <= 1e-6


@pytest.mark.parametrize("model", MODELS)
def test_no_step_lowers_the_likelihood_of_many_iterations(model):
    assert largest_fall(model, bitext_of(TOY), 40) <= 1e-6


@pytest.mark.parametrize("model", MODELS)
def test_no_step_lowers_the_likelihood_of_long_sentences(model):
    """Words that come in an order of their own, so that far jumps matter."""
    random = np.random.default_rng(7)
    lines = []
    for _ in range(12):
        words = random.integers(0, 30, random.integers(10, 30))
        order = random.permutation(len(words))
        lines.append((" ".join(f"s{word}" for word in words), " ".join(f"t{word}" for word in words[order])))
    assert largest_fall(model, bitext_of(lines), 8) <= 1e-6


EXACT_EM = {"lexicon": "ml", "agreement": False}


@pytest.mark.parametrize(
    ("model", "options", "monotone"),
    [
        *((model, EXACT_EM, True) for model in MODELS),
        (HMM, {}, False),
        (HMM, {**EXACT_EM, "agreement": True}, False),
        (IBM1, {**EXACT_EM, "lexicon": "bayes"}, False),
        (IBM1, {**EXACT_EM, "lexicon": "backoff"}, False),
        (IBM1, {**EXACT_EM, "spelling": 1.0}, False),
        (IBM3, EXACT_EM, False),
        (IBM4, EXACT_EM, False),
    ],
)
def test_only_exact_em_claims_that_its_likelihood_cannot_fall(model, options, monotone):
    problem = training(bitext_of(TOY), model=model(threads=1, **options))
    assert (problem.allowed_fall < 1) == monotone


def test_training_to_agree_goes_on_when_the_likelihood_falls():
    """The run stops when the likelihood hardly changes any more, up or down."""
    found = IBM1(agreement=True, iterations=50, tolerance=1e-4, threads=1).fit(bitext_of(TOY))
    gains = np.diff(found.objectives_)
    fallen = np.flatnonzero(gains < 0)
    assert len(fallen)
    assert fallen[0] + 5 < len(found.objectives_) < 50
    assert abs(gains[-1]) < 1e-4 * np.ptp(found.objectives_) <= abs(gains[:-1]).min()


def training(bitext, positions=None, *, model=None, agreeing=False, threads=1, **sizes):
    """An EM problem on `bitext`, as `fit` makes it."""
    aligner = model or IBM1(**EXACT_EM | {"agreement": agreeing}, lowercase=False)
    sizes = Sizes(**sizes)
    text = ShelvedText.put(MemoryShelf(), bitext, sizes.shard)
    job = TrainingJob(aligner, text, sizes, ThreadEngine(threads), lasting=False)
    job.index()
    aligner.begin(job.indexed)
    positions = positions or aligner.positions_
    positions.prepare(job.indexed.facts)
    return AlignerTraining(job.indexed, LexiconTable(job.indexed), Stage("stage", positions, 1), run=job.run)


def found_by(problem):
    """The objective, and the sums of counts over each source word, of null and of the statistics."""
    objective = problem.e_step(quiet)
    indexed, shelf = problem.indexed, problem.shelf
    counts = []
    for number in range(len(indexed.ranges)):
        problem.add(number)
        rows = shelf.get(f"ranges/{number:05}")["rows"]
        values = shelf.get(f"training-stage/sums-1/{number:05}")["counts"][:, 0]
        counts.append([values[start:stop].sum(dtype=float) for start, stop in pairwise(rows)])
    by_rank = np.concatenate([np.empty(0), *counts])
    pieces = [shelf.get(f"training-stage/counts-1/{shard:05}") for shard in range(indexed.text.shards)]
    free = [np.zeros(len(side)) for side in indexed.sides]
    for piece in pieces:
        for side, total in zip(SIDES, free, strict=True):
            np.add.at(total, piece[f"{side}_words"], piece[f"{side}_free"])
    statistics = []
    for piece in pieces:
        add_statistics(piece, statistics)
    return objective, by_rank[indexed.ranges.ranks], *free, *statistics


def quiet(done, total):
    pass


@pytest.mark.parametrize("agreeing", [False, True])
@settings(deadline=None, max_examples=25)
@given(bitexts(max_pairs=6, max_length=4), st.integers(1, 12), st.integers(1, 3), st.integers(1, 12))
def test_parts_add_up_to_the_whole(agreeing, bitext, block, blocks, cells):
    whole = found_by(training(bitext, Jumps(), agreeing=agreeing))
    cut = training(bitext, Jumps(), agreeing=agreeing, block=block, shard=block * blocks, range=cells)
    for got, want in zip(found_by(cut), whole, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@settings(deadline=None, max_examples=25)
@given(bitexts(max_pairs=6, max_length=4))
def test_every_target_word_is_explained_once(bitext):
    _, counts, _, target_free, *_ = found_by(training(bitext, Uniform()))
    aligned = sum(len(target) for source, target in map(bitext.__getitem__, range(len(bitext))) if source)
    # Only pairs with both sides reach an E-step; words of the others are nobody's.
    assert counts.sum() + target_free.sum() == pytest.approx(aligned, rel=1e-5)


def test_the_e_step_tells_how_far_it_is():
    problem = training(bitext_of(TOY), Uniform(), block=10, shard=10)
    ticks = []
    problem.e_step(lambda done, total: ticks.append((done, total)))
    shards = problem.indexed.text.shards
    assert shards > 3
    assert ticks == [(done, shards) for done in range(1, shards + 1)]


@settings(deadline=None, max_examples=20)
@given(bitexts(max_pairs=6, max_length=4))
def test_a_repeated_text_has_the_same_lexicon_and_twice_the_likelihood(bitext):
    """Pairs that stand twice are looked at once."""
    from cepts.data import Bitext

    pairs = [bitext[pair] for pair in range(len(bitext))]
    once = HMM(**{**EXACT, "iterations": 3}).fit(bitext)
    twice = HMM(**{**EXACT, "iterations": 3}).fit(Bitext.from_tokens([*pairs, *pairs]))
    np.testing.assert_allclose(twice.objectives_, 2 * np.array(once.objectives_), rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(twice.lexicon_.table, once.lexicon_.table, rtol=1e-3, atol=1e-5)


def em_of_model1(pairs, start, iterations):
    """Eq. (25) of ibm12, written out: the lexicon after some iterations, and its log-likelihood; null is word 0."""
    table = start.copy()
    for _ in range(iterations + 1):
        counts, log_likelihood = np.zeros_like(table), 0.0
        for source, target in pairs:
            for f in target:
                among = table[[0, *source], f]
                log_likelihood += np.log(among.sum() / (len(source) + 1))
                np.add.at(counts[:, f], [0, *source], among / among.sum())
        last, table = table, counts / counts.sum(axis=1, keepdims=True)
    return last, log_likelihood


def test_the_maximum_of_model_1_is_not_unique():
    """Words that occur only together: EM from two starts reaches one likelihood by two lexicons."""
    lines = [("white house", "maison blanche")] * 3 + [("red", "rouge"), ("white house red", "maison blanche rouge")]
    numbers = {"white": 1, "house": 2, "red": 3, "maison": 0, "blanche": 1, "rouge": 2}
    pairs = [tuple([numbers[word] for word in side.split()] for side in pair) for pair in lines]
    even = np.full((4, 3), 1 / 3)
    tilted = np.array([[1, 1, 1], [6, 1, 1], [1, 6, 1], [1, 1, 1.0]]) / np.array([[3], [8], [8], [3]])
    (one, first), (other, second) = (em_of_model1(pairs, start, 3000) for start in (even, tilted))
    assert first == pytest.approx(second, abs=1e-3)
    assert abs(one - other).max() > 0.3
    # The aligner starts even; its likelihood is that of both directions.
    found = IBM1(iterations=3000, **EXACT).fit(bitext_of(lines))
    reverse = [([f + 1 for f in target], [e - 1 for e in source]) for source, target in pairs]
    assert found.objectives_[-1] == pytest.approx(first + em_of_model1(reverse, even, 3000)[1], rel=1e-4)
