"""N-gram models as dictionaries of tuples of words, from the formulas: exact, and as slow as they like."""

from __future__ import annotations

from collections import Counter

import numpy as np

from cepts.data import Text


def windows(sentences, length):
    """How often each n-gram of `length` stands in the sentences, with one start and one end each."""
    found = Counter()
    for sentence in sentences:
        marked = ("<s>", *sentence, "</s>")
        found.update(marked[k : k + length] for k in range(len(marked) - length + 1))
    return found


def adjusted_counts(sentences, order):
    """For each length up to `order`: true counts, or the number of different words before an n-gram."""
    levels = []
    for length in range(1, order + 1):
        counts = windows(sentences, length)
        if length < order:
            longer = windows(sentences, length + 1)
            counts = Counter(
                {
                    gram: count if gram[0] == "<s>" else sum(other[1:] == gram for other in longer)
                    for gram, count in counts.items()
                }
            )
        counts.pop(("<s>",), None)
        levels.append(counts)
    return levels


def discounts(counts, fallback):
    """D1, D2 and D3+ of modified Kneser-Ney, or the fallback where they cannot be had."""
    n = [sum(count == times for count in counts.values()) for times in range(5)]
    if not (n[1] and n[2] and n[3]):
        return fallback
    y = n[1] / (n[1] + 2 * n[2])
    found = 1 - 2 * y * n[2] / n[1], 2 - 3 * y * n[3] / n[2], 3 - 4 * y * n[4] / n[3]
    return found if all(0 < d <= c for c, d in enumerate(found, 1)) else fallback


class KneserNey:
    """Interpolated modified Kneser-Ney; `prob` is P(word | context), both of them words."""

    def __init__(self, sentences, order, vocabulary, fallback=(0.5, 1.0, 1.5)):
        self.order = order
        self.uniform = 1 / (len(vocabulary) - 1)
        self.counts = adjusted_counts(sentences, order)
        self.discounts = [discounts(counts, fallback) for counts in self.counts]

    def prob(self, word, context):
        if word == "<s>":
            return 0.0
        context = tuple(context)[max(0, len(context) - self.order + 1) :]
        counts = self.counts[len(context)]
        after = {gram[-1]: count for gram, count in counts.items() if gram[:-1] == context}
        shorter = self.prob(word, context[1:]) if context else self.uniform
        if not after:
            return shorter
        taken = {w: self.discounts[len(context)][min(count, 3) - 1] for w, count in after.items()}
        total = sum(after.values())
        return (after.get(word, 0) - taken.get(word, 0)) / total + sum(taken.values()) / total * shorter


def grams_of(ngrams):
    """The n-grams of a model as tuples of word numbers, by entry."""
    grams = [(word,) for word in range(ngrams.levels[1])]
    for context in range(len(ngrams)):
        for entry in range(ngrams.first[context], ngrams.first[context + 1]):
            assert entry == len(grams)
            grams.append((*grams[context], int(ngrams.words[entry])))
    return grams


class Dictionary:
    """A model of ours as a dictionary; contexts are tuples of word numbers."""

    def __init__(self, ngrams):
        self.grams = grams_of(ngrams)
        self.order = ngrams.order
        self.size = int(ngrams.levels[1])
        self.probs = dict(zip(self.grams, ngrams.probs.astype(np.float64).tolist(), strict=True))
        self.backoffs = dict(zip(self.grams, ngrams.backoffs.astype(np.float64).tolist(), strict=True))

    def prob(self, word, context):
        if (*context, word) in self.probs:
            return self.probs[*context, word]
        return self.backoffs.get(context, 1.0) * self.prob(word, context[1:])

    def shortened(self, history):
        """The longest end of a history that is a context."""
        context = tuple(history)[max(0, len(history) - self.order + 1) :]
        while context and context not in self.probs:
            context = context[1:]
        return context

    def distribution(self, context):
        return np.array([self.prob(word, context) for word in range(self.size)])


def check_form(ngrams):
    """Hold a model against what `NGrams` says of itself."""
    grams = grams_of(ngrams)
    places = {gram: entry for entry, gram in enumerate(grams)}
    assert ngrams.vocabulary.words[:3] == ["<unk>", "<s>", "</s>"]
    assert len(places) == len(grams) == len(ngrams)
    assert [len(gram) for gram in grams] == np.repeat(np.arange(ngrams.order) + 1, np.diff(ngrams.levels)).tolist()
    for start, stop in zip(ngrams.levels[:-1], ngrams.levels[1:], strict=True):
        assert grams[start:stop] == sorted(grams[start:stop])
    assert ngrams.suffixes.tolist() == [places[gram[1:]] if len(gram) > 1 else -1 for gram in grams]
    assert ngrams.probs[1] == 0
    kinds = [getattr(ngrams, name).dtype for name in ("levels", "words", "probs", "backoffs", "first", "suffixes")]
    assert kinds == [np.int64, np.int32, np.float32, np.float32, np.int64, np.int64]
    assert len(ngrams.first) == len(ngrams) + 1


def random_text(seed, sentences=60, words=12):
    """Sentences whose words follow Zipf's law and one another."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(sentences):
        row = []
        for _ in range(random.integers(0, 8)):
            word = min(int(random.pareto(0.7)), words - 1)
            row.append(f"w{(word + (int(row[-1][1:]) * 3 if row and random.random() < 0.4 else 0)) % words}")
        rows.append(row)
    return Text.from_tokens(rows)
