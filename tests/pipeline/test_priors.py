"""Priors from models and from links."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepts.data import Alignments, Bitext, offsets_of
from cepts.io import read_priors
from cepts.pipeline.priors import (
    DICTIONARY_COUNT,
    prior_of,
    with_dictionary,
    write_link_priors,
    write_model_priors,
)
from cepts.words import HMM, IBM1, IBM4

TEXT = Bitext.from_tokens([(["a", "b", "c"], ["x", "y", "z"]), (["b", "a"], ["y", "x"]), (["c"], ["z", "z"])] * 4)


@st.composite
def linked_pairs(draw):
    """Sentence pairs with any links."""
    sentence = st.lists(st.sampled_from("ab"), min_size=1, max_size=3)
    pairs = draw(st.lists(st.tuples(sentence, sentence), min_size=1, max_size=3))
    links = []
    for source, target in pairs:
        every = [(i, j) for i in range(len(source)) for j in range(len(target))]
        links.append(sorted(draw(st.sets(st.sampled_from(every)))))
    return pairs, links


def jumps_of(links, length):
    """Jumps from the links of one linked word to those of the next, which are given as (own, other) pairs."""
    last = -1
    for _, group in groupby(sorted(links, key=lambda link: (link[1], link[0])), key=lambda link: link[1]):
        own = [link[0] for link in group]
        yield own[0] - last
        last = own[-1]
    yield length - last


@given(linked_pairs())
def test_priors_of_links_are_counts(tmp_path_factory, case):
    pairs, links = case
    flat = [link for each in links for link in each]
    source, target = (np.array([link[side] for link in flat], dtype=np.int32) for side in range(2))
    alignments = Alignments(offsets_of([len(each) for each in links]), source, target, np.ones(len(flat)), source >= 0)
    path = tmp_path_factory.mktemp("priors") / "p"
    write_link_priors(Bitext.from_tokens(pairs), alignments, path)
    (block,) = read_priors(path)
    lexicon, jumps, fertilities = Counter(), Counter(), Counter()
    for (source, target), own in zip(pairs, links, strict=True):
        lexicon.update((source[i], target[j]) for i, j in own)
        jumps.update((0, jump) for jump in jumps_of(own, len(source)))
        jumps.update((1, jump) for jump in jumps_of([link[::-1] for link in own], len(target)))
        fertilities.update((0, source[i], n) for i, n in Counter(i for i, _ in own).items())
        fertilities.update((1, target[j], n) for j, n in Counter(j for _, j in own).items())
    assert dict(zip(zip(block.source, block.target, strict=True), block.counts, strict=True)) == lexicon
    assert list(zip(block.source, block.target, strict=True)) == sorted(lexicon)
    assert {jump[:2]: jump[2] for jump in block.jumps} == jumps
    assert {each[:3]: each[3] for each in block.fertilities} == fertilities


@pytest.mark.parametrize("model", [IBM1, HMM, IBM4])
def test_priors_of_a_model_are_its_expected_counts(tmp_path, model):
    fitted = model(threads=1).fit(TEXT)
    fitted.save(tmp_path / "model")
    write_model_priors(tmp_path / "model", tmp_path / "p", least=0.0)
    (block,) = read_priors(tmp_path / "p")
    counts = dict(zip(zip(block.source, block.target, strict=True), block.counts, strict=True))
    lexicon, observed = fitted.lexicon_, fitted.lexicon_.observed()
    for row, word in enumerate(fitted.source_.vocabulary.words):
        for cell in range(lexicon.rows[row], lexicon.rows[row + 1]):
            other = fitted.target_.vocabulary[int(lexicon.targets[cell])]
            count = observed[cell].mean()
            assert counts.get((word, other), 0.0) == pytest.approx(count if count >= 0.005 else 0.0, rel=1e-4)
    directions = [sum(count for side, _, count in block.jumps if side == direction) for direction in range(2)]
    assert bool(block.jumps) is (model is not IBM1)
    if model is HMM:
        # Every link comes by a jump or starts a sentence; few words of this text have none.
        for found, words in zip(directions, (len(TEXT.target.ids), len(TEXT.source.ids)), strict=True):
            assert 0.9 * words < found <= words
    assert bool(block.fertilities) is (model is IBM4)
    for direction, text in enumerate((TEXT.source, TEXT.target) if model is IBM4 else ()):
        total = sum(count for side, *_, count in block.fertilities if side == direction)
        assert total == pytest.approx(len(text.ids), rel=0.02)


def test_unlikely_links_are_left_out(tmp_path):
    IBM1(threads=1).fit(TEXT).save(tmp_path / "model")
    sizes = []
    for least in (0.0, 0.5):
        write_model_priors(tmp_path / "model", tmp_path / "p", least=least)
        sizes.append(sum(len(block.source) for block in read_priors(tmp_path / "p")))
    assert sizes[1] < sizes[0]


def test_symbols_of_rare_words_are_left_out(tmp_path):
    text = Bitext.from_tokens([(["a", "a", "rare"], ["x", "x"]), (["a", "other"], ["x", "seldom"])])
    fitted = IBM4(threads=1, min_count=2).fit(text)
    assert any(" " in word for word in fitted.source_.vocabulary.words)
    fitted.save(tmp_path / "model")
    write_model_priors(tmp_path / "model", tmp_path / "p", least=0.0)
    (block,) = read_priors(tmp_path / "p")
    assert set(block.source) == {"a"}
    assert {word for _, word, *_ in block.fertilities} == {"a", "x"}


def test_translations_share_the_count_of_a_word(tmp_path):
    path = tmp_path / "en-fr.tsv"
    path.write_text("a\tx\na\ty\nb\ty\nNew York\tz\nc\t\n")
    table = with_dictionary(None, path, 50).table
    [entries] = table.entries()
    found = {(e, f): count for e, f, count in zip(entries.source, entries.target, entries.counts, strict=True)}
    one = DICTIONARY_COUNT / 50
    wanted = {("a", "x"): one / np.sqrt(2 * 1), ("a", "y"): one / np.sqrt(2 * 2), ("b", "y"): one / np.sqrt(1 * 2)}
    assert found == pytest.approx(wanted)


def test_a_prior_may_have_several_tables(tmp_path):
    (tmp_path / "priors").write_text("LEX\ta\tx\t3\n")
    (tmp_path / "en-fr.tsv").write_text("b\ty\n")
    first = prior_of(priors=tmp_path / "priors")()
    both = with_dictionary(first, tmp_path / "en-fr.tsv", 1)
    assert [list(entries.source) for entries in both.table.entries()] == [["a"], ["b"]]
    assert [list(entries.source) for entries in both.table.entries()] == [["a"], ["b"]]  # it can be read again
    assert both.fingerprint not in (first.fingerprint, with_dictionary(None, tmp_path / "en-fr.tsv", 1).fingerprint)
