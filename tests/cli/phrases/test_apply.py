"""`cepts phrases apply`: whole pairs judged by a threshold, answers ranked."""

from __future__ import annotations

import json

import pytest

from cepts.evaluate import choose_threshold
from cepts.io import read_sentence_pairs
from cepts.phrases.aligner import PhraseAligner
from cepts.pipeline.judgements import pair_scores

JUDGED = [
    {"id": "1", "qid": "a", "source": "the dog barked at the cat", "target": "a dog barked at a cat", "label": 1},
    {"id": "2", "qid": "a", "source": "prices went up", "target": "a dog barked at a cat", "label": 0},
    {"id": "3", "qid": "b", "source": "she sings", "target": "he purchased a car", "label": 0},
    {"id": "4", "qid": "b", "source": "he bought a car", "target": "he purchased a car", "label": 1},
    {"id": "5", "qid": "c", "source": "", "target": "he purchased a car", "label": 0},
]


@pytest.fixture
def judged(home):
    (home / "judged.jsonl").write_text("".join(json.dumps(record) + "\n" for record in JUDGED))
    return home


@pytest.mark.parametrize(("task", "score"), [("rte", "target"), ("paraphrase", "both")])
def test_the_threshold_is_that_of_the_training_pairs(cepts, judged, phrase_model, task, score):
    ran = cepts("phrases", "apply", task, "judged.jsonl", "--train", "judged.jsonl", "--model", phrase_model, "--json")
    found = json.loads(ran.out)
    pairs = read_sentence_pairs("judged.jsonl")
    scores = pair_scores(PhraseAligner.load(phrase_model), pairs, score)
    assert found["threshold"] == choose_threshold(scores, [pair.label for pair in pairs])
    assert found["accuracy"] == 1.0
    assert f"task:{task}|model:model|score:{score}|train:5|pairs:5" in found["signature"]


def test_a_given_threshold_judges_alone(cepts, judged, phrase_model):
    more = ("--score", "target", "--model", phrase_model)
    all_yes = cepts("phrases", "apply", "rte", "judged.jsonl", "--threshold", 0, *more)
    assert all_yes.lines[0] == "5 sentence pairs; yes if the score is 0 or more"
    assert all_yes.lines[2].split() == ["rte", "40.00", "40.00", "100.00", "57.14"]
    none = cepts("phrases", "apply", "rte", "judged.jsonl", "--threshold", 2, *more)
    assert none.lines[2].split() == ["rte", "60.00", "0.00", "0.00", "0.00"]


def test_answers_are_ranked_by_question(cepts, judged, phrase_model):
    ran = cepts("phrases", "apply", "qa", "judged.jsonl", "--model", phrase_model, "--score", "both")
    assert ran.lines[0] == "2 questions, 4 answers"
    assert ran.lines[2].split() == ["qa", "100.00", "100.00"]
    more = ("--questions", "all", "--intervals", 20, "--json")
    whole = json.loads(cepts("phrases", "apply", "qa", "judged.jsonl", "--model", phrase_model, *more).out)
    assert whole["map"] == pytest.approx(2 / 3)
    assert set(whole["intervals"]) == {"map", "mrr"}
    assert "kept:all" in whole["signature"]


def test_the_paper_s_score_of_one_direction(cepts, judged, phrase_model):
    aligner, pairs = PhraseAligner.load(phrase_model), read_sentence_pairs("judged.jsonl")
    for combine in ("forward", "reverse"):
        options = ("--score", combine, "--threshold", 0, "--model", phrase_model, "--predictions", "out.jsonl")
        assert cepts("phrases", "apply", "rte", "judged.jsonl", *options).code == 0
        found = [json.loads(line)["score"] for line in (judged / "out.jsonl").read_text().splitlines()]
        paths = aligner.align(pairs[:4], combine=combine).segments
        assert found[:4] == pytest.approx(paths.normalised_scores.tolist(), abs=1e-6)
        assert found[4] == min(found)


def test_questions_of_a_judgement_file_count(cepts, judged, phrase_model):
    options = ("phrases", "apply", "qa", "judged.jsonl", "--model", phrase_model, "--score", "both", "--json")
    (judged / "trec").write_text("a 0 0 1\na 0 1 0\na 0 2 1\nnobody 0 0 1\n")
    found = json.loads(cepts(*options, "--judgements", "trec").out)
    # One of the two right answers of question a is ranked, and first.
    assert (found["map"], found["mrr"]) == (0.5, 1.0)
    assert "questions:1" in found["signature"] and "kept:judged" in found["signature"]
    # A file of other questions is refused before anything is aligned.
    (judged / "trec").write_text("other 0 0 1\n")
    wrong = cepts(*options, "--model", "nowhere", "--judgements", "trec")
    assert wrong.code == 1 and "found no question of judged.jsonl" in wrong.err
    (judged / "trec").write_text("a 0 0\n")
    wrong = cepts(*options, "--judgements", "trec")
    assert wrong.code == 1 and "wanted `question 0 answer label`" in wrong.err
    wrong = cepts(*options, "--judgements", "trec", "--questions", "all")
    assert wrong.code == 2 and "leave out --questions" in wrong.err


