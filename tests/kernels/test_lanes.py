from __future__ import annotations

import numpy as np
from numba import njit

from cepts.kernels.lanes import LANES, at, load, load_one, multiply_add, put, spread, store


@njit
def compute(a, b, out):
    """Every operation on lanes, a row of `out` for each."""
    first, second = load(a, 1), load(b, 2)
    store(out, 0, first + second)
    store(out, LANES, first - second)
    store(out, 2 * LANES, first * second)
    store(out, 3 * LANES, first / second)
    store(out, 4 * LANES, multiply_add(first, second, load(b, 0)))
    store(out, 5 * LANES, load_one(a, 3))
    store(out, 6 * LANES, spread(np.float32(2.5)))
    put(out, 7 * LANES, at(a, 4))


def test_each_lane_is_computed_as_numpy_would():
    random = np.random.default_rng(0)
    a, b = random.uniform(0.5, 2, (2, LANES + 2)).astype(np.float32)
    out = np.zeros((8, LANES), dtype=np.float32)
    compute(a, b, out)
    first, second = a[1 : 1 + LANES], b[2 : 2 + LANES]
    np.testing.assert_array_equal(out[:4], [first + second, first - second, first * second, first / second])
    want = first.astype(np.float64) * second + b[:LANES]
    np.testing.assert_allclose(out[4], want, rtol=2e-7)
    np.testing.assert_array_equal(out[5], np.full(LANES, a[3]))
    np.testing.assert_array_equal(out[6], np.full(LANES, 2.5))
    np.testing.assert_array_equal(out[7], [a[4], *[0] * (LANES - 1)])


def test_places_count_through_all_dimensions_of_an_array():
    @njit
    def double(values):
        for place in range(6):
            put(values, place, 2 * at(values, place))

    values = np.arange(6, dtype=np.int64).reshape(3, 2)
    double(values)
    np.testing.assert_array_equal(values, 2 * np.arange(6).reshape(3, 2))
