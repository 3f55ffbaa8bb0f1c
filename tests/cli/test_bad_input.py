"""Bad input gets one clear line, and nothing is lost."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cepts import words

QUICK = ("--iterations", 2, "--start-iterations", 2)
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
needs_signals = pytest.mark.skipif(os.name == "nt", reason="signals and pipes differ")


@pytest.fixture
def untrained(monkeypatch):
    """Fail where training starts."""

    def fit(self, *arguments, **options):
        raise AssertionError("training has started")

    monkeypatch.setattr(words.Aligner, "fit", fit)


# -- texts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("swap", [False, True])
def test_line_counts_that_differ(cepts, corpus, untrained, swap):
    lines = (corpus / "fr").read_text("utf-8").splitlines()
    (corpus / "short").write_text("\n".join(lines[:100]) + "\n", "utf-8")
    names = ("short", "en") if swap else ("en", "short")
    counts = "short has 100 lines but en has 120" if swap else "en has 120 lines but short has 100"
    ran = cepts("align", *names, "-o", "links")
    assert ran.error.startswith(counts)
    assert "first line without a partner is 101" in ran.error
    assert ran.code == 1
    assert not (corpus / "links").exists()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a ||| b\nc d\n", "pairs, line 2: found no separators ` ||| `, wanted 1"),
        ("a ||| b\nc|||d\n", "pairs, line 2: found no separators"),
        ("a ||| b\n\nc ||| d ||| e\n", "pairs, line"),
        ("a\tb\nc\n", "pairs, line 2: found 1 column, wanted 2"),
        ("a\tb\nc\td\te\n", "pairs, line 2: found 3 columns, wanted 2"),
        ("a b\nc d\n", "pairs, line 1: found neither ` ||| ` nor one tab"),
    ],
)
def test_lines_without_their_separator(cepts, corpus, untrained, text, line):
    (corpus / "pairs").write_text(text)
    ran = cepts("align", "pairs")
    assert ran.code == 1
    assert ran.error.startswith(line)
    assert cepts("align", "-", stdin=text.encode()).error.startswith(line.replace("pairs", "standard input"))


@pytest.mark.parametrize("side", [0, 1])
def test_invalid_utf8_names_file_line_and_byte(cepts, corpus, untrained, side):
    (corpus / "good").write_text("x\ny\nz\n")
    (corpus / "bad").write_bytes("a\nété b\xff\nc\n".encode("latin-1").replace(b"\xe9", "é".encode()))
    names = ("good", "bad") if side else ("bad", "good")
    ran = cepts("align", *names)
    assert ran.code == 1
    assert ran.error.startswith("bad, line 2: byte 8 (0xff) is not valid UTF-8")
    assert "--errors replace" in ran.error


@pytest.mark.parametrize("data", [b"a ||| b\nc ||| d\xe9\n", b"a\tb\nc\td\xe9\n"])
def test_invalid_utf8_in_one_file(cepts, corpus, untrained, data):
    (corpus / "pairs").write_bytes(data)
    column = data.split(b"\n")[1].index(b"\xe9") + 1
    assert cepts("align", "pairs").error.startswith(f"pairs, line 2: byte {column} (0xe9) is not valid UTF-8")


def test_invalid_utf8_can_be_replaced(cepts, corpus):
    (corpus / "bad").write_bytes(b"a\nb\xff c\n")
    ran = cepts("align", "bad", "bad", "--errors", "replace", "--format", "json")
    assert ran.code == 0
    assert len(ran.lines) == 2
    assert '"b\ufffd"' in ran.lines[1]


@pytest.mark.parametrize("names", [("en", "empty"), ("empty", "fr"), ("empty", "empty"), ("empty",), ("empty.gz",)])
def test_an_empty_file(cepts, corpus, untrained, names):
    (corpus / "empty").touch()
    (corpus / "empty.gz").write_bytes(gzip.compress(b""))
    ran = cepts("align", *names)
    assert ran.code == 1
    assert "is empty; wanted one sentence per line" in ran.error


def test_nothing_on_stdin(cepts, corpus, untrained):
    assert cepts("align", "-").error.startswith("standard input is empty")
    assert cepts("align", "-", "fr").error.startswith("standard input is empty")
    assert cepts("align", "-", "-").code == 2


@pytest.mark.parametrize("model", words.MODELS)
def test_one_pair(cepts, corpus, sentences, model):
    for name, lines in zip(("a", "b"), sentences, strict=True):
        (corpus / name).write_text(lines[0] + "\n", "utf-8")
    ran = cepts("align", "a", "b", "--model", model)
    assert ran.code == 0
    assert len(ran.lines) == 1
    assert ran.err.startswith("aligned  1 pair, ")


@pytest.mark.parametrize("model", words.MODELS)
def test_all_lines_identical(cepts, corpus, model):
    (corpus / "a").write_text("the house is red\n" * 300)
    (corpus / "b").write_text("la maison est rouge\n" * 300)
    ran = cepts("align", "a", "b", "--model", model)
    assert ran.code == 0
    assert len(ran.lines) == 300
    assert len(set(ran.lines)) == 1


def test_all_words_identical(cepts, corpus):
    (corpus / "a").write_text("x x x\nx\n" * 20)
    ran = cepts("align", "a", "a", "--combine", "grow-diag-final-and")
    assert ran.code == 0
    assert len(ran.lines) == 40


@pytest.fixture
def long_sentences(corpus, sentences):
    """The pairs with one of 2,000 words in their middle."""
    long = [" ".join(f"{side}{(7919 * place) % 1000}" for place in range(2000)) for side in ("v", "w")]
    for name, lines, extra in zip(("a", "b"), sentences, long, strict=True):
        (corpus / name).write_text("\n".join([*lines[:60], extra, *lines[60:]]) + "\n", "utf-8")
    return corpus


def test_sentences_of_2000_words_are_skipped_and_counted(cepts, long_sentences):
    ran = cepts("align", "a", "b", *QUICK)
    assert ran.code == 0
    assert len(ran.lines) == 121
    assert ran.lines[60] == ""
    assert "skipped  1 pair with a sentence of more than 1,000 words, without links (--max-length)" in ran.err
    assert ran.lines[:60] + ran.lines[61:] == cepts("align", "en", "fr", *QUICK).lines


@pytest.mark.parametrize("model", ["ibm1", "diagonal"])
def test_sentences_of_2000_words_are_aligned_if_allowed(cepts, long_sentences, model):
    options = ["--model", model, "--iterations", 1, "--start-iterations", 1, "--combine", "union"]
    ran = cepts("align", "a", "b", "--max-length", 2000, *options)
    assert ran.code == 0
    assert len(ran.lines) == 121
    assert "skipped" not in ran.err
    links = [tuple(map(int, link.split("-"))) for link in ran.lines[60].split()]
    assert len(links) > 1000
    assert max(max(link) for link in links) < 2000
    assert "skipped  1 pair" in cepts("align", "a", "b", "--max-length", 1999, *options).err


def test_a_long_sentence_under_the_default_model(cepts, corpus):
    """On one side only, since a pair of two takes the time of a thousand usual ones."""
    (corpus / "a").write_text(" ".join(f"w{place % 100}" for place in range(2000)) + "\na\n")
    (corpus / "b").write_text("x y z\nb\n")
    ran = cepts("align", "a", "b", "--max-length", 2000, "--iterations", 1)
    assert ran.code == 0
    assert len(ran.lines) == 2
    assert "skipped" not in ran.err


# -- files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nowhere", "fr"], "cannot read nowhere: there is no such file"),
        (["en", "nowhere"], "cannot read nowhere: there is no such file"),
        (["nowhere"], "cannot read nowhere: there is no such file"),
        ([".", "fr"], "cannot read .: Is a directory"),
        (["en", "."], "cannot read .: Is a directory"),
        (["cut.gz", "fr"], "cut.gz ends in the middle of its compressed data"),
        (["noise.xz", "fr"], "noise.xz is damaged"),
        (["noise.xz", "--input-format", "tmx"], "noise.xz is damaged"),
        (["en", "--input-format", "tmx"], "en, line 1: not well-formed TMX"),
        (["en", "--input-format", "parquet"], "en: not a readable Parquet file"),
        (["en", "fr", "-o", "no/links"], "cannot write no/links: there is no directory"),
        (["en", "fr", "-o", "en/links"], "cannot write en/links: "),
        (["en", "fr", "-o", "."], "cannot write .: Is a directory"),
        (["en", "fr", "--scores", "no/scores"], "cannot write no/scores: there is no directory"),
        (["en", "fr", "--save", "en"], "en: no model can be saved there"),
        (["en", "fr", "--save", "foreign"], "foreign exists and is not a cepts model (it contains thesis.tex)"),
        (["en", "fr", "--load", "nowhere"], "nowhere does not exist; give the directory of a saved model"),
        (["en", "fr", "--load", "en"], "en, line 1: found invalid JSON"),
        (["en", "fr", "--load", "foreign"], "foreign/model.json is missing: this is not a model"),
    ],
)
def test_files_are_refused_before_training(cepts, corpus, untrained, arguments, line):
    if "parquet" in arguments:
        pytest.importorskip("pyarrow")
    (corpus / "cut.gz").write_bytes(gzip.compress((corpus / "en").read_bytes())[:500])
    (corpus / "noise.xz").write_bytes(b"\xfd7zXZ\x00" + bytes(range(200)))
    (corpus / "foreign").mkdir()
    (corpus / "foreign" / "thesis.tex").write_text("years of work")
    before = sorted(path.name for path in corpus.iterdir())
    ran = cepts("align", *arguments)
    assert ran.code == 1
    assert ran.error.startswith(line)
    assert sorted(path.name for path in corpus.iterdir()) == before
    assert (corpus / "foreign" / "thesis.tex").read_text() == "years of work"


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_directory_without_permission(cepts, corpus, untrained):
    (corpus / "locked").mkdir(mode=0o500)
    assert cepts("align", "en", "fr", "-o", "locked/links").error == "cannot write locked/links: Permission denied."


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--load", "m", "--model", "hmm"], "--model: --load uses a model that is already trained"),
        (["--load", "m", "--iterations", "3", "--stems", "4"], "--iterations, --stems: --load uses a model"),
        (["--load", "m", "--save", "n"], "--save: --load uses a model"),
        (["--load", "m", "--checkpoint", "n"], "--checkpoint: --load uses a model"),
        (
            ["--combine", "union", "--threshold", "0.5"],
            "--threshold goes with --combine agreement or onmf, not with",
        ),
        (["--threshold", "nan"], "Invalid value for '--threshold': must be a finite number"),
        (["--threshold", "1.5"], "Invalid value for '--threshold'"),
        (["--threads", "0"], "Invalid value for '--threads'"),
        (["--max-length", "0"], "Invalid value for '--max-length'"),
        (["--iterations", "-1"], "Invalid value for '--iterations'"),
        (["--null-prob", "1"], "Invalid value for '--null-prob'"),
        (["--null-prob", "nan"], "Invalid value for '--null-prob'"),
        (["--spelling", "inf"], "Invalid value for '--spelling'"),
        (["--stems", "4,6"], "Invalid value for '--stems': must be numbers of letters"),
        (["--stems", "x"], "Invalid value for '--stems': must be numbers of letters"),
        (["--stems", "3,0"], "Invalid value for '--stems': must be numbers of letters"),
        (["--model", "ibm9"], "Invalid value for '--model'"),
        (["--languages", "en"], "Invalid value for '--languages': must be two names"),
        (["--scores", "-"], "--scores and the links would both go to stdout"),
        (["--scores", "x", "-o", "x"], "--scores and the links would both go to x"),
        (["--input-format", "tmx"], "the format tmx has both sides in one file"),
        (["third"], "Got unexpected extra argument (third)"),
    ],
)
def test_options_that_are_wrong_usage(cepts, corpus, untrained, arguments, line):
    ran = cepts("align", "en", "fr", *arguments)
    assert ran.code == 2
    assert ran.error.startswith(line)
    assert sorted(path.name for path in corpus.iterdir()) == ["en", "fr"]


def test_no_argument_at_all(cepts):
    ran = cepts("align")
    assert ran.code == 2
    assert ran.error == "Missing argument 'SOURCE'. See 'cepts align --help'."


# -- gold and links ------------------------------------------------------------------------------------------------


def test_gold_for_sentences_that_do_not_exist(cepts, corpus, trained):
    links = trained.parent / "links"
    (corpus / "gold.wa").write_text("1 1 1 S\n121 1 1 S\n")
    ran = cepts("score", "gold.wa", links, "--source", "en", "--target", "fr")
    assert ran.code == 1
    assert "gold.wa" in ran.error
    assert "121" in ran.error
    assert "the gold file has more pairs" in cepts("score", "gold.wa", links).error
    (corpus / "gold").write_text("0-0\n" * 121)
    assert "121 sentence pairs" in cepts("score", "gold", links).error


@pytest.mark.parametrize(
    ("gold", "line"),
    [
        ("1 1 1 S\n1 99 1 S\n", "gold.wa, line 2: found a link to source word 99, but that sentence has 10 words"),
        ("1 1 99 P\n", "gold.wa, line 1: found a link to target word 99, but that sentence has 12 words"),
        ("0 1 1 S\n", "gold.wa, line 1: found '0 1 1 S', wanted sentence numbers from 1"),
        ("1 1 x S\n", "gold.wa, line 1: found '1 1 x S', wanted"),
    ],
)
def test_links_out_of_range(cepts, corpus, trained, gold, line):
    sides = ["--source", "en", "--target", "fr"]
    # The gold must be of as many pairs as the links are.
    (corpus / "gold.wa").write_text(gold + "120 1 1 S\n")
    assert cepts("score", "gold.wa", trained.parent / "links", *sides).error.startswith(line)
    ran = cepts("convert", "gold.wa", "--to", "pharaoh", "-o", "out", *sides)
    assert ran.error.startswith(line)
    assert not (corpus / "out").exists()


# -- models --------------------------------------------------------------------------------------------------------

ALIGN = ["align", "en", "fr", "--load", "model"]


@pytest.mark.parametrize("name", ["model.json", "arrays.safetensors"])
@pytest.mark.parametrize("share", [0, 0.5, 0.999])
def test_a_model_cut_short(cepts, corpus, trained, name, share):
    shutil.copytree(trained, corpus / "model")
    data = (corpus / "model" / name).read_bytes()
    (corpus / "model" / name).write_bytes(data[: int(share * len(data))])
    for command in (ALIGN, ["lexicon", "model"]):
        ran = cepts(*command)
        assert ran.code == 1
        assert ran.error.startswith(f"model/{name} is damaged")
        assert "train and save it again" in ran.error


@pytest.mark.parametrize("name", ["model.json", "arrays.safetensors"])
def test_a_model_with_a_file_missing(cepts, corpus, trained, name):
    shutil.copytree(trained, corpus / "model")
    (corpus / "model" / name).unlink()
    ran = cepts(*ALIGN)
    assert ran.code == 1
    assert ran.error.startswith(f"model/{name} is missing")


@pytest.mark.parametrize("name", ["model.json", "arrays.safetensors"])
def test_any_flipped_bit_is_found(cepts, corpus, trained, name):
    shutil.copytree(trained, corpus / "model")
    data = (corpus / "model" / name).read_bytes()
    for step in range(40):
        place, bit = step * (len(data) - 1) // 39, step % 8
        changed = bytearray(data)
        changed[place] ^= 1 << bit
        (corpus / "model" / name).write_bytes(changed)
        ran = cepts(*ALIGN)
        assert ran.code == 1, (place, bit)
        assert ran.error.startswith(f"model/{name}"), (place, bit)
    (corpus / "model" / name).write_bytes(data)
    assert cepts(*ALIGN).code == 0


# -- disks, signals and pipes --------------------------------------------------------------------------------------


@needs_full
@pytest.mark.parametrize("option", ["-o", "--scores"])
def test_a_full_disk(cepts, corpus, trained, option):
    """Small output fails only when it is flushed. The old links stay where the scores cannot be written."""
    (corpus / "links").write_text("old\n")
    where = ["-o", "/dev/full"] if option == "-o" else ["-o", "links", "--scores", "/dev/full"]
    ran = cepts("align", "en", "fr", "--load", trained, *where)
    assert ran.error == "cannot write /dev/full: No space left on device."
    assert (corpus / "links").read_text() == "old\n"
    assert sorted(path.name for path in corpus.iterdir()) == ["en", "fr", "links"]


@needs_full
@pytest.mark.parametrize("format_", ["pharaoh", "json"])
def test_stdout_on_a_full_disk(cepts_process, corpus, trained, format_):
    with Path("/dev/full").open("wb") as full:
        process = cepts_process("align", "en", "fr", "--load", trained, "--format", format_, stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err == "cepts: error: cannot write standard output: No space left on device.\n"


@needs_signals
def test_a_disk_that_fills_under_the_model(cepts_process, corpus, trained):
    """The old model stays, and the links of the training are not lost with the new one."""
    import resource

    shutil.copytree(trained, corpus / "model")
    before = {path.name: path.read_bytes() for path in (corpus / "model").iterdir()}

    def limit():
        # Files of more than this are refused, as by a disk that fills; links are smaller and arrays larger.
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    assert (trained.parent / "links").stat().st_size < 20_000 < len(before["arrays.safetensors"])
    process = cepts_process("align", "en", "fr", "--save", "model", "-o", "links", preexec_fn=limit)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert err.splitlines()[-1].startswith("cepts: error: model: the model cannot be written (")
    assert "Traceback" not in err
    assert {path.name: path.read_bytes() for path in (corpus / "model").iterdir()} == before
    assert (corpus / "links").read_text() == (trained.parent / "links").read_text()
    assert sorted(path.name for path in corpus.iterdir()) == ["en", "fr", "links", "model"]


@needs_signals
def test_control_c_during_training(cepts_process, corpus):
    (corpus / "links").write_text("old\n")
    options = ["-o", "links", "--scores", "scores", "--save", "model", "--checkpoint", "state"]
    process = cepts_process("align", "en", "fr", "--model", "ibm2", "--iterations", 100_000, *options)
    deadline = time.monotonic() + 120
    while not (corpus / "state" / "training-ibm2" / "state.piece").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    stopped = "cepts: stopped; run the same command again to continue from state.\n"
    assert (process.returncode, out, err) == (130, "", stopped)
    assert (corpus / "links").read_text() == "old\n"
    assert sorted(path.name for path in corpus.iterdir()) == ["en", "fr", "links", "state"]
    # Nothing half-written stays behind.
    assert {path.suffix for path in (corpus / "state").rglob("*") if path.is_file()} == {".piece"}


def test_a_checkpoint_of_another_text(cepts, corpus, sentences):
    assert cepts("align", "en", "fr", "--checkpoint", "state", *QUICK).code == 0
    for name, lines in zip(("a", "b"), sentences, strict=True):
        (corpus / name).write_text(lines[0] + "\n", "utf-8")
    ran = cepts("align", "a", "b", "--checkpoint", "state", *QUICK)
    assert ran.code == 1
    assert "state" in ran.error


def test_control_c_while_links_are_written(cepts, corpus, trained, monkeypatch):
    from cepts.pipeline import Summary

    def stop(*arguments):
        raise KeyboardInterrupt

    (corpus / "links").write_text("old\n")
    monkeypatch.setattr(Summary, "add", stop)  # called after each run
    ran = cepts("align", "en", "fr", "--load", trained, "-o", "links", "--scores", "scores")
    assert (ran.code, ran.out, ran.err) == (130, "", "cepts: stopped; run the command again to start over.\n")
    assert (corpus / "links").read_text() == "old\n"
    assert sorted(path.name for path in corpus.iterdir()) == ["en", "fr", "links"]


@needs_signals
def test_a_reader_that_went_away(cepts_process, corpus, trained):
    reader, writer = os.pipe()
    os.close(reader)
    process = cepts_process("align", "en", "fr", "--load", trained, stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, "")


@needs_signals
def test_head(corpus, trained):
    command = [sys.executable, "-m", "cepts", "align", "en", "fr", "--load", str(trained), "--format", "json"]
    done = subprocess.run(
        f"{shlex.join(command)} | head -n 1", shell=True, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.count("\n") == 1
    assert done.stdout.startswith('{"source": ')
    # The writer may or may not notice; either way it says nothing but its summary.
    assert re.fullmatch(r"(aligned .*\nlinks .*\n)?", done.stderr)
