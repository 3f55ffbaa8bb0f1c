"""Links scored from files, as a program calls it."""

from __future__ import annotations

import pytest

from cepts import evaluate
from cepts.errors import DataError, UsageError
from cepts.pipeline.inputs import LinkFile, Sides, read_directions, read_sides
from cepts.pipeline.link_files import convert_links
from cepts.pipeline.scoring import score_links


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "gold": "1-1 2?2\n1-1\n",
        "one": "0-0 1-1\n0-0\n",
        "other": "0-0\n\n",
        "short.wa": "1 1 1\n",
        "source": "a b\na\n",
        "target": "x y\nx\n",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_scores_are_those_of_the_links(files):
    gold, systems = LinkFile("gold", base=1), [LinkFile("one"), LinkFile("other")]
    found = score_links(gold, systems, sides=read_sides("source", "target"), bootstrap=20, seed=4)
    gold_links = gold.read()
    lengths = {"source_lengths": [2, 1], "target_lengths": [2, 1]}
    for comparison, system in zip(found.comparisons, systems, strict=True):
        assert comparison.scores == evaluate.compare(gold_links, system.read(), **lengths).scores
    assert found.resampled == evaluate.resample(found.comparisons, samples=20, seed=4)
    assert "|gold-base:1|base:0|bootstrap:20|seed:4|" in found.signature


def test_links_that_end_before_the_gold_have_none_for_the_rest(files):
    found = score_links(LinkFile("gold", base=1), [LinkFile("short.wa")], bootstrap=0)
    assert found.comparisons[0].scores.sure_recall == 0.5
    assert found.resampled.intervals == []


def test_what_is_missing_is_named_as_a_parameter(files):
    gold = LinkFile("gold", base=1)
    with pytest.raises(UsageError, match="`null` sure needs the sentences of both sides; give `source` and `target`"):
        score_links(gold, [LinkFile("one")], null="sure")
    with pytest.raises(UsageError, match="`sentences` is 3 but the sentence files have 2 lines"):
        score_links(gold, [LinkFile("one")], sides=read_sides("source", None), sentences=3)
    with pytest.raises(DataError, match=r"or `sentences=2` if the other pairs have no gold links"):
        score_links(LinkFile("short.wa"), [LinkFile("one")])
    with pytest.raises(UsageError, match="give either `bitext` or `source` and `target`"):
        read_sides("source", "target", "source")
    with pytest.raises(UsageError, match=r"`format` must be one of pharaoh.*did you mean pharaoh"):
        convert_links(LinkFile("one"), "out", format="pharao")


def test_directions_have_as_many_pairs(files):
    forward, reverse = read_directions(LinkFile("one"), LinkFile("short.wa"), Sides())
    assert (len(forward), len(reverse)) == (2, 2)
    (files / "inverse").write_text("0-1\n\n")
    _, reverse = read_directions(LinkFile("one"), LinkFile("inverse"), transpose_reverse=True)
    assert [alignment.links for alignment in reverse] == [[(1, 0)], []]
