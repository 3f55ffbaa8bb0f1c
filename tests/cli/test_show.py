"""`cepts show`: any pair of any bitext with any links as a grid, or drawn."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.cli.console import width_of
from cepts.cli.grid import LEFT_TO_RIGHT_MARK, legend, pair_lines
from cepts.data import Alignment

SOURCE = ["the", "file", "is", "not", "supported"]
TARGET = ["le", "fichier", "n'", "est", "pas", "pris", "en", "charge"]
LINKS = "0-0 1-1 2-3 3?2 3-4 4-5 4?6 4-7"


def aligned(links, confidence=None, sure=None):
    links = sorted(links)
    places = np.array(links, dtype=np.int32).reshape(-1, 2)
    return Alignment(
        places[:, 0],
        places[:, 1],
        np.array([1.0] * len(links) if confidence is None else confidence, dtype=np.float32),
        np.array([True] * len(links) if sure is None else sure),
    )


@pytest.fixture
def pair(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en").write_text("an empty one\n" + " ".join(SOURCE) + "\n", "utf-8")
    (tmp_path / "fr").write_text("\n" + " ".join(TARGET) + "\n", "utf-8")
    (tmp_path / "both").write_text(
        "an empty one ||| \n" + " ".join(SOURCE) + " ||| " + " ".join(TARGET) + "\n", "utf-8"
    )
    (tmp_path / "links").write_text("\n" + LINKS + "\n", "utf-8")
    return tmp_path


GRID = """\
           le fichier n' est pas pris en charge
the        ■     ·    ·   ·   ·   ·   ·    ·
file       ·     ■    ·   ·   ·   ·   ·    ·
is         ·     ·    ·   ■   ·   ·   ·    ·
not        ·     ·    ●   ·   ■   ·   ·    ·
supported  ·     ·    ·   ·   ·   ■   ●    ■

