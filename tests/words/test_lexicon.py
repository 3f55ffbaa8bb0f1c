from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

import oracles_words as oracles
from bitexts_words import WORDS_WITH_STEMS, bitext_of, bitexts, cells_of_pairs, index_of, sides_of, tokens_of
from cepts.data import Bitext
from cepts.words.lexicon import LEXICONS, BackOff, Bayes, MaximumLikelihood

STEMS = st.sampled_from([(), (4,), (6, 4), (6, 5, 4), (1,)])
SPELLING = st.sampled_from([0.0, 0.1, 1.0])
stemmed_bitexts = bitexts(words=WORDS_WITH_STEMS, min_length=1, max_length=4)


class Case:
    """A bitext with random expected counts of its cells, in one column (agreement) or two."""

    def __init__(self, bitext: Bitext, seed: int, columns: int) -> None:
        self.bitext = bitext
        self.index = index_of(bitext)
        self.sides = sides_of(bitext)
        random = np.random.default_rng(seed)
        counts = random.gamma(0.3, 2.0, (len(self.index), columns)) * random.integers(0, 4, (len(self.index), 1))
        self.counts = counts.astype(np.float32)
        self.rows = self.index.rows(len(self.sides[0]))
        self.source_of_cell = np.repeat(np.arange(len(self.sides[0])), np.diff(self.rows))

    def lexicon(self, kind, **options):
        """A lexicon estimated from the counts."""
        lexicon = kind(self.rows, self.index.targets, *self.sides, **options)
        lexicon.estimate(self.counts.copy())
        return lexicon

    def cells_of_pairs(self):
        """The cell of each token pair of the bitext, in order."""
        return np.concatenate(cells_of_pairs(self.index))

    def words(self):
        """The word pair of each cell."""
        source, target = (side.vocabulary for side in self.sides)
        return [(source[e], target[f]) for e, f in zip(self.source_of_cell, self.index.targets, strict=True)]

    def direction(self, direction):
        """Counts, the given word of each cell, and how many given words there are."""
        given = self.source_of_cell if direction == 0 else self.index.targets
        return (
            self.counts[:, direction % self.counts.shape[1]].astype(float),
            given,
            len(self.sides[direction]),
        )


cases = st.builds(Case, stemmed_bitexts, st.integers(0, 2**32 - 1), st.sampled_from([1, 2]))


# -- maximum likelihood and Bayes ----------------------------------------------------------------------------------


