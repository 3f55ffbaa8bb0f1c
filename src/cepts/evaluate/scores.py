"""Precision, recall and F1 on sure and on possible links, and the alignment error rate.

Eqs. (8) to (11) of onmf, with A the system's links and T either the sure links S or the possible links P (S
is part of P): ``P_T = |A n T| / |A|``, ``R_T = |A n T| / |T|``, ``F_T = 2 |A n T| / (|A| + |T|)`` and ``AER
= 1 - (|A n S| + |A n P|) / (|A| + |S|)``, each of sums over the sentence pairs.

A ratio of nothing to nothing counts as perfect: without links no link is wrong (precision 1), without gold
links none is missed (recall 1), without either F1 is 1 and AER 0. So F1 stays the harmonic mean of the
other two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Lengths
from cepts.evaluate.counts import COLUMNS, count_links
from cepts.evaluate.resampling import Countable

METRICS = (
    "sure_precision",
    "sure_recall",
    "sure_f1",
    "possible_precision",
    "possible_recall",
    "possible_f1",
    "aer",
)


def metrics(counts: NDArray[np.integer] | NDArray[np.floating]) -> NDArray[np.float64]:
    """The scores of counts (`COLUMNS` along the last axis), `METRICS` along the last axis."""
    links, sure_hits, possible_hits, sure, possible = np.moveaxis(counts[..., :5].astype(np.float64), -1, 0)
    return np.stack(
        [
            _ratio(sure_hits, links),
            _ratio(sure_hits, sure),
            _ratio(2 * sure_hits, links + sure),
            _ratio(possible_hits, links),
            _ratio(possible_hits, possible),
            _ratio(2 * possible_hits, links + possible),
            1 - _ratio(sure_hits + possible_hits, links + sure),
        ],
        axis=-1,
    )


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.ones_like(part), where=whole != 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Scores of a set of sentence pairs; ratios lie between 0 and 1.

    The gold has `sure` and `possible` links (sure ones included), the system `links`. `source_words` and
    `target_words` are None where the lengths were not given.
    """

    sentences: int
    links: int
    sure: int
    possible: int
    sure_precision: float
    sure_recall: float
    sure_f1: float
    possible_precision: float
    possible_recall: float
    possible_f1: float
    aer: float
    source_covered: int
    target_covered: int
    source_words: int | None = None
    target_words: int | None = None

    @property
    def precision(self) -> float:
        """Precision as it is usually reported: on the possible links."""
        return self.possible_precision

    @property
    def recall(self) -> float:
        """Recall as it is usually reported: on the sure links."""
        return self.sure_recall

    @property
    def source_coverage(self) -> float | None:
        """Share of the source words that have a link."""
        return _share(self.source_covered, self.source_words)

    @property
    def target_coverage(self) -> float | None:
        """Share of the target words that have a link."""
        return _share(self.target_covered, self.target_words)

    def as_dict(self) -> dict[str, int | float | None]:
        """All figures by name, for JSON."""
        return {
            **asdict(self),
            "source_coverage": self.source_coverage,
            "target_coverage": self.target_coverage,
        }


def _share(covered: int, words: int | None) -> float | None:
    if words is None:
        return None
    return covered / words if words else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Countable):
    """A system's links compared with gold links.

    `counts` has one row per sentence pair, one column for each of `COLUMNS`; `source_known` and `target_known` say
    whether the lengths of that side were given.
    """

    counts: NDArray[np.int64]
    facts: Mapping[str, object] = field(default_factory=dict)
    source_known: bool = False
    target_known: bool = False

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The scores that have intervals."""
        return METRICS

    def unit_counts(self) -> NDArray[np.float64]:
        """The counts of each sentence pair from which the metrics follow."""
        return self.counts[:, : COLUMNS.index("source_covered")].astype(np.float64)

    def metrics_of(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The metrics of sums of `unit_counts`."""
        return metrics(sums)

    @property
    def scores(self) -> Scores:
        """Scores of all sentence pairs together."""
        return self._scores(self.counts.sum(axis=0), len(self.counts))

    def per_sentence(self) -> list[Scores]:
        """Scores of each sentence pair on its own."""
        return [self._scores(row, 1) for row in self.counts]

    def _scores(self, counts: NDArray[np.int64], sentences: int) -> Scores:
        values = dict(zip(COLUMNS, counts.tolist(), strict=True))
        ratios = dict(zip(METRICS, metrics(counts).tolist(), strict=True))
        return Scores(
            sentences=sentences,
            **{name: values[name] for name in ("links", "sure", "possible", "source_covered", "target_covered")},
            source_words=values["source_words"] if self.source_known else None,
            target_words=values["target_words"] if self.target_known else None,
            **ratios,
        )


def compare(
    gold: Alignments,
    system: Alignments,
    *,
    source_lengths: Lengths | None = None,
    target_lengths: Lengths | None = None,
    null: bool = False,
    facts: Mapping[str, object] | None = None,
) -> Comparison:
    """Compare the links of `system` with those of `gold`.

    Parameters
    ----------
    gold
        The reference. All of its links are possible; those of the sure tier are also sure.
    system
        The links to judge; their tiers and confidences do not matter.
    source_lengths, target_lengths
        Words of each sentence pair, for the share of covered words and for `null`.
    null
        Count a word without links as linked to null, in the gold (where it is a sure link) and in the system.
    facts
        More facts for the signature, for example the base in which the files were written.

    Raises `DataError` where the numbers of sentence pairs differ or a link lies outside of its pair.

    Examples
    --------
    >>> gold = Alignments.from_links([[(0, 0), (1, 1)]])
    >>> compare(gold, Alignments.from_links([[(0, 0), (1, 0)]])).scores.aer
    0.5
    """
    counts = count_links(gold, system, source_lengths=source_lengths, target_lengths=target_lengths, null=null)
    return Comparison(
        counts,
        {
            "sentences": len(gold),
            "gold": "sure" if gold.sure.all() else "sure+possible",
            "null": "sure" if null else "no",
            **(facts or {}),
        },
        source_known=source_lengths is not None,
        target_known=target_lengths is not None,
    )
