"""A tagger for any column of words: an averaged perceptron with exact Viterbi.

Scores are linear in features that templates make of the words and, where there is one, of another column; and in the
pair of neighbouring labels. Features are identified by 32-bit hashes, so tagging runs no Python code for each of them.
Training is the averaged perceptron (Collins 2002) with a margin for wrong labels.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import offsets_of
from cepts.engine import cut_runs
from cepts.errors import DataError, UsageError, check_least
from cepts.estimator import Estimator
from cepts.phrases.tables import read_table
from cepts.progress import Progress, Step, Stopwatch, silent
from cepts.store import Model, save_table

LONGEST_AFFIX = 5
WORD_COLUMNS = (
    "shape",
    "signs",
    "form",
    "lower",
    *(f"prefix{k}" for k in range(1, LONGEST_AFFIX + 1)),
    *(f"suffix{k}" for k in range(1, LONGEST_AFFIX + 1)),
)
TAG = "tag"
PART = re.compile(r"([a-z]+\d?)\[([+-]?\d)\]")
MOST_LABELS = 255
KIND = "taggers"
ARRAYS = ("keys", "counts", "labels", "quanta", "transitions")
BLOCK_TOKENS = 20_000

# For tags of words.
WORD_TEMPLATES = (
    "form[0]",
    "shape[0]",
    "signs[0]",
    *(f"lower[{place}]" for place in (-2, -1, 0, 1, 2)),
    *(f"prefix{k}[0]" for k in range(1, LONGEST_AFFIX + 1)),
    *(f"suffix{k}[0]" for k in range(1, LONGEST_AFFIX + 1)),
    *(f"suffix{k}[{place}]" for k in (2, 3) for place in (-1, 1)),
    "shape[-1]",
    "shape[1]",
    "lower[-1] lower[0]",
    "lower[0] lower[1]",
    "lower[-1] lower[1]",
    "lower[-2] lower[-1]",
    "lower[1] lower[2]",
    "suffix3[-1] suffix3[0]",
    "suffix3[0] suffix3[1]",
    "signs[0] suffix3[0]",
    "shape[0] shape[1]",
)
# For chunks of tagged words.
TAG_TEMPLATES = (
    "form[0]",
    "shape[0]",
    *(f"lower[{place}]" for place in (-2, -1, 0, 1, 2)),
    *(f"suffix{k}[0]" for k in (2, 3)),
    *(f"tag[{place}]" for place in (-2, -1, 0, 1, 2)),
    *(f"tag[{place}] tag[{place + 1}]" for place in (-2, -1, 0, 1)),
    *(f"tag[{place}] tag[{place + 1}] tag[{place + 2}]" for place in (-2, -1, 0)),
    *(f"lower[{place}] lower[{place + 1}]" for place in (-1, 0)),
    *(f"lower[{place}] tag[{place}]" for place in (-1, 0, 1)),
    "lower[-1] tag[0]",
    "tag[-1] lower[0]",
    "lower[0] tag[1]",
    "tag[0] lower[1]",
    "tag[-1] lower[0] tag[1]",
    "lower[-1] tag[0] lower[1]",
)


@dataclass(frozen=True, slots=True, eq=False)
class _Weights:
    """What is learnt: the keys of features in ascending order, and the weights of each for some labels.

    The file keeps a weight as one byte `q`, which stands for ``sign(q) q**2 scale``: small weights have fine
    steps, and large ones are not clipped.
    """

    keys: NDArray[np.uint32]
    counts: NDArray[np.uint8]
    labels: NDArray[np.uint8]
    quanta: NDArray[np.int8]
    transitions: NDArray[np.float32]
    scale: float


@dataclass(kw_only=True, eq=False, repr=False)
class Tagger(Estimator):
    """Learns labels of words, such as parts of speech or chunks, and gives them to new sentences.

    Parameters
    ----------
    templates
        The features of a token, each of one to three parts such as ``lower[-1]``: a column at a relative place. Columns
        are form, lower, shape, signs (has a digit, hyphen or capital), prefix1 to prefix5, suffix1 to suffix5, and tag,
        which is the column given to `fit` and `predict` besides the words.
    bio
        Labels are ``B-X``, ``I-X`` and ``O``, and ``I-X`` only ever follows ``B-X`` or ``I-X``.
    iterations
        Passes over the training sentences.
    min_count
        Ignore features that occur less often in training.
    margin
        By how much the correct labels must win in training, for each wrong label.
    size
        Keep this many weights, the largest; None for all.
    seed
        Seed for the order of sentences.
    """

    templates: Sequence[str] = WORD_TEMPLATES
    bio: bool = False
    iterations: int = 10
    min_count: int = 1
    margin: float = 2.0
    size: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_least(self, 1, "iterations", "size")
        self._parts = _parse(self.templates)
        self.uses_tags = bool((self._parts[:, :, 0] == len(WORD_COLUMNS)).any())

    def fit(
        self,
        sentences: Sequence[Sequence[str]],
        labels: Sequence[Sequence[str]],
        tags: Sequence[Sequence[str]] | None = None,
        *,
        progress: Progress | None = None,
    ) -> Tagger:
        """Learn from labelled sentences; `tags` is the column that templates call ``tag``."""
        from cepts.kernels.tagger import PerceptronRoom, PerceptronWeights, train_perceptron

        report = progress or silent
        self._check(sentences, tags)
        _check_lengths(sentences, labels, "labels")
        names = tuple(sorted(set(chain.from_iterable(labels))))
        if not names:
            raise DataError("there is no word to learn from; give sentences that are not all empty")
        if len(names) > MOST_LABELS:
            raise DataError(f"the sentences have {len(names)} labels, and a tagger can have {MOST_LABELS}; join some")
        number = {name: place for place, name in enumerate(names)}
        gold = np.array([number[name] for name in chain.from_iterable(labels)], dtype=np.int32)
        offsets = offsets_of([len(sentence) for sentence in sentences])
        transitions = self._allowed(names)
        self._check_gold(offsets, gold, names, transitions)

        keys = self._keys(sentences, tags, offsets)
        known, counts = np.unique(keys, return_counts=True)
        known = known[(counts >= self.min_count) & (known > 0)]
        rows = _rows(keys, known)
        weights = np.zeros((len(known), len(names)), dtype=np.float32)
        sums = np.zeros(weights.shape, dtype=np.float64)
        transition_sums = np.zeros(transitions.shape, dtype=np.float64)
        scores, best, back = _work_space(offsets, len(names))
        model = PerceptronWeights(weights, sums, transitions, transition_sums)
        room = PerceptronRoom(scores, best, back, np.empty(len(scores), dtype=np.int32))
        random = np.random.default_rng(self.seed)
        stopwatch = Stopwatch()
        for iteration in range(1, self.iterations + 1):
            order = random.permutation(len(sentences))
            clock = (iteration - 1) * len(sentences)
            wrong = train_perceptron(order, offsets, rows, gold, np.float32(self.margin), model, clock, room)
            report(
                Step(
                    stage="tagger",
                    done=iteration,
                    total=self.iterations,
                    iteration=iteration,
                    objective=wrong / len(gold),
                    seconds=stopwatch.seconds,
                )
            )
        clock = self.iterations * len(sentences)
        weights -= sums / clock
        transitions -= (transition_sums / clock).astype(np.float32)
        self._take(names, _compact(known, weights, transitions, self.size))
        return self

    def predict(
        self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]] | None = None
    ) -> list[tuple[str, ...]]:
        """The labels of each sentence's words."""
        from cepts.kernels.tagger import add_scores, best_labels

        self.check_fitted()
        self._check(sentences, tags)
        found: list[tuple[str, ...]] = []
        lengths = offsets_of([len(sentence) for sentence in sentences])
        for start, stop in cut_runs(lengths, BLOCK_TOKENS):
            part = sentences[start:stop]
            offsets = offsets_of([len(sentence) for sentence in part])
            keys = self._keys(part, None if tags is None else tags[start:stop], offsets)
            scores = np.zeros((len(keys), len(self.labels_)), dtype=np.float32)
            weights = self._bounds, self._weights.labels, self._values
            add_scores(keys, self._weights.keys, *self._starts, *weights, scores)
            _, best, back = _work_space(offsets, len(self.labels_))
            numbers = np.empty(len(keys), dtype=np.int32)
            best_labels(offsets, scores, self._weights.transitions, best, back, numbers)
            names = [self.labels_[label] for label in numbers.tolist()]
            bounds = offsets.tolist()
            found += [tuple(names[a:b]) for a, b in pairwise(bounds)]
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tagger to one safetensors file; the same tagger gives the same bytes."""
        self.check_fitted()
        options = {**self.get_params(), "templates": list(self.templates)}
        settings = {"labels": list(self.labels_), "scale": self._weights.scale, "options": options}
        save_table(path, kind=KIND, settings=settings, arrays={name: getattr(self._weights, name) for name in ARRAYS})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tagger:
        """Read what `save` wrote; a file that is missing, damaged or no tagger raises `ModelError`."""

        def restore(model: Model) -> Tagger:
            tagger = cls(**model.settings["options"])
            learnt: dict[str, Any] = {name: model.arrays[name] for name in ARRAYS}
            tagger._take(tuple(model.settings["labels"]), _Weights(**learnt, scale=model.settings["scale"]))
            return tagger

        return read_table(path, KIND, restore)

    def _take(self, labels: tuple[str, ...], weights: _Weights) -> None:
        """Become fitted."""
        self.labels_ = labels
        self._weights = weights
        self._bounds = offsets_of(weights.counts)
        quanta = weights.quanta.astype(np.float32)
        self._values = quanta * np.abs(quanta) * np.float32(weights.scale)
        # About one key for each value of the high bits of keys, which are hashes.
        bits = max(len(weights.keys).bit_length(), 1)
        starts = offsets_of(np.bincount(weights.keys >> (32 - bits), minlength=1 << bits))
        self._starts = starts.astype(np.int32), 32 - bits

    def _check(self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]] | None) -> None:
        if self.uses_tags and tags is None:
            raise DataError("the tagger's templates read a column of tags; give one tag for each word")
        if tags is not None:
            _check_lengths(sentences, tags, "tags")

    def _allowed(self, names: Sequence[str]) -> NDArray[np.float32]:
        """Transitions before training: 0, and -inf where BIO forbids them; the last row is for the start."""
        transitions = np.zeros((len(names) + 1, len(names)), dtype=np.float32)
        if not self.bio:
            return transitions
        for place, name in enumerate(names):
            if name != "O" and name[:2] not in ("B-", "I-"):
                raise DataError(f"the label {name!r} is none of B-X, I-X and O; give such labels, or bio=False")
            if name.startswith("I-"):
                transitions[:, place] = -np.inf
                for other, before in enumerate(names):
                    if before in (f"B-{name[2:]}", name):
                        transitions[other, place] = 0
        return transitions

    @staticmethod
    def _check_gold(
        offsets: NDArray[np.int64], gold: NDArray[np.int32], names: Sequence[str], transitions: NDArray[np.float32]
    ) -> None:
        """Refuse labels whose own sequence is forbidden, which no path could reach."""
        before = np.full(len(gold), len(names))
        before[1:] = gold[:-1]
        before[offsets[:-1][np.diff(offsets) > 0]] = len(names)
        faults = np.flatnonzero(transitions[before, gold] < 0)
        if len(faults):
            place = int(faults[0])
            sentence = int(np.searchsorted(offsets, place, side="right")) - 1
            name = names[gold[place]]
            raise DataError(
                f"sentence {sentence + 1:,}, word {place - offsets[sentence] + 1}: {name} does not follow "
                f"B-{name[2:]} or {name}; begin every chunk with B-"
            )

    def _keys(
        self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]] | None, offsets: NDArray[np.int64]
    ) -> NDArray[np.uint32]:
        """The key of each feature: a row for each token."""
        from cepts.kernels.tagger import FORM, describe_words, feature_keys

        ids, words = _numbered(sentences)
        tag_ids, tag_names = _numbered(tags if self.uses_tags and tags is not None else ())

        def described(texts: list[str]) -> NDArray[np.uint64]:
            atoms = np.empty((len(texts), len(WORD_COLUMNS)), dtype=np.uint64)
            every = texts + [text.lower() for text in texts]
            data = np.frombuffer("".join(every).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
            describe_words(data, offsets_of([len(text) for text in every]), LONGEST_AFFIX, atoms)
            return atoms

        keys = np.empty((len(ids), len(self.templates)), dtype=np.uint32)
        tag_atoms = np.ascontiguousarray(described(tag_names)[:, FORM])
        feature_keys(offsets, ids, tag_ids, described(words), tag_atoms, self._parts, keys)
        return keys


def _parse(templates: Sequence[str]) -> NDArray[np.int32]:
    """Column and place of each part of each template; -1 for no part."""
    numbers = {name: column for column, name in enumerate((*WORD_COLUMNS, TAG))}
    parts = np.full((len(templates), 3, 2), -1, dtype=np.int32)
    for template, text in enumerate(templates):
        found = [PART.fullmatch(part) for part in text.split()]
        if not 1 <= len(found) <= 3 or any(part is None or part[1] not in numbers for part in found):
            raise UsageError(
                f"each of `templates` must be one to three parts such as lower[-1], of the columns "
                f"{', '.join(numbers)}. Got {text!r} instead."
            )
        for place, part in enumerate(found):
            if part is not None:
                parts[template, place] = numbers[part[1]], int(part[2])
    if not len(parts):
        raise UsageError("`templates` must not be empty.")
    return parts


def _check_lengths(sentences: Sequence[Sequence[str]], column: Sequence[Sequence[str]], name: str) -> None:
    if len(sentences) != len(column):
        raise DataError(f"there are {len(sentences):,} sentences but {name} of {len(column):,}; give both for each")
    for place, (words, entries) in enumerate(zip(sentences, column, strict=True), 1):
        if len(words) != len(entries):
            raise DataError(
                f"sentence {place:,} has {len(words)} words but {len(entries)} {name}; give one for each word"
            )


def _numbered(sentences: Sequence[Sequence[str]]) -> tuple[NDArray[np.int32], list[str]]:
    """The number of each word of `sentences`, and the distinct words."""
    numbers: dict[str, int] = {}
    ids = [numbers.setdefault(word, len(numbers)) for sentence in sentences for word in sentence]
    return np.array(ids, dtype=np.int32), list(numbers)


def _rows(keys: NDArray[np.uint32], known: NDArray[np.uint32]) -> NDArray[np.int32]:
    """The place of each key among `known`; -1 where it is not there."""
    rows = np.searchsorted(known, keys).astype(np.int32)
    rows[(np.append(known, 0)[rows] != keys) | (keys == 0)] = -1
    return rows


def _work_space(
    offsets: NDArray[np.int64], labels: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.uint8]]:
    """Scores, best scores and back pointers for the longest sentence."""
    longest = int(np.diff(offsets).max(initial=0))
    return (
        np.empty((longest, labels), dtype=np.float32),
        np.empty((2, labels), dtype=np.float32),
        np.empty((longest, labels), dtype=np.uint8),
    )


def _compact(
    keys: NDArray[np.uint32], weights: NDArray[np.float32], transitions: NDArray[np.float32], size: int | None
) -> _Weights:
    """The `size` largest weights as bytes, and the keys of the rows that keep one."""
    magnitude = np.abs(weights)
    scale = float(magnitude.max(initial=0)) / 127**2 or 1.0
    least = 0.0
    if size is not None and size < magnitude.size:
        least = float(np.partition(magnitude.reshape(-1), -size)[-size])
    quanta = np.rint(np.sqrt(magnitude / np.float32(scale))) * np.sign(weights)
    quanta[magnitude < least] = 0
    kept = quanta != 0
    counts = kept.sum(axis=1)
    used = counts > 0
    return _Weights(
        keys=keys[used],
        counts=counts[used].astype(np.uint8),
        labels=np.nonzero(kept)[1].astype(np.uint8),
        quanta=quanta[kept].astype(np.int8),
        transitions=transitions,
        scale=scale,
    )
