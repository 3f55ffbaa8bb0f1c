"""The command line as a user has it, and a small bitext to try it on."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest

from cepts.cli import main
from cepts.cli.console import COMPILING

PAIRS = 120


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """Stdout, whose last line must have its newline too."""
        assert not self.out or self.out.endswith("\n")
        return self.out.split("\n")[:-1]

    @property
    def error(self) -> str:
        """The one line of a failure that left nothing on stdout."""
        assert self.code in {1, 2}, self
        assert self.out == ""
        assert self.err.count("\n") == 1, self.err
        assert self.err.startswith("cepts: error: ")
        return self.err.removeprefix("cepts: error: ").rstrip("\n")


@pytest.fixture(autouse=True, scope="session")
def hear_interrupts() -> None:
    """Undo what a shell does to the jobs it starts in the background: they, and their children, ignore Ctrl-C."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def cepts(capfd, monkeypatch):
    """Run a command in this process, in which NumPy's warnings are errors: `cepts(*arguments, stdin=b"")`."""
    monkeypatch.delenv("CEPTS_DEBUG", raising=False)

    def cepts(*arguments: object, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        # Which command comes first, and so has to compile, is chance; so is how long that takes on a busy machine.
        by_chance = (COMPILING, "progress ")
        ran = Ran(code, out, "".join(line for line in err.splitlines(True) if not line.startswith(by_chance)))
        assert "Traceback" not in ran.err
        return ran

    return cepts


@pytest.fixture
def cepts_process():
    """Start a command as a process of its own, for signals, pipes and what happens when an interpreter ends."""
    started = []

    def start(*arguments: object, **options: object) -> subprocess.Popen:
        environment = {name: value for name, value in os.environ.items() if name != "CEPTS_DEBUG"}
        process = subprocess.Popen(
            [sys.executable, "-m", "cepts", *map(str, arguments)],
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment, **options},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def sentences() -> tuple[list[str], list[str]]:
    """The first pairs of the embedded sample."""
    sample = files("cepts") / "sample"
    english, french = (
        (sample / f"sample.{language}").read_text("utf-8").splitlines()[:PAIRS] for language in ("en", "fr")
    )
    return english, french


@pytest.fixture
def corpus(tmp_path, monkeypatch, sentences) -> Path:
    """A working directory with these pairs in `en` and `fr`, and nothing else."""
    monkeypatch.chdir(tmp_path)
    for name, lines in zip(("en", "fr"), sentences, strict=True):
        (tmp_path / name).write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path


@pytest.fixture(scope="session")
def trained(tmp_path_factory, sentences) -> Path:
    """A model of these pairs, with the links (`links`) and scores (`scores`) of its training beside it."""
    home = tmp_path_factory.mktemp("trained")
    for name, lines in zip(("en", "fr"), sentences, strict=True):
        (home / name).write_text("\n".join(lines) + "\n", "utf-8")
    names = [str(home / name) for name in ("en", "fr", "links", "scores", "model")]
    source, target, links, scores, model = names
    assert main(["align", source, target, "-q", "-o", links, "--scores", scores, "--save", model]) == 0
    return home / "model"
