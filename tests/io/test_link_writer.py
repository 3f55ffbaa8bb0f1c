from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Alignments, Bitext, Cepts, offsets_of
from cepts.errors import DataError, UsageError
from cepts.io import LinkWriter, read_bitext, read_links, write_links
from cepts.names import LINK_FORMATS

GOLDEN = Path(__file__).parents[1] / "golden" / "io"
NAMES = {
    "pharaoh": "links",
    "scored": "scored",
    "naacl": "links.wa",
    "giza": "links.A3",
    "json": "links.jsonl",
}


def alignments_of(pairs: list[dict[tuple[int, int], tuple[float, bool]]]) -> Alignments:
    flat = [(i, j, *pair[i, j]) for pair in pairs for i, j in sorted(pair)]
    source, target, confidence, sure = zip(*flat, strict=True) if flat else ((), (), (), ())
    return Alignments(
        offsets_of([len(pair) for pair in pairs]),
        np.array(source, np.int32),
        np.array(target, np.int32),
        np.array(confidence, np.float32),
        np.array(sure, np.bool_),
    )


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\v\f\r"), min_size=1, max_size=4)
sentences = st.lists(words, max_size=5)


@st.composite
def linked_bitexts(draw):
    pairs = draw(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5))
    links = []
    for source, target in pairs:
        cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
        chosen = draw(st.sets(st.sampled_from(cells))) if cells else set()
        links.append({cell: (draw(st.floats(0, 1)), draw(st.booleans())) for cell in chosen})
    return Bitext.from_tokens(pairs), alignments_of(links)


@settings(deadline=None)
@given(
    linked_bitexts(),
    st.sampled_from(tuple(LINK_FORMATS)),
    st.sampled_from([0, 1]),
    st.sampled_from(["", ".gz", ".zst"]),
)
def test_every_format_reads_back(tmp_path_factory, linked, format, base, suffix):
    bitext, want = linked
    path = tmp_path_factory.getbasetemp() / f"round_{format}{suffix}"
    write_links(path, want, format=format, base=base, bitext=bitext)
    options = {"source_lengths": bitext.source.lengths, "target_lengths": bitext.target.lengths}
    got = read_links(path, format=format, base=base, **options)
    assert [a.links for a in got] == [a.links for a in want]
    if format != "giza":
        assert got.sure.tolist() == want.sure.tolist()
    if format in {"scored", "naacl", "json"}:
        np.testing.assert_allclose(got.confidence, want.confidence, atol=5.1e-5)
        first = path.read_bytes()
        write_links(path, got, format=format, base=base, bitext=bitext)
        assert path.read_bytes() == first


@settings(deadline=None)
@given(linked_bitexts(), st.sampled_from(["naacl", "json"]), st.data())
def test_links_to_null_read_back(tmp_path_factory, linked, format, data):
    """Every null link comes back with its word, tier and confidence; no other link changes."""
    bitext, want = linked
    words = [
        (pair, i, j)
        for pair, sentences in enumerate(bitext)
        for i, j in [(i, -1) for i in range(len(sentences[0]))] + [(-1, j) for j in range(len(sentences[1]))]
    ]
    chosen = sorted(data.draw(st.sets(st.sampled_from(words)))) if words else []
    tiers = data.draw(st.lists(st.booleans(), min_size=len(chosen), max_size=len(chosen)))
    added = [(*word, 0.25, tier) for word, tier in zip(chosen, tiers, strict=True)]
    columns = [
        np.append(column, np.array([row[place] for row in added], dtype=column.dtype))
        for place, column in enumerate(want.columns())
    ]
    both = Alignments.from_columns(len(want), *columns)
    path = tmp_path_factory.getbasetemp() / f"null_{format}"
    write_links(path, both, format=format, bitext=bitext)
    got = read_links(path, format=format, sentences=len(bitext))
    assert [a.links for a in got] == [a.links for a in want]
    found = [] if got.nulls is None else [(n, *link) for n in range(len(got)) for link in got.nulls[n]]
    wanted = [(n, int(i < 0), max(i, j), p, tier) for n, i, j, p, tier in added]
    assert sorted(found) == sorted(wanted)


