"""`cepts spaces senses`: the senses of words out of a saved space."""

from __future__ import annotations

import json

import pytest

from cepts.cli.spaces import senses
from cepts.io import write_dictionary, write_vectors
from cepts.spaces import IBFA, Procrustes
from cepts.spaces.mixture import COMPONENTS, TRIED
from cepts.spaces.senses import LEAST_NEARNESS
from toy_spaces import toy_dictionary, toy_views


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A directory with the spaces `space`, `without` (no vectors and entries kept) and `direct` (no factors)."""
    home = tmp_path_factory.mktemp("saved")
    views = toy_views()
    model = IBFA(exponent=1.0, shrinkage=0.01).fit(views, toy_dictionary())
    model.save(home / "space")
    model.save(home / "without", vectors=False)
    Procrustes().fit(views, toy_dictionary()).save(home / "direct")
    for view in views:
        write_vectors(home / f"{view.name}.npy", view)
    write_dictionary(home / "train.tsv", toy_dictionary(), header=False)
    return home


def test_a_table_of_senses(cepts, saved):
    ran = cepts("spaces", "senses", saved / "space", "en3", "En50", "--components", "4", "--count", "2")
    assert ran.code == 0
    assert ran.lines[0].split() == ["en", "weight", "fr", "neighbours"]
    word, weight, translation, *_ = ran.lines[1].split()
    assert (word, translation) == ("en3", "fr3")
    assert 0 < float(weight) <= 1
    assert any(line.startswith("En50") and " fr50" in line for line in ran.lines)


def test_json_has_all_words_known_or_not(cepts, saved):
    more = ("--components", "4", "--json", "--from", "fr", "--senses", "1")
    ran = cepts("spaces", "senses", saved / "space", "fr3", "nulle-part", *more)
    found = json.loads(ran.out)
    assert [entry["word"] for entry in found] == ["fr3", "nulle-part"]
    assert found[1]["senses"] == []
    (sense,) = found[0]["senses"]
    assert sense["translations"][0] == "en3"
    assert sense["weight"] == 1
    assert "fr3" not in sense["neighbours"]
    assert ran.err == "cepts: fr has no vector for nulle-part.\n"


def test_entries_may_come_from_a_dictionary(cepts, saved):
    options = ("en3", "--components", "4")
    files = [part for name in ("en", "fr") for part in ("--vectors", f"{name}:{saved / name}.npy")]
    assert "give some (--dictionary)" in cepts("spaces", "senses", saved / "without", *options, *files).error
    given = cepts("spaces", "senses", saved / "without", *options, *files, "--dictionary", saved / "train.tsv")
    assert given.out == cepts("spaces", "senses", saved / "space", *options).out


@pytest.mark.parametrize(
    ("directory", "arguments", "code", "message"),
    [
        ("space", ["nowhere"], 1, "en has no vector for nowhere among its 120 words"),
        ("space", [], 2, "Missing argument"),
        ("space", ["en1", "--components", "no"], 2, "must be auto or a number"),
        ("space", ["en1", "--components", "900"], 1, "80 entries with vectors, fewer than the 900 components"),
        ("space", ["en1", "--least", "nan"], 2, "--least"),
        ("direct", ["en1"], 2, "procrustes has no factor model"),
        ("nowhere", ["en1"], 1, "does not exist"),
    ],
)
def test_what_cannot_be_answered_is_refused(cepts, saved, directory, arguments, code, message):
    ran = cepts("spaces", "senses", saved / directory, *arguments)
    assert message in ran.error
    assert ran.code == code


def test_defaults_that_the_help_tells_are_those_of_the_package():
    options = {option.name: option for option in senses.command.params}
    assert options["components"].default == str(COMPONENTS)
    assert f"{TRIED[0]} to {TRIED[-1]}" in options["components"].help
    assert options["least"].said_default == f"{LEAST_NEARNESS:g}"
