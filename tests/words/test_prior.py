"""What was learnt before: models that are updated and merged, and counts from elsewhere."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cepts.words.aligner as aligner_module
import oracles_words as oracles
from bitexts_words import TOY, WORDS_WITH_STEMS, bitext_of, bitexts, copy_of, results, sentence_pairs
from cepts.data import NULL_WORD, Bitext, PriorEntries
from cepts.errors import ModelError, UsageError
from cepts.words import HMM, IBM1, IBM2, IBM3, IBM4, MODELS, CountTable, Mixed, Prior, load_aligner, merge_aligners
from cepts.words.fertility import FERTILITIES, Distortions, class_shares
from cepts.words.index import Sizes
from cepts.words.jumps import Jumps
from cepts.words.positions import EarlierPositions
from cepts.words.text import TextFacts

every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
every_lexicon = pytest.mark.parametrize("lexicon", ["ml", "bayes", "backoff"])
EXACT = {"lexicon": "ml", "agreement": False, "tolerance": 0.0, "threads": 1}
OLD = bitext_of(TOY[:7])
NEW = bitext_of([*TOY[5:], ("der neue Hund", "the new dog"), ("der alte Hund ist neu", "the old dog is new")])
BOTH = bitext_of(
    [*TOY[:7], *TOY[5:], ("der neue Hund", "the new dog"), ("der alte Hund ist neu", "the old dog is new")]
)
CLOSE = {"rtol": 2e-4, "atol": 1e-6}


def cells_of(aligner):
    """The cells of a lexicon: pairs of words, with counts and probabilities of both directions."""
    lexicon = aligner.lexicon_
    source = np.repeat(np.arange(len(aligner.source_)), np.diff(lexicon.rows))
    words, others = aligner.source_.vocabulary.words, aligner.target_.vocabulary.words
    counts = lexicon.observed()
    return {
        (words[e], others[f]): (counts[cell].tolist(), lexicon.table[cell].tolist())
        for cell, (e, f) in enumerate(zip(source, lexicon.targets, strict=True))
    }


def free_of(aligner, side):
    """How often null explained each word of a side."""
    words = (aligner.source_, aligner.target_)[side].vocabulary.words
    return dict(zip(words, aligner.null_.counts[side].tolist(), strict=True))


def forward_counts(aligner):
    """Expected counts of the forward direction, null's too, as the oracle has them."""
    found = {pair: counts[0] for pair, (counts, _) in cells_of(aligner).items()}
    return found | {(oracles.NULL, word): count for word, count in free_of(aligner, 1).items()}


def reversed_counts(aligner):
    found = {pair[::-1]: counts[-1] for pair, (counts, _) in cells_of(aligner).items()}
    return found | {(oracles.NULL, word): count for word, count in free_of(aligner, 0).items()}


def lexicon_of(aligner, *, reverse=False):
    """The probabilities of one direction, null's too, as the oracle has them."""
    found = {pair[:: -1 if reverse else 1]: table[reverse] for pair, (_, table) in cells_of(aligner).items()}
    side = (aligner.target_, aligner.source_)[reverse]
    null = (aligner.null_.target, aligner.null_.source)[reverse]
    return found | {(oracles.NULL, word): p for word, p in zip(side.vocabulary.words, null.tolist(), strict=True)}


# -- updating ----------------------------------------------------------------------------------------------------------


def start_of(old, new, *, reverse=False, weight=1.0):
    """The lexicon from which training on new pairs starts, from its definition."""
    counts = (reversed_counts if reverse else forward_counts)(old)
    counts = {pair: weight * count for pair, count in counts.items()}
    pairs = [pair[::-1] if reverse else pair for pair in new]
    frequencies = defaultdict(int)
    for side in (old.source_, old.target_)[not reverse : len(pairs) + 2 if reverse else 2][:1]:
        for word, times in zip(side.vocabulary.words, side.frequencies.tolist(), strict=True):
            frequencies[word] += max(round(weight * times), 1)
    for source, target in pairs:
        for word in target if source and target else ():
            frequencies[word] += 1
    totals = defaultdict(float)
    for (e, _), count in counts.items():
        totals[e] += count
    found = {}
    for e, f in {*counts, *((e, f) for source, target in pairs for e in source for f in target)}:
        if e is not oracles.NULL:
            found[e, f] = (counts.get((e, f), 0.0) + 1 / len(frequencies)) / (totals[e] + 1)
    words, all_words = totals[oracles.NULL], sum(frequencies.values())
    for f, times in frequencies.items():
        unigram = times / all_words
        smoothed = (
            (counts.get((oracles.NULL, f), 0.0) + 0.1 * words * unigram) / (1.1 * words) if words > 0 else unigram
        )
        found[oracles.NULL, f] = smoothed
    return found


