"""What an aligner promises, on pairs with an obvious rule."""

from __future__ import annotations

import inspect
import math
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from cepts.data import Sentence, SentencePair
from cepts.errors import DataError, UsageError
from cepts.extract import EXTRACTORS
from cepts.phrases.aligner import PhraseAligner, TokenAligner
from cepts.phrases.columns import FAMILIES
from cepts.phrases.lexical import Lexical
from cepts.phrases.steps import NULL_SIZES, STEP_WEIGHTS, steps_of
from toy_paraphrases import PHRASE, toy_pairs

OPTIONS = {"language": None, "lexical": PHRASE, "iterations": 40, "threads": 1}
PAIRS_AT_A_TIME = PhraseAligner.PAIRS_AT_A_TIME
TEST = toy_pairs(PAIRS_AT_A_TIME + 8, seed=1)
EMPTY = Sentence((), lemma=())


def phrase_aligner(**options):
    return PhraseAligner(**{**OPTIONS, "longest": 2, "widest": 2, **options})


@pytest.fixture(scope="module")
def train():
    return toy_pairs(60)


@pytest.fixture(scope="module")
def aligner(train):
    return phrase_aligner().fit(train)


@pytest.fixture(scope="module")
def token_aligner(train):
    return TokenAligner(**OPTIONS).fit(train)


def links_of(alignments):
    return [set(map(tuple, alignment.links)) for alignment in alignments]


def as_bytes(found):
    arrays = (
        found.offsets,
        found.source,
        found.target,
        found.confidence,
        *(getattr(found.segments, name) for name in SEGMENTS),
    )
    return [array.tobytes() for array in arrays]


SEGMENTS = ("offsets", "spans", "confidence", "scores", "path_words")


@pytest.mark.parametrize("combine", EXTRACTORS)
def test_the_rule_is_learnt(aligner, combine):
    links = with_links(aligner, "phrases").align(TEST, combine=combine)
    segments = links.segments
    assert links_of(links) == [set(pair.sure) for pair in TEST]
    assert links_of(segments.alignments()) == links_of(links)
    assert ((links.confidence > 0) & (links.confidence <= 1)).all()
    phrases = [segment for pair in segments for segment in pair if segment.source[1] - segment.source[0] == 2]
    assert phrases and all(segment.target[1] - segment.target[0] in (1, 2) for segment in phrases)


def with_links(aligner, links):
    """A copy of a trained aligner with other links."""
    other = copy(aligner)
    return other.set_params(links=links)


@pytest.mark.parametrize("combine", EXTRACTORS)
def test_words_that_stand_for_each_other_are_linked_and_phrases_kept_beside_them(aligner, combine):
    links = aligner.align(TEST, combine=combine)
    assert links_of(links) == [word_links(pair) for pair in TEST]
    assert links_of(links) != [set(pair.sure) for pair in TEST]
    # Of the cepts' links, "give" and "up" are single words; the phrase is known from the probabilities of segments.
    assert links_of(links.segments.alignments()) == [set(pair.sure) for pair in TEST]


def word_links(pair):
    """Of two phrases "give up", word for word; of "give up" and "quit", all with all."""
    words = pair.source.tokens, pair.target.tokens
    return {(i, j) for i, j in pair.sure if words[0][i] == words[1][j] or {words[0][i], words[1][j]} != {"give", "up"}}


@pytest.mark.parametrize(
    "options",
    [
        {"memory": False},
        {"cost": "states"},
        {"cost": "none"},
        {"upweight": False},
        {"by_words": False},
        {"null_spans": True},
        {"memory": False, "null_spans": True, "longest": 3},
        {"longest": 6, "widest": 6},
    ],
)
def test_the_rule_is_learnt_by_other_models(train, options):
    links = phrase_aligner(links="phrases", **options).fit(train).align(TEST)
    assert np.mean([got == set(pair.sure) for got, pair in zip(links_of(links), TEST, strict=True)]) > 0.9


def test_a_token_aligner_links_words_with_one_word_each(token_aligner):
    for combine, side in (("forward", 1), ("reverse", 0)):
        links = token_aligner.align(TEST, combine=combine)
        assert (np.diff(links.segments.spans.reshape(-1, 2, 2), axis=2) == 1).all()
        for found in links_of(links):
            assert len({link[side] for link in found}) == len(found)
    plain = toy_pairs(40, seed=2, phrases=False)
    assert links_of(token_aligner.align(plain)) == [set(pair.sure) for pair in plain]


