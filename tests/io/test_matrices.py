from __future__ import annotations

import gzip
import io
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Association, Bitext, offsets_of
from cepts.errors import DataError
from cepts.io import AssociationWriter, association_blocks, read_association, write_association

FIELDS = ("source_lengths", "target_lengths", "offsets", "values", "source_null", "target_null")
FULL = {
    "id": "7",
    "source": ["les", "enfants"],
    "target": ["they", "need", "toys"],
    "matrix": [[1, 2.5, 0], [0, 1e-3, 4]],
    "source_null": [0.5, 0],
    "target_null": [1, 2, 3],
}


@pytest.fixture
def write(tmp_path):
    def write(content, name="matrices.jsonl"):
        if isinstance(content, dict):
            content = json.dumps(content)
        elif isinstance(content, list):
            content = "\n".join(json.dumps(record) for record in content)
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / name

    return write


@pytest.fixture
def archive(tmp_path):
    def archive(name="matrices.npz", **arrays):
        np.savez(tmp_path / name, **arrays)
        return tmp_path / name

    return archive


def fails(match: str, path, **options) -> None:
    with pytest.raises(DataError, match=match) as caught:
        read_association(path, **options)
    assert "\n" not in str(caught.value)


def same(got: Association, want: Association) -> None:
    for field in FIELDS:
        ours, theirs = getattr(got, field), getattr(want, field)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_array_equal(ours, theirs)
            assert ours.dtype == theirs.dtype


def test_a_record_with_everything(write):
    got = read_association(write([FULL, {**FULL, "id": 8, "matrix": [[0, 0, 1], [1, 1, 1]]}]))
    assert got.association[0].tolist() == [[1, 2.5, 0], [0, float(np.float32(1e-3)), 4]]
    assert got.association[1].tolist() == [[0, 0, 1], [1, 1, 1]]
    assert got.association.source_null.tolist() == [0.5, 0, 0.5, 0]
    assert got.association.target_null.tolist() == [1, 2, 3, 1, 2, 3]
    assert got.association.values.dtype == np.float32
    assert (got.source, got.target) == ([FULL["source"]] * 2, [FULL["target"]] * 2)
    assert got.ids == ["7", "8"]
    assert got.where(1).endswith("matrices.jsonl, line 2")


def test_a_matrix_is_enough(write):
    got = read_association(write([{"matrix": [[3]]}, {"matrix": [[1, 2]]}]))
    assert [matrix.tolist() for matrix in got.association] == [[[3]], [[1, 2]]]
    assert got.association.source_null is got.association.target_null is got.source is got.target is got.ids is None


def test_compressed_and_standard_input(write, monkeypatch):
    text = json.dumps(FULL).encode()
    packed = read_association(write(gzip.compress(text), "m.jsonl.gz"))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    piped = read_association("-")
    same(packed.association, piped.association)
    assert piped.where(0) == "standard input, line 1"


def test_standard_input_may_be_an_archive(archive, monkeypatch):
    path = archive(matrix=np.eye(2))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(path.read_bytes())))
    assert read_association("-").association[0].tolist() == [[1, 0], [0, 1]]


def test_runs_are_the_whole_bit_by_bit(write):
    records = [{"matrix": [[n, 1], [2, 3]], "target_null": [n, 0], "id": n} for n in range(10)]
    path = write(records)
    whole = read_association(path)
    runs = list(association_blocks(path, cells=9))
    assert [len(run) for run in runs] == [3, 3, 3, 1]
    assert [run.first for run in runs] == [0, 3, 6, 9]
    assert runs[1].where(1).endswith("line 5")
    np.testing.assert_array_equal(np.concatenate([run.association.values for run in runs]), whole.association.values)
    assert [name for run in runs for name in run.ids] == whole.ids == [str(n) for n in range(10)]


def test_archives(archive, tmp_path):
    got = read_association(
        archive(
            values=np.arange(7),
            source_lengths=[2, 1],
            target_lengths=[2, 3],
            source_null=np.array([1, 2, 3], dtype=np.float64),
        )
    )
    assert [matrix.tolist() for matrix in got.association] == [[[0, 1], [2, 3]], [[4, 5, 6]]]
    assert got.association.source_null.tolist() == [1, 2, 3]
    assert got.association.target_null is None
    assert got.where(1).endswith("matrices.npz, matrix 2")
    one = read_association(archive(matrix=np.asfortranarray([[1, 2], [3, 4]]), target_null=[5, 6]))
    assert one.association[0].tolist() == [[1, 2], [3, 4]]
    assert one.association.target_null.tolist() == [5, 6]
    np.save(tmp_path / "m.npy", np.array([[1.5, 0]], dtype=np.float64))
    assert read_association(tmp_path / "m.npy").association[0].tolist() == [[1.5, 0]]


