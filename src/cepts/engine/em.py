"""The one EM loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cepts.errors import ModelError, NotFiniteError
from cepts.progress import Progress, Step, silent
from cepts.store import load_model, save_model

__all__ = ["EMProblem", "run_em"]

Tick = Callable[[int, int], None]


class EMProblem(Protocol):
    """What the loop needs of a model under training."""

    def e_step(self, tick: Tick) -> float:
        """Gather expected counts under the present parameters and return the objective at them.

        `tick(done, total)` may be called to tell how far the step is.
        """

    def m_step(self) -> None:
        """Set the parameters to those that the counts of the last E-step call for."""

    def state(self) -> dict[str, NDArray]:
        """The parameters, as arrays, for a checkpoint."""

    def restore(self, state: dict[str, NDArray]) -> None:
        """Take the parameters of a checkpoint."""


def run_em(
    problem: EMProblem,
    *,
    iterations: int,
    tolerance: float = 0.0,
    stage: str = "EM",
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
) -> list[float]:
    """Run E- and M-steps and return the objective before each M-step.

    Parameters
    ----------
    problem
        What is trained.
    iterations
        The largest number of iterations.
    tolerance
        Stop early when the objective grows by less than this share of its size; 0 never stops early.
    stage
        Name under which `progress` is told of the steps.
    progress
        Told of each part of an E-step and, with the objective, of each iteration.
    checkpoint
        Directory that keeps the parameters after each iteration. Where it already holds some of the same stage, the
        run goes on from there.

    Raises
    ------
    NotFiniteError
        When the objective is not finite; the parameters are then those that gave it.
    """
    report = progress or silent
    history: list[float] = []
    if checkpoint is not None and (Path(checkpoint) / "model.json").exists():
        history = _resume(problem, stage, Path(checkpoint))
    started = time.perf_counter()
    for iteration in range(len(history) + 1, iterations + 1):
        if tolerance > 0.0 and len(history) > 1 and _gain(history) < tolerance:
            break

        def tick(done: int, total: int, before: int = iteration - 1) -> None:
            # Progress in thousandths of all iterations, so that one bar shows the whole stage.
            share = before + (done / total if total else 1.0)
            report(
                Step(
                    stage=stage,
                    done=int(1000 * share),
                    total=1000 * iterations,
                    iteration=before + 1,
                    objective=history[-1] if history else None,
                    seconds=time.perf_counter() - started,
                )
            )

        objective = problem.e_step(tick)
        if not math.isfinite(objective):
            raise NotFiniteError(
                f"{stage}: the objective became {objective} in iteration {iteration}; the input may hold values that "
                f"are too large or too small, or every probability of a sentence has become 0."
            )
        problem.m_step()
        history.append(objective)
        if checkpoint is not None:
            save_model(
                checkpoint,
                kind=f"checkpoint {stage}",
                settings={"objectives": history},
                arrays=problem.state(),
            )
        report(
            Step(
                stage=stage,
                done=1000 * iteration,
                total=1000 * iterations,
                iteration=iteration,
                objective=objective,
                seconds=time.perf_counter() - started,
            )
        )
    return history


def _gain(history: list[float]) -> float:
    before, now = history[-2:]
    return (now - before) / max(abs(before), abs(now), np.finfo(float).tiny)


def _resume(problem: EMProblem, stage: str, checkpoint: Path) -> list[float]:
    model = load_model(checkpoint, kind=f"checkpoint {stage}")
    objectives = model.settings.get("objectives")
    if not isinstance(objectives, list):
        raise ModelError(f"{checkpoint} is no checkpoint of {stage}: it has no objectives; delete it to start anew.")
    try:
        problem.restore(model.arrays)
    except (KeyError, ValueError) as error:
        raise ModelError(
            f"{checkpoint} is a checkpoint of another text or of other options ({error}); "
            f"delete it to start anew, or name another directory."
        ) from None
    return [float(value) for value in objectives]
