"""The loops that matter, compiled by Numba.

Kernels take contiguous arrays and scalars and fill arrays given to them; they know no type of ours and check
nothing. Numba freezes module globals into cached code, so whatever may change is an argument.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit

__all__ = ["kernel", "on_compile", "vector_kernel"]

# Numba checks the arguments; to the type checker a kernel takes anything.
Kernel = Callable[..., Any]
IMPORTS = re.compile(rb"^from (cepts\.kernels\.\w+) import", re.MULTILINE)


def kernel(function: Kernel) -> Kernel:
    """Compile `function` on first use and cache the result; releases the GIL, divides as NumPy does."""
    return _compiled(function)


def vector_kernel(function: Kernel) -> Kernel:
    """Compile as `kernel` does, and let the compiler reorder sums and fuse multiply-adds, so that it can use
    vector instructions. Infinities and NaN keep their meaning.
    """
    return _compiled(function, fastmath={"contract", "reassoc", "nsz", "arcp"})


def _compiled(function: Kernel, **options: Any) -> Kernel:
    compiled: Any = njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    # Numba holds a cached kernel against its own file alone, though those that it calls are compiled into it.
    cached: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(cached, "_source_stamp"):
        cached._source_stamp = (cached._source_stamp, digest_of(function.__module__))
    kernel: Kernel = compiled
    return kernel


@cache
def digest_of(module: str) -> str:
    """Digest of a module of kernels and of all others that it imports."""
    try:
        text = Path(__file__).with_name(f"{module.rpartition('.')[2]}.py").read_bytes()
    except OSError:
        return ""
    digest = sha256(text)
    for name in sorted(set(IMPORTS.findall(text))):
        digest.update(digest_of(name.decode()).encode())
    return digest.hexdigest()


def on_compile(notify: Callable[[str], None]) -> None:
    """Call `notify(kernel name)` whenever a kernel has to be compiled, which a warm cache makes needless."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            notify(event.data["dispatcher"].__name__)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())
