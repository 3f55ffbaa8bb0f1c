"""Files of priors: what is written is read again, and whatever is wrong is said in one line."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cepts.io.priors as module
from cepts.errors import DataError
from cepts.io import read_priors, write_priors

words = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=4)
counts = st.floats(0, 1e6).map(lambda count: float(f"{count:g}"))


def whole(path):
    """All blocks of a file as one: pairs, jumps and fertilities."""
    blocks = list(read_priors(path))
    pairs = [
        (source, target, count)
        for block in blocks
        for source, target, count in zip(block.source, block.target, block.counts.tolist(), strict=True)
    ]
    return pairs, [jump for block in blocks for jump in block.jumps], [f for block in blocks for f in block.fertilities]


@given(
    pairs=st.lists(st.tuples(words, words, counts), max_size=5),
    jumps=st.lists(st.dictionaries(st.integers(-50, 50), counts, max_size=4), min_size=2, max_size=2),
    fertilities=st.lists(st.lists(st.tuples(words, st.integers(0, 20), counts), max_size=4), min_size=2, max_size=2),
)
def test_what_is_written_is_read_again(tmp_path_factory, pairs, jumps, fertilities):
    path = tmp_path_factory.mktemp("priors") / "p.gz"
    directions = ("forward", "reverse")
    write_priors(
        path, pairs, dict(zip(directions, jumps, strict=True)), dict(zip(directions, fertilities, strict=True))
    )
    found = whole(path)
    assert found[0] == pairs
    assert found[1] == [(side, jump, count) for side in range(2) for jump, count in sorted(jumps[side].items())]
    assert found[2] == [(side, *each) for side in range(2) for each in fertilities[side]]


def test_the_lines_are_those_of_eflomal(tmp_path):
    path = tmp_path / "p"
    links, fertilities = [("la maison"[:2], "the", 12.0), ("été", "summer", 0.5)], {"forward": [("la", 1, 3.0)]}
    write_priors(path, links, {"forward": {1: 2.0, -3: 1e-5}, "reverse": {0: 1234567.0}}, fertilities)
    assert path.read_text("utf-8").splitlines() == [
        "LEX\tla\tthe\t12",
        "LEX\tété\tsummer\t0.5",
        "FERF\tla\t1\t3",
        "HMMF\t-3\t1e-05",
        "HMMF\t1\t2",
        "HMMR\t0\t1.23457e+06",
    ]


def test_a_table_of_a_lexicon_is_read_too(tmp_path):
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(b"house\tmaison\t0.9\t0.8\t12.50\r\nLEX\thouse\tdomicile\t1\n"))
    assert whole(path)[0] == [("house", "maison", 12.5), ("house", "domicile", 1.0)]


def test_a_large_file_is_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LINES_IN_BLOCK", 7)
    path = tmp_path / "p"
    path.write_text("".join(f"LEX\ta{n}\tb\t{n}\n" for n in range(30)))
    blocks = list(read_priors(path))
    assert [len(block.source) for block in blocks] == [7, 7, 7, 7, 2]
    np.testing.assert_array_equal(np.concatenate([block.counts for block in blocks]), np.arange(30))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("LEX\ta\tb", "found 3 columns, wanted LEX, source word, target word, count"),
        ("LEX a b 1", "found 'LEX a b 1' in the first of 1 columns, wanted LEX, HMMF, HMMR, FERF, FERR"),
        ("LEX\ta\tb\tmany", "found 'many' as a count, wanted a number of 0 or more"),
        ("LEX\ta\tb\t-1", "found '-1' as a count"),
        ("LEX\ta\tb\tnan", "found 'nan' as a count"),
        ("LEX\t\tb\t1", "found '' as a word, wanted one token without blanks"),
        ("LEX\ta b\tc\t1", "found 'a b' as a word"),
        ("HMMF\t1.5\t1", "found '1.5' as a jump, wanted a whole number"),
        ("HMMR\t99999999999999999999\t1", "as a jump, wanted a whole number from -1,048,576"),
        ("FERF\ta\t-1\t1", "found '-1' as a fertility, wanted a whole number from 0"),
        ("FERR\ta\t1", "found 3 columns, wanted FERR, word, fertility, count"),
        ("a\tb\t1\t1\t1\t1", "found 'a' in the first of 6 columns"),
        ("", "found '' in the first of 1 columns"),
    ],
)
def test_a_wrong_line_is_said_with_its_place(tmp_path, line, said):
    path = tmp_path / "p.tsv"
    path.write_text(f"LEX\ta\tb\t1\n{line}\n")
    with pytest.raises(DataError) as raised:
        list(read_priors(path))
    message = str(raised.value)
    assert message.startswith(f"{path}, line 2: ")
    assert said in message
    assert "\n" not in message
