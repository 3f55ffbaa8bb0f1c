"""NumPy's files with headers that lie."""

from __future__ import annotations

import io
import tracemalloc
import zipfile

import numpy as np
import pytest

from cepts.errors import DataError
from cepts.io import read_association
from cepts.io.arrays import read_archive, read_array
from cepts.io.files import InputFile


def npy(array, header=None):
    """The bytes of an .npy file, with another header of the same length or longer where one is given."""
    buffer = io.BytesIO()
    np.save(buffer, array)
    data = buffer.getvalue()
    if header is None:
        return data
    text = header.encode("latin1") + b"\n"
    return data[:8] + len(text).to_bytes(2, "little") + text + array.tobytes()


MATRIX = np.arange(6.0).reshape(2, 3)
GOOD = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"
BROKEN = {
    "unclosed": GOOD.replace("}", ""),  # tokenize.TokenError
    "no Python": GOOD.replace(":", "="),  # SyntaxError
    "indented": "  x\n y",
    "huge": GOOD.replace("2, 3", "99999999999999999999, 3"),  # OverflowError
    "large": GOOD.replace("2, 3", "2147483647, 2147483647"),
    "negative": GOOD.replace("2, 3", "-2, -3"),
    "no tuple": GOOD.replace("(2, 3)", "6"),
    "a list for a type": GOOD.replace("'<f8'", "[1, 2]"),  # TypeError
    "an unknown type": GOOD.replace("<f8", "<f9"),
    "an object": GOOD.replace("<f8", "|O"),
    "nothing in it": GOOD.replace("<f8", "|V0"),
    "fields": GOOD.replace("'<f8'", "[('a', '<f8')]"),
    "deep": "(" * 5000,
    "escape": GOOD.replace("<f8", r"\d"),  # a SyntaxWarning
    "zeros": "\0" * 60,
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("packed", ["npy", "mapped", "npz"])
def test_a_broken_header_is_one_line(tmp_path, name, packed):
    path = tmp_path / f"x.{packed}"
    data = npy(MATRIX, BROKEN[name])
    if packed == "npz":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("matrix.npy", data)
    else:
        path.write_bytes(data)
    read = read_array if packed == "mapped" else read_archive
    with (
        InputFile(path) as file,
        pytest.raises(DataError, match=r"x\.\w+: not a readable \.np.*; write it again") as caught,
    ):
        read(file)
    assert str(caught.value).replace(str(tmp_path), "").isprintable()
    assert len(str(caught.value)) < 400


def test_good_headers_are_read(tmp_path):
    for number, array in enumerate((MATRIX, np.asfortranarray(MATRIX), np.empty((0, 3)), MATRIX.astype(">i2"))):
        path = tmp_path / f"{number}.npy"
        path.write_bytes(npy(array))
        for read in (read_array, lambda file: read_archive(file)["matrix"]):
            with InputFile(path) as file:
                np.testing.assert_array_equal(read(file), array)
    assert npy(MATRIX, GOOD).endswith(MATRIX.tobytes())


def test_lengths_that_no_values_vouch_for_take_no_room(tmp_path):
    path = tmp_path / "x.npz"
    for lengths in ([2**31 - 1], [2**31 - 1] * 40):
        zeros = np.zeros(len(lengths), dtype=np.int64)
        np.savez(path, values=np.empty(0, np.float32), source_lengths=lengths, target_lengths=zeros)
        tracemalloc.start()
        with pytest.raises(DataError, match=r"found [\d,]+ words in source_lengths in [\d,]+ bytes"):
            read_association(path, allow_empty=True)
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
        tracemalloc.stop()
    np.savez(path, values=np.empty(0, np.float32), source_lengths=[2**31 - 1] * 5, target_lengths=[2**31 - 1] * 5)
    with pytest.raises(DataError, match="found 0 values, wanted 23,"):  # the product does not fit into 64 bits
        read_association(path)
