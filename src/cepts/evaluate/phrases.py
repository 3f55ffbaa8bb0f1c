"""Precision, recall, F1 and exact match of monolingual alignments, whole and by kinds of links.

Four protocols, on the same counts of each pair (how semicrf and its successors scored):

- ``macro``: precision and recall are means over the pairs, 0 where a pair's denominator is 0.
- ``micro``: precision and recall of the sums over all pairs.
- ``jacana``: as the scorer of semicrf printed them. All links together are ``macro``; but its counters of the kinds of
  links are never reset between pairs, so each pair contributes the micro score of all pairs up to it (Tables 3 and 4).
- ``multimwa``: as ``macro``, but the precision (recall) of a pair without predicted and without gold links is 1.

F1 is the harmonic mean of precision and recall. Exact match is the share of pairs whose links are exactly
the gold ones.

The kinds are links of *identical* words (case-sensitive) and of others, and *token* and *phrase* rectangles: what
`extract.rectangles` makes of the links, of one cell or of more, each right only if the gold has the very same one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, SentencePair, gold_alignments, offsets_of
from cepts.errors import DataError, check_choice
from cepts.evaluate.counts import COLUMNS, count_links
from cepts.evaluate.resampling import Countable
from cepts.extract import check_range
from cepts.extract.rectangles import rectangles
from cepts.names import PROTOCOLS

PARTS = ("all", "identical", "other", "token", "phrase")
RATIOS = ("precision", "recall", "f1")

# Ratios of single pairs are held as whole numbers of this part of 1, so that sums over pairs are exact in any order.
ONE = 2.0**32


@dataclass(frozen=True, slots=True, kw_only=True)
class PartScores:
    """Scores of one kind of links; `predicted` and `gold` are their numbers in all pairs."""

    precision: float
    recall: float
    f1: float
    predicted: int
    gold: int


@dataclass(frozen=True, slots=True, eq=False)
class PhraseComparison(Countable):
    """Predicted links compared with the gold links of sentence pairs.

    Attributes
    ----------
    counts
        For each pair and each of `PARTS`: the predicted links, those of them that are right, the gold links, those of
        them that were found.
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

    @property
    def counted_parts(self) -> tuple[str, ...]:
        """The kinds whose scores follow from sums over pairs; running counts depend on the order of the pairs."""
        return PARTS[:1] if self.protocol == "jacana" else PARTS

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The scores that have intervals: `exact`, then those of each kind, such as `precision` and `phrase_f1`."""
        return (
            "exact",
            *(f"{part}_{ratio}".removeprefix("all_") for part in self.counted_parts for ratio in RATIOS),
        )

    def unit_counts(self) -> NDArray[np.float64]:
        """Whole numbers of each pair from which the metrics follow: pairs, exact matches, and of each kind either the
        four counts or precision and recall.
        """
        parts = self.counts[:, : len(self.counted_parts)].astype(np.float64)
        if self.protocol != "micro":
            parts = np.rint(ONE * _ratios(parts, empty=float(self.protocol == "multimwa")))
        pairs = len(parts)
        return np.concatenate(
            [
                np.ones((pairs, 1)),
                self.exact_pairs[:, None].astype(np.float64),
                parts.reshape(pairs, parts.shape[1] * parts.shape[2]),
            ],
            axis=1,
        )

    def metrics_of(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The metrics of sums of `unit_counts`."""
        pairs = np.maximum(sums[..., :1], 1)
        values = sums[..., 2:].reshape(*sums.shape[:-1], len(self.counted_parts), -1)
        ratios = _ratios(values, empty=0.0) if self.protocol == "micro" else values / (ONE * pairs[..., None])
        scores = np.concatenate([ratios, _harmonic_mean(ratios)[..., None]], axis=-1)
        return np.concatenate([sums[..., 1:2] / pairs, scores.reshape(*sums.shape[:-1], -1)], axis=-1)

    @property
    def exact(self) -> float:
        """Share of the pairs that match exactly."""
        return float(self.exact_pairs.mean()) if len(self.exact_pairs) else 0.0

    @property
    def parts(self) -> dict[str, PartScores]:
        """Scores of each of `PARTS`."""
        values = self.metrics_of(self.unit_counts().sum(axis=0))[1:].reshape(-1, len(RATIOS))
        if self.protocol == "jacana":
            values = np.concatenate([values, self._running()])
        totals = self.counts.sum(axis=0)
        return {
            part: PartScores(
                **dict(zip(RATIOS, values[n].tolist(), strict=True)),
                predicted=int(totals[n, 0]),
                gold=int(totals[n, 2]),
            )
            for n, part in enumerate(PARTS)
        }

    def _running(self) -> NDArray[np.float64]:
        """Scores of the kinds with counters that are never reset."""
        ratios = _ratios(np.cumsum(self.counts[:, 1:], axis=0).astype(np.float64), empty=0.0)
        means = ratios.sum(axis=0) / max(len(ratios), 1)
        return np.concatenate([means, _harmonic_mean(means)[:, None]], axis=1)

    @property
    def precision(self) -> float:
        """Precision of all links."""
        return self.parts["all"].precision

    @property
    def recall(self) -> float:
        """Recall of all links."""
        return self.parts["all"].recall

    @property
    def f1(self) -> float:
        """F1 of all links."""
        return self.parts["all"].f1

    def as_dict(self) -> dict[str, object]:
        """All figures by name, for JSON."""
        return {
            "pairs": len(self.counts),
            "exact": self.exact,
            **{part: asdict(scores) for part, scores in self.parts.items()},
        }