@st.composite
def associations(draw):
    shapes = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4))
    rows, columns = (np.array([shape[axis] for shape in shapes], dtype=np.int64) for axis in (0, 1))

    def numbers(count):
        value = st.floats(0, float(np.finfo(np.float32).max), width=32)
        return np.array(draw(st.lists(value, min_size=int(count), max_size=int(count))), dtype=np.float32)

    nulls = [numbers(lengths.sum()) if draw(st.booleans()) else None for lengths in (rows, columns)]
    # Without rows, a JSON matrix does not show its columns; the null of the target does.
    if nulls[1] is None:
        columns = np.where(rows == 0, 0, columns)
    return Association(rows, columns, offsets_of(rows * columns), numbers((rows * columns).sum()), *nulls)


@pytest.mark.parametrize("name", ["m.jsonl", "m.json.gz", "m.npz"])
@settings(deadline=None, max_examples=40)
@given(associations())
def test_what_is_written_reads_back_to_the_last_bit(tmp_path_factory, name, association):
    path = tmp_path_factory.getbasetemp() / name
    write_association(path, association)
    same(read_association(path, allow_empty=True).association, association)
    before = path.read_bytes()
    write_association(path, association)
    assert path.read_bytes() == before


def one(matrix, **nulls):
    matrix = np.array(matrix, dtype=np.float32)
    shape = (np.array([count], dtype=np.int64) for count in matrix.shape)
    return Association(*shape, offsets_of([matrix.size]), matrix.ravel(), **nulls)


def test_the_written_line(tmp_path):
    bitext = Bitext.from_tokens([(["né", '"'], ["born"])])
    write_association(tmp_path / "m", one([[0.1], [200]], target_null=np.ones(1, np.float32)), bitext=bitext)
    assert (tmp_path / "m").read_text("utf-8") == (
        '{"source": ["né", "\\""], "target": ["born"], "matrix": [[0.1], [200.0]], "target_null": [1.0]}\n'
    )
    got = read_association(tmp_path / "m")
    assert (got.source, got.target) == ([["né", '"']], [["born"]])


def test_a_pair_that_was_left_out_has_no_words(tmp_path):
    path = tmp_path / "m"
    empty = one(np.empty((0, 0)))
    with AssociationWriter(path) as writer:
        writer.write(empty, Bitext.from_tokens([(["a"], [])]))
        writer.write(one([[1]]), Bitext.from_tokens([(["a"], ["b"])]))
    got = read_association(path, allow_empty=True)
    assert (got.source, got.target) == ([[], ["a"]], [[], ["b"]])
    fails("line 1: found a matrix of 0 x 0", path)


@pytest.mark.parametrize("name", ["m.jsonl", "m.npz"])
def test_nothing_is_left_of_a_failed_writing(tmp_path, name):
    with pytest.raises(KeyboardInterrupt), AssociationWriter(tmp_path / name) as writer:
        writer.write(one([[1]]))
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_writer_refuses_what_could_not_be_read(tmp_path):
    pair = Bitext.from_tokens([(["a"], ["b"])])
    with AssociationWriter(tmp_path / "m.npz") as writer:
        writer.write(one([[1]]))
        with pytest.raises(ValueError, match="null weights for the same sides"):
            writer.write(one([[1]], source_null=np.ones(1, np.float32)))
        for value in (-1, np.nan, np.inf):
            with pytest.raises(ValueError, match="finite numbers of 0 or more"):
                writer.write(one([[value]]))
        with pytest.raises(ValueError, match="as many rows and columns"):
            writer.write(one([[1, 1]]), pair)
        with pytest.raises(ValueError, match="same number of pairs, 1"):
            writer.write(one([[1]]), pair.part(0, 0))
    with pytest.raises(ValueError, match="with statement"):
        writer.write(one([[1]]))


