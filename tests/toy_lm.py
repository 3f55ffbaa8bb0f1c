"""Small adapted models and texts for tests of the language models' room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from cepts.data import Documents, Text, Vocabulary
from cepts.lm.adapted import AdaptedModel
from cepts.lm.background import Background
from cepts.lm.backoff import joined_vocabulary
from cepts.lm.caches import Cache
from cepts.lm.fit import FitRecord
from cepts.lm.hidden import HiddenDocuments
from cepts.lm.history import HistoryOptions
from cepts.lm.kneser_ney import KneserNey
from cepts.lm.predictor import Predictor, components_of
from cepts.lm.projection import ProjectedWords
from oracles_ngrams import random_text

FUNCTION_WORDS = ("w0", "w1", "w2")
NEW = ("x0", "x1")  # that no n-gram has
CACHES = ((), (Cache(3),), (Cache(0, 0.8),), (Cache(0), Cache(4, 0.5), Cache(500, 0.99)))

histories = st.one_of(
    st.builds(
        HistoryOptions,
        history=st.integers(1, 6),
        places=st.sampled_from(["content", "all"]),
        posterior=st.sampled_from(["mixture", "mixture", "product"]),
        fold_in=st.integers(1, 6),
        uninformative=st.sampled_from([0.0, 0.3, 0.9]),
    ),
    st.builds(
        HistoryOptions,
        decay=st.sampled_from([1.0, 0.95, 0.5]),
        strength=st.sampled_from([0.1, 1.0, 20.0]),
        uninformative=st.sampled_from([0.0, 0.3, 0.9]),
    ),
)


def toy_hidden(random, numbers, documents=4):
    """Hidden documents of words with these numbers; about a third of the shares are 0, of some words all."""
    shares = random.gamma(0.5, size=(len(numbers), documents)) * (random.random((len(numbers), documents)) < 0.7)
    shares[random.integers(len(numbers)), :] += 1e-3
    priors = random.gamma(1, size=documents) + 0.01
    words = (shares / shares.sum(axis=0)).astype(np.float32)
    return HiddenDocuments(words, (priors / priors.sum()).astype(np.float32), np.array(numbers, dtype=np.int32))


def toy_projected(random, numbers, vectors=3):
    """Projections onto a few orthonormal vectors, of words with these numbers."""
    words = np.linalg.qr(random.normal(size=(len(numbers), min(vectors, len(numbers)))))[0]
    marginals = random.dirichlet(np.ones(len(numbers)))
    return ProjectedWords(words.astype(np.float32), marginals.astype(np.float32), np.array(numbers, dtype=np.int32))


def backing_off(ngrams, random):
    """The same n-grams as a model that is not interpolated: they may have less than by backing off, or more."""
    probs, backoffs = ngrams.probs.astype(np.float64), ngrams.backoffs.copy()
    for context in range(len(ngrams)):  # shorter ones stand before
        entries = np.arange(ngrams.first[context], ngrams.first[context + 1])
        if len(entries):
            others = 1 - probs[ngrams.suffixes[entries]].sum()
            left = random.uniform(0.05, 0.9) if others > 1e-3 else 0.0
            probs[entries] = (1 - left) * random.dirichlet(np.ones(len(entries)))
            backoffs[context] = left / max(others, 1e-3)
    return replace(ngrams, probs=probs.astype(np.float32), backoffs=backoffs)


def toy_parts(seed=0, backgrounds=1, order=3, interpolated=True):
    """A background over the words of a text and two more, and which of them are content words."""
    texts = [random_text(seed + 1000 * number, sentences=15, words=9) for number in range(backgrounds)]
    vocabulary = joined_vocabulary(*texts, Vocabulary.from_words(NEW))
    content = np.array([word not in FUNCTION_WORDS for word in vocabulary.words])
    content[:3] = False
    models = [KneserNey(order=order).fit(text, vocabulary=vocabulary).ngrams_ for text in texts]
    random = np.random.default_rng(seed)
    if not interpolated:
        models = [backing_off(ngrams, random) for ngrams in models]
    weights = random.dirichlet(np.ones(backgrounds))
    return Background(models, vocabulary, content, weights), content


def toy_predictor(
    seed=0,
    *,
    hidden=True,
    exponent=0.7,
    caches=CACHES[3],
    mixture="class",
    backgrounds=1,
    order=3,
    history=None,
    background=None,
    projected=False,
):
    """A predictor with random weights, whose hidden documents lack some content words."""
    background, content = background or toy_parts(seed, backgrounds, order)
    random = np.random.default_rng(seed)
    numbers = np.flatnonzero(content)
    numbers = numbers[np.sort(random.choice(len(numbers), max(len(numbers) * 2 // 3, 1), replace=False))]
    found = (toy_projected if projected else toy_hidden)(random, numbers) if hidden else None
    exponent = 0.0 if projected else exponent
    weights = random.dirichlet(np.ones(len(components_of(mixture, hidden, exponent > 0, caches))))
    return Predictor(background, content, found, weights, history or HistoryOptions(), caches, mixture, exponent)


RECORD = FitRecord(
    words=12,
    documents=3,
    held_out="the dev text",
    held_out_words=7,
    held_out_perplexity=(20.0, 10.0),
    lowercase=False,
    boundaries="given",
    ngrams=("1",),
)


def fitted(predictor, **record):
    """An adapted model that has learnt this."""
    model = AdaptedModel()
    model.predictor_ = predictor
    names = tuple(str(number + 1) for number in range(len(predictor.background)))
    model.record_ = replace(RECORD, **{"ngrams": names, **record})
    return model


def toy_model(seed=0, *, lowercase=False, **options):
    """An adapted model with random weights."""
    return fitted(toy_predictor(seed, **options), lowercase=lowercase)


@st.composite
def predictors(draw):
    """Every mixture: literal or by class, with any components, one n-gram model or two."""
    seed, backgrounds, order = draw(st.integers(0, 99)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    return toy_predictor(
        seed,
        hidden=draw(st.booleans()),
        exponent=draw(st.sampled_from([0.0, 0.5, 1.3])),
        caches=draw(st.sampled_from(CACHES)),
        mixture=draw(st.sampled_from(["class", "literal"])),
        background=toy_parts(seed, backgrounds, order, draw(st.booleans())),
        history=draw(histories),
        projected=draw(st.integers(0, 3)) == 0,
    )


models = predictors().map(fitted)
texts = st.lists(
    st.lists(st.sampled_from([*(f"w{number}" for number in range(9)), *NEW, "unknown"]), max_size=6), max_size=6
).map(Text.from_tokens)


def numbered(model, text):
    """The sentences of a text as word numbers of a model."""
    return [[max(model.vocabulary.number(word), 0) for word in text[n]] for n in range(len(text))]


def toy_documents(seed=0, documents=40, subjects=3):
    """Documents of four sentences, each on one subject of eight words, with four function words between them.

    The last word of document 1 is `only1`, and so on.
    """
    random = np.random.default_rng(seed)
    rows = []
    for number in range(documents):
        subject = number % subjects
        sentences = []
        for _ in range(4):
            words = random.choice(8, 5, p=np.arange(8, 0, -1) / 36)
            ties = random.choice(["the", "of", "and", "is"], 5)
            sentences.append(
                [token for word, tie in zip(words, ties, strict=True) for token in (tie, f"s{subject}w{word}")]
            )
        sentences[-1].append(f"only{number + 1}")
        rows.append(sentences)
    return Documents.from_tokens(rows)