@pytest.mark.parametrize("reverse", [False, True])
@settings(deadline=None, max_examples=30)
@given(
    old=bitexts(min_length=1),
    new=bitexts(words=("a", "b", "x", "y"), max_pairs=3, min_length=1),
    iterations=st.integers(1, 3),
    weight=st.sampled_from([0.5, 1.0, 3.0]),
)
def test_an_updated_model_is_em_with_the_earlier_counts_in_every_m_step(reverse, old, new, iterations, weight):
    model = IBM1(iterations=3, **EXACT).fit(old)
    earlier = (reversed_counts if reverse else forward_counts)(model)
    oracle = oracles.MixtureEM([pair[::-1] if reverse else pair for pair in sentence_pairs(new)])
    oracle.lexicon = defaultdict(float, start_of(model, sentence_pairs(new), reverse=reverse, weight=weight))
    earlier = {pair: weight * count for pair, count in earlier.items()}
    for _ in range(iterations):
        oracle.step(learn_positions=False, earlier=earlier)
    model.set_params(iterations=iterations).update(new, weight=weight)
    found = lexicon_of(model, reverse=reverse)
    for pair, probability in found.items():
        assert probability == pytest.approx(oracle.lexicon[pair], rel=2e-3, abs=1e-6), pair


@settings(deadline=None, max_examples=25)
@given(old=bitexts(min_length=1), new=bitexts(words=("a", "b", "x"), max_pairs=4, min_length=1))
def test_no_iteration_lowers_the_likelihood_of_both_texts(old, new):
    """That of the new text and the expected one of the old text, whose posteriors stay."""
    objectives = []
    for iterations in range(1, 5):
        model = IBM1(iterations=3, **EXACT).fit(old)
        earlier = forward_counts(model), reversed_counts(model)
        model.set_params(iterations=iterations).update(new)
        objective = float(model.score(copy_of(new)).sum())
        for reverse, counts in enumerate(earlier):
            lexicon = lexicon_of(model, reverse=bool(reverse))
            objective += sum(count * np.log(lexicon[pair]) for pair, count in counts.items() if count > 1e-6)
        objectives.append(objective)
    assert np.diff(objectives).min() >= -1e-4 * max(1.0, abs(objectives[0]))


@settings(deadline=None, max_examples=20)
@given(old=bitexts(min_length=1), new=bitexts(min_length=1, max_pairs=3))
def test_model_2_adds_the_positions_of_each_shape(old, new):
    model = IBM2(iterations=1, start_iterations=1, **EXACT).fit(old)
    seen = {key: array.copy() for key, array in model.positions_.state().items()}
    model.update(new)
    trained, tables = model.positions_.trained, model.positions_.seen
    # One iteration on the new text: what it expected is what was seen less what was there before.
    shapes = list(zip(seen["sizes"], seen["lengths"], strict=True))
    starts = np.cumsum([0, *(size * length for size, length in shapes)])
    for place, shape in enumerate(zip(trained.shapes.source_lengths, trained.shapes.target_lengths, strict=True)):
        here = slice(*trained.offsets[place : place + 2])
        of_new = sum(1 for s, t in sentence_pairs(new) if (len(s), len(t)) == shape) * shape[1]
        of_old = 0.0
        if shape in shapes:
            there = shapes.index(shape)
            of_old = seen["seen.0"][starts[there] : starts[there + 1]]
            assert (tables[0][here] >= of_old - 1e-5).all()
        nulls = tables[2][slice(*trained.forward_null_offsets[place : place + 2])].sum()
        of_old_pairs = sum(1 for s, t in sentence_pairs(old) if (len(s), len(t)) == shape) * shape[1]
        assert tables[0][here].sum() + nulls == pytest.approx(of_new + of_old_pairs, rel=1e-4)


