"""The benchmarks of scale: their text, their model and their simulation are what they say."""

from __future__ import annotations

import gzip
import importlib
import math
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def module(monkeypatch):
    """Gives a module of benchmarks/."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


@pytest.fixture
def data(tmp_path):
    """Two small corpora, of which one repeats a pair and has one that is empty on a side."""
    for folder, target in (("hansards-uoft", "fr"), ("europarl-en-de", "de")):
        place = tmp_path / "bitext" / folder
        place.mkdir(parents=True)
        for language in ("en", target):
            lines = [f"{language}{number} " * (1 + number % 9) for number in range(50)]
            lines += [lines[3], "" if language == "en" else "x"]
            (place / f"train.{language}.gz").write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    return tmp_path


def test_recombined_pairs_differ_and_stay_translations(module, data, tmp_path, capsys):
    text = module("scale_text")
    corpora = text.sentence_pairs(data)
    assert "no bitext/libreoffice-en-fr" in capsys.readouterr().err
    assert [len(pairs) for pairs in corpora.values()] == [50, 50]
    found = list(text.recombined(corpora, 1000))
    assert len(set(found)) == 1000
    assert found[:300] == list(text.recombined(corpora, 300))
    for source, target in found:
        numbers = [[word[2:] for word in side.split()] for side in (source, target)]
        assert numbers[0] == numbers[1]
        assert len({word[:2] for word in target.split()}) == 1
    made = text.make_text(data, tmp_path, 20)
    lines = Path(made.source).read_text().splitlines()
    assert lines == [source for source, _ in found[:20]]
    assert made.source_words == sum(len(line.split()) for line in lines)
    assert made.token_pairs == sum(len(source.split()) * len(target.split()) for source, target in found[:20])


def test_without_data_it_is_said(module, tmp_path):
    with pytest.raises(SystemExit, match="There is no text in"):
        module("scale_text").sentence_pairs(tmp_path)


def test_measurements_are_made_once(module, tmp_path):
    kept = module("scale_run").Kept
    file = tmp_path / "work" / "kept.jsonl"
    assert kept(file).get("a", lambda: {"x": 1}) == {"x": 1}
    assert kept(file).get("b", lambda: 2) == 2
    again = kept(file)
    assert [again.get(key, lambda: pytest.fail("measured again")) for key in "ab"] == [{"x": 1}, 2]


def test_coefficients_are_found_again(module):
    model = module("scale_model")
    random = np.random.default_rng(0)
    rows = random.uniform(1, 1e6, (20, 3)) * [1e-6, 1, 1e3]
    wanted = np.array([0.5, 3e-8, 0.0])
    np.testing.assert_allclose(model.least_squares(rows, rows @ wanted), wanted, rtol=1e-6, atol=1e-15)
    law = model.Power.of([10, 100, 1000], [2 * size**0.5 for size in (10, 100, 1000)])
    assert law.at(1e6) == pytest.approx(2000)


# -- the simulation ----------------------------------------------------------------------------------------------------


def test_one_worker_does_one_thing_after_the_other(module):
    simulation = module("scale_simulation")
    machine = simulation.Machine(disk=10.0, network=5.0, dispatch=0.1)
    phases = [simulation.Phase("a", 7, 2.0, 10.0, 5.0, 1.0), simulation.Phase("b", 1, 1.0, opening=3.0, opened=5.0)]
    # In each task: dispatch, 10 bytes at 5 per second, 2 s, 5 bytes.
    wanted = 1.0 + 7 * (0.1 + 2.0 + 2.0 + 1.0) + (0.1 + 1.0 + 3.0 + 1.0)
    found = simulation.simulate(phases, 1, machine)
    assert found.seconds == pytest.approx(wanted)
    assert found.bytes == 7 * 15 + 5
    assert sum(found.phases.values()) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("machine", "phase", "workers", "seconds"),
    [
        ({}, {"seconds": 3.0}, 4, 9.0),  # ten tasks in three turns
        ({}, {"seconds": 3.0}, 100, 3.0),
        ({"disk": 2.0}, {"read": 4.0}, 5, 20.0),  # 40 bytes through one disk, however many read
        ({"disk": 2.0}, {"read": 2.0, "written": 2.0}, 10, 20.0),
        ({"disk": 100.0, "network": 1.0}, {"read": 4.0}, 5, 8.0),
        ({"dispatch": 1.0}, {"seconds": 0.5}, 100, 10.5),  # the scheduler is the bottleneck
    ],
)
def test_what_is_shared_limits_all(module, machine, phase, workers, seconds):
    simulation = module("scale_simulation")
    phases, machine = [simulation.Phase("a", 10, **phase)], simulation.Machine(**machine)
    assert simulation.simulate(phases, workers, machine).seconds == pytest.approx(seconds)
    closed = simulation.closed_form(phases, workers, machine)
    assert closed == pytest.approx(seconds, rel=0.15)


def test_those_that_read_at_different_moments_share_the_disk_only_meanwhile(module):
    simulation = module("scale_simulation")
    # The second task begins 1 s later. 1 s alone at 10 bytes per second, then both at 5, until the first has its 20.
    phases = [simulation.Phase("a", 2, read=20.0)]
    found = simulation.simulate(phases, 2, simulation.Machine(disk=10.0, dispatch=1.0))
    assert found.seconds == pytest.approx(1.0 + 4.0)
    found = simulation.simulate(phases, 2, simulation.Machine(network=10.0, dispatch=1.0))
    assert found.seconds == pytest.approx(2.0 + 2.0)


def test_lost_workers_cost_time_and_nothing_else(module):
    simulation = module("scale_simulation")
    phases = [simulation.Phase("a", 200, 30.0)]
    quiet = simulation.simulate(phases, 8, simulation.Machine(spread=0.2)).seconds
    assert quiet == pytest.approx(200 * 30 / 8, rel=0.15)
    lossy = simulation.Machine(spread=0.2, losses=12.0, replacement=60.0)
    found = simulation.simulate(phases, 8, lossy)
    assert found.lost > 5
    assert quiet < found.seconds < 2 * quiet
    assert simulation.simulate(phases, 8, lossy).seconds == found.seconds  # the same seed
    assert math.isfinite(simulation.simulate(phases, 8, lossy, seed=1).seconds)