@settings(deadline=None)
@given(linked_bitexts(), st.sampled_from(tuple(LINK_FORMATS)), st.integers(1, 3))
def test_blocks_of_pairs_are_the_whole(tmp_path_factory, linked, format, size):
    bitext, alignments = linked
    base = tmp_path_factory.getbasetemp()
    write_links(base / "whole", alignments, format=format, bitext=bitext)
    parts = []
    for start in range(0, len(alignments), size):
        offsets = alignments.offsets[start : start + size + 1]
        run = slice(offsets[0], offsets[-1])
        columns = (alignments.source, alignments.target, alignments.confidence, alignments.sure)
        parts.append(Alignments(offsets - offsets[0], *(column[run] for column in columns)))
    for given_at in ("start", "part"):
        sentences = bitext if given_at == "start" else None
        with LinkWriter(base / "parts", format=format, bitext=sentences) as writer:
            start = 0
            for part in parts:
                writer.write(part, bitext.part(start, start + len(part)) if given_at == "part" else None)
                start += len(part)
        assert (base / "parts").read_bytes() == (base / "whole").read_bytes()


def test_more_links_than_are_formatted_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("cepts.io.link_format.LINKS_AT_A_TIME", 3)
    counts = (0, 2, 7, 0, 0, 1, 3, 0, 0, 0, 0)
    alignments = Alignments.from_links([[(0, j) for j in range(count)] for count in counts])
    for format in ("pharaoh", "scored", "naacl"):
        write_links(tmp_path / "x", alignments, format=format)
        got = read_links(tmp_path / "x", format=format, sentences=11)
        assert [a.links for a in got] == [a.links for a in alignments]


@pytest.mark.parametrize("format", LINK_FORMATS)
def test_golden_files(tmp_path, format):
    bitext = read_bitext(GOLDEN / "sentences.en", GOLDEN / "sentences.fr")
    links = read_links(GOLDEN / NAMES["scored"])
    write_links(tmp_path / "out", links, format=format, bitext=bitext)
    assert (tmp_path / "out").read_bytes() == (GOLDEN / NAMES[format]).read_bytes()
    got = read_links(GOLDEN / NAMES[format], sentences=len(bitext))
    assert [a.links for a in got] == [a.links for a in links]


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), LinkWriter(path) as writer:
        writer.write(Alignments.from_links([[(0, 0)]]))
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line():
    for pairs in (1, 100_000):
        with pytest.raises(DataError, match="cannot write /dev/full: No space left on device"):
            write_links("/dev/full", Alignments.from_links([[(0, 0)]] * pairs))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_standard_output_is_one_line_and_nothing_after():
    code = (
        "import sys\n"
        "from cepts.errors import DataError\n"
        "from cepts.io import write_links\n"
        "from cepts.data import Alignments\n"
        "try: write_links('-', Alignments.from_links([[(0, 0)]]))\n"
        "except DataError as error: print(error, file=sys.stderr); sys.exit(1)"
    )
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        run = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert run.stderr == "cannot write standard output: No space left on device.\n"
    assert run.returncode == 1


