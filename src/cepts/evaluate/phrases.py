"""Precision, recall, F1 and exact match of monolingual alignments, for all links and for kinds of links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, SentencePair, gold_alignments, offsets_of
from cepts.errors import DataError, check_choice
from cepts.evaluate.resampling import Countable, Metric
from cepts.evaluate.scores import COLUMNS, count_links
from cepts.extract import check_range
from cepts.extract.rectangles import rectangles
from cepts.names import PROTOCOLS

PARTS = ("all", "identical", "other", "token", "phrase")
RATIOS = ("precision", "recall", "f1")

# Ratios of single pairs are stored as multiples of 1 / ONE, so that sums over pairs are exact in any order.
ONE = 2.0**32


class PartScores(NamedTuple):
    """Scores of one kind of links; `predicted` and `gold` are the numbers of such links in all pairs."""

    precision: float
    recall: float
    f1: float
    predicted: int
    gold: int


@dataclass(frozen=True, slots=True, eq=False)
class PhraseComparison(Countable):
    """Predicted links compared with the gold links of sentence pairs; see `score_phrases`.

    Attributes
    ----------
    counts
        For each pair and each of `PARTS`: the number of predicted links, of right ones among them, of gold links, and
        of gold links that were found.
    exact_pairs
        Which pairs match exactly.
    protocol
        How pairs are averaged.
    facts
        What the signature says.
    """

    counts: NDArray[np.int64]
    exact_pairs: NDArray[np.bool_]
    protocol: str
    facts: Mapping[str, object]

    exact, precision, recall, f1 = map(Metric, ("exact", *RATIOS))

    @property
    def counted_parts(self) -> tuple[str, ...]:
        """The kinds whose scores can be computed from sums over pairs.

        In ``jacana``, the scores of all other kinds depend on the order of the pairs.
        """
        return PARTS[:1] if self.protocol == "jacana" else PARTS

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The scores that have intervals: `exact`, and those of each kind, such as `precision` and `phrase_f1`."""
        ratios = [f"{part}_{ratio}".removeprefix("all_") for part in self.counted_parts for ratio in RATIOS]
        return ("exact", *ratios)

    def unit_counts(self) -> NDArray[np.float64]:
        """For each pair 1, whether it is exact, and for each kind either the four counts or precision and recall."""
        parts = self.counts[:, : len(self.counted_parts)].astype(np.float64)
        if self.protocol != "micro":
            parts = np.rint(ONE * _ratios(parts, empty=float(self.protocol == "multimwa")))
        flat = parts.reshape(len(parts), parts.shape[1] * parts.shape[2])
        return np.column_stack([np.ones(len(parts)), self.exact_pairs, flat])

    def metrics_of(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The metrics of sums of `unit_counts`."""
        pairs = np.maximum(sums[..., :1], 1)
        values = sums[..., 2:].reshape(*sums.shape[:-1], len(self.counted_parts), -1)
        ratios = _ratios(values, empty=0.0) if self.protocol == "micro" else values / (ONE * pairs[..., None])
        scores = np.concatenate([ratios, _harmonic_mean(ratios)[..., None]], axis=-1)
        return np.concatenate([sums[..., 1:2] / pairs, scores.reshape(*sums.shape[:-1], -1)], axis=-1)

    @property
    def parts(self) -> dict[str, PartScores]:
        """Scores of each of `PARTS`."""
        values = self.metrics_of(self.unit_counts().sum(axis=0))[1:].reshape(-1, len(RATIOS))
        if self.protocol == "jacana":
            # The counters of the kinds are never reset between pairs.
            ratios = _ratios(np.cumsum(self.counts[:, 1:], axis=0).astype(np.float64), empty=0.0)
            means = ratios.sum(axis=0) / max(len(ratios), 1)
            values = np.concatenate([values, np.column_stack([means, _harmonic_mean(means)])])
        totals = self.counts.sum(axis=0)[:, ::2].tolist()
        return {part: PartScores(*values[n].tolist(), *totals[n]) for n, part in enumerate(PARTS)}

    def as_dict(self) -> dict[str, object]:
        """The number of pairs and all scores by name, for JSON."""
        parts = {part: scores._asdict() for part, scores in self.parts.items()}
        return {"pairs": len(self.counts), "exact": self.exact, **parts}


def score_phrases(
    gold: Sequence[SentencePair],
    predicted: Alignments,
    *,
    protocol: str = "macro",
    possible: bool = False,
    facts: Mapping[str, object] | None = None,
) -> PhraseComparison:
    """Score predicted links of paraphrases against gold links, for all links and for kinds of links.

    The kinds are links between *identical* words (case-sensitive) and between *other* words, and *token* and *phrase*
    alignments: the rectangles that `cepts.extract.rectangles` finds in the links, of one cell and of several cells. A
    rectangle is right only if the gold links have the same rectangle. F1 is the harmonic mean of precision and recall.
    Exact match is the share of pairs whose links equal the gold links.

    Parameters
    ----------
    gold
        The pairs, each with gold links.
    predicted
        The links to judge; their confidence, and whether they are sure, does not matter.
    protocol
        How precision and recall are averaged. ``macro``: means over the pairs, where 0 / 0 counts as 0. ``micro``:
        ratios of sums over all pairs. ``jacana``: as the scorer of Yao et al. (2013) prints them, which is ``macro``
        for all links, but for each kind the mean, over the pairs, of the micro score of all pairs so far, because its
        counters of kinds are never reset (their Tables 3 and 4). ``multimwa``: as ``macro``, but precision and recall
        of a pair without predicted and without gold links are 1.
    possible
        False: only sure links are gold links, and a predicted possible link is wrong. True: a predicted possible link
        is right for precision but not needed for recall, and an exact match has all sure links and beyond these only
        possible ones; in ``multimwa``, possible links are gold links like sure ones.
    facts
        More facts for the signature.

    Raises
    ------
    DataError
        If the numbers of pairs differ, a pair has no gold links, or a link lies outside its pair.

    Examples
    --------
    >>> from cepts.data import Sentence
    >>> pair = SentencePair(Sentence(("a", "b")), Sentence(("a", "c")), sure=((0, 0), (1, 1)))
    >>> scores = score_phrases([pair], Alignments.from_links([[(0, 0)]]))
    >>> scores.precision, scores.recall, scores.parts["other"].recall
    (1.0, 0.5, 0.0)
    """
    check_choice("protocol", protocol, PROTOCOLS)
    for number, pair in enumerate(gold, start=1):
        if pair.sure is None:
            name = f" ({pair.id})" if pair.id else ""
            raise DataError(
                f"sentence pair {number:,}{name}: found no gold links; give `sure` links, or an empty list of them."
            )
    wanted = gold_alignments(gold)
    if not possible:
        wanted = wanted.only(wanted.sure)
    elif protocol == "multimwa":
        wanted = replace(wanted, sure=np.ones_like(wanted.sure))
    lengths = [len(pair.source) for pair in gold], [len(pair.target) for pair in gold]
    whole = count_links(wanted, predicted)
    for name, links in (("gold", wanted), ("predicted", predicted)):
        check_range(links, *lengths, name=f"the {name} links")

    both = (wanted, _identical(gold, wanted)), (predicted, _identical(gold, predicted))
    identical = count_links(*(links.only(same) for links, same in both))
    other = count_links(*(links.only(~same) for links, same in both))
    columns = [COLUMNS.index(name) for name in ("links", "possible_hits", "sure", "sure_hits")]
    counts = np.stack([whole, identical, other, *_count_rectangles(wanted, predicted)], axis=1)[:, :, columns]
    exact = (counts[:, 0, 0] == counts[:, 0, 1]) & (counts[:, 0, 2] == counts[:, 0, 3])
    tiers = "sure" if not possible else "sure+possible" if protocol == "multimwa" else "sure,possible-allowed"
    known = {"pairs": len(gold), "protocol": protocol, "gold": tiers, **(facts or {})}
    return PhraseComparison(counts, exact, protocol, known)


def _identical(pairs: Sequence[SentencePair], links: Alignments) -> NDArray[np.bool_]:
    """Which of `links` are between identical words."""
    numbers: dict[str, int] = {}
    words = []
    for side, positions in (("source", links.source), ("target", links.target)):
        sentences = [getattr(pair, side).tokens for pair in pairs]
        ids = np.array([numbers.setdefault(word, len(numbers)) for tokens in sentences for word in tokens], np.int64)
        starts = np.repeat(offsets_of([len(tokens) for tokens in sentences])[:-1], np.diff(links.offsets))
        words.append(ids[starts + positions])
    same: NDArray[np.bool_] = words[0] == words[1]
    return same


def _count_rectangles(gold: Alignments, predicted: Alignments) -> list[NDArray[np.int64]]:
    """What `count_links` counts, for rectangles of one cell and of several; those of all gold links are possible."""
    found = [rectangles(links) for links in (gold.only(gold.sure), gold, predicted)]
    spans = np.concatenate([each.spans for each in found])
    pair = np.concatenate([np.repeat(np.arange(len(each)), np.diff(each.offsets)) for each in found])
    whose = np.repeat(np.arange(len(found)), [len(each.spans) for each in found])
    single = (spans[:, 1::2] - spans[:, ::2] == 1).all(axis=1)
    # A rectangle is a link between a source span and a target span.
    packed = spans[:, ::2].astype(np.int64) << 32 | spans[:, 1::2]
    codes = [np.unique(side, return_inverse=True)[1].astype(np.int32) for side in packed.T]

    def links_of(chosen: NDArray[np.bool_]) -> Alignments:
        rows = np.flatnonzero(chosen)
        rows = rows[np.argsort(pair[rows], kind="stable")]
        offsets = offsets_of(np.bincount(pair[rows], minlength=len(gold)))
        ones = np.ones(len(rows), dtype=np.float32)
        return Alignments(offsets, codes[0][rows], codes[1][rows], ones, whose[rows] == 0)

    return [
        count_links(links_of((whose < 2) & (single == of_one)), links_of((whose == 2) & (single == of_one)))
        for of_one in (True, False)
    ]


def _ratios(counts: NDArray[np.float64], *, empty: float) -> NDArray[np.float64]:
    """Precision and recall of the four counts along the last axis: 0 for 0 / 0, or `empty` where both are 0 / 0."""
    wholes, parts = counts[..., ::2], counts[..., 1::2]
    nothing = (wholes.sum(axis=-1, keepdims=True) == 0) & np.ones_like(wholes, dtype=np.bool_)
    return np.divide(parts, wholes, out=np.where(nothing, empty, 0.0), where=wholes != 0)


def _harmonic_mean(ratios: NDArray[np.float64]) -> NDArray[np.float64]:
    """F1 of precision and recall along the last axis."""
    total = ratios.sum(axis=-1)
    return np.divide(2 * ratios.prod(axis=-1), total, out=np.zeros_like(total), where=total != 0)