def test_both_objectives_fall_in_every_iteration(aligner, token_aligner):
    for objectives in (*aligner.objectives_, *token_aligner.objectives_):
        assert len(objectives) > 5
        assert np.diff(objectives).max() <= 0


def test_progress_tells_of_every_step(train):
    steps = []
    fitted = phrase_aligner(iterations=3).fit(train[:10], progress=steps.append)
    assert [len(objectives) for objectives in fitted.objectives_] == [3, 3]
    stages = [step.stage for step in steps]
    assert stages == ["features"] * 10 + ["training forward"] * 3 + ["training reverse"] * 3
    assert [-step.objective for step in steps[10:13]] == fitted.objectives_[0]
    steps.clear()
    fitted.align(TEST, progress=steps.append)
    assert [(step.done, step.total) for step in steps[1:]] == [(PAIRS_AT_A_TIME, len(TEST)), (len(TEST), len(TEST))]


def test_threads_change_no_byte(train, aligner):
    two = phrase_aligner(threads=2).fit(train)
    assert two.weights_.tobytes() == aligner.weights_.tobytes()
    assert as_bytes(two.align(TEST)) == as_bytes(aligner.align(TEST))
    for one, other in zip(two.posteriors(TEST), aligner.posteriors(TEST), strict=True):
        assert one.values.tobytes() == other.values.tobytes()


def test_a_pair_gets_the_same_links_in_any_company(aligner):
    whole = aligner.align(TEST)
    alone = [aligner.align([pair]) for pair in TEST]
    assert links_of(whole) == [found for one in alone for found in links_of(one)]
    assert whole.segments.scores.tolist() == [score for one in alone for score in one.segments.scores.tolist()]


def test_posteriors_are_probabilities_that_add_up(aligner):
    forward, reverse = aligner.posteriors(TEST)
    assert len(forward) == len(reverse) == len(TEST)
    for association in (forward, reverse):
        assert ((association.values >= 0) & (association.values <= 1)).all()
    # A word is null's or in one segment, so it is linked with at least what null leaves.
    starts = np.cumsum([0, *(len(pair.target) for pair in TEST)])
    for number, pair in enumerate(TEST):
        cells = slice(forward.offsets[number], forward.offsets[number + 1])
        matrix = forward.values[cells].reshape(len(pair.source), len(pair.target))
        null = forward.target_null[starts[number] : starts[number + 1]]
        assert (matrix.sum(axis=0) >= 1 - null - 1e-5).all() and (matrix.max(axis=0) <= 1 - null + 1e-5).all()


def test_the_normalised_score_is_that_of_both_paths(aligner):
    segments = aligner.align(TEST).segments
    paths = [aligner.align(TEST, combine=combine).segments for combine in ("forward", "reverse")]
    np.testing.assert_allclose(segments.scores, paths[0].scores + paths[1].scores)
    # A path runs along all words of its side, also those of long segments and of spans of null.
    assert [path.path_words.tolist() for path in paths] == [
        [len(pair.target) for pair in TEST],
        [len(pair.source) for pair in TEST],
    ]
    np.testing.assert_array_equal(segments.path_words, paths[0].path_words + paths[1].path_words)
    np.testing.assert_allclose(segments.normalised_scores, segments.scores / segments.path_words)


def test_lines_in_are_lines_out_and_empty_sides_have_no_links(aligner):
    word = Sentence(("w1",), lemma=("l1",))
    pairs = [SentencePair(EMPTY, EMPTY), SentencePair(word, word), SentencePair(EMPTY, word), SentencePair(word, EMPTY)]
    for combine in EXTRACTORS:
        links = aligner.align(pairs, combine=combine)
        segments = links.segments
        assert [len(found) for found in links_of(links)] == [0, 1, 0, 0]
        assert [len(found) for found in segments] == [0, 1, 0, 0]
        assert segments.path_words.tolist()[::2] == [0, 0] and np.isfinite(segments.normalised_scores).all()
    forward, reverse = aligner.posteriors(pairs)
    assert [matrix.shape for matrix in forward] == [(0, 0), (1, 1), (0, 0), (0, 0)]
    assert len(forward.target_null) == len(reverse.source_null) == 1
    assert len(aligner.align([])) == 0


