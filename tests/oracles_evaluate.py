"""Slow, plain twins of the scores of translations and similarities."""

from __future__ import annotations

from math import sqrt


def questions(entries, source_words, target_words):
    """Distinct source words that are asked for, and covered word -> its right target words, in order."""
    asked, right = [], {}
    for word, translation in entries:
        if word is None or translation is None:
            continue
        if word not in asked:
            asked.append(word)
        if word in source_words and translation in target_words:
            right.setdefault(word, set()).add(translation)
    return asked, {word: right[word] for word in asked if word in right}


def first_hit(found, right):
    """Place from 1 of the first of `found` that is in `right`, 0 for none."""
    for place, answer in enumerate(found, start=1):
        if answer >= 0 and answer in right:
            return place
    return 0


def precision(ranks, k):
    return 100 * sum(1 <= rank <= k for rank in ranks) / len(ranks)


def mean_reciprocal_rank(ranks):
    return 100 * sum(1 / rank if rank else 0 for rank in ranks) / len(ranks)


def spearman(first, second):
    """Pearson's correlation of ranks, each the mean place of all equal values."""

    def ranks(values):
        return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]

    one, two = ranks(first), ranks(second)
    mean = (len(one) + 1) / 2
    product = sum((a - mean) * (b - mean) for a, b in zip(one, two, strict=True))
    return product / sqrt(sum((a - mean) ** 2 for a in one) * sum((b - mean) ** 2 for b in two))


def cosine(first, second):
    dot = sum(float(a) * float(b) for a, b in zip(first, second, strict=True))
    return dot / sqrt(sum(float(a) ** 2 for a in first) * sum(float(b) ** 2 for b in second))
