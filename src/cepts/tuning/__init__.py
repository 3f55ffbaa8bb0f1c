"""Aligners that learn from gold links: a log-linear model of links on top of any scorers."""

from cepts.tuning.general import General
from cepts.tuning.model import LinkModel, ScoredRun, Tuning, tune
from cepts.tuning.scorer import TunedDirections, TunedScorer, gold_pairs

__all__ = ["General", "LinkModel", "ScoredRun", "TunedDirections", "TunedScorer", "Tuning", "gold_pairs", "tune"]
