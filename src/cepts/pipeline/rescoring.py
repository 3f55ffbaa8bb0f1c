"""Rescoring lists of readings with an adapted model, whose history goes from utterance to utterance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from cepts.data import SPECIAL, Text, Utterance, offsets_of
from cepts.errors import DataError, UsageError
from cepts.evaluate import WordErrors, closest_reading, word_errors
from cepts.lm import AdaptedModel, Memory, Scored
from cepts.progress import Progress, Step, silent

__all__ = [
    "RESETS",
    "ListErrors",
    "Rescored",
    "Reset",
    "Tuned",
    "list_errors",
    "own_choice",
    "references_of",
    "rescore",
    "tune_weights",
]

Reset = Literal["never", "talk", "utterance"]
RESETS: tuple[Reset, ...] = get_args(Reset)
LEAST_LOG_PROB = -100.0  # of a word to which no model gives any probability; lists want finite scores
WEIGHTS = (0.0, *(float(f"{0.01 * 1.25**step:.3g}") for step in range(40)))
BONUSES = tuple(step / 2 for step in range(-8, 21))  # for each word, as multiples of the weight
ROUNDS = 3


class Rescored(NamedTuple):
    """An utterance, what the model gives to each reading (natural logarithms), and all scores together."""

    utterance: Utterance
    lm_scores: list[float]
    totals: list[float]

    @property
    def best(self) -> int:
        """The reading with the highest total, the first of equals."""
        return max(range(len(self.totals)), key=self.totals.__getitem__)


def rescore(
    model: AdaptedModel,
    utterances: Iterable[Utterance],
    *,
    weight: float = 1.0,
    word_bonus: float = 0.0,
    own_weight: float = 0.0,
    unknown_penalty: float | None = None,
    reset: Reset = "never",
    memory: Memory | None = None,
    lowercase: bool = False,
) -> Iterator[Rescored]:
    """Score readings: total = score + weight * log P(reading | history) + word_bonus * words + own_weight * lm_score.

    The history goes on with the best reading of each utterance.

    Parameters
    ----------
    own_weight
        Of the score that the recogniser's own language model gave, which the lists must then have.
    unknown_penalty
        Taken off log P for each unknown word, in nats: the probability of ``<unk>`` is that of all unknown words
        together. By default as if there were as many of them as of known words, log of their number.
    reset
        When the history starts anew: ``never``, with each ``utterance``, or with each ``talk``, where what stands in
        the utterance's name before its last ``-`` or ``_`` changes.
    memory
        What the history starts with; by default nothing.
    lowercase
        Look words up in lower case.
    """
    if reset not in RESETS:
        raise UsageError(f"reset must be one of {', '.join(RESETS)}. Got {reset!r} instead.")
    penalty = float(np.log(len(model.vocabulary))) if unknown_penalty is None else unknown_penalty
    start = memory or model.memory()
    now, talk = start.copy(), ""
    for utterance in utterances:
        fresh = reset == "utterance" or (reset == "talk" and _talk(utterance.id) != talk)
        talk = _talk(utterance.id)
        if fresh:
            now = start.copy()
        found = Rescored(utterance, [], [])
        for number, hypothesis in enumerate(utterance.hypotheses):
            words = [word.lower() for word in hypothesis.tokens] if lowercase else hypothesis.tokens
            marks = set(SPECIAL[1:]).intersection(words)
            if marks:
                raise DataError(
                    f"utterance {utterance.id!r}, reading {number + 1}: found the word {min(marks)}, wanted readings "
                    f"without marks of start and end, which are added; leave it out."
                )
            after = now.copy()
            log_prob = _log_prob(model.score(Text.from_tokens([words]), after, threads=1), model, penalty)
            found.lm_scores.append(log_prob)
            given = given_score(utterance, number, own_weight)
            found.totals.append(given + weight * log_prob + word_bonus * len(hypothesis.tokens))
            if found.best == number:
                following = after
        now = following
        yield found


def given_score(utterance: Utterance, number: int, own_weight: float) -> float:
    """What a list says of a reading: its score and, weighted, that of the recogniser's own language model."""
    hypothesis = utterance.hypotheses[number]
    if not own_weight:
        return hypothesis.score
    if hypothesis.lm_score is None:
        raise DataError(
            f"utterance {utterance.id!r}, reading {number + 1}: found no score of the recogniser's own language model, "
            f"wanted one, for it is to weigh {own_weight:g}; add lm_score to the lists, or leave --own-weight out."
        )
    return hypothesis.score + own_weight * hypothesis.lm_score


def _talk(name: str) -> str:
    return name[: max(name.rfind("-"), name.rfind("_"), 0)]


def _log_prob(scored: Scored, model: AdaptedModel, penalty: float) -> float:
    probs = scored.mixed(model.weights, model.mixture)
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(probs), LEAST_LOG_PROB)
    return float(logs.sum()) - penalty * int((~scored.known).sum())


class ListErrors(NamedTuple):
    """Word errors of the recogniser's own first choice, of that after rescoring, and of the best that is there."""

    before: WordErrors
    after: WordErrors
    oracle: WordErrors


