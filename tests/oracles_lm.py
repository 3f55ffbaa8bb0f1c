"""Adaptation from its definitions: histories, caches, rescaling and mixtures, a word at a time and in double precision.

`words` is P(word | d), a row a word; a history is a list of rows, in which -1 is a word of no row.
"""

from __future__ import annotations

import math

import numpy as np

from cepts.data import END, START
from cepts.lm.hidden import SMALLEST_SHARE
from cepts.lm.predictor import LEAST_WEIGHT
from cepts.lm.projection import ProjectedWords
from oracles_ngrams import Dictionary

SMALLEST_LIFT = 1e-4


def weights_by_the_paper(history, words, priors):
    """P(d | H) of eqs. (15) and (16) of nmf_lm, as printed."""
    contributions = [words[row] * priors / sum(words[row] * priors) for row in history]
    return sum(contributions) / len(history)


def product_of_the_paper(history, words, priors):
    """P(d | H) of eq. (14) of nmf_lm, as printed; the priors where it is 0 / 0 or there are no words."""
    told = [row for row in history if row >= 0]
    likely = np.prod([words[row] for row in told], axis=0) if told else np.zeros(len(priors))
    return likely / likely.sum() if likely.sum() > 0 else priors


def projected(history, vectors, marginals):
    """P(w | H) of LSA: eq. (1) of nmf_lm, U U' d, without what is negative; P(w) where nothing is left."""
    counts = np.zeros(len(vectors))
    for row, weight in history:
        counts[row] += weight
    found = np.maximum(vectors @ vectors.T @ counts, 0)
    return found / found.sum() if found.sum() > 0 else marginals / marginals.sum()


def likelihood(history, words, marginals, weights, background):
    """Log-likelihood of a history whose words come of the hidden documents or, with `background`, of anything."""
    return sum(
        math.log((1 - background) * float(words[row] @ weights) + background * marginals[row])
        for row in history
        if row >= 0
    )


def folded_in(history, words, priors, marginals, steps, background):
    """P(d | H) after some steps of EM from the priors, the hidden documents being as they are."""
    weights = priors
    for _ in range(steps):
        expected = np.zeros(len(priors))
        for row in history:
            if row >= 0:
                joint = (1 - background) * words[row] * weights
                if joint.sum() > 0:
                    expected += joint / (joint.sum() + background * marginals[row])
        if expected.sum() > 0:
            weights = expected / expected.sum()
    return weights


def running(history, words, priors, marginals, decay, strength, background):
    """P(d | H) where each word is shared out once, by what was known when it came, and then decays."""
    told = [row for row in history if row >= 0]
    shares = []
    for place in range(len(told) + 1):
        seen = sum(
            (decay ** (place - 1 - age) * share for age, share in enumerate(shares)), start=np.zeros(len(priors))
        )
        weights = (seen + strength * priors) / (seen.sum() + strength)
        if place == len(told):
            return weights
        joint = (1 - background) * words[told[place]] * weights
        total = joint.sum() + background * marginals[told[place]]
        shares.append(joint / total if total > 0 else joint)
    raise AssertionError


def history_weights(history, words, priors, marginals, options):
    """P(d | H) as `HistoryOptions` says."""
    if options.history:
        recent = history[-options.history :]
        if options.posterior == "product":
            return product_of_the_paper(recent, words, priors)
        return folded_in(recent, words, priors, marginals, options.fold_in, options.uninformative)
    return running(history, words, priors, marginals, options.decay, options.strength, options.uninformative)


def weighted_words(history, options):
    """The rows of a history that say something, each with its weight in the counts that are projected."""
    if options.history:
        return [(row, 1.0) for row in history[-options.history :] if row >= 0]
    told = [row for row in history if row >= 0]
    return [(row, options.decay**age) for age, row in enumerate(reversed(told))]


def cached(past, size, decay, vocabulary):
    """Distribution of a cache over so many words of a vocabulary; None of an empty one."""
    kept = list(past)[-size:] if size else list(past)
    found = np.zeros(vocabulary)
    for age, word in enumerate(reversed(kept)):
        found[word] += decay**age
    return found / found.sum() if kept else None


def lifted(weights, words, marginals):
    """P(w | H) / P(w), hidden documents of small weight counting as the priors and small shares as none."""
    found = []
    for shares, marginal in zip(words, marginals, strict=True):
        rest, lift = 1.0, 0.0
        for weight, share in zip(weights, shares, strict=True):
            if weight >= LEAST_WEIGHT:
                rest -= weight
                lift += weight * share / marginal if share >= SMALLEST_SHARE else 0.0
        found.append(lift + max(rest, SMALLEST_LIFT))
    return np.array(found)


class Adapted:
    """An adapted model over n-grams of ours, from its parts; words are numbers of the vocabulary."""

    def __init__(self, model):
        self.model = model
        self.ngrams = [Dictionary(ngrams) for ngrams in model.background.models]
        if model.hidden is not None:
            self.words = model.hidden.words.astype(np.float64)
            if isinstance(model.hidden, ProjectedWords):
                self.marginals = model.hidden.marginals.astype(np.float64)
            else:
                self.priors = model.hidden.priors.astype(np.float64)
                self.marginals = self.words @ self.priors

    def background(self, sentence):
        """P(w | h) after the words of a sentence so far."""
        models = zip(self.model.background.weights, self.ngrams, strict=True)
        return sum(weight * ngrams.distribution(ngrams.shortened((START, *sentence))) for weight, ngrams in models)

    def columns(self, sentence, past):
        """Distributions of the components; `past` are all words before."""
        model = self.model
        ngram = np.where(model.content, self.background(sentence), 0)
        found = [ngram / ngram.sum()]
        if model.hidden is not None:
            rows = {int(number): row for row, number in enumerate(model.hidden.numbers)}
            all_words = model.history.places == "all" and model.history.history > 0
            history = [rows.get(word, -1) for word in past if all_words or model.content[word]]
        if isinstance(model.hidden, ProjectedWords):
            hidden = np.zeros(len(ngram))
            told = weighted_words(history, model.history)
            hidden[model.hidden.numbers] = projected(told, self.words, self.marginals)
            found.append(hidden)
        elif model.hidden is not None:
            weights = history_weights(history, self.words, self.priors, self.marginals, model.history)
            if model.exponent > 0 and model.mixture == "class":
                factors = np.ones(len(ngram))
                factors[model.hidden.numbers] = lifted(weights, self.words, self.marginals) ** model.exponent
                found.append(ngram * factors / (ngram @ factors))
            hidden = np.zeros(len(ngram))
            hidden[model.hidden.numbers] = self.words @ weights
            found.append(hidden)
        for cache in model.caches:
            content = [word for word in past if model.content[word]]
            distribution = cached(content, cache.size, cache.decay, len(ngram))
            found.append(found[0] if distribution is None else distribution)
        return found

    def distribution(self, sentence, past):
        """P(w | h, H)."""
        model = self.model
        background = self.background(sentence)
        columns = self.columns(sentence, past)
        if model.mixture == "literal":
            columns[0] = background
            return sum(weight * column for weight, column in zip(model.weights, columns, strict=True))
        content = sum(weight * column for weight, column in zip(model.weights, columns, strict=True))
        return np.where(model.content, background[model.content].sum() * content, background)

    def walk(self, sentences, past=()):
        """Each word of sentences (word numbers) and each end: the distribution in which it stands, and itself."""
        past = list(past)
        for sentence in sentences:
            for place, word in enumerate((*sentence, END)):
                yield self.distribution(sentence[:place], past), word
                if word != END:
                    past.append(word)
