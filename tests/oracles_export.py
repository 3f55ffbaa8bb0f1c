"""Adapted models of a few words, and what their static export must be, by enumeration."""

from __future__ import annotations

import numpy as np

from cepts.data import Text
from cepts.lm.background import Background
from cepts.lm.backoff import joined_vocabulary
from cepts.lm.caches import Cache
from cepts.lm.hidden import HiddenDocuments
from cepts.lm.history import HistoryOptions
from cepts.lm.kneser_ney import KneserNey
from cepts.lm.predictor import Predictor, components_of
from oracles_ngrams import grams_of

CACHES = (Cache(0, 0.9), Cache(4))


def numbered(text, vocabulary):
    """The same text with the numbers of another vocabulary."""
    return Text(np.maximum(vocabulary.numbers(text.vocabulary.words), 0)[text.ids], text.offsets, vocabulary)


def random_model(texts, orders, *, mixture="class", hidden=3, exponent=0.7, caches=CACHES, seed=0):
    """A predictor with an n-gram model of each text; all else is drawn by chance."""
    random = np.random.default_rng(seed)
    texts = [Text.from_tokens(sentences) for sentences in texts]
    vocabulary = joined_vocabulary(*texts)
    size = len(vocabulary)
    content = random.random(size) < 0.7
    content[:3] = False
    models = [
        KneserNey(order=order).fit(numbered(text, vocabulary), vocabulary=vocabulary).ngrams_
        for text, order in zip(texts, orders, strict=True)
    ]
    numbers = np.flatnonzero(content)
    numbers = numbers[: max(len(numbers) - 1, 1)]  # one content word that hidden documents do not have
    documents = None
    if hidden and len(numbers):
        words = random.dirichlet(np.full(len(numbers), 0.3), hidden).T + 1e-3
        words = (words / words.sum(axis=0)).astype(np.float32)
        documents = HiddenDocuments(words, random.dirichlet(np.ones(hidden)).astype(np.float32), numbers.astype("i4"))
    exponent = exponent if mixture == "class" else 0.0
    names = components_of(mixture, documents is not None, exponent > 0, caches)
    background = Background(models, vocabulary, content, random.dirichlet(np.ones(len(models))))
    weights = random.dirichlet(np.ones(len(names)))
    history = HistoryOptions(history=int(random.integers(0, 2)) * 5)
    return Predictor(background, content, documents, weights, history, caches, mixture, exponent)


def static_probs(model, memory):
    """The adapted P(word | context) of each n-gram of the background, by tuple of word numbers."""
    found = {}
    for gram in {gram for ngrams in model.background.models for gram in grams_of(ngrams)}:
        contexts = tuple(-1 for _ in model.background.models)
        for word in gram[:-1]:
            contexts = model.background.advance(contexts, word)[1]
        found[gram] = float(model.distribution(contexts, memory)[gram[-1]])
    return found


def static_backoffs(probs):
    """The weight of backing off of each n-gram that others continue; None where the definition has no number."""
    sums = {}
    for gram, prob in probs.items():
        if len(gram) > 1:
            own, shorter = sums.get(gram[:-1], (0.0, 0.0))
            sums[gram[:-1]] = own + prob, shorter + probs[gram[1:]]
    return {gram: (1 - own) / (1 - shorter) if 1 - shorter > 1e-4 else None for gram, (own, shorter) in sums.items()}
