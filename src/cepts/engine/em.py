"""The EM loop that all models share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from numpy.typing import NDArray

from cepts.errors import ModelError, NotFiniteError
from cepts.progress import Progress, Step, Stopwatch, silent
from cepts.store import Piece, PieceError, Shelf

# Changes below this share of the objective are rounding errors of float64.
NO_CHANGE = 1e-12
# How much rounding to float32 and skipping negligible parts may lower the log-probability of one observation.
ROUNDING = 1e-4

Tick = Callable[[int, int], None]


class EMProblem(Protocol):
    """What the EM loop needs from a model that is being trained."""

    @property
    def allowed_fall(self) -> float:
        """How far an iteration may lower the objective.

        This is `ROUNDING` times the number of observations (words, counts, dimensions) if in theory the objective
        cannot fall, and infinity if it may.
        """

    def e_step(self, tick: Tick) -> float:
        """Compute expected counts under the current parameters and return the objective of these parameters.

        The step may call `tick(done, total)` to report its progress.
        """

    def m_step(self) -> None:
        """Set the parameters from the expected counts of the last E-step."""


@runtime_checkable
class Checkpointed(EMProblem, Protocol):
    """A problem whose training can be interrupted and resumed."""

    def state(self) -> dict[str, NDArray]:
        """The parameters as arrays; after `restore`, training continues with exactly the same results."""

    def restore(self, state: dict[str, NDArray]) -> None:
        """Set the parameters to those of a checkpoint."""

    def tidy(self) -> None:
        """Called when the state has been kept: what earlier iterations left is not needed any more."""


def run_em(
    problem: EMProblem,
    *,
    iterations: int,
    tolerance: float = 0.0,
    stage: str = "EM",
    progress: Progress | None = None,
    checkpoint: Shelf | None = None,
) -> list[float]:
    """Run E- and M-steps and return the objective before each M-step.

    Parameters
    ----------
    problem
        The model that is being trained.
    iterations
        The largest number of iterations.
    tolerance
        Stop early when the objective last changed by less than this share of its range so far (for an objective that
        only rises: of the gain so far); 0 never stops early. The share depends neither on the unit nor on the zero of
        the objective, so the number of iterations stays the same if counts are multiplied by a constant, a text is
        repeated, or vectors have another unit. The first change is the whole range, so a run has at least three
        iterations, unless nothing changes. While the changes grow, as after a slow start, the last one is never below
        the mean of all, so a small tolerance does not stop the run there; a plateau after a steep start does. The
        farther from the optimum EM starts, the less strict a given tolerance is.
    stage
        Name of the run in reports to `progress`.
    progress
        Called after each part of an E-step and, with the objective, after each iteration.
    checkpoint
        A shelf that keeps the parameters after each iteration, for a `Checkpointed` problem. If it already has those of
        the same stage, the run continues from there.

    Raises
    ------
    NotFiniteError
        When the objective is not finite; the parameters are then those that gave it.
    AssertionError
        When the objective falls by more than `problem.allowed_fall`, which is infinite for an objective that may fall,
        such as that of training with agreement.
    """
    report = progress or silent
    history: list[float] = []
    saved: Checkpointed | None = None
    if checkpoint is not None:
        if not isinstance(problem, Checkpointed):
            raise TypeError(f"{stage} cannot be interrupted and resumed; omit `checkpoint`.")
        saved = problem
        kept = state_name(stage)
        state = _state_on(checkpoint, kept)
        if state is not None:
            history = [float(value) for value in state.settings["objectives"]]
            saved.restore(dict(state))
            done = len(history)
            report(
                Step(
                    stage=stage,
                    done=1000 * done,
                    total=1000 * max(iterations, done),
                    iteration=done,
                    objective=history[-1] if history else None,
                    resumed=done,
                    remaining=max(iterations - done, 0),
                )
            )
    stopwatch = Stopwatch()
    while not has_ended(history, iterations, tolerance):
        iteration = len(history) + 1

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
                    seconds=stopwatch.seconds,
                )
            )

        objective = problem.e_step(tick)
        if not math.isfinite(objective):
            raise NotFiniteError(
                f"{stage}: the objective became {objective} in iteration {iteration}; the input may have values that "
                f"are too large or too small, or all probabilities of a sentence have become 0."
            )
        history.append(objective)
        if len(history) > 1 and history[-2] - objective > problem.allowed_fall:
            raise AssertionError(
                f"{stage}: the objective fell from {history[-2]} to {objective} in iteration {iteration}, "
                f"which EM cannot do. This is a bug in cepts; please report it with the data."
            )
        problem.m_step()
        if checkpoint is not None and saved is not None:
            checkpoint.commit(kept, saved.state(), objectives=history)
            saved.tidy()
        report(
            Step(
                stage=stage,
                done=1000 * iteration,
                total=1000 * iterations,
                iteration=iteration,
                objective=objective,
                change=_change(history) if len(history) > 1 else None,
                seconds=stopwatch.seconds,
            )
        )
    return history


def state_name(stage: str) -> str:
    """The name under which `run_em` keeps the state of a stage on a shelf."""
    return f"{stage.replace(' ', '-')}/state"


def _state_on(shelf: Shelf, name: str) -> Piece | None:
    """The state that a shelf has, if any."""
    try:
        piece = shelf.get(name)
        piece.check()
    except PieceError as error:
        if error.missing:
            return None
        raise ModelError(f"{str(error).partition(';')[0]}; delete the whole checkpoint to start again.") from error
    return piece


def has_ended(history: Sequence[float], iterations: int, tolerance: float) -> bool:
    """Whether a run whose objectives were these has no more iterations; see `run_em`."""
    return len(history) >= iterations or (len(history) > 1 and _change(history) < tolerance)


def _change(history: Sequence[float]) -> float:
    """The last change as a share of the range of all objectives; 0 if it is only rounding."""
    before, now = history[-2:]
    change = abs(now - before)
    if change <= NO_CHANGE * max(abs(before), abs(now)):
        return 0.0
    return change / (max(history) - min(history))