def test_pairs_that_are_too_long_are_left_unaligned(train):
    short = phrase_aligner(max_length=6, iterations=5).fit(train)
    pairs = TEST[:20]
    links = short.align(pairs)
    sizes = [max(len(pair.source), len(pair.target)) for pair in pairs]
    assert min(sizes) < 6 < max(sizes) and 6 in sizes
    for size, found, words in zip(sizes, links_of(links), links.segments.path_words, strict=True):
        assert (not found and words == 0) if size > 6 else words > 0
    # A pair that is left out takes no memory, however long it is.
    assert [matrix.size > 0 for matrix in short.posteriors(pairs)[0]] == [size <= 6 for size in sizes]


def test_long_sentences_work(token_aligner):
    words = Sentence(tuple(f"w{n}" for n in range(300)), lemma=tuple(f"l{n}" for n in range(300)))
    links = token_aligner.align([SentencePair(words, words)])
    assert links_of(links) == [{(n, n) for n in range(300)}]


def test_columns_of_training_must_be_there_and_others_may_be(train):
    tagged = phrase_aligner(iterations=5).fit(toy_pairs(30, tags=True))
    assert tagged.columns_ == ("pos", "lemma") and tagged.inventory_.tags == ("NN", "VB")
    with pytest.raises(DataError, match=r"the source sentence of pair 33 \(toy32\) has no pos column.*source_pos"):
        tagged.align([*toy_pairs(32, tags=True), *TEST[32:]])
    with pytest.raises(DataError, match="has no lemma column"):
        tagged.align(toy_pairs(1, tags=True, lemmas=False))
    unseen = replace(TEST[0], source=replace(TEST[0].source, pos=("XX",) * len(TEST[0].source)))
    unseen = replace(unseen, target=replace(unseen.target, pos=("YY",) * len(unseen.target)))
    assert len(tagged.align([unseen])) == 1
    plain = phrase_aligner(iterations=5).fit(train)
    assert plain.columns_ == ("lemma",)
    assert links_of(plain.align(toy_pairs(3, tags=True))) == links_of(plain.align(toy_pairs(3)))


def test_a_column_that_some_pairs_lack_is_not_learnt():
    mixed = phrase_aligner(iterations=2).fit([*toy_pairs(10, tags=True), *toy_pairs(10, seed=3)])
    assert mixed.columns_ == ("lemma",)


def test_pairs_to_learn_from_have_gold_links(train):
    unlinked = replace(train[1], sure=None)
    with pytest.raises(DataError, match=r"pair 2 \(toy1\) has no gold links; training needs them"):
        phrase_aligner().fit([train[0], unlinked])
    for pairs in ([], [replace(train[0], sure=())], [SentencePair(EMPTY, EMPTY, sure=())]):
        with pytest.raises(DataError, match="there is nothing to learn"):
            phrase_aligner().fit(pairs)
    for link in ((0, 99), (-1, 0)):
        with pytest.raises(DataError, match=rf"pair 1 \(toy0\) has the gold link {link[0]}-{link[1]}, but .* from 0"):
            phrase_aligner().fit([replace(train[0], sure=(link,))])


def test_families_that_are_off_have_no_weights(train):
    few = phrase_aligner(families=("string", "distortion"), iterations=2).fit(train[:10])
    assert few.families_ == ("string", "distortion")
    assert {block.family for part in few.layout_.parts for block in part} == {"string"}
    assert few.weights_.shape == (2, STEP_WEIGHTS + sum(few.layout_.sizes))
    # Without distortion the weights of all jumps but one of each kind stay where they started.
    still = phrase_aligner(families=set(FAMILIES) - {"distortion"}, iterations=5).fit(train[:20])
    steps = steps_of(20, still.memory, distortion=False)
    used = np.unique(np.concatenate([steps.jump.ravel(), steps.stay, steps.final, [NULL_SIZES]]))
    rest = np.setdiff1d(np.arange(STEP_WEIGHTS), used)
    assert len(rest) > len(used)
    assert not still.weights_[:, rest].any() and still.weights_[:, used].any()


