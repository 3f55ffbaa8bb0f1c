"""The numbers of each sentence pair from which every score follows.

All scores are ratios of sums of these, so a resample of the sentences costs one matrix product.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Lengths
from cepts.errors import DataError, UsageError

COLUMNS = (
    "links",  # |A|
    "sure_hits",  # |A n S|
    "possible_hits",  # |A n P|
    "sure",  # |S|
    "possible",  # |P|; S is part of P
    "source_covered",  # source words with a link of the system
    "target_covered",
    "source_words",  # 0 where the lengths are not known
    "target_words",
)


def count_links(
    gold: Alignments,
    system: Alignments,
    *,
    source_lengths: Lengths | None = None,
    target_lengths: Lengths | None = None,
    null: bool = False,
) -> NDArray[np.int64]:
    """Count links per sentence pair: one row per pair, one column for each of `COLUMNS`.

    Every link of `gold` is possible and those of the sure tier are also sure. The tiers of `system` do not
    matter. With `null`, a word that has no gold link is linked to null by the gold, as a sure link, and a word
    that has no system link is linked to null by the system; both lengths are needed to know these words.
    """
    pairs = len(gold)
    if len(system) != pairs:
        raise DataError(
            f"the gold links are of {pairs:,} sentence pairs but the system's are of {len(system):,}; "
            f"both must be of the same pairs, in the same order."
        )
    if null and (source_lengths is None or target_lengths is None):
        raise UsageError("`null` needs the lengths of both sides (`source_lengths`, `target_lengths`).")

    counts = np.zeros((pairs, len(COLUMNS)), dtype=np.int64)
    gold_pair, system_pair = _pair_of_links(gold), _pair_of_links(system)
    hit, sure_hit = _found_in(gold, gold_pair, system, system_pair)
    for column, pair in (
        ("links", system_pair),
        ("sure_hits", system_pair[sure_hit]),
        ("possible_hits", system_pair[hit]),
        ("sure", gold_pair[gold.sure]),
        ("possible", gold_pair),
    ):
        counts[:, COLUMNS.index(column)] = np.bincount(pair, minlength=pairs)

    for side, gold_words, system_words, lengths in (
        ("source", gold.source, system.source, source_lengths),
        ("target", gold.target, system.target, target_lengths),
    ):
        if lengths is None:
            width = int(system_words.max(initial=0)) + 1
            covered = np.unique(system_pair * width + system_words)
            counts[:, COLUMNS.index(f"{side}_covered")] = np.bincount(covered // width, minlength=pairs)
            continue
        words = np.asarray(lengths, dtype=np.int64)
        if len(words) != pairs:
            raise DataError(
                f"the links are of {pairs:,} sentence pairs but there are {len(words):,} {side} sentences; "
                f"both must come from the same bitext."
            )
        by_gold = _covered(gold_words, gold_pair, words, f"gold link has {side} position")
        by_system = _covered(system_words, system_pair, words, f"system link has {side} position")
        pair_of_word = np.repeat(np.arange(pairs), words)

        def per_pair(chosen: NDArray[np.bool_], pair: NDArray[np.int64] = pair_of_word) -> NDArray[np.int64]:
            return np.bincount(pair[chosen], minlength=pairs)

        counts[:, COLUMNS.index(f"{side}_covered")] = per_pair(by_system)
        counts[:, COLUMNS.index(f"{side}_words")] = words
        if null:
            counts[:, COLUMNS.index("links")] += per_pair(~by_system)
            for tier in ("sure", "possible"):
                counts[:, COLUMNS.index(tier)] += per_pair(~by_gold)
                counts[:, COLUMNS.index(f"{tier}_hits")] += per_pair(~by_gold & ~by_system)
    return counts


def _pair_of_links(alignments: Alignments) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(alignments)), np.diff(alignments.offsets))


def _found_in(
    gold: Alignments, gold_pair: NDArray[np.int64], system: Alignments, system_pair: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which links of `system` are gold links, and which are sure ones."""
    hit = np.zeros(len(system.source), dtype=np.bool_)
    sure_hit = hit.copy()
    if not len(gold.source) or not len(system.source):
        return hit, sure_hit
    number = _numbers(
        np.concatenate([gold_pair, system_pair]),
        np.concatenate([gold.source, system.source]),
        np.concatenate([gold.target, system.target]),
    )
    gold_number, system_number = number[: len(gold.source)], number[len(gold.source) :]
    tier = np.zeros(number.max() + 1, dtype=np.int8)
    tier[gold_number] = 1
    tier[gold_number[gold.sure]] = 2
    return tier[system_number] >= 1, tier[system_number] == 2


def _numbers(pair: NDArray[np.int64], source: NDArray[np.int32], target: NDArray[np.int32]) -> NDArray[np.int64]:
    """A number for each link, the same for equal links; numbering in two steps cannot overflow."""
    words = pair
    for positions in (source, target):
        number = words * (int(positions.max(initial=0)) + 1) + positions
        words = np.unique(number, return_inverse=True)[1].reshape(-1)
    return words


def _covered(
    positions: NDArray[np.int32], pair: NDArray[np.int64], lengths: NDArray[np.int64], what: str
) -> NDArray[np.bool_]:
    """Which words of a side have a link, all sentences one after the other."""
    outside = (positions < 0) | (positions >= lengths[pair])
    if outside.any():
        link = int(np.argmax(outside))
        raise DataError(
            f"sentence pair {pair[link] + 1:,}: a {what} {positions[link]} (from 0) but there are "
            f"{lengths[pair[link]]:,} words; check that the files belong together and their base."
        )
    starts = np.cumsum(lengths) - lengths
    covered = np.zeros(int(lengths.sum()), dtype=np.bool_)
    covered[starts[pair] + positions] = True
    return covered
