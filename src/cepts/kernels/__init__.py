"""The loops that matter, compiled by Numba.

Kernels take contiguous arrays and scalars and fill arrays given to them; they know no type of ours and check
nothing. Numba freezes module globals into cached code, so whatever may change is an argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

__all__ = ["kernel", "on_compile"]

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile `function` on first use and cache the result; releases the GIL, divides as NumPy does."""
    return njit(cache=True, nogil=True, error_model="numpy")(function)


def on_compile(notify: Callable[[str], None]) -> None:
    """Call `notify(kernel name)` whenever a kernel has to be compiled, which a warm cache makes needless."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            notify(event.data["dispatcher"].__name__)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())