@settings(deadline=None)
@given(cases)
def test_maximum_likelihood_is_the_share_of_the_counts(case):
    table = case.lexicon(MaximumLikelihood).table
    for direction in range(2):
        counts, given, words = case.direction(direction)
        totals = np.bincount(given, counts, words)
        want = np.divide(counts, totals[given], out=np.zeros_like(counts), where=totals[given] > 0)
        np.testing.assert_allclose(table[:, direction], want, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(np.bincount(given, table[:, direction], words)[totals > 0], 1, rtol=1e-5)


@settings(deadline=None)
@given(cases, st.sampled_from([0.001, 0.01, 0.5, 2.0]))
def test_bayes_is_the_exponential_of_the_expected_logarithm(case, concentration):
    table = case.lexicon(Bayes, concentration=concentration).table
    for direction in range(2):
        counts, given, words = case.direction(direction)
        totals, sizes = np.bincount(given, counts, words), np.bincount(given, minlength=words)
        want = np.exp(digamma(counts + concentration) - digamma((totals + concentration * sizes)[given]))
        np.testing.assert_allclose(table[:, direction], np.maximum(want, 1e-9), rtol=1e-4)
        assert (np.bincount(given, table[:, direction], words) <= 1 + 1e-5).all()


@pytest.mark.parametrize("kind", [MaximumLikelihood, Bayes])
@settings(deadline=None, max_examples=30)
@given(cases, st.sampled_from([0.1, 1.0]))
def test_like_spelt_words_begin_with_a_count(kind, case, spelling):
    """As if the counts had it already."""
    with_prior = case.lexicon(kind, spelling=spelling)
    like = [oracles.likeness(*words, BackOff.LIKENESS) for words in case.words()]
    case.counts += (spelling * np.array(like, dtype=np.float32))[:, None]
    np.testing.assert_allclose(with_prior.table, case.lexicon(kind).table, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("kind", LEXICONS.values(), ids=LEXICONS)
@settings(deadline=None, max_examples=30)
@given(cases, SPELLING)
def test_a_lexicon_is_made_again_of_its_state(kind, case, spelling):
    first = case.lexicon(kind, spelling=spelling)
    again = kind(case.rows, case.index.targets, *case.sides, spelling=spelling)
    again.restore({name: array.copy() for name, array in first.state().items()})
    np.testing.assert_array_equal(again.table, first.table)
    # And it goes on learning as the first one does.
    first.estimate(case.counts.copy())
    again.estimate(case.counts.copy())
    np.testing.assert_array_equal(again.table, first.table)


# -- back-off ------------------------------------------------------------------------------------------------------


def discounts(case):
    """What the counts of each cell are worth: 0.75 if a word occurs once, (n - 0.25) / n if it occurs n times."""
    times = [dict(zip(side.vocabulary.words, side.frequencies.tolist(), strict=True)) for side in case.sides]
    rarer = np.array([min(times[0][e], times[1][f]) for e, f in case.words()], dtype=float)
    return (rarer - 0.25) / rarer


@settings(deadline=None, max_examples=30)
@given(cases, SPELLING)
def test_observed_counts_are_those_of_the_e_step(case, spelling):
    lexicon = case.lexicon(BackOff, spelling=spelling)
    np.testing.assert_allclose(lexicon.observed(), np.where(case.counts < 1e-4, 0.0, case.counts), rtol=1e-4, atol=2e-4)
    np.testing.assert_allclose(case.lexicon(BackOff).counts[:, 0], discounts(case) * case.counts[:, 0], atol=1e-5)


def back_off_oracle(case, lexicon, direction, floor=None):
    """The oracle of one direction, with the strengths that the lexicon has chosen."""
    counts, _, _ = case.direction(direction)
    counts = np.where(counts < 1e-5, 0.0, counts) * discounts(case)
    pairs = [words if direction == 0 else words[::-1] for words in case.words()]
    explained = case.sides[1 - direction]
    return oracles.BackOffOracle(
        {
            words: count + lexicon.spelling * oracles.likeness(*words, BackOff.LIKENESS)
            for words, count in zip(pairs, counts, strict=True)
        },
        dict(zip(explained.vocabulary.words, explained.frequencies.tolist(), strict=True)),
        lexicon.stems,
        lexicon.strengths[:, direction],
        float(lexicon.floor) if floor is None else floor,
    )


@settings(deadline=None, max_examples=30)
@given(cases, st.sampled_from([(5, 3), (4, 2), (3, 1)]))
def test_short_stems_say_nothing_where_training_starts_from_a_dictionary(case, stems):
    lexicon = case.lexicon(BackOff, stems=stems)
    begun = lexicon.strengths.copy()
    lexicon.spread()
    np.testing.assert_array_equal(lexicon.strengths, begun)
    for depth, letters in enumerate(stems, 1):
        if letters <= 3:
            lexicon.strengths[depth] = 100.0
    for direction in range(2):
        oracle = back_off_oracle(case, lexicon, direction)
        want = [oracle.probability(*(words if direction == 0 else words[::-1])) for words in case.words()]
        np.testing.assert_allclose(lexicon.table[:, direction], want, rtol=1e-4)
    # Strengths that were learnt are trusted.
    lexicon.estimates = BackOff.PATIENCE + 1
    table = lexicon.table.copy()
    lexicon.spread()
    np.testing.assert_array_equal(lexicon.table, table)


@settings(deadline=None, max_examples=60)
@given(cases, STEMS, SPELLING)
def test_back_off_equals_its_formula(case, stems, spelling):
    lexicon = case.lexicon(BackOff, stems=stems, spelling=spelling)
    for direction in range(2):
        oracle = back_off_oracle(case, lexicon, direction)
        want = [oracle.probability(*(words if direction == 0 else words[::-1])) for words in case.words()]
        np.testing.assert_allclose(lexicon.table[:, direction], want, rtol=1e-4)


@settings(deadline=None, max_examples=40)
@given(cases, STEMS)
def test_strengths_are_better_than_those_it_began_with(case, stems):
    lexicon = case.lexicon(BackOff, stems=stems)
    for _ in range(BackOff.PATIENCE):
        lexicon.estimate(case.counts.copy())
    for direction in range(2):
        oracle = back_off_oracle(case, lexicon, direction, floor=0.0)
        chosen = oracle.leave_one_out()
        oracle.strengths = np.full(len(stems) + 1, BackOff.BEGINNING)
        assert chosen >= oracle.leave_one_out() - 1e-5 * max(1.0, abs(chosen))


@settings(deadline=None, max_examples=25)
@given(cases, STEMS)
def test_strengths_come_to_where_no_single_one_can_be_bettered(case, stems):
    lexicon = case.lexicon(BackOff, stems=stems)
    for _ in range(30):
        lexicon.estimate(case.counts.copy())
    for direction in range(2):
        oracle = back_off_oracle(case, lexicon, direction, floor=0.0)
        best, strengths = oracle.leave_one_out(), lexicon.strengths[:, direction]
        for level, strength in enumerate(strengths):
            place = int(np.abs(BackOff.GRID - strength).argmin())
            for other in BackOff.GRID[max(place - 1, 0) : place + 2]:
                oracle.strengths = strengths.copy()
                oracle.strengths[level] = other
                assert oracle.leave_one_out() <= best + 1e-5 * max(1.0, abs(best))


@settings(deadline=None, max_examples=40)
@given(cases, STEMS, SPELLING)
def test_back_off_spreads_one_over_all_target_words(case, stems, spelling):
    """Also over those that a word never met, which only a look-up shows."""
    lexicon = case.lexicon(BackOff, stems=stems, spelling=spelling)
    source, target = (side.vocabulary.words for side in case.sides)
    everything = Bitext.from_tokens([(source, target)])
    table = lexicon.look_up(tokens_of(everything, *case.sides)).reshape(len(source), len(target), 2)
    np.testing.assert_allclose(table[:, :, 0].sum(axis=1), 1, rtol=1e-4)
    np.testing.assert_allclose(table[:, :, 1].sum(axis=0), 1, rtol=1e-4)


# -- looking up ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LEXICONS.values(), ids=LEXICONS)
@settings(deadline=None, max_examples=40)
@given(cases)
def test_pairs_of_training_are_looked_up_bit_for_bit(kind, case):
    lexicon = case.lexicon(kind, **({"spelling": 0.1} if kind is BackOff else {}))
    found = lexicon.look_up(tokens_of(case.bitext, *case.sides))
    np.testing.assert_array_equal(found, lexicon.table[case.cells_of_pairs()])


new_words = (*WORDS_WITH_STEMS, "parliamentary", "parl", "élevage", "houses", "2024", "x")


@settings(deadline=None, max_examples=60)
@given(cases, bitexts(words=new_words, min_length=1, max_length=4), STEMS, SPELLING)
def test_new_words_are_backed_off_as_in_training(case, new, stems, spelling):
    lexicon = case.lexicon(BackOff, stems=stems, spelling=spelling)
    got = lexicon.look_up(tokens_of(new, *case.sides))
    pairs = [new[pair] for pair in range(len(new))]
    known = [set(side.vocabulary.words) for side in case.sides]
    for direction in range(2):
        oracle = back_off_oracle(case, lexicon, direction)
        want = []
        for words in oracles.token_pairs(pairs):
            given, explained = words if direction == 0 else words[::-1]
            probability = oracle.probability(given, explained)
            if given not in known[direction]:
                # All that is known of it is its spelling.
                share = (spelling > 0) * BackOff.TRUST * oracles.likeness(given, explained, BackOff.LIKENESS)
                probability = share + (1 - share) * probability
            want.append(probability)
        np.testing.assert_allclose(got[:, direction], want, rtol=1e-4)


@settings(deadline=None, max_examples=60)
@given(cases, bitexts(words=new_words, min_length=1, max_length=4), STEMS)
def test_many_forms_are_placed_as_a_few_are(case, new, stems):
    lexicon = case.lexicon(BackOff, stems=stems)
    places = []
    for few in (len(new_words), 0):
        lexicon.FEW_FORMS = few
        tokens = tokens_of(new, *case.sides)
        lexicon.place(tokens)
        places.append([*tokens.places["source"], *tokens.places["target"]])
    for one, other in zip(*places, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", LEXICONS.values(), ids=LEXICONS)
@settings(deadline=None, max_examples=30)
@given(cases)
def test_a_settled_lexicon_gives_every_pair_some_probability(kind, case):
    lexicon = case.lexicon(kind)
    lexicon.settle()
    assert lexicon.table.min() > 0
    source, target = (side.vocabulary.words for side in case.sides)
    everything = lexicon.look_up(tokens_of(Bitext.from_tokens([(source, target)]), *case.sides))
    assert everything.min() > 0


@pytest.mark.parametrize("kind", [MaximumLikelihood, Bayes])
def test_words_that_a_flat_lexicon_does_not_know_get_a_tiny_probability(kind):
    case = Case(bitext_of([("a b", "c d")]), 0, 2)
    found = case.lexicon(kind).look_up(tokens_of(bitext_of([("a new", "c new")]), *case.sides)).reshape(2, 2, 2)
    assert (found[1] > 0).all()
    assert (found[:, 1] > 0).all()
    assert found[1].max() < 1e-6


def test_identical_unknown_words_are_likelier_than_other_unknown_ones():
    case = Case(bitext_of([("the house", "la maison"), ("the book", "le livre")]), 0, 2)
    new = bitext_of([("Zürich the 1998", "1998 la Zürich")])
    found = case.lexicon(BackOff, spelling=0.1).look_up(tokens_of(new, *case.sides)).reshape(3, 3, 2)
    for direction in range(2):
        matrix = found[:, :, direction]
        assert matrix[0, 2] > matrix[0, 0]
        assert matrix[2, 0] > matrix[2, 2]


def test_a_new_form_of_a_known_stem_takes_after_the_stem():
    case = Case(bitext_of([("parliament", "parlement"), ("house", "maison")] * 4), 0, 2)
    case.counts[:] = 4.0
    new = bitext_of([("parliamentary", "parlement maison")])
    found = case.lexicon(BackOff).look_up(tokens_of(new, *case.sides))
    assert (found[0] > 2 * found[1]).all()


@pytest.mark.parametrize("kind", LEXICONS.values(), ids=LEXICONS)
def test_estimating_again_is_seen_by_the_next_look_up(kind):
    case = Case(bitext_of([("a b", "c d"), ("a", "c")]), 1, 2)
    lexicon = case.lexicon(kind)
    tokens = tokens_of(case.bitext, *case.sides)
    before = lexicon.look_up(tokens)
    lexicon.estimate(case.counts[::-1].copy())
    after = lexicon.look_up(tokens)
    assert not np.array_equal(before, after)
    np.testing.assert_array_equal(after, lexicon.table[case.cells_of_pairs()])
