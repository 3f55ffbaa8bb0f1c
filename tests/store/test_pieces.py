"""Pieces on shelves: complete or not there, and never damaged without being found."""

from __future__ import annotations

import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from cepts.errors import ModelError
from cepts.kernels.fingerprint import fingerprint
from cepts.store import DiskShelf, MemoryShelf, PassingShelf, PieceError, SpillingShelf
from cepts.store import pieces as pieces_module

TYPES = ("bool", "int8", "uint8", "int32", "int64", "uint64", "float32", "float64")
arrays = st.sampled_from(TYPES).flatmap(
    lambda name: npst.arrays(name, npst.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=9))
)


@pytest.fixture(params=["memory", "disk", "passing", "spilling"])
def shelf(request, tmp_path):
    kinds = {"memory": MemoryShelf, "disk": lambda: DiskShelf(tmp_path), "passing": lambda: PassingShelf(tmp_path)}
    kinds["spilling"] = lambda: SpillingShelf(20, tmp_path)
    return kinds[request.param]()


def same(got, want):
    return got.dtype == want.dtype and got.shape == want.shape and got.tobytes() == want.tobytes()


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from("abc"), arrays), st.data())
def test_a_piece_comes_back_as_it_was(tmp_path_factory, given_arrays, data):
    directory = tmp_path_factory.mktemp("shelf")
    DiskShelf(directory).put("one/piece", given_arrays, answer=[1, "x"])
    piece = DiskShelf(directory).get("one/piece")  # another process, which checks what it reads
    assert piece.settings == {"answer": [1, "x"]}
    assert sorted(piece) == sorted(given_arrays)
    for name, want in given_arrays.items():
        assert same(piece[name], want)
        start = data.draw(st.integers(0, len(want)))
        stop = data.draw(st.integers(start, len(want)))
        assert same(piece.part(name, start, stop), want[start:stop])


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 200), st.data())
def test_parts_are_checked_by_the_blocks_that_they_touch(tmp_path_factory, rows, data):
    directory = tmp_path_factory.mktemp("shelf")
    wanted = np.arange(3 * rows, dtype=np.int32).reshape(rows, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces_module, "SMALLEST_BLOCK", 16)
        patch.setattr(pieces_module, "MOST_BLOCKS", 10)
        DiskShelf(directory).put("x", {"a": wanted, "b": wanted})
    file = directory / "x.piece"
    damaged = bytearray(file.read_bytes())
    place = data.draw(st.integers(1, wanted.nbytes))  # from the end, in b
    damaged[-place] ^= 1
    file.write_bytes(damaged)
    piece = DiskShelf(directory).get("x")
    assert same(piece["a"], wanted)
    block = piece.known.index["b"]["block"]
    assert block >= 16
    assert len(piece.known.index["b"]["checksums"]) <= 20
    bad = (wanted.nbytes - place) // block
    for _ in range(3):
        start = data.draw(st.integers(0, rows))
        stop = data.draw(st.integers(start, rows))
        if start < stop and start * 12 < (bad + 1) * block and stop * 12 > bad * block:
            with pytest.raises(PieceError, match="checksum of b"):
                piece.part("b", start, stop)
        else:
            assert same(piece.part("b", start, stop), wanted[start:stop])
    assert not DiskShelf(directory).has("x")
    assert DiskShelf(directory).holds("x")
    with pytest.raises(PieceError, match="checksum of b"):
        piece.check()


def test_other_programs_can_read_a_piece(tmp_path):
    from safetensors.numpy import load_file

    wanted = {"a": np.arange(5, dtype=np.int16), "b": np.eye(3, dtype=np.float32), "c": np.empty((0, 2))}
    DiskShelf(tmp_path).put("x", wanted)
    found = load_file(tmp_path / "x.piece")
    assert all(same(found[name], array) for name, array in wanted.items())


def test_pieces_are_replaced_and_dropped(shelf):
    for name in ("a", "b/1", "b/2", "bb"):
        shelf.put(name, {"x": np.array([1])})
    shelf.put("a", {"x": np.array([2])})
    assert shelf.get("a")["x"].tolist() == [2]
    shelf.drop("b")
    shelf.drop("nothing")
    assert [shelf.has(name) for name in ("a", "b/1", "b/2", "bb")] == [True, False, False, True]
    with pytest.raises(PieceError) as raised:
        shelf.get("b/1")
    assert raised.value.name == "b/1"
    shelf.close()


@pytest.mark.parametrize("make", [PassingShelf, lambda parent: SpillingShelf(10, parent)])
def test_a_temporary_shelf_leaves_nothing(tmp_path, make):
    shelf = make(tmp_path)
    shelf.put("x", {"a": np.arange(3)})
    assert len(list(tmp_path.rglob("*.piece"))) == 1
    shelf.close()
    assert list(tmp_path.iterdir()) == []