@every_model
@every_lexicon
@pytest.mark.parametrize("agreement", [False, True])
def test_every_model_can_be_updated_saved_and_updated_again(tmp_path, model, lexicon, agreement):
    fitted = model(lexicon=lexicon, agreement=agreement, threads=1).fit(OLD)
    fitted.save(tmp_path / "old")
    updated = load_aligner(tmp_path / "old", threads=1).update(NEW)
    words = {word.lower() for source, _ in sentence_pairs(BOTH) for word in source}
    assert set(updated.source_.vocabulary.words) == words
    assert set(updated.stage_objectives_) == {stage.name for stage in updated.later_stages()}
    updated.save(tmp_path / "new")
    loaded = load_aligner(tmp_path / "new", threads=1)
    for text in (OLD, NEW, bitext_of([("der Hund im Haus", "the dog in the house"), ("", "x")])):
        for got, want in zip(results(loaded, text), results(updated, copy_of(text)), strict=True):
            np.testing.assert_array_equal(got, want)
    assert np.isfinite(loaded.update(OLD).score(BOTH)).all()
    for frequencies, text in zip((updated.source_, updated.target_), (BOTH.source, BOTH.target), strict=True):
        assert frequencies.frequencies.sum() == len(text.ids)


@every_model
def test_an_updated_model_is_close_to_one_of_both_texts(model):
    whole = model(threads=1).fit(BOTH)
    updated = model(threads=1).fit(OLD).update(NEW)
    old = model(threads=1).fit(OLD)
    far = abs(old.score(BOTH).sum() - whole.score(BOTH).sum())
    assert abs(updated.score(BOTH).sum() - whole.score(BOTH).sum()) < 0.35 * far
    cohesion, wanted = updated.cohesion(), whole.cohesion()
    assert [part.times.sum() for part in cohesion] == [part.times.sum() for part in wanted]
    assert [part.counts.sum() for part in cohesion] == [part.counts.sum() for part in wanted]


@every_model
@every_lexicon
def test_parts_threads_and_files_do_not_matter(model, lexicon, tmp_path, monkeypatch):
    random = np.random.default_rng(3)
    words = [*WORDS_WITH_STEMS, *(f"{stem}{end}" for stem in ("chamb", "minis", "quest") for end in ("er", "ers", "e"))]

    def sentence():
        return [words[word] for word in random.integers(0, len(words), random.integers(0, 9))]

    old, new = (Bitext.from_tokens([(sentence(), sentence()) for _ in range(50)]) for _ in range(2))
    options = {"lexicon": lexicon, "iterations": 2, "tolerance": 0.0}
    trained = model(threads=1, **options).fit(old)
    trained.save(tmp_path / "old")
    whole = trained.update(new)
    monkeypatch.setattr(aligner_module, "SIZES", Sizes(block=150, shard=400, range=60))
    parts = load_aligner(tmp_path / "old", threads=1).update(new)
    assert parts._indexed.text.shards > 2
    assert len(parts._indexed.ranges) > 2
    np.testing.assert_allclose(parts.score(copy_of(new)), whole.score(copy_of(new)), rtol=1e-4)
    np.testing.assert_allclose(parts.score(old), whole.score(old), rtol=1e-4)
    kept = load_aligner(tmp_path / "old", threads=3).update(new, checkpoint=tmp_path / "work")
    for got, want in zip(results(kept, new), results(parts, new), strict=True):
        np.testing.assert_array_equal(got, want)


class Interrupted(Exception):
    """Stands for Ctrl-C."""


@every_model
def test_an_update_that_was_interrupted_goes_on(tmp_path, model):
    options = {"scarce": 0} if model is Mixed else {}
    model(threads=1, **options).fit(OLD).save(tmp_path / "old")

    def stop(step):
        if step.stage == f"training {model.name}" and step.iteration == min(2, model().iterations):
            raise Interrupted

    options = {"checkpoint": tmp_path / "work", "weight": 2.0}
    with pytest.raises(Interrupted):
        load_aligner(tmp_path / "old").update(NEW, progress=stop, **options)
    resumed = load_aligner(tmp_path / "old").update(NEW, **options)
    whole = load_aligner(tmp_path / "old").update(NEW, weight=2.0)
    for got, want in zip(results(resumed, NEW), results(whole, NEW), strict=True):
        np.testing.assert_array_equal(got, want)
    resumed.save(tmp_path / "resumed")
    whole.save(tmp_path / "whole")
    arrays = [(tmp_path / name / "arrays.safetensors").read_bytes() for name in ("resumed", "whole")]
    assert arrays[0] == arrays[1]