def list_errors(
    rescored: Sequence[Rescored], references: Mapping[str, tuple[str, ...]] | None = None, *, name: str = ""
) -> ListErrors | None:
    """Errors of rescored lists against their references, those of `references` first; None where there are none.

    Before rescoring the choice is the reading with the highest score, with that of the recogniser's own language model
    where the list has it.
    """
    wanted = references_of([found.utterance for found in rescored], references)
    if wanted is None:
        return None
    before, after, oracle = [], [], []
    for found, reference in zip(rescored, wanted, strict=True):
        hypotheses = found.utterance.hypotheses
        readings = [hypothesis.tokens for hypothesis in hypotheses]
        before.append(readings[own_choice(found.utterance)])
        after.append(readings[found.best])
        oracle.append(readings[closest_reading(reference, readings)])
    return ListErrors(*(word_errors(wanted, readings, name=name) for readings in (before, after, oracle)))


def own_choice(utterance: Utterance) -> int:
    """The reading that the recogniser itself has chosen, the first of equals."""
    own = [hypothesis.score + (hypothesis.lm_score or 0.0) for hypothesis in utterance.hypotheses]
    return max(range(len(own)), key=own.__getitem__)


def references_of(
    utterances: Sequence[Utterance], references: Mapping[str, tuple[str, ...]] | None = None
) -> list[tuple[str, ...]] | None:
    """The reference of each utterance, that of `references` first; None where there are none at all."""
    wanted = [(references or {}).get(utterance.id, utterance.reference) for utterance in utterances]
    lacking = [utterance.id for utterance, one in zip(utterances, wanted, strict=True) if one is None]
    if len(lacking) == len(utterances) and not references:
        return None
    if lacking:
        raise DataError(
            f"found no reference of the utterance {lacking[0]!r}"
            + (f" and {len(lacking) - 1:,} others" if len(lacking) > 1 else "")
            + f", wanted one for each of {len(utterances):,}; add them, or leave all references out."
        )
    return [one for one in wanted if one is not None]


class Tuned(NamedTuple):
    """The weight and word bonus with the fewest errors, and what they give on the lists that chose them."""

    weight: float
    word_bonus: float
    rescored: list[Rescored]


def tune_weights(
    model: AdaptedModel,
    utterances: Sequence[Utterance],
    references: Mapping[str, tuple[str, ...]] | None = None,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Tuned:
    """Find the weight of the model and the bonus for each word that give the fewest errors on these lists.

    A grid is searched with the model's scores as they are; then the lists are rescored, for the readings that were
    chosen are the history of those that follow, and the grid is searched again. `options` are those of `rescore`.
    """
    wanted = references_of(utterances, references)
    if wanted is None:
        raise UsageError("weights are tuned by references, which the lists do not have; give --references FILE.")
    best: Tuned | None = None
    fewest = -1
    weight, bonus = 1.0, 0.0
    for number in range(ROUNDS):
        lists = list(rescore(model, utterances, weight=weight, word_bonus=bonus, **options))
        if number == 0:
            edits = _edits(lists, wanted)
        own = sum(int(edits[start + found.best]) for start, found in zip(_starts(lists), lists, strict=True))
        if best is None or own < fewest:
            best, fewest = Tuned(weight, bonus, lists), own
        (progress or silent)(Step(stage="tuning", done=number + 1, total=ROUNDS))
        weight, bonus = _grid(lists, edits, options.get("own_weight", 0.0))
    assert best is not None
    return best


def _starts(lists: Sequence[Rescored]) -> list[int]:
    return offsets_of([len(found.totals) for found in lists])[:-1].tolist()


def _edits(lists: Sequence[Rescored], references: Sequence[tuple[str, ...]]) -> NDArray[np.int64]:
    """Errors of every reading of every list."""
    pairs = [
        (one, hypothesis.tokens)
        for one, found in zip(references, lists, strict=True)
        for hypothesis in found.utterance.hypotheses
    ]
    return np.asarray(word_errors(*zip(*pairs, strict=True)).counts[:, :3].sum(axis=1))


def _grid(lists: Sequence[Rescored], edits: NDArray[np.int64], own_weight: float) -> tuple[float, float]:
    """The weight and the bonus with the fewest errors; of equals those without a bonus, and of these the middle one."""
    starts = _starts(lists)
    sizes = [len(found.totals) for found in lists]
    groups = np.repeat(np.arange(len(lists)), sizes)
    hypotheses = [hypothesis for found in lists for hypothesis in found.utterance.hypotheses]
    scores = np.array(
        [given_score(found.utterance, number, own_weight) for found in lists for number in range(len(found.totals))]
    )
    words = np.array([len(hypothesis.tokens) for hypothesis in hypotheses], dtype=np.float64)
    lm_scores = np.array([score for found in lists for score in found.lm_scores])
    tried = [(weight, bonus) for weight in WEIGHTS for bonus in (BONUSES if weight else (0.0,))]
    counts = np.empty(len(tried), dtype=np.int64)
    for place, (weight, bonus) in enumerate(tried):
        totals = scores + weight * (lm_scores + bonus * words)
        best = np.flatnonzero(totals == np.maximum.reduceat(totals, starts)[groups])
        counts[place] = edits[best[np.unique(groups[best], return_index=True)[1]]].sum()
    equal = np.flatnonzero(counts == counts.min())
    plain = [place for place in equal.tolist() if not tried[place][1]]
    equal = np.array(plain) if plain else equal
    where = np.array([(np.log(max(tried[place][0], WEIGHTS[1] / 2)), tried[place][1]) for place in equal])
    distances = ((where - where.mean(axis=0)) ** 2 / np.maximum(where.var(axis=0), 1e-12)).sum(axis=1)
    weight, bonus = tried[int(equal[distances.argmin()])]
    return weight, float(f"{weight * bonus:.3g}")
