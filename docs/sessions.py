"""Runs the commands that the pages show and holds what they print against what the pages say.

    python docs/sessions.py [PAGE]...            says where a page is wrong
    python docs/sessions.py --write [PAGE]...    puts what the commands print into the pages

In a block marked `console`, a line that starts with `$ ` is a command and the lines after it are what it prints,
results and log output alike. The commands of a page run one after the other in a directory that has nothing but what
`cepts sample examples` writes there, with the `cepts` and `python` of the environment that runs this script.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/tutorial.md", "docs/formats.md")
SAMPLE = "cepts sample examples"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
SECONDS = re.compile(r"\d[\d,.]* s\b")
DIGEST = re.compile(r"\bsha256:[0-9a-f]{8}\b")


@dataclass(frozen=True, slots=True)
class Shown:
    """A command, the output that a page shows, and where it stands there."""

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


def run(commands: list[str], directory: Path) -> list[str]:
    """What the commands print when they run one after the other in `directory`."""
    paths = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    environment = {**os.environ, "PATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"}
    if not any(command.startswith(SAMPLE) for command in commands):
        subprocess.run(["sh", "-c", f"{SAMPLE} --quiet"], cwd=directory, env=environment, check=True)
    printed = []
    for command in commands:
        done = subprocess.run(
            ["sh", "-c", command],
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
        printed.append(output if output.endswith("\n") or not output else output + "\n")
    return printed


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
    """Where what `page` shows is not what its commands print."""
    shown = shown_in((ROOT / page).read_text(encoding="utf-8"))
    with TemporaryDirectory() as directory:
        printed = run([one.command for one in shown], Path(directory))
    return [
        f"{page} shows for `{one.command}`:\n{one.output}but it prints:\n{output}"
        for one, output in zip(shown, printed, strict=True)
        if not same(one.output, output)
    ]


def rewrite(page: str) -> None:
    """Put what the commands of `page` print into it, where it says something else."""
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    shown = shown_in(text)
    with TemporaryDirectory() as directory:
        printed = run([one.command for one in shown], Path(directory))
    for one, output in reversed(list(zip(shown, printed, strict=True))):
        if SECONDS.sub("", one.output) != SECONDS.sub("", output):
            text = text[: one.start] + output + text[one.stop :]
    path.write_text(text, encoding="utf-8")


def main() -> int:
    """Check the pages, or put them right."""
    pages = [argument for argument in sys.argv[1:] if argument != "--write"] or PAGES
    if "--write" in sys.argv[1:]:
        for page in pages:
            rewrite(page)
        return 0
    found = [fault for page in pages for fault in faults(page)]
    print("\n".join(found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
