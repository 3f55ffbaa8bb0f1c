from __future__ import annotations

import gzip
import io
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_io as oracles
from cepts.data import Alignments
from cepts.errors import DataError, UsageError
from cepts.io import read_links, swap_sides


@pytest.fixture
def write(tmp_path):
    def write(content, name="links"):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / name

    return write


def rows(alignments: Alignments) -> list[list[tuple[int, int, float, bool]]]:
    return [
        [
            (i, j, round(p, 4), sure)
            for (i, j), p, sure in zip(a.links, a.confidence.tolist(), a.sure.tolist(), strict=True)
        ]
        for a in alignments
    ]


def fails(match: str, path, **options) -> None:
    with pytest.raises(DataError, match=match) as caught:
        read_links(path, **options)
    assert "\n" not in str(caught.value)


def test_pharaoh_is_sorted_and_has_each_link_once(write):
    got = read_links(write("1-0 0-2\t0-0 \r\n\n2?1 1?1 2-1 1?1\n3-3"))
    assert rows(got) == [
        [(0, 0, 1, True), (0, 2, 1, True), (1, 0, 1, True)],
        [],
        [(1, 1, 1, False), (2, 1, 1, True)],
        [(3, 3, 1, True)],
    ]
    assert (got.source.dtype, got.target.dtype) == (np.int32, np.int32)
    assert (got.confidence.dtype, got.sure.dtype, got.offsets.dtype) == (np.float32, np.bool_, np.int64)


def test_scored(write):
    line = "0-0:0.873 0-1-0.5 1?0:.25 2-2:1 3-3:1e-2 4-4:5E-1 5-5:0. 6-6:0.00e+7 4-4:0.75"
    got = rows(read_links(write(line)))
    assert [row[2] for row in got[0]] == [0.873, 0.5, 0.25, 1, 0.01, 0.75, 0, 0]
    assert [row[3] for row in got[0]] == [True, True, False, True, True, True, True, True]


@settings(deadline=None)
@given(st.decimals(0, 1, allow_nan=False) | st.floats(0, 1))
def test_confidences_are_parsed_as_python_does(tmp_path_factory, value):
    path = tmp_path_factory.getbasetemp() / "confidence"
    path.write_text(f"0-0:{value!s}\n")
    got = read_links(path).confidence[0]
    np.testing.assert_allclose(got, np.float32(float(value)), rtol=2e-7, atol=1e-37)


def test_base_one(write):
    assert rows(read_links(write("1-1 2-3\n"), base=1)) == [[(0, 0, 1, True), (1, 2, 1, True)]]
    fails("line 2: found '0-1', wanted word numbers from 1; .* base 0", write("1-1\n2-2 0-1\n"), base=1)


@pytest.mark.parametrize(
    "token",
    [
        "1",
        "-",
        "1-",
        "-1",
        "a-b",
        "1-2-",
        "1-2:",
        "1--2",
        "1?2?",
        "1-2x",
        "1:2",
        "1-2:0.5:1",
        "é-1",
        "1-2:0.5e",
        "|||",
    ],
)
@pytest.mark.parametrize("after", ["", " ", "\n", " 3-3\n4-4\n"])
def test_malformed_links_name_their_line(write, token, after):
    path = write(f"0-0\n\n1-1 {token}{after}")
    for block_bytes in (8, 1 << 20):
        message = f"links, line 3: found '{re.escape(token)}', wanted"
        fails(message, path, format="pharaoh", block_bytes=block_bytes)


def test_confidences_and_numbers_out_of_bounds(write):
    for confidence in ("1.01", "7", "2e0", "1e3", "-0.1", "nan"):
        fails("line 1: found '0-0:.*wanted a confidence between 0 and 1", write(f"0-0:{confidence}"))
    fails("wanted word numbers below", write("2147483648-0"))
    fails("wanted word numbers below", write("9" * 50 + "-0"))
    assert read_links(write("2147483647-0")).source.tolist() == [2147483647]


