"""Running things: the EM loop, and threads over shards."""

from cepts.engine.em import EMProblem, run_em
from cepts.engine.shards import cut_runs, default_threads, map_shards

__all__ = ["EMProblem", "cut_runs", "default_threads", "map_shards", "run_em"]
