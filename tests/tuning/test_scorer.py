"""Tuned scorers: what they learn, that little gold does no harm, and that they are saved as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cepts
from cepts.data import Alignments, Bitext
from cepts.errors import DataError, UsageError
from cepts.evaluate import compare, reliability
from cepts.extract import EXTRACTORS
from cepts.io import read_bitext, read_links
from cepts.names import DEFAULT_WORD_MODEL, WORD_MODELS, resolve
from cepts.pipeline.tuned import default_for_tuning, tuned_scorer
from cepts.pipeline.tuned import said as line_of
from cepts.tuning import General, TunedScorer, Tuning
from cepts.tuning import scorer as scorer_module
from cepts.tuning.cells import logit
from cepts.tuning.general import shipped
from cepts.tuning.log_linear import Scale, Weights
from cepts.tuning.model import LEAST_THRESHOLD, Prior, best_threshold, surely_lower, tune
from cepts.words import HMM

ROOT = Path(__file__).parents[2]
PAIRS = 400


@pytest.fixture(scope="module")
def text() -> Bitext:
    return read_bitext(ROOT / "examples" / "sample.en", ROOT / "examples" / "sample.fr").part(0, PAIRS)


@pytest.fixture(scope="module")
def model(text: Bitext) -> HMM:
    return HMM(threads=1).fit(text)


@pytest.fixture(scope="module")
def gold(text: Bitext, model: HMM) -> Alignments:
    """Gold links of a convention that differs from the model's: words of one or two letters have no links."""
    links = model.align(text)
    rows = []
    for pair, alignment in enumerate(links):
        source, target = text[pair]
        rows.append([(i, j) for i, j in alignment.links if min(len(source[i]), len(target[j])) > 2])
    return Alignments.from_links(rows)


def some(gold: Alignments, start: int, stop: int) -> Alignments:
    """The links of some pairs; the others have no gold."""
    return gold.only((gold.pair >= start) & (gold.pair < stop))


@pytest.fixture(scope="module")
def tuned(text: Bitext, model: HMM, gold: Alignments) -> TunedScorer:
    return TunedScorer([model], threads=1).fit(text, some(gold, 0, 60))


def test_a_convention_is_learnt(text, model, gold, tuned):
    rest = np.arange(60, PAIRS)
    before, after = (compare(gold.take(rest), scorer.align(text).take(rest)).scores.aer for scorer in (model, tuned))
    assert after < 0.5 * before
    assert tuned.tuning_.aer_after < tuned.tuning_.aer_before
    assert reliability(gold.take(rest), tuned.align(text).take(rest)).error < 0.05


def test_ten_pairs_of_what_the_model_says_anyway_change_little(text, model):
    said = model.align(text)
    found = TunedScorer([model], threads=1).fit(text, some(said, 0, 10)).align(text)
    assert compare(said, found).scores.aer < 0.01


def test_results_do_not_depend_on_threads(text, model, gold, tuned):
    other = TunedScorer([model], threads=3).fit(text, some(gold, 0, 60))
    one, three = tuned.align(text), other.align(text)
    for name in ("offsets", "source", "target", "confidence"):
        np.testing.assert_array_equal(getattr(one, name), getattr(three, name))


def test_a_saved_scorer_aligns_the_same(text, tuned, tmp_path):
    tuned.save(tmp_path / "tuned")
    loaded = cepts.load(tmp_path / "tuned", threads=1)
    loaded.save(tmp_path / "again")
    for file in sorted(path.relative_to(tmp_path / "tuned") for path in (tmp_path / "tuned").rglob("*.*")):
        assert (tmp_path / "tuned" / file).read_bytes() == (tmp_path / "again" / file).read_bytes()
    new = text.part(0, 30)
    np.testing.assert_array_equal(loaded.align(new).confidence, tuned.align(new).confidence)
    tuned.save(tmp_path / "tuned")  # a tuned model may be replaced


@pytest.mark.parametrize("combine", EXTRACTORS)
def test_every_extractor_reads_it(text, tuned, combine):
    found = tuned.align(text.part(0, 5), combine=combine)
    assert len(found) == 5
    assert len(found.source) > 5


