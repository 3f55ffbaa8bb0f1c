"""Runs of aligned pairs, and the numbers that alignments become."""

from __future__ import annotations

import json
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cepts import extract, factor
from cepts.data import Association, Sentence, SentencePair, geometric_mean
from cepts.errors import UsageError
from cepts.extract import Extraction, aligned_runs
from cepts.io import SentencePairWriter, read_sentence_pairs
from cepts.phrases import synthesise
from cepts.phrases.aligner import PhraseAligner
from cepts.phrases.directions import PhraseDirections, PosteriorPair
from cepts.phrases.languages import english_annotator
from cepts.phrases.words import kinds_of
from cepts.pipeline.inputs import tokenise_pairs
from cepts.pipeline.judged_pairs import IMPORTANCE, judge_pairs
from cepts.pipeline.judgements import JUDGEMENT_SCORES, pair_scores
from cepts.pipeline.phrases import Synthesiser, align_pairs, list_segmentations

EXAMPLES = read_sentence_pairs(Path(__file__).parents[2] / "examples" / "paraphrases.jsonl")
EMPTY = SentencePair(Sentence(()), Sentence(("word",)))
LONG = SentencePair(Sentence(("word",) * 41), Sentence(("word",)))


@pytest.fixture(scope="module")
def aligner():
    return PhraseAligner(language=None, iterations=20, max_length=40, threads=1).fit(EXAMPLES)


