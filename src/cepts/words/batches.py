"""Buffers of the kernels that compute sentence pairs in batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import offsets_of
from cepts.words.index import Pairs


def matrix_size(pairs: Pairs) -> int:
    """Size of a matrix that has room for any batch of `pairs`."""
    from cepts.kernels.batches import CELLS_IN_LANE
    from cepts.kernels.lanes import LANES

    lengths = np.array([pairs.source_lengths, pairs.target_lengths])
    # A pair alone has rows of whole vectors in either direction; a batch is as large as its longest sentences.
    alone = int((lengths + LANES).prod(axis=0).max(initial=0))
    batch = int(lengths.max(axis=1, initial=0).prod())
    return max(alone, LANES * min(batch, CELLS_IN_LANE))


def laid_out(parts: Mapping[str, int | NDArray]) -> dict[str, Any]:
    """One array of `numbers` for parts of the given sizes, or with the given content, and where each of them begins."""
    sizes = [part if isinstance(part, int) else part.size for part in parts.values()]
    places = offsets_of(sizes).tolist()
    numbers = np.zeros(places[-1], dtype=np.float32)
    for part, start, stop in zip(parts.values(), places[:-1], places[1:], strict=True):
        if not isinstance(part, int):
            numbers[start:stop] = part.ravel()
    return {"numbers": numbers, **dict(zip(parts, places[:-1], strict=True))}
