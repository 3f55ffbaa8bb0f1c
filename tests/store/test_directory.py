from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cepts.errors import ModelError
from cepts.store import check_destination, directory, load_model, save_model

SETTINGS = {"iterations": 5, "null": 2e-05, "name": "modèle", "parts": [1, None, True], "tiny": 1.5e-300}
ARRAYS = {
    "lexicon": np.linspace(0, 1, 7, dtype=np.float32),
    "offsets": np.arange(12, dtype=np.int64).reshape(3, 4),
    "words": np.frombuffer("été".encode(), dtype=np.uint8),
}
FILES = ("model.json", "arrays.safetensors")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_model(tmp_path / "model", kind="hmm", settings=SETTINGS, arrays=ARRAYS)
    return tmp_path / "model"


def refused(path: Path, kind: str | None = None) -> str:
    with pytest.raises(ModelError) as caught:
        load_model(path, kind=kind)
    message = str(caught.value)
    assert "\n" not in message
    assert "train and save it again" in message
    return message


def siblings(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.parent.iterdir())


def rewrite(path: Path, change: Callable[[dict], None]) -> None:
    """Change `model.json` and seal it again, as a faulty writer would."""
    contents = json.loads((path / "model.json").read_bytes())
    del contents["checksum"]
    change(contents)
    (path / "model.json").write_bytes(directory.sealed(contents))


def test_a_model_comes_back_as_it_was(model: Path) -> None:
    loaded = load_model(model, kind="hmm")
    assert loaded.kind == "hmm"
    assert loaded.settings == SETTINGS
    assert list(loaded.arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert loaded.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(loaded.arrays[name], array)
        assert loaded.arrays[name].flags.c_contiguous
    assert siblings(model) == ["model"]
    assert sorted(entry.name for entry in model.iterdir()) == sorted(FILES)


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8).filter(lambda name: name != "__metadata__"),
        hnp.arrays(
            hnp.boolean_dtypes()
            | hnp.integer_dtypes(endianness="?")
            | hnp.unsigned_integer_dtypes(endianness="?")
            | hnp.floating_dtypes(sizes=(16, 32, 64), endianness="?"),
            hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        ),
        max_size=4,
    ),
    st.dictionaries(
        st.text(),
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        max_size=4,
    ),
)
def test_any_arrays_and_settings_come_back(arrays: dict[str, np.ndarray], settings: dict[str, object]) -> None:
    with tempfile.TemporaryDirectory() as place:
        save_model(f"{place}/m", kind="any", settings=settings, arrays=arrays)
        loaded = load_model(f"{place}/m")
    assert loaded.settings == settings
    assert loaded.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        assert loaded.arrays[name].shape == array.shape
        np.testing.assert_array_equal(loaded.arrays[name], array)


