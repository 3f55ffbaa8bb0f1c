"""Precision, recall and F1 on sure and on possible links, and the alignment error rate.

Goutte et al. (2004), eqs. (8) to (11), with A the system's links and T either the sure links S or the possible links P
(which include S): ``P_T = |A n T| / |A|``, ``R_T = |A n T| / |T|``, ``F_T = 2 |A n T| / (|A| + |T|)`` and ``AER = 1 -
(|A n S| + |A n P|) / (|A| + |S|)``. All are ratios of sums over the sentence pairs, so a resample of the pairs costs
one matrix product.

0 / 0 counts as perfect: without links no link is wrong (precision 1), without gold links none is missed (recall 1), and
without either F1 is 1 and AER 0. So F1 remains the harmonic mean of precision and recall.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Lengths, NullLinks, offsets_of
from cepts.errors import DataError, UsageError, check_choice
from cepts.evaluate.resampling import Countable
from cepts.names import NULL_TIERS

METRICS = (
    "sure_precision",
    "sure_recall",
    "sure_f1",
    "possible_precision",
    "possible_recall",
    "possible_f1",
    "aer",
)


COLUMNS = (
    "links",  # |A|
    "sure_hits",  # |A n S|
    "possible_hits",  # |A n P|
    "sure",  # |S|
    "possible",  # |P|; S is part of P
    "source_covered",  # source words with a link of the system
    "target_covered",
    "source_words",  # 0 if the lengths are not known
    "target_words",
)


def metrics(counts: NDArray[np.integer] | NDArray[np.floating]) -> NDArray[np.float64]:
    """Compute the scores from counts; the counts of `Comparison` and `METRICS` are along the last axis.

    Lower is better for ``aer``, higher for all others. 0 / 0 counts as perfect.
    """
    links, sure_hits, possible_hits, sure, possible = np.moveaxis(counts[..., :5].astype(np.float64), -1, 0)
    parts, wholes = [], []
    for hits, gold in ((sure_hits, sure), (possible_hits, possible)):
        parts += [hits, hits, 2 * hits]
        wholes += [links, gold, links + gold]
    part, whole = (np.stack(found, axis=-1) for found in ([*parts, sure_hits + possible_hits], [*wholes, links + sure]))
    found = np.divide(part, whole, out=np.ones_like(part), where=whole != 0)
    found[..., -1] = 1 - found[..., -1]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Precision, recall and F1 on sure and on possible links, and the alignment error rate (AER); from 0 to 1.

    Goutte et al. (2004), eqs. (8) to (11). With A the system's links, S the sure gold links and P the possible ones,
    which include S, ``AER = 1 - (|A n S| + |A n P|) / (|A| + |S|)``; lower is better. 0 / 0 counts as perfect.

    Attributes
    ----------
    sentences
        Number of sentence pairs.
    links, sure, possible
        Number of links of the system, of sure gold links, and of possible gold links, which include the sure ones.
    sure_precision, sure_recall, sure_f1
        Scores against the sure links.
    possible_precision, possible_recall, possible_f1
        Scores against the possible links.
    aer
        Alignment error rate.
    source_covered, target_covered
        Number of words that have a link of the system.
    source_words, target_words
        Number of all words; None if the lengths were not given.
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
        """All scores and counts by name, for JSON."""
        return {**asdict(self), **{name: getattr(self, name) for name in ("source_coverage", "target_coverage")}}


def _share(covered: int, words: int | None) -> float | None:
    if words is None:
        return None
    return covered / words if words else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Countable):
    """A system's links compared with gold links, pair by pair; `scores` are those of all pairs together.

    `counts` has one row for each sentence pair and columns for the number of the system's links, those that are sure,
    those that are possible, sure gold links, possible gold links, linked source words, linked target words, source
    words and target words. `source_known` and `target_known` say whether the lengths of that side were given.
    """

    counts: NDArray[np.int64]
    facts: Mapping[str, object] = field(default_factory=dict)
    source_known: bool = False
    target_known: bool = False

    metric_names: ClassVar = METRICS

    def __repr__(self) -> str:
        scores = self.scores
        return f"Comparison({scores.sentences:,} pairs, {scores.links:,} links, AER {scores.aer:.4f})"

    def unit_counts(self) -> NDArray[np.float64]:
        """The counts of each sentence pair from which the metrics are computed."""
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
    null: str = "no",
    facts: Mapping[str, object] | None = None,
) -> Comparison:
    """Compare the links of `system` with those of `gold`.

    Parameters
    ----------
    gold
        The reference. All of its links are possible links, and some of them are sure.
    system
        The links to judge; their confidence, and whether they are sure, does not matter.
    source_lengths, target_lengths
        Number of words of each sentence, for the share of words with links and for `null`.
    null
        How links to null are scored; one of `cepts.names.NULL_TIERS`. ``no`` ignores them. Otherwise every word of the
        system without links counts as linked to null. In the gold, links to null that its file states count with their
        own tier, and other words without links count as linked to null by a ``sure`` or a ``possible`` link, or, with
        ``gold``, not at all.
    facts
        More facts for the signature, for example whether positions in the files start at 0 or 1.

    Raises
    ------
    DataError
        If the numbers of sentence pairs differ, or a link lies outside its pair.

    Examples
    --------
    >>> gold = Alignments.from_links([[(0, 0), (1, 1)]])
    >>> compare(gold, Alignments.from_links([[(0, 0), (1, 0)]])).scores.aer
    0.5
    """
    counts = count_links(gold, system, source_lengths=source_lengths, target_lengths=target_lengths, null=null)
    tiers = "sure" if gold.sure.all() else "sure+possible"
    known = {"sentences": len(gold), "gold": tiers, "null": null, **(facts or {})}
    return Comparison(counts, known, source_lengths is not None, target_lengths is not None)


def count_links(
    gold: Alignments,
    system: Alignments,
    *,
    source_lengths: Lengths | None = None,
    target_lengths: Lengths | None = None,
    null: str = "no",
) -> NDArray[np.int64]:
    """Count links per sentence pair: one row per pair, one column for each of `COLUMNS`.

    The parameters are those of `compare`; links to null need both lengths.
    """
    check_choice("null", null, NULL_TIERS)
    pairs = len(gold)
    if len(system) != pairs:
        raise DataError(
            f"the gold links are for {pairs:,} sentence pairs but the system's are for {len(system):,}; "
            f"both must be for the same pairs, in the same order."
        )
    if null != "no" and (source_lengths is None or target_lengths is None):
        raise UsageError(f"`null` {null} needs the lengths of both sides (`source_lengths`, `target_lengths`).")

    gold_pair, system_pair = gold.pair, system.pair
    # Equal links get equal numbers; numbering in two steps cannot overflow.
    number = np.concatenate([gold_pair, system_pair])
    for both in ((gold.source, system.source), (gold.target, system.target)):
        positions = np.concatenate(both)
        number = np.unique(number * (int(positions.max(initial=0)) + 1) + positions, return_inverse=True)[1].reshape(-1)
    gold_number, system_number = np.split(number, [len(gold_pair)])
    places = {
        "links": system_pair,
        "sure_hits": system_pair[np.isin(system_number, gold_number[gold.sure])],
        "possible_hits": system_pair[np.isin(system_number, gold_number)],
        "sure": gold_pair[gold.sure],
        "possible": gold_pair,
    }
    counts = {name: np.bincount(pair, minlength=pairs) for name, pair in places.items()}
    for side, gold_words, system_words, lengths in (
        ("source", gold.source, system.source, source_lengths),
        ("target", gold.target, system.target, target_lengths),
    ):
        if lengths is None:
            distinct = np.unique(np.stack([system_pair, system_words]), axis=1)[0]
            counts[f"{side}_covered"] = np.bincount(distinct, minlength=pairs)
            counts[f"{side}_words"] = np.zeros(pairs, dtype=np.int64)
            continue
        words = counts[f"{side}_words"] = np.asarray(lengths, dtype=np.int64)
        if len(words) != pairs:
            raise DataError(
                f"the links are for {pairs:,} sentence pairs but there are {len(words):,} {side} sentences; "
                f"both must come from the same bitext."
            )
        gold_linked = _covered(gold_words, gold_pair, words, f"gold link has {side}")
        linked = _covered(system_words, system_pair, words, f"system link has {side}")
        pair_of_word = np.repeat(np.arange(pairs), words)
        counts[f"{side}_covered"] = np.bincount(pair_of_word[linked], minlength=pairs)
        if null == "no":
            continue
        own_sure, own = _stated(gold.nulls, side, words, "gold")
        rest = ~gold_linked & ~own if null in {"sure", "possible"} else np.zeros_like(own)
        gold_null = {"sure": own_sure | rest if null == "sure" else own_sure, "possible": own | rest}
        system_null = ~linked | _stated(system.nulls, side, words, "system")[1]
        counts["links"] += np.bincount(pair_of_word[system_null], minlength=pairs)
        for tier, found in gold_null.items():
            counts[tier] += np.bincount(pair_of_word[found], minlength=pairs)
            counts[f"{tier}_hits"] += np.bincount(pair_of_word[found & system_null], minlength=pairs)
    return np.stack([counts[name] for name in COLUMNS], axis=1)


def _stated(
    nulls: NullLinks | None, side: str, lengths: NDArray[np.int64], whose: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which words of a side have a sure null link, and which have any, by the links that a file states."""
    none = np.zeros(int(lengths.sum()), dtype=np.bool_)
    if nulls is None:
        return none, none
    here = nulls.side == ("source", "target").index(side)
    of_side = nulls.position[here], nulls.pair[here]
    sure = nulls.sure[here]
    what = f"{whose} link to null has {side}"
    return _covered(of_side[0][sure], of_side[1][sure], lengths, what), _covered(*of_side, lengths, what)


def _covered(
    positions: NDArray[np.int32], pair: NDArray[np.int64], lengths: NDArray[np.int64], what: str
) -> NDArray[np.bool_]:
    """Which words of a side have a link, all sentences one after the other."""
    outside = (positions < 0) | (positions >= lengths[pair])
    if outside.any():
        link = int(np.argmax(outside))
        raise DataError(
            f"sentence pair {pair[link] + 1:,}: a {what} position {positions[link]} (from 0) but there are "
            f"{lengths[pair[link]]:,} words; check that the files belong together, and whether they count from 0 or 1."
        )
    covered = np.zeros(int(lengths.sum()), dtype=np.bool_)
    covered[offsets_of(lengths)[pair] + positions] = True
    return covered
