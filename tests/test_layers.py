"""The layers of the house, read from the source: who may import whom, and who may print, exit or compile."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import cepts

ROOT = Path(cepts.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

LAYERS = {
    "_version": 0,
    "names": 0,
    "atomic": 1,
    "data": 1,
    "errors": 1,
    "estimator": 1,
    "progress": 1,
    "signature": 1,
    "kernels": 2,
    "io": 2,
    "store": 2,
    "engine": 3,
    "extract": 4,
    "factor": 4,
    "words": 5,
    "phrases": 5,
    "spaces": 5,
    "lm": 5,
    "encoders": 5,
    "tuning": 5,
    "evaluate": 6,
    "pipeline": 7,
    "cli": 8,
    "view": 8,
    "plot": 8,
    "sample": 9,  # scripts for users to read and run
    "__main__": 9,
}
MODELS = {"words", "phrases", "spaces", "lm", "encoders", "tuning"}
MAY_TALK = {"cli", "view", "plot", "sample", "__main__"}
PICKLES = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}


def part_of(path: Path) -> str:
    """The part of the house to which a file belongs: `words` for `words/models.py`, `errors` for `errors.py`."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imported(tree: ast.Module, package: tuple[str, ...], *, run: bool = False) -> list[tuple[str, int]]:
    """Every module that a file imports, at its top or inside a function, with the line.

    With `run`, not those that only a type checker sees.
    """
    found = []
    unseen = set()
    if run:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and name_of(node.test).endswith("TYPE_CHECKING"):
                unseen |= {inner for statement in node.body for inner in ast.walk(statement)}
    for node in ast.walk(tree):
        if node in unseen:
            continue
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*start, *(node.module.split(".") if node.module else ())))
            # `from cepts import io` imports the module cepts.io
            found += [(submodule(module, alias.name), node.lineno) for alias in node.names]
        elif isinstance(node, ast.Call) and name_of(node.func) in ("import_module", "__import__"):
            argument = node.args[0] if node.args else None
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                found.append((argument.value, node.lineno))
    return found


def submodule(module: str, name: str) -> str:
    """What `from module import name` imports: a module of that name where there is one, else the module itself."""
    if module == "cepts":
        return f"cepts.{name}"
    place = ROOT.joinpath(*module.split(".")[1:], name)
    found = module.startswith("cepts.") and (place.with_suffix(".py").exists() or (place / "__init__.py").exists())
    return f"{module}.{name}" if found else module


