"""Runs the commands and the Python code that the pages show, and compares what they print with what the pages say.

    python docs/sessions.py [PAGE]...            reports where a page is wrong
    python docs/sessions.py --write [PAGE]...    puts what is printed into the pages

In a block marked `console`, a line that starts with `$ ` is a command and the lines after it are what it prints,
results and log output alike. The commands of a page run one after the other in a directory that has nothing but what
`cepts sample examples` writes there, with the `cepts` and `python` of the environment that runs this script. Then the
blocks marked `python` run there in one process, in which warnings are errors; a block marked `output` right after one
of them is what it prints.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = "cepts sample examples"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```python\n(.*?)^```\n(?:\n?```output\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
# Runs each block of standard input, a JSON list, and ends what it prints with a mark.
RUN_BLOCKS = """
import json, sys
names = {"__name__": "__main__"}
for number, (block, mark) in enumerate(json.load(sys.stdin), start=1):
    exec(compile(block, f"<python block {number}>", "exec"), names)
    print(mark, flush=True)
"""
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
SECONDS = re.compile(r"\d[\d,.]* s\b")
DIGEST = re.compile(r"\bsha256:[0-9a-f]{8}\b")


@dataclass(frozen=True, slots=True)
class Shown:
    """A command or a block of Python, the output that a page shows, and where it stands there."""

    command: str
    output: str
    start: int
    stop: int


def shown_in(text: str) -> list[Shown]:
    """Every command of a page with its output."""
    found = []
    for block in BLOCK.finditer(text):
        commands = list(re.finditer(r"^\$ (.*)\n", block[1], re.MULTILINE))
        ends = [command.start() for command in commands[1:]] + [len(block[1])]
        for command, end in zip(commands, ends, strict=True):
            start = block.start(1) + command.end()
            stop = block.start(1) + end
            found.append(Shown(command[1], text[start:stop], start, stop))
    return found


def code_in(text: str) -> list[Shown]:
    """Every block of Python of a page; where no output is shown, it stands nowhere."""
    return [
        Shown(found[1], found[2] or "", *(found.span(2) if found[2] is not None else (-1, -1)))
        for found in CODE.finditer(text)
    ]


def pages() -> list[str]:
    """The pages that show what something prints: README and those of the site that were not made by a script."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in found
        if "_build" not in path.parts
    }
    return [page for page, text in texts.items() if "<!-- Made by" not in text and (shown_in(text) or code_in(text))]


def run(page: str, text: str, directory: Path) -> list[tuple[Shown, str]]:
    """What a page shows, and what is printed when its commands and its Python run in `directory`."""
    paths = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    environment = {**os.environ, "PATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"}
    commands = shown_in(text)
    if not any(one.command.startswith(SAMPLE) for one in commands):
        subprocess.run(["sh", "-c", f"{SAMPLE} --quiet"], cwd=directory, env=environment, check=True)
    printed = []
    for one in commands:
        done = subprocess.run(
            ["sh", "-c", one.command],
            cwd=directory,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        # Which command comes first, and so has to compile, is chance; so is whether one takes so long that it reports.
        lines = done.stdout.decode("utf-8").splitlines(keepends=True)
        output = "".join(line for line in lines if not line.startswith(("Compiling kernels", "progress ")))
        printed.append((one, output if output.endswith("\n") or not output else output + "\n"))
    return printed + _run_blocks(page, code_in(text), directory, environment)


def _run_blocks(
    page: str, blocks: list[Shown], directory: Path, environment: dict[str, str]
) -> list[tuple[Shown, str]]:
    if not blocks:
        return []
    marks = [f"<end of block {number} of {page}>\n" for number in range(len(blocks))]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN_BLOCKS],
        cwd=directory,
        env=environment,
        input=json.dumps([(one.command, mark.rstrip()) for one, mark in zip(blocks, marks, strict=True)]),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    printed, rest = [], done.stdout
    for one, mark in zip(blocks, marks, strict=True):
        output, ended, rest = rest.partition(mark)
        if not ended:
            raise BlockError(f"{page}: this Python fails:\n{one.command}\n{done.stderr}")
        printed.append((one, output if one.start >= 0 else ""))
    return printed


class BlockError(Exception):
    """Python code of a page that does not run."""


def same(shown: str, printed: str) -> bool:
    """Whether two outputs say the same.

    Times are free. Other processors add floats in another order, so fractions and large numbers may differ a little,
    and digests of signatures that hold such a number altogether; words, small numbers and the number of lines may not.
    """
    return all(
        _same_line(*(DIGEST.sub("_", SECONDS.sub("_ s", line)) for line in (ours, theirs)))
        for ours, theirs in zip_longest(shown.splitlines(), printed.splitlines(), fillvalue="(no such line)")
    )


def _same_line(ours: str, theirs: str) -> bool:
    if [part.split() for part in NUMBER.split(ours)] != [part.split() for part in NUMBER.split(theirs)]:
        return False
    pairs = zip(NUMBER.findall(ours), NUMBER.findall(theirs), strict=True)
    return all(one == other or _close(one, other) for one, other in pairs)


def _close(one: str, other: str) -> bool:
    first, second = (float(number.replace(",", "")) for number in (one, other))
    gap, size = abs(first - second), max(abs(first), abs(second))
    if "." in one and "." in other:
        return gap <= max(0.02, 0.02 * size)
    return size >= 100 and gap <= 0.02 * size


def faults(page: str) -> list[str]:
    """Where what `page` shows is not what is printed."""
    with TemporaryDirectory() as directory:
        found = run(page, (ROOT / page).read_text(encoding="utf-8"), Path(directory))
    return [
        f"{page} shows for `{one.command}`:\n{one.output}but it prints:\n{output}"
        for one, output in found
        if not same(one.output, output)
    ]


def rewrite(page: str) -> None:
    """Put what is printed into `page`, where it says something else."""
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    with TemporaryDirectory() as directory:
        found = run(page, text, Path(directory))
    for one, output in sorted(found, key=lambda shown: shown[0].start, reverse=True):
        if one.start >= 0 and SECONDS.sub("", one.output) != SECONDS.sub("", output):
            text = text[: one.start] + output + text[one.stop :]
    path.write_text(text, encoding="utf-8")


def main() -> int:
    """Check the pages, or put them right."""
    named = [argument for argument in sys.argv[1:] if argument != "--write"] or pages()
    if "--write" in sys.argv[1:]:
        for page in named:
            rewrite(page)
        return 0
    found = [fault for page in named for fault in faults(page)]
    print("\n".join(found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
