from __future__ import annotations

import pytest

from cepts.cli import main

FORWARD = "0-0 1-1 2-1\n\n0-0\n"
REVERSE = "0-0 1-1 1-2\n0-0\n\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "forward").write_text(FORWARD)
    (tmp_path / "reverse").write_text(REVERSE)
    (tmp_path / "source").write_text("a b c\na\na\n")
    (tmp_path / "target").write_text("x y z\nx\nx\n")
    return tmp_path


@pytest.mark.parametrize(
    ("method", "wanted"),
    [
        ("intersection", "0-0 1-1\n\n\n"),
        ("union", "0-0 1-1 1-2 2-1\n0-0\n0-0\n"),
        ("grow-diag", "0-0 1-1 1-2 2-1\n\n\n"),
        ("grow-diag-final-and", "0-0 1-1 1-2 2-1\n0-0\n0-0\n"),
        ("forward", FORWARD),
        ("reverse", REVERSE),
    ],
)
def test_methods(files, capfd, method, wanted):
    assert main(["combine", "forward", "reverse", "--method", method]) == 0
    assert capfd.readouterr() == (wanted, "")


def test_confidence_and_base(files, capfd):
    (files / "one").write_text("1-1:0.5 2-2:0.5\n")
    (files / "two").write_text("1-1:1\n")
    assert main(["combine", "one", "two", "--method", "union", "--base", "1", "--format", "scored"]) == 0
    assert capfd.readouterr().out == "1-1:0.7500 2-2:0.2500\n"


def test_transposed_reverse_and_output_file(files):
    (files / "turned").write_text("0-0 1-1 2-1\n0-0\n\n")
    arguments = ["combine", "forward", "turned", "--transpose-reverse", "-o", "out", "--source", "source"]
    assert main([*arguments, "--target", "target"]) == 0
    assert (files / "out").read_text() == "0-0 1-1 1-2 2-1\n0-0\n0-0\n"


def test_sentences_are_written_where_the_format_has_them(files, capfd):
    arguments = ["combine", "forward", "reverse", "--source", "source", "--target", "target"]
    assert main([*arguments, "--format", "giza"]) == 0
    assert "NULL ({ }) a ({ 1 }) b ({ 2 3 }) c ({ 2 })" in capfd.readouterr().out


def test_naacl_files_may_end_early(files, capfd):
    (files / "f.wa").write_text("1 1 1\n2 1 1\n")
    (files / "r.wa").write_text("1 1 1\n")
    assert main(["combine", "f.wa", "r.wa", "--method", "union"]) == 0
    assert capfd.readouterr().out == "0-0\n0-0\n"


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["forward", "short"], 1, "short holds the links of 1 sentence pairs"),
        (["short", "forward"], 1, "short holds the links of 1 sentence pairs"),
        (
            ["forward", "reverse", "--source", "target", "--target", "short"],
            1,
            "target has 3 lines but short",
        ),
        (["far", "reverse", "--source", "source"], 1, "far, line 2: found a link to source word 7"),
        (["forward", "bad"], 1, "bad, line 2: found 'x-y'"),
        (["-", "-"], 2, "only one input can be -"),
        (
            ["forward", "reverse", "--bitext", "b", "--source", "source"],
            2,
            "give either --bitext or --source",
        ),
        (["forward", "nowhere"], 1, "cannot read nowhere"),
        (["forward", "reverse", "--format", "giza"], 2, "the format giza shows the sentences"),
        (["forward"], 2, "Missing argument 'REVERSE'"),
    ],
)
def test_bad_input_is_one_line(files, capfd, arguments, code, line):
    (files / "short").write_text("0-0\n")
    (files / "far").write_text("0-0\n7-0\n\n")
    (files / "bad").write_text("0-0\nx-y\n\n")
    assert main(["combine", *arguments]) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"cepts: error: {line}")
    assert err.count("\n") == 1
