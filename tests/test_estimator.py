"""Parameters of models, as scikit-learn has them."""

from __future__ import annotations

import pytest

from cepts.errors import UsageError
from cepts.estimator import Estimator


class Toy(Estimator):
    def __init__(self, *, width=3, names=("a", "b"), rate=None):
        if width < 1:
            raise UsageError(f"`width` must be 1 or more. Got {width} instead.")
        self.width, self.names, self.rate = width, names, rate

    def fit(self, data):
        self.learnt_ = data
        return self


def test_repr_shows_what_differs_from_the_defaults():
    assert repr(Toy()) == "Toy()"
    assert repr(Toy(names=["a", "b"], rate=0.5)) == "Toy(rate=0.5)"
    assert repr(Toy(width=True)) == "Toy(width=True)"


def test_params_go_out_and_in():
    toy = Toy(width=5).fit("text")
    assert toy.get_params() == {"width": 5, "names": ("a", "b"), "rate": None}
    assert toy.set_params(rate=2.0, width=4) is toy
    assert (toy.width, toy.rate, toy.learnt_) == (4, 2.0, "text")
    assert Toy(**toy.get_params()).get_params() == toy.get_params()


def test_params_are_checked_and_nothing_changes_where_one_is_wrong():
    toy = Toy()
    with pytest.raises(UsageError, match="no parameter 'height'; it has width, names, rate"):
        toy.set_params(height=2)
    with pytest.raises(ValueError, match="`width` must be 1 or more"):
        toy.set_params(rate=1.0, width=0)
    assert toy.get_params() == Toy().get_params()


def test_an_untrained_model_says_so():
    with pytest.raises(UsageError, match="this Toy is not trained"):
        Toy().check_fitted()
    Toy().fit(1).check_fitted()
