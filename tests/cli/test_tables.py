"""A new extractor, or a new association, is an entry of its table: every command and `align` then have it."""

from __future__ import annotations

import json
from pathlib import Path

import click
import numpy as np
import pytest
from click.shell_completion import CompletionItem

from cepts.cli.option import TableChoice
from cepts.data import Alignments, Association
from cepts.extract import ASSOCIATIONS, EXTRACTORS, Extractor
from cepts.extract.associations import AssociationKind
from cepts.io import read_association, read_sentence_pairs
from cepts.phrases.aligner import PhraseAligner
from cepts.spaces import IBFA
from cepts.words import load_aligner
from toy_spaces import toy_dictionary, toy_views

EXAMPLES = read_sentence_pairs(Path(__file__).parents[2] / "examples" / "paraphrases.jsonl")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A directory with a space, `space`, and a phrase model, `phrases`."""
    home = tmp_path_factory.mktemp("saved")
    IBFA(exponent=1.0, shrinkage=0.01).fit(toy_views(), toy_dictionary()).save(home / "space")
    PhraseAligner(language=None, iterations=1, threads=1).fit(EXAMPLES[:6]).save(home / "phrases")
    return home


@pytest.fixture
def corners(monkeypatch):
    """An extractor that links the first words of a pair, and the last ones."""

    def links(directions, extraction):
        shapes = zip(directions.forward.source_lengths, directions.forward.target_lengths, strict=True)
        return Alignments.from_links(
            sorted({(0, 0), (int(rows) - 1, int(columns) - 1)}) if rows * columns else [] for rows, columns in shapes
        )

    monkeypatch.setitem(EXTRACTORS, "corners", Extractor("the first words, and the last ones", links))


def corners_of(source, target):
    lengths = len(source.split()), len(target.split())
    if not min(lengths):
        return ""
    return " ".join(f"{i}-{j}" for i, j in sorted({(0, 0), (lengths[0] - 1, lengths[1] - 1)}))


@pytest.mark.usefixtures("corners")
def test_a_new_extractor_goes_with_every_scorer(cepts, corpus, sentences, trained, saved):
    wanted = [corners_of(*pair) for pair in zip(*sentences, strict=True)]
    assert cepts("align", "en", "fr", "--load", trained, "--combine", "corners").lines == wanted
    assert cepts("spaces", "align", saved / "space", "en", "fr", "--combine", "corners").lines == wanted
    more = ("--model", saved / "phrases", "--combine", "corners", "--format", "pharaoh")
    assert cepts("phrases", "align", "en", "fr", *more).lines == wanted

    (corpus / "forward").write_text("0-0 2-1\n\n1-0\n")
    (corpus / "reverse").write_text("0-0\n0-0\n\n")
    ran = cepts("combine", "forward", "reverse", "--method", "corners")
    assert ran.lines == ["0-0 2-1", "0-0", "0-0 1-0"]
    (corpus / "m.jsonl").write_text(json.dumps({"matrix": [[1, 2, 3], [4, 5, 6]]}) + "\n")
    assert cepts("factor", "m.jsonl", "--combine", "corners").lines == ["0-0 1-2"]

    aligner = load_aligner(trained, threads=1)
    found = aligner.align(
        [(source.split(), target.split()) for source, target in zip(*sentences, strict=True)][:9], combine="corners"
    )
    assert [" ".join(f"{i}-{j}" for i, j in one.links) for one in found] == wanted[:9]
    assert "corners" in cepts("align", "--help").out
    assert "'corners'" in cepts("align", "en", "fr", "--combine", "best").error


def test_a_new_association_goes_with_onmf_and_with_matrices(cepts, corpus, sentences, trained, monkeypatch):
    def diagonal(directions, nbest):
        given = directions.forward
        values = [np.eye(*matrix.shape, dtype=np.float32).ravel() for matrix in given]
        return Association(given.source_lengths, given.target_lengths, given.offsets, np.concatenate(values))

    monkeypatch.setitem(ASSOCIATIONS, "diagonal", AssociationKind("1 on the diagonal", diagonal, spread=0.0))
    given = ("align", "en", "fr", "--load", trained, "--association", "diagonal")
    ran = cepts(*given, "--combine", "onmf")
    for line, source, target in zip(ran.lines, *sentences, strict=True):
        diagonal_links = {f"{n}-{n}" for n in range(min(len(source.split()), len(target.split())))}
        assert set(line.replace("?", "-").split()) >= diagonal_links
    assert cepts(*given, "--matrices", "m.jsonl", "-o", "links").code == 0
    for matrix in read_association("m.jsonl", allow_empty=True).association:
        np.testing.assert_array_equal(matrix, np.eye(*matrix.shape))


# -- choices whose names stand in a table --------------------------------------------------------------------------


def test_a_choice_shows_completes_and_refuses_by_its_table():
    choice = TableChoice("cepts.extract:EXTRACTORS")
    command = click.Command("try", params=[click.Option(["--combine"], type=choice)])
    context = click.Context(command)
    assert choice.choices == tuple(EXTRACTORS)
    assert "[agreement|onmf|" in command.get_help(context).replace("\n", "").replace(" ", "")
    found: list[CompletionItem] = choice.shell_complete(context, command.params[0], "grow-diag-f")
    assert [item.value for item in found] == ["grow-diag-final", "grow-diag-final-and"]
    assert choice.convert("onmf", None, context) == "onmf"
    with pytest.raises(click.BadParameter, match="'best' is not one of 'agreement'"):
        choice.convert("best", None, context)