def test_the_columns_of_the_input_can_be_ignored(cepts, home):
    record = {"source": ["a", "dog"], "target": ["the", "dog"], "label": 1}
    tagged = {**record, "source_pos": ["NN", "VB"], "target_pos": ["VB", "NN"]}
    for name, one in (("plain", record), ("tagged", tagged)):
        (home / f"{name}.jsonl").write_text(json.dumps(one) + "\n")
    options = ("phrases", "apply", "rte", "--model", "token", "--threshold", 0, "--predictions", "out")

    def score(*more):
        assert cepts(*options, *more).code == 0
        return json.loads((home / "out").read_text())["score"]

    plain = score("plain.jsonl")
    assert score("tagged.jsonl") != plain
    assert score("tagged.jsonl", "--columns", "model") == plain


def test_questions_of_which_none_counts_are_an_error(cepts, judged, phrase_model):
    (judged / "right.jsonl").write_text(json.dumps(JUDGED[0]) + "\n")
    ran = cepts("phrases", "apply", "qa", "right.jsonl", "--model", phrase_model)
    assert "right.jsonl: found no question with right and wrong answers" in ran.error
    assert cepts("phrases", "apply", "qa", "right.jsonl", "--model", phrase_model, "--questions", "all").code == 0


def test_predictions_have_a_line_a_pair(cepts, judged, phrase_model):
    more = ("--threshold", 0.5, "--score", "both", "--predictions", "found.jsonl", "-q")
    assert cepts("phrases", "apply", "rte", "judged.jsonl", "--model", phrase_model, *more).code == 0
    found = [json.loads(line) for line in (judged / "found.jsonl").read_text().splitlines()]
    assert [record["id"] for record in found] == [record["id"] for record in JUDGED]
    assert [record["label"] for record in found] == [record["label"] for record in JUDGED]
    assert all(record["judged"] == (record["score"] >= 0.5) for record in found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rte", "judged.jsonl"), "rte needs a threshold"),
        (("rte", "judged.jsonl", "--threshold", "1", "--train", "judged.jsonl"), "rte needs a threshold"),
        (("qa", "judged.jsonl", "--predictions", "-"), "would both go to stdout"),
        (("qa", "judged.jsonl", "--train", "judged.jsonl"), "--train goes with rte and paraphrase"),
        (("qa", "judged.jsonl", "--threshold", "1"), "--threshold goes with rte and paraphrase"),
        (("rte", "judged.jsonl", "--threshold", "1", "--questions", "all"), "--questions goes with qa"),
        (("rte", "plain.txt", "--threshold", "1"), "plain.txt, pair 1: found no `label`"),
        (("qa", "unasked.jsonl"), "unasked.jsonl, pair 1: found no `qid`"),
        (("rte", "judged.jsonl", "--threshold", "nan"), "must be a finite number"),
        (("rte", "judged.jsonl", "--threshold", "1", "--predictions", "no/such/place"), "no/such/place"),
    ],
)
def test_what_does_not_work_is_one_line(cepts, judged, phrase_model, arguments, message):
    (judged / "plain.txt").write_text("a b ||| a c\n")
    (judged / "unasked.jsonl").write_text('{"source": "a", "target": "a", "label": 1}\n')
    assert message in cepts("phrases", "apply", *arguments, "--model", phrase_model).error


def test_running_text_is_tokenised(cepts, home):
    raw = {"source": "The dog didn't bark.", "target": "It did not bark, the dog.", "label": 1}
    (home / "raw.jsonl").write_text(json.dumps(raw) + "\n")
    scores = {}
    for how in ("auto", "yes", "no"):
        more = ("--threshold", 0, "--tokenise", how, "--predictions", f"{how}.jsonl")
        ran = cepts("phrases", "apply", "rte", "raw.jsonl", *more)
        assert ("note " in ran.err) == (how == "auto")
        scores[how] = json.loads((home / f"{how}.jsonl").read_text())["score"]
    assert scores["auto"] == scores["yes"] > scores["no"]
