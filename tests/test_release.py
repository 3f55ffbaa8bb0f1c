"""What is released: the same bytes each time, complete, with licences, workflows and metadata that agree."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest

import cepts
from cepts.pipeline.doctor import EXTRAS, REQUIRED
from cepts.pipeline.sample import sample_files

ROOT = Path(__file__).resolve().parent.parent
# One worker builds what is to be released, and then runs all of these tests.
pytestmark = pytest.mark.xdist_group("release")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
JUNK = ("__pycache__", "*.py[cod]", "*.nb[ic]", ".*_cache", ".hypothesis", ".venv", "*.tmp")


def build(source, directory, *targets):
    """Build what is to be released from `source`, as `make build` does."""
    for module in ("hatchling", "hatch_fancy_pypi_readme"):
        pytest.importorskip(module, reason=f"{module} is not installed: make build installs it")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(directory), *targets]
    subprocess.run(command, cwd=source, env=environment, capture_output=True, check=True)
    return {path.suffix: path for path in directory.iterdir()}


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The source in another place, with other times and without git."""
    copy = tmp_path_factory.mktemp("source") / "elsewhere"
    wanted = ("src", *PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"], "pyproject.toml", ".gitignore")
    for name in dict.fromkeys(wanted):
        path = ROOT / name
        if path.is_dir():
            ignored = shutil.ignore_patterns(*JUNK)
            shutil.copytree(path, copy / name, symlinks=True, ignore=ignored, copy_function=shutil.copy)
        elif path.exists():
            copy.mkdir(exist_ok=True)
            shutil.copy(path, copy / name)
    return copy


@pytest.fixture(scope="module")
def released(copied, tmp_path_factory):
    """The wheel and the sdist, by suffix."""
    return build(copied, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def unpacked(released, tmp_path_factory):
    """The files of the wheel, as an installation has them."""
    home = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(released[".whl"]) as wheel:
        wheel.extractall(home)
    return home


def test_builds_are_reproducible(released, tmp_path):
    """From the checkout and from a copy with other times; and the wheel also from the sdist."""
    again = build(ROOT, tmp_path / "again")
    assert {path.name for path in again.values()} == {path.name for path in released.values()}
    for suffix, path in released.items():
        assert path.read_bytes() == again[suffix].read_bytes(), path.name
    with tarfile.open(released[".gz"]) as sdist:
        sdist.extractall(tmp_path, filter="data")
    (source,) = tmp_path.glob("cepts-*")
    wheel = build(source, tmp_path / "of-sdist", "-t", "wheel")[".whl"]
    assert wheel.read_bytes() == released[".whl"].read_bytes()


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(unpacked):
    def below(root):
        return {
            path.relative_to(root).as_posix()
            for path in root.rglob("*")
            if path.is_file() and not any(fnmatch(part, junk) for part in path.parts for junk in JUNK)
        }

    assert below(unpacked / "cepts") == below(ROOT / "src" / "cepts")


def test_the_page_of_an_index_has_links_that_work_there(unpacked):
    (metadata,) = unpacked.glob("cepts-*.dist-info/METADATA")
    text = metadata.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(links) > 20
    assert [link for link in links if not link.startswith("https://")] == []
    raw = "https://raw.githubusercontent.com/cepts/cepts"
    assert f"({raw}/v{cepts.__version__}/docs/figures/pair.svg)" in text


def test_the_wheel_alone_writes_the_examples(unpacked, tmp_path):
    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "cepts", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(unpacked)},
            capture_output=True,
            text=True,
            check=True,
        )

    found = json.loads(run("doctor", "--json").stdout)
    assert Path(found["directory"]) == unpacked / "cepts"
    assert run("sample", "examples", "--quiet").stderr == ""
    for name in sample_files():
        assert (tmp_path / "examples" / name).read_bytes() == (ROOT / "examples" / name).read_bytes(), name


def test_examples_of_the_checkout_are_those_of_the_package():
    """All data and all scripts for users are in both; what makes the data, and files for clusters, are here alone."""
    here = {path.relative_to(ROOT / "examples").as_posix() for path in (ROOT / "examples").rglob("*") if path.is_file()}
    here = {name for name in here if not any(fnmatch(part, junk) for part in Path(name).parts for junk in JUNK)}
    alone = {name for name in here if name == "README.md" or fnmatch(name, "make_*.py") or name.endswith(".ipynb")}
    alone |= {name for name in here if name.startswith("cluster/")}
    assert here - alone == set(sample_files())


