"""The tables of `spaces.py` on cost: EM's acceleration, and whole jobs."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np

import report
from cepts.engine import run_em
from cepts.spaces import Preparation, find_entries
from cepts.spaces.ibfa import canonical, fit_ibfa
from cepts.spaces.mbfa import Battery
from cepts.spaces.moments import gather_moments
from report import Table
from spaces_data import SpacesData

__all__ = ["em", "jobs"]

PLAIN = 20_000
REPEAT = 3
PAIRS, WIDTH = 10_000, 300


def em(data: SpacesData) -> Table:
    """Time to the likelihood that plain EM reaches in 20,000 iterations, on complete Europarl triples."""
    views = [data.vectors(name) for name in ("en europarl", "fr europarl", "it europarl")]
    pairs = [data.muse(a.name, b.name, "train") for a in views for b in views if a is not b]
    rows = find_entries(pairs, views).rows
    rows = rows[(rows >= 0).all(axis=1)]
    prepared = [Preparation.learn(view.matrix, ("unit", "centre", "unit"))[1] for view in views]
    moments = gather_moments(prepared, rows)
    widths = [view.width for view in views]

    def battery(memory: int) -> Battery:
        return Battery(moments, widths, factors=min(widths), memory=memory)

    started = time.perf_counter()
    plain = run_em(battery(0), iterations=PLAIN)
    seconds = time.perf_counter() - started
    times, steps = [], []
    for _ in range(REPEAT):
        problem = battery(30)
        started = time.perf_counter()
        count = 0
        reached = -np.inf
        while reached < plain[-1]:
            reached = problem.e_step(lambda done, total: None)
            problem.m_step()
            count += 1
            if count > PLAIN:
                break
        times.append(time.perf_counter() - started)
        steps.append(count)
    shown = [["EM", f"{PLAIN:,}", f"{seconds:,.1f}", "1", f"{plain[-1]:.4f}"]]
    shown.append(
        [
            "EM, accelerated",
            f"{steps[0]:,}",
            report.spread(times),
            report.spread([seconds / t for t in times], 0),
            f"{reached:.4f}",
        ]
    )
    table = report.markdown(["", "steps", "seconds", "times faster", "log-likelihood an entry"], shown)
    head = f"{len(rows):,} triples, {min(widths)} factors."
    marks = [1, 10, 100, 1000, 5000, 10_000, PLAIN]
    record = {
        "triples": len(rows),
        "plain": {m: plain[m - 1] for m in marks},
        "plain_seconds": seconds,
        "steps": steps,
        "seconds": times,
    }
    return Table(f"{head}\n\n{table}", [record], REPEAT)


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
