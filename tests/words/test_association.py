from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_association as oracles
from bitexts_words import TOY, bitext_of, copy_of
from cepts.data import Association, Bitext, NBest, offsets_of
from cepts.errors import UsageError
from cepts.words import HMM, IBM1, IBM2, MODELS, Diagonal
from cepts.words.association import (
    ASSOCIATIONS,
    associate,
    associate_all,
    association_of_nbest,
    scale_to_words,
)
from cepts.words.cooccurrence import STATISTICS, Cooccurrence
from cepts.words.positions import Block

LISTS = ("nbest", "nbest-probability", "nbest-rank", "nbest-agreement")
NEW = [("das Haus", "the house"), ("", ""), ("ein quux", "a small frob"), ("das", ""), ("ein", "a")]


def nbest_of(lists: list[tuple[int, oracles.Entries]]) -> NBest:
    """Lists of pairs, each with the length of its explained sentence."""
    return NBest(
        np.array([length for length, _ in lists], dtype=np.int64),
        offsets_of([len(entries) for _, entries in lists]),
        np.array([score for _, entries in lists for score, _ in entries]),
        np.array([place for _, entries in lists for _, places in entries for place in places], dtype=np.int32),
    )


def one(matrix, **nulls):
    matrix = np.array(matrix, dtype=np.float32)
    rows, columns = matrix.shape
    return Association(np.array([rows]), np.array([columns]), offsets_of([matrix.size]), matrix.ravel(), **nulls)


@st.composite
def lists_of_a_pair(draw):
    size, length = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    if not (size and length):
        size = length = 0
    scores = st.floats(-40, 0)

    def entries(explained, others):
        positions = st.lists(st.integers(-1, others - 1), min_size=explained, max_size=explained)
        found = draw(st.lists(st.tuples(scores, positions), max_size=5))
        return sorted(found, key=lambda entry: -entry[0])

    return size, length, entries(length, size), entries(size, length)


@pytest.mark.parametrize("name", LISTS)
@settings(deadline=None, max_examples=100)
@given(st.lists(lists_of_a_pair(), min_size=1, max_size=3))
def test_lists_are_counted_entry_by_entry(name, cases):
    got = association_of_nbest(
        nbest_of([(length, forward) for _, length, forward, _ in cases]),
        nbest_of([(size, reverse) for size, _, _, reverse in cases]),
        name,
    )
    sources, targets = offsets_of(got.source_lengths), offsets_of(got.target_lengths)
    for pair, case in enumerate(cases):
        matrix, source_null, target_null = oracles.nbest(*case, name)
        close = {"rtol": 1e-6, "atol": 1e-12}
        np.testing.assert_allclose(got[pair], matrix, **close)
        np.testing.assert_allclose(got.source_null[sources[pair] : sources[pair + 1]], source_null, **close)
        np.testing.assert_allclose(got.target_null[targets[pair] : targets[pair + 1]], target_null, **close)
        # Each entry gives every explained word its weight, twice where null has it; the weights sum to the number of
        # entries.
        mass = len(case[2]) * case[1] + len(case[3]) * case[0]
        found = float(got[pair].sum() + (source_null.sum() + target_null.sum()) / 2)
        assert found <= mass * (1 + 1e-5) if name == "nbest-agreement" else found == pytest.approx(mass, rel=1e-5)


def test_a_link_in_every_entry_of_both_lists_counts_twice_their_length():
    lists = nbest_of([(1, [(-1.0 - rank, [0]) for rank in range(100)])])
    for name in LISTS:
        assert association_of_nbest(lists, lists, name)[0] == pytest.approx(200)


def test_a_word_at_null_in_every_entry_counts_as_much_as_a_link_in_every_entry():
    """Null competes with links that both directions count, but only one direction has it."""
    lists = nbest_of([(1, [(-1.0 - rank, [-1]) for rank in range(100)])])
    for name in LISTS:
        got = association_of_nbest(lists, lists, name)
        assert got[0] == 0
        assert [got.source_null[0], got.target_null[0]] == pytest.approx([200, 200])


def test_lists_of_impossible_entries_count_alike():
    impossible = nbest_of([(1, [(-np.inf, [0]), (-np.inf, [-1])])])
    got = association_of_nbest(impossible, impossible, "nbest-probability")
    assert (got.values.tolist(), got.source_null.tolist(), got.target_null.tolist()) == ([2.0], [2.0], [2.0])


def test_lists_that_do_not_go_together_are_refused():
    with pytest.raises(ValueError, match="Got 1 and 2 instead"):
        association_of_nbest(nbest_of([(0, [])]), nbest_of([(0, []), (0, [])]))
    with pytest.raises(UsageError, match="nbest-rank"):
        association_of_nbest(nbest_of([]), nbest_of([]), "dice")