def test_a_checkpoint_of_another_prior_is_refused(tmp_path):
    old = IBM1(threads=1).fit(OLD)
    old.save(tmp_path / "old")
    old.update(NEW, checkpoint=tmp_path / "work")
    for other in (
        lambda: load_aligner(tmp_path / "old").update(NEW, weight=2.0, checkpoint=tmp_path / "work"),
        lambda: IBM1().fit(NEW, checkpoint=tmp_path / "work"),
        lambda: IBM1().fit(NEW).update(NEW, checkpoint=tmp_path / "work"),
    ):
        with pytest.raises(ModelError, match="other models or priors") as raised:
            other()
        assert "\n" not in str(raised.value)
    load_aligner(tmp_path / "old").update(NEW, checkpoint=tmp_path / "work")


def test_a_model_without_counts_is_refused(tmp_path):
    fitted = IBM1().fit(OLD)
    fitted.null_.counts = None
    with pytest.raises(ModelError, match="train it again"):
        fitted.update(NEW)
    with pytest.raises(UsageError, match="not trained"):
        IBM1().update(NEW)
    with pytest.raises(UsageError, match="`weights` must be above 0"):
        IBM1().fit(OLD).update(NEW, weight=0.0)


@every_model
@pytest.mark.parametrize(
    "lines", [[], [("", "")], [("a b", "")], [("x", "y")]], ids=["none", "empty", "one side", "one"]
)
def test_updating_with_hardly_any_text(tmp_path, model, lines):
    updated = model(threads=1).fit(OLD).update(bitext_of(lines))
    updated.save(tmp_path)
    assert np.isfinite(load_aligner(tmp_path).score(BOTH)).all()
    again = model(threads=1).fit(bitext_of(lines)).update(OLD)
    assert np.isfinite(again.score(OLD)).all()


@every_model
@pytest.mark.parametrize("lexicon", ["ml", "backoff"])
def test_rare_words_of_the_new_text_that_are_known_stay_words(model, lexicon):
    options = {"lexicon": lexicon, "min_count": 2, "threads": 1}
    old = bitext_of([*TOY, ("selten", "rare"), ("selten", "seldom")])
    updated = (
        model(**options).fit(old).update(bitext_of([("selten neu Neuheit", "rare new"), ("das Haus", "the house")]))
    )
    words = updated.source_.vocabulary.words
    assert {"selten", "haus"} <= set(words)
    assert "neuheit" not in words
    frequencies = dict(zip(words, updated.source_.frequencies.tolist(), strict=True))
    assert (frequencies["selten"], frequencies["haus"]) == (3, 6)
    assert np.isfinite(updated.score(old)).all()
    assert sum(frequencies.values()) == len(old.source.ids) + 5


def test_a_pruned_model_can_be_updated(tmp_path):
    HMM(threads=1).fit(OLD).save(tmp_path, prune=0.1)
    assert np.isfinite(load_aligner(tmp_path).update(NEW).score(BOTH)).all()


# -- merging -----------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(
    texts=st.lists(bitexts(words=(*WORDS_WITH_STEMS[:4], "1998"), min_length=1), min_size=2, max_size=3),
    spelling=st.sampled_from([0.0, 0.5]),
    data=st.data(),
)
def test_a_merged_lexicon_has_the_sums_of_the_counts(texts, spelling, data):
    models = [IBM1(iterations=2, spelling=spelling, **EXACT).fit(text) for text in texts]
    weights = data.draw(st.sampled_from([(), (1.0,) * len(texts), (0.5, 2.0, 3.0)[: len(texts)]]))
    merged = merge_aligners(models, weights, threads=1)
    counts = defaultdict(lambda: np.zeros(2))
    alike = {}
    for model, weight in zip(models, weights or [1.0] * len(models), strict=True):
        for pair, (found, _) in cells_of(model).items():
            counts[pair] += weight * np.array(found)
            like = oracles.likeness(*pair, 0.6)
            alike[pair] = spelling * like
    totals = [defaultdict(float), defaultdict(float)]
    for (e, f), found in counts.items():
        totals[0][e] += found[0] + alike[e, f]
        totals[1][f] += found[1] + alike[e, f]
    for (e, f), (_, table) in cells_of(merged).items():
        wanted = [(counts[e, f][0] + alike[e, f]) / max(totals[0][e], 1e-30)]
        wanted.append((counts[e, f][1] + alike[e, f]) / max(totals[1][f], 1e-30))
        assert table == pytest.approx(wanted, rel=1e-3, abs=1e-6)
    for side in range(2):
        free = defaultdict(float)
        for model, weight in zip(models, weights or [1.0] * len(models), strict=True):
            for word, count in free_of(model, side).items():
                free[word] += weight * count
        assert free_of(merged, side) == pytest.approx(dict(free))


