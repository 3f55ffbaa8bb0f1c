"""How good links are: counts against gold links, scores, intervals and the comparison of two systems."""

from cepts.evaluate.counts import COLUMNS, count_links
from cepts.evaluate.resampling import Difference, Interval, differences, intervals
from cepts.evaluate.scores import METRICS, Comparison, Scores, compare, metrics

__all__ = [
    "COLUMNS",
    "METRICS",
    "Comparison",
    "Difference",
    "Interval",
    "Scores",
    "compare",
    "count_links",
    "differences",
    "intervals",
    "metrics",
]
