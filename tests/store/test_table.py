"""Tables: models in a single file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import save_file

from cepts._version import __version__
from cepts.errors import ModelError
from cepts.store import header, load_table, save_table

SETTINGS = {"labels": ["a", "é"], "scale": 2.5e-7}
ARRAYS = {"keys": np.arange(5, dtype=np.uint32), "empty": np.empty((0, 3)), "bytes": np.array([1, 200], dtype=np.uint8)}
SHAPES = hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=4)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table"
    save_table(path, kind="words", settings=SETTINGS, arrays=ARRAYS)
    return path


@given(
    st.dictionaries(
        st.text("abc.", min_size=1, max_size=4),
        hnp.arrays(
            st.sampled_from(["u1", "i4", "f4", "f8", "?"]),
            hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=4),
        ),
        max_size=4,
    )
)
def test_a_table_comes_back_as_it_was(tmp_path_factory, arrays):
    path = tmp_path_factory.mktemp("tables") / "table"
    save_table(path, kind="words", settings=SETTINGS, arrays=arrays)
    data = path.read_bytes()
    found = load_table(path, kind="words")
    assert found.kind == "words" and found.settings == SETTINGS and found.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found.arrays[name], array)
    save_table(path, kind="words", settings=SETTINGS, arrays=dict(reversed(arrays.items())))
    assert path.read_bytes() == data


def test_every_damaged_byte_is_found(table):
    data = table.read_bytes()
    for place in range(len(data)):
        table.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(ModelError, match=r"table .*; make or save it again") as caught:
            load_table(table, kind="words")
        assert "\n" not in str(caught.value)


def test_a_table_that_is_cut_short_or_missing_is_refused(table):
    data = table.read_bytes()
    for damaged in (data[:-1], data[: len(data) // 2], b""):
        table.write_bytes(damaged)
        with pytest.raises(ModelError, match=r"is damaged \(it is not a safetensors file\); take another"):
            load_table(table, kind="words", remedy="take another")
    table.unlink()
    with pytest.raises(ModelError, match="table cannot be read"):
        load_table(table, kind="words")


def test_other_files_are_refused(table, monkeypatch):
    with pytest.raises(ModelError, match="holds words, not taggers"):
        load_table(table, kind="taggers")
    save_file({"keys": np.zeros(2)}, table)
    with pytest.raises(ModelError, match="is not a table of cepts"):
        load_table(table, kind="words")
    monkeypatch.setattr(header, "FORMAT_VERSION", 2)
    save_table(table, kind="words", settings={}, arrays={})
    monkeypatch.undo()
    message = f"has format version 2, but cepts {__version__} reads only up to version 1; upgrade cepts"
    with pytest.raises(ModelError, match=message):
        load_table(table, kind="words")


def test_what_cannot_be_written_leaves_the_old_table(table):
    data = table.read_bytes()
    with pytest.raises(TypeError, match="Got names of type"):
        save_table(table, kind="words", settings={}, arrays={"names": np.array(["a"])})
    with pytest.raises(ValueError, match="JSON"):
        save_table(table, kind="words", settings={"scale": float("nan")}, arrays={})
    assert table.read_bytes() == data
