"""Run the word aligners that cepts is compared with, in an environment of their own.

`run_eflomal`, `run_fast_align` and `run_thot` take two files of sentences and give both directions' links and their
cost. The peers are programs here, not libraries: nothing of theirs is imported into this process, and none is a
dependency of cepts (eflomal is under the GPL). They are installed from PyPI into `.bench-venv` on first use.

fast_align comes as `systran-align`, which trains as the command-line tool does but cannot write the links of
one direction. `fast_align_links.py` reads them off its tables, by the formula and with the tension of its
last iteration. That reading is not measured, so it costs the peer nothing.

Thot comes as `sil-thot`, a library; `thot_links.py` is the program that trains with it and writes its links.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

__all__ = [
    "Cost",
    "PeerRun",
    "environment",
    "join",
    "measure",
    "run_eflomal",
    "run_fast_align",
    "run_thot",
]

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".bench-venv"
REQUIREMENTS = (
    "eflomal==2.0.0",
    "systran-align==3.5.0",
    "sil-thot==3.5.3",
    "sacrebleu==2.6.0",
    "faiss-cpu==1.15.1",
    "scikit-learn==1.9.1",
    "numpy",
)

# A process inherits the peak memory of the one that starts it, so a small one stands between. What it
# measures includes every process that the command itself waited for. Bytecode is kept, as it is of installed
# packages.
LAUNCHER = """
import json, os, sys, time
report, *command = sys.argv[1:]
start = time.perf_counter()
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
child = os.posix_spawn(command[0], command, os.environ)
_, status, usage = os.wait4(child, 0)
wall = time.perf_counter() - start
unit = 2**20 if sys.platform == "darwin" else 2**10
seconds = {"user_seconds": usage.ru_utime, "system_seconds": usage.ru_stime, "wall_seconds": wall}
used = {"exit": os.waitstatus_to_exitcode(status), "peak_rss_mib": usage.ru_maxrss / unit, **seconds}
with open(report, "w") as file:
    json.dump(used, file)
"""

# What `fast_align -d -o -v` asks for, in the library's words; one call trains both directions.
FAST_ALIGN = """
import sys, systran_align
joined, forward, reverse = sys.argv[1:]
systran_align.generate_alignment_probabilities(
    joined, forward, reverse, verbose=True, iterations=5, favor_diagonal=True, optimize_tension=True,
    variational_bayes=True, alpha=0.01, diagonal_tension=4, prob_align_null=0.08, beam_threshold=-1e30)
"""


class Cost(TypedDict):
    """What a command used, its child processes included."""

    user_seconds: float
    system_seconds: float
    wall_seconds: float
    peak_rss_mib: float


class PeerRun(Cost):
    """Link files of both directions (Pharaoh, `source-target` from 0 in either) and what making them used."""

    forward: Path
    reverse: Path


def environment() -> Path:
    """Directory of the peers' programs; makes the environment when it is not there or not up to date."""
    stamp = ENVIRONMENT / "cepts-requirements.txt"
    wanted = "\n".join(REQUIREMENTS)
    programs = ENVIRONMENT / "bin"
    if stamp.is_file() and stamp.read_text() == wanted:
        return programs
    print(f"Installing {', '.join(REQUIREMENTS)} into {ENVIRONMENT} ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)], check=True)
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *REQUIREMENTS], check=True)
    stamp.write_text(wanted)
    return programs


def measure(command: list[str], *, workdir: Path, name: str) -> Cost:
    """Run `command`, its output going to `name`.log in `workdir`, and say what it used.

    The benchmarks measure cepts with this too, so that all are measured alike.
    """
    workdir = workdir.resolve()
    log, report = workdir / f"{name}.log", workdir / f"{name}.json"
    with log.open("wb") as output:
        launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(report), *command]
        subprocess.run(launcher, stdout=output, stderr=subprocess.STDOUT, cwd=workdir, check=True)
    used = json.loads(report.read_text())
    if used["exit"]:
        raise RuntimeError(f"{name} failed; the end of {log}:\n{log.read_text(errors='replace')[-2000:]}")
    return Cost(
        user_seconds=used["user_seconds"],
        system_seconds=used["system_seconds"],
        wall_seconds=used["wall_seconds"],
        peak_rss_mib=used["peak_rss_mib"],
    )