■ sure   ● possible
"""


def test_a_pair_is_a_grid(cepts, pair):
    ran = cepts("show", "en", "fr", "links", "--pair", 2)
    assert (ran.code, ran.out, ran.err) == (0, GRID, "")
    assert cepts("show", "both", "links", "--pair", 2).out == GRID
    assert cepts("show", "-", "links", "--pair", 2, stdin=(pair / "both").read_bytes()).out == GRID
    assert cepts("show", "en", "fr", "links").out == "\nan\nempty\none\n"


@pytest.mark.parametrize("name", ["scored", "naacl", "giza", "json"])
def test_links_of_any_format_are_shown(cepts, pair, name):
    made = cepts("convert", "links", "--to", name, "--source", "en", "--target", "fr", "-o", "made")
    assert made.code == 0
    ran = cepts("show", "en", "fr", "made", "--format", name, "--pair", 2)
    # Giza's files have no tiers, and one link for each target word.
    assert ran.out == (GRID if name != "giza" else GRID.replace("●", "■").partition("\n\n")[0] + "\n")


def test_confidences_and_tiers_are_shown(cepts, pair):
    (pair / "links").write_text("\n0-0:0.994 1-1:0.6 2?3:0.41 3?4:0.8\n")
    marks = cepts("show", "en", "fr", "links", "--pair", 2).out
    assert [sum(line.count(mark) for line in marks.splitlines()[1:6]) for mark in "■□●○"] == [1] * 4
    assert marks.splitlines()[-1] == "■ sure   ● possible   □ ○ confidence below 0.75"
    numbers = cepts("show", "en", "fr", "links", "--pair", 2, "--numbers").lines
    assert [line.split()[1:] for line in numbers[1:5]] == [
        ["99", *"·······"],
        ["·", "60", *"······"],
        [*"···", "41?", *"····"],
        [*"····", "80?", *"···"],
    ]
    assert len(numbers) == 6


def test_what_does_not_fit_goes_on_below(cepts, pair):
    ran = cepts("show", "en", "fr", "links", "--pair", 2, "--width", 30)
    parts = ran.out.split("\n\n")[:-1]
    assert [part.split()[0] for part in parts] == ["1-4", "5-8"]
    assert [[line.split()[0] for line in part.splitlines()[1:]] for part in parts] == [
        ["the", "file", "is", "not"],
        ["not", "supported"],
    ]
    assert max(map(width_of, ran.lines)) <= 30


def test_wide_letters_and_marks_keep_their_columns():
    lines = pair_lines(["日本", "e\u0301", "👨‍👩‍👧"], ["学校", "b"], aligned([(0, 0), (2, 1)]))
    assert lines == ["      学校 b", "日本   ■   ·", "e\u0301      ·   ·", "👨‍👩‍👧     ·   ■"]


def test_right_to_left_sentences_run_from_right_to_left():
    mark = LEFT_TO_RIGHT_MARK
    lines = pair_lines(["one", "two"], ["אחת", "שתיים"], aligned([(0, 0), (1, 1)]))
    assert lines[0] == f"{mark}     {mark}שתיים{mark} {mark}אחת{mark}"
    assert lines[1:] == ["one    ·    ■", "two    ■    ·"]
    lines = pair_lines(["אחת", "שתיים"], ["1", "2"], aligned([(0, 0), (1, 1)]))
    assert lines[1] == f"{mark}  {mark}אחת{mark}  ■ ·"


def test_words_cannot_command_the_terminal():
    text = "\n".join(pair_lines(["\x1b[31mred", "a\u202eb"], ["\x07", "\ud800"], aligned([(0, 0)])))
    assert not set(text) & set("\x1b\x07\u202e\ud800")
    assert "�[31mred" in text


words = st.lists(st.text("abñ日本שلا\u0301", min_size=1, max_size=40), max_size=30)


@settings(deadline=None)
@given(words, words, st.integers(20, 120), st.data())
def test_every_link_is_shown_within_the_width(source, target, width, data):
    cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
    links = data.draw(st.sets(st.sampled_from(cells), max_size=20)) if cells else set()
    lines = pair_lines(source, target, aligned(links), width=width)
    assert sum(line.count("■") for line in lines) == len(links)
    assert max(map(width_of, lines), default=0) <= width
    assert all(line == line.rstrip() for line in lines)


def test_plain_links_need_no_legend():
    assert legend([aligned([(0, 0)])]) == []
    assert legend([aligned([(0, 0)], [0.7])]) == ["■ link   □ confidence below 0.75"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["en"], "wanted TEXT [TEXT] LINKS, which are two or three files. Got 1."),
        (["en", "fr", "links", "links"], "wanted TEXT [TEXT] LINKS, which are two or three files. Got 4."),
        (["en", "fr", "links", "--pair", "3"], "--pair must be at most 2, the number of sentence pairs in en."),
        (["en", "fr", "links", "--form", "matrix"], "--form goes with --plot, which is not given."),
        (["en", "fr", "links", "--numbers", "--plot", "f.svg"], "--numbers goes with the printed grid, not with"),
        (["en", "fr", "links", "--plot", "f.gif"], "the name of a figure must end in .svg, .pdf or .png. Got"),
    ],
)
def test_what_cannot_be_shown_is_one_line(cepts, pair, arguments, message):
    assert cepts("show", *arguments).error.startswith(message)
    assert not list(pair.glob("f.*"))


def test_links_outside_the_sentences_are_refused(cepts, pair):
    (pair / "links").write_text("\n0-99\n")
    assert "99" in cepts("show", "en", "fr", "links").error


@pytest.mark.parametrize("form", ["lines", "matrix"])
def test_a_pair_is_drawn(cepts, pair, form):
    pytest.importorskip("matplotlib")
    ran = cepts("show", "en", "fr", "links", "--pair", 2, "--plot", "pair.svg", "--form", form)
    assert (ran.code, ran.out, ran.err) == (0, "", "figure   pair.svg\n")
    drawn = (pair / "pair.svg").read_text("utf-8")
    assert all(f"<!-- {word} -->" in drawn for word in SOURCE + TARGET)


def test_letters_without_a_font_are_a_note(cepts, pair):
    pytest.importorskip("matplotlib")
    (pair / "both").write_text("\U0010fff0 ||| b\n", "utf-8")
    (pair / "links").write_text("0-0\n")
    ran = cepts("show", "both", "links", "--plot", "pair.png")
    assert ran.code == 0
    note, figure = ran.err.splitlines()
    assert note.startswith("note     figure pair.png: no font on this machine has")
    assert figure == "figure   pair.png"
    assert cepts("show", "both", "links", "--plot", "pair.png", "-q").err == ""


def test_the_sample_has_its_gold_links(cepts):
    sample = files("cepts") / "sample"
    ran = cepts("show", *(str(sample / f"sample.{part}") for part in ("en", "fr", "gold.wa")), "--pair", 1)
    assert " ".join(ran.lines[0].split()) == "Le format du fichier sélectionné n' est pas pris en charge ."
    assert ran.lines[9].split() == ["supported", *"········●●●·"]


def test_a_json_file_of_cepts_is_shown(cepts, pair):
    record = {"links": [{"source": 4, "target": 7, "confidence": 0.5, "tier": "possible"}]}
    (pair / "l.jsonl").write_text("\n".join(json.dumps(line) for line in ({"links": []}, record)) + "\n")
    assert "○" in cepts("show", "en", "fr", "l.jsonl", "--pair", 2).out
