"""Alignment through cepts, from a trained aligner: proper, pair by pair, whatever the matrix is made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_factor as oracles
from bitexts_words import TOY, bitext_of, bitexts, copy_of
from cepts import factor
from cepts.data import Alignments, Association, Bitext
from cepts.errors import UsageError
from cepts.extract import ASSOCIATIONS, EXTRACTORS, Extraction, aligned_runs, extractors
from cepts.factor import EVIDENCE, Factoring
from cepts.names import STATISTICS
from cepts.words import HMM, IBM1, IBM2, load_aligner
from cepts.words import aligner as aligner_module
from cepts.words.index import cut

every_association = pytest.mark.parametrize("name", ASSOCIATIONS)
NEW = [
    ("das kleine Haus", "the small house"),
    ("", ""),
    ("ein quux Buch", "a frob book"),
    ("das", ""),
    ("", "the"),
    ("das " * 9, "the " * 3),
    ("das Haus", "the house"),
]
UNALIGNED = (1, 3, 4, 5)


@pytest.fixture(scope="module")
def aligner():
    return HMM(threads=1, max_length=8).fit(bitext_of(TOY))


def length_for(association, length=10):
    """A length of lists, for associations that have them."""
    return length if association.startswith("nbest") else None


def align(aligner, bitext, association="agreement", nbest=10, **options) -> Alignments:
    factoring = Factoring(**options)
    return aligner.align(
        bitext, combine="onmf", association=association, nbest=length_for(association, nbest), factoring=factoring
    )


def in_counts(aligner, bitext, association="agreement", nbest=10, **options) -> Association:
    """What is factorised."""
    how = Extraction(
        combine="onmf", association=association, nbest=length_for(association, nbest), factoring=Factoring(**options)
    )
    return Association.concatenate([run.matrix for run in aligned_runs(aligner, bitext, how, matrices=True)])


def bytes_of(found: Alignments) -> list[bytes]:
    cepts = found.cepts
    arrays = [found.offsets, found.source, found.target, found.confidence, found.sure, cepts.source, cepts.target]
    arrays += [cepts.source_offsets, cepts.target_offsets, cepts.source_confidence, cepts.target_confidence]
    return [array.tobytes() for array in (*arrays, cepts.noise)]


# -- every matrix ----------------------------------------------------------------------------------------------------


@every_association
def test_every_association_gives_proper_alignments(aligner, name):
    bitext = bitext_of(NEW)
    found = align(aligner, bitext, association=name)
    given = in_counts(aligner, bitext, association=name)
    assert len(found) == len(given) == len(NEW)
    assert oracles.faults(found, given, Factoring().sure) == []
    for pair, (source, target) in enumerate(NEW):
        words = found.cepts.source_offsets, found.cepts.target_offsets
        lengths = tuple(int(offsets[pair + 1] - offsets[pair]) for offsets in words)
        if pair in UNALIGNED:
            assert (len(found[pair]), lengths) == (0, (0, 0))
        else:
            assert lengths == (len(source.split()), len(target.split()))
    assert bytes_of(found) == bytes_of(factor.onmf(given))


@every_association
def test_matrices_are_in_counts(aligner, name):
    """A link that both directions are certain of weighs what it weighs in two lists of a hundred alignments."""
    bitext = bitext_of(TOY)
    # No list is shorter than this.
    got = in_counts(aligner, bitext, association=name, nbest=5, spread=0.0)
    nulls = [null.sum(dtype=float) for null in (got.source_null, got.target_null) if null is not None]
    mass = got.values.sum(dtype=float) + sum(nulls) / 2
    words = (got.source_lengths + got.target_lengths).sum() / 2
    if name.endswith("agreement"):
        # Where the directions disagree, some is lost.
        assert 0.5 * EVIDENCE * words < mass <= EVIDENCE * words
    elif name in ("forward", "reverse"):
        explained = got.target_lengths if name == "forward" else got.source_lengths
        assert got.values.sum(dtype=float) + sum(nulls) == pytest.approx(EVIDENCE * explained.sum(), rel=1e-4)
    elif name == "nbest-plain":
        # Plain counts: five alignments in either direction, and null once.
        assert got.values.sum(dtype=float) + sum(nulls) == pytest.approx(5 * 2 * words, rel=1e-4)
    else:
        assert mass == pytest.approx(EVIDENCE * words, rel=1e-4)
    if name.startswith("nbest"):
        assert got.values.max() <= EVIDENCE * (1 + 1e-6)


@settings(deadline=None, max_examples=25)
@given(
    bitexts(max_pairs=6, max_length=4),
    bitexts(words=("a", "b", "x"), max_pairs=4, max_length=4),
    st.sampled_from(list(ASSOCIATIONS)),
    st.sampled_from(["anneal", "bic", 2]),
    st.sampled_from([None, 0.0, 0.9]),
)
def test_any_text_is_aligned_line_by_line(text, new, name, cepts, spread):
    model = IBM2(threads=1, iterations=1).fit(text)
    if spread and name in STATISTICS:
        with pytest.raises(UsageError, match="`spread` moves null mass to neighbouring words, but `association`"):
            align(model, bitext_of(TOY), association=name, spread=spread)
        spread = None
    options = {"association": name, "cepts": cepts, "spread": spread, "restarts": 2}
    for bitext in (text, new):
        found = align(model, bitext, **options)
        assert len(found) == len(bitext)
        for pair, alignment in enumerate(found):
            source, target = bitext[pair]
            assert all(0 <= i < len(source) and 0 <= j < len(target) for i, j in alignment.links)
            assert ((alignment.confidence >= 0) & (alignment.confidence <= 1)).all()


# -- lines in = lines out --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cepts", ["anneal", 2])
def test_repeated_pairs_are_factorised_once_and_written_as_often_as_they_stand(aligner, cepts, monkeypatch):
    lines = [*NEW, *TOY]
    twice = [*lines, *reversed(lines)]
    want = align(aligner, bitext_of(lines), cepts=cepts)
    pairs = []
    onmf = factor.onmf
    monkeypatch.setattr(extractors, "onmf", lambda given, **options: pairs.append(len(given)) or onmf(given, **options))
    got = align(aligner, bitext_of(twice), cepts=cepts)
    # Those that are not aligned have no words, and are all the same.
    assert sum(pairs) == len(set(lines)) - len(UNALIGNED) + 1
    assert len(got) == len(twice)
    places = np.concatenate([np.arange(len(lines)), np.arange(len(lines))[::-1]])
    assert bytes_of(got) == bytes_of(want.take(places))


def test_no_pairs_at_all():
    nothing = Bitext.from_tokens([])
    assert len(HMM(threads=1).fit(nothing).align(nothing, combine="onmf")) == 0
    assert len(HMM(threads=1).fit(bitext_of(TOY)).align(nothing, combine="onmf")) == 0


def test_align_factors_with_the_options_that_it_is_given(aligner):
    found = align(aligner, bitext_of(NEW), association="mean", cepts=1, sure=0.0, noise=False, spread=0.0)
    assert all(len(found.cepts[pair]) <= 1 for pair in range(len(found)))
    assert found.sure.all()
    assert not found.cepts.noise.any()


# -- the same bytes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in ASSOCIATIONS if name not in STATISTICS])
def test_a_loaded_aligner_gives_the_same_bytes(tmp_path, aligner, name):
    bitext = bitext_of(NEW)
    aligner.save(tmp_path / "model")
    loaded = load_aligner(tmp_path / "model", threads=1)
    assert bytes_of(align(loaded, bitext, association=name)) == bytes_of(align(aligner, bitext, association=name))


@every_association
def test_neither_threads_nor_runs_change_a_byte(name, monkeypatch):
    bitext = bitext_of([*TOY, *NEW])
    one, three = (IBM1(threads=threads, iterations=2).fit(bitext) for threads in (1, 3))
    for text in (bitext, copy_of(bitext)):
        want = bytes_of(align(one, text, association=name))
        with monkeypatch.context() as patch:
            patch.setattr(aligner_module, "cut", lambda pairs, cells: cut(pairs, 20))
            assert len(three.directions(text, cells=EXTRACTORS["onmf"].cells).makers) > 3
            assert bytes_of(align(three, text, association=name)) == want


# -- spreading -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["agreement", "mean", "forward", "reverse", "nbest"])
def test_null_is_spread_by_the_cohesion_of_the_training_text(aligner, name):
    bitext = bitext_of(NEW)
    plain, spread_out = (in_counts(aligner, bitext, association=name, spread=spread) for spread in (0.0, 0.7))
    raw = aligner.associate(bitext, name, nbest=length_for(name))
    np.testing.assert_allclose(plain.values, raw.values * (EVIDENCE / 20 if name == "nbest" else EVIDENCE), rtol=1e-6)
    tokens = aligner.tokens(bitext)
    pairs = tokens.pairs
    source, target = aligner.cohesion()
    want = factor.spread(
        plain,
        source.pulls(tokens.source_known[pairs.source_ids], pairs.source_offsets),
        target.pulls(tokens.target_known[pairs.target_ids], pairs.target_offsets),
        0.7,
    )
    np.testing.assert_array_equal(spread_out.values, want.values)
    for null, wanted, before in (
        (spread_out.source_null, want.source_null, plain.source_null),
        (spread_out.target_null, want.target_null, plain.target_null),
    ):
        assert (null is None) == (before is None)
        if null is not None:
            np.testing.assert_array_equal(null, wanted)
            assert null.sum() < before.sum()
    assert spread_out.values.sum() > plain.values.sum()


def test_misuse_is_one_clear_line(aligner):
    bitext = bitext_of(TOY)
    for options, message in (
        ({"association": "posterior"}, "`association` must be one of"),
        ({"cepts": 0}, "Got 0 instead"),
        ({"cepts": "most"}, "Got 'most' instead"),
        ({"nbest": 0, "association": "nbest"}, "`nbest` must be 1 or more"),
        ({"restarts": 0, "cepts": "aic"}, "restarts`? and `?iterations`? must be 1 or more"),
        ({"sure": -1.0}, "sure`? must be 0 or more"),
    ):
        with pytest.raises(UsageError, match=message) as raised:
            align(aligner, bitext, **options)
        assert "\n" not in str(raised.value)
    with pytest.raises(UsageError, match="not trained"):
        HMM().align(bitext, combine="onmf")


def test_a_run_gives_every_association_that_it_is_asked_for(aligner):
    """Nothing that was made for one of them is given for another."""
    bitext = bitext_of(NEW)
    (make,) = aligner.directions(bitext, in_order=True).makers
    directions = make()
    for how in (
        {"association": "agreement"},
        {"association": "mean"},
        {"association": "mean", "spread": 0.2},
        {"association": "nbest", "nbest": 3},
        {"association": "nbest", "nbest": 9},
    ):
        factoring = Factoring(spread=how.get("spread"))
        extraction = Extraction(
            combine="onmf", association=how["association"], nbest=how.get("nbest"), factoring=factoring
        )
        found = EXTRACTORS["onmf"].matrix(directions, extraction)
        np.testing.assert_array_equal(found.values, in_counts(aligner, bitext, **{"nbest": 100, **how}).values)
