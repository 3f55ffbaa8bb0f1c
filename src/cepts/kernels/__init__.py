"""The loops that matter, compiled by Numba.

Kernels take contiguous arrays and scalars and fill arrays given to them; they know no type of ours and check
nothing. Numba freezes module globals into cached code, so whatever may change is an argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["kernel", "on_compile", "vector_kernel"]

# Numba checks the arguments; to the type checker a kernel takes anything.
Kernel = Callable[..., Any]


def kernel(function: Kernel) -> Kernel:
    """Compile `function` on first use and cache the result; releases the GIL, divides as NumPy does."""
    compiled: Kernel = njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled


def vector_kernel(function: Kernel) -> Kernel:
    """Compile as `kernel` does, and let the compiler reorder sums and fuse multiply-adds, so that it can use
    vector instructions. Infinities and NaN keep their meaning.
    """
    options = {"contract", "reassoc", "nsz", "arcp"}
    compiled: Kernel = njit(cache=True, nogil=True, error_model="numpy", fastmath=options)(function)
    return compiled


def on_compile(notify: Callable[[str], None]) -> None:
    """Call `notify(kernel name)` whenever a kernel has to be compiled, which a warm cache makes needless."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            notify(event.data["dispatcher"].__name__)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())
