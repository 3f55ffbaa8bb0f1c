"""Word error rate of hypotheses against reference transcripts.

``WER = (S + I + D) / N``, with the smallest number of substitutions S, insertions I and deletions D that turn the
references, with N words, into the hypotheses. If several sets of edits are the smallest, the one with the most correct
words counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.data import Text
from cepts.errors import DataError
from cepts.evaluate.resampling import Countable, Metric

ERROR_METRICS = ("wer", "substitution_rate", "insertion_rate", "deletion_rate", "utterance_error_rate")
COLUMNS = ("substitutions", "insertions", "deletions", "words", "wrong", "utterances")


@dataclass(frozen=True, slots=True, eq=False)
class WordErrors(Countable):
    """The word errors of each utterance; rates are in %, and `wer` may be above 100 if there are many insertions.

    `counts` has a row for each utterance: substitutions, insertions, deletions, words of the reference, 1 if there is
    any error, and 1.
    """

    counts: NDArray[np.int64]
    facts: Mapping[str, object] = field(default_factory=dict)

    unit: ClassVar = "utterances"
    metric_names: ClassVar = ERROR_METRICS
    wer = Metric("wer")

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def errors(self) -> int:
        """Number of substitutions, insertions and deletions in all utterances."""
        return int(self.counts[:, :3].sum())

    def as_dict(self) -> dict[str, int | float]:
        """The total counts and the rates by name, for JSON."""
        return {**dict(zip(COLUMNS, self.counts.sum(axis=0).tolist(), strict=True)), **self.metrics}

    def metrics_of(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rates of sums of `unit_counts`."""
        edits, words = sums[..., :3], np.maximum(sums[..., 3:4], 1)
        total = edits.sum(axis=-1, keepdims=True)
        wrong = sums[..., 4:5] / np.maximum(sums[..., 5:6], 1)
        return 100 * np.concatenate([total / words, edits / words, wrong], axis=-1)


def word_errors(
    references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]], *, name: str = ""
) -> WordErrors:
    """Count the word errors of `hypotheses` against `references`, each a list of words for each utterance.

    Words are compared as they are, so differences in case or punctuation count. `name` is the name of the task.

    Raises `DataError` if the numbers of utterances differ, or the references have no words.

    Examples
    --------
    >>> word_errors([["the", "cell", "divides"]], [["the", "sell"]]).errors
    2
    """
    if len(references) != len(hypotheses):
        raise DataError(
            f"there are {len(references):,} references but {len(hypotheses):,} hypotheses; give one of each for every "
            f"utterance, in the same order."
        )
    lengths = np.array([len(reference) for reference in references], dtype=np.int64)
    if not lengths.sum():
        raise DataError("the references have no words, so there is no error rate; give transcripts with words.")
    found = np.array([len(hypothesis) for hypothesis in hypotheses], dtype=np.int64)
    edits, hits = _edits(references, hypotheses).T
    # A reference word is a hit, a substitution or a deletion; a hypothesis word a hit, a substitution or an insertion.
    insertions = edits - lengths + hits
    deletions = insertions - found + lengths
    substitutions = edits - insertions - deletions
    ones = np.ones_like(edits)
    counts = np.stack([substitutions, insertions, deletions, lengths, np.sign(edits), ones], axis=1)
    facts = {"task": name or "-", "rate": "wer", "utterances": len(references), "words": int(lengths.sum())}
    return WordErrors(counts, {**facts, "case": "kept"})


def closest_hypothesis(reference: Sequence[str], hypotheses: Sequence[Sequence[str]]) -> int:
    """Index of the hypothesis with the fewest errors, which is the best that any rescoring can choose.

    If several have the fewest errors, it is the first.
    """
    return int(_edits([reference] * len(hypotheses), hypotheses)[:, 0].argmin())


def _edits(references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Number of edits and of correct words of each pair."""
    from cepts.kernels.edits import count_edits

    text = Text.from_tokens([*references, *hypotheses])
    counts = np.zeros((len(references), 2), dtype=np.int64)
    room = 1 + max((len(hypothesis) for hypothesis in hypotheses), default=0)
    first, second = text.part(0, len(references)), text.part(len(references), len(text))
    rows = np.zeros((2, room), dtype=np.int64)
    count_edits(first.ids, first.offsets, second.ids, second.offsets, rows[0], rows[1], counts)
    return counts
