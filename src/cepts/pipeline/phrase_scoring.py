"""Files of links of paraphrases against gold links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cepts.evaluate import PhraseComparison, Resampled, resample, score_phrases
from cepts.io import read_predicted_links, read_sentence_pairs
from cepts.pipeline.phrase_inputs import check_gold
from cepts.signature import signature

__all__ = ["GoldPairs", "PhraseScores", "score_phrase_files"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldPairs:
    """Sentence pairs with gold links in a file; `links` is a file with the links of pairs that have none."""

    path: str
    format: str = "auto"
    links: str | None = None
    base: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class PhraseScores:
    """What `score_phrase_files` found.

    Attributes
    ----------
    pairs
        How many sentence pairs there are.
    comparisons
        One for each system.
    resampled
        Intervals of each, and how each further system differs from the first.
    """

    pairs: int
    comparisons: list[PhraseComparison]
    resampled: Resampled

    @property
    def signature(self) -> str:
        """One line that says what was compared and how."""
        return signature({**self.comparisons[0].facts, **self.resampled.facts})


def score_phrase_files(
    gold: GoldPairs,
    systems: Sequence[str],
    *,
    format: str = "auto",
    protocol: Any = "macro",
    possible: bool = False,
    samples: int = 0,
    seed: int = 0,
) -> PhraseScores:
    """Score the links of systems against gold links of the same sentence pairs.

    Parameters
    ----------
    gold
        The reference.
    systems, format
        Files of links, and their format.
    protocol, possible
        As in `cepts.evaluate.score_phrases`.
    samples, seed
        Samples for intervals and for the comparison with the first system, and their seed; 0 samples make neither.
    """
    pairs = read_sentence_pairs(gold.path, format=gold.format, links=gold.links, base=gold.base)
    check_gold(pairs, gold.path)
    results = [
        score_phrases(
            pairs,
            read_predicted_links(path, pairs, format=format, base=gold.base),
            protocol=protocol,
            possible=possible,
        )
        for path in systems
    ]
    return PhraseScores(len(pairs), results, resample(results, samples=samples, seed=seed))
