"""N-best lists of a recogniser: hypotheses of each utterance, with their scores."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One hypothesis of an utterance; scores are natural logarithms, higher is better.

    `score` is the recogniser's score without a language model (acoustic, optical), `lm_score` that of its own language
    model; None where the list does not have it.
    """

    tokens: tuple[str, ...]
    score: float
    lm_score: float | None = None


@dataclass(frozen=True, slots=True)
class Utterance:
    """The hypotheses of one utterance, in the order of the list, and the reference transcript where it is known."""

    id: str
    hypotheses: tuple[Hypothesis, ...]
    reference: tuple[str, ...] | None = None
