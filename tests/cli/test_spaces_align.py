"""`cepts spaces align`: links out of a saved space."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cepts.cli.option import Option
from cepts.cli.spaces import align
from cepts.io import read_association, write_vectors
from cepts.spaces import IBFA
from cepts.spaces.associate import LEAST_SHARE, SCALES, Scoring
from toy_spaces import toy_dictionary, toy_views

PAIRS = ("en1 en7 en20 .\n\nzork en30\n", "fr7 fr1 fr20 .\nfr4\nZork fr30\n")
LINKS = "0-1 1-0 2-2 3-3\n\n0-0 1-1\n"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A directory with the space `space`, and `bare`, which is kept without vectors."""
    home = tmp_path_factory.mktemp("saved")
    views = toy_views()
    model = IBFA(exponent=1.0, shrinkage=0.01).fit(views, toy_dictionary())
    model.save(home / "space")
    model.save(home / "bare", vectors=False)
    for view in views:
        write_vectors(home / f"{view.name}.vec", view)
    return home


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in zip(("en.txt", "fr.txt"), PAIRS, strict=True):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_line_of_links_for_each_pair(cepts, saved, home):
    ran = cepts("spaces", "align", saved / "space", "en.txt", "fr.txt")
    assert (ran.code, ran.out) == (0, LINKS)
    assert "aligned  3 pairs, 6 + 7 words" in ran.err
    assert "empty    1 pair" in ran.err
    quiet = cepts("spaces", "align", saved / "space", "en.txt", "fr.txt", "-q", "-o", "links")
    assert (quiet.out, quiet.err) == ("", "")
    assert (home / "links").read_text() == LINKS


def test_links_of_every_extractor(cepts, saved, home):
    for combine in ("onmf", "intersection", "grow-diag-final-and"):
        assert cepts("spaces", "align", saved / "space", "en.txt", "fr.txt", "--combine", combine).out == LINKS


def test_cepts_and_matrices(cepts, saved, home):
    more = ("--combine", "onmf", "--format", "json", "--matrices", "matrices.npz")
    ran = cepts("spaces", "align", saved / "space", "en.txt", "fr.txt", *more)
    first = json.loads(ran.lines[0])
    assert first["source"] == ["en1", "en7", "en20", "."]
    assert {"source": [0], "target": [1]} in [
        {"source": cept["source"], "target": cept["target"]} for cept in first["cepts"]
    ]
    assert "cepts    6" in ran.err
    kept = read_association("matrices.npz", allow_empty=True)
    assert len(kept) == 3
    assert np.isclose(kept.association[0].max(), 200, rtol=0.1)


def test_the_other_direction_and_one_file_for_both_sides(cepts, saved, home):
    turned = cepts("spaces", "align", saved / "space", "fr.txt", "en.txt", "--from", "fr", "--to", "en")
    assert turned.lines == ["0-1 1-0 2-2 3-3", "", "0-0 1-1"]
    lines = "".join(
        f"{source} ||| {target}\n" for source, target in zip(*(side.splitlines() for side in PAIRS), strict=True)
    )
    assert cepts("spaces", "align", saved / "space", "-", "--input-format", "pipes", stdin=lines.encode()).out == LINKS


def test_vectors_may_come_from_files(cepts, saved, home):
    given = [part for name in ("en", "fr") for part in ("--vectors", f"{name}:{saved / name}.vec")]
    assert cepts("spaces", "align", saved / "bare", "en.txt", "fr.txt", *given).out == LINKS
    assert (
        "those of en are needed; give them (--vectors)"
        in cepts("spaces", "align", saved / "bare", "en.txt", "fr.txt").error
    )


@pytest.mark.parametrize("options", [(), ("--max-length", "3"), ("--combine", "onmf")])
def test_align_loads_a_space_as_any_model(cepts, saved, home, options):
    for directions in ((), ("--from", "fr", "--to", "en")):
        files = ("fr.txt", "en.txt") if directions else ("en.txt", "fr.txt")
        wanted = cepts("spaces", "align", saved / "space", *files, *directions, *options)
        found = cepts("align", "--load", saved / "space", *files, *directions, *options)
        assert (found.code, found.out) == (0, wanted.out)


def test_a_threshold_of_zero_links_all(cepts, saved, home):
    ran = cepts("spaces", "align", saved / "space", "en.txt", "fr.txt", "--threshold", "0")
    assert len(ran.lines[0].split()) == 16
    short = cepts("spaces", "align", saved / "space", "en.txt", "fr.txt", "--max-length", "3")
    assert short.lines == ["", "", "0-0 1-1"]
    assert "skipped  1 pair" in short.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--threshold", "0.2", "--combine", "union"], 2, "--threshold goes with --combine agreement"),
        (["--cepts", "2"], 2, "--cepts goes with --combine onmf"),
        (["--combine", "onmf", "--cepts", "9"], 2, "cepts must be at most 4"),
        (["--combine", "onmf", "--matrices", "m.npy"], 2, "a .npy file holds a single matrix"),
        (["--combine", "onmf", "--matrices", "x", "-o", "x"], 2, "would both go to x"),
        (["--from", "de"], 2, "the language must be one of en, fr. Got 'de'"),
        (["--from", "fr", "--to", "fr"], 2, "are both fr"),
        (["--temperature", "nan"], 2, "--temperature"),
        (["-o", "no/such/place"], 1, "no/such/place"),
    ],
)
def test_what_does_not_go_together_is_refused(cepts, saved, home, arguments, code, message):
    before = sorted(path.name for path in home.iterdir())
    ran = cepts("spaces", "align", saved / "space", "en.txt", "fr.txt", *arguments)
    assert message in ran.error
    assert ran.code == code
    assert sorted(path.name for path in home.iterdir()) == before


def test_files_that_do_not_fit_are_refused(cepts, saved, home):
    (home / "short.txt").write_text("fr1\n")
    assert "short.txt" in cepts("spaces", "align", saved / "space", "en.txt", "short.txt").error
    assert "does not exist" in cepts("spaces", "align", "nowhere", "en.txt", "fr.txt").error


def test_defaults_that_the_help_tells_are_those_of_the_package():
    said = {option.name: option.said_default for option in align.command.params if isinstance(option, Option)}
    csls, cosine = SCALES["csls"], SCALES["cosine"]
    assert said["temperature"] == f"{csls[0]:g}; {cosine[0]:g} for cosine"
    assert said["null"] == f"{csls[1]:g}; {cosine[1]:g} for cosine"
    assert said["diagonal"] == f"{Scoring().diagonal:g}"
    assert said["support"] == f"{Scoring().support:g}"
    assert said["threshold"] == f"{LEAST_SHARE:g}"