def test_empty_pairs_have_no_links(tuned):
    found = tuned.align([("", ""), ("the file", ""), ("the file", "le fichier")])
    assert np.diff(found.offsets)[:2].tolist() == [0, 0]
    assert np.isfinite(found.confidence).all()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[(0, 0)], [], []], "only 1 sentence pair"),
        ([[], [], []], "no sentence pair"),
        ([[(0, 0)], [(0, 0)], [(5, 0)]], "pair 3 have 5-0"),
        ([[(0, 0)], [(0, 0)]], "2 sentence pairs, but 3"),
        ([[(i, j) for i in range(2) for j in range(2)]] * 3, "what is no link"),
    ],
)
def test_gold_from_which_nothing_can_be_learnt_is_refused(model, rows, message):
    pairs = [("the file", "le fichier")] * 3
    with pytest.raises(DataError, match=message) as found:
        TunedScorer([model]).fit(pairs, Alignments.from_links(rows))
    assert "\n" not in str(found.value)


def test_wrong_arguments_are_refused(model):
    for wrong in ({"scorers": []}, {"scorers": [model], "strength": -1.0}, {"scorers": [model], "folds": 1}):
        with pytest.raises(UsageError):
            TunedScorer(**wrong)


def test_the_general_model_has_a_weight_for_each_feature(text, model):
    from cepts.words import IBM4

    part = text.part(0, 40)
    members = [HMM(threads=1).fit(part), IBM4(threads=1).fit(part), HMM(threads=1, agreement=False).fit(part)]
    general = shipped()["hmm", "ibm4", "hmm"]
    scorer = TunedScorer(members, threads=1)
    runs = scorer.scored(part)
    assert set(runs[0].features) == set(general.features)
    prior = general.of(tuple(runs[0].features))
    assert prior is not None
    assert prior.threshold == general.threshold
    links = scorer.use(general.model(tuple(runs[0].features))).align(part)
    assert len(links.source) > 100
    learnt = General.learn(("x",), [(runs, members[0].align(part))])
    again = General.from_dict(learnt.as_dict())
    assert again.features == learnt.features
    with pytest.raises(UsageError, match="other features"):
        general.model(("unknown",))


def test_the_sample_gets_better_by_its_gold():
    text = read_bitext(ROOT / "examples" / "sample.en", ROOT / "examples" / "sample.fr")
    gold = read_links(ROOT / "examples" / "sample.gold.wa", format="naacl", sentences=len(text))
    assert (np.diff(gold.offsets) > 0).sum() >= 2


def test_features_are_made_of_few_pairs_at_a_time(text, tuned, monkeypatch):
    wanted = tuned.align(text)
    most = 5_000
    monkeypatch.setattr(scorer_module, "CELLS_IN_RUN", most)
    runs = list(tuned.directions(text).makers)
    cells = [int(make().forward.offsets[-1]) for make in runs]
    assert len(cells) > 3
    assert max(cells) <= most
    for name in ("source", "target", "confidence", "offsets"):
        np.testing.assert_array_equal(getattr(tuned.align(text), name), getattr(wanted, name))


def test_calibration_changes_confidences_and_no_links(text, model, gold):
    untuned = model.align(text)
    found = TunedScorer([model], threads=1).calibrate(text, some(gold, 0, 60))
    links = found.align(text)
    assert found.tuning_.strength is None
    for name in ("offsets", "source", "target"):
        np.testing.assert_array_equal(getattr(links, name), getattr(untuned, name))
    rest = np.arange(60, PAIRS)
    errors = [reliability(gold.take(rest), each.take(rest)).error for each in (untuned, links)]
    assert errors[1] < 0.5 * errors[0]


def test_if_tuning_does_not_help_the_default_is_used(text, model):
    default = HMM(threads=1, agreement=False).fit(text)
    said = some(model.align(text), 0, 10)  # no tuning can be better than what already has no error
    found = tuned_scorer([model], text, said, default=lambda: default, threads=1)
    links, wanted = found.align(text), default.align(text)
    for name in ("offsets", "source", "target"):
        np.testing.assert_array_equal(getattr(links, name), getattr(wanted, name))
    assert found.tuning_.strength is None
    assert len(tuned_scorer([model, model], text, said, threads=1).scorers) == 2


