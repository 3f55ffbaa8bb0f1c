"""How models are run: the EM loop, and threads that process shards of the data."""

from cepts.engine.em import ROUNDING, Checkpointed, EMProblem, Tick, has_ended, run_em, state_name
from cepts.engine.engines import DaskEngine, Engine, ThreadEngine, engine_of
from cepts.engine.piecework import (
    BYTES_IN_MEMORY,
    JOB,
    PieceStep,
    Workplace,
    check_version,
    keep_terms,
    piece_name,
    run_steps,
    workplace_of,
)
from cepts.engine.shards import (
    cut_blocks,
    cut_runs,
    default_threads,
    map_shards,
    one_allocation,
    release_memory,
    run_tasks,
)

__all__ = [
    "BYTES_IN_MEMORY",
    "JOB",
    "ROUNDING",
    "Checkpointed",
    "DaskEngine",
    "EMProblem",
    "Engine",
    "PieceStep",
    "ThreadEngine",
    "Tick",
    "Workplace",
    "check_version",
    "cut_blocks",
    "cut_runs",
    "default_threads",
    "engine_of",
    "has_ended",
    "keep_terms",
    "map_shards",
    "one_allocation",
    "piece_name",
    "release_memory",
    "run_em",
    "run_steps",
    "run_tasks",
    "state_name",
    "workplace_of",
]
