"""The weights of steps between the states of the lattice."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.phrases.steps import BINS, LAST, STEP_WEIGHTS, TO_NULL, steps_of


@pytest.mark.parametrize("distortion", [False, True])
@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("width", [1, 2, 30])
def test_every_step_has_the_weight_of_its_kind(width, memory, distortion):
    steps = steps_of(width, memory, distortion)
    states = 2 * (width + 1) if memory else width + 2
    assert steps.jump.shape == (states, width)
    assert steps.stay.shape == steps.final.shape == steps.null_next.shape == (states,)
    assert min(steps.jump.min(), steps.stay.min(), steps.final.min()) >= 0
    assert max(steps.jump.max(), steps.stay.max(), steps.final.max()) < STEP_WEIGHTS
    bins = {}
    for state in range(states):
        null = state > width
        stop = state - width - 1 if null else state
        # A null that forgets tells no jumps apart.
        kind = "null" if null else "start" if state == 0 else "segment"
        for j in range(width):
            where = j - stop if distortion and (memory or not null) else None
            bins.setdefault((kind, where), set()).add(int(steps.jump[state, j]))
        assert steps.stay[state] == TO_NULL + ["segment", "start", "null"].index(kind)
        left = min(width - stop, 3) if distortion else 0
        assert steps.final[state] == LAST + {"segment": left, "start": 4, "null": 5}[kind]
        assert steps.null_next[state] == (width + 1 + stop if memory else width + 1)
    assert all(len(found) == 1 for found in bins.values())
    numbers = {kind: {min(found) for (other, _), found in bins.items() if other == kind} for kind, _ in bins}
    names = list(numbers)
    assert not any(numbers[one] & numbers[other] for one in names for other in names if one != other)


def test_near_jumps_have_weights_of_their_own_and_far_ones_share():
    jump = steps_of(60, memory=True).jump
    by_distance = {j - stop: int(jump[stop, j]) for stop in range(1, 61) for j in range(60)}
    near = [by_distance[distance] for distance in range(-4, 5)]
    assert len(set(near)) == len(near)
    assert by_distance[-30] == by_distance[-60] != by_distance[30] == by_distance[58]
    assert np.all(np.diff([by_distance[distance] for distance in sorted(by_distance)]) >= 0)
    assert len(set(by_distance.values())) == BINS
