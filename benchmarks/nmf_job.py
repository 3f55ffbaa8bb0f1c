"""Factorises a matrix of counts and prints seconds a pass and the divergence reached; run by lm_cost.py.

    nmf_job.py MATRIX.npz cepts|joint|symmetric|sklearn FACTORS PASSES

scikit-learn's passes are timed as the difference of two runs, so that its start costs it nothing; its divergence is the
generalised Kullback-Leibler divergence that it reports, as ours is.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, load_npz


def sklearn_run(matrix: csr_matrix, factors: int, passes: int) -> tuple[float, float]:
    """Seconds a pass, and the divergence."""
    from sklearn.decomposition import NMF

    seconds, error = [], 0.0
    warnings.filterwarnings("ignore")
    for rounds in (1, passes + 1):
        model = NMF(
            factors, solver="mu", beta_loss="kullback-leibler", init="random", max_iter=rounds, tol=0, random_state=0
        )
        start = time.perf_counter()
        model.fit_transform(matrix)
        seconds.append(time.perf_counter() - start)
        error = model.reconstruction_err_
    return (seconds[1] - seconds[0]) / passes, error**2 / 2


def cepts_run(matrix: csr_matrix, method: str, factors: int, passes: int) -> tuple[float, float]:
    """Seconds a pass, and the divergence."""
    from cepts.factor import poisson_nmf, symmetric_nmf
    from cepts.progress import Step

    ends: dict[int, float] = {}

    def note(step: Step) -> None:
        if step.done % 1000 == 0:  # the last word of each iteration
            ends[step.done] = time.perf_counter()

    if method == "symmetric":
        symmetric_nmf(matrix, 2, iterations=1)
        found = symmetric_nmf(matrix, factors, iterations=passes, progress=note)
    else:
        blocks = "joint" if method == "joint" else "two"
        poisson_nmf(matrix, 2, iterations=1, blocks=blocks)
        found = poisson_nmf(matrix, factors, iterations=passes, blocks=blocks, progress=note)
    return float(np.median(np.diff(list(ends.values())))), found.divergence


def main() -> None:
    path, method, factors, passes = sys.argv[1:]
    matrix = csr_matrix(load_npz(Path(path)))
    if method == "sklearn":
        seconds, divergence = sklearn_run(matrix, int(factors), int(passes))
    else:
        seconds, divergence = cepts_run(matrix, method, int(factors), int(passes))
    print(json.dumps({"seconds": seconds, "divergence": divergence}))


if __name__ == "__main__":
    main()
