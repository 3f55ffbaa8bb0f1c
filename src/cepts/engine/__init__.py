"""How models are run: the EM loop, and threads that process shards of the data."""

from cepts.engine.em import ROUNDING, Checkpointed, EMProblem, Tick, has_ended, run_em, state_name
from cepts.engine.engines import DaskEngine, Engine, ThreadEngine, engine_of
from cepts.engine.shards import cut_runs, default_threads, map_shards, one_allocation, release_memory, run_tasks

__all__ = [
    "ROUNDING",
    "Checkpointed",
    "DaskEngine",
    "EMProblem",
    "Engine",
    "ThreadEngine",
    "Tick",
    "cut_runs",
    "default_threads",
    "engine_of",
    "has_ended",
    "map_shards",
    "one_allocation",
    "release_memory",
    "run_em",
    "run_tasks",
    "state_name",
]
