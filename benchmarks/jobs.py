"""Whole jobs of aligners, run as commands: the peers, and `cepts align`."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import hansards
import peers
from cepts.data import Alignments
from cepts.extract import combine
from cepts.io import read_links

__all__ = [
    "DEFAULT",
    "HEURISTICS",
    "JOBS",
    "RIVALS",
    "Found",
    "Job",
    "align_command",
    "cepts_job",
    "fresh_kernels",
    "peer_job",
]

HEURISTICS = ("grow-diag-final-and", "intersection")
RIVALS = ("eflomal", "fast_align")
DEFAULT = "**`cepts align`**"

# Of the link files that were written so far.
DIGESTS: dict[Path, bytes] = {}

Found = Mapping[str, Alignments]


@dataclass(frozen=True, slots=True)
class Job:
    """A whole job, run as a command.

    Attributes
    ----------
    row
        What `--rows` calls it.
    label
        Its name in the table of costs.
    run
        Gives what it used, and the test pairs' links for each way to combine them.
    scored_as
        Its name in the table of accuracy; None where other rows have its links already.
    varies
        Whether its links differ from run to run.
    ours
        Whether it is a job of cepts, whose kernels must be compiled before it is timed.
    """

    row: str
    label: str
    run: Callable[[hansards.TrainingText, Path], tuple[peers.Cost, Found]]
    scored_as: str | None = None
    varies: bool = False
    ours: bool = False


def peer_job(name: str, runner: Callable[[Path, Path, Path], peers.PeerRun]) -> Job:
    """The job of a peer, whose two directions are combined here."""

    def run(text: hansards.TrainingText, work: Path) -> tuple[peers.Cost, Found]:
        used = runner(text.lower_source, text.lower_target, work)
        forward, reverse = (
            hansards.part(read_links(used[direction], format="pharaoh", sentences=text.pairs), hansards.TEST)
            for direction in ("forward", "reverse")
        )
        return used, {method: combine(forward, reverse, method=method) for method in HEURISTICS}

    return Job(name, name, run, name, varies=True)


def cepts_job(row: str, label: str, *options: str, scored_as: str | None = None, method: str = "agreement") -> Job:
    """`cepts align` with `options`, which make links by `method`."""

    def run(text: hansards.TrainingText, work: Path) -> tuple[peers.Cost, Found]:
        links = work / f"cepts.{row}.links"
        command = align_command(text.source, text.target, links, *options)
        used = peers.measure(command, workdir=work, name=f"cepts.{row}")
        check_same(links, row)
        return used, {method: hansards.part(read_links(links, sentences=text.pairs), hansards.TEST)}

    return Job(row, label, run, scored_as, ours=True)


def align_command(source: Path, target: Path, links: Path, *options: str) -> list[str]:
    """`cepts align` as a command, of the cepts that runs this."""
    files = [str(path.resolve()) for path in (source, target, links)]
    return [sys.executable, "-m", "cepts", "align", *files[:2], "-o", files[2], "--quiet", *options]


def check_same(links: Path, row: str) -> None:
    """Stop where a job's links differ from those of an earlier run: threads must change nothing."""
    digest = hashlib.sha256(links.read_bytes()).digest()
    if DIGESTS.setdefault(links, digest) != digest:
        sys.exit(f"Two runs of {row} gave different links; the number of threads must not change them.")


@contextmanager
def fresh_kernels() -> Iterator[None]:
    """Keep compiled kernels in a place of their own, empty at first."""
    name = "NUMBA_CACHE_DIR"
    before = os.environ.get(name)
    with tempfile.TemporaryDirectory(prefix="cepts-kernels-") as directory:
        os.environ[name] = directory
        try:
            yield
        finally:
            del os.environ[name]
            if before is not None:
                os.environ[name] = before


JOBS = [
    peer_job("eflomal", peers.run_eflomal),
    peer_job("fast_align", peers.run_fast_align),
    cepts_job("default", f"{DEFAULT}, 1 thread", "--threads", "1", scored_as=DEFAULT),
    cepts_job("default", f"{DEFAULT}, 2 threads", "--threads", "2"),
    cepts_job("hmm", "`cepts align --model hmm`, 1 thread", "--model", "hmm", "--threads", "1"),
    cepts_job("ibm1", "`cepts align --model ibm1`, 1 thread", "--model", "ibm1", "--threads", "1"),
]
