"""Names that users type: each has code behind it, and a wrong one is refused with a hint."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cepts import factor, names, spaces, words
from cepts.errors import UsageError, check_choice
from cepts.phrases import columns
from cepts.pipeline import judgements
from cepts.spaces import associate
from cepts.words import lexicon
from test_layers import run_python

# Each table of a room, which has the names as its keys or holds them itself, with the tuple that lists them.
TABLES = {
    "features": (columns.FAMILIES, names.PHRASE_FAMILIES),
    "judgement scores": (judgements.JUDGEMENT_SCORES, names.JUDGEMENT_SCORES),
    "judgement tasks": (judgements.JUDGEMENT_SCORE_OF, names.JUDGEMENT_TASKS),
    "lexicons": (lexicon.LEXICONS, names.LEXICONS),
    "link measures": (associate.SCALES, names.LINK_MEASURES),
    "selections": (factor.SELECTIONS, names.SELECTIONS),
    "word models": (words.MODELS, names.WORD_MODELS),
}


@pytest.mark.parametrize(("table", "listed"), TABLES.values(), ids=TABLES)
def test_a_rooms_table_has_the_listed_names_in_their_order(table, listed):
    assert list(table) == list(listed)


def test_every_list_has_names_without_repetitions():
    lists = {name: value for name, value in vars(names).items() if name.isupper()}
    for value in lists.values():
        assert all(isinstance(name, str) for name in value)
        assert len(set(value)) == len(value) > 0


def test_homes_of_word_models_are_classes_of_that_name():
    for name, home in names.WORD_MODELS.items():
        assert names.resolve(home).name == name
    for name, kind in spaces.METHODS.items():
        assert kind.method == name


def test_every_home_has_what_it_should():
    tables = [value for name, value in vars(names).items() if name.isupper() and isinstance(value, dict)]
    assert len(tables) > 2
    for table in tables:
        for home in table.values():
            assert names.resolve(home) is not None
    for wrong, error in (("cepts.words.models:Hmm", AttributeError), ("cepts.no_such_room:HMM", ModuleNotFoundError)):
        with pytest.raises(error):
            names.resolve(wrong)


def test_listing_the_names_loads_nothing_else():
    code = "import sys; before = set(sys.modules); import cepts.names; print(*(set(sys.modules) - before))"
    loaded = {name.split(".")[0] for name in run_python(code)}
    assert loaded <= {"cepts", *sys.stdlib_module_names}


def test_a_wrong_name_is_refused_with_all_names_and_the_closest():
    check_choice("combine", "union", ("union", "grow-diag"))
    with pytest.raises(UsageError) as caught:
        check_choice("combine", "grow-dig", ("union", "grow-diag"))
    assert (
        str(caught.value)
        == "`combine` must be one of union, grow-diag. Got 'grow-dig' instead; did you mean grow-diag?"
    )


@pytest.mark.parametrize("value", ["zzz", None, 3, [0]])
def test_a_name_like_no_other_has_no_hint(value):
    with pytest.raises(UsageError) as caught:
        check_choice("combine", value, iter(("union", "grow-diag")))
    assert str(caught.value) == f"`combine` must be one of union, grow-diag. Got {value!r} instead."


TOY = """
from cepts.words import IBM1

class Toy(IBM1):
    "A word model of a user."
    name = "toy"
"""
RUN = """
from cepts import names
from cepts.cli import main

names.WORD_MODELS["toy"] = "toy_model:Toy"
main(["align", "text", "--model", "toy", "--iterations", "3", "--quiet", "-o", "links", "--save", "model"])
main(["lexicon", "model", "--top", "1"])
"""


def test_a_new_word_model_is_a_class_and_a_name(tmp_path):
    """It can be trained, saved and loaded without any other change."""
    (tmp_path / "toy_model.py").write_text(TOY)
    (tmp_path / "text").write_text("a b ||| x y\na ||| x\nb ||| y\n")
    ran = subprocess.run(
        [sys.executable, "-c", RUN], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
    )
    assert ran.stderr == ""
    assert [line.split("\t")[:2] for line in ran.stdout.splitlines()] == [["a", "x"], ["b", "y"]]
    assert (tmp_path / "links").read_text() == "0-0 1-1\n0-0\n0-0\n"
