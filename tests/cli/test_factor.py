"""`cepts factor`: links out of matrices that the user brings."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cepts import factor
from cepts.cli.factor import command
from cepts.cli.option import Option
from cepts.data import Association, offsets_of
from cepts.extract import extractors
from cepts.names import LINK_FORMATS

needs_signals = pytest.mark.skipif(os.name == "nt", reason="signals and pipes differ")
THREE = {"matrix": [[9, 0, 0], [0, 50, 5], [0, 6, 50]]}
RECORDS = [THREE, {"matrix": [[1, 2]]}, {"matrix": [[3], [0]]}, {"matrix": [[7]]}]
LINES = ["0-0 1-1 2-2", "0-0 0-1", "0-0 1?0", "0-0"]


def json_lines(*records):
    return "".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A working directory with four matrices in `m.jsonl` and sentences that fit them in `s` and `t`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.jsonl").write_text(json_lines(*RECORDS))
    (tmp_path / "s").write_text("a b c\na\na b\na\n")
    (tmp_path / "t").write_text("x y z\nx y\nx\nx\n")
    return tmp_path


def names(home):
    return sorted(path.name for path in home.iterdir())


# -- what goes in ----------------------------------------------------------------------------------------------------


def test_links_on_stdout_and_the_summary_on_stderr(cepts, home):
    ran = cepts("factor", "m.jsonl")
    assert (ran.code, ran.lines) == (0, LINES)
    summary = ran.err.splitlines()
    assert re.fullmatch(r"aligned  4 matrices, scale 1, in \d+\.\d s", summary[0])
    assert summary[1] == "links    7 sure, 1 possible"
    assert summary[2].startswith("cepts    6 (1.5 per pair); noise ")
    assert summary[3:] == ["null     0.0% of the source and 0.0% of the target words"]
    quiet = cepts("factor", "m.jsonl", "-q", "-o", "links.gz")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    assert gzip.decompress((home / "links.gz").read_bytes()).decode().splitlines() == LINES


def test_the_links_are_those_of_the_library(cepts, home):
    rows = np.array([len(record["matrix"]) for record in RECORDS])
    columns = np.array([len(record["matrix"][0]) for record in RECORDS])
    values = np.concatenate([np.ravel(record["matrix"]) for record in RECORDS]).astype(np.float32)
    found = factor.onmf(Association(rows, columns, offsets_of(rows * columns), values))
    ran = cepts("factor", "m.jsonl", "--format", "json")
    for record, alignment in zip(map(json.loads, ran.lines), found, strict=True):
        assert [(link["source"], link["target"]) for link in record["links"]] == alignment.links
        assert [link["confidence"] for link in record["links"]] == pytest.approx(alignment.confidence, abs=1e-4)


@pytest.mark.parametrize("way", ["plain", "gz", "stdin", "stdin gz", "npz", "npz stdin"])
def test_every_kind_of_file(cepts, home, way):
    data = (home / "m.jsonl").read_bytes()
    if "npz" in way:
        np.savez(
            home / "m.npz",
            values=np.concatenate([np.ravel(record["matrix"]) for record in RECORDS]),
            source_lengths=[len(record["matrix"]) for record in RECORDS],
            target_lengths=[len(record["matrix"][0]) for record in RECORDS],
        )
        data = (home / "m.npz").read_bytes()
    if "gz" in way.split():
        data = gzip.compress(data)
    (home / "given").write_bytes(data)
    ran = cepts("factor", "-", stdin=data) if "stdin" in way else cepts("factor", "given")
    assert (ran.code, ran.lines) == (0, LINES)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.uint8])
def test_a_single_array(cepts, home, kind):
    np.save(home / "m.npy", np.array(THREE["matrix"], dtype=kind))
    ran = cepts("factor", "m.npy")
    assert (ran.code, ran.lines) == (0, LINES[:1])
    assert ran.err.startswith("aligned  1 matrix, scale 1, ")


def test_small_matrices(cepts, home):
    """One row, one column, one field, and values at the ends of what numbers can be."""
    matrices = [[[1, 2, 3]], [[1], [2]], [[5]], [[3e38, 3e38], [3e38, 3.4e38]], [[1e-38, 0], [0, 1e-45]]]
    (home / "small").write_text(json_lines(*({"matrix": matrix} for matrix in matrices)))
    for how in ("anneal", "aic", "bic", 1, 2):
        ran = cepts("factor", "small", "--cepts", how, "--format", "json")
        assert ran.code == 0
        for record, matrix in zip(map(json.loads, ran.lines), matrices, strict=True):
            shape = len(matrix), len(matrix[0])
            assert 1 <= len(record["cepts"]) <= min(shape)
            placed = [word for cept in record["cepts"] for word in cept["source"]] + record["null"]["source"]
            assert sorted(placed) == list(range(shape[0]))


def test_all_mass_at_null(cepts, home):
    (home / "null").write_text(json_lines({"matrix": [[0, 0]], "source_null": [1], "target_null": [1, 1]}))
    ran = cepts("factor", "null", "--format", "json")
    record = json.loads(ran.out)
    assert (record["links"], record["cepts"], record["null"]) == ([], [], {"source": [0], "target": [0, 1]})
    assert ran.err.splitlines()[1:] == [
        "links    0 sure, 0 possible",
        "cepts    0 (0.0 per pair); noise 0.00%",
        "null     100.0% of the source and 100.0% of the target words",
    ]


def test_null_takes_words_away(cepts, home):
    (home / "null").write_text(json_lines({**THREE, "source_null": [0, 0, 0], "target_null": [0, 500, 0]}))
    record = json.loads(cepts("factor", "null", "--format", "json").out)
    assert record["null"]["target"] == [1]
    assert all(link["target"] != 1 for link in record["links"])


# -- what comes out --------------------------------------------------------------------------------------------------


def test_json_without_and_with_the_sentences(cepts, home):
    keys = ["links", "cepts", "null", "cept_confidence", "noise"]
    bare = [json.loads(line) for line in cepts("factor", "m.jsonl", "--format", "json").lines]
    assert all(list(record) == keys for record in bare)
    assert bare[0]["cepts"] == [{"source": [i], "target": [i]} for i in range(3)]
    told = cepts("factor", "m.jsonl", "--format", "json", "--source", "s", "--target", "t").lines
    for record, plain in zip(map(json.loads, told), bare, strict=True):
        assert list(record) == ["source", "target", *keys]
        assert {key: record[key] for key in keys} == plain
    assert json.loads(told[0])["target"] == ["x", "y", "z"]


def test_words_of_the_file_are_shown(cepts, home):
    (home / "words").write_text(json_lines({**THREE, "source": ["a b", "é", ""], "target": ["x", "y\n", "z"]}))
    record = json.loads(cepts("factor", "words", "--format", "json").out)
    assert (record["source"], record["target"]) == (["a b", "é", ""], ["x", "y\n", "z"])
    (home / "given").write_text("A B C\n")
    record = json.loads(cepts("factor", "words", "--format", "json", "--source", "given", "--target", "given").out)
    assert record["source"] == ["A", "B", "C"]


@pytest.mark.parametrize("format_", LINK_FORMATS)
def test_every_format_reads_back_as_the_same_links(cepts, home, format_):
    more = ("--source", "s", "--target", "t")
    assert cepts("factor", "m.jsonl", "--format", format_, "-o", "links", *more).code == 0
    back = cepts("convert", "links", "--from", format_, "--to", "pharaoh", "--sentences", 4)
    wanted = [line.replace("?", "-") for line in LINES] if format_ == "giza" else LINES
    assert (back.code, back.lines) == (0, wanted)


def test_base_one(cepts, home):
    assert cepts("factor", "m.jsonl", "--base", 1).lines == ["1-1 2-2 3-3", "1-1 1-2", "1-1 2?1", "1-1"]


def test_probabilities_are_worth_200_counts_unless_a_scale_is_given(cepts, home):
    probabilities = [{"matrix": [[0.9, 0.1], [0.1, 0.8]]}, {"matrix": [[0.5]]}]
    (home / "p").write_text(json_lines(*probabilities))
    (home / "counts").write_text(
        json_lines(*({"matrix": [[200 * value for value in row] for row in one["matrix"]]} for one in probabilities))
    )
    usual = cepts("factor", "p", "--format", "scored")
    assert "scale 200," in usual.err
    assert usual.lines[0].count("-") == 2
    as_counts = cepts("factor", "counts", "--format", "scored")
    assert "scale 1," in as_counts.err
    assert usual.out == cepts("factor", "p", "--scale", 200, "--format", "scored").out == as_counts.out
    assert len(cepts("factor", "p", "--scale", 1).lines[0].split()) == 4  # too little evidence for two cepts
    # Masses of null count too.
    (home / "q").write_text(json_lines({**probabilities[0], "source_null": [0, 3], "target_null": [0, 0]}))
    assert "scale 1," in cepts("factor", "q").err


def test_a_number_of_cepts_and_fewer_where_it_is_too_large(cepts, home):
    for count in (1, 2, 3):
        ran = cepts("factor", "m.jsonl", "--cepts", count, "--format", "json")
        assert [len(json.loads(line)["cepts"]) for line in ran.lines] == [count, 1, 1, 1]
    for more in (("-o", "links"), ()):
        ran = cepts("factor", "m.jsonl", "--cepts", 4, *more)
        assert ran.code == 2
        assert ran.error == (
            "--cepts must be at most 3, the length of the shorter side of the largest matrix (m.jsonl, line 1). "
            "Got 4 instead."
        )
    assert names(home) == ["m.jsonl", "s", "t"]


def test_the_other_options_reach_the_library(cepts, home, monkeypatch):
    seen = {}

    def onmf(association, **options):
        seen.update(options)
        return real(association, **options)

    real = factor.onmf
    monkeypatch.setattr(extractors, "onmf", onmf)
    more = ("--cepts", "bic", "--restarts", 3, "--seed", 7, "--sure", 0.9, "--no-noise", "--threads", 1)
    assert cepts("factor", "m.jsonl", *more).code == 0
    wanted = {"cepts": "bic", "restarts": 3, "seed": 7, "sure": 0.9, "noise": False, "threads": 1}
    assert {name: seen[name] for name in wanted} == wanted


def test_defaults_that_the_help_states_are_those_of_the_library():
    said = {option.name: option.said_default for option in command.params if isinstance(option, Option)}
    assert said["sure"] == str(factor.SURE)


@pytest.mark.parametrize("how", ["anneal", "aic"])
def test_one_and_two_threads_give_the_same_bytes(cepts, home, monkeypatch, how):
    random = np.random.default_rng(5)
    records = [{"matrix": random.integers(0, 99, random.integers(1, 9, 2)).tolist()} for _ in range(60)]
    (home / "many").write_text(json_lines(*records))
    whole = cepts("factor", "many", "--cepts", how, "--format", "json")
    monkeypatch.setattr("cepts.pipeline.matrices.CELLS_IN_RUN", 100)
    for threads in (1, 2):
        ran = cepts("factor", "many", "--cepts", how, "--format", "json", "--threads", threads)
        assert (ran.code, ran.out) == (0, whole.out)


# -- matrices that are wrong -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "line"),
    [
        ({"matrix": [[1, -2]]}, "found -2 in matrix, wanted numbers of 0 or more; shift or clip the values."),
        ('{"matrix": [[1, NaN]]}', "found NaN in matrix, wanted numbers of 0 or more; give 0 where nothing is known."),
        ('{"matrix": [[1, Infinity]]}', "found Infinity in matrix, wanted numbers up to 3.4e+38; scale the matrix"),
        ({"matrix": [[1, 1e39]]}, "found 1e+39 in matrix, wanted numbers up to 3.4e+38; scale the matrix down."),
        ({"matrix": [[0, 0]]}, "found a matrix of zeros only, wanted at least one value above 0; leave the pair out"),
        ({"matrix": []}, "found a matrix of 0 x 0, wanted at least one row and one column; leave the pair out"),
        ({"matrix": [[], []]}, "found a matrix of 2 x 0, wanted at least one row and one column"),
        (
            {"matrix": [[1, 2], [3]]},
            "found 1 values in row 2 of the matrix but 2 in row 1; wanted the same number in each row",
        ),
        ({"matrix": [["x"]]}, 'found "x" in matrix, wanted numbers'),
        ({"matrix": 3}, "found 3 as matrix, wanted a list"),
        ({"matrix": [[1]], "source_null": [1]}, "found source_null, but line 1 has no source_null"),
        ({"values": [[1]]}, "found the keys 'values', wanted an object such as"),
        ('{"matrix": [[1, 2', "found invalid JSON (Expecting ',' delimiter"),
        ("", "found invalid JSON"),
        ("0-0 1-1", "found invalid JSON"),
        ("[[1]]", "found '[[1]]', wanted an object such as"),
    ],
)
def test_bad_matrices_name_file_and_line(cepts, home, record, line):
    (home / "bad").write_text(json_lines(THREE, THREE, record, THREE))
    for more in (("-o", "links"), ()):
        ran = cepts("factor", "bad", *more)
        assert ran.code == 1
        assert ran.error.startswith(f"bad, line 3: {line}")
    data = (home / "bad").read_bytes()
    assert cepts("factor", "-", stdin=data).error.startswith(f"standard input, line 3: {line}")
    assert names(home) == ["bad", "m.jsonl", "s", "t"]


@pytest.mark.parametrize(
    ("extra", "line"),
    [
        ({"source_null": [1, 2]}, "bad, line 1: found 2 values in source_null, wanted 3, one for each source word"),
        ({"target_null": [1] * 4}, "bad, line 1: found 4 values in target_null, wanted 3, one for each target word"),
        ({"source_null": [1, -1, 1]}, "bad, line 1: found -1 in source_null, wanted numbers of 0 or more"),
        (
            {"source": ["a"]},
            "bad, line 1: found 1 words in source, wanted 3, one for each source word (row of the matrix).",
        ),
        (
            {"target": ["a"]},
            "bad, line 1: found 1 words in target, wanted 3, one for each target word (column of the matrix).",
        ),
        ({"id": [3]}, "bad, line 1: found the id [3], wanted text or a whole number."),
    ],
)
def test_what_stands_beside_a_matrix_must_fit_it(cepts, home, extra, line):
    (home / "bad").write_text(json_lines({**THREE, **extra}))
    ran = cepts("factor", "bad")
    assert ran.code == 1
    assert ran.error.startswith(line)


@pytest.mark.parametrize(
    ("arrays", "line"),
    [
        ({"matrix": -np.ones((2, 2))}, "m.npz: found -1.0 in matrix, wanted numbers of 0 or more"),
        ({"matrix": np.full((2, 2), np.nan)}, "m.npz: found NaN in matrix"),
        ({"matrix": np.zeros((2, 2))}, "m.npz, matrix 1: found a matrix of zeros only"),
        ({"matrix": np.zeros((0, 2))}, "m.npz, matrix 1: found a matrix of 0 x 2"),
        ({"matrix": np.zeros((2, 2, 2))}, "m.npz: found matrix of 3 dimensions and type float64, wanted numbers in 2"),
        ({"matrix": np.ones((2, 2)), "source_null": np.ones(3)}, "m.npz: found 3 values in source_null, wanted 2"),
        ({"values": np.ones(5), "source_lengths": [2, 1], "target_lengths": [2, 2]}, "m.npz: found 5 values, wanted 6"),
        ({"values": np.ones(4)}, "m.npz: found the arrays values, wanted values, source_lengths and target_lengths"),
    ],
)
def test_bad_arrays(cepts, home, arrays, line):
    np.savez(home / "m.npz", **arrays)
    ran = cepts("factor", "m.npz")
    assert ran.code == 1
    assert ran.error.startswith(line)


def test_files_that_are_none(cepts, home):
    (home / "empty").touch()
    (home / "empty.gz").write_bytes(gzip.compress(b""))
    (home / "cut.gz").write_bytes(gzip.compress((home / "m.jsonl").read_bytes())[:40])
    np.savez(home / "whole.npz", matrix=np.ones((3, 3)))
    (home / "cut.npz").write_bytes((home / "whole.npz").read_bytes()[:99])
    (home / "lines.npz").write_bytes((home / "m.jsonl").read_bytes())
    for name, line in (
        ("nowhere", "cannot read nowhere: there is no such file"),
        (".", "cannot read .: Is a directory"),
        ("empty", "empty is empty; wanted association matrices: JSON lines, .npz or .npy."),
        ("empty.gz", "empty.gz is empty; wanted association matrices"),
        ("-", "standard input is empty; wanted association matrices"),
        ("cut.gz", "cut.gz ends in the middle of its compressed data"),
        ("cut.npz", "cut.npz: not a readable .npz or .npy file of numbers"),
        ("lines.npz", "lines.npz: found no NumPy array, wanted .npz as its name says"),
    ):
        ran = cepts("factor", name, "-o", "links")
        assert ran.code == 1
        assert ran.error.startswith(line)
    assert "links" not in names(home)


def test_empty_matrices_can_be_let_pass(cepts, home):
    empty = [{"matrix": []}, THREE, {"matrix": [[], []]}, {"matrix": [[0, 0]]}, {"matrix": [[1]]}]
    (home / "some").write_text(json_lines(*empty))
    ran = cepts("factor", "some", "--allow-empty")
    assert (ran.code, ran.lines) == (0, ["", LINES[0], "", "", "0-0"])
    # What an aligner left out, as too long or empty on one side, has no words here whatever the sentences are.
    (home / "s").write_text("a b\na b c\na b\na\na\n")
    (home / "t").write_text("x\nx y z\n\nx y\nx\n")
    fits = cepts("factor", "some", "--allow-empty", "--source", "s", "--target", "t", "--format", "giza")
    assert (fits.code, len(fits.lines)) == (0, 15)
    (home / "t").write_text("x\nx y z w\n\nx y\nx\n")
    ran = cepts("factor", "some", "--allow-empty", "--source", "s", "--target", "t")
    assert ran.error.startswith("some, line 2: found a matrix of 3 x 3, wanted 3 x 4, the words of sentence pair 2 of")
    (home / "none").write_text(json_lines({"matrix": []}))
    ran = cepts("factor", "none", "--allow-empty", "--cepts", 3)
    assert (ran.code, ran.lines) == (0, [""])
    assert ran.err.splitlines()[2] == "cepts    none"


# -- sentences, plots and options that do not fit --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target", "line"),
    [
        (3, 3, "m.jsonl has more than 3 matrices but the bitext has 3 sentence pairs; give one matrix for each pair"),
        (5, 5, "m.jsonl has 4 matrices but the bitext has 5 sentence pairs; give one matrix for each pair"),
        (4, 3, "s has 4 lines but t has 3; a bitext needs one target line for each source line."),
        (None, 4, "m.jsonl, line 3: found a matrix of 2 x 1, wanted 1 x 1, the words of sentence pair 3 of the bitext"),
    ],
)
def test_sentences_that_do_not_fit(cepts, home, source, target, line):
    lines = "a b c\na\na b\na\na\n".splitlines(keepends=True)
    (home / "s").write_text("".join(lines[:source]) if source else "a b c\na\na\na\n")
    (home / "t").write_text("".join("x y z\nx y\nx\nx\nx\n".splitlines(keepends=True)[:target]))
    for more in (("-o", "links"), ()):
        ran = cepts("factor", "m.jsonl", "--source", "s", "--target", "t", *more)
        assert ran.code == 1
        assert ran.error.startswith(line)
    assert names(home) == ["m.jsonl", "s", "t"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--source", "s"), "--source and --target go together: give both files of sentences, or neither."),
        (("--target", "t"), "--source and --target go together"),
        (
            ("--format", "giza"),
            "the format giza shows the sentences, which m.jsonl does not have; give them with --source",
        ),
        (("--scale", "nan"), "Invalid value for '--scale': must be a finite number. Got nan."),
        (("--scale", "inf"), "Invalid value for '--scale': must be a finite number. Got inf."),
        (("--scale", 0), "Invalid value for '--scale': must be above 0. Got 0."),
        (("--sure", "nan"), "Invalid value for '--sure': must be a finite number. Got nan."),
        (("--sure", -0.1), "Invalid value for '--sure': must be from 0 to 1. Got -0.1."),
        (
            ("--cepts", "x"),
            "Invalid value for '--cepts': must be anneal, anneal-bic, anneal-icl, aic, bic, icl or a number from 1 to",
        ),
        (("--cepts", 0), "Invalid value for '--cepts': must be anneal"),
        (("--cepts", 10**12), "Invalid value for '--cepts': must be anneal"),
        (("--seed", 10**20), "Invalid value for '--seed': must be from 0 to 4,294,967,295."),
        (("--restarts", 2), "--restarts goes with --cepts aic, bic or icl, not with anneal."),
        (("--restarts", 0, "--cepts", "aic"), "Invalid value for '--restarts': must be 1 or more. Got 0."),
        (("--base", 2), "Invalid value for '--base'"),
        (("--threads", 0), "Invalid value for '--threads'"),
        (("--plot", "p.jpg"), "the name of a figure must end in .svg, .pdf or .png. Got 'p.jpg' instead."),
        (("--plot", "-"), "the name of a figure must end in .svg, .pdf or .png. Got '-' instead."),
        (("--plot-criterion", "p"), "the name of a figure must end in .svg, .pdf or .png. Got 'p' instead."),
        (("--plot", "p.svg", "--pair", 5), "--pair must be at most 4, since m.jsonl has 4 matrices. Got 5 instead."),
        (("--plot", "p.svg", "--pair", 0), "Invalid value for '--pair': must be 1 or more. Got 0."),
        (("--plot", "p.svg", "--plot-criterion", "./p.svg"), "--plot and --plot-criterion would both go to p.svg; "),
        (("--plot", "p.svg", "-o", "p.svg"), "--plot and the links would both go to p.svg; name another file for one"),
        (
            ("--pair", 2),
            "--pair chooses the pair to draw; name the file of the figure with --plot or --plot-criterion.",
        ),
        (("--gold", "s"), "--gold is shown in a figure; name its file with --plot."),
        (("--gold", "s", "--plot-criterion", "c.svg"), "--gold is shown in a figure; name its file with --plot."),
        (("extra",), "Got unexpected extra argument (extra)"),
    ],
)
def test_options_that_are_wrong_usage(cepts, home, options, line):
    if "svg" in str(options):
        pytest.importorskip("matplotlib")
    ran = cepts("factor", "m.jsonl", *options)
    assert ran.code == 2
    assert ran.error.startswith(line)
    assert names(home) == ["m.jsonl", "s", "t"]


def test_standard_input_serves_once(cepts, home):
    data = (home / "m.jsonl").read_bytes()
    ran = cepts("factor", "-", "--source", "-", "--target", "t", stdin=data)
    assert ran.code == 2
    assert ran.error.startswith("only one input can be - (standard input)")
    for option in ("--plot", "--plot-criterion"):
        ran = cepts("factor", "-", option, "p.svg", stdin=data)
        assert ran.code == 2
        assert ran.error.startswith(f"{option} reads the matrices a second time, which is not possible with stdin")
    assert names(home) == ["m.jsonl", "s", "t"]


def test_no_argument_at_all(cepts):
    assert cepts("factor").error == "Missing argument 'MATRICES'. See 'cepts factor --help'."


@pytest.mark.parametrize("where", ["no/links", ".", "s/links"])
def test_places_that_cannot_be_written_to(cepts, home, where):
    for option, name in (("-o", where), ("--plot", f"{where}.svg" if where != "." else "no/x.svg")):
        ran = cepts("factor", "m.jsonl", option, name)
        assert ran.code == 1
        assert ran.error.startswith(f"cannot write {name}: ")
    assert names(home) == ["m.jsonl", "s", "t"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(cepts, home):
    assert cepts("factor", "m.jsonl", "-o", "/dev/full").error == "cannot write /dev/full: No space left on device."


@pytest.mark.parametrize(
    ("scale", "matrix", "line"),
    [
        (1e38, [[9, 1]], "big, line 2: found 9 in matrix, which a scale of 1e+38 makes too large for a 32-bit number;"),
        (1e300, [[9, 1]], "big, line 1: found 9 in matrix, which a scale of 1e+300 makes too large"),
        (1000, [[1, 3e38]], "big, line 2: found 3e+38 in matrix, which a scale of 1000 makes too large"),
        (1e-300, [[9, 1]], "big, line 1: found 9 in matrix, which a scale of 1e-300 makes too small"),
    ],
)
def test_a_scale_beyond_all_numbers(cepts, home, scale, matrix, line):
    first = {"matrix": [[9, 0]]} if scale in {1e300, 1e-300} else {"matrix": [[1, 0]]}
    (home / "big").write_text(json_lines(first, {"matrix": matrix}))
    ran = cepts("factor", "big", "--scale", scale)
    assert ran.code == 1
    assert ran.error.startswith(line)


def test_words_that_a_line_cannot_hold(cepts, home):
    for word in ("a b", "", "x\n", "\u2028"):
        (home / "words").write_text(json_lines({"matrix": [[1]], "source": ["a"], "target": [word]}))
        ran = cepts("factor", "words", "--format", "giza", "-o", "links")
        assert ran.code == 1
        line = f"words, line 1: found the word {word!r}, but the format giza needs words without blanks"
        assert ran.error.startswith(line)
    assert "links" not in names(home)


# -- plots -----------------------------------------------------------------------------------------------------------


def test_plots(cepts, home):
    pytest.importorskip("matplotlib")
    (home / "gold").write_text("0-0 1?1\n\n\n0-0\n")
    files = ("--plot", "p.svg", "--plot-criterion", "c.png")
    for pair, more in ((1, ("--gold", "gold")), (2, ("--cepts", 3)), (4, ("--source", "s", "--target", "t"))):
        for name in ("p.svg", "c.png"):
            (home / name).unlink(missing_ok=True)
        ran = cepts("factor", "m.jsonl", *files, "--pair", pair, *more)
        assert ran.code == 0
        assert ran.lines == LINES
        assert (home / "p.svg").read_text().startswith("<?xml")
        assert (home / "c.png").read_bytes().startswith(b"\x89PNG")


def test_the_pair_that_is_asked_for_is_drawn(cepts, home, monkeypatch):
    pytest.importorskip("matplotlib")
    from cepts.plot import factors as drawing

    seen = []
    monkeypatch.setattr(drawing, "plot_factors", lambda *arguments, **options: seen.append((arguments, options)))
    (home / "m.jsonl").write_text(json_lines(*({**RECORDS[1], "matrix": [[n, 2 * n]]} for n in (1, 2, 3))))
    (home / "s").write_text("a\nb\nc\n")
    (home / "t").write_text("x x\ny y\nz w\n")
    (home / "gold").write_text("\n\n0-1\n")
    more = ("--source", "s", "--target", "t", "--gold", "gold", "--scale", 10)
    assert cepts("factor", "m.jsonl", "--plot", "p.svg", "--pair", 3, *more).code == 0
    [((_, matrix, *_), options)] = seen
    assert matrix.tolist() == [[0, 0, 0], [0, 30, 60]]
    assert seen[0][0][4:6] == (["c"], ["z", "w"])
    assert options["sure"] == [(0, 1)]
    assert options["title"].startswith("1 cept, P(noise) = ")


@pytest.mark.parametrize(
    ("gold", "line"),
    [
        ("1 1 9 S\n", "gold.wa, line 1: found a link to target word 9, but that sentence has 3 words"),
        ("9 1 1 S\n", "gold.wa, line 1: found a link of sentence 9, but there are only 4 sentences"),
        ("hello\n", "gold.wa, line 1: found 'hello', wanted"),
        (None, "cannot read gold.wa: there is no such file"),
    ],
)
def test_gold_that_does_not_fit_is_refused_before_any_work(cepts, home, gold, line):
    pytest.importorskip("matplotlib")
    if gold is not None:
        (home / "gold.wa").write_text(gold)
    before = names(home)
    ran = cepts("factor", "m.jsonl", "--plot", "p.svg", "--gold", "gold.wa", "-o", "links")
    assert ran.code == 1
    assert ran.error.startswith(line)
    assert names(home) == before


def test_a_matrix_without_factors_cannot_be_drawn(cepts, home):
    pytest.importorskip("matplotlib")
    (home / "null").write_text(json_lines({"matrix": [[0, 0]], "source_null": [1], "target_null": [1, 1]}))
    ran = cepts("factor", "null", "--plot", "p.svg", "-o", "links")
    assert ran.code == 1
    assert ran.error.startswith("null, line 1: found a matrix of zeros only, wanted at least one value above 0 to draw")
    assert names(home) == ["m.jsonl", "null", "s", "t"]


def test_without_matplotlib(cepts, home, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = cepts("factor", "m.jsonl", "--plot", "p.svg", "-o", "links")
    assert ran.code == 2
    assert ran.error == "figures need matplotlib; install it with: pip install matplotlib"
    assert names(home) == ["m.jsonl", "s", "t"]
    assert cepts("factor", "m.jsonl").code == 0


# -- signals and pipes -----------------------------------------------------------------------------------------------


@needs_signals
def test_control_c(cepts_process, home):
    random = np.random.default_rng(1)
    records = [{"matrix": random.integers(1, 99, (12, 12)).tolist()} for _ in range(2000)]
    (home / "many").write_text(json_lines(*records))
    (home / "links").write_text("old\n")
    process = cepts_process("factor", "many", "--cepts", "aic", "-o", "links")
    deadline = time.monotonic() + 60
    while not list(home.glob(".links.*.tmp")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "cepts: stopped; run the command again to start over.\n")
    assert (home / "links").read_text() == "old\n"
    assert names(home) == ["links", "m.jsonl", "many", "s", "t"]


@needs_signals
def test_head(home):
    command_line = shlex.join([sys.executable, "-m", "cepts", "factor", "m.jsonl"])
    done = subprocess.run(
        f"{command_line} | head -n 1", shell=True, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == LINES[0] + "\n"
    assert re.fullmatch(r"(aligned .*\nlinks .*\ncepts .*\nnull .*\n)?", done.stderr)


@needs_signals
def test_a_reader_that_went_away(cepts_process, home):
    reader, writer = os.pipe()
    os.close(reader)
    process = cepts_process("factor", "m.jsonl", stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, "")
