"""What a recogniser takes an utterance to be: lists of hypotheses with their scores."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Hypothesis", "Utterance"]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One reading of an utterance; scores are natural logarithms, the higher the better.

    Attributes
    ----------
    tokens
        The words.
    score
        What the recogniser gives it without a language model (acoustic, optical).
    lm_score
        What the recogniser's own language model gave it; None where the list does not say.
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
