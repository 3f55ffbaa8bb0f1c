"""Pieces on shelves: complete or not there, and never damaged without being found."""

from __future__ import annotations

import pickle

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
    DiskShelf(directory, lasting=False).put("one/piece", given_arrays, answer=[1, "x"])
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


def test_a_spilling_shelf_keeps_little_in_memory(tmp_path):
    shelf = SpillingShelf(100, tmp_path)
    shelf.put("a", {"x": np.arange(10)})
    shelf.put("a", {"x": np.arange(11)}, n=1)
    shelf.drop("a")
    shelf.put("b", {"x": np.arange(10)}, n=2)
    assert shelf.in_memory
    shelf.put("c", {"x": np.arange(3)}, n=3)
    assert not shelf.in_memory
    assert [(shelf.get(name).settings["n"], len(shelf.get(name)["x"])) for name in "bc"] == [(2, 10), (3, 3)]
    assert not shelf.has("a")
    nowhere = SpillingShelf(10, tmp_path / "missing")
    nowhere.put("a", {"x": np.arange(10)})
    assert nowhere.in_memory
    assert nowhere.get("a")["x"][9] == 9


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
            # What other programs read of the head, we do not.
            assert intact
            assert place < len(data) - sum(array.nbytes for array in wanted.values())
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