def name_of(node: ast.expr) -> str:
    """Dotted name of a called thing, without `importlib` and `builtins`."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="importlib" | "builtins"), attr=attribute):
            return attribute
        case ast.Attribute(value=value, attr=attribute):
            return f"{name_of(value)}.{attribute}"
    return ""


def package_of(path: Path) -> tuple[str, ...]:
    return ("cepts", *path.relative_to(ROOT).parts[:-1])


def parts_imported(path: Path, *, run: bool = False) -> list[tuple[str, int]]:
    return [
        (name.split(".")[1], line)
        for name, line in imported(tree_of(path), package_of(path), run=run)
        if name.startswith("cepts.") and not name.startswith("cepts.__version__")
    ]


def module_of(path: Path) -> str:
    """`cepts.words.jumps` for `words/jumps.py`, `cepts.words` for `words/__init__.py`."""
    return ".".join((*package_of(path), path.stem)).removesuffix(".__init__")


def modules_imported(path: Path, known: set[str]) -> set[str]:
    """Modules among `known` that a file imports, at its top or inside a function."""
    return {name for name, _ in imported(tree_of(path), package_of(path), run=True)} & known


def in_cycles(graph: dict[str, set[str]]) -> set[str]:
    """The modules that import themselves, by way of others."""

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        waiting = [*graph[start]]
        while waiting:
            module = waiting.pop()
            if module not in found:
                found.add(module)
                waiting += graph[module]
        return found

    return {module for module in graph if module in reached(module)}


def faults_of_layers(path: Path) -> list[str]:
    part = part_of(path)
    if part == "__init__":
        # What it offers beside the version it imports by name, when asked for (see the test of `import cepts`).
        ran = parts_imported(path, run=True)
        return [f"cepts/__init__.py:{line} imports {other}" for other, line in ran if other != "_version"]
    faults = []
    for other, line in parts_imported(path):
        where = f"{path.relative_to(ROOT)}:{line} imports {other}"
        if LAYERS.get(other, 0) > LAYERS.get(part, 9):
            faults.append(f"{where}, of a higher layer")
        elif part == "kernels" and other not in {"kernels", "progress"}:
            faults.append(f"{where}, but kernels know no type of ours")
        elif part in MODELS and other in (MODELS | {"io"}) - {part}:
            faults.append(f"{where}, but models import neither each other nor io")
    return faults


def faults_of_calls(path: Path) -> list[str]:
    """Printing and leaving outside of the command line; running or unpickling data anywhere."""
    faults = []
    talks = part_of(path) in MAY_TALK
    for node in ast.walk(tree_of(path)):
        name = name_of(node.func) if isinstance(node, ast.Call) else ""
        exits = name in ("sys.exit", "exit", "quit", "os._exit", "SystemExit", "os.abort")
        exits |= isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name) and node.exc.id == "SystemExit"
        if not talks and (name in ("print", "breakpoint", "input") or exits):
            faults.append(f"{path.relative_to(ROOT)}:{node.lineno} prints or exits")
        if name in ("eval", "exec", "compile"):
            faults.append(f"{path.relative_to(ROOT)}:{node.lineno} calls {name}")
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
            faults.append(f"{path.relative_to(ROOT)}:{node.value.lineno} allows pickles")
    return faults


def faults_of_private_names(path: Path) -> list[str]:
    """Imports of names that another module keeps for itself."""
    return [
        f"{path.relative_to(ROOT)}:{node.lineno} imports {alias.name}"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("cepts"))
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.startswith("__")
    ]


def test_every_part_has_a_layer():
    assert {part_of(path) for path in FILES} - {"__init__"} <= set(LAYERS)


@pytest.mark.parametrize("check", [faults_of_layers, faults_of_calls])
def test_no_file_breaks_the_rules(check):
    assert [fault for path in FILES for fault in check(path)] == []


def test_no_module_imports_itself_by_way_of_others():
    modules = {module_of(path): path for path in FILES}
    graph = {name: modules_imported(path, set(modules)) for name, path in modules.items()}
    assert in_cycles(graph) == set()


def test_numba_stays_in_kernels():
    users = {
        part_of(path)
        for path in FILES
        for name, _ in imported(tree_of(path), package_of(path))
        if name.split(".")[0] in ("numba", "llvmlite")
    }
    assert users <= {"kernels"}


def test_nothing_is_pickled():
    found = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in FILES
        for name, line in imported(tree_of(path), package_of(path))
        if name.split(".")[0] in PICKLES
    ]
    assert found == []


def test_only_console_knows_rich():
    users = {
        path.relative_to(ROOT).as_posix()
        for path in FILES
        for name, _ in imported(tree_of(path), package_of(path))
        if name.split(".")[0] == "rich"
    }
    assert users <= {"cli/console.py"}


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.split()


def test_import_cepts_is_quick_and_loads_nothing_heavy():
    code = (
        "import sys, time; start = time.perf_counter(); import cepts; print(time.perf_counter() - start); "
        "print(*(name for name in sys.modules if name.split('.')[0] in ('numpy', 'numba', 'scipy', 'click')))"
    )
    # The best of three, for machines that are busy.
    seconds, *heavy = min((run_python(code) for _ in range(3)), key=lambda words: float(words[0]))
    assert heavy == []
    assert float(seconds) < 0.2


def homes():
    """Each name that `cepts` offers, and the module that has it."""
    return {name: home for home, names in cepts._HOMES.items() for name in names.split()}


def test_cepts_offers_what_it_says():
    assert set(cepts.__all__) == {*homes(), "__version__"}
    assert set(cepts.__all__) <= set(dir(cepts))
    for name, home in homes().items():
        assert getattr(cepts, name) is getattr(importlib.import_module(home), name)
    for room in cepts._ROOMS:
        assert getattr(cepts, room) is importlib.import_module(f"cepts.{room}")
    with pytest.raises(AttributeError, match="no attribute 'HMMM'"):
        _ = cepts.HMMM


def test_a_type_checker_sees_what_cepts_offers():
    """The names stand twice in `cepts/__init__.py`; both lists must say the same."""
    seen = {
        alias.name: node.module
        for node in ast.walk(tree_of(ROOT / "__init__.py"))
        if isinstance(node, ast.ImportFrom) and node.module not in ("typing", "importlib", "cepts._version")
        for alias in node.names
    }
    assert seen == homes()


BAD = """
def f(data):
    from cepts.io.lines import _lines
    from cepts import io
    from ..pipeline import align
    import cepts.cli.score
    from .good import hidden
    print(eval(data), np.load(data, allow_pickle=True))
    raise SystemExit
"""


def test_the_rules_catch_what_breaks_them(tmp_path, monkeypatch):
    """The checks above could pass because they see nothing."""
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / "words" / "bad.py"
    path.parent.mkdir()
    path.write_text(BAD)
    assert [fault.split(" ", 1)[1] for fault in faults_of_private_names(path)] == ["imports _lines"]
    assert [fault.split(" ", 1)[1] for fault in faults_of_layers(path)] == [
        "imports io, but models import neither each other nor io",
        "imports io, but models import neither each other nor io",
        "imports pipeline, of a higher layer",
        "imports cli, of a higher layer",
    ]
    assert sorted(fault.split(" ", 1)[1] for fault in faults_of_calls(path)) == [
        "allows pickles",
        "calls eval",
        "prints or exits",
        "prints or exits",
    ]
    (tmp_path / "words" / "good.py").write_text(
        "def f():\n    from cepts.words import bad\n    from numpy import _core"
    )
    modules = {module_of(file): file for file in path.parent.iterdir()}
    graph = {name: modules_imported(file, set(modules)) for name, file in modules.items()}
    assert in_cycles(graph) == {"cepts.words.bad", "cepts.words.good"}
    assert in_cycles({"a": {"b"}, "b": {"c"}, "c": set(), "d": {"d"}}) == {"d"}


def test_a_job_on_words_loads_no_other_room():
    code = "import sys, cepts.pipeline; print(*(name for name in sys.modules if name.startswith('cepts.')))"
    loaded = {name.split(".")[1] for name in run_python(code)}
    assert "words" in loaded
    assert loaded.isdisjoint({"phrases", "spaces", "lm", "encoders", "evaluate", "kernels"})