def test_a_spilling_shelf_keeps_the_latest_pieces_in_memory(tmp_path):
    shelf = SpillingShelf(100, tmp_path)

    def files():
        return len(list(tmp_path.rglob("*.piece")))

    shelf.put("a", {"x": np.arange(10)})
    shelf.put("a", {"x": np.arange(11)}, n=1)
    shelf.drop("a")
    shelf.put("b", {"x": np.arange(10)}, n=2)
    assert shelf.in_memory
    shelf.put("b/inner", {"x": np.arange(3)}, n=3)  # now "b", and not what is under it, goes to a file
    assert not shelf.in_memory
    assert files() == 1
    shelf.put("d", {"x": np.arange(9)}, n=4)
    assert files() == 1  # "b/inner" and "d" have 96 bytes
    found = [(shelf.get(name).settings["n"], len(shelf.get(name)["x"])) for name in ("b", "b/inner", "d")]
    assert found == [(2, 10), (3, 3), (4, 9)]
    assert not shelf.has("a")
    shelf.put("b", {"x": np.arange(2)}, n=5)  # replaces what is in a file
    assert len(shelf.get("b")["x"]) == 2
    shelf.drop("b")
    assert [shelf.has(name) for name in ("b", "b/inner", "d")] == [False, False, True]
    assert files() == 0


def test_what_was_put_away_leaves_memory_first(tmp_path):
    shelf = SpillingShelf(100, tmp_path)
    shelf.put("old", {"x": np.arange(5)}, n=1)
    shelf.put_away("first", {"x": np.arange(5)}, n=2)
    shelf.put_away("second", {"x": np.arange(2)}, n=3)
    assert shelf.in_memory
    shelf.put("new", {"x": np.arange(6)}, n=4)  # 144 bytes
    assert len(list(tmp_path.rglob("*.piece"))) == 2
    shelf.drop("first")
    shelf.drop("second")
    assert not list(tmp_path.rglob("*.piece"))
    shelf.put("newer", {"x": np.arange(2)}, n=5)  # 104 bytes, so that the oldest leaves
    assert len(list(tmp_path.rglob("*.piece"))) == 1
    shelf.drop("old")
    assert not list(tmp_path.rglob("*.piece"))
    assert [shelf.get(name).settings["n"] for name in ("new", "newer")] == [4, 5]
    shelf.put_away("first", {"x": np.arange(4)}, n=6)
    shelf.put("first", {"x": np.arange(4)}, n=7)  # no longer put away, but the latest
    shelf.put("last", {"x": np.arange(1)}, n=8)
    assert [shelf.get(name).settings["n"] for name in ("first", "last")] == [7, 8]


def test_committed_and_flushed_pieces_are_on_the_disk_and_others_are_not_waited_for(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", lambda file: flushed.append((os.fstat(file).st_ino, number("c"))))
    shelf = DiskShelf(tmp_path)

    def number(name):
        return shelf.path_of(name).stat().st_ino

    for name in ("a", "a/1", "a/b/2", "ab", "c"):
        shelf.put(name, {"x": np.arange(3)})
    assert flushed == []
    shelf.flush("a", "nothing")
    wanted = {number(name) for name in ("a", "a/1", "a/b/2")}
    if os.name != "nt":  # where directories cannot be flushed
        wanted |= {place.stat().st_ino for place in (tmp_path, tmp_path / "a", tmp_path / "a" / "b")}
    assert {file for file, _ in flushed} == wanted
    before = number("c")
    flushed.clear()
    shelf.commit("c", {"x": np.arange(4)}, n=1)
    assert (len(shelf.get("c")["x"]), shelf.get("c").settings) == (4, {"n": 1})
    assert flushed[0] == (number("c"), before)  # it was on the disk before it replaced the one before


def test_a_spilling_shelf_that_cannot_write_keeps_everything_in_memory(tmp_path):
    nowhere = SpillingShelf(10, tmp_path / "missing")
    nowhere.put("a", {"x": np.arange(10)})
    nowhere.put("b", {"x": np.arange(10)})
    assert nowhere.in_memory
    assert nowhere.get("a")["x"][9] == 9


@pytest.mark.parametrize("kind", [PassingShelf, DiskShelf])
@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from("abc"), arrays), st.data())
def test_a_mapped_piece_is_as_it_was(tmp_path_factory, kind, given_arrays, data):
    shelf = kind(tmp_path_factory.mktemp("shelf"))
    shelf.put("one/piece", given_arrays, answer=[1, "x"])
    piece = shelf.get("one/piece")
    assert piece.settings == {"answer": [1, "x"]}
    assert sorted(piece) == sorted(given_arrays)
    for name, want in given_arrays.items():
        got = piece[name]
        assert same(got, want)
        # Kernels are compiled for such arrays alone.
        assert got.flags.aligned
        assert got.flags.writeable
        assert got.flags.c_contiguous
        start = data.draw(st.integers(0, len(want)))
        stop = data.draw(st.integers(start, len(want)))
        assert same(piece.part(name, start, stop), want[start:stop])