def test_the_same_model_gives_the_same_bytes(model: Path, tmp_path: Path) -> None:
    save_model(tmp_path / "again", kind="hmm", settings=SETTINGS, arrays=ARRAYS)
    for name in FILES:
        assert (model / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


@given(st.data())
def test_any_flipped_bit_is_found(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "m"
        save_model(path, kind="hmm", settings=SETTINGS, arrays=ARRAYS)
        file = path / data.draw(st.sampled_from(FILES))
        content = bytearray(file.read_bytes())
        bit = data.draw(st.integers(0, 8 * len(content) - 1))
        content[bit // 8] ^= 1 << bit % 8
        file.write_bytes(content)
        refused(path)
        save_model(path, kind="hmm", settings=SETTINGS, arrays=ARRAYS)  # the remedy must work in the same place
        load_model(path)


@settings(deadline=None)
@given(st.data())
def test_a_file_cut_anywhere_is_found(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "m"
        save_model(path, kind="hmm", settings=SETTINGS, arrays=ARRAYS)
        file = path / data.draw(st.sampled_from(FILES))
        content = file.read_bytes()
        file.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
        assert file.name in refused(path)


def test_every_bit_of_the_header_counts(model: Path) -> None:
    file = model / "model.json"
    content = file.read_bytes()
    for bit in range(8 * len(content)):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        file.write_bytes(changed)
        refused(model)


def test_a_change_that_json_forgives_is_found(model: Path) -> None:
    file = model / "model.json"
    content = file.read_bytes()
    for before, after in (
        (b"2e-05", b"2E-05"),
        (b"\\u00e8", b"\\u00E8"),
        (b"\n}", b" \n}"),
        (b"\n", b"\r\n"),
    ):
        assert before in content
        file.write_bytes(content.replace(before, after, 1))
        assert "checksum differs" in refused(model)


def test_bytes_after_the_end_are_found(model: Path) -> None:
    with (model / "arrays.safetensors").open("ab") as file:
        file.write(b"\0")
    assert "bytes" in refused(model)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"nonsense", b"\xff\xfe", b"[" * 100_000, b"9" * 5000])
def test_a_header_that_is_no_header_is_refused(model: Path, content: bytes) -> None:
    (model / "model.json").write_bytes(content)
    assert "model.json is damaged" in refused(model)


def test_missing_things_are_named(model: Path, tmp_path: Path) -> None:
    assert "does not exist" in refused(tmp_path / "nowhere")
    assert "is not a directory" in refused(model / "model.json")
    (model / "arrays.safetensors").unlink()
    assert "arrays.safetensors is missing" in refused(model)
    (model / "model.json").unlink()
    assert "model.json is missing" in refused(model)


def test_a_directory_in_place_of_a_file_is_one_line(model: Path) -> None:
    for name in reversed(FILES):
        (model / name).unlink()
        (model / name).mkdir()
        assert name in refused(model)


def test_a_later_format_asks_for_an_upgrade(model: Path) -> None:
    rewrite(model, lambda contents: contents.update(format_version=2, novelty=[]))
    assert "upgrade cepts" in refused(model)


@pytest.mark.parametrize("version", [0, -1, True, "1", None, 1.0])
def test_an_odd_format_version_is_refused(model: Path, version: object) -> None:
    rewrite(model, lambda contents: contents.update(format_version=version))
    refused(model)


def test_another_kind_is_refused(model: Path) -> None:
    message = refused(model, kind="ibm1")
    assert "hmm" in message
    assert "ibm1" in message


def test_a_missing_and_a_surplus_array_are_refused(model: Path) -> None:
    rewrite(model, lambda contents: contents["arrays"].pop("words"))
    assert "not those of model.json" in refused(model)
    rewrite(model, lambda contents: contents["arrays"].update(words={}, jumps={}))
    assert "not those of model.json" in refused(model)


def test_another_shape_or_type_is_refused(model: Path) -> None:
    rewrite(model, lambda contents: contents["arrays"]["offsets"].update(shape=[4, 3]))
    assert "not those of model.json" in refused(model)


@pytest.mark.parametrize("entry", ["kind", "settings", "arrays", "files"])
def test_a_missing_entry_is_refused(model: Path, entry: str) -> None:
    rewrite(model, lambda contents: contents.pop(entry))
    assert "entries are missing" in refused(model)


def test_arrays_that_are_no_safetensors_are_refused(model: Path) -> None:
    (model / "arrays.safetensors").write_bytes(b"not tensors")
    seal = directory._fingerprint(model / "arrays.safetensors")
    rewrite(model, lambda contents: contents["files"].update({"arrays.safetensors": seal}))
    assert "not a safetensors file" in refused(model)


def test_a_model_is_replaced(model: Path) -> None:
    save_model(model, kind="ibm1", settings={}, arrays={"one": np.ones(1)})
    loaded = load_model(model)
    assert loaded.kind == "ibm1"
    assert list(loaded.arrays) == ["one"]
    assert siblings(model) == ["model"]


def test_an_empty_directory_and_missing_parents_are_filled(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "a" / "b" / "new"):
        save_model(path, kind="hmm", settings=SETTINGS, arrays=ARRAYS)
        assert load_model(path).kind == "hmm"


def test_a_directory_of_others_is_refused_and_untouched(tmp_path: Path, model: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "model.json").write_text('{"format": "layers-model"}')
    (tmp_path / "file").write_text("a file")
    (model / "notes.txt").write_text("kept beside the model")
    for name, inside in (
        ("thesis", "chapter.txt"),
        ("web", "model.json"),
        ("file", ""),
        ("model", "notes.txt"),
    ):
        for refuse in (
            check_destination,
            lambda path: save_model(path, kind="hmm", settings=SETTINGS, arrays=ARRAYS),
        ):
            with pytest.raises(ModelError, match=name) as caught:
                refuse(tmp_path / name)
            assert "\n" not in str(caught.value)
            assert "choose another" in str(caught.value)
        assert (tmp_path / name / inside).exists()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "model", "thesis", "web"]


def test_a_link_to_a_model_stays_a_link(model: Path, tmp_path: Path) -> None:
    link = tmp_path / "latest"
    link.symlink_to(model)
    save_model(link, kind="ibm2", settings={}, arrays={})
    assert link.is_symlink()
    assert load_model(model).kind == "ibm2"


@pytest.mark.parametrize("step", ["_write_arrays", "flush_to_disk", "sealed", "_fingerprint"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_save_leaves_the_old_model(
    model: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    def fail(*arguments: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(directory, step, fail)
        expected = ModelError if isinstance(error, OSError) else type(error)
        with pytest.raises(expected) as caught:
            save_model(model, kind="ibm1", settings={}, arrays={})
    if expected is ModelError:
        assert "No space left on device" in str(caught.value)
        assert "\n" not in str(caught.value)
    assert load_model(model).kind == "hmm"
    assert siblings(model) == ["model"]


def test_a_failed_rename_puts_the_old_model_back(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename

    def fail_on_the_new(path: Path, target: Path) -> Path:
        if target == model and not path.name.endswith(".old"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", fail_on_the_new)
        with pytest.raises(ModelError, match="Permission denied"):
            save_model(model, kind="ibm1", settings={}, arrays={})
    assert load_model(model).kind == "hmm"
    assert siblings(model) == ["model"]


@pytest.mark.parametrize("renames", [1, 2])
def test_control_c_right_after_a_rename_leaves_one_whole_model(
    model: Path, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    rename, done = Path.rename, []

    def interrupted(path: Path, target: Path) -> Path:
        moved = rename(path, target)
        done.append(target)
        if len(done) == renames:
            raise KeyboardInterrupt
        return moved

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", interrupted)
        with pytest.raises(KeyboardInterrupt):
            save_model(model, kind="ibm1", settings={}, arrays={})
    assert load_model(model).kind == ("hmm" if renames == 1 else "ibm1")
    assert siblings(model) == ["model"]


@pytest.mark.skipif(os.name == "nt", reason="needs a limit on file size")
def test_a_disk_that_fills_is_one_line(tmp_path: Path) -> None:
    script = """
import resource, sys, numpy as np
from cepts.errors import ModelError
from cepts.store import save_model
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    save_model(sys.argv[1], kind="hmm", settings={}, arrays={"big": np.zeros(1_000_000)})
except ModelError as error:
    print(error)
"""
    run = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "m")], capture_output=True, text=True, check=True
    )
    assert "cannot be written" in run.stdout
    assert run.stdout.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_place_without_permission_is_one_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ModelError, match="may not be written to"):
            save_model(tmp_path / "m", kind="hmm", settings={}, arrays={})
    finally:
        tmp_path.chmod(0o700)


def test_others_may_read_the_arrays_if_they_may_read_the_header(model: Path) -> None:
    assert (model / "arrays.safetensors").stat().st_mode == (model / "model.json").stat().st_mode


def test_what_json_or_safetensors_cannot_hold_is_a_callers_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        save_model(tmp_path / "m", kind="hmm", settings={"null": float("nan")}, arrays={})
    with pytest.raises(TypeError):
        save_model(tmp_path / "m", kind="hmm", settings={"null": object()}, arrays={})
    with pytest.raises(TypeError, match="words"):
        save_model(tmp_path / "m", kind="hmm", settings={}, arrays={"words": np.array(["a"], dtype=object)})
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_may_not_be_written_to_is_known_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *arguments: False)
    with pytest.raises(ModelError, match="may not be written to") as caught:
        check_destination(tmp_path / "a" / "b")
    assert "\n" not in str(caught.value)
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="is not a directory"):
        check_destination(tmp_path / "file" / "b")