def test_a_model_without_tables_works(train):
    plain = phrase_aligner(lexical=None, iterations=5).fit(train[:20])
    assert plain.lexical_ == Lexical()
    assert len(plain.align(TEST)) == len(TEST)


def test_an_untrained_aligner_says_so():
    for call in ("align", "posteriors"):
        with pytest.raises(UsageError, match="this PhraseAligner is not trained"):
            getattr(phrase_aligner(), call)(TEST)


def test_an_unknown_combination_is_refused(aligner):
    with pytest.raises(UsageError, match=r"`combine` must be one of agreement, .*Got 'both' instead"):
        aligner.align(TEST, combine="both")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"longest": 0}, "`longest` must be 1 or more"),
        ({"iterations": 0}, "`iterations` must be 1 or more"),
        ({"max_length": 0}, "`max_length` must be 1 or more"),
        ({"penalty": -1}, "`penalty` must be 0 or more"),
        ({"wrong_cost": math.nan}, "`wrong_cost` must be 0 or more"),
        ({"missed_cost": math.inf}, "`missed_cost` must be 0 or more"),
        ({"cost": "hamming"}, "`cost` must be one of links, states, none"),
        ({"families": ["string", "colour"]}, "Got 'colour' instead"),
        ({"language": "klingon"}, "`language` must be 'english' or None"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(UsageError, match=message):
        PhraseAligner(**options)


def test_parameters_are_spelt_out_and_kept_as_they_are_given():
    phrase, token = (list(inspect.signature(kind).parameters) for kind in (PhraseAligner, TokenAligner))
    assert phrase == ["longest", "widest", *token]
    for kind in (PhraseAligner, TokenAligner):
        given = {"families": {"string"}, "lexical": PHRASE, "threads": None, "penalty": 2}
        made = kind(**given)
        assert all(getattr(made, name) is value for name, value in given.items())
        assert made.get_params() | given == made.get_params() == kind(**made.get_params()).get_params()
        assert made.set_params(penalty=3.0).penalty == 3.0
    assert repr(TokenAligner(language=None)) == "TokenAligner(language=None)"
    assert (TokenAligner().longest, TokenAligner().widest) == (1, 1)


def test_what_is_no_list_of_pairs_is_refused(aligner):
    for wrong in ("a b", [("a", "b", "c")], ["ab"], [("a", 3)]):
        with pytest.raises(TypeError, match="must be"):
            aligner.align(wrong)


def test_strings_of_no_language_are_split_at_blanks(aligner):
    with pytest.raises(DataError, match="has no lemma column"):
        aligner.align_pair("It's a.", "b")
    (run,) = [
        make()
        for make in TokenAligner(**OPTIONS, families=["string"])
        .fit([replace(pair, source=Sentence(pair.source.tokens), target=Sentence(pair.target.tokens)) for pair in TEST])
        .directions([("It's a.", "it's b, c")])
        .makers
    ]
    assert run.forward[0].shape == (2, 3)


def test_word_links_are_averaged_with_those_of_a_partner(aligner, token_aligner):
    pairs = [SentencePair(EMPTY, EMPTY), *TEST, replace(TEST[0], source=Sentence(("w1",) * 60, lemma=("l1",) * 60))]
    joint = copy(aligner).set_params(partner=token_aligner, max_length=50)
    single = [copy(one).set_params(max_length=50).posteriors(pairs) for one in (aligner, token_aligner)]
    for place, found in enumerate(joint.posteriors(pairs)):
        first, second = single[0][place], single[1][place]
        np.testing.assert_allclose(found.values, (first.values + second.values) / 2, atol=1e-7)
        null = "source_null" if place else "target_null"
        wanted = (getattr(first, null) + getattr(second, null)) / 2
        np.testing.assert_allclose(getattr(found, null), wanted, atol=1e-7)
    # Phrases are those of the aligner itself.
    assert links_of(with_links(joint, "phrases").align(TEST)) == links_of(with_links(aligner, "phrases").align(TEST))
    assert "partner" not in joint.options()


def test_the_english_phrase_model_has_the_token_model_as_its_partner(tmp_path):
    english = PhraseAligner.load("phrase")
    assert isinstance(english.partner, TokenAligner) and PhraseAligner.load("token").partner is None
    english.save(tmp_path / "copy")
    assert PhraseAligner.load(tmp_path / "copy").partner is None
