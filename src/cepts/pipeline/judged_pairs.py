"""What the alignments of whole sentence pairs say of them, found by one process or, shard by shard, by any engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Sentence, SentencePair
from cepts.engine import JOB, PieceStep, Workplace, map_shards, piece_name, run_steps
from cepts.phrases.aligner import PhraseAligner
from cepts.phrases.directions import PhraseDirections
from cepts.phrases.words import CONTENT, FUNCTION, NUMBER, PUNCTUATION, kinds_of
from cepts.pipeline.phrase_jobs import PAIRS, aligner_of, begin_pairs, decoded, shards_of
from cepts.progress import Progress, Step, silent
from cepts.store import Shelf

JUDGED = "judged"  # where the pieces are
# The weight of a word in a sentence's meaning.
IMPORTANCE = {CONTENT: 1.0, NUMBER: 1.0, FUNCTION: 0.3, PUNCTUATION: 0.0}


class Judged(NamedTuple):
    """What is known of an aligned pair.

    Attributes
    ----------
    forward, reverse, decoding
        The paper's normalised decoding score: that of the best path of a direction, divided by the number of its words;
        and that of both paths, divided by the number of words of both.
    source, target
        How much of a side is said by the other side: the mean P(linked) of its words, weighted by `IMPORTANCE`.
    """

    forward: float
    reverse: float
    decoding: float
    source: float
    target: float


def judge_pairs(
    aligner: PhraseAligner, pairs: Sequence[SentencePair], *, progress: Progress | None = None
) -> list[Judged | None]:
    """What is known of each pair; None of one that cannot be aligned."""
    report = progress or silent
    found: list[Judged | None] = []
    runs = aligner.directions(pairs)
    for decoding in map_shards(lambda make: make(), runs.makers, threads=runs.threads):
        assert isinstance(decoding, PhraseDirections)
        scores = decoding.forward_path.scores + decoding.reverse_path.scores
        words = decoding.forward_path.path_words + decoding.reverse_path.path_words
        source_places, target_places = decoding.reverse.source_offsets, decoding.forward.target_offsets
        for n, pair in enumerate(decoding.sentence_pairs):
            if not aligner.fits(pair):
                found.append(None)
                continue
            assert decoding.reverse.source_null is not None
            assert decoding.forward.target_null is not None
            source_null = decoding.reverse.source_null[source_places[n] : source_places[n + 1]]
            target_null = decoding.forward.target_null[target_places[n] : target_places[n + 1]]
            found.append(
                Judged(
                    float(decoding.forward_path.normalised_scores[n]),
                    float(decoding.reverse_path.normalised_scores[n]),
                    float(scores[n] / words[n]),
                    _said(pair.source, source_null, aligner),
                    _said(pair.target, target_null, aligner),
                )
            )
        report(Step(stage="aligning", done=len(found), total=len(pairs)))
    return found


def judged_on(
    workplace: Workplace,
    model: str,
    max_length: int | None,
    pairs: Sequence[SentencePair],
    progress: Progress | None = None,
) -> list[Judged | None]:
    """What `judge_pairs` finds, shard by shard."""
    with workplace.shelf() as shelf:
        begin_judging(shelf, model, max_length, pairs)
        (step,) = run_steps(judge_steps(shelf), shelf, workplace.engine, progress)
        rows = np.concatenate([np.empty((0, len(Judged._fields))), *(piece[JUDGED] for piece in step.pieces(shelf))])
    return [None if np.isnan(row[0]) else Judged(*row) for row in rows.tolist()]


def begin_judging(shelf: Shelf, model: str, max_length: int | None, pairs: Sequence[SentencePair]) -> None:
    """Put on a shelf what judging needs."""
    begin_pairs(shelf, "judgements", model, pairs, max_length=max_length)


def judge_steps(shelf: Shelf) -> Iterator[PieceStep]:
    """The only step of a job that has its pairs and terms on a shelf."""
    yield PieceStep("judging", JUDGED, f"{__name__}:judge_shard", shards_of(shelf))


def judge_shard(shelf: Shelf, number: int) -> dict[str, NDArray[Any]]:
    """What is known of each pair of a shard; a pair that cannot be aligned has NaN."""
    terms = shelf.get(JOB).settings
    aligner = aligner_of(terms["model"], None, terms["max_length"])
    found = judge_pairs(aligner, decoded(shelf.get(piece_name(PAIRS, number))["pairs"]))
    unknown = (np.nan,) * len(Judged._fields)
    return {JUDGED: np.array([unknown if one is None else one for one in found], dtype=np.float64)}


def _said(sentence: Sentence, null: NDArray[np.float32], aligner: PhraseAligner) -> float:
    """The share of a sentence's meaning that is linked; of one without meaning, the share of its words."""
    weights = np.array([IMPORTANCE[kind] for kind in kinds_of(sentence, aligner.inventory_)])
    if not weights.any():
        weights[:] = 1.0
    return float(((1.0 - null) * weights).sum() / weights.sum())
