"""An adapted model with a fixed memory as one back-off model, for decoders that read ARPA files."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cepts.data import NGrams, offsets_of
from cepts.errors import UsageError
from cepts.lm.backoff import BackoffModel
from cepts.lm.binary import KenLMModel
from cepts.lm.predictor import Frozen, Memory, Predictor

BLOCK = 1 << 17  # entries whose components are in memory at once
LEAST_LEFT = 1e-6  # a smaller rest of a sum of float32 numbers that should be 1 is rounding


def static_ngrams(model: Predictor, memory: Memory) -> NGrams:
    """A back-off model that equals an adapted model whose P(d | H) and caches stay as they are in `memory`.

    It has the n-grams of all models of the background, each with the probability that the adapted model gives it, and
    back-off weights with which every context sums to 1. So it differs from the adapted model only for n-grams that no
    model of the background has. A background with a KenLM binary is refused, because its n-grams cannot be listed.
    """
    from cepts.kernels.export import fill_backoffs

    models: list[NGrams] = []
    for part in model.background.models:
        if isinstance(part, KenLMModel):
            raise UsageError(
                f"the background has {part.path}, a KenLM binary, whose n-grams cannot be listed; "
                f"fit the model with its ARPA file."
            )
        models.append(part)
    trie = _Union(models)
    found = _adapted_probs(model, memory, trie)
    size = len(model.vocabulary)
    found[:size] /= found[:size].sum()
    probs, backoffs = found.astype(np.float32), np.ones(len(found), dtype=np.float32)
    fill_backoffs(trie.first, trie.suffixes, LEAST_LEFT, probs, backoffs[: trie.contexts_end])
    return NGrams(model.vocabulary, trie.levels, trie.words, probs, backoffs, trie.first, trie.suffixes)


class _Union:
    """The entries of several models over one vocabulary, each once; the arrays are those of `NGrams`."""

    def __init__(self, models: list[NGrams]) -> None:
        size = len(models[0].vocabulary)
        places = [np.arange(size) for _ in models]  # where the entries of each model so far are in the union
        own_contexts = [model.contexts for model in models]
        words, contexts, suffixes = [np.arange(size)], [np.full(size, -1)], [np.full(size, -1)]
        ends = [0, size]
        for order in range(2, max(model.order for model in models) + 1):
            keys, shorter = [], []
            for model, place, own in zip(models, places, own_contexts, strict=True):
                level = slice(*model.levels[order - 1 : order + 1]) if order <= model.order else slice(0, 0)
                keys.append(place[own[level]] * size + model.words[level])
                shorter.append(place[model.suffixes[level]])
            united, firsts, inverse = np.unique(np.concatenate(keys), return_index=True, return_inverse=True)
            words.append(united % size)
            contexts.append(united // size)
            suffixes.append(np.concatenate(shorter)[firsts])
            inverses = np.split(ends[-1] + inverse, np.cumsum([len(part) for part in keys])[:-1])
            places = [np.append(place, new) for place, new in zip(places, inverses, strict=True)]
            ends.append(ends[-1] + len(united))
        self.levels = np.array(ends, dtype=np.int64)
        self.words = np.concatenate(words).astype(np.int32)
        self.contexts = np.concatenate(contexts).astype(np.int64)
        self.suffixes = np.concatenate(suffixes).astype(np.int64)
        self.first = size + offsets_of(np.bincount(self.contexts[size:], minlength=ends[-1]))
        self.contexts_end = ends[-2]  # all entries before this one are contexts


def _adapted_probs(model: Predictor, memory: Memory, trie: _Union) -> NDArray[np.float64]:
    """The adapted P(word | context) of each entry."""
    from cepts.kernels.export import entry_probs

    frozen = Frozen(model, memory)
    background = model.background
    probs = np.zeros(len(trie.words))
    # P(content word | context), and the same with each word's factor; the last ones are those of the empty context.
    masses, rescaled = np.zeros((2, trie.contexts_end + 1))
    for member, weight in zip(background, background.weights.tolist(), strict=True):
        assert isinstance(member, BackoffModel)
        stands = np.empty(trie.contexts_end, dtype=np.int64)
        entry_probs(member.trie, weight, trie.contexts, trie.words, stands, probs)
        stands = np.append(stands, -1)
        masses += weight * member.content_masses(stands)
        if frozen.factors is not None:
            rescaled += weight * member.masses(frozen.factors)[stands]
    for start, stop in pairwise([*range(0, len(probs), BLOCK), len(probs)]):
        part = slice(start, stop)
        contexts, words = trie.contexts[part], trie.words[part]
        probs[part] = frozen.mixed(words, probs[part], masses[contexts], rescaled[contexts])
    return probs
