from __future__ import annotations

import io
import os
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_io as oracles
from cepts.data import Bitext
from cepts.errors import DataError, UsageError
from cepts.io import read_bitext, read_text


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def pairs(bitext: Bitext) -> list[tuple[str, str]]:
    return [(" ".join(source), " ".join(target)) for source, target in bitext]


def fails(match: str, *arguments, **options) -> str:
    with pytest.raises(DataError, match=match) as caught:
        read_bitext(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_two_files(write):
    source = write("a.en", "the house\n\nblue  house \r\nend")
    target = write("a.fr", "\ufeffla\u00a0maison\n\n\nfin\u2028fin\n")
    bitext = read_bitext(source, target)
    assert pairs(bitext) == [
        ("the house", "la\u00a0maison"),
        ("", ""),
        ("blue house", ""),
        ("end", "fin\u2028fin"),
    ]
    assert bitext.source.vocabulary.words == ["the", "house", "blue", "end"]


def test_line_counts_that_differ(write):
    message = fails("has 3 lines but", write("a", "1\n2\n3\n"), write("b", "1\n2"))
    assert "b has 2; a bitext needs one target line for each source line" in message
    assert message.endswith("The first line without a partner is 3.")


def test_pipes(write):
    content = "a b ||| c\n||| d\ne |||\n|||\n  \n\nx ||||| y|||\t|||\tz ||\r\nlast ||| one"
    bitext = read_bitext(write("x.txt", content))
    assert pairs(bitext) == [
        ("a b", "c"),
        ("", "d"),
        ("e", ""),
        ("", ""),
        ("", ""),
        ("", ""),
        ("x ||||| y|||", "z ||"),
        ("last", "one"),
    ]


def test_tsv(write):
    for name in ("x.tsv", "x.TSV", "x"):
        bitext = read_bitext(write(name, "a b\tc\n\te ||| f\ng\t\r\n\n\t\n"))
        assert pairs(bitext) == [("a b", "c"), ("", "e ||| f"), ("g", ""), ("", ""), ("", "")]


@pytest.mark.parametrize("block_bytes", [5, 1 << 20])
def test_separators_that_are_missing_or_too_many(write, block_bytes):
    fails(r"x, line 3: found no separators.*`source \|\|\| target`", write("x", "a ||| b\n\nc |||| d\n"),
          block_bytes=block_bytes)  # fmt: skip
    fails(r"x, line 2: found 2 separators", write("x", "a ||| b\na ||| b ||| c\n"), block_bytes=block_bytes)
    fails(r"line 2: found 1 column, wanted 2", write("x.tsv", "a\tb\nc\n"), block_bytes=block_bytes)
    fails(r"line 2: found 3 columns, wanted 2.*cut -f", write("x", "a\tb\nc\td\te"), block_bytes=block_bytes)


lines = st.lists(
    st.lists(
        st.sampled_from(["a", "b", " ", "  ", "|||", "||", "\t", "\r", "é\u00a0"]),
        max_size=6,
    ).map("".join),
    min_size=1,
    max_size=6,
)


@settings(deadline=None)
@given(lines, st.booleans(), st.integers(1, 30), st.booleans())
def test_sides_are_those_of_the_oracle(tmp_path_factory, lines, by_tab, block_bytes, last_newline):
    data = "\n".join(lines).encode() + b"\n" * last_newline
    if not data:
        return
    path = tmp_path_factory.getbasetemp() / "sides"
    path.write_bytes(data)
    sides = [oracles.sides_of(line, by_tab) for line in oracles.lines_of(data)]
    options = {"format": "tsv" if by_tab else "pipes", "block_bytes": block_bytes}
    if None in sides:
        fails(f"sides, line {sides.index(None) + 1}:", path, **options)
    else:
        want = [tuple(" ".join(t.decode() for t in oracles.tokens_of(side)) for side in pair) for pair in sides]
        assert pairs(read_bitext(path, **options)) == want


@pytest.mark.parametrize("format", ["text", "pipes", "tsv"])
@pytest.mark.parametrize("block_bytes", [4, 1 << 20])
def test_invalid_utf8_says_where_or_is_replaced(write, format, block_bytes):
    separator = {"text": b" ", "pipes": b" ||| ", "tsv": b"\t"}[format]
    data = b"\xc3\xa9" + separator + b"b\n" + b"ab" + separator + b"c\xe9d\n"
    path = write("x", data)
    message = f"x, line 2: byte {2 + len(separator) + 2} \\(0xe9\\) is not valid UTF-8;.*`errors=replace`"
    if format == "text":
        fails(message, path, path, block_bytes=block_bytes)
        assert read_text(path, errors="replace", block_bytes=block_bytes)[1] == ["ab", "c\ufffdd"]
    else:
        fails(message, path, block_bytes=block_bytes)
        assert pairs(read_bitext(path, errors="replace", block_bytes=block_bytes))[1] == ("ab", "c\ufffdd")


@pytest.mark.parametrize("name", ["x", "x.tsv", "x.tmx", "x.parquet", "x.gz"])
def test_an_empty_file_is_refused(write, name):
    fails("is empty", write(name, b""))
    fails("is empty", write(name, b""), write("y", "a\n"))


def test_a_file_of_a_byte_order_mark_is_empty(write):
    fails("is empty", write("x", b"\xef\xbb\xbf"), write("y", "a\n"))
    fails("is empty", write("x.tsv", b"\xef\xbb\xbf"))


def test_files_that_cannot_be_read(write, tmp_path):
    fails("cannot read .*nothing.en: there is no such file", tmp_path / "nothing.en")
    fails("cannot read .*nothing.en: there is no such file", write("x", "a\n"), tmp_path / "nothing.en")
    fails("cannot read .*: Is a directory", tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(write):
    path = write("x", "a\n")
    path.chmod(0)
    fails("cannot read .*: Permission denied", path)


def test_one_file_of_one_side_names_the_remedy(write):
    message = "line 1: found neither ` ||| ` nor one tab.*second file.*name the format"
    fails(message.replace("|", "[|]"), write("x.en", "only one side\n"))
    fails("found neither", write("x.en", "\n \n"))


def test_options_that_do_not_go_together(write):
    path = write("x", "a ||| b\n")
    for arguments, options in (
        ((path, path), {"format": "tsv"}),
        ((path,), {"format": "text"}),
        ((path,), {"format": "xlsx"}),
        ((path,), {"errors": "ignore"}),
        ((path,), {"languages": "en"}),
        ((path,), {"columns": ["one"]}),
        (("-", "-"), {}),
    ):
        with pytest.raises(UsageError):
            read_bitext(*arguments, **options)


def test_standard_input(write, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"\xef\xbb\xbfa b ||| c\n")))
    assert pairs(read_bitext("-")) == [("a b", "c")]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"c\nd\n")))
    fails("standard input has 2 lines but", "-", write("y", "a\n"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_named_pipes_are_opened_once(tmp_path):
    import threading

    def feed(path, data):
        path.write_bytes(data)

    threads = []
    for name, data in (("a", b"a b\nc\n"), ("b", b"x\ny z\n")):
        os.mkfifo(tmp_path / name)
        threads.append(threading.Thread(target=feed, args=(tmp_path / name, data)))
        threads[-1].start()
    assert pairs(read_bitext(tmp_path / "a", tmp_path / "b")) == [("a b", "x"), ("c", "y z")]
    for thread in threads:
        thread.join()


def test_progress_counts_bytes_to_the_end(write):
    source, target = write("a", "a b c\n" * 100), write("b", "d\n" * 100)
    steps = []
    read_bitext(source, target, progress=steps.append, block_bytes=64)
    assert {step.total for step in steps} == {800}
    done = [step.done for step in steps]
    assert done == sorted(done)
    assert done[-1] == 800


def test_reading_twice_gives_the_same_arrays(write):
    path = write("x", "b a ||| c\n" * 50)
    first, second = read_bitext(path), read_bitext(path, block_bytes=11)
    assert first.source.ids.tobytes() == second.source.ids.tobytes()
    assert first.target.vocabulary.words == second.target.vocabulary.words == ["c"]
