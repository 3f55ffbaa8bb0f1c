"""Reliability of confidences, against definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cepts.data import Alignments
from cepts.errors import UsageError
from cepts.evaluate import reliability


def test_bins_compare_confidence_with_the_share_that_is_right():
    gold = Alignments.from_links([[(0, 0), (1, 1)], [(0, 0)]])
    links = Alignments.from_links([[(0, 0), (1, 0), (1, 1)], [(0, 0), (2, 2)]])
    links = replace(links, confidence=np.array([1.0, 0.55, 0.51, 0.95, 0.2], dtype=np.float32))
    found = reliability(gold, links)
    assert found.counts.tolist() == [0, 0, 1, 0, 0, 2, 0, 0, 0, 2]
    assert found.right[[2, 5, 9]].tolist() == [0.0, 0.5, 1.0]
    assert found.confidence[5] == pytest.approx(0.53)
    assert found.error == pytest.approx((0.2 + 2 * 0.03 + 2 * 0.025) / 5, abs=1e-6)
    assert np.isnan(found.right[0])


def test_no_links_have_no_error():
    empty = Alignments.from_links([[]])
    assert reliability(empty, empty).error == 0.0
    with pytest.raises(UsageError, match="bins"):
        reliability(empty, empty, bins=0)
    with pytest.raises(ValueError, match="same pairs"):
        reliability(empty, Alignments.from_links([[], []]))