def test_links_out_of_range(write):
    path = write("0-0\n1-1 2-0\n")
    read_links(path, source_lengths=[1, 3], target_lengths=[1, 2])
    message = r"line 2: found a link to source word 2, but that sentence has 2 words \(numbered from 0\)"
    fails(message, path, source_lengths=[1, 2], target_lengths=[1, 2])
    fails("line 2: found a link to target word 1,", path, target_lengths=[5, 1])
    message = r"links, line 2: found a link to target word 3.* 2 words \(numbered from 1\)"
    fails(message, write("1 1 1\n2 2 3\n"), source_lengths=[1, 2], target_lengths=[1, 2])


def test_files_with_other_numbers_of_pairs(write):
    fails("links of 2 sentence pairs but the bitext has 3", write("0-0\n\n"), sentences=3)
    fails("links of 2 sentence pairs but the bitext has 1", write("0-0\n\n"), source_lengths=[1])
    fails("is empty", write(""))
    with pytest.raises(UsageError):
        read_links(write("0-0\n"), sentences=2, source_lengths=[1])


def null_rows(alignments):
    assert alignments.nulls is not None
    return [list(map(tuple, alignments.nulls[pair])) for pair in range(len(alignments))]


def test_links_to_null_are_checked_and_kept_once(write):
    """Of copies of a null link the sure one counts, as of other links; swapping the sides swaps them too."""
    got = read_links(write("1 0 2 P 0.5\n1 0 2 S 0.25\n1 1 1\n2 3 0 P\n2 0 0\n", "x.wa"), sentences=3)
    assert rows(got) == [[(0, 0, 1, True)], [], []]
    assert null_rows(got) == [[(1, 1, 0.5, True)], [(0, 2, 1, False)], []]
    assert null_rows(swap_sides(got)) == [[(0, 1, 0.5, True)], [(1, 2, 1, False)], []]
    assert null_rows(got.only_sure()) == [[(1, 1, 0.5, True)], [], []]
    assert null_rows(got.part(1, 2)) == [[(0, 2, 1, False)]]
    far = write("1 0 2 P\n" * 3 + "1 3 0\n", "x.wa")
    message = "line 4: found a link to source word 3, but that sentence has 2 words"
    fails(message, far, source_lengths=[2], target_lengths=[2])


def test_naacl(write):
    content = "0001 1 1 S\n0001 2 3 P\r\n\n3 2 1 P 0.5\n3 1 1 0.25\n 3\t4 4 \n3 0 4 S\n3 4 0\n1 2 3 S"
    compressed = gzip.compress(content.encode())
    for path in (write(content), write(content, "x.wa"), write(compressed, "x.wa.nonull.gz")):
        assert rows(read_links(path)) == [
            [(0, 0, 1, True), (1, 2, 1, True)],
            [],
            [(0, 0, 0.25, True), (1, 0, 0.5, False), (3, 3, 1, True)],
        ]
        assert null_rows(read_links(path)) == [[], [], [(0, 3, 1, True), (1, 3, 1, True)]]
    assert len(read_links(write(content), sentences=5)) == 5
    assert len(read_links(write("", "x.wa"), sentences=5)) == 5
    message = "links, line 4: found a link of sentence 3, but there are only 2 sentences"
    fails(message, write(content), sentences=2)


@pytest.mark.parametrize(
    "line",
    [
        "1 1",
        "1",
        "1 1 1 X",
        "1 1 1 S 2",
        "1 1 1 S 0.5 x",
        "1 a 1",
        "1-1 1",
        "1 1 1S",
        "1 1 1 S0.5",
        "1 -1 1",
        "S",
    ],
)
@pytest.mark.parametrize("after", ["", "\n", "\n1 2 2 S\n"])
def test_malformed_naacl_lines(write, line, after):
    path = write(f"1 1 1 S\n{line}{after}")
    for block_bytes in (8, 1 << 20):
        message = f"line 2: found '{line}', wanted `sentence source target"
        fails(message, path, format="naacl", block_bytes=block_bytes)


def test_naacl_counts_from_one(write):
    fails("line 1: found '0 1 1', wanted sentence numbers from 1", write("0 1 1"))