@pytest.mark.parametrize("model", [IBM1, IBM2, HMM])
def test_merging_a_model_with_itself_changes_no_probability(model):
    fitted = model(**EXACT).fit(NEW)
    merged = merge_aligners([fitted, fitted], threads=1)
    for pair, (counts, table) in cells_of(merged).items():
        before = cells_of(fitted)[pair]
        np.testing.assert_allclose(counts, 2 * np.array(before[0]), rtol=1e-5)
        np.testing.assert_allclose(table, before[1], rtol=1e-5)
    for got, want in zip(merged.posteriors(NEW), fitted.posteriors(NEW), strict=True):
        np.testing.assert_allclose(got.values, want.values, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(merged.score(NEW), fitted.score(NEW), rtol=1e-4, atol=1e-6)


@every_model
@every_lexicon
def test_merging_is_symmetric_and_keeps_all_words(tmp_path, model, lexicon):
    options = {"lexicon": lexicon, "threads": 1} | ({"classes": 1} if model is IBM4 else {})
    one, other = model(**options).fit(OLD), model(**options).fit(NEW)
    merged, turned = merge_aligners([one, other], threads=1), merge_aligners([other, one], threads=1)
    assert sorted(merged.source_.vocabulary.words) == sorted(
        {*one.source_.vocabulary.words, *other.source_.vocabulary.words}
    )
    np.testing.assert_allclose(merged.score(BOTH), turned.score(BOTH), rtol=1e-4)
    merged.save(tmp_path)
    np.testing.assert_array_equal(load_aligner(tmp_path, threads=1).score(BOTH), merged.score(BOTH))


def test_a_weight_of_two_is_merging_twice():
    one, other = (HMM(**EXACT).fit(text) for text in (OLD, NEW))
    twice, weighted = merge_aligners([one, one, other]), merge_aligners([one, other], [2.0, 1.0])
    np.testing.assert_allclose(twice.score(BOTH), weighted.score(BOTH), rtol=1e-5)


def test_several_models_are_merged_and_updated_in_one_go():
    one, other = (IBM1(**EXACT).fit(text) for text in (OLD, NEW))
    at_once = IBM1(**EXACT).fit(BOTH, prior=Prior([one, other]))
    in_turn = merge_aligners([one, other], threads=1).update(BOTH)
    np.testing.assert_allclose(at_once.score(BOTH), in_turn.score(BOTH), rtol=1e-5)


def test_models_that_differ_are_refused_in_one_line():
    one = IBM1().fit(OLD)
    for other, said in ((HMM().fit(OLD), "one model is ibm1"), (IBM1(lowercase=False).fit(OLD), "`lowercase` is True")):
        with pytest.raises(ModelError, match=said) as raised:
            merge_aligners([one, other])
        assert "\n" not in str(raised.value)
    merge_aligners([one, IBM1(iterations=2, max_length=7, threads=1).fit(OLD)])
    with pytest.raises(UsageError, match="two or more"):
        merge_aligners([one])
    with pytest.raises(UsageError, match="2 times"):
        merge_aligners([one, one], [1.0])


# -- counts from elsewhere ---------------------------------------------------------------------------------------------


def table_of(*parts):
    return CountTable(lambda: iter(parts), "0")


def entries(pairs, **more):
    return PriorEntries([e for e, _, _ in pairs], [f for _, f, _ in pairs], np.array([c for *_, c in pairs]), **more)


@pytest.mark.parametrize("reverse", [False, True])
@settings(deadline=None, max_examples=25)
@given(
    new=bitexts(words=("a", "b", "x"), max_pairs=3, min_length=1),
    pairs=st.lists(
        st.tuples(*[st.sampled_from(["a", "B", "x", "z", NULL_WORD])] * 2, st.sampled_from([0.0, 0.5, 7.0])), max_size=8
    ),
)
def test_counts_of_a_table_are_added_in_every_m_step(reverse, new, pairs):
    model = IBM1(iterations=2, **EXACT).fit(new, prior=Prior(table=table_of(entries(pairs[:3]), entries(pairs[3:]))))
    texts = [pair[::-1] if reverse else pair for pair in sentence_pairs(new)]
    sides = [{word for pair in texts for word in pair[side]} for side in range(2)]
    earlier = defaultdict(float)
    for e, f, count in pairs:
        e, f = (f.lower(), e.lower()) if reverse else (e.lower(), f.lower())
        if e == f == NULL_WORD.lower() or f == NULL_WORD.lower() or f not in sides[1]:
            continue
        if e == NULL_WORD.lower():
            earlier[oracles.NULL, f] += count
        elif e in sides[0]:
            earlier[e, f] += count
    found = lexicon_of(model, reverse=reverse)
    # The last M-step: its counts are those that the model remembers.
    counts = (reversed_counts if reverse else forward_counts)(model)
    totals = defaultdict(float)
    for (e, _), count in counts.items():
        totals[e] += count
    for pair, count in counts.items():
        assert count >= earlier[pair] - 1e-4
        assert found[pair] == pytest.approx(count / totals[pair[0]], rel=1e-3, abs=1e-6)
    words = sum(len(target) for source, target in texts)
    assert sum(counts.values()) == pytest.approx(words + sum(earlier.values()), rel=1e-4)


def test_a_dictionary_as_a_table_decides_what_the_text_cannot():
    text = bitext_of([("a b", "x y")] * 3)
    for pairs, wanted in (
        ((["a", "x", 5.0], ["b", "y", 5.0]), [(0, 0), (1, 1)]),
        (
            (["a", "y", 5.0], ["b", "x", 5.0]),
            [(0, 1), (1, 0)],
        ),
    ):
        model = IBM1(threads=1).fit(text, prior=Prior(table=table_of(entries(pairs))))
        assert [link[:2] for link in model.align(text)[0].links] == wanted


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 1000), share=st.sampled_from([1.0, 0.25]), reach=st.integers(1, 30))
def test_jumps_of_a_table_count_as_jumps_of_any_distance(seed, share, reach):
    random = np.random.default_rng(seed)
    model = Jumps()
    model.prepare(TextFacts(1, 20, np.array([3]), np.array([3]), (1, 1), None))
    given_jumps = random.exponential(size=(2, 2 * reach + 1))
    model.add_earlier(EarlierPositions({"jumped": given_jumps}, 1.0, np.zeros(1, int), np.zeros(1, int)))
    statistics = [random.exponential(size=shape) for shape in [(2, 41)] * 2 + [(2, 21)] * 2]
    weights = model.jumps.astype(float).copy()
    model.learn(statistics, share=share)
    for direction in range(2):
        numerator, denominator = statistics[0][direction] / share, statistics[1][direction] / share
        for distance in range(-reach, reach + 1):
            numerator[20 + max(-20, min(20, distance))] += given_jumps[direction, reach + distance]
        denominator = denominator + given_jumps[direction].sum() / weights[direction].sum()
        # Near jumps have weights of their own.
        near = slice(20 - 8, 20 + 9)
        found = model.jumps[direction, near] / model.jumps[direction, 20]
        wanted = (numerator / denominator)[near]
        np.testing.assert_allclose(found, wanted / wanted[8], rtol=1e-4)
        np.testing.assert_allclose(model.seen[0][direction], numerator)


