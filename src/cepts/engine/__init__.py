"""How models are run: the EM loop, and threads that process shards of the data."""

from cepts.engine.em import ROUNDING, Checkpointed, EMProblem, Tick, run_em
from cepts.engine.shards import cut_runs, default_threads, map_shards, one_allocation, run_tasks

__all__ = [
    "ROUNDING",
    "Checkpointed",
    "EMProblem",
    "Tick",
    "cut_runs",
    "default_threads",
    "map_shards",
    "one_allocation",
    "run_em",
    "run_tasks",
]