GIZA = """\
# Sentence pair (1) source length 2 target length 3 alignment score : 0.1
la maison bleue
NULL ({ 1 }) blue ({ 3 }) house ({ 2 })
# Sentence pair (2) source length 0 target length 0 alignment score : 1

NULL ({ })
# Sentence pair (3) source length 3 target length 2 alignment score : 1
({ })
NULL ({ }) ({ ({ 1 2 }) }) ({ }) NULL ({ 2 })
"""


def test_possible_links_and_scores_of_other_aligners(write):
    """awesome-align and SimAlign mark possible gold links by p; fast_align ends a line with its score."""
    want = [[(0, 0, 1, True), (1, 2, 1, False)], [], [(2, 1, 1, True)]]
    for content in ("0-0 1p2\n\n2-1\n", "0-0 1?2 ||| -12.5\n||| 0\n2-1  |||  1e-3 "):
        for block_bytes in (8, 1 << 20):
            assert rows(read_links(write(content), block_bytes=block_bytes)) == want


@pytest.mark.parametrize("wrong", ["0-0 || 3", "0-0 ||| x", "0-0 ||| 3 4", "0-0 ||| 3-3", "0-0 |||| 3", "0-0 ||| 3x"])
def test_what_follows_bars_must_be_a_score(write, wrong):
    fails(r"links, line 2: found '\|\|+', wanted a link", write(f"1-1\n{wrong}\n"), format="pharaoh")


def test_pairs_of_giza_are_put_in_order(write):
    """MGIZA's threads write every so many pairs; parts that were put one after the other are read in order."""
    records = [f"# Sentence pair ({n}) ...\na b c\nNULL ({{ }}) x ({{ {n - 6} }})\n" for n in (7, 9, 8)]
    assert [alignment.links for alignment in read_links(write("".join(records)))] == [[(0, 0)], [(0, 1)], [(0, 2)]]
    fails("line 4: found sentence pair 9 among 2 pairs, some of which are missing", write("".join(records[:2])))
    fails("line 4: found sentence pair 7 again", write(records[0] * 2))


def test_giza(write):
    for path in (write(GIZA), write(GIZA + "\n", "x.A3.final"), write(GIZA.replace("\n", "\r\n"))):
        assert rows(read_links(path)) == [
            [(0, 2, 1, True), (1, 1, 1, True)],
            [],
            [(0, 0, 1, True), (0, 1, 1, True), (2, 1, 1, True)],
        ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("({ 2 })\n# S", "({ 4 })\n# S", "line 3: found a link to target word 4, but the line before has 3"),
        ("({ 3 })", "({ 0 })", "line 3: found a link to target word 0"),
        ("({ 3 })", "3", "line 3: found 'blue' without its"),
        ("({ 3 })", "({ x })", "line 3: found 'blue' without its"),
        ("NULL ({ 1 }) ", "", "line 3: found 'blue' without its"),
        ("NULL ({ })\n", "\n", "line 6: found nothing"),
        ("# Sentence pair (2)", "Sentence pair (2)", "line 4: found no `# Sentence pair` line"),
        ("NULL ({ }) ({ ({ 1 2 }) }) ({ }) NULL ({ 2 })\n", "", "line 7: the file ends inside"),
    ],
)
def test_giza_that_is_wrong(write, old, new, message):
    assert GIZA.count(old) >= 1
    fails(message, write(GIZA.replace(old, new, 1)))


def test_null_of_giza_and_json(write):
    assert null_rows(read_links(write(GIZA)))[0] == [(1, 0, 1, True)]
    content = '{"links": [{"source": null, "target": 2}, {"source": 1, "target": null, "tier": "possible"}]}'
    got = read_links(write(content))
    assert rows(got) == [[]]
    assert null_rows(got) == [[(0, 1, 1, False), (1, 2, 1, True)]]
    fails("found source null", write('{"links": [{"source": null, "target": null}]}'))


