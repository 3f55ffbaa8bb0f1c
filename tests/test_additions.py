"""How many source files an addition touches: what a test adds at one place works everywhere.

The tests put an entry into a table, as the one file of CONTRIBUTING's list would, and use it from the command line.
"""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass

import pytest

from cepts import cli, extract, names
from cepts.extract import ASSOCIATIONS, EXTRACTORS
from cepts.words import HMM


@pytest.fixture
def texts(tmp_path):
    source, target = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_text("the house\nthe red car\na house\n")
    target.write_text("la maison\nla voiture rouge\nune maison\n")
    return str(source), str(target)


def align(texts, tmp_path, *options):
    output = tmp_path / "links"
    assert cli.main(["align", *texts, "-o", str(output), "-q", *options]) == 0
    return output.read_text()


def test_a_word_model_is_its_class_and_a_name(texts, tmp_path, monkeypatch):
    @dataclass(kw_only=True, eq=False, repr=False)
    class Toy(HMM):
        name = "toy"
        smoothness: float = 1.0

    module = types.ModuleType("toy_model")
    module.Toy = Toy
    monkeypatch.setitem(sys.modules, "toy_model", module)
    monkeypatch.setitem(names.WORD_MODELS, "toy", "toy_model:Toy")
    assert align(texts, tmp_path, "--model", "toy", "--save", str(tmp_path / "model")) == align(
        texts, tmp_path, "--model", "hmm"
    )
    assert align(texts, tmp_path, "--load", str(tmp_path / "model")) == align(texts, tmp_path, "--model", "hmm")


def test_an_option_of_a_model_is_a_field_and_an_option(texts, tmp_path, monkeypatch):
    """The command hands every option that a model has as a parameter to that model, with no list of its own."""
    import click

    from cepts.cli import align as command_module

    @dataclass(kw_only=True, eq=False, repr=False)
    class Toy(HMM):
        name = "toy"
        smoothness: float = 1.0

        def __post_init__(self):
            super().__post_init__()
            given.append(self.smoothness)

    given = []
    module = types.ModuleType("toy_model")
    module.Toy = Toy
    monkeypatch.setitem(sys.modules, "toy_model", module)
    monkeypatch.setitem(names.WORD_MODELS, "toy", "toy_model:Toy")
    option = click.Option(["--smoothness"], type=float)
    monkeypatch.setattr(command_module.command, "params", [*command_module.command.params, option])
    align(texts, tmp_path, "--model", "toy", "--smoothness", "2.5")
    assert given == [2.5]


def test_an_extractor_is_an_entry_of_one_table(texts, tmp_path, monkeypatch):
    def first_words(directions, extraction):
        return extract.threshold(directions.agreement, 2.0)

    monkeypatch.setitem(EXTRACTORS, "nothing", extract.Extractor("no links at all", first_words))
    assert align(texts, tmp_path, "--combine", "nothing") == "\n\n\n"


def test_an_association_is_an_entry_of_one_table(texts, tmp_path, monkeypatch):
    made = []

    def doubled(directions, nbest):
        made.append(len(directions.forward))
        return directions.forward.scaled(0.5)

    kind = type(ASSOCIATIONS["forward"])("half of the forward posteriors", doubled)
    monkeypatch.setitem(ASSOCIATIONS, "half", kind)
    matrices = str(tmp_path / "matrices.jsonl")
    align(texts, tmp_path, "--combine", "onmf", "--association", "half", "--matrices", matrices)
    assert sum(made) == 3
