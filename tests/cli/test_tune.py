"""`cepts tune` and `cepts align --gold`."""
# ruff: noqa: SIM905

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest


@pytest.fixture
def place(corpus):
    (corpus / "gold.wa").write_bytes((files("cepts") / "sample" / "sample.gold.wa").read_bytes())
    return corpus


def test_a_tuned_model_aligns_the_same_when_it_is_loaded(cepts, place, sentences):
    made = cepts(*"align en fr --gold gold.wa --model hmm --save tuned -o one --quality quality --threads 1".split())
    assert "gold pairs" in made.err
    assert cepts(*"align en fr --load tuned -o two --threads 2".split()).code == 0
    assert Path("one").read_bytes() == Path("two").read_bytes()
    qualities = [float(line) for line in Path("quality").read_text().splitlines()]
    assert len(qualities) == len(sentences[0])
    assert all(0 <= value <= 1 for value in qualities)


def test_a_saved_model_is_tuned(cepts, place, sentences):
    assert cepts(*"align en fr --save model -o links".split()).code == 0
    said = cepts(*"tune model en fr gold.wa --save tuned".split()).err
    assert "by cross-validation" in said or "as before" in said
    assert cepts(*"tune tuned en fr gold.wa --save again".split()).code == 0  # a tuned model is tuned anew
    assert not (Path("again") / "member1" / "member1").exists()
    assert cepts(*"align en fr --load again -o links".split()).code == 0
    assert len(Path("links").read_text().splitlines()) == len(sentences[0])


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ("1 1 1\n9999 1 1\n", "gold links for sentence pair 9,999, but the text has only 120 pairs"),
        ("1 1 1\n", "only 1 sentence pair has gold links"),
        ("1 1 1\n2 999 1\n", "line 2"),
    ],
)
def test_gold_that_cannot_be_used_is_refused_in_one_line(cepts, place, gold, message):
    Path("bad.wa").write_text(gold)
    assert cepts(*"align en fr --save model -o links --quiet".split()).code == 0
    for command in ("tune model en fr bad.wa --save tuned", "align en fr --gold bad.wa --model hmm -o links --quiet"):
        assert message in cepts(*command.split()).error


def test_options_that_do_not_go_with_gold_are_refused(cepts, place):
    for wrong in ("--load model", "--checkpoint dir", "--memory 2G"):
        assert "cepts tune" in cepts(*f"align en fr --gold gold.wa {wrong}".split()).error
    assert "before GOLD" in cepts(*"tune model en fr more gold.wa --save tuned".split()).error
