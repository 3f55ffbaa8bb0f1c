"""`cepts align --nbest`: lists of alignments in the place of links."""

from __future__ import annotations

import json
import re

import pytest

from cepts import words
from cepts.names import LINK_FORMATS, NBEST_FORMATS, WORD_MODELS

QUICK = ("--iterations", 2, "--start-iterations", 2)


@pytest.fixture
def untrained(monkeypatch):
    """Fail where training starts."""

    def fit(self, *arguments, **options):
        raise AssertionError("training has started")

    monkeypatch.setattr(words.Aligner, "fit", fit)


def test_formats_are_link_formats():
    assert set(NBEST_FORMATS) <= set(LINK_FORMATS)


def test_lists_of_both_directions(cepts, corpus, sentences, trained):
    ran = cepts("align", "en", "fr", "--load", trained, "--nbest", 5)
    assert ran.code == 0
    assert len(ran.lines) == len(sentences[0])
    listed = {"forward": 0, "reverse": 0}
    for line, source, target in zip(ran.lines, *sentences, strict=True):
        record = json.loads(line)
        assert [record["source"], record["target"]] == [source.split(), target.split()]
        for name, explained, states in (("forward", "target", "source"), ("reverse", "source", "target")):
            alignments = record[name]
            listed[name] += len(alignments)
            assert len(alignments) == min(5, (len(record[states]) + 1) ** len(record[explained]))
            scores = [alignment["log_probability"] for alignment in alignments]
            assert scores == sorted(scores, reverse=True)
            rows = [alignment["positions"] for alignment in alignments]
            assert len({tuple(row) for row in rows}) == len(rows)
            for row in rows:
                assert len(row) == len(record[explained])
                assert all(place is None or 0 <= place < len(record[states]) for place in row)
    summary = ran.err.splitlines()
    assert len(summary) == 2
    assert summary[0].startswith("aligned  120 pairs, ")
    assert summary[1] == f"lists    {listed['forward']:,} forward and {listed['reverse']:,} reverse alignments"


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_the_first_of_each_list_has_the_links_of_the_direction(cepts, corpus, direction):
    """For models whose lists are exact; the search of the default model for links is narrower than for lists."""
    trained = "hmm"
    cepts("align", "en", "fr", "--model", "hmm", "--save", trained, "-o", "hmm.links")
    links = cepts("align", "en", "fr", "--load", trained, "--combine", direction).lines
    options = ("--load", trained, "--combine", direction, "--nbest", 1)
    lists = cepts("align", "en", "fr", *options)
    assert lists.err.splitlines()[1] == f"lists    120 {direction} alignments"
    for line, record in zip(links, map(json.loads, lists.lines), strict=True):
        assert set(record) == {"source", "target", direction}
        first = record[direction][0]["positions"]
        found = {(i, j) if direction == "forward" else (j, i) for j, i in enumerate(first) if i is not None}
        assert found == {tuple(map(int, link.split("-"))) for link in line.split()}
    if direction == "forward":
        assert cepts("align", "en", "fr", *options, "--format", "giza", "-o", "lists.A3").code == 0
        assert cepts("convert", "lists.A3", "--to", "pharaoh").lines == links


@pytest.mark.parametrize("model", WORD_MODELS)
def test_every_model(cepts, corpus, model):
    ran = cepts("align", "en", "fr", "--model", model, "--nbest", 3, "--threads", 1, *QUICK)
    assert ran.code == 0
    assert len(ran.lines) == 120
    assert cepts("align", "en", "fr", "--model", model, "--nbest", 3, "--threads", 2, *QUICK).out == ran.out


def test_giza_of_one_direction(cepts, corpus, sentences, trained):
    ran = cepts("align", "en", "fr", "--load", trained, "--nbest", 2, "--combine", "reverse", "--format", "giza", "-q")
    assert ran.code == 0
    assert ran.err == ""
    assert len(ran.lines) == 3 * 2 * 120
    size, length = len(sentences[1][0].split()), len(sentences[0][0].split())
    header = rf"# Sentence pair \(1\) source length {size} target length {length} alignment score : \d\.\d{{5}}e-\d\d"
    assert re.fullmatch(header, ran.lines[0])
    assert ran.lines[1] == " ".join(sentences[0][0].split())


def test_empty_and_long_pairs_have_empty_lists(cepts, corpus, trained):
    (corpus / "some").write_text("a b c\n\nThe file\n" + "the " * 9 + "\n")
    (corpus / "others").write_text("x y\nz\nLe fichier\nle\n")
    ran = cepts("align", "some", "others", "--load", trained, "--max-length", 8, "--nbest", 4)
    assert [bool(json.loads(line)["forward"]) for line in ran.lines] == [True, False, True, False]
    said = [line.split()[0] for line in ran.err.splitlines()]
    assert said[-2:] == ["empty", "skipped"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--nbest", 0), "'--nbest': must be 1 or more. Got 0"),
        (("--nbest", "many"), "'--nbest': must be a whole number. Got 'many'"),
        (("--nbest", 5, "--format", "pharaoh"), "--nbest is written in the format json or giza, not pharaoh."),
        (("--nbest", 5, "--format", "giza"), "--format giza shows one direction; choose --combine forward or"),
        (("--nbest", 5, "--combine", "union"), "--nbest lists the alignments of single directions, not of"),
        (("--nbest", 5, "--threshold", 0.5), "--threshold goes with links, and --nbest lists alignments instead"),
        (("--nbest", 5, "--scores", "s"), "--scores goes with links, and --nbest lists alignments instead"),
    ],
)
def test_options_that_do_not_go_with_lists(cepts, corpus, untrained, options, line):
    ran = cepts("align", "en", "fr", *options)
    assert line in ran.error
    assert ran.code == 2
