"""The inner loops, compiled by Numba.

Kernels take scalars, contiguous arrays and named tuples of these, and fill arrays that they are given. They know no
class of ours and check nothing. Numba freezes module globals into cached code, so whatever may change is an argument.
"""

from __future__ import annotations

import gc
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import config, njit, types
from numba.core import event
from numba.core.runtime import rtsys

from cepts.progress import Stopwatch, compile_listeners

__all__ = [
    "CACHING",
    "allocating_kernel",
    "cache_directory",
    "compile_seconds",
    "compiled_kernels",
    "kernel",
    "piece",
    "vector_kernel",
]


# Numba checks the arguments; to the type checker a kernel takes anything.
Kernel = Callable[..., Any]
IMPORTS = re.compile(rb"^from (cepts\.kernels\.\w+) import", re.MULTILINE)
# Kernels are never called from C; a wrapper for C would have each of them compiled twice.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# The caller keeps all arrays alive, so reference counts are not needed. Without them compiling takes a tenth less time.
FIXED_MEMORY: dict[str, Any] = {"_nrt": False}


def kernel(function: Kernel) -> Kernel:
    """Compile `function` on first use and cache the result; releases the GIL, divides as NumPy does.

    It may only fill arrays that it is given; a function that makes arrays needs `allocating_kernel`.
    """
    return _compiled(function, **FIXED_MEMORY)


def allocating_kernel(function: Kernel) -> Kernel:
    """Compile as `kernel` does; `function` may also make arrays."""
    return _compiled(function)


def vector_kernel(function: Kernel) -> Kernel:
    """Compile as `kernel` does, and let the compiler reorder sums and fuse multiply-adds, so that it can use
    vector instructions. Infinities and NaN keep their meaning.

    Kernels that call it hold a copy of it. Otherwise a process that has just compiled both would call the one that was
    compiled alone, and a process that finds both in the cache the one that was compiled with the caller; they may round
    differently.
    """
    return _compiled(function, fastmath={"contract", "reassoc", "nsz", "arcp"}, forceinline=True, **FIXED_MEMORY)


def piece(function: Kernel) -> Kernel:
    """Make `function` a part of every kernel that calls it, compiled with that kernel's options, never on its own."""
    inlined: Kernel = njit(inline="always", **OPTIONS)(function)
    return inlined


def _compiled(function: Kernel, **options: Any) -> Kernel:
    compiled: Any = njit(cache=CACHING, **OPTIONS, **options)(function)
    # Numba checks a cached kernel against its own file only, although the kernels that it calls are compiled into it.
    cached: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(cached, "_version"):
        # What another version wrote is not even unpickled: it may name classes that are no more.
        cached._version = f"{cached._version} {digest_of(function.__module__)}"
        compiled._cache.load_overload = partial(_load_compiled, compiled)
    kernel: Kernel = compiled
    return kernel


def _load_compiled(compiled: Any, signature: Any, context: Any) -> Any:
    """Load a kernel from the cache, without all that Numba loads in order to compile.

    That takes a tenth of a second, and a compiled kernel needs at most the part that makes arrays. If there is none in
    the cache, Numba loads the rest before it compiles.
    """
    if compiled.targetoptions.get("_nrt", True):
        rtsys.initialize(context)
    cache = compiled._cache
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(signature, context)


def _load_numba() -> None:
    """Load the part of Numba that imports all of SciPy's linear algebra, to see whether it is there, without that.

    It is there, because cepts depends on SciPy, and it is imported as soon as compiled code needs it. Compiling would
    otherwise begin a tenth of a second later.
    """
    from numba.np import linalg

    check = getattr(linalg, "ensure_blas", None)
    if check is None:  # another version of Numba
        return
    linalg.ensure_blas = lambda: None
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = check


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


# -- where compiled kernels are kept ---------------------------------------------------------------------------------


def find_cache(preferred: str = "") -> str | None:
    """The first writable directory for compiled kernels: `preferred`, if given; beside the kernels (returned as "");
    the user's cache; a private directory among the temporary files. None if none is writable.
    """
    if preferred and _is_writable(Path(preferred)):
        return preferred
    if _is_writable(Path(__file__).with_name("__pycache__")):
        return ""
    own = Path(tempfile.gettempdir(), f"cepts-kernels-{os.getuid() if hasattr(os, 'getuid') else 'user'}")
    for directory in (_user_cache(), own):
        if directory is not None and _is_writable(directory) and (directory != own or _is_private(own)):
            return str(directory)
    return None


def _user_cache() -> Path | None:
    root = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return Path(root) / "cepts" if root else Path.home() / ".cache" / "cepts"
    except RuntimeError:  # the home directory is unknown
        return None


def _is_writable(directory: Path) -> bool:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def _is_private(directory: Path) -> bool:
    """Whether nobody else can write there: Numba unpickles what it finds, and anyone may write to /tmp."""
    found = directory.lstat()
    return not hasattr(os, "getuid") or (
        stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
    )


_numba: Any = config
_found = find_cache(_numba.CACHE_DIR)
CACHING = _found is not None
_numba.CACHE_DIR = _found or ""


def cache_directory() -> Path:
    """Where compiled kernels are kept."""
    return Path(_found) if _found else Path(__file__).with_name("__pycache__")


# -- time spent on compiling -----------------------------------------------------------------------------------------


class Compiling(event.Listener):
    """Counts compiled kernels and seconds, and stops garbage collection, which would take a fifth of the time.

    Numba compiles in one thread at a time and calls its listeners before it lets another thread compile.
    """

    def __init__(self) -> None:
        self.kernels = 0
        self.depth = 0
        self.started = 0.0
        self.collecting = False

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"]
        if function.__module__.startswith(__name__):
            self.kernels += 1
            for notify in tuple(compile_listeners):
                notify(f"{function.__module__.rpartition('.')[2]}.{function.__name__}")
        if self.depth == 0:
            _load_numba()
            self.started = time.perf_counter()
            self.collecting = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        function = event.data["dispatcher"]
        if function.__module__.startswith(__name__) and not function.targetoptions.get("_nrt", True):
            _check_results(function)
        self.depth -= 1
        if self.depth == 0:
            if self.collecting:
                gc.enable()
            Stopwatch.not_counted += time.perf_counter() - self.started


def _check_results(function: Any) -> None:
    """Refuse a kernel without reference counts that returns arrays: its caller would free them."""
    for overload in function.overloads.values():
        result = overload.signature.return_type
        parts: Any = result if isinstance(result, types.BaseTuple) else (result,)
        if any(isinstance(part, types.Buffer | types.BaseTuple) for part in parts):
            raise TypeError(f"{function.__name__} returns arrays, so it must be an `allocating_kernel`.")


_compiling = Compiling()
event.register("numba:compile", _compiling)


def compile_seconds() -> float:
    """Seconds that this process has spent on compiling, whichever threads waited for it."""
    return Stopwatch.not_counted


def compiled_kernels() -> int:
    """Number of kernels that this process has compiled; 0 where the cache had all of them."""
    return _compiling.kernels
