"""What the English models of the package do with the English that people write."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.data import Bitext, Sentence, SentencePair
from cepts.phrases import FAMILIES, Lexical, PhraseAligner, tokenise
from cepts.phrases.features import FeatureMaker
from cepts.phrases.inventory import Inventory
from cepts.phrases.languages import english_lexical

CLAUSE = "more than 12,000 people in Florida had already left their homes and were sleeping in schools and churches"
SINCE = "since the first days of June"
STORM = "when the storm reached Tampa late on Monday night"
LONG = [
    (f"🎉 {STORM} , {CLAUSE} .", f"{CLAUSE} {STORM} 🎉"),
    (f"Anna says that {CLAUSE} {SINCE} :-)", f":-) {SINCE} {CLAUSE} , says Anna ."),
    (f"{SINCE} , {CLAUSE} , according to the 47 mayors .", f"according to the 47 mayors , {CLAUSE} {SINCE} ."),
]
CLOSED = "when the on than in had their and were that since of to , . more first"
NUMBERS = """
He called me twice yesterday . | He called me two times yesterday . | twice | two times
She has 2 dogs . | She has two dogs . | 2 | two
He bought a dozen eggs . | He bought 12 eggs . | dozen | 12
Half of the voters stayed at home . | 50 % of the voters stayed at home . | Half | 50
It was the third attempt . | It was the 3rd attempt . | third | 3rd
About 1,000 people came . | About a thousand people came . | 1,000 | thousand
She is twenty-one years old . | She is 21 years old . | twenty-one | 21
I met him once . | I met him one time . | once | one time
Both men were arrested . | The two men were arrested . | Both | two
They paid double . | They paid twice as much . | double | twice
Twelve died on Sunday in a car bomb attack in the city . | On Sunday , a bomb in the city killed 12 . | Twelve | 12
"""


@pytest.fixture(scope="module", params=["phrase", "token"])
def aligner(request):
    return PhraseAligner.load(request.param, threads=1)


def linked_words(aligner, source, target):
    links = aligner.align([(source.split(), target.split())])[0].links
    return {(source.split()[i], target.split()[j]) for i, j in links}


@pytest.mark.parametrize(("source", "target"), LONG)
def test_identical_words_are_linked_when_clauses_move(aligner, source, target):
    found = linked_words(aligner, source, target)
    shared = (set(source.split()) & set(target.split())) - set(CLOSED.split())
    assert len(shared) > 9
    assert {word for word in shared if (word, word) not in found} == set()


@pytest.mark.parametrize("word", ["John", "2024", "🎉", "👍🏽", ":-)", "❤️"])
def test_a_word_is_linked_that_moves_alone_over_the_whole_sentence(aligner, word):
    first, last = f"{word} {CLAUSE} {SINCE} .", f"{CLAUSE} {SINCE} {word} ."
    plain = PhraseAligner.load(aligner.name, threads=1).set_params(anchoring=0.0)
    assert (word, word) not in linked_words(plain, last, first)  # what makes the difference
    for source, target in ((first, last), (last, first)):
        assert (word, word) in linked_words(aligner, source, target)


@pytest.mark.parametrize("line", NUMBERS.strip().splitlines())
def test_numbers_of_one_value_are_linked(aligner, line):
    source, target, one, other = line.split(" | ")
    found = linked_words(aligner, source, target)
    words = {(one, word) for word in other.split()}
    assert words <= found if aligner.name == "phrase" else words & found


def test_different_numbers_are_not_linked(aligner):
    assert ("2", "3") not in linked_words(aligner, "He waited for 2 days .", "He waited for 3 days .")


def test_strings_are_tokenised_and_tokens_are_not(aligner):
    source, target = '"Don\'t do it!" he said', 'He said: "Do not do it!"'
    links = aligner.align_pair(source, target).links
    words = [(tokenise(source)[i], tokenise(target)[j]) for i, j in links]
    assert {("Do", "Do"), ("n't", "not"), ("it", "it"), ("said", "said")} <= set(words)
    assert aligner.align([(source, target)])[0].links == links
    assert aligner.align_pair(tokenise(source), tokenise(target)).links == links
    for given in ([(source.split(), target.split())], Bitext.from_tokens([(source, target)])):
        (found,) = aligner.align(given)
        assert all(i < 5 and j < 6 for i, j in found.links)


def test_typographic_quotation_marks_are_no_words(aligner):
    texts = "“ It ’s over , ” she said", '" It \'s over , " she said'
    (pair,) = aligner.prepared([SentencePair(*(Sentence(tuple(text.split())) for text in texts))])
    assert pair.source.pos == pair.target.pos
    assert pair.source.lemma == pair.target.lemma
    assert pair.source.tokens[0] == "“"


# The examples of semicrf: source, target, the phrases that must be aligned.
PAPER = """
Shops are closed up for now until March . | Shops are temporarily closed down . | closed up | closed down
Shops are closed up for now until March . | Shops are temporarily closed down . | for now | temporarily
He lives in New York . | He lives in NYC . | New York | NYC
He lives in New York City . | He lives in NYC . | New York City | NYC
He lives in New York . | He lives in New York City . | New York | New York City
Her grandfather passed away in May . | Her grandfather kicked the bucket in May . | passed away | kicked the bucket
She is capable of winning the race . | She is able to win the race . | capable of | able to
He called her twice yesterday . | He called her two times yesterday . | twice | two times
He gave up smoking . | He quit smoking . | gave up | quit
"""


@pytest.mark.parametrize("line", PAPER.strip().splitlines())
def test_the_papers_examples_are_aligned_as_phrases(line):
    source, target, one, other = (text.split() for text in line.split(" | "))
    aligner = PhraseAligner.load("phrase", threads=1)
    for sides, wanted in (((source, target), (one, other)), ((target, source), (other, one))):
        segments = aligner.align([sides])[0].segments
        found = [(sides[0][slice(*a)], sides[1][slice(*b)]) for a, b, _ in segments]
        assert wanted in found


def test_words_that_stand_for_each_other_are_linked_inside_of_phrases():
    aligner = PhraseAligner.load("phrase", threads=1)
    dispute = "They settled a contract dispute ."
    found = aligner.align([(dispute.split(), dispute.split())])[0]
    assert found.links == [(place, place) for place in range(6)]
    assert ((2, 5), (2, 5)) in [segment[:2] for segment in found.segments]
    whole = PhraseAligner.load("phrase", threads=1).set_params(links="phrases").align([(dispute.split(),) * 2])[0]
    assert {(2, 3), (3, 2), (2, 4)} <= set(whole.links)
    # No word stands for another: all are linked.
    assert {("gave", "quit"), ("up", "quit")} <= linked_words(aligner, "He gave up smoking .", "He quit smoking .")


def test_relatedness_of_the_papers_words():
    (found,) = english_lexical().relatedness.similarity(["married"], ["wife", "husband", "child", "stone"])
    assert min(found[:2]) > found[2] > found[3]


def test_names_of_the_paper():
    names = english_lexical().names
    (found,) = names.scores(["Bill"], ["Bill", "Billy", "William", "Mary"])
    assert found[0] >= found[1] > max(found[2:])
    assert names.nicknames(["Bill"], ["Billy", "William", "Mary"]).tolist() == [[True, True, False]]


def test_values_of_the_papers_section_3_4():
    """The share of matching tokens, multiplied by the larger length: closed up ~ closed down has as much as a word."""
    sides = [Sentence(tuple(text.split())) for text in ("closed up", "closed down")]
    values = {}
    for upweight in (False, True):
        maker = FeatureMaker(Inventory(), Lexical(), FAMILIES, 3, 3, upweight=upweight)
        features = maker.features(SentencePair(*sides))
        place = [block.name for block in maker.layout.spans[0]].index("words found, source")
        found = dict(zip(features.items.tolist(), features.spans.values[:, place].tolist(), strict=True))
        values[upweight] = found
    for spans in ((0, 1, 0, 0), (0, 1, 0, 1)):  # closed up ~ closed, closed up ~ closed down
        item = int(np.ravel_multi_index(spans, (2, 3, 2, 3)))
        assert (values[False][item], values[True][item]) == pytest.approx((0.5, 1.0))
