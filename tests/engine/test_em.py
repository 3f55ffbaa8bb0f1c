from __future__ import annotations

import itertools

import numpy as np
import pytest

from cepts.engine import run_em
from cepts.errors import ModelError, NotFiniteError
from cepts.store import DiskShelf


class Halving:
    """Climbs -(x - 3)^2 by going half of the way in each M-step."""

    allowed_fall = 1e-4

    def __init__(self, x: float = 11.0) -> None:
        self.x = x
        self.ticks = 2

    def e_step(self, tick):
        for done in range(1, self.ticks + 1):
            tick(done, self.ticks)
        return -((self.x - 3.0) ** 2)

    def m_step(self):
        self.x = (self.x + 3.0) / 2

    def state(self):
        return {"x": np.array([self.x])}

    def restore(self, state):
        self.x = float(state["x"][0])

    def tidy(self):
        self.tidied = True


class Stop(Exception):
    """An interruption from outside."""


class StopAfter:
    """A progress callback that interrupts the run when so many iterations are kept."""

    def __init__(self, iterations):
        self.left = iterations

    def __call__(self, step):
        if step.done == 1000 * step.iteration and step.objective is not None:
            self.left -= 1
        if self.left < 0:
            raise Stop


def test_returns_the_objective_before_each_m_step():
    problem = Halving()
    assert run_em(problem, iterations=3) == [-64.0, -16.0, -4.0]
    assert problem.x == 4.0


def test_no_iterations_change_nothing():
    problem = Halving()
    assert run_em(problem, iterations=0) == []
    assert problem.x == 11.0


def test_stops_when_the_objective_changes_by_less_than_the_tolerance_times_its_range():
    # -64, -16, -4, -1: gains of 48, 12, 3, 0.75, which are 1, 1/5, 1/21 and 1/85 of all so far.
    assert len(run_em(Halving(), iterations=9, tolerance=0.201)) == 3
    assert len(run_em(Halving(), iterations=9, tolerance=0.199)) == 4
    assert len(run_em(Halving(), iterations=9, tolerance=1 / 21.5)) == 5


def test_no_tolerance_never_stops_early():
    assert len(run_em(Halving(3.0), iterations=5)) == 5


def test_a_start_at_the_optimum_ends_when_nothing_changes():
    assert len(run_em(Halving(3.0), iterations=5, tolerance=1e-9)) == 2


def test_gains_that_are_mere_rounding_end_a_run_that_starts_at_the_optimum():
    class Rounding(Halving):
        def e_step(self, tick):
            return -1e6 + 1e-9 * self.x

        def m_step(self):
            self.x += 1

    assert len(run_em(Rounding(), iterations=5, tolerance=1e-9)) == 2


def test_a_slow_start_is_not_taken_for_the_end():
    class Slow(Halving):
        def e_step(self, tick):
            return self.x

        def m_step(self):
            self.x *= 1.5

    assert len(run_em(Slow(1e-9), iterations=40, tolerance=0.01)) == 40


class Bouncing(Halving):
    """Overshoots to the other side, a little less each time; its objective falls and rises."""

    allowed_fall = np.inf

    def e_step(self, tick):
        return self.x

    def m_step(self):
        self.x = 3.0 - 0.9 * (self.x - 3.0)


def test_an_objective_that_may_fall_does_not_stop_a_run_by_falling():
    steps = []
    history = run_em(Bouncing(), iterations=20, tolerance=0.5, progress=steps.append)
    assert len(history) == 9
    changes = [abs(after - before) / 15.2 for before, after in itertools.pairwise(history)]
    assert min(changes[:-1]) >= 0.5 > changes[-1]
    assert [step.change for step in steps] == [None, *(pytest.approx(change) for change in changes)]


def test_an_objective_that_cannot_fall_in_theory_must_not():
    problem = Bouncing()
    problem.allowed_fall = 15.1
    with pytest.raises(
        AssertionError, match=r"^training toy: the objective fell from 11.0 to -4.2 in iteration 2"
    ) as raised:
        run_em(problem, iterations=9, stage="training toy")
    assert "\n" not in str(raised.value)


def test_a_fall_by_rounding_is_no_fall():
    problem = Bouncing()
    problem.allowed_fall = 15.3
    assert len(run_em(problem, iterations=9)) == 9


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_an_objective_that_is_not_finite_is_an_error_that_says_where(value):
    class Broken(Halving):
        def e_step(self, tick):
            return value if self.x < 5 else super().e_step(tick)

    problem = Broken()
    with pytest.raises(NotFiniteError, match=r"training toy: .*iteration 4") as raised:
        run_em(problem, iterations=9, stage="training toy")
    assert "\n" not in str(raised.value)
    # The parameters are those that gave it: three M-steps were made.
    assert problem.x == 4.0