def run_eflomal(source: Path, target: Path, workdir: Path) -> PeerRun:
    """Links of `eflomal-align` with its defaults: model 3, three samplers, its own number of iterations."""
    programs = environment()
    workdir = workdir.resolve()
    forward, reverse = workdir / "eflomal.forward", workdir / "eflomal.reverse"
    command = [str(programs / "python"), str(programs / "eflomal-align"), "--overwrite"]
    files = {"-s": source.resolve(), "-t": target.resolve(), "-f": forward, "-r": reverse}
    command += [str(part) for pair in files.items() for part in pair]
    cost = measure(command, workdir=workdir, name="eflomal")
    return PeerRun(**cost, forward=forward, reverse=reverse)


def run_fast_align(source: Path, target: Path, workdir: Path) -> PeerRun:
    """Links of fast_align as `-d -o -v` gives them (the reverse: `-d -o -v -r`); its training is measured."""
    programs = environment()
    workdir = workdir.resolve()
    joined = workdir / "fast_align.input"
    join(source, target, joined)
    tables = [workdir / f"fast_align.{direction}.table" for direction in ("forward", "reverse")]
    python = str(programs / "python")
    cost = measure([python, "-c", FAST_ALIGN, *map(str, (joined, *tables))], workdir=workdir, name="fast_align")
    log = (workdir / "fast_align.log").read_text(errors="replace")
    links = []
    for direction, table, tension in zip(("forward", "reverse"), tables, _tensions(log), strict=True):
        links.append(workdir / f"fast_align.{direction}")
        script = [python, str(Path(__file__).with_name("fast_align_links.py"))]
        given = (direction, source, target, table, tension, links[-1])
        subprocess.run([*script, *map(str, given)], check=True)
    return PeerRun(**cost, forward=links[0], reverse=links[1])


def run_thot(source: Path, target: Path, workdir: Path, *, model: str = "ibm4") -> PeerRun:
    """Links of Thot's Model 4 (``ibm4``) or HMM (``hmm``); reading, training and writing are measured."""
    programs = environment()
    workdir = workdir.resolve()
    links = [workdir / f"thot.{model}.{direction}" for direction in ("forward", "reverse")]
    script = [str(programs / "python"), str(Path(__file__).with_name("thot_links.py")), model]
    given = [str(path.resolve()) for path in (source, target, *links)]
    cost = measure([*script, *given], workdir=workdir, name=f"thot.{model}")
    return PeerRun(**cost, forward=links[0], reverse=links[1])


def join(source: Path, target: Path, joined: Path) -> None:
    """Write `source ||| target` lines without the pairs that have an empty side, where fast_align stops."""
    with source.open("rb") as sources, target.open("rb") as targets, joined.open("wb") as output:
        for number, (left, right) in enumerate(zip(sources, targets, strict=True), 1):
            words = left.split(), right.split()
            if b"|||" in words[0] or b"|||" in words[1]:
                raise ValueError(f"{source}, {target}: line {number:,} has the word |||, which fast_align cannot read")
            if all(words):
                output.write(b" ||| ".join(map(b" ".join, words)) + b"\n")


def _tensions(log: str) -> list[float]:
    """The tension that each direction's last iteration used."""
    runs = log.split("INITIAL PASS")[1:]
    return [float(re.findall(r"final tension: (\S+)", run)[-1]) for run in runs]


def main() -> None:
    """Run all peers on two files and print what they cost as JSON lines."""
    if len(sys.argv) != 4:
        sys.exit("usage: peers.py SOURCE TARGET WORKDIR")
    source, target, workdir = map(Path, sys.argv[1:])
    workdir.mkdir(parents=True, exist_ok=True)
    for run in (run_eflomal, run_fast_align, run_thot):
        print(json.dumps({"peer": run.__name__.removeprefix("run_"), **run(source, target, workdir)}, default=str))


if __name__ == "__main__":
    main()
