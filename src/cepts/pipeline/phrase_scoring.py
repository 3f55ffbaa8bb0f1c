"""Files of links of paraphrases against gold links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cepts.evaluate import PhraseComparison, resample, score_phrases
from cepts.io import read_predicted_links, read_sentence_pairs
from cepts.pipeline.phrase_inputs import check_gold
from cepts.pipeline.scoring import SystemScores


def score_phrase_files(
    gold: str,
    systems: Sequence[str],
    *,
    gold_format: str = "auto",
    gold_links: str | None = None,
    format: str = "auto",
    base: int = 0,
    protocol: Any = "macro",
    possible: bool = False,
    samples: int = 0,
    seed: int = 0,
) -> SystemScores[PhraseComparison]:
    """Score the links of systems against gold links of the same sentence pairs.

    Parameters
    ----------
    gold, gold_format, gold_links
        A file of sentence pairs with gold links, its format, and a file with the links of pairs that have none.
    systems, format
        Files of links, and their format.
    base
        Number of a sentence's first word in Pharaoh files.
    protocol, possible
        As in `cepts.evaluate.score_phrases`.
    samples, seed
        Samples for intervals and for the comparison with the first system, and their seed; 0 samples make neither.
    """
    pairs = read_sentence_pairs(gold, format=gold_format, links=gold_links, base=base)
    check_gold(pairs, gold)
    found = [read_predicted_links(path, pairs, format=format, base=base) for path in systems]
    results = [score_phrases(pairs, links, protocol=protocol, possible=possible) for links in found]
    return SystemScores(results, resample(results, samples=samples, seed=seed))
