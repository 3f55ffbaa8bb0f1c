"""Weights that were learnt from the gold links of several languages, from which tuning starts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments
from cepts.errors import UsageError
from cepts.tuning.cells import Column
from cepts.tuning.features import is_linear
from cepts.tuning.lexical import Lexical
from cepts.tuning.log_linear import Cases, Scale, Weights, fit, score
from cepts.tuning.model import POSSIBLE, LinkModel, Prior, ScoredRun, best_threshold

FILE = "general.json"
STRENGTH = 30.0
DIGITS = 6


@dataclass(frozen=True, slots=True, eq=False)
class General:
    """Mean, deviation and weight of each feature, for cells that certain scorers score.

    Attributes
    ----------
    scorers
        Names of the scorers, in order.
    features
        Name of each feature -> mean, deviation, weight.
    intercept
        The intercept.
    threshold
        The least probability of a link.
    """

    scorers: tuple[str, ...]
    features: Mapping[str, tuple[float, float, float]]
    intercept: float
    threshold: float = 0.5

    @classmethod
    def learn(cls, scorers: Sequence[str], texts: Sequence[tuple[Sequence[ScoredRun], Alignments]]) -> General:
        """Learn from the scored gold pairs of several texts and their gold links; only linear features have weights."""
        names = tuple(texts[0][0][0].features)
        linear = np.array([is_linear(name) for name in names])
        values = np.concatenate([run.values for runs, _ in texts for run in runs])
        offset = np.concatenate([run.offset for runs, _ in texts for run in runs])
        labels = np.concatenate([run.labels(gold) for runs, gold in texts for run in runs])
        known = labels != POSSIBLE
        scale = Scale.of(values[known])
        cases = Cases(scale(values), np.empty((len(values), 0), np.int64), offset, labels).take(known)
        kept = cases._replace(values=np.ascontiguousarray(cases.values[:, np.append(linear, True)]))
        found = fit(kept, Weights.zero(int(linear.sum())), STRENGTH, 1.0)
        weights = np.zeros(len(names))
        weights[linear] = found.values[:-1]
        scores = score(kept.values, kept.categories, kept.offset, found)
        threshold = best_threshold(lambda links: _error(links, kept.labels), scores)[1]
        rows = zip(names, *(np.round(column, DIGITS).tolist() for column in (*scale, weights)), strict=True)
        features = {name: values_of for name, *values_of in rows}
        return cls.from_dict(
            {
                "scorers": scorers,
                "intercept": round(float(found.values[-1]), DIGITS),
                "threshold": round(threshold, DIGITS),
                "features": features,
            }
        )

    def of(self, names: Sequence[str]) -> Prior | None:
        """What is known of a model with the features `names`; None if one of them is missing."""
        if any(name not in self.features for name in names):
            return None
        mean, deviation, weight = (np.array(column) for column in zip(*(self.features[n] for n in names), strict=True))
        return Prior(Scale(mean, deviation), Weights(np.append(weight, self.intercept), np.zeros(1)), self.threshold)

    def model(self, names: Sequence[str]) -> LinkModel:
        """The link model with these weights and nothing learnt from the user's gold links."""
        found = self.of(names)
        if found is None:
            raise UsageError("the general model is for other features; use a general model of the same scorers.")
        return LinkModel(tuple(names), found.scale, found.weights, Lexical.of([], []), threshold=self.threshold)

    def as_dict(self) -> dict[str, Any]:
        """The weights as plain data."""
        features = {name: list(values) for name, values in self.features.items()}
        return {
            "scorers": list(self.scorers),
            "intercept": self.intercept,
            "threshold": self.threshold,
            "features": features,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> General:
        """What `as_dict` returned."""
        features = {name: (values[0], values[1], values[2]) for name, values in data["features"].items()}
        return cls(tuple(data["scorers"]), features, data["intercept"], data["threshold"])


def _error(links: NDArray[np.bool_], labels: Column) -> float:
    """1 - F of some cells against labels that are all sure."""
    total = np.count_nonzero(links) + np.count_nonzero(labels)
    return 1.0 - 2.0 * np.count_nonzero(links & (labels > 0)) / total if total else 0.0


@cache
def shipped() -> dict[tuple[str, ...], General]:
    """The weights that come with the package, by the names of the scorers."""
    data = json.loads(files("cepts.tuning").joinpath(FILE).read_text(encoding="utf-8"))
    found = [General.from_dict(entry) for entry in data["models"]]
    return {entry.scorers: entry for entry in found}
