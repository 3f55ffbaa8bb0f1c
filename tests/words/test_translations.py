from __future__ import annotations

import pytest

from bitexts_words import TOY, bitext_of
from cepts.words import HMM


@pytest.fixture(scope="module", params=["ml", "bayes", "backoff"])
def aligner(request):
    return HMM(lexicon=request.param, threads=1).fit(bitext_of(TOY * 3))


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_entries_fall_and_are_no_less_than_asked_for(aligner, direction):
    entries = aligner.translations(direction=direction, least=0.05, top=3)
    by_word = {}
    for entry in entries:
        by_word.setdefault(entry.word, []).append(entry.probability)
    for probabilities in by_word.values():
        assert len(probabilities) <= 3
        assert probabilities == sorted(probabilities, reverse=True)
        assert min(probabilities) >= 0.05


def test_the_first_translation_is_the_right_one(aligner):
    for direction, word, wanted in [
        ("forward", "haus", "house"),
        ("forward", "buch", "book"),
        ("reverse", "house", "haus"),
        ("reverse", "a", "ein"),
    ]:
        first = aligner.translations(direction=direction, words=[word])[0]
        assert (first.word, first.other) == (word, wanted)
        assert 0.5 < first.probability <= 1 + 1e-6
        assert first.count > 1


def test_the_two_directions_hold_each_others_probabilities(aligner):
    everything = {"least": 0.0, "top": 1000}
    forward = {(e.word, e.other): e for e in aligner.translations(**everything)}
    for entry in aligner.translations(direction="reverse", **everything):
        other = forward.get((entry.other, entry.word))
        if other is not None:
            assert (entry.probability, entry.back) == (other.back, other.probability)


def test_words_are_asked_for_as_they_are_written_and_unknown_ones_left_out(aligner):
    entries = aligner.translations(words=["HAUS", "Fahrrad", "Buch"], top=1)
    assert [(entry.asked, entry.word) for entry in entries] == [("HAUS", "haus"), ("Buch", "buch")]