GOOD = {"matrix": [[1, 2], [3, 4]]}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", r"found invalid JSON \(.*\), wanted an object such as"),
        ("", r"found invalid JSON"),
        (b'{"matrix": [["\xff"]]}', "byte 15 is not valid UTF-8"),
        ("[" * 100_000, "found invalid JSON"),
        ([[1]], r"found '\[\[1\]\]', wanted an object"),
        ({"matrx": [[1]]}, "found the keys 'matrx', wanted an object"),
        (
            {**GOOD, "source_nul": [1]},
            "found the key 'source_nul', wanted matrix and optionally .*correct or remove it",
        ),
        ({"matrix": 3}, "found 3 as matrix, wanted a list"),
        ({"matrix": [1, 2]}, "found 1 as row 1 of the matrix, wanted a list of numbers"),
        ({"matrix": [[1, 2], [3]]}, "found 1 values in row 2 of the matrix but 2 in row 1; wanted the same number"),
        ({"matrix": []}, "found a matrix of 0 x 0, wanted at least one row and one column"),
        ({"matrix": [[], []]}, "found a matrix of 2 x 0, wanted at least one row"),
        ({"matrix": [[1, -0.5]]}, "found -0.5 in matrix, wanted numbers of 0 or more; shift or clip"),
        ({"matrix": [[float("nan")]]}, "found NaN in matrix, .*give 0 where nothing is known"),
        ({"matrix": [[float("inf")]]}, r"found Infinity in matrix, wanted numbers up to 3\.4e\+38; scale"),
        ({"matrix": [[-float("inf")]]}, "found -Infinity in matrix, .*shift or clip"),
        ({"matrix": [[1e39]]}, r"found 1e\+39 in matrix, wanted numbers up to 3\.4e\+38; scale"),
        ({"matrix": [[10**400]]}, "found a number of more than 60 digits in matrix, .*scale"),
        ({"matrix": [[-(10**400)]]}, "found a number of more than 60 digits in matrix, .*shift or clip"),
        ({"matrix": [["1"]]}, 'found "1" in matrix, wanted numbers'),
        ({"matrix": [[True]]}, "found true in matrix, wanted numbers"),
        ({"matrix": [[None]]}, "found null in matrix, wanted numbers"),
        ({**GOOD, "source_null": [1]}, r"found 1 values in source_null, wanted 2, .*\(row of the matrix\)"),
        ({**GOOD, "target_null": [1, 2, 3]}, r"found 3 values in target_null, wanted 2, .*\(column of the matrix\)"),
        ({**GOOD, "target_null": [1, -1]}, "found -1 in target_null"),
        ({**GOOD, "target_null": None}, "found null as target_null, wanted a list"),
        ({**GOOD, "source": ["a"]}, "found 1 words in source, wanted 2, one for each source word"),
        ({**GOOD, "target": "ab"}, 'found "ab" as target, wanted a list'),
        ({**GOOD, "target": ["a", 1]}, "found target with something other than text, wanted a list of words"),
        ({**GOOD, "target": ["a", "\ud800"]}, "found .*half a character"),
        ({**GOOD, "id": 1.5}, "found the id 1.5, wanted text or a whole number"),
        ({**GOOD, "id": None}, "found the id null, wanted text or a whole number"),
    ],
)
def test_bad_records_are_one_clear_line(write, record, message):
    if isinstance(record, list):
        record = json.dumps(record)
    fails(rf"matrices\.jsonl, line 1: {message}", write(record if record else "\n"))


def test_a_fault_is_found_in_its_line(write):
    fails("line 3: found -1 in matrix", write([GOOD, GOOD, {"matrix": [[-1]]}]))
    fails("line 2: found no source_null, but line 1 has source_null", write([{**GOOD, "source_null": [1, 1]}, GOOD]))
    fails("line 2: found id, but line 1 has no id; give it for all", write([GOOD, {**GOOD, "id": 1}]))
    fails("line 3: found the id '1', which line 1 already has", write([{**GOOD, "id": n} for n in (1, 2, "1")]))


