from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_phrase_scores as oracles
from cepts.data import Sentence, SentencePair
from cepts.errors import DataError
from cepts.phrases.synthesis import chunk_spans, synthesise


def pair(source_chunk, target_chunk, sure, possible=()):
    source, target = (Sentence(tuple("w" * len(chunk)), chunk=chunk) for chunk in (source_chunk, target_chunk))
    return SentencePair(source, target, "p1", tuple(sorted(sure)), tuple(sorted(possible)))


@st.composite
def chunk_columns(draw):
    labels = []
    for kind, length in draw(st.lists(st.tuples(st.sampled_from(["NP", "VP", None]), st.integers(1, 3)), max_size=4)):
        labels += ["O"] * length if kind is None else [f"B-{kind}", *[f"I-{kind}"] * (length - 1)]
    return tuple(labels)


@st.composite
def chunked_pairs(draw):
    source, target = draw(chunk_columns()), draw(chunk_columns())
    cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
    links = draw(st.sets(st.sampled_from(cells), max_size=6)) if cells else set()
    for i0, i1 in oracles.chunks(source):  # chance would rarely fill a diagonal
        for j0, j1 in oracles.chunks(target):
            if i1 - i0 == j1 - j0 and draw(st.booleans()):
                links |= set(zip(range(i0, i1), range(j0, j1), strict=True))
    return source, target, links


@settings(deadline=None, max_examples=300)
@given(chunked_pairs())
def test_synthesis_equals_the_oracle(case):
    source, target, links = case
    got = synthesise(pair(source, target, links))
    assert set(got.sure) == oracles.synthesise(links, source, target)
    assert list(got.sure) == sorted(got.sure)
    assert synthesise(got).sure == got.sure


def test_a_diagonal_of_two_chunks_is_filled_and_others_are_not():
    column = ("B-NP", "I-NP", "B-VP", "O")
    got = synthesise(pair(column, column, [(0, 0), (1, 1), (2, 2), (3, 3)], [(0, 1), (2, 3)]))
    assert got.sure == ((0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (3, 3))
    assert got.possible == ((2, 3),)
    crossed = pair(column, column, [(0, 1), (1, 0)])
    assert synthesise(crossed) == crossed


def test_a_chunk_at_the_end_of_a_sentence_counts():
    column = ("B-NP", "I-NP")
    assert len(synthesise(pair(column, column, [(0, 0), (1, 1)])).sure) == 4


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        ((), []),
        (("O", "O"), []),
        (("B-NP", "B-NP", "I-NP"), [(0, 1), (1, 3)]),
        (("I-NP", "I-NP", "O", "I-VP"), [(0, 2), (3, 4)]),
        (("B-NP", "I-VP"), [(0, 1), (1, 2)]),
    ],
)
def test_spans_of_chunks(labels, spans):
    assert chunk_spans(labels) == spans


def test_what_is_missing_is_said():
    bare = SentencePair(Sentence(("a",)), Sentence(("b",)), "p7", ((0, 0),))
    with pytest.raises(DataError, match="sentence pair p7: found no column chunk of the target sentence"):
        synthesise(bare)
    with pytest.raises(DataError, match="found no gold links"):
        synthesise(SentencePair(Sentence(("a",)), Sentence(("b",))))
    assert synthesise(SentencePair(Sentence(()), Sentence(()), sure=())).sure == ()