def test_a_broken_pipe_is_left_to_the_caller(monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as broken:
        monkeypatch.setattr(sys, "stdout", broken)
        with pytest.raises(BrokenPipeError):
            write_links("-", Alignments.from_links([[(0, 0)]]))


def test_standard_output_in_memory(capsysbinary):
    print("before")
    write_links("-", Alignments.from_links([[(0, 0)], [], [(1, 2)]]))
    print("after")
    assert capsysbinary.readouterr().out == b"before\n0-0\n\n1-2\nafter\n"


def test_standard_output_of_the_process(capfdbinary):
    print("before")
    write_links("-", Alignments.from_links([[(0, 0)], [], [(1, 2)]]))
    print("after")
    assert capfdbinary.readouterr().out == b"before\n0-0\n\n1-2\nafter\n"


def test_what_callers_must_not_do(tmp_path):
    links = Alignments.from_links([[(0, 1)]])
    with pytest.raises(UsageError, match="`format` must be one of"):
        LinkWriter(tmp_path / "x", format="talp")
    with pytest.raises(UsageError, match="`base` must be 0 or 1"):
        LinkWriter(tmp_path / "x", base=2)
    with pytest.raises(UsageError, match="giza shows the sentences"):
        write_links(tmp_path / "x", links, format="giza")
    with pytest.raises(ValueError, match="within their sentences"):
        write_links(tmp_path / "x", links, bitext=Bitext.from_tokens([(["a"], ["b"])]))
    with pytest.raises(ValueError, match="same number of pairs"):
        LinkWriter(tmp_path / "x").__enter__().write(links, Bitext.from_tokens([]))
    with pytest.raises(ValueError, match="inside its with statement"):
        LinkWriter(tmp_path / "x").write(links)
    wrong = Alignments(links.offsets, links.source, links.target, np.array([np.nan], np.float32), links.sure)
    with pytest.raises(ValueError, match="confidences"):
        write_links(tmp_path / "x", wrong, format="scored")


# -- cepts -----------------------------------------------------------------------------------------------------------


def with_cepts(pairs):
    """Alignments of pairs of (cepts of the source words, cepts of the target words); a word in a cept is sure of it."""
    links = [
        {(i, j): (0.5, True) for i, cept in enumerate(source) for j, other in enumerate(target) if cept == other >= 0}
        for source, target in pairs
    ]
    plain = alignments_of(links)
    sides = [np.array([cept for pair in pairs for cept in pair[side]], dtype=np.int32) for side in (0, 1)]
    cepts = Cepts(
        *(offsets_of([len(pair[side]) for pair in pairs]) for side in (0, 1)),
        *sides,
        *(np.where(side < 0, 0.25, 1 / 3).astype(np.float32) for side in sides),
        np.arange(len(pairs), dtype=np.float32) / 7,
    )
    return Alignments(plain.offsets, plain.source, plain.target, plain.confidence, plain.sure, cepts)


# A gappy cept, null on both sides; an empty pair; all words at null.
CEPTS = [([0, 1, 0, -1], [1, -1, 0, 0, 1]), ([], []), ([-1], [-1, -1])]


def test_json_lists_cepts(tmp_path):
    write_links(tmp_path / "x", with_cepts(CEPTS), format="json")
    records = [json.loads(line) for line in (tmp_path / "x").read_text().splitlines()]
    assert [{key: value for key, value in record.items() if key != "links"} for record in records] == [
        {
            "cepts": [{"source": [0, 2], "target": [2, 3]}, {"source": [1], "target": [0, 4]}],
            "null": {"source": [3], "target": [1]},
            "cept_confidence": {
                "source": [0.3333, 0.3333, 0.3333, 0.25],
                "target": [0.3333, 0.25, 0.3333, 0.3333, 0.3333],
            },
            "noise": 0,
        },
        {
            "cepts": [],
            "null": {"source": [], "target": []},
            "cept_confidence": {"source": [], "target": []},
            "noise": 0.142857,
        },
        {
            "cepts": [],
            "null": {"source": [0], "target": [0, 1]},
            "cept_confidence": {"source": [0.25], "target": [0.25, 0.25]},
            "noise": 0.285714,
        },
    ]


cept_numbers = st.lists(st.integers(-1, 3), max_size=6)


@settings(deadline=None)
@given(st.lists(st.tuples(cept_numbers, cept_numbers), min_size=1, max_size=5), st.integers(1, 3))
def test_cepts_of_json_are_those_of_the_pairs(tmp_path_factory, pairs, size):
    """Whole, in parts, taken and put together again; and beside links that read back."""
    alignments = with_cepts(pairs)
    path = tmp_path_factory.getbasetemp() / "cepts"
    write_links(path, alignments, format="json")
    whole = path.read_bytes()
    for n, line in enumerate(whole.decode().splitlines()):
        record = json.loads(line)
        assert [(cept["source"], cept["target"]) for cept in record["cepts"]] == alignments.cepts[n]
        for side, numbers in zip(("source", "target"), pairs[n], strict=True):
            placed = [word for cept in record["cepts"] for word in cept[side]] + record["null"][side]
            assert sorted(placed) == list(range(len(numbers)))
    assert [one.links for one in read_links(path, format="json")] == [one.links for one in alignments]
    parts = [alignments.part(start, min(start + size, len(pairs))) for start in range(0, len(pairs), size)]
    with LinkWriter(path, format="json") as writer:
        for part in parts:
            writer.write(part)
    assert path.read_bytes() == whole
    write_links(path, Alignments.concatenate(parts).take(np.arange(len(pairs))), format="json")
    assert path.read_bytes() == whole


@pytest.mark.parametrize("format", [name for name in LINK_FORMATS if name != "json"])
def test_other_formats_do_not_show_cepts(tmp_path, format):
    alignments = with_cepts(CEPTS)
    plain = Alignments(alignments.offsets, alignments.source, alignments.target, alignments.confidence, alignments.sure)
    bitext = Bitext.from_tokens([(["a"] * len(source), ["b"] * len(target)) for source, target in CEPTS])
    for name, one in (("with", alignments), ("without", plain)):
        write_links(tmp_path / name, one, format=format, bitext=bitext)
    assert (tmp_path / "with").read_bytes() == (tmp_path / "without").read_bytes()
