"""Rescoring the n-best lists of a recogniser with an adapted model, which remembers the utterances before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import SPECIAL, Text, Utterance, offsets_of
from cepts.errors import DataError, UsageError, check_choice, shown
from cepts.evaluate import WordErrors, closest_hypothesis, word_errors
from cepts.io import check_output, read_hypotheses, read_transcripts, write_hypotheses
from cepts.io.files import PathLike, check_stdin, last_suffix
from cepts.lm import AdaptedModel, Memory, Scored
from cepts.names import RESETS
from cepts.pipeline.inputs import AS_FOUND, TextReading
from cepts.pipeline.lm import model_facts
from cepts.pipeline.notices import unknown_notice
from cepts.pipeline.reports import Report, Table, counted
from cepts.progress import Progress, Step, Stopwatch, silent
from cepts.signature import signature

LEAST_LOG_PROB = -100.0  # stands for the logarithm of 0, because lists need finite scores
WEIGHTS = (0.0, *(float(f"{0.01 * 1.25**step:.3g}") for step in range(40)))
BONUSES = tuple(step / 2 for step in range(-8, 21))  # bonuses for each word, as multiples of the weight
ROUNDS = 3
ROWS = {"before": "before", "after": "rescored", "oracle": "oracle"}
BY_SUFFIX = {".tsv": "tsv", ".jsonl": "jsonl", ".json": "jsonl", ".trn": "trn"}


NUMBER = "a finite number"
WANTED = {"weight": "0 or more", "own_weight": "0 or more", "word_bonus": NUMBER, "unknown_penalty": NUMBER}


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoreOptions:
    """How hypotheses are scored: total = score + weight * log P + word_bonus * words + own_weight * lm_score.

    Attributes
    ----------
    weight
        Weight of log P(hypothesis | history) of the model.
    word_bonus
        Number that is added for each word.
    own_weight
        Weight of the score of the recogniser's own language model, which the lists must then contain.
    unknown_penalty
        Number of nats that are subtracted from log P for each unknown word, because the probability of ``<unk>`` is
        that of all unknown words together. By default it is the logarithm of the number of known words, as if there
        were as many unknown ones.
    reset
        When the history starts anew: ``never``, with each ``utterance``, or with each ``talk``, which means when the
        part of the utterance's name before the last ``-`` or ``_`` changes.
    """

    weight: float = 1.0
    word_bonus: float = 0.0
    own_weight: float = 0.0
    unknown_penalty: float | None = None
    reset: str = "never"

    def __post_init__(self) -> None:
        for name, wanted in WANTED.items():
            value = getattr(self, name)
            if value is not None and not (np.isfinite(value) and (value >= 0 or wanted == NUMBER)):
                raise UsageError(f"`{name}` must be {wanted}. Got {value} instead.")
        check_choice("reset", self.reset, RESETS)


PLAIN = RescoreOptions()


class Rescored(NamedTuple):
    """An utterance, the model's log-probability of each hypothesis (natural logarithm), and their total scores."""

    utterance: Utterance
    lm_scores: list[float]
    totals: list[float]

    @property
    def best(self) -> int:
        """The hypothesis with the highest total, the first one if several are equal."""
        return int(np.argmax(self.totals))


