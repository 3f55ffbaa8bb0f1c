"""Executes the notebooks and compares what their cells show with the outputs that are stored in them.

    python docs/notebooks.py [NOTEBOOK]...            says where a stored output is wrong
    python docs/notebooks.py --write [NOTEBOOK]...    stores what the cells show now

The cells of a notebook run in order in a fresh kernel, in a directory that has nothing but what `cepts sample examples`
writes there, with the Python that runs this script. Text is compared as `sessions.py` compares it. Pictures only have
to be there, because other versions of matplotlib draw other bytes. A cell that fails is a fault, and the outputs of its
notebook are then not stored.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from sessions import same

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = tuple(f"docs/notebooks/{room}.ipynb" for room in ("words", "cepts", "phrases", "spaces", "lm"))
SECONDS = 600  # that a cell may take, most of them for compiling
PICTURES = ("image/svg+xml", "image/png")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # of tracebacks
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

Json = dict[str, Any]


class Output(NamedTuple):
    """One output of a cell: `kind` is what it is, such as stdout, result, picture or error."""

    kind: str
    text: str = ""


def text_of(lines: str | list[str]) -> str:
    """A text as notebooks hold it: whole, or a list of lines."""
    return lines if isinstance(lines, str) else "".join(lines)


def outputs_of(cell: Json) -> list[Output]:
    """What a code cell shows."""
    found = []
    for output in joined(cell["outputs"]):
        match output["output_type"]:
            case "stream":
                found.append(Output(output["name"], output["text"]))
            case "error":
                found.append(Output("error", COLOURS.sub("", "\n".join(output["traceback"]))))
            case _ if any(kind in output["data"] for kind in PICTURES):
                found.append(Output("picture"))
            case _:
                found.append(Output("result", text_of(output["data"]["text/plain"])))
    return found


def joined(outputs: list[Json]) -> list[Json]:
    """The outputs of a cell, with texts in one piece that the kernel happened to send in several."""
    found: list[Json] = []
    for output in outputs:
        if output["output_type"] != "stream":
            found.append(output)
        elif found and found[-1].get("name") == output["name"]:
            found[-1]["text"] += text_of(output["text"])
        else:
            found.append({**output, "text": text_of(output["text"])})
    return found


def code_cells(notebook: Json) -> Iterator[tuple[int, Json]]:
    """The code cells, with their places among all cells from 1."""
    return ((place, cell) for place, cell in enumerate(notebook["cells"], 1) if cell["cell_type"] == "code")


def failures(name: str, notebook: Json) -> list[str]:
    """The cells of an executed notebook that failed."""
    return [
        f"{name}, cell {place} fails:\n{output.text}\n"
        for place, cell in code_cells(notebook)
        for output in outputs_of(cell)
        if output.kind == "error"
    ]


def differences(name: str, stored: Json, fresh: Json) -> list[str]:
    """Where `stored` does not show what `fresh`, the same notebook executed, shows."""
    found = []
    nothing = Output("nothing")
    for (place, before), (_, after) in zip(code_cells(stored), code_cells(fresh), strict=True):
        for ours, theirs in zip_longest(outputs_of(before), outputs_of(after), fillvalue=nothing):
            if ours.kind != theirs.kind or not same(ours.text, theirs.text):
                shown, printed = (f"{output.kind}\n{output.text.rstrip()}".rstrip() for output in (ours, theirs))
                found.append(f"{name}, cell {place} has stored: {shown}\nbut it shows: {printed}\n")
    return found


def executed(notebook: Json) -> Json:
    """The notebook with fresh outputs; cells after one that fails have none."""
    import nbformat
    from ipykernel.kernelspec import write_kernel_spec
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    fresh = nbformat.from_dict(normalised(notebook, outputs=False))
    with TemporaryDirectory() as place, TemporaryDirectory() as directory:
        # A kernel of this Python, whatever kernels the machine has, and nothing that a user has set up for theirs.
        write_kernel_spec(Path(place) / "kernels" / "python3")
        specs = KernelSpecManager(kernel_dirs=[str(Path(place) / "kernels")])
        manager = AsyncKernelManager(
            kernel_spec_manager=specs,
            connection_file=str(Path(place) / "kernel.json"),
            transport="ipc" if os.name == "posix" else "tcp",
        )
        environment = {
            **os.environ,
            "IPYTHONDIR": str(Path(place) / "ipython"),
            "MPLBACKEND": "module://matplotlib_inline.backend_inline",
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            # Where other tests run beside this, threads of BLAS wait for each other most of the time.
            **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        }
        sample = [sys.executable, "-m", "cepts", "sample", "examples", "--quiet"]
        subprocess.run(sample, cwd=directory, check=True)
        where = {"metadata": {"path": directory}}
        client = NotebookClient(fresh, km=manager, timeout=SECONDS, resources=where)
        with suppress(CellExecutionError):  # which the cell then has among its outputs
            client.execute(cleanup_kc=True, env=environment)
    return normalised(fresh)


def normalised(notebook: Json, *, outputs: bool = True) -> Json:
    """The notebook without what differs from run to run or from editor to editor, and without outputs if so wanted."""
    cells = []
    count = 0
    for place, cell in enumerate(notebook["cells"], 1):
        tags = cell["metadata"].get("tags")
        kept = {"cell_type": cell["cell_type"], "id": f"cell-{place}", "metadata": {"tags": tags} if tags else {}}
        kept["source"] = text_of(cell["source"]).strip("\n")
        if cell["cell_type"] == "code":
            count += 1
            kept["execution_count"] = count if outputs else None
            kept["outputs"] = joined(cell["outputs"]) if outputs else []
            for output in kept["outputs"]:
                if "execution_count" in output:
                    output["execution_count"] = count
                if "image/png" in output.get("data", {}):
                    output["data"]["image/png"] = with_palette(output["data"]["image/png"])
        cells.append(kept)
    return {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def with_palette(picture: str) -> str:
    """A PNG picture (base64) with at most 256 colours, which looks the same and takes a third of the space."""
    from PIL import Image

    with Image.open(BytesIO(b64decode(picture))) as image, BytesIO() as buffer:
        if image.mode == "P":
            return picture
        colours = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        colours.save(buffer, "PNG", optimize=True)
        return b64encode(buffer.getvalue()).decode("ascii")


def read(name: str) -> Json:
    """The notebook of a file, which is given from the root of the repository or as a path."""
    found: Json = json.loads((ROOT / name).read_text(encoding="utf-8"))
    return found


def write(name: str, notebook: Json) -> None:
    """Store a notebook."""
    import nbformat

    made = nbformat.from_dict(notebook)
    nbformat.validate(made)
    (ROOT / name).write_text(nbformat.writes(made) + "\n", encoding="utf-8", newline="\n")


def faults(name: str) -> list[str]:
    """Where a notebook fails, or its stored outputs are not what it shows."""
    stored = read(name)
    fresh = executed(stored)
    return failures(name, fresh) or differences(name, stored, fresh)


def rewrite(name: str) -> list[str]:
    """Store what a notebook shows now, unless it fails; returns the failures."""
    fresh = executed(read(name))
    failed = failures(name, fresh)
    if not failed:
        write(name, fresh)
    return failed


def main() -> int:
    """Check the notebooks, or put them right."""
    names = [argument for argument in sys.argv[1:] if argument != "--write"] or NOTEBOOKS
    act = rewrite if "--write" in sys.argv[1:] else faults
    found = [fault for name in names for fault in act(name)]
    print("\n".join(found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
