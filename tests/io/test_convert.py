from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cepts.cli.convert import command
from cepts.errors import DataError, UsageError
from cepts.names import LINK_FORMATS

GOLDEN = Path(__file__).parents[1] / "golden" / "io"
NAMES = {
    "pharaoh": "links",
    "scored": "scored",
    "naacl": "links.wa",
    "giza": "links.A3",
    "json": "links.jsonl",
}
SENTENCES = ["--source", str(GOLDEN / "sentences.en"), "--target", str(GOLDEN / "sentences.fr")]


def convert(*arguments: object, stdin: bytes | None = None) -> bytes:
    options = [str(argument) for argument in arguments]
    return CliRunner().invoke(command, options, input=stdin, catch_exceptions=False).stdout_bytes


@pytest.mark.parametrize("to", LINK_FORMATS)
def test_scored_links_to_each_format(to):
    assert convert(GOLDEN / "scored", "--to", to, *SENTENCES) == (GOLDEN / NAMES[to]).read_bytes()


@pytest.mark.parametrize("origin", LINK_FORMATS)
def test_each_format_to_pharaoh(origin):
    got = convert(GOLDEN / NAMES[origin], "--to", "pharaoh", *SENTENCES)
    want = (GOLDEN / "links").read_bytes()
    assert got == (want.replace(b"?", b"-") if origin == "giza" else want)


def test_standard_input_bases_and_reverse(tmp_path):
    assert convert("-", "--to", "pharaoh", "--base", 1, stdin=b"1-1 2?3\n") == b"0-0 1?2\n"
    assert convert("-", "--to", "pharaoh", "--to-base", 1, stdin=b"0-0 1?2\n") == b"1-1 2?3\n"
    assert convert("-", "--to", "pharaoh", "--reverse", stdin=b"0-5 1-2\n\n") == b"2-1 5-0\n\n"
    assert convert("-", "--to", "pharaoh", "--sentences", 3, stdin=b"2 1 1\n") == b"\n0-0\n\n"
    once = tmp_path / "once.jsonl.gz"
    convert(GOLDEN / "scored", "--to", "json", *SENTENCES, "--reverse", "-o", once)
    swapped = ["--source", SENTENCES[3], "--target", SENTENCES[1]]
    assert convert(once, "--to", "json", *swapped, "--reverse") == (GOLDEN / "links.jsonl").read_bytes()


def test_sure_links_alone():
    assert convert("-", "--to", "pharaoh", "--sure", stdin=b"0-0 1?2\n2?2\n\n1-1\n") == b"0-0\n\n\n1-1\n"


def test_sentences_are_wanted_where_the_format_shows_them():
    for to in ("giza", "json"):
        with pytest.raises(UsageError, match=f"format {to} shows the sentences; give them with `source`"):
            convert(GOLDEN / "scored", "--to", to)
    with pytest.raises(UsageError, match="`source` and `target` belong together"):
        convert(GOLDEN / "scored", "--to", "naacl", *SENTENCES[:2])
    with pytest.raises(UsageError, match="only one input can be -"):
        convert("-", "--to", "naacl", "--source", "-", "--target", SENTENCES[3])


def test_bad_links_leave_the_old_file(tmp_path):
    (tmp_path / "bad").write_text("0-0\n\n\n0-9\n")
    (tmp_path / "out").write_text("old")
    with pytest.raises(DataError, match="bad, line 4: found a link to target word 9"):
        convert(tmp_path / "bad", "--to", "naacl", *SENTENCES, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "old"


TOY = """
import re
from cepts.io.lines import lines_of
from cepts.io.link_format import FileLinks, LinkFormat

def read(file, options):
    lines = [line.removeprefix(b"toy").split() for line in lines_of(file)]
    rows = [
        (pair, *map(int, link.split(b">")), 1.0, True, pair + 1) for pair, links in enumerate(lines) for link in links
    ]
    return FileLinks.from_rows(rows, len(lines))

def write(alignments, bitext, options):
    for alignment in alignments:
        yield " ".join(["toy", *(f"{i}>{j}" for i, j in alignment.links)]).encode() + b"\\n"

TOY = LinkFormat(read=read, write=write, base=0, first_line=re.compile(rb"toy"))
"""
RUN = """
import sys
from cepts import names
from cepts.cli import main

names.LINK_FORMATS["toy"] = "toy_links:TOY"
main(["convert", "links", "--to", "toy", "-o", "links.toy"])
main(["convert", "links.toy", "--to", "pharaoh", "-o", "again"])
main(["convert", "links.toy", "--from", "toy", "--to", "toy", "--reverse", "-o", "reversed"])
"""


def test_a_new_format_is_a_module_and_a_name(tmp_path):
    """The commands and the guess from the first line know it without any other change."""
    (tmp_path / "toy_links.py").write_text(TOY)
    (tmp_path / "links").write_text("0-0 1-2\n\n3-1\n")
    ran = subprocess.run(
        [sys.executable, "-c", RUN], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
    )
    assert (ran.stdout, ran.stderr) == ("", "")
    assert (tmp_path / "links.toy").read_text() == "toy 0>0 1>2\ntoy\ntoy 3>1\n"
    assert (tmp_path / "again").read_text() == "0-0 1-2\n\n3-1\n"
    assert (tmp_path / "reversed").read_text() == "toy 0>0 2>1\ntoy\ntoy 1>3\n"
