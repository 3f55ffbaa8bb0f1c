"""Every scorer with every extractor: lines in = lines out, valid links, the same bytes for any number of threads."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from cepts.data import Alignments, Bitext, Sentence, SentencePair
from cepts.encoders import EncoderScorer, Similarity
from cepts.extract import EXTRACTORS, LinkScorer, MatrixScorer, ScorerMixture
from cepts.phrases.aligner import PhraseAligner, TokenAligner
from cepts.spaces import IBFA
from cepts.words import HMM, IBM4
from cepts.words import aligner as aligner_module
from cepts.words.index import cut
from toy_encoders import ContextEncoder, StaticEncoder
from toy_spaces import toy_dictionary, toy_views


def pairs_with_links(count=36, seed=0):
    """Sentences of the words en<n> and fr<n>, some in another order, with their links; some pairs stand twice."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        numbers = random.integers(0, 40, int(random.integers(1, 6)))
        order = random.permutation(len(numbers))
        source = [f"en{n}" for n in numbers]
        target = [f"fr{numbers[place]}" for place in order]
        links = tuple(sorted((int(i), j) for j, i in enumerate(order)))
        made.append(SentencePair(Sentence(tuple(source)), Sentence(tuple(target)), sure=links, possible=()))
    return [*made, *made[:6]]


GOLD = pairs_with_links()
EMPTY, LONG = 3, 11
# A pair with an empty side, and one that is too long for the word model and not for the others.
PAIRS = [([], ["fr1"]) if n == EMPTY else (pair.source.tokens, pair.target.tokens) for n, pair in enumerate(GOLD)]
PAIRS[LONG] = tuple([f"{language}{n}" for n in range(9)] for language in ("en", "fr"))
BITEXT = Bitext.from_tokens(PAIRS)


def hmm(threads):
    return HMM(iterations=2, max_length=8, threads=threads).fit(BITEXT)


def space(threads):
    return IBFA(exponent=1.0, shrinkage=0.01).fit(toy_views(), toy_dictionary()).scorer(threads=threads)


def phrases(threads, kind=PhraseAligner):
    return kind(language=None, iterations=3, threads=threads).fit(GOLD)


def matrices(threads):
    return MatrixScorer(space(1).associate(BITEXT, "mean"), threads=threads)


def links(threads):
    both = (
        Alignments.from_links([] if n in (EMPTY, LONG) else pair.sure[:most] for n, pair in enumerate(GOLD))
        for most in (None, 2)
    )
    return LinkScorer(*both, BITEXT.source.lengths, BITEXT.target.lengths, threads=threads)


SCORERS = {
    "hmm": hmm,
    "ibm4": lambda threads: IBM4(iterations=1, hmm_iterations=1, start_iterations=1, threads=threads).fit(BITEXT),
    "phrase": phrases,
    "token": lambda threads: phrases(threads, TokenAligner),
    "space": space,
    "matrices": matrices,
    "links": links,
    "encoder": lambda threads: EncoderScorer(StaticEncoder(), threads=threads),
    "encoder of contexts": lambda threads: EncoderScorer(
        ContextEncoder(), Similarity(method="transport"), threads=threads
    ),
    "word model and space": lambda threads: ScorerMixture([hmm(threads), space(threads)], [2, 1], threads=threads),
    "all": lambda threads: ScorerMixture(
        [make(threads) for make in (phrases, hmm, space, matrices, links)], threads=threads
    ),
}


@cache
def scorer(name, threads):
    return SCORERS[name](threads)


@pytest.fixture(autouse=True)
def small_runs(monkeypatch):
    """Runs of a few pairs, of other sizes for each scorer, as there are of large texts."""
    monkeypatch.setattr(aligner_module, "cut", lambda pairs, cells: cut(pairs, 60))
    monkeypatch.setattr("cepts.extract.similarity.CELLS_IN_RUN", 80)
    monkeypatch.setattr("cepts.extract.given.CELLS_IN_RUN", 90)
    monkeypatch.setattr(PhraseAligner, "PAIRS_AT_A_TIME", 7)


def arrays_of(found):
    arrays = [found.offsets, found.source, found.target, found.confidence, found.sure]
    if found.cepts is not None:
        arrays += [found.cepts.source, found.cepts.target, found.cepts.source_confidence]
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("combine", EXTRACTORS)
@pytest.mark.parametrize("name", SCORERS)
def test_every_scorer_with_every_extractor(name, combine):
    found = scorer(name, 1).align(BITEXT, combine=combine)
    assert len(found) == len(BITEXT)
    assert len(found[EMPTY]) == 0
    for (source, target), alignment in zip(PAIRS, found, strict=True):
        assert all(0 <= i < len(source) and 0 <= j < len(target) for i, j in alignment.links)
        assert alignment.links == sorted(set(alignment.links))
        assert ((alignment.confidence >= 0) & (alignment.confidence <= 1)).all()
    assert sum(len(alignment) for alignment in found) > len(BITEXT)
    # What stands twice has the same links twice.
    every = [alignment.links for alignment in found]
    assert every[:EMPTY] == every[len(BITEXT) - 6 :][:EMPTY]
    assert arrays_of(scorer(name, 2).align(BITEXT, combine=combine)) == arrays_of(found)


def test_a_pair_that_a_member_leaves_out_is_aligned_by_the_others():
    assert len(scorer("hmm", 1).align(BITEXT)[LONG]) == 0
    assert len(scorer("space", 1).align(BITEXT)[LONG]) > 0
    mixed = scorer("word model and space", 1)
    assert mixed.max_length == scorer("space", 1).max_length
    np.testing.assert_array_equal(mixed.posteriors(BITEXT)[0][LONG], scorer("space", 1).posteriors(BITEXT)[0][LONG])
