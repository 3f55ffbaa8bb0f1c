"""Judging whole sentence pairs by their alignments: entailment, paraphrase, answers (semicrf, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Sentence, SentencePair
from cepts.phrases.aligner import PhraseAligner
from cepts.phrases.words import CONTENT, FUNCTION, NUMBER, PUNCTUATION, kinds_of
from cepts.progress import Progress

__all__ = ["JUDGEMENT_SCORES", "JUDGEMENT_SCORE_OF", "Judged", "judge_pairs", "pair_scores"]

# What a word counts for in a sentence's meaning.
IMPORTANCE = {CONTENT: 1.0, NUMBER: 1.0, FUNCTION: 0.3, PUNCTUATION: 0.0}


class Judged(NamedTuple):
    """What is known of an aligned pair.

    Attributes
    ----------
    decoding
        The paper's normalised decoding score: that of both directions' best paths, divided by their states.
    source, target
        Of the words of a side, by how much they matter, the share that the other side says: P(linked) of each.
    """

    decoding: float
    source: float
    target: float


# Name -> how that becomes one number, higher for yes. `target` asks how much of the target sentence (the hypothesis,
# the question) the source says, `both` how much each sentence says of the other.
JUDGEMENT_SCORES: dict[str, Callable[[Judged], float]] = {
    "decoding": lambda judged: judged.decoding,
    "target": lambda judged: judged.target,
    "both": lambda judged: judged.source * judged.target,
}
# Task -> the score that tells its training pairs apart best (benchmarks/phrases.py, table `judgements`).
JUDGEMENT_SCORE_OF = {"rte": "target", "paraphrase": "both", "qa": "target"}


def pair_scores(
    aligner: PhraseAligner, pairs: Sequence[SentencePair], score: str = "decoding", *, progress: Progress | None = None
) -> NDArray[np.float64]:
    """The score of each pair by a function of `JUDGEMENT_SCORES`; a pair that cannot be aligned has the lowest."""
    judge = JUDGEMENT_SCORES[score]
    values = np.array([np.nan if one is None else judge(one) for one in judge_pairs(aligner, pairs, progress=progress)])
    missing = np.isnan(values)
    values[missing] = 0.0 if missing.all() else values[~missing].min()
    return values


def judge_pairs(
    aligner: PhraseAligner, pairs: Sequence[SentencePair], *, progress: Progress | None = None
) -> list[Judged | None]:
    """What is known of each pair; None of one that cannot be aligned."""
    found: list[Judged | None] = []
    for decoded in aligner.blocks(pairs, progress=progress):
        scores = decoded.forward_path.scores + decoded.reverse_path.scores
        states = decoded.forward_path.states + decoded.reverse_path.states
        source_places, target_places = decoded.reverse.source_offsets, decoded.forward.target_offsets
        for n, pair in enumerate(decoded.pairs):
            if not aligner.fits(pair):
                found.append(None)
                continue
            assert decoded.reverse.source_null is not None
            assert decoded.forward.target_null is not None
            source_null = decoded.reverse.source_null[source_places[n] : source_places[n + 1]]
            target_null = decoded.forward.target_null[target_places[n] : target_places[n + 1]]
            found.append(
                Judged(
                    float(scores[n] / states[n]),
                    _said(pair.source, source_null, aligner),
                    _said(pair.target, target_null, aligner),
                )
            )
    return found


def _said(sentence: Sentence, null: NDArray[np.float32], aligner: PhraseAligner) -> float:
    """The share of a sentence's meaning that is linked; of one without meaning, the share of its words."""
    weights = np.array([IMPORTANCE[kind] for kind in kinds_of(sentence, aligner.inventory_)])
    if not weights.any():
        weights[:] = 1.0
    return float(((1.0 - null) * weights).sum() / weights.sum())
