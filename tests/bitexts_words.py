"""Small bitexts and blocks for the tests of `cepts.words`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from cepts.data import Bitext, offsets_of
from cepts.words.aligner import Aligner
from cepts.words.blocks import PairBlock
from cepts.words.index import IndexShard, Pairs, index_shard
from cepts.words.lexicon import Side, Tokens

TOY = [
    ("das Haus", "the house"),
    ("das Buch", "the book"),
    ("ein Buch", "a book"),
    ("ein Haus", "a house"),
    ("das kleine Haus", "the small house"),
    ("ein kleines Buch", "a small book"),
    ("das Haus ist klein", "the house is small"),
    ("das Buch ist klein", "the book is small"),
    ("ein Buch ist ein Buch", "a book is a book"),
    ("das ist ein Haus", "that is a house"),
    ("das ist ein Buch", "that is a book"),
]


def flat(sentences: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The words of all sentences, and where each sentence starts."""
    ids = np.array([word for sentence in sentences for word in sentence], dtype=np.int32)
    return ids, offsets_of([len(sentence) for sentence in sentences])


SHORT_WORDS = ("a", "b", "c", "d")
# Two of a stem at each length, like-spelt and identical words, letters of two bytes, one that is all of its stem.
WORDS_WITH_STEMS = ("parliament", "parliaments", "parlia", "parlour", "élève", "élèves", "1998", "house")


def bitext_of(lines: Sequence[tuple[str, str]]) -> Bitext:
    """Bitext of pairs of lines, split on blanks."""
    return Bitext.from_tokens([(source.split(), target.split()) for source, target in lines])


def sentence_pairs(bitext: Bitext) -> list[tuple[list[str], list[str]]]:
    """The pairs of a bitext as words."""
    return [bitext[pair] for pair in range(len(bitext))]


def copy_of(bitext: Bitext) -> Bitext:
    """The same text as another object: a model looks its words up instead of taking the cells of training."""
    return Bitext.from_tokens(sentence_pairs(bitext))


def results(aligner: Aligner, bitext: Bitext) -> list[NDArray]:
    """Everything that an aligner says of a bitext."""
    forward, reverse = aligner.posteriors(bitext)
    arrays = [aligner.score(bitext), forward.offsets, forward.values, reverse.offsets, reverse.values]
    arrays += [forward.target_null, reverse.source_null]
    for combine in ("agreement", "forward", "reverse"):
        links = aligner.align(bitext, combine=combine)
        arrays += [links.offsets, links.source, links.target, links.confidence, links.sure]
    return arrays


def pairs_of(bitext: Bitext) -> Pairs:
    """The pairs by number, every word a form of its own."""
    return Pairs(bitext.source.ids, bitext.source.offsets, bitext.target.ids, bitext.target.offsets)


def index_of(bitext: Bitext, **options: int) -> IndexShard:
    """The index of a text with one shard, whose rows are source words."""
    ranks = np.arange(len(bitext.source.vocabulary), dtype=np.int32)
    return index_shard(pairs_of(bitext), ranks, len(bitext.target.vocabulary), **options)


def cells_of_pairs(index: IndexShard) -> list[NDArray[np.int32]]:
    """The cells of the token pairs of each pair of the bitext, in order."""
    of_distinct = []
    for block in index.blocks:
        cells = block.cell_numbers[block.cells]
        of_distinct += np.split(cells, block.pairs.cell_offsets[1:-1]) if len(block.pairs) else []
    return [of_distinct[place] for place in index.places]


def sides_of(bitext: Bitext) -> tuple[Side, Side]:
    """What a lexicon wants to know of either side."""
    return tuple(
        Side(text.vocabulary, np.bincount(text.ids, minlength=len(text.vocabulary)))
        for text in (bitext.source, bitext.target)
    )


def tokens_of(bitext: Bitext, source: Side, target: Side) -> Tokens:
    """A bitext as a lexicon of `source` and `target` looks it up."""
    return Tokens(
        pairs_of(bitext),
        bitext.source.vocabulary,
        bitext.target.vocabulary,
        source.vocabulary.numbers(bitext.source.vocabulary.words),
        target.vocabulary.numbers(bitext.target.vocabulary.words),
    )