def test_the_error_is_that_of_the_threshold_that_is_returned():
    """With these two cells, the threshold goes back and forth: each error calls for the other threshold."""
    scores = np.log(np.array([0.3, 0.48]) / np.array([0.7, 0.52]))
    error = {0: 0.5, 1: 0.5, 2: 0.1}
    found, threshold = best_threshold(lambda links: error[int(links.sum())], scores)
    assert threshold == pytest.approx(0.45)
    assert found == error[1]


def test_a_usual_threshold_counts_as_much_as_its_share():
    scores = np.zeros(1)
    assert best_threshold(lambda links: 0.6, scores, 0.4, 0.25) == (0.6, pytest.approx(0.75 * 0.2 + 0.25 * 0.4))
    assert best_threshold(lambda links: 0.6, scores, 0.4) == (0.6, pytest.approx(0.2))
    assert best_threshold(lambda links: 1.0, scores, 0.0, 1.0) == (1.0, pytest.approx(LEAST_THRESHOLD))


def test_the_threshold_of_the_general_model_counts_as_ten_pairs(text, model, gold):
    """Of 30 gold pairs, a quarter of the difference between two such thresholds remains."""
    thresholds, scored = [], TunedScorer([model], threads=1).scored(text.part(0, 30))
    width = len(scored[0].features)
    for usual in (0.2, 0.6):
        prior = Prior(Scale.of(scored[0].values), Weights.zero(width), usual)
        learnt, found = tune(scored, gold.part(0, 30), prior=prior, strength=100.0)
        assert found.strength is not None
        low, high = 0.05, 0.95
        for _ in range(50):  # what is calibrated to the threshold of the model
            middle = 0.5 * (low + high)
            below = learnt.calibration(logit(np.array([middle]), 1e-9))[0] < learnt.threshold
            low, high = (middle, high) if below else (low, middle)
        thresholds.append(middle)
    assert thresholds[1] - thresholds[0] == pytest.approx(0.4 * 10 / 40, abs=0.02)


def test_a_gain_on_few_pairs_is_no_reason_to_tune():
    """The same gain, on every pair, on one of ten pairs, and with losses on others; t-tests with fewer degrees."""
    others = np.arange(10.0)
    assert surely_lower(others - 1.0, others)
    # Of gains with mean m and standard deviation 1, t is m times the root of their number. Its quantile at 95 % is
    # 2.920 for 2 degrees of freedom and 1.812 for 10.
    for pairs, least in ((10, 2.920), (50, 1.812)):
        spread = np.tile([1.0, -1.0], pairs // 2) * np.sqrt((pairs - 1) / pairs)
        for t, sure in ((least - 0.01, False), (least + 0.01, True)):
            assert surely_lower(-t / np.sqrt(pairs) - spread, np.zeros(pairs)) == sure
    assert not surely_lower(others - np.array([10.0] + 9 * [0.0]), others)
    assert not surely_lower(others - np.tile([11.0, -9.0], 5), others)
    assert not surely_lower(others, others)


@pytest.mark.parametrize(("after", "end"), [(0.04, "by cross-validation"), (0.06, "and a surely lower log-loss")])
def test_a_tuning_that_does_not_lower_the_error_rate_says_why(after, end):
    line = line_of(Tuning(30, 200, 50, 100.0, 0.05, after))
    assert f"AER 5.0 % -> {100 * after:.1f} %" in line
    assert line.endswith(end)


def test_a_default_is_not_trained_if_tuning_helps(text, model, gold):
    found = tuned_scorer([model], text, some(gold, 0, 60), default=pytest.fail, threads=1)
    assert found.scorers == [model]


def test_the_default_of_tuning_is_the_default_model_unless_one_is_chosen():
    assert default_for_tuning("hmm", {}) is None
    default = default_for_tuning(None, {"threads": 1})
    assert isinstance(default, resolve(WORD_MODELS[DEFAULT_WORD_MODEL]))
    assert default.threads == 1
