"""The tables of `spaces.py` on cost: EM's acceleration, and whole jobs."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np

import report
from cepts.spaces import MBFA, Preparation, find_entries
from cepts.spaces.ibfa import canonical, fit_ibfa
from cepts.spaces.mbfa import Battery
from cepts.spaces.moments import gather_moments
from report import Table
from spaces_data import SpacesData

__all__ = ["em", "jobs"]

PLAIN = 20_000
EM_SHRINKAGE = 0.1
MARKS = (10, 100, 300, 1000, 3000, 10_000, PLAIN)
REPEAT = 3
PAIRS, WIDTH = 10_000, 300


def em(data: SpacesData) -> Table:
    """Time to the likelihoods that plain EM passes in 20,000 iterations, on complete Europarl triples."""
    views = [data.vectors(name) for name in ("en europarl", "fr europarl", "it europarl")]
    pairs = [data.muse(a.name, b.name, "train") for a in views for b in views if a is not b]
    rows = find_entries(pairs, views).rows
    rows = rows[(rows >= 0).all(axis=1)]
    moments = gather_moments([Preparation.learn(view.matrix, MBFA.prepare)[1] for view in views], rows)
    widths = [view.width for view in views]
    plain, plain_seconds = _climb(
        Battery(moments, widths, factors=min(widths), shrinkage=EM_SHRINKAGE, accelerate=False), PLAIN
    )
    problem = Battery(moments, widths, factors=min(widths), shrinkage=EM_SHRINKAGE)
    fast, fast_seconds = _climb(problem, PLAIN, goal=plain[-1])
    shown, records = [], []
    for mark in MARKS:
        steps = int(np.searchsorted(fast, plain[mark - 1])) + 1
        seconds, quick = plain_seconds[mark - 1], fast_seconds[min(steps, len(fast)) - 1]
        shown.append(
            [
                f"{mark:,}",
                f"{plain[mark - 1]:.4f}",
                f"{seconds:,.1f}",
                f"{steps:,}",
                f"{quick:,.1f}",
                f"{seconds / quick:.1f}",
            ]
        )
        records.append(
            {
                "plain_steps": mark,
                "objective": plain[mark - 1],
                "plain_seconds": seconds,
                "steps": steps,
                "seconds": quick,
            }
        )
    columns = ["EM, steps", "log-likelihood an entry", "seconds", "accelerated, steps", "seconds", "times faster"]
    head = f"{len(rows):,} triples, {min(widths)} factors, shrinkage {EM_SHRINKAGE:g}."
    return Table(f"{head}\n\n{report.markdown(columns, shown, text_columns=0)}", records)


def _climb(problem: Battery, steps: int, goal: float = np.inf) -> tuple[list[float], list[float]]:
    """Objective before each step, and the seconds until it was known; ends early when the goal is reached."""
    started = time.perf_counter()
    objectives: list[float] = []
    seconds: list[float] = []
    while len(objectives) < steps and (not objectives or objectives[-1] < goal):
        objectives.append(problem.e_step(lambda done, total: None))
        seconds.append(time.perf_counter() - started)
        problem.m_step()
    return objectives, seconds


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
        "p = a.IBFA().fit([d.vectors('en'), d.vectors('fr')], d.muse('en', 'fr', 'train')); "
        "test = d.muse('en', 'fr', 'test'); "
        "print(*(a.look_up(p, 'en', 'fr', test, m).precision[1] for m in ('cosine', 'csls')))"
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
