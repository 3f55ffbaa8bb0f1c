from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cepts.atomic import _host, _temporary_name, atomic_output, is_temporary, remove_leftovers, together
from cepts.errors import DataError


def test_a_file_appears_only_at_the_end(tmp_path):
    path = tmp_path / "out"
    with atomic_output(path) as file:
        file.write(b"new")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, DataError, BrokenPipeError])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(error), atomic_output(path) as file:
        file.write(b"new")
        raise error
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_mode_of_the_old_file_and_its_links_stay(tmp_path):
    path, link = tmp_path / "out", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    with atomic_output(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_mode(tmp_path):
    (tmp_path / "usual").write_bytes(b"")
    with atomic_output(tmp_path / "out"):
        pass
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_places_that_cannot_be_written(tmp_path):
    for path, reason in (
        (tmp_path / "nowhere" / "out", "No such file or directory"),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(DataError, match=f"cannot write {path}: {reason}"), atomic_output(path):
            pass


def test_the_longest_name_that_a_file_may_have(tmp_path):
    path = tmp_path / ("n" * 255)
    with atomic_output(path) as file:
        file.write(b"x")
    assert path.read_bytes() == b"x"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line():
    for size in (1, 1 << 20):
        with (
            pytest.raises(DataError, match="cannot write /dev/full: No space left"),
            atomic_output("/dev/full") as file,
        ):
            file.write(b"x" * size)


def test_an_error_of_another_file_is_not_blamed_on_this_one(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_output(tmp_path / "out"):
        (tmp_path / "other").read_bytes()
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_file_is_not_replaced(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    path.chmod(0o400)
    with pytest.raises(DataError, match="Permission denied"), atomic_output(path):
        pass
    assert path.read_bytes() == b"old"


def test_files_that_end_together_are_all_there_or_none(tmp_path):
    (tmp_path / "b").write_text("old")
    with pytest.raises(OSError, match="disk"), together():
        for name in "ab":
            with atomic_output(tmp_path / name) as file:
                file.write(b"new")
        raise OSError("disk")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"b": "old"}
    with together():
        for name in "ab":
            with atomic_output(tmp_path / name) as file:
                file.write(b"new")
        assert not (tmp_path / "a").exists()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "new", "b": "new"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_failed_write_is_that_of_its_own_file(tmp_path):
    with (
        pytest.raises(DataError, match="cannot write /dev/full"),
        atomic_output("/dev/full") as full,
        atomic_output(tmp_path / "other"),
    ):
        full.write(bytes(1 << 20))


def left_by(process, path, seconds, host=None):
    """A temporary file of a process, to which nothing has been written for some seconds."""
    name = _temporary_name(path.name).replace(f"-{os.getpid()}.", f"-{process}.")
    left = path.with_name(name if host is None else name.replace(_host(), host, 1))
    left.write_bytes(b"half")
    os.utime(left, (left.stat().st_mtime - seconds,) * 2)
    return left


@pytest.mark.skipif(os.name == "nt", reason="processes cannot be looked for there")
def test_only_what_nobody_is_writing_any_more_is_a_leftover(tmp_path):
    (tmp_path / "deep").mkdir()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    mine, dead, path = os.getpid(), ended.pid, tmp_path / "deep" / "00001.piece"
    kept = [left_by(mine, path, 1800), left_by(dead, path, 10), left_by(dead, path, 1800, host="elsewhere")]
    kept += [tmp_path / name for name in ("x.tmp", ".mine.tmp", ".00001.piece.0123456.tmp")]
    for file in kept[3:]:
        file.write_bytes(b"not ours")
        os.utime(file, (0, 0))
    left = [left_by(dead, path, 100), left_by(mine, path, 4000), left_by(dead, path, 4000, host="elsewhere")]
    assert all(is_temporary(file.name) for file in [*kept[:3], *left])
    with atomic_output(path) as file:
        remove_leftovers(tmp_path)
        file.write(b"whole")
    assert path.read_bytes() == b"whole"
    assert sorted(tmp_path.rglob("*.*")) == sorted([*kept, path])
    remove_leftovers(tmp_path / "nowhere")


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_what_a_killed_process_leaves_has_its_name(tmp_path):
    script = """
import os, signal, sys
from cepts.atomic import atomic_output
with atomic_output(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path / "out")], check=False)
    (left,) = tmp_path.iterdir()
    assert killed.returncode == -signal.SIGKILL
    remove_leftovers(tmp_path)
    assert left.exists()
    os.utime(left, (left.stat().st_mtime - 100,) * 2)
    remove_leftovers(tmp_path)
    assert not left.exists()