@pytest.mark.parametrize("kind", [PassingShelf, DiskShelf])
def test_mapped_arrays_outlive_their_piece_and_changes_stay_private(tmp_path, kind):
    shelf = kind(tmp_path)
    shelf.put("x", {"a": np.arange(5)})
    first = shelf.get("x")["a"]
    first[0] = 7
    assert shelf.get("x")["a"].tolist() == [0, 1, 2, 3, 4]
    shelf.put("x", {"a": np.arange(2)})
    shelf.drop("x")
    shelf.close()
    assert first.tolist() == [7, 1, 2, 3, 4]


def test_threads_can_put_and_get_while_pieces_move_to_files(tmp_path):
    shelf = SpillingShelf(2_000, tmp_path)

    def work(number):
        shelf.put(f"p/{number}", {"x": np.full(50, number)}, n=number)
        for other in range(0, number, 7):
            if shelf.has(f"p/{other}"):
                piece = shelf.get(f"p/{other}")
                assert (piece.settings["n"], piece["x"].sum()) == (other, 50 * other)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(200)))
    assert [int(shelf.get(f"p/{number}")["x"][0]) for number in range(200)] == list(range(200))
    shelf.drop("p")
    assert not any(shelf.has(f"p/{number}") for number in range(200))


def test_a_temporary_file_that_cannot_be_written_is_said_in_one_line(tmp_path):
    shelf = PassingShelf(tmp_path)
    shelf.directory = tmp_path / "gone"
    with pytest.raises(ModelError, match="TMPDIR") as raised:
        shelf.put("x", {"a": np.arange(3)})
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("size", [1, 1000])
def test_every_changed_byte_is_found(tmp_path, size):
    wanted = {"a": np.arange(size, dtype=np.int32), "b": np.full((2, 3), 0.5)}
    DiskShelf(tmp_path).put("x", wanted, name="some settings")
    file = tmp_path / "x.piece"
    data = file.read_bytes()
    random = np.random.default_rng(size)
    for place in {*range(0, len(data), max(1, len(data) // 300)), *random.integers(0, len(data), 50).tolist()}:
        changed = bytearray(data)
        changed[place] ^= 1 << int(random.integers(8))
        file.write_bytes(changed)
        try:
            piece = DiskShelf(tmp_path).get("x")
            intact = piece.settings == {"name": "some settings"} and all(
                same(piece[name], array) for name, array in wanted.items()
            )
        except PieceError as error:
            assert str(file) in str(error)
            assert "\n" not in str(error)
        else:
            # What other programs read of the head, we do not, and nobody reads what is between the arrays.
            assert intact
            assert not any(
                data.rindex(array.tobytes()) <= place < data.rindex(array.tobytes()) + array.nbytes
                for array in wanted.values()
            )
    for length in (0, 4, 20, len(data) // 2, len(data) - 1):
        file.write_bytes(data[:length])
        with pytest.raises(PieceError):
            dict(DiskShelf(tmp_path).get("x"))


def test_damage_is_found_although_the_same_process_read_the_file_before(tmp_path):
    shelf = DiskShelf(tmp_path)
    shelf.put("x", {"a": np.arange(100)})
    assert shelf.get("x")["a"][7] == 7
    other = bytearray((tmp_path / "x.piece").read_bytes())
    other[-3] ^= 8
    (tmp_path / "new").write_bytes(other)
    (tmp_path / "new").replace(tmp_path / "x.piece")
    with pytest.raises(PieceError, match="checksum of a"):
        shelf.get("x")["a"]


def test_a_shelf_goes_to_another_process_as_its_path(tmp_path):
    shelf = DiskShelf(tmp_path)
    shelf.put("x", {"a": np.arange(10_000)})
    sent = pickle.dumps(shelf)
    assert len(sent) < 500
    assert pickle.loads(sent).get("x")["a"].sum() == 49_995_000


def test_what_cannot_be_written_is_said_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="cannot be written") as raised:
        DiskShelf(tmp_path / "file").put("x", {"a": np.arange(3)})
    assert "\n" not in str(raised.value)


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=40), st.data())
def test_a_fingerprint_depends_on_every_bit_and_on_the_order(words, data):
    whole = np.array(words, dtype=np.uint64)
    found = fingerprint(whole, np.uint64(0))
    place = data.draw(st.integers(0, len(words) - 1))
    changed = whole.copy()
    changed[place] ^= np.uint64(1) << np.uint64(data.draw(st.integers(0, 63)))
    assert fingerprint(changed, np.uint64(0)) != found
    assert fingerprint(whole[:-1], np.uint64(0)) != found
    assert fingerprint(whole, np.uint64(1)) != found
    if words[0] != words[-1]:
        changed = whole.copy()
        changed[[0, -1]] = changed[[-1, 0]]
        assert fingerprint(changed, np.uint64(0)) != found