class BestOfAll:
    """N-best lists that are the same for every pair: all words to the first word, and all to null."""

    calls = 0

    def nbest(self, block: Block, count: int) -> tuple[NBest, NBest]:
        self.calls += 1
        entries = [(-1.0, 0), (-2.0, -1)][:count]
        return tuple(
            nbest_of([(int(n), [(score, [place] * int(n)) for score, place in entries]) for n in lengths])
            for lengths in (block.pairs.target_lengths, block.pairs.source_lengths)
        )


def test_lists_are_made_of_a_few_pairs_at_a_time(monkeypatch):
    from cepts.words import association as module

    bitext = bitext_of(TOY)
    aligner = IBM1(threads=1).fit(bitext)
    model = BestOfAll()
    monkeypatch.setattr(aligner.positions_, "nbest", model.nbest)
    whole = associate_all(aligner, bitext, "nbest", nbest=2)
    assert model.calls == 1
    assert whole[0].tolist() == [[2.0, 1.0], [1.0, 0.0]]
    assert whole.source_null[:2].tolist() == whole.target_null[:2].tolist() == [2.0, 2.0]
    assert associate_all(aligner, bitext, "nbest", nbest=1).source_null.sum() == 0
    monkeypatch.setattr(module, "CELLS_OF_LISTS", 2 * 12)
    model.calls = 0
    parts = associate_all(aligner, bitext, "nbest", nbest=2)
    assert model.calls > 3
    for field in ("offsets", "values", "source_null", "target_null"):
        np.testing.assert_array_equal(getattr(parts, field), getattr(whole, field))


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_posteriors_have_the_means_that_their_names_say(model):
    text = bitext_of(TOY)
    bitext = bitext_of(NEW)
    aligner = model(threads=1).fit(text)
    found = aligner.posteriors(bitext)
    forward, reverse = found.forward.values.astype(float), found.reverse.values.astype(float)
    source_null, target_null = found.reverse.source_null, found.forward.target_null
    close = {"rtol": 1e-5, "atol": 1e-7}
    wanted = {
        "agreement": (np.sqrt(forward * reverse), source_null, target_null),
        "mean": ((forward + reverse) / 2, source_null, target_null),
        "forward": (forward, None, target_null),
        "reverse": (reverse, source_null, None),
    }
    for name, (values, of_source, of_target) in wanted.items():
        got = associate_all(aligner, bitext, name)
        np.testing.assert_array_equal(got.source_lengths, [2, 0, 2, 0, 1])
        np.testing.assert_array_equal(got.target_lengths, [2, 0, 3, 0, 1])
        np.testing.assert_allclose(got.values, values, **close)
        for null, want in ((got.source_null, of_source), (got.target_null, of_target)):
            assert (null is None) == (want is None)
            if want is not None:
                np.testing.assert_allclose(null, want, **close)


@pytest.mark.parametrize("model", [IBM1, IBM2, Diagonal])
def test_tables_normalised_over_the_sentence_are_the_posteriors_of_independent_links(model):
    bitext = bitext_of(NEW)
    aligner = model(threads=1, lexicon="ml", agreement=False).fit(bitext_of(TOY))
    got = associate_all(aligner, bitext, "tables")
    assert (got.values > 0).all()
    assert (got.source_null > 0).all()
    found = aligner.posteriors(bitext)
    for pair, (forward, reverse) in enumerate(zip(found.forward, found.reverse, strict=True)):
        if not forward.size:
            continue
        scores = aligner.score(bitext)[pair]
        ahead, back = column_masses(aligner, bitext, pair)
        np.testing.assert_allclose(2 * got[pair], forward * ahead + reverse * back[:, None], rtol=1e-4)
        assert np.log(ahead).sum() == pytest.approx(scores[0], rel=1e-4, abs=1e-5)
        assert np.log(back).sum() == pytest.approx(scores[1], rel=1e-4, abs=1e-5)


def column_masses(aligner, bitext: Bitext, pair: int):
    """P(target word | source) of each target word, and P(source word | target): the tables' null over its posterior."""
    tables, found = associate_all(aligner, bitext, "tables"), aligner.posteriors(bitext)
    source, target = offsets_of(tables.source_lengths), offsets_of(tables.target_lengths)
    columns, rows = slice(target[pair], target[pair + 1]), slice(source[pair], source[pair + 1])
    ahead = tables.target_null[columns].astype(float) / found.forward.target_null[columns]
    back = tables.source_null[rows].astype(float) / found.reverse.source_null[rows]
    return ahead, back


