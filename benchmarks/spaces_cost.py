"""The tables of `spaces.py` on cost: EM's acceleration, and whole jobs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import report
from cepts.engine import run_em
from cepts.spaces import Preparation, find_entries
from cepts.spaces.fit import STEPS_DEFAULT
from cepts.spaces.ibfa import canonical, fit_ibfa
from cepts.spaces.mbfa import MEMORY, Battery
from cepts.spaces.moments import gather_moments
from report import Table
from spaces_data import SpacesData

__all__ = ["em", "jobs"]

PLAIN = 20_000
EM_SHRINKAGES = (0.0, 0.1)
REPEAT = 3
PAIRS, WIDTH = 10_000, 300


def em(data: SpacesData) -> Table:
    """Time to the likelihood that plain EM reaches in 20,000 iterations, on complete Europarl triples.

    With and without shrinkage, each in a process of its own on one core.
    """
    command = [sys.executable, str(Path(__file__).resolve()), str(data.root.parent)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    running = [
        subprocess.Popen([*command, str(value)], env=environment, stdout=subprocess.PIPE, text=True)
        for value in EM_SHRINKAGES
    ]
    records = []
    for process in running:
        output, _ = process.communicate()
        if process.returncode:
            sys.exit(f"{' '.join(command)} failed.")
        records.append(json.loads(output))
    shown = []
    for record in records:
        seconds, times = record["plain_seconds"], record["seconds"]
        title = f"shrinkage {record['shrinkage']:g}"
        shown.append([f"{title}, EM", f"{PLAIN:,}", f"{seconds:,.1f}", "1", f"{record['plain'][str(PLAIN)]:.4f}"])
        ratios = report.spread([seconds / time for time in times], 0)
        shown.append(
            [f"{title}, accelerated", f"{record['steps']:,}", report.spread(times), ratios, f"{record['reached']:.4f}"]
        )
    table = report.markdown(["", "steps", "seconds", "times faster", "log-likelihood an entry"], shown)
    head = f"{records[0]['triples']:,} triples, {records[0]['factors']} factors, each problem on one core."
    return Table(f"{head}\n\n{table}", records, REPEAT)


def _run_em(data: SpacesData, shrinkage: float) -> dict[str, object]:
    views = [data.vectors(name) for name in ("en europarl", "fr europarl", "it europarl")]
    pairs = [data.muse(a.name, b.name, "train") for a in views for b in views if a is not b]
    rows = find_entries(pairs, views).rows
    rows = rows[(rows >= 0).all(axis=1)]
    moments = gather_moments([Preparation.learn(view.matrix, STEPS_DEFAULT)[1] for view in views], rows)
    widths = [view.width for view in views]

    def battery(memory: int) -> Battery:
        return Battery(moments, widths, factors=min(widths), shrinkage=shrinkage, memory=memory)

    started = time.perf_counter()
    plain = run_em(battery(0), iterations=PLAIN)
    seconds = time.perf_counter() - started
    times = []
    for _ in range(REPEAT):
        problem = battery(MEMORY)
        started = time.perf_counter()
        steps, reached = 0, -np.inf
        while reached < plain[-1] and steps < PLAIN:
            reached = problem.e_step(lambda done, total: None)
            problem.m_step()
            steps += 1
        times.append(time.perf_counter() - started)
    return {
        "shrinkage": shrinkage,
        "triples": len(rows),
        "factors": min(widths),
        "plain": {mark: plain[mark - 1] for mark in (1, 10, 100, 1000, 5000, 10_000, PLAIN)},
        "plain_seconds": seconds,
        "steps": steps,
        "reached": reached,
        "seconds": times,
    }


def jobs(data: SpacesData) -> Table:
    """IBFA on ten thousand pairs of 300 dimensions; and the whole en-fr job, from reading to scored translations."""
    random = np.random.default_rng(0)
    shared = random.standard_normal((PAIRS, WIDTH))
    x, y = (shared + random.standard_normal((PAIRS, WIDTH)) for _ in range(2))
    rows = np.stack([np.arange(PAIRS)] * 2, axis=1)
    views = [x.astype(np.float32), y.astype(np.float32)]
    fits = []
    for _ in range(REPEAT):
        started = time.perf_counter()
        (moments,) = gather_moments(views, rows)
        fit_ibfa(canonical(moments, (WIDTH, WIDTH)))
        fits.append(time.perf_counter() - started)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; import spaces_accuracy as a; "
        "from spaces_data import SpacesData; d = SpacesData(Path(sys.argv[2])); "
        "s, t = d.vectors('en'), d.vectors('fr'); p = a.IBFA([s, t], d.muse('en', 'fr', 'train')); "
        "test = d.muse('en', 'fr', 'test'); "
        "print(*(a.look_up(p, s, t, test, m).precision[1] for m in ('cosine', 'csls')))"
    )
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    whole = []
    for _ in range(REPEAT):
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", script, here, str(data.root.parent)], check=True, capture_output=True, text=True
        )
        whole.append(time.perf_counter() - started)
    cosine, csls = (f"{float(value):.1f}" for value in done.stdout.split())
    shown = [
        [f"IBFA in closed form, {PAIRS:,} pairs of {WIDTH} dimensions", report.spread(fits, 2)],
        [f"en-fr from vector files to scored translations (P@1 {cosine} / {csls})", report.spread(whole, 1)],
    ]
    records = [{"job": "ibfa", "seconds": fits}, {"job": "en-fr", "seconds": whole}]
    return Table(report.markdown(["job", "seconds"], shown), records, REPEAT)


if __name__ == "__main__":
    print(json.dumps(_run_em(SpacesData(Path(sys.argv[1])), float(sys.argv[2]))))