@st.composite
def bitexts(draw, *, words=SHORT_WORDS, min_pairs=1, max_pairs=4, min_length=0, max_length=3) -> Bitext:
    """Any small bitext; both sides draw from the same `words`."""
    sentence = st.lists(st.sampled_from(words), min_size=min_length, max_size=max_length)
    return Bitext.from_tokens(draw(st.lists(st.tuples(sentence, sentence), min_size=min_pairs, max_size=max_pairs)))


@dataclass
class PairCase:
    """One sentence pair as a position model sees it: lexicon entries (I x J) and null entries, each direction's."""

    forward: NDArray[np.float32]
    reverse: NDArray[np.float32]
    target_given_null: NDArray[np.float32]
    source_given_null: NDArray[np.float32]

    def directions(self) -> list[tuple[NDArray, NDArray]]:
        """Lexicon and null of each direction in float64, the explained side in the columns."""
        return [
            (self.forward.astype(float), self.target_given_null.astype(float)),
            (self.reverse.T.astype(float), self.source_given_null.astype(float)),
        ]


def random_pair(size: int, length: int, random: np.random.Generator, decades: float = 3.0) -> PairCase:
    """Entries over so many powers of ten."""

    def entries(*shape: int) -> NDArray[np.float32]:
        return (10 ** random.uniform(-decades, 0, shape)).astype(np.float32)

    return PairCase(entries(size, length), entries(size, length), entries(length), entries(size))


def block_of_pairs(cases: Sequence[PairCase], *, cells: NDArray[np.int32] | None = None) -> PairBlock:
    """A block of the pairs; each token pair is a cell of its own unless `cells` says which share one."""
    pairs = Pairs(
        np.arange(sum(len(case.source_given_null) for case in cases), dtype=np.int32),
        offsets_of([len(case.source_given_null) for case in cases]),
        np.arange(sum(len(case.target_given_null) for case in cases), dtype=np.int32),
        offsets_of([len(case.target_given_null) for case in cases]),
    )
    table = np.stack([_flat([c.forward for c in cases]), _flat([c.reverse for c in cases])], axis=1)
    if cells is None:
        cells = np.arange(len(table), dtype=np.int32)
    else:
        # A shared cell has the entries of the first token pair that uses it.
        _, first = np.unique(cells, return_index=True)
        table = np.ascontiguousarray(table[first])
    return PairBlock(
        pairs,
        cells,
        table,
        _flat([case.source_given_null for case in cases]),
        _flat([case.target_given_null for case in cases]),
        pairs.source_ids,
        pairs.target_ids,
    )


def split(values: NDArray, shapes: Sequence[tuple[int, ...]]) -> list[NDArray]:
    """Flat values cut into one array for each shape."""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    assert len(values) == (ends[-1] if len(ends) else 0)
    return [part.reshape(shape) for part, shape in zip(np.split(values, ends[:-1]), shapes, strict=True)]


@st.composite
def pair_cases(draw, *, max_pairs=3, max_length=3, min_length=0) -> list[PairCase]:
    """Random pairs, some of them empty."""
    length = st.integers(min_length, max_length)
    shapes = draw(st.lists(st.tuples(length, length), min_size=1, max_size=max_pairs))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # A pair that is empty on one side has no words on the other either: that is how a model is given it.
    return [random_pair(*(shape if min(shape) else (0, 0)), random) for shape in shapes]


@st.composite
def ragged_cases(draw) -> list[PairCase]:
    """Random pairs of many lengths, among them some of the same lengths, in any order, and one that may be too long for
    a batch.
    """
    length = st.sampled_from((1, 2, 3, 7, 8, 9, 20))
    shape = st.tuples(length, length)
    shapes = draw(st.lists(shape, max_size=25)) + [draw(shape)] * draw(st.integers(1, 20))
    shapes += draw(st.sampled_from(([], [(70, 1)], [(1, 70)], [(70, 65)], [(0, 0)])))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return [random_pair(*shapes[place], random) for place in random.permutation(len(shapes))]


def _flat(arrays: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    return np.concatenate([array.ravel() for array in arrays]) if arrays else np.empty(0, np.float32)
