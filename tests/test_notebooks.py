"""The notebooks run, and show what is stored in them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "docs" / "notebooks.py"
NOTEBOOKS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "notebooks").glob("*.ipynb"))
LARGEST = 250_000  # bytes
LINK = re.compile(r"\]\(([^)\s]+)\)")

needs_jupyter = pytest.mark.skipif(
    not all(map(find_spec, ("ipykernel", "matplotlib", "nbclient"))), reason="needs ipykernel, matplotlib and nbclient"
)


def run(*arguments):
    """The script in a process of its own, because Jupyter's packages warn of all kinds of things."""
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def notebook(*cells):
    """A notebook of code cells, each with its source and the output that is stored in it."""
    made = [
        {
            "cell_type": "code",
            "execution_count": 7,
            "id": f"random-{number}",
            "metadata": {"collapsed": False},
            "outputs": [{"output_type": "stream", "name": "stdout", "text": [text]}] if text else [],
            "source": source,
        }
        for number, (source, text) in enumerate(cells)
    ]
    return {"cells": made, "metadata": {"kernelspec": {"name": "other"}}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def file_of(tmp_path):
    """Writes a notebook of cells to a file."""

    def write(*cells):
        path = tmp_path / "some.ipynb"
        path.write_text(json.dumps(notebook(*cells)), encoding="utf-8")
        return path

    return write


# -- the notebooks -----------------------------------------------------------------------------------------------------


def test_there_is_a_notebook_for_each_room():
    assert [Path(name).stem for name in NOTEBOOKS] == ["cepts", "lm", "phrases", "spaces", "words"]


@needs_jupyter
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_shows_what_is_stored_in_it(name):
    done = run(name)
    remedy = f"If this is right: python docs/notebooks.py --write {name}"
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{remedy}"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_stored_notebook_is_small_and_says_nothing_of_the_machine_that_ran_it(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert len(text.encode("utf-8")) < LARGEST
    stored = json.loads(text)
    assert stored["metadata"]["kernelspec"]["name"] == "python3"
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert [cell["id"] for cell in stored["cells"]] == [f"cell-{n + 1}" for n in range(len(stored["cells"]))]
    assert all(not cell["metadata"] for cell in stored["cells"])
    outputs = [output for cell in code for output in cell["outputs"]]
    assert all(output.get("name") != "stderr" for output in outputs)
    assert any("image/png" in output.get("data", {}) for output in outputs)
    shown = [output.get("text") or output["data"]["text/plain"] for output in outputs]
    assert not re.search(r"/(tmp|home|root|Users)/", json.dumps(shown))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_links_of_a_notebook_lead_somewhere(name):
    cells = json.loads((ROOT / name).read_text(encoding="utf-8"))["cells"]
    pages = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    assert pages[0].startswith("# ")
    for target in LINK.findall("\n".join(pages)):
        assert ((ROOT / name).parent / target.partition("#")[0]).exists(), target


# -- the checker -------------------------------------------------------------------------------------------------------


@needs_jupyter
def test_a_wrong_output_is_found(file_of):
    path = file_of(("print('1 link, AER 2.45')", "1 link, AER 2.46\n"), ("print('right')", "wrong\n"), ("1 + 1", ""))
    done = run(path)
    assert done.returncode == 1
    assert "cell 1" not in done.stdout  # the difference is within the tolerance
    assert "cell 2 has stored: stdout\nwrong\nbut it shows: stdout\nright\n" in done.stdout
    assert "cell 3 has stored: nothing\nbut it shows: result\n2\n" in done.stdout


@needs_jupyter
def test_a_failing_cell_is_found_and_not_stored(file_of):
    path = file_of(("print('first')", "first\n"), ("raise ValueError('nothing')", ""), ("print('last')", "last\n"))
    before = path.read_bytes()
    for arguments in ([path], ["--write", path]):
        done = run(*arguments)
        assert done.returncode == 1
        assert "cell 2 fails:" in done.stdout
        assert "ValueError: nothing" in done.stdout
        assert "cell 3" not in done.stdout
        assert path.read_bytes() == before


@needs_jupyter
def test_fresh_outputs_are_stored_without_what_differs_from_run_to_run(file_of):
    source = "import os\nimport sys\nprint(*sorted(os.listdir()))\nprint('to stderr', file=sys.stderr)\nprint('again')"
    path = file_of((source, ""), ("sys.executable == " + repr(sys.executable), ""))
    assert run("--write", path).returncode == 0
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert stored["metadata"]["kernelspec"]["name"] == "python3"
    first, second = stored["cells"]
    assert (first["id"], first["execution_count"], first["metadata"]) == ("cell-1", 1, {})
    shown = {output["name"]: "".join(output["text"]) for output in first["outputs"]}
    assert shown["stdout"].startswith("examples\n") and shown["stderr"] == "to stderr\n"
    assert second["outputs"][0]["data"]["text/plain"] == ["True"]
    assert second["outputs"][0]["execution_count"] == 2
    once = path.read_bytes()
    assert run("--write", path).returncode == 0
    assert path.read_bytes() == once


def test_pictures_are_compared_by_being_there(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import notebooks

    def of(*outputs):
        return {"cells": [{"cell_type": "code", "source": "", "outputs": list(outputs)}]}

    def picture(data, kind="image/png"):
        return {"output_type": "display_data", "data": {kind: data, "text/plain": f"<Figure {data}>"}}

    def text(text):
        return {"output_type": "stream", "name": "stdout", "text": text}

    assert notebooks.differences("x", of(picture("abc")), of(picture("xyz"))) == []
    assert notebooks.differences("x", of(picture("abc")), of()) != []
    assert notebooks.differences("x", of(), of(picture("abc", "image/svg+xml"))) != []
    assert notebooks.differences("x", of(picture("abc")), of(text("abc"))) != []
    assert notebooks.differences("x", of(text("a\n"), text("b\n")), of(text(["a\n", "b\n"]))) == []
    assert notebooks.differences("x", of(text("a\n"), picture("x"), text("b\n")), of(text("a\nb\n"))) != []
