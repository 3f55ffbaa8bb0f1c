"""Perplexity of language models on a text.

``PP = exp(-sum log P(word | the words before it) / N)`` over the N words that the models know, including sentence ends.
Unknown words are counted but not scored, so only models with the same vocabulary can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError
from cepts.signature import Signed


@dataclass(frozen=True, slots=True, eq=False)
class Perplexities(Signed):
    """Perplexities of several models on the same documents; lower is better.

    Attributes
    ----------
    models
        Names of the models.
    documents
        Names of the documents.
    log_probs
        Natural logarithm of the probability of each document's known words, one column per model; -inf if a model gives
        one of them probability 0.
    counted
        Number of words in each document that the models know, including its sentence ends if these count.
    words, unknown, sentences
        Number of all words of each document, of the words that the models do not know, and of sentences.
    facts
        What the signature says.
    """

    models: tuple[str, ...]
    documents: tuple[str, ...]
    log_probs: NDArray[np.float64]
    counted: NDArray[np.int64]
    words: NDArray[np.int64]
    unknown: NDArray[np.int64]
    sentences: NDArray[np.int64]
    facts: Mapping[str, object] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def values(self) -> dict[str, float]:
        """Perplexity of each model on all documents together; infinite if it gives a word probability 0."""
        return dict(zip(self.models, _perplexity(self.log_probs.sum(axis=0), self.counted.sum()).tolist(), strict=True))

    def of_documents(self) -> NDArray[np.float64]:
        """Perplexity of each document, one column per model; NaN for a document without known words."""
        return _perplexity(self.log_probs, self.counted[:, None])

    def as_dict(self) -> dict[str, Any]:
        """The counts of all documents and the perplexities by model, for JSON; None for an infinite one."""
        words, unknown = int(self.words.sum()), int(self.unknown.sum())
        values = {model: value if np.isfinite(value) else None for model, value in self.values.items()}
        return {
            "documents": len(self),
            "sentences": int(self.sentences.sum()),
            "words": words,
            "unknown": unknown,
            "unknown_rate": unknown / words,
            "counted": int(self.counted.sum()),
            "perplexity": values,
        }


def perplexities(
    probs: Mapping[str, NDArray[np.float64]],
    known: NDArray[np.bool_],
    ends: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    names: Sequence[str],
    *,
    count_ends: bool = True,
    facts: Mapping[str, object] | None = None,
) -> Perplexities:
    """Compute perplexities of models from the probabilities of the words and sentence ends of documents.

    The perplexity is ``exp(-sum log P(word | the words before it) / N)`` over the N words that the models know. Unknown
    words are counted but not scored, so only models with the same vocabulary can be compared.

    Parameters
    ----------
    probs
        Name of each model -> P(word | the words before it) of each position in the documents.
    known
        Whether the models know the word at each position.
    ends
        Whether each position is the end of a sentence.
    offsets
        The position at which each document starts, and where the last one ends.
    names
        Names of the documents.
    count_ends
        Whether sentence ends count as words.
    facts
        What the signature says about the models.

    Raises
    ------
    DataError
        If the models know no word of the documents.
    """
    words = known & ~ends
    if not words.any():
        raise DataError(
            f"the model knows none of the {int((~ends).sum()):,} words of the text, so there is no perplexity; check "
            f"that language, case and tokenisation of the text are those of the text that the model was trained on."
        )
    counted = known if count_ends else words
    with np.errstate(divide="ignore"):
        logs = [np.where(counted, np.log(np.where(counted, given, 1.0)), 0.0) for given in probs.values()]
    inner = offsets[:-1]
    sums = np.stack([np.add.reduceat(column, inner) for column in logs], axis=1)
    counts: list[NDArray[np.int64]] = [
        np.add.reduceat(mask.astype(np.int64), inner) for mask in (counted, ~ends, ~known, ends)
    ]
    facts = {
        "documents": len(names),
        "words": int(counts[1].sum()),
        "unknown": f"{int(counts[2].sum())}-left-out",
        "ends": "counted" if count_ends else "left-out",
        **(facts or {}),
    }
    named = dict(zip(("counted", "words", "unknown", "sentences"), counts, strict=True))
    return Perplexities(tuple(probs), tuple(names), sums, **named, facts=facts)


def _perplexity(log_probs: NDArray[np.float64], words: NDArray[np.int64] | np.int64) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(np.exp(-log_probs / words))
