"""Compiled kernels are kept for as long as they, and all that is compiled into them, stay the same."""

from __future__ import annotations

from cepts import kernels
from cepts.kernels import digest_of, onmf


def test_the_stamp_of_a_cached_kernel_knows_the_kernels_that_it_calls(tmp_path, monkeypatch):
    for name, text in {
        "one": "from cepts.kernels.two import x\n",
        "two": "from cepts.kernels.three import y\n",
        "three": "",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr(kernels, "__file__", str(tmp_path / "__init__.py"))
    digest_of.cache_clear()
    before = {name: digest_of(f"cepts.kernels.{name}") for name in ("one", "two", "three")}
    (tmp_path / "three.py").write_text("y = 1\n")
    digest_of.cache_clear()
    after = {name: digest_of(f"cepts.kernels.{name}") for name in ("one", "two", "three")}
    digest_of.cache_clear()
    assert len(set(before.values()) | set(after.values())) == 6


def test_kernels_carry_that_stamp():
    # Numba's own: if this fails, a new version of Numba keeps its stamps elsewhere, and stale kernels may be used.
    assert onmf.factorise_pairs._cache._cache_file._source_stamp[1] == digest_of("cepts.kernels.onmf")