def test_shipped_data_is_small():
    """What `cepts sample --help` says of its size, and a limit on the package."""
    size = sum(len(entry.read_bytes()) for entry in sample_files().values())
    text = (ROOT / "src" / "cepts" / "cli" / "sample.py").read_text(encoding="utf-8")
    assert f"They are {size / 1_000_000:.1f} MB:" in text


def test_the_wheel_is_small(released):
    assert released[".whl"].stat().st_size < 20_000_000


# -- licences ----------------------------------------------------------------------------------------------------------


def patterns_of(table, column=0):
    """The file names in a column of a Markdown table, as patterns; `name, other` and code marks are allowed."""
    rows = [line.strip("| ").split("|") for line in table.splitlines() if line.startswith("|")][2:]
    return [
        name
        for row in rows
        for name in re.split(r"[,\s]+(?:and the scripts)?\s*", row[column].replace("`", ""))
        if name
    ]


def test_every_example_file_has_its_terms():
    notice = (ROOT / "src" / "cepts" / "sample" / "NOTICE.md").read_text(encoding="utf-8")
    patterns = set(patterns_of(notice))
    texts = {"NOTICE.md", "MPL-2.0.txt"}
    bare = {name for name in sample_files() if name not in texts and not name.endswith(".py") and name not in patterns}
    assert bare == set()


def test_all_shipped_data_is_in_the_table_of_terms():
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    english = ROOT / "src" / "cepts" / "phrases" / "english"
    names = {
        path.name.removesuffix(".safetensors") for path in english.iterdir() if not path.name.startswith(("_", "."))
    }
    for name in names - {"NOTICE.md", "WORDNET-LICENSE.txt"}:
        assert re.search(rf"^\| phrases/english/.*\b{re.escape(name)}\b", notice, re.MULTILINE), name
    kinds = {Path(name).suffix for name in sample_files()} - {".md", ".txt"}
    rows = "\n".join(line for line in notice.splitlines() if line.startswith("| sample/"))
    assert all(kind in rows or kind == ".tsv" for kind in kinds), kinds
    for licence in ("MPL-2.0", "CC-BY-3.0", "CC0-1.0", "PDDL-1.0"):
        assert licence in rows + notice
        assert licence in PROJECT["project"]["license"]


# -- metadata ----------------------------------------------------------------------------------------------------------


def test_doctor_knows_the_dependencies():
    project = PROJECT["project"]

    def names(requirements):
        return {re.match(r"[\w.-]+", one)[0] for one in requirements if applies(one)}

    def applies(requirement):
        below = re.search(r"; python_version < '3\.(\d+)'$", requirement)
        return below is None or sys.version_info < (3, int(below[1]))

    assert names(project["dependencies"]) | {"llvmlite"} == set(REQUIRED)
    extras = {name: needed for name, needed in project["optional-dependencies"].items() if name not in ("dev", "docs")}
    assert {package for needed in extras.values() for package in names(needed)} == {extra.package for extra in EXTRAS}


def test_versions_agree():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (\S+)$", citation, re.MULTILINE)[1] == cepts.__version__


def test_the_five_papers_are_cited():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    references = citation.split("\nreferences:\n")[1]
    titles = re.findall(r"^    title: (.*)$", references, re.MULTILINE)
    assert len(titles) == 5
    # The pages call each paper by the same names.
    models = " ".join((ROOT / "docs" / "explanation" / "overview.md").read_text(encoding="utf-8").lower().split())
    for title in titles:
        assert title.lower() in models, title


@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        ("vendor.github-workflows", WORKFLOWS),
        ("vendor.citation-file-format", [ROOT / "CITATION.cff"]),
    ],
)
def test_files_for_others_are_valid(schema, paths):
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed: pip install check-jsonschema")
    assert paths
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, "--default-filetype", "yaml"]
    done = subprocess.run([*command, *map(str, paths)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_workflows_run_what_there_is():
    """Their make targets exist, and they test every Python that the package says it runs on."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    classifiers = re.findall(r":: Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert classifiers[0] == oldest
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        called = {name for line in re.findall(r"\bmake ([\w -]+)$", text, re.MULTILINE) for name in line.split()}
        assert called <= targets
        assert re.search(r"^ +python: \[(.*)\]$", text, re.MULTILINE)[1].replace('"', "").split(", ") == classifiers
        systems = re.findall(r"os: \[(.*)\]", text)
        assert "ubuntu-latest, macos-latest, windows-latest" in systems