def score_phrases(
    gold: Sequence[SentencePair],
    predicted: Alignments,
    *,
    protocol: str = "macro",
    possible: bool = False,
    facts: Mapping[str, object] | None = None,
) -> PhraseComparison:
    """Compare the links of `predicted` with the gold links of sentence pairs.

    Parameters
    ----------
    gold
        The pairs, each with gold links.
    predicted
        The links to judge; their tiers and confidences do not matter.
    protocol
        One of `cepts.names.PROTOCOLS`; see the module's text.
    possible
        Without it, only the sure links are gold, and a predicted possible link is wrong. With it, that link is right
        in precision but not asked for in recall, and an exact match has all sure links and no other than possible ones.
        In ``multimwa``, which has no tiers, possible links then count as gold like sure ones.
    facts
        More facts for the signature.

    Raises `DataError` where the numbers of pairs differ, a pair has no gold, or a link lies outside of its pair.

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
            raise DataError(f"sentence pair {number:,}{name}: found no gold links, wanted them; give `sure`, or [].")
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
    counted = [
        whole,
        count_links(*(links.only(same) for links, same in both)),
        count_links(*(links.only(~same) for links, same in both)),
    ]
    counted += _count_rectangles(wanted, predicted)
    columns = [COLUMNS.index(name) for name in ("links", "possible_hits", "sure", "sure_hits")]
    counts = np.stack(counted, axis=1)[:, :, columns]
    exact = (counts[:, 0, 0] == counts[:, 0, 1]) & (counts[:, 0, 2] == counts[:, 0, 3])
    tiers = "sure" if not possible else "sure+possible" if protocol == "multimwa" else "sure,possible-allowed"
    return PhraseComparison(
        counts, exact, protocol, {"pairs": len(gold), "protocol": protocol, "gold": tiers, **(facts or {})}
    )


def _identical(pairs: Sequence[SentencePair], links: Alignments) -> NDArray[np.bool_]:
    """Which of `links` join a word with the same word."""
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
    """Counts, as `count_links` has them, of the rectangles of one cell and of those of more.

    Gold are those of the sure links, and possible those of all gold links.
    """
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
        return Alignments(
            offsets, codes[0][rows], codes[1][rows], np.ones(len(rows), dtype=np.float32), whose[rows] == 0
        )

    return [
        count_links(links_of((whose < 2) & (single == of_one)), links_of((whose == 2) & (single == of_one)))
        for of_one in (True, False)
    ]


def _ratios(counts: NDArray[np.float64], *, empty: float) -> NDArray[np.float64]:
    """Precision and recall of the four counts along the last axis: 0 of nothing, or `empty` where both are nothing."""
    wholes, parts = counts[..., ::2], counts[..., 1::2]
    nothing = (wholes.sum(axis=-1, keepdims=True) == 0) & np.ones_like(wholes, dtype=np.bool_)
    return np.divide(parts, wholes, out=np.where(nothing, empty, 0.0), where=wholes != 0)


def _harmonic_mean(ratios: NDArray[np.float64]) -> NDArray[np.float64]:
    """F1 of precision and recall along the last axis."""
    total = ratios.sum(axis=-1)
    return np.divide(2 * ratios.prod(axis=-1), total, out=np.zeros_like(total), where=total != 0)
