from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from cepts.data import lazy_property


class Square:
    def __init__(self, side, before=None):
        self.side, self.before, self.computed = side, before, 0

    @lazy_property
    def area(self):
        """The area."""
        self.computed += 1
        if self.before is not None:
            self.before.wait()  # passed only if another object computes its area at the same time
        return self.side**2


def test_it_is_computed_once_for_each_object():
    one, other = Square(2), Square(3)
    assert [one.area, one.area, other.area] == [4, 4, 9]
    assert (one.computed, other.computed) == (1, 1)
    assert "area" in vars(one)
    assert Square.area.__doc__ == "The area."


def test_threads_compute_it_for_different_objects_at_the_same_time():
    barrier = Barrier(2, timeout=10)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda side: Square(side, barrier).area, [1, 2])) == [1, 4]