def rescore(
    model: AdaptedModel,
    utterances: Iterable[Utterance],
    options: RescoreOptions = PLAIN,
    *,
    memory: Memory | None = None,
) -> Iterator[Rescored]:
    """Score the hypotheses of each utterance; the best one then becomes part of the history.

    `memory` is the history at the start, by default an empty one.
    """
    start = memory or model.memory()
    penalty = options.unknown_penalty
    if penalty is None:
        penalty = float(np.log(len(model.predictor_.vocabulary)))
    now, talk = start.copy(), ""
    for utterance in utterances:
        fresh = options.reset == "utterance" or (options.reset == "talk" and _talk(utterance.id) != talk)
        talk = _talk(utterance.id)
        if fresh:
            now = start.copy()
        found = Rescored(utterance, [], [])
        for number, hypothesis in enumerate(utterance.hypotheses):
            words = [model.as_fitted(word) for word in hypothesis.tokens]
            marks = set(SPECIAL[1:]).intersection(words)
            if marks:
                raise DataError(
                    f"utterance {shown(utterance.id)}, hypothesis {number + 1}: found the word {min(marks)}, wanted "
                    f"hypotheses without marks of start and end, because the model adds them; remove it."
                )
            after = now.copy()
            # One thread, because a hypothesis is too short for several.
            log_prob = _log_prob(model.predictor_.score(Text.from_tokens([words]), after, threads=1), model, penalty)
            found.lm_scores.append(log_prob)
            given = given_score(utterance, number, options.own_weight)
            found.totals.append(given + options.weight * log_prob + options.word_bonus * len(hypothesis.tokens))
            if found.best == number:
                following = after
        now = following
        yield found


def given_score(utterance: Utterance, number: int, own_weight: float) -> float:
    """The score of a hypothesis in its list, plus the weighted score of the recogniser's own language model."""
    hypothesis = utterance.hypotheses[number]
    if not own_weight:
        return hypothesis.score
    if hypothesis.lm_score is None:
        raise DataError(
            f"utterance {shown(utterance.id)}, hypothesis {number + 1}: found no score of the recogniser's own "
            f"language model, wanted one because its weight is {own_weight:g}; add lm_score to the lists, or leave out "
            f"`own_weight=`."
        )
    return hypothesis.score + own_weight * hypothesis.lm_score


def _talk(name: str) -> str:
    return name[: max(name.rfind("-"), name.rfind("_"), 0)]


def _log_prob(scored: Scored, model: AdaptedModel, penalty: float) -> float:
    probs = model.predictor_.mixed(scored)
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(probs), LEAST_LOG_PROB)
    return float(logs.sum()) - penalty * int((~scored.known).sum())


class ListErrors(NamedTuple):
    """Word errors of the recogniser's own choice, of the choice after rescoring, and of the best possible choice."""

    before: WordErrors
    after: WordErrors
    oracle: WordErrors


def list_errors(
    rescored: Sequence[Rescored], references: Mapping[str, tuple[str, ...]] | None = None, *, name: str = ""
) -> ListErrors | None:
    """Errors of rescored lists against their references; None if there are no references.

    `references` take precedence over those of the lists. The choice before rescoring is the hypothesis with the highest
    score, to which the score of the recogniser's own language model is added if the list has it.
    """
    wanted = references_of([found.utterance for found in rescored], references)
    if wanted is None:
        return None
    before, after, oracle = [], [], []
    for found, reference in zip(rescored, wanted, strict=True):
        hypotheses = found.utterance.hypotheses
        texts = [hypothesis.tokens for hypothesis in hypotheses]
        before.append(texts[own_choice(found.utterance)])
        after.append(texts[found.best])
        oracle.append(texts[closest_hypothesis(reference, texts)])
    return ListErrors(*(word_errors(wanted, texts, name=name) for texts in (before, after, oracle)))


def own_choice(utterance: Utterance) -> int:
    """The hypothesis that the recogniser itself has chosen, the first one if several are equal."""
    return int(np.argmax([hypothesis.score + (hypothesis.lm_score or 0.0) for hypothesis in utterance.hypotheses]))


def references_of(
    utterances: Sequence[Utterance], references: Mapping[str, tuple[str, ...]] | None = None
) -> list[tuple[str, ...]] | None:
    """The reference of each utterance, preferably from `references`; None if no utterance has one."""
    wanted = [(references or {}).get(utterance.id, utterance.reference) for utterance in utterances]
    lacking = [utterance.id for utterance, one in zip(utterances, wanted, strict=True) if one is None]
    if len(lacking) == len(utterances) and not references:
        return None
    if lacking:
        raise DataError(
            f"found no reference for the utterance {shown(lacking[0])}"
            + (f" and {len(lacking) - 1:,} others" if len(lacking) > 1 else "")
            + f", wanted one for each of {len(utterances):,} utterances; add them, or leave all references out."
        )
    return [one for one in wanted if one is not None]