def test_empty_files(write):
    for content in ("", "\ufeff"):
        fails("matrices.jsonl is empty; wanted association matrices", write(content))
    fails("cannot read .*nothing: there is no such file", write("").with_name("nothing"))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"matrix": [1, 2]}, "found matrix of 1 dimensions and type int64, wanted numbers in 2 dimensions"),
        ({"matrix": [["a"]]}, "found matrix of 2 dimensions and type <U1, wanted numbers"),
        ({"matrix": np.empty((0, 3))}, "matrix 1: found a matrix of 0 x 3, wanted at least one row"),
        ({"matrix": [[1.0, np.nan]]}, "found NaN in matrix"),
        ({"matrix": [[1.0, -2]]}, "found -2.0 in matrix, wanted numbers of 0 or more"),
        ({"matrix": [[1e300]]}, r"found 1e\+300 in matrix, wanted numbers up to"),
        ({"matrix": [[1]], "source_null": [1, 2]}, "found 2 values in source_null, wanted 1, one for each source"),
        ({"matrix": [[1]], "target_null": [[1]]}, "found target_null of 2 dimensions"),
        ({"matrix": [[1]], "values": [1]}, "found the arrays matrix, values, wanted values, source_lengths and"),
        ({"arr_0": [[1]]}, "found the arrays arr_0, wanted values"),
        ({}, r"found the arrays \(none\), wanted"),
        ({"values": [1], "source_lengths": [1], "target_lengths": [1, 1]}, "found 1 source_lengths and 2 target_len"),
        ({"values": [1], "source_lengths": [2], "target_lengths": [1]}, "found 1 values, wanted 2, the sum of"),
        ({"values": [1], "source_lengths": [1.0], "target_lengths": [1]}, "source_lengths of type float64, wanted"),
        ({"values": [1], "source_lengths": [-1], "target_lengths": [-1]}, "wanted a list of whole numbers from 0"),
        ({"values": [], "source_lengths": [], "target_lengths": []}, "wanted a list of whole numbers"),
        (
            {"values": np.empty(0), "source_lengths": np.empty(0, int), "target_lengths": np.empty(0, int)},
            "holds no matrices",
        ),
        ({"values": [1], "source_lengths": [2**40], "target_lengths": [1]}, "found a length of 1099511627776"),
        (
            {"values": [1, 2, -3], "source_lengths": [1, 2], "target_lengths": [1, 1]},
            "matrix 2: found -3.0 in matrix",
        ),
        (
            {"values": [1, 2], "source_lengths": [1, 1], "target_lengths": [1, 1], "target_null": [0, np.inf]},
            "matrix 2: found Infinity in target_null",
        ),
    ],
)
def test_bad_archives_are_one_clear_line(archive, arrays, message):
    fails(message, archive(**arrays))


def test_archives_are_never_unpickled_and_damage_is_named(archive, write, tmp_path):
    np.savez(tmp_path / "o.npz", allow_pickle=True, matrix=np.array([[{}]], dtype=object))
    fails(r"not a readable \.npz or \.npy file of numbers \(found the type .object.", tmp_path / "o.npz")
    whole = archive(matrix=np.arange(5000.0).reshape(50, 100)).read_bytes()
    for cut in (10, 500, len(whole) - 30):
        fails("not a readable .npz", write(whole[:cut], "cut.npz"))
    fails("found no NumPy array, wanted .npz as its name says", write('{"matrix": [[1]]}', "json.npz"))


def test_zeros_are_read_and_refused_by_who_needs_mass(write):
    zeros = {"matrix": [[0, 0]], "source_null": [0]}
    got = read_association(write([{"matrix": [[0, 1]], "source_null": [0]}, {**zeros, "source_null": [1]}, zeros]))
    with pytest.raises(DataError, match=r"line 3: found a matrix of zeros only, wanted at least one value above 0"):
        got.check_mass()
    read_association(write([{"matrix": [[0, 1]]}, {"matrix": [[1]]}])).check_mass()


def test_matrices_must_fit_the_bitext(write):
    got = read_association(write([{"matrix": [[1, 2]]}, {"matrix": [[1]]}]))
    got.check_fit(np.array([1, 1]), np.array([2, 1]))
    with pytest.raises(DataError, match=r"has 2 matrices but the bitext has 3 sentence pairs"):
        got.check_fit(np.array([1, 1, 1]), np.array([2, 1, 1]))
    with pytest.raises(DataError, match=r"line 2: found a matrix of 1 x 1, wanted 2 x 3, .* pair 2 of the bitext"):
        got.check_fit(np.array([1, 2]), np.array([2, 3]))
