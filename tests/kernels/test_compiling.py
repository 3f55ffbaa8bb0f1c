"""Where compiled kernels are kept, what compiling costs, and that a warm-up leaves nothing to compile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from cepts import kernels, progress
from cepts.progress import Stopwatch, on_compile

BESIDE = Path(kernels.__file__).with_name("__pycache__")


@pytest.fixture
def writable(monkeypatch, tmp_path):
    """Let only these directories be written: `writable(path, ...)`; home and temporary files are in `tmp_path`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(kernels.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    really = kernels._is_writable

    def only(*directories):
        allowed = [str(directory) for directory in directories]
        monkeypatch.setattr(kernels, "_is_writable", lambda path: str(path).startswith(tuple(allowed)) and really(path))

    return only


def test_kernels_are_kept_beside_the_package_or_with_the_user_or_among_temporary_files(writable, tmp_path):
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    writable(BESIDE, home, temporary, tmp_path / "mine")
    assert kernels.find_cache() == ""
    assert kernels.find_cache(str(tmp_path / "mine")) == str(tmp_path / "mine")
    writable(home, temporary)
    assert kernels.find_cache(str(tmp_path / "mine")) == str(home / "cepts")
    writable(temporary)
    found = kernels.find_cache()
    assert found is not None
    assert Path(found).parent == temporary
    assert kernels.find_cache() == found
    writable(tmp_path / "nowhere")
    assert kernels.find_cache() is None


def test_where_nobody_knows_the_home_directory_temporary_files_are_used(writable, monkeypatch, tmp_path):
    def unknown():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(kernels.Path, "home", unknown)
    writable(tmp_path)
    assert str(kernels.find_cache()).startswith(str(tmp_path / "tmp"))


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs the permissions of POSIX")
def test_a_temporary_directory_that_others_can_write_is_not_trusted(writable, tmp_path):
    writable(tmp_path / "tmp")
    found = Path(str(kernels.find_cache()))
    found.chmod(0o777)
    assert kernels.find_cache() is None
    found.rmdir()
    elsewhere = tmp_path / "tmp" / "elsewhere"
    elsewhere.mkdir()
    found.symlink_to(elsewhere)
    assert kernels.find_cache() is None


def test_a_package_that_cannot_be_written_works_without_a_home(tmp_path):
    """Files stand where directories would have to be made, which stops even root."""
    package = tmp_path / "cepts"
    (package / "kernels").mkdir(parents=True)
    for found in Path(kernels.__file__).parents[1].iterdir():
        if found.name not in {"kernels", "__pycache__"}:
            (package / found.name).symlink_to(found)
    for found in Path(kernels.__file__).parent.glob("*.py"):
        shutil.copy(found, package / "kernels")
    (package / "kernels" / "__pycache__").write_text("")
    (tmp_path / "tmp").mkdir()
    code = """
import numpy as np
from cepts import kernels
from cepts.kernels.lexicon import add_at
totals = np.zeros((3, 1), dtype=np.float32)
add_at(np.array([0, 2], dtype=np.int32), np.ones((2, 1), dtype=np.float32), totals)
print(totals.ravel().tolist(), kernels.cache_directory())
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "TMPDIR": str(tmp_path / "tmp"), "NUMBA_CACHE_DIR": ""}
    environment["XDG_CACHE_HOME"] = str(package / "kernels" / "__pycache__")
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"[1.0, 0.0, 1.0] {tmp_path / 'tmp'}")
    assert list((tmp_path / "tmp").rglob("*.nbc"))


def test_nested_compilations_are_counted_once_and_no_stopwatch_counts_them(monkeypatch):
    now = [100.0]
    clock = SimpleNamespace(perf_counter=lambda: now[0])
    monkeypatch.setattr(kernels, "time", clock)
    monkeypatch.setattr(progress, "time", clock)
    monkeypatch.setattr(Stopwatch, "not_counted", 0.0)
    listener, names = kernels.Compiling(), []
    stopwatch = Stopwatch()

    def compile_(module, name, seconds, inner=()):
        function = SimpleNamespace(__module__=module, __name__=name, targetoptions={})
        event = SimpleNamespace(data={"dispatcher": function})
        listener.on_start(event)
        now[0] += seconds
        for other in inner:
            compile_(*other)
        listener.on_end(event)

    now[0] += 1.0
    with on_compile(names.append):
        compile_(
            "cepts.kernels.hmm", "posteriors", 2.0, [("cepts.kernels.hmm", "inner", 3.0), ("numba.np", "zeros", 4.0)]
        )
    now[0] += 0.5
    compile_("cepts.kernels.links", "parse", 6.0)
    assert kernels.compile_seconds() == 15.0
    assert stopwatch.seconds == 1.5
    assert names == ["hmm.posteriors", "hmm.inner"]
    assert listener.kernels == 3


def test_after_a_warm_up_aligning_compiles_nothing(tmp_path):
    sample = files("cepts") / "sample"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def run(code, *arguments):
        # From a file, which the processes of a warm-up import.
        script = tmp_path / "script.py"
        script.write_text(code)
        given = [sys.executable, str(script), *arguments]
        return subprocess.run(given, env=environment, capture_output=True, text=True, check=True)

    warm_up = """
from cepts.cli import main, warm_up
if __name__ == "__main__":
    jobs = {"words": warm_up.jobs_of_rooms()["words"][:1]}
    warm_up.jobs_of_rooms = lambda: jobs
    assert main(["warm-up", "words"]) == 0
"""
    align = """
import sys
from cepts.cli import main
from cepts.kernels import compiled_kernels
from cepts.io import read_bitext
align = ["align", *sys.argv[1:3], "-o", sys.argv[3], "-q", "--combine", "grow-diag-final-and"]
assert main(align) == 0
assert main([*align, "--checkpoint", sys.argv[4]]) == 0
read_bitext(*sys.argv[1:3], block_bytes=1000)
print(compiled_kernels())
"""
    for expected in ("compiled", "nothing left to compile"):
        assert run(warm_up).stderr.splitlines()[-1].startswith(expected)
    texts = (str(sample / f"sample.{language}") for language in ("en", "fr"))
    done = run(align, *texts, str(tmp_path / "links"), str(tmp_path / "job"))
    assert done.stdout == "0\n"


def test_a_kernel_without_reference_counts_may_return_numbers_but_no_arrays(monkeypatch):
    def double(values):
        return 2 * values[0], 1

    def first_half(values):
        return values[: len(values) // 2], 1

    monkeypatch.setattr(kernels, "CACHING", False)
    values = np.arange(4.0)
    double.__module__ = first_half.__module__ = "cepts.kernels.made_here"
    assert kernels.kernel(double)(values) == (0.0, 1)
    assert kernels.allocating_kernel(first_half)(values)[0].tolist() == [0.0, 1.0]
    with pytest.raises(TypeError, match="first_half returns arrays, so it must be an `allocating_kernel`"):
        kernels.kernel(first_half)(values)