def tune_weights(
    model: AdaptedModel,
    utterances: Sequence[Utterance],
    references: Mapping[str, tuple[str, ...]] | None = None,
    options: RescoreOptions = PLAIN,
    *,
    memory: Memory | None = None,
    progress: Progress | None = None,
) -> tuple[RescoreOptions, list[Rescored]]:
    """Find the weight of the model and the bonus for each word that give the fewest errors on these lists.

    A grid is searched with the model's scores as they are. Then the lists are rescored, because the chosen hypotheses
    are the history of the next ones, and the grid is searched again. The other options stay as they are. Returns the
    options with the fewest errors, and the lists rescored with them.
    """
    wanted = references_of(utterances, references)
    if wanted is None:
        raise UsageError("tuning weights needs references, which the lists do not have; give a file of `references`.")
    best: list[tuple[int, int, RescoreOptions, list[Rescored]]] = []
    options = replace(options, weight=1.0, word_bonus=0.0)
    for number in range(ROUNDS):
        lists = list(rescore(model, utterances, options, memory=memory))
        if number == 0:
            edits = _edits(lists, wanted)
        own = sum(int(edits[start + found.best]) for start, found in zip(_starts(lists), lists, strict=True))
        best.append((own, number, options, lists))
        (progress or silent)(Step(stage="tuning", done=number + 1, total=ROUNDS))
        weight, bonus = _grid(lists, edits, options.own_weight)
        options = replace(options, weight=weight, word_bonus=bonus)
    return min(best)[2:]


def _starts(lists: Sequence[Rescored]) -> list[int]:
    return offsets_of([len(found.totals) for found in lists])[:-1].tolist()


def _edits(lists: Sequence[Rescored], references: Sequence[tuple[str, ...]]) -> NDArray[np.int64]:
    """Errors of every hypothesis of every list."""
    pairs = [
        (one, hypothesis.tokens)
        for one, found in zip(references, lists, strict=True)
        for hypothesis in found.utterance.hypotheses
    ]
    return np.asarray(word_errors(*zip(*pairs, strict=True)).counts[:, :3].sum(axis=1))


def _grid(lists: Sequence[Rescored], edits: NDArray[np.int64], own_weight: float) -> tuple[float, float]:
    """The weight and the bonus with the fewest errors; among equal ones, the middle of those without a bonus if any."""
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


# -- from files to files -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoreFiles:
    """The files of a rescoring.

    Attributes
    ----------
    nbest, format, acoustic_scale
        The n-best lists, as for `read_hypotheses`.
    output, output_format
        The file for the rescored hypotheses, or None, and its format; by default it is that of the suffix, or ``tsv``.
    references
        A file of reference transcripts, as for `read_transcripts`, if the lists do not have them.
    adapt, reading
        Texts with which the history starts, and how they are read.
    """

    nbest: Sequence[PathLike]
    format: str = "auto"
    acoustic_scale: float = 0.1
    output: PathLike | None = None
    output_format: str | None = None
    references: PathLike | None = None
    adapt: Sequence[PathLike] = ()
    reading: TextReading = AS_FOUND