def test_jumps_and_fertilities_of_a_table_are_used():
    text = bitext_of([("a b c d", "w x y z")] * 5)
    jumps = [(direction, jump, count) for direction in range(2) for jump, count in ((1, 1.0), (-1, 1000.0))]
    plain = HMM(threads=1).fit(text)
    told = HMM(threads=1).fit(text, prior=Prior(table=table_of(entries([], jumps=jumps))))
    back, on = (told.positions_.jumps[:, told.positions_.reach + jump] for jump in (-1, 1))
    assert (back > 10 * on).all()
    assert (plain.positions_.jumps[:, plain.positions_.reach - 1] < 1).all()
    fertilities = [(0, "A", 2, 1000.0), (1, "w", 99, 500.0), (0, "unknown", 1, 1.0)]
    told = IBM3(threads=1).fit(text, prior=Prior(table=table_of(entries([], fertilities=fertilities))))
    number = told.source_.vocabulary.number("a")
    assert told.positions_.source_fertility[number].argmax() == 2
    assert told.positions_.target_fertility[told.target_.vocabulary.number("w")].argmax() == FERTILITIES - 1


def test_a_table_and_a_model_together():
    model = IBM1(**EXACT).fit(OLD)
    pairs = [("hund", "dog", 3.0), ("hund", "house", 1.0)]
    updated = IBM1(**EXACT).fit(NEW, prior=Prior([model], table=table_of(entries(pairs))))
    plain = IBM1(**EXACT).fit(OLD).update(NEW)
    more = cells_of(updated)["hund", "dog"][0][0] - cells_of(plain)["hund", "dog"][0][0]
    assert 2.5 < more < 4.0