@pytest.mark.parametrize("combine", ["agreement", "onmf", "grow-diag"])
def test_runs_are_all_pairs_in_their_order(aligner, combine):
    pairs = [EMPTY, *EXAMPLES * 4, LONG]
    runs = list(aligned_runs(aligner, pairs, Extraction(combine=combine)))
    assert len(runs) == -(-len(pairs) // aligner.PAIRS_AT_A_TIME) > 1
    links = [one.links for run in runs for one in run.links]
    assert len(links) == len(pairs)
    assert links[0] == links[-1] == []
    assert links[1 : 1 + len(EXAMPLES)] == links[1 + len(EXAMPLES) : 1 + 2 * len(EXAMPLES)]


def test_cepts_are_made_of_both_directions_and_loose_words_leave_them(aligner):
    (run,) = aligned_runs(aligner, EXAMPLES, Extraction(combine="onmf"), matrices=True)
    probabilities = aligner.associate(EXAMPLES)
    np.testing.assert_array_equal(run.matrix.values, factor.in_counts(probabilities).values)
    wanted = extract.without_loose_words(factor.onmf(run.matrix), probabilities, 0.4)
    assert [one.links for one in run.links] == [one.links for one in wanted]
    assert all(one.cepts is not None for one in run.links)


def test_one_direction_gathers_different_words_about_one():
    def direction(matrix):
        values = np.array(matrix, dtype=np.float32)
        lengths = [np.array([size]) for size in values.shape]
        null = (np.zeros(values.shape[0], np.float32), np.zeros(values.shape[1], np.float32))
        return Association(*lengths, np.array([0, values.size]), values.reshape(-1), *null)

    forward = direction([[0.9, 0.1], [0.0, 0.0], [0.1, 0.9]])
    reverse = direction([[0.8, 0.1], [0.0, 0.1], [0.7, 0.2]])
    agreed = geometric_mean(forward, reverse)[0]

    def for_cepts(pair):
        both = PosteriorPair(forward, reverse)
        return PhraseDirections(both, both, None, None, [], [pair], None).for_cepts[0]

    apart = SentencePair(Sentence(("take", "it", "over")), Sentence(("seize", "it")))
    found = for_cepts(apart)
    # Along the source, "take" and "over" both go with "seize"; the higher of that and of agreement stays.
    assert found[0, 0] == agreed[0, 0] > np.float32(0.8)
    assert found[2, 0] == np.float32(0.7)
    np.testing.assert_array_equal(found[:, 1], agreed[:, 1])
    twice = SentencePair(Sentence(("the", "it", "The")), Sentence(("the", "it")))
    np.testing.assert_array_equal(for_cepts(twice), agreed)


@pytest.mark.parametrize("combine", ["agreement", "onmf", "forward", "union"])
def test_segments_cover_the_links_and_with_links_of_phrases_exactly_these(aligner, combine):
    for links in ("words", "phrases"):
        found = copy(aligner).set_params(links=links).align(EXAMPLES, combine=combine)
        for one, segments in zip(found, found.segments, strict=True):
            cells = {(i, j) for (a, b), (c, d), _ in segments for i in range(a, b) for j in range(c, d)}
            assert cells == set(one.links) if links == "phrases" else cells >= set(one.links)
            assert segments == sorted(segments)
            # Every phrase holds a link.
            for (a, b), (c, d), _ in segments:
                assert any(a <= i < b and c <= j < d for i, j in one.links)


def test_phrases_are_made_of_the_links_of_chunks(aligner):
    chunked = english_annotator().annotate(EXAMPLES, ["chunk"])
    words = copy(aligner).set_params(links="words").align(EXAMPLES)
    for links in ("words", "phrases"):
        made = Synthesiser(aligner, links)(chunked, words)
        for pair, given, one in zip(chunked, words, made, strict=True):
            want = synthesise(replace(pair, sure=tuple(given.links), possible=None)).sure
            cells = {(i, j) for (a, b), (c, d), _ in one.segments for i in range(a, b) for j in range(c, d)}
            assert cells == set(want)
            assert one.links == (given.links if links == "words" else list(want))
    assert any(len(one.segments) < len(one.links) for one in made)


def test_a_summary_counts_what_was_left_out_and_files_come_together(aligner, tmp_path):
    pairs = [EMPTY, *EXAMPLES, LONG]
    writer = SentencePairWriter(tmp_path / "links", format="pharaoh")
    summary = align_pairs(aligner, pairs, writer, scores=tmp_path / "scores")
    lines = (tmp_path / "links").read_text().split("\n")[:-1]
    assert (summary.pairs, summary.empty, summary.too_long) == (len(pairs), 1, 1)
    assert summary.links == sum(len(line.split()) for line in lines)
    assert len(lines) == len((tmp_path / "scores").read_text().splitlines()) == len(pairs)


def test_a_failure_leaves_no_file(aligner, tmp_path):
    def fail(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        align_pairs(aligner, EXAMPLES, SentencePairWriter(tmp_path / "a"), scores=tmp_path / "b", progress=fail)
    assert list(tmp_path.iterdir()) == []


def test_lists_begin_with_the_best_path(aligner, tmp_path):
    summary = list_segmentations(aligner, [EMPTY, *EXAMPLES], tmp_path / "lists", count=2)
    records = [json.loads(line) for line in (tmp_path / "lists").read_text().splitlines()]
    assert records[0]["forward"] == []
    assert summary.forward_listed == summary.reverse_listed == 2 * len(EXAMPLES)
    for name in ("forward", "reverse"):
        best = aligner.align(EXAMPLES, combine=name).segments
        for record, segments in zip(records[1:], best, strict=True):
            assert [row[:2] for row in record[name][0]["segments"]] == [[list(s), list(t)] for s, t, _ in segments]


def test_the_score_of_a_pair_that_cannot_be_aligned_is_the_lowest(aligner):
    for name in JUDGEMENT_SCORES:
        scores = pair_scores(aligner, [EMPTY, *EXAMPLES, LONG], name)
        assert scores[0] == scores[-1] == scores.min()
    assert pair_scores(aligner, [EMPTY]).tolist() == [0.0]


def test_decoding_is_the_normalised_score_of_both_paths(aligner):
    segments = aligner.align(EXAMPLES).segments
    np.testing.assert_array_equal(pair_scores(aligner, EXAMPLES), segments.normalised_scores)


def test_what_a_sentence_says_is_the_weighted_share_of_its_linked_words(aligner):
    forward, reverse = aligner.posteriors(EXAMPLES)
    for number, (pair, judged) in enumerate(zip(EXAMPLES, judge_pairs(aligner, EXAMPLES), strict=True)):
        for side, association, masses in (
            ("target", forward, forward.target_null),
            ("source", reverse, reverse.source_null),
        ):
            sentence = aligner.prepared([pair])[0]
            kinds = kinds_of(getattr(sentence, side), aligner.inventory_)
            start = getattr(association, f"{side}_offsets")[number]
            linked = [(1 - masses[start + place]) * IMPORTANCE[kind] for place, kind in enumerate(kinds)]
            weight = sum(IMPORTANCE[kind] for kind in kinds)
            assert getattr(judged, side) == pytest.approx(sum(linked) / weight)
        assert JUDGEMENT_SCORES["both"](judged) == judged.source * judged.target
        assert JUDGEMENT_SCORES["target"](judged) == judged.target


def running(*texts):
    return SentencePair(*(Sentence(tuple(text.split()), running=True) for text in texts))


RAW = [running("It's here.", "Here it's.")] * 3
TOKENISED = [running("It is here .", "Here it is .")] * 3


@pytest.mark.parametrize(
    ("tokenise", "language", "pairs", "changed", "notices"),
    [
        ("auto", "english", RAW, True, 1),
        ("yes", "english", RAW, True, 0),
        ("no", "english", RAW, False, 0),
        ("auto", None, RAW, False, 2),
        ("auto", "english", TOKENISED, False, 0),
    ],
)
def test_running_text_is_tokenised_as_asked(tokenise, language, pairs, changed, notices):
    told: list[str] = []
    found = tokenise_pairs(PhraseAligner(language=language), pairs, "a.tsv", tokenise=tokenise, notices=told)
    assert [len(pair.source) for pair in found] == [4] * 3 if changed or pairs is TOKENISED else found == pairs
    assert len(told) == notices and all(line.startswith("a.tsv") for line in told)


def test_only_english_can_be_tokenised():
    with pytest.raises(UsageError, match="`tokenise` must be no or auto"):
        tokenise_pairs(PhraseAligner(language=None), RAW, "a.tsv", tokenise="yes", notices=None)
    with pytest.raises(UsageError, match="tokenise"):
        tokenise_pairs(PhraseAligner(), RAW, "a.tsv", tokenise="perhaps", notices=None)