def rescore_files(
    directory: PathLike,
    files: RescoreFiles,
    options: RescoreOptions = PLAIN,
    *,
    tune: bool = False,
    threads: int | None = None,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Rescore n-best lists with a saved model, and write them.

    With `tune`, the weight and the word bonus with the fewest errors are found, and nothing is written.
    """
    stopwatch = Stopwatch()
    if tune and files.output is not None:
        raise UsageError(
            "`tune` writes no hypotheses; leave out `output`, then rescore with the weight and word bonus it finds."
        )
    if files.output is not None:
        check_output(files.output)
    check_stdin(*files.nbest, *files.adapt, files.references)
    model = AdaptedModel.load(directory, threads=threads)
    adapted = files.reading.read(files.adapt, notices=notices, progress=progress) if files.adapt else None
    memory = model.memory(adapted)
    references = read_transcripts(files.references) if files.references is not None else None
    utterances = list(read_hypotheses(files.nbest, format=files.format, acoustic_scale=files.acoustic_scale))
    if references_of(utterances, references) is None and files.output is None and not tune:
        raise UsageError("without references there are no errors to report; name a file for the hypotheses (`output`).")
    if notices is not None:
        words = Text.from_tokens(one.tokens for utterance in utterances for one in utterance.hypotheses)
        notice = unknown_notice(_task(files.nbest), words, model.knows)
        notices += [] if notice is None else [notice]
    if tune:
        options, found = tune_weights(model, utterances, references, options, memory=memory, progress=progress)
    else:
        found = list(rescore(model, _watched(utterances, progress or silent), options, memory=memory))
    errors = list_errors(found, references, name=_task(files.nbest))
    if files.output is not None:
        by_suffix = BY_SUFFIX.get(last_suffix(files.output), "tsv")
        write_hypotheses(files.output, found, format=files.output_format or by_suffix)
    kaldi = files.format == "kaldi" or any(Path(path).is_dir() for path in files.nbest)
    known = {
        "weight": f"{options.weight:g}",
        "word-bonus": f"{options.word_bonus:g}",
        "own-weight": f"{options.own_weight:g}" if options.own_weight else None,
        "acoustic-scale": f"{files.acoustic_scale:g}" if kaldi else None,
        "reset": options.reset,
        "unknown-penalty": None if options.unknown_penalty is None else f"{options.unknown_penalty:g}",
        "adapted-to": None if adapted is None else f"{len(adapted.text.ids)}-words",
        "tuned": "on-these-lists" if tune else None,
    }
    facts: dict[str, object] = {name: value for name, value in known.items() if value is not None}
    facts = {**(errors.after.facts if errors else {}), **facts, **model_facts(model)}
    values: dict[str, Any] = {
        "utterances": len(found),
        "hypotheses": sum(len(one.totals) for one in found),
        "changed": sum(one.best != own_choice(one.utterance) for one in found),
        "weight": options.weight,
        "word_bonus": options.word_bonus,
    }
    lists = f"{counted(len(found), 'utterance')}, {counted(values['hypotheses'], 'hypothesis', 'hypotheses')}"
    said = [f"rescored {lists}; {counted(values['changed'], 'choice')} changed, in {stopwatch.seconds:,.1f} s"]
    shown: list[str | Table] = []
    if errors is not None:
        values["errors"] = {name: one.as_dict() for name, one in errors._asdict().items()}
        if files.output == "-":  # standard output has only the hypotheses
            said.append(f"WER      {errors.before.wer:.2f} -> {errors.after.wer:.2f} %")
        else:
            shown.append(_error_table(values["errors"]))
    if tune:
        weights = f"`weight` {options.weight:g} `word_bonus` {options.word_bonus:g}"
        shown += ["", f"tuned    {weights}  (report errors on other lists)"]
    whole = signature(facts)
    scored = any(isinstance(part, Table) for part in shown)
    return Report(values={**values, "signature": whole}, shown=shown, said=said, signature=whole if scored else None)


def _error_table(errors: Mapping[str, Mapping[str, float]]) -> Table:
    kinds = ("substitutions", "insertions", "deletions")
    rows = [
        (
            title,
            f"{errors[name]['wer']:.2f}",
            *(f"{errors[name][kind]:,}" for kind in kinds),
            f"{errors[name]['utterance_error_rate']:.1f}",
        )
        for name, title in ROWS.items()
    ]
    return Table(("hypotheses", "WER, %", *kinds, "with errors, %"), rows)


def _watched(utterances: Sequence[Utterance], report: Progress) -> Iterator[Utterance]:
    for done, utterance in enumerate(utterances):
        report(Step(stage="rescoring", done=done, total=len(utterances)))
        yield utterance


def _task(lists: Sequence[PathLike]) -> str:
    return "stdin" if lists[0] == "-" else Path(lists[0]).name + ("+" if len(lists) > 1 else "")