def test_progress_tells_of_every_part_and_every_iteration():
    steps = []
    run_em(Halving(), iterations=3, stage="toy", progress=steps.append)
    assert {step.stage for step in steps} == {"toy"}
    assert {step.total for step in steps} == {3000}
    assert [step.done for step in steps] == [500, 1000, 1000, 1500, 2000, 2000, 2500, 3000, 3000]
    assert [step.iteration for step in steps] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert [step.objective for step in steps[2::3]] == [-64.0, -16.0, -4.0]
    assert [step.objective for step in steps[0::3]] == [None, -64.0, -16.0]
    assert all(after.seconds >= before.seconds for before, after in itertools.pairwise(steps))


def test_progress_of_an_e_step_without_parts():
    class Whole(Halving):
        def e_step(self, tick):
            tick(0, 0)
            return super().e_step(tick)

    steps = []
    run_em(Whole(), iterations=1, progress=steps.append)
    assert steps[0].done == 1000


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_an_interrupted_run_goes_on_where_it_was(tmp_path, kept):
    whole = Halving()
    want = run_em(whole, iterations=4)
    with pytest.raises(Stop):
        run_em(Halving(), iterations=4, checkpoint=DiskShelf(tmp_path / "kept"), progress=StopAfter(kept))
    resumed = Halving()
    assert run_em(resumed, iterations=4, checkpoint=DiskShelf(tmp_path / "kept")) == want
    assert resumed.x == whole.x


def test_a_problem_that_cannot_be_resumed_takes_no_checkpoint(tmp_path):
    class Forgetful:
        allowed_fall = 0.0
        e_step, m_step = Halving.e_step, Halving.m_step
        x, ticks = 11.0, 1

    assert run_em(Forgetful(), iterations=2) == [-64.0, -16.0]
    with pytest.raises(TypeError, match=r"^toy cannot be interrupted"):
        run_em(Forgetful(), iterations=2, stage="toy", checkpoint=DiskShelf(tmp_path))


def test_a_finished_run_is_not_run_again(tmp_path):
    want = run_em(Halving(), iterations=3, checkpoint=DiskShelf(tmp_path))

    class NoMore(Halving):
        def e_step(self, tick):
            raise AssertionError("nothing was left to do")

    problem = NoMore()
    assert run_em(problem, iterations=3, checkpoint=DiskShelf(tmp_path)) == want
    assert problem.x == 4.0


def test_a_run_that_stopped_early_is_not_run_again(tmp_path):
    options = {"iterations": 9, "tolerance": 0.25, "checkpoint": DiskShelf(tmp_path)}
    first, again = Halving(), Halving()
    want = run_em(first, **options)
    assert run_em(again, **options) == want
    assert again.x == first.x


def test_more_iterations_go_on_from_a_finished_run(tmp_path):
    run_em(Halving(), iterations=2, checkpoint=DiskShelf(tmp_path))
    assert run_em(Halving(), iterations=4, checkpoint=DiskShelf(tmp_path)) == run_em(Halving(), iterations=4)


def test_progress_of_a_resumed_run_counts_what_was_done_before(tmp_path):
    run_em(Halving(), iterations=2, checkpoint=DiskShelf(tmp_path))
    steps = []
    run_em(Halving(), iterations=3, checkpoint=DiskShelf(tmp_path), progress=steps.append)
    assert [(step.iteration, step.done) for step in steps] == [(2, 2000), (3, 2500), (3, 3000), (3, 3000)]
    assert [(step.resumed, step.remaining) for step in steps] == [(2, 1), (0, 0), (0, 0), (0, 0)]
    assert steps[1].objective == -16.0


def test_stages_have_checkpoints_of_their_own(tmp_path):
    shelf = DiskShelf(tmp_path)
    run_em(Halving(), iterations=1, stage="one", checkpoint=shelf)
    other = Halving(5.0)
    assert run_em(other, iterations=2, stage="two", checkpoint=shelf) == [-4.0, -1.0]
    assert other.tidied
    assert run_em(Halving(), iterations=1, stage="one", checkpoint=shelf) == [-64.0]


def test_a_damaged_checkpoint_is_refused(tmp_path):
    run_em(Halving(), iterations=1, checkpoint=DiskShelf(tmp_path))
    (file,) = tmp_path.rglob("*.piece")
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(ModelError, match="is damaged") as raised:
        run_em(Halving(), iterations=2, checkpoint=DiskShelf(tmp_path))
    assert str(tmp_path) in str(raised.value)
    assert "\n" not in str(raised.value)