# -- word classes ------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3), st.sampled_from([0.0, 1.0, 2.5])), max_size=8))
def test_shares_of_classes(words):
    before, now, weights = (np.array([word[part] for word in words]) for part in range(3))
    found = class_shares(before.astype(np.int32), now.astype(np.int32), weights.astype(float), 4)
    for one in range(4):
        mass = [sum(w for b, n, w in words if (b, n) == (one, other)) for other in range(4)]
        wanted = np.array(mass) / sum(mass) if sum(mass) > 0 else np.eye(4)[one]
        np.testing.assert_allclose(found[one], wanted)


def test_known_words_keep_their_classes_and_their_placements():
    old = IBM4(classes=4, threads=1).fit(OLD)
    classes = dict(zip(old.source_.vocabulary.words, old.positions_.source_classes.tolist(), strict=True))
    seen = old.positions_.seen[2].copy()
    updated = old.update(NEW)
    now = dict(zip(updated.source_.vocabulary.words, updated.positions_.source_classes.tolist(), strict=True))
    assert {word: now[word] for word in classes} == classes
    assert all(0 <= number < 4 for number in now.values())
    np.testing.assert_allclose(updated.positions_.earlier[2], seen)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000))
def test_placements_are_divided_among_the_classes_of_today(seed):
    random = np.random.default_rng(seed)
    model, classes, words = Distortions(classes=2), 2, 4
    now = [random.integers(0, classes, words).astype(np.int32) for _ in range(2)]
    facts = TextFacts(1, 3, np.array([3]), np.array([3]), (words, words), lambda count, passes: tuple(now))
    model.prepare(facts)
    before = [random.integers(0, classes, words).astype(np.int32) for _ in range(2)]
    fertilities = [random.exponential(size=(words + 1, FERTILITIES)) for _ in range(2)]
    placements = random.exponential(size=(2, model.placements[0].size))
    state = {f"seen.{place}": array for place, array in enumerate([*fertilities, placements, np.zeros((2, 1, 31))])}
    state |= {"source_classes": before[0], "target_classes": before[1]}
    same = np.arange(words, dtype=np.int32)
    model.add_earlier(EarlierPositions(state, 1.0, same, same))
    old, new = placements.reshape(model.placements.shape), model.earlier[2].reshape(model.placements.shape)
    for direction, (first, second) in enumerate(((0, 1), (1, 0))):
        wanted = np.zeros_like(new[direction])
        for a in range(classes + 3):
            for b in range(classes + 1):
                ways = [
                    share(a, before[first], now[first], fertilities[first], classes),
                    share(b, before[second], now[second], fertilities[second], classes),
                ]
                for c, one in ways[0].items():
                    for d, other in ways[1].items():
                        wanted[c, d] += one * other * old[direction, a, b]
        np.testing.assert_allclose(new[direction], wanted)


def share(number, before, now, fertilities, classes):
    """Into which classes a class goes, and which part of it."""
    if number >= classes:
        return {number: 1.0}
    mass = defaultdict(float)
    for word in np.flatnonzero(before == number):
        mass[int(now[word])] += fertilities[word].sum()
    return {other: part / sum(mass.values()) for other, part in mass.items()} if mass else {number: 1.0}
