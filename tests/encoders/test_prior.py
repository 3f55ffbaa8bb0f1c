"""What an encoder adds to the lexicon of a word model."""

from __future__ import annotations

from collections import Counter
from math import sqrt

import numpy as np
import pytest

from cepts.data import Bitext, PriorEntries
from cepts.encoders import EncoderScorer, count_links
from cepts.encoders.prior import COUNTS, LEAST_LINK
from cepts.words import HMM, CountTable, Prior
from toy_encoders import ContextEncoder, StaticEncoder

PAIRS = [("en1 EN2 en3", "fr2 fr1 fr3"), ("en4", "fr4 fr5"), ("", "fr1"), ("en2 en1 en1", "FR1 fr2")]


@pytest.mark.parametrize("encoder", [StaticEncoder(), ContextEncoder()])
@pytest.mark.parametrize("lowercase", [True, False])
def test_counts_are_those_of_the_definition(encoder, lowercase):
    scorer, bitext = EncoderScorer(encoder, threads=1), Bitext.from_tokens(PAIRS)
    found = count_links(scorer, [bitext.part(0, 2), bitext.part(2, 4)], lowercase=lowercase)
    links, one, other, source, target = (Counter() for _ in range(5))
    matrices = scorer.associate(bitext)
    for pair, sentences in enumerate(PAIRS):
        words = [(text.lower() if lowercase else text).split() for text in sentences]
        source.update(words[0])
        target.update(words[1])
        for i, j in np.argwhere(matrices[pair] >= LEAST_LINK).tolist():
            value = float(matrices[pair][i, j])
            links[words[0][i], words[1][j]] += value
            one[words[0][i]] += value
            other[words[1][j]] += value
    entries = found.entries()
    assert len(entries.source) == len(links) >= 4
    for e, f, count in zip(entries.source, entries.target, entries.counts.tolist(), strict=True):
        together = links[e, f] / sqrt(source[e] * target[f]) * links[e, f] / sqrt(one[e] * other[f])
        assert count == pytest.approx(COUNTS / len(PAIRS) * together, rel=1e-5)


def test_no_text_has_no_counts():
    assert len(count_links(EncoderScorer(StaticEncoder()), []).entries().source) == 0


def test_a_word_model_of_a_tiny_text_gets_better():
    """Words that occur once are linked at random, unless somebody knows what they mean."""
    random = np.random.default_rng(1)
    pairs, gold = [], []
    for _ in range(20):
        words, order = random.choice(400, 6, replace=False), random.permutation(6)
        pairs.append(([f"en{n}" for n in words], [f"fr{words[place]}" for place in order]))
        gold.append({(int(place), j) for j, place in enumerate(order)})
    bitext = Bitext.from_tokens(pairs)
    entries: PriorEntries = count_links(EncoderScorer(StaticEncoder(), threads=1), [bitext]).entries()
    right = []
    for prior in (None, Prior(table=CountTable(lambda: iter([entries]), "toy"))):
        found = HMM(threads=1, spelling=0.0).fit(bitext, prior=prior).align(bitext)
        right.append(sum(len(set(links.links) & wanted) for links, wanted in zip(found, gold, strict=True)))
    assert right[0] < right[1] == 120
