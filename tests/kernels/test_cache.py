"""Compiled kernels are kept for as long as they, and all that is compiled into them, stay the same."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path

from cepts import kernels
from cepts.kernels import digest_of, onmf


def test_the_version_of_a_cached_kernel_knows_the_kernels_that_it_calls(tmp_path, monkeypatch):
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


def test_kernels_carry_that_version():
    # Numba's own: if this fails, a new version of Numba keeps its versions elsewhere, and stale kernels may be used.
    assert onmf.factorise_pairs._cache._cache_file._version.endswith(digest_of("cepts.kernels.onmf"))


def test_what_other_code_has_cached_is_compiled_anew_though_it_cannot_be_read(tmp_path, monkeypatch):
    index = onmf.cept_links._cache._cache_file
    monkeypatch.setattr(index, "_index_path", str(tmp_path / "index.nbi"))
    with Path(index._index_path).open("wb") as file:
        pickle.dump("of another version", file)
        file.write(b"names a class that is no more")
    assert index._load_index() == {}


HISTORY = """
from hashlib import sha256
import numpy as np
from cepts.kernels.history import running_weights

numbers = np.random.default_rng(0)
words = numbers.random((60, 37), dtype=np.float32)
marginals = words.mean(axis=1)
priors = np.full(37, 1 / 37, np.float32)
settings = [np.float32(number) for number in (0.95, 3.0, 0.2)]
seen, weights = np.zeros(37, np.float32), priors.copy()
found = np.empty((500, 37), np.float32)
running_weights(numbers.integers(-1, 60, 500), words, priors, marginals, *settings, seen, weights, found)
print(sha256(found.tobytes()).hexdigest())
"""


def test_a_kernel_that_was_just_compiled_rounds_as_one_from_the_cache_does(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    run = partial(subprocess.run, [sys.executable, "-c", HISTORY], env=environment, capture_output=True, text=True)
    first, second = (run(check=True, timeout=120).stdout for _ in range(2))
    assert len(first) > 64
    assert first == second
