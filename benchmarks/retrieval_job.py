"""One search of `retrieval.py`, in a process of its own: by cepts, or by faiss in the environment of the peers.

    retrieval_job.py JOB DIRECTORY

reads `queries.npy` and `targets.npy` (rows of length 1) from the directory, writes the rows that were found to
`JOB.npy`, and prints a line of JSON with the seconds of the search alone.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

COUNT = 10
WARM = 300


def by_cepts(measure: str, queries: np.ndarray, targets: np.ndarray) -> np.ndarray:
    from cepts.spaces.retrieve import retrieve

    return retrieve(queries, targets, measure=measure, count=COUNT).rows


def by_faiss(passes: int, queries: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """What CSLS needs of exact search: each query's targets, and in a second pass each target's queries."""
    import faiss

    def found(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        index = faiss.IndexFlatIP(right.shape[1])
        index.add(right)
        return index.search(left, COUNT)[1]

    rows = found(queries, targets)
    if passes == 2:
        found(targets, queries)
    return rows


JOBS = {
    "faiss-cosine": lambda *given: by_faiss(1, *given),
    "faiss-csls": lambda *given: by_faiss(2, *given),
    "cepts-cosine": lambda *given: by_cepts("cosine", *given),
    "cepts-csls": lambda *given: by_cepts("csls", *given),
}


def main() -> None:
    name, directory = sys.argv[1], Path(sys.argv[2])
    queries, targets = (np.load(directory / f"{side}.npy") for side in ("queries", "targets"))
    job = JOBS[name]
    job(queries[:WARM], targets[:WARM])
    started = time.perf_counter()
    rows = job(queries, targets)
    seconds = time.perf_counter() - started
    np.save(directory / f"{name}.npy", rows)
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