def test_tables_of_the_hmm_have_a_uniform_prior():
    aligner = HMM(threads=1).fit(bitext_of(TOY))
    bitext = bitext_of([("das Haus ist", "the house")])
    block = aligner._new_blocks(bitext)[0]()
    lexicon = block.lexicon[block.cells].reshape(3, 2, 2)
    got = associate_all(aligner, bitext, "tables")
    wanted = 0.9 * (lexicon[..., 0] / 3 + lexicon[..., 1] / 2) / 2
    np.testing.assert_allclose(got[0], wanted, rtol=1e-5)
    np.testing.assert_allclose(got.target_null, 0.1 * block.target_null, rtol=1e-5)


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_are_those_of_the_training_text(name):
    text, bitext = bitext_of(TOY), bitext_of(NEW)
    aligner = IBM1(threads=1, iterations=1).fit(text)
    counted = Cooccurrence(threads=1).fit(text)
    got = associate_all(aligner, bitext, name)
    np.testing.assert_array_equal(got.values, counted.association(bitext, name).values)
    assert got.source_null is None
    other = Cooccurrence(threads=1).fit(bitext)
    np.testing.assert_array_equal(
        associate_all(aligner, bitext, name, cooccurrence=other, competing=True).values,
        other.association(bitext, name, competing=True).values,
    )


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", ASSOCIATIONS)
def test_threads_and_runs_change_nothing(name, threads, monkeypatch):
    from cepts.words import aligner as module
    from cepts.words import cooccurrence
    from cepts.words.index import cut

    text = bitext_of(TOY)
    aligner = IBM2(threads=threads).fit(text)
    whole = associate_all(aligner, text, name, nbest=5)
    for changed in (module, cooccurrence):
        monkeypatch.setattr(changed, "cut", lambda pairs, *_, **__: cut(pairs, 8))
    steps = []
    runs = list(associate(aligner, copy_of(text), name, nbest=5, progress=steps.append))
    assert len(runs) > 1
    assert sum(len(run) for run in runs) == len(text)
    assert steps[-1].done == steps[-1].total == len(runs)
    np.testing.assert_allclose(np.concatenate([run.values for run in runs]), whole.values, rtol=1e-6)
    assert (whole.values >= 0).all()


def test_lists_of_all_alignments_by_probability_are_the_posteriors():
    """With every alignment in the list, weights by probability make the mean of the posteriors."""
    text = bitext_of(TOY)
    bitext = bitext_of([("das Haus", "the house"), ("ein", "a")])
    for model in (IBM1, IBM2, Diagonal, HMM):
        aligner = model(threads=1).fit(text)
        mean = associate_all(aligner, bitext, "mean")
        got = scale_to_words(associate_all(aligner, bitext, "nbest-probability", nbest=9))
        for field in ("values", "source_null", "target_null"):
            np.testing.assert_allclose(getattr(got, field), getattr(mean, field), rtol=1e-3, atol=1e-5)


def test_a_mean_is_scaled_to_words_already():
    bitext = bitext_of(NEW)
    mean = associate_all(HMM(threads=1).fit(bitext_of(TOY)), bitext, "mean")
    for weight in (1.0, 50.0):
        scaled = scale_to_words(mean, weight)
        np.testing.assert_allclose(scaled.values, weight * mean.values, rtol=1e-5)
        np.testing.assert_allclose(scaled.source_null, weight * mean.source_null, rtol=1e-5)
        np.testing.assert_allclose(scaled.target_null, weight * mean.target_null, rtol=1e-5)


def test_scaling_leaves_zeros_and_missing_nulls():
    scaled = scale_to_words(one([[0, 0], [0, 0]]))
    assert scaled.values.tolist() == [0, 0, 0, 0]
    assert scaled.source_null is None
    # Four of the matrix and half of four of null are the 4 x 1.5 that is wanted.
    scaled = scale_to_words(one([[3, 1]], target_null=np.array([1, 3], np.float32)), 4.0)
    assert (scaled.values.tolist(), scaled.target_null.tolist()) == ([3, 1], [1, 3])


def test_misuse_is_one_clear_line():
    bitext = bitext_of(TOY)
    aligner = IBM1(threads=1, iterations=1).fit(bitext)
    with pytest.raises(UsageError, match=r"one of agreement, .*llr\. Got 'posterior'"):
        associate(aligner, bitext, "posterior")
    with pytest.raises(UsageError, match=r"nbest must be 1 or more\. Got 0"):
        associate(aligner, bitext, "nbest", nbest=0)
    with pytest.raises(UsageError, match="only counts, dice, pmi, llr can compete"):
        associate(aligner, bitext, "mean", competing=True)
    with pytest.raises(UsageError, match="not trained"):
        associate(HMM(), bitext, "mean")


def test_no_pairs_at_all():
    nothing = Bitext.from_tokens([])
    aligner = HMM(threads=1).fit(nothing)
    for name in ASSOCIATIONS:
        assert len(associate_all(aligner, nothing, name)) == 0