def test_json(write):
    content = (
        '{"source": ["a", "b"], "target": ["c"], '
        '"links": [{"source": 1, "target": 0, "confidence": 0.5}]}\r\n'
        '{"links": []}\n'
        '{"links": [{"source": 4, "target": 0, "tier": "possible"}, {"source": 2, "target": 0}]}'
    )
    for path in (write(content), write(content, "x.jsonl"), write(content, "x.json")):
        assert rows(read_links(path)) == [
            [(1, 0, 0.5, True)],
            [],
            [(2, 0, 1, True), (4, 0, 1, False)],
        ]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("", "found invalid JSON"),
        ('{"links": [', "found invalid JSON"),
        ("[" * 100_000, "found invalid JSON"),
        ("[]", r"found '\[\]', wanted an object with `links`"),
        ('{"links": 3}', "found no list `links`"),
        ('{"links": [[0, 1]]}', "found the link"),
        ('{"links": [{"source": 0}]}', "found target null in a link"),
        ('{"links": [{"source": -1, "target": 0}]}', "found source -1 in a link"),
        ('{"links": [{"source": true, "target": 0}]}', "found source true"),
        ('{"links": [{"source": 0.5, "target": 0}]}', "found source 0.5"),
        ('{"links": [{"source": 4294967296, "target": 0}]}', "found source 4294967296"),
        (
            '{"source": ["a"], "links": [{"source": 1, "target": 0}]}',
            "found a link to source word 1.* has 1 words",
        ),
        ('{"links": [{"source": 0, "target": 0, "confidence": 2}]}', "found the confidence 2"),
        ('{"links": [{"source": 0, "target": 0, "confidence": NaN}]}', "found the confidence NaN"),
        ('{"links": [{"source": 0, "target": 0, "tier": "S"}]}', 'found the tier "S"'),
    ],
)
def test_json_that_is_wrong(write, record, message):
    fails(f"links.jsonl, line 2: {message}", write('{"links": []}\n' + record + "\n", "links.jsonl"))


links = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.integers(0, 12),
        st.integers(0, 10_000).map(lambda p: p / 10_000),
        st.booleans(),
    ),
    max_size=12,
)


@settings(deadline=None)
@given(st.lists(links, min_size=1, max_size=8), st.sampled_from([0, 1]), st.integers(4, 60))
def test_pharaoh_is_that_of_the_oracle_for_any_block_size(tmp_path_factory, pairs, base, block_bytes):
    path = tmp_path_factory.getbasetemp() / "oracle"
    lines = ["  ".join(f"{i + base}{'-' if sure else '?'}{j + base}:{p}" for i, j, p, sure in pair) for pair in pairs]
    path.write_text("\n".join(lines) + "\n")
    got = read_links(path, base=base, block_bytes=block_bytes)
    assert rows(got) == [oracles.distinct(pair) for pair in pairs]


def test_positions_too_large_for_one_sorting_key(write):
    got = read_links(write("2000000000-2000000000 0-0 2000000000-2000000000 0-1\n" * 3))
    assert [a.links for a in got] == [[(0, 0), (0, 1), (2000000000, 2000000000)]] * 3


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"0-0\n1-1\n")))
    assert len(read_links("-")) == 2


def test_options_are_checked(write):
    for options in ({"format": "talp"}, {"base": 2}):
        with pytest.raises(UsageError):
            read_links(write("0-0"), **options)


@settings(deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5))), max_size=4))
def test_swapping_sides_twice_changes_nothing(pairs):
    alignments = Alignments.from_links(pairs)
    swapped = swap_sides(alignments)
    assert [a.links for a in swapped] == [sorted({(j, i) for i, j in pair}) for pair in pairs]
    assert rows(swap_sides(swapped)) == rows(alignments)


def test_a_sentence_number_beyond_the_file_takes_no_room(tmp_path):
    path = tmp_path / "x.wa"
    path.write_text("1 1 1\n2147483647 1 1\n")
    with pytest.raises(DataError, match=r"x\.wa, line 2: found a link of sentence 2,147,483,647 in a file of 21 bytes"):
        read_links(path)
    path.write_text("1 1 1\n100000 1 1\n")  # gold of a few sentences of a large file
    assert len(read_links(path)) == 100_000
