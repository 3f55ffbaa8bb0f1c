"""Direct maps from one view into another, the baselines of the factor models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepts.spaces.ibfa import inverse_root, shrunk
from cepts.spaces.moments import Moments

Matrix = NDArray[np.float64]


def least_squares(moments: Moments, widths: tuple[int, int], *, ridge: float = 0.0) -> Matrix:
    """A with x A nearest to y over the entries (Mikolov et al. 2013), with a ridge if it is above 0.

    `ridge` is a share of the source's mean second moment.
    """
    second = _second_moment(moments)
    x, y = moments.spans(widths)
    root = inverse_root(shrunk(second[x, x], ridge))
    return root @ (root.T @ second[x, y])


def procrustes(moments: Moments, widths: tuple[int, int]) -> Matrix:
    """The orthogonal A with x A nearest to y (Xing et al. 2015; Smith et al. 2017): U V' of the cross moment's SVD.

    Where the widths differ its columns, or its rows, are orthonormal.
    """
    x, y = moments.spans(widths)
    left, _, right = np.linalg.svd(_second_moment(moments)[x, y], full_matrices=False)
    return left @ right


def _second_moment(moments: Moments) -> Matrix:
    """About the origin: these methods have no mean."""
    return moments.covariance + np.outer(moments.mean, moments.mean)
