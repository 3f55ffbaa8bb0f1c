"""The aligners of Models 3 and 4: stages, options, what they learn, what they keep."""

from __future__ import annotations

import numpy as np
import pytest

from bitexts_words import TOY, bitext_of, copy_of
from cepts.data import Bitext
from cepts.errors import UsageError
from cepts.words import HMM, IBM3, IBM4, load_aligner
from cepts.words import aligner as aligner_module
from cepts.words.index import Sizes

every_model = pytest.mark.parametrize("model", [IBM3, IBM4], ids=["ibm3", "ibm4"])
NEW = bitext_of([("das kleine neue Haus", "the small new house"), ("x", "y"), ("", "z"), ("das " * 40, "the " * 25)])


def lists_of(aligner, bitext, count=20):
    """The bytes of both directions' lists."""
    lists = aligner.nbest(bitext, count)
    return [array.tobytes() for one in lists for array in (one.offsets, one.log_probabilities, one.positions)]


@every_model
def test_stages_are_model_1_the_hmm_and_the_model(model):
    steps = []
    options = {"iterations": 2, "hmm_iterations": 3, "start_iterations": 1, "threads": 1}
    aligner = model(**options).fit(bitext_of(TOY), progress=steps.append)
    stages = list(dict.fromkeys(step.stage for step in steps))
    assert stages == ["indexing", "training ibm1", "training hmm", f"training {model.name}"]
    assert len(aligner.objectives_) == 1 + 3 + 2
    hmm = HMM(iterations=3, start_iterations=1, tolerance=0.0, threads=1).fit(bitext_of(TOY))
    np.testing.assert_allclose(aligner.objectives_[:4], hmm.objectives_)
    np.testing.assert_array_equal(aligner.positions_.jumps.jumps, hmm.positions_.jumps)


@every_model
@pytest.mark.parametrize("lexicon", ["ml", "bayes", "backoff"])
def test_a_toy_text_is_aligned(model, lexicon):
    aligner = model(lexicon=lexicon, null_prob=0.02, threads=1).fit(bitext_of(TOY))
    assert aligner.align_pair(["das", "kleine", "Haus"], ["the", "small", "house"]).links == [(0, 0), (1, 1), (2, 2)]


@every_model
def test_fertilities_are_those_of_the_text(model):
    """One word stands for three, another for none."""
    random = np.random.default_rng(0)
    pairs = []
    for _ in range(200):
        words = random.integers(0, 30, random.integers(3, 8))
        source = [f"s{word}" for word in words]
        target = [f"t{word}" for word in words]
        if random.random() < 0.3:
            place = random.integers(0, len(words))
            source[place], target[place : place + 1] = "potatoes", ["pommes", "de", "terre"]
        if random.random() < 0.5:
            source.insert(random.integers(0, len(words)), "do")
        pairs.append((source, target))
    aligner = model(agreement=False, lexicon="ml", null_prob=0.001, threads=1).fit(Bitext.from_tokens(pairs))
    potatoes, do, other = aligner.source_.vocabulary.numbers(["potatoes", "do", "s3"])
    fertility = aligner.positions_.source_fertility
    assert fertility[potatoes].argmax() == 3
    assert fertility[do].argmax() == 0
    assert fertility[other].argmax() == 1
    forward = aligner.align_pair(
        ["s1", "do", "potatoes", "s2"], ["t1", "pommes", "de", "terre", "t2"], combine="forward"
    )
    assert forward.links == [(0, 0), (2, 1), (2, 2), (2, 3), (3, 4)]


def test_model_4_learns_the_order_of_words():
    """Where the words of a pair say nothing, those of one order go with their order in the other text."""
    random = np.random.default_rng(1)
    pairs = []
    for _ in range(300):
        words = random.permutation(12)[: random.integers(3, 7)]
        pairs.append(([f"s{word}" for word in words], [f"t{word}" for word in words[::-1]]))
    aligner = IBM4(classes=4, threads=1).fit(Bitext.from_tokens(pairs))
    for combine in ("forward", "reverse"):
        found = aligner.align_pair(["s1", "x", "y", "z", "s2"], ["t2", "c", "b", "a", "t1"], combine=combine)
        assert found.links == [(0, 4), (1, 3), (2, 2), (3, 1), (4, 0)]


@every_model
def test_options_are_kept(tmp_path, model):
    options = {"iterations": 2, "hmm_iterations": 1, "null_prob": 0.2, "lowercase": False}
    if model is IBM4:
        options["classes"] = 7
    fitted = model(**options, threads=1).fit(bitext_of(TOY))
    assert options.items() <= fitted.get_params().items()
    fitted.save(tmp_path)
    loaded = load_aligner(tmp_path, threads=1)
    assert type(loaded) is model
    assert loaded.get_params() == fitted.get_params()
    for bitext in (bitext_of(TOY), NEW):
        assert lists_of(loaded, bitext) == lists_of(fitted, bitext)


@every_model
@pytest.mark.parametrize("agreement", [False, True])
def test_any_number_of_threads_gives_the_same_lists(model, agreement, monkeypatch):
    monkeypatch.setattr(aligner_module, "SIZES", Sizes(block=20, shard=60, range=40))
    bitext = bitext_of([*TOY, ("", "a"), *TOY])
    one, two = (model(agreement=agreement, threads=threads).fit(bitext) for threads in (1, 2))
    assert one.objectives_ == two.objectives_
    for text in (bitext, copy_of(bitext), NEW):
        assert lists_of(one, text) == lists_of(two, text)


@every_model
def test_lists_begin_no_worse_than_the_viterbi_alignment(model):
    bitext = bitext_of([*TOY, ("", "a")])
    aligner = model(threads=1).fit(bitext)
    forward, reverse = aligner.nbest(bitext, 30)
    single, _ = aligner.nbest(bitext, 1)
    links = aligner.align(bitext, combine="forward")
    scores = aligner.score(bitext)
    for pair in range(len(bitext) - 1):
        log_probabilities, positions = forward[pair]
        (best,), (first,) = single[pair]
        assert log_probabilities[0] >= best
        assert links[pair].links == sorted((int(i), j) for j, i in enumerate(first) if i >= 0)
        # The neighbourhood has more than its best alignment.
        assert scores[pair, 0] > best
        assert len(np.unique(positions, axis=0)) == len(log_probabilities)
    assert len(forward[len(bitext) - 1][0]) == len(reverse[len(bitext) - 1][0]) == 0


@every_model
def test_no_pairs_at_all(model):
    nothing = Bitext.from_tokens([])
    aligner = model(threads=1).fit(nothing)
    assert len(aligner.align(nothing)) == 0
    assert len(aligner.nbest(nothing, 3)[0]) == 0
    assert len(aligner.align(NEW)) == len(NEW)


@pytest.mark.parametrize(
    ("model", "option", "value"),
    [(IBM3, "hmm_iterations", -1), (IBM4, "hmm_iterations", -1), (IBM4, "classes", 0), (IBM4, "null_prob", 1.0)],
)
def test_options_out_of_range_are_refused(model, option, value):
    with pytest.raises(UsageError, match=option) as raised:
        model(**{option: value})
    assert "Got" in str(raised.value)
