"""`cepts phrases train`: options reach the aligner, what is kept is what was trained, mistakes are one line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cepts.cli.phrases.train import command
from cepts.data import Vectors, Vocabulary
from cepts.errors import DataError
from cepts.io import read_sentence_pairs, write_vectors
from cepts.phrases.aligner import PhraseAligner, TokenAligner
from cepts.phrases.columns import FAMILIES
from cepts.pipeline.paraphrases import read_paraphrases
from cepts.pipeline.phrase_training import NOT_IN_PAPER, PAPER

QUICK = ("--language", "none", "--iterations", "3", "--threads", "1")


def test_names_and_defaults_are_those_of_the_library():
    assert set(NOT_IN_PAPER) <= set(FAMILIES)
    found = {param.name: param for param in command.params}
    options = PhraseAligner().options()
    for name in ("longest", "widest", "cost", "wrong_cost", "missed_cost", "penalty", "iterations"):
        default = options[name]
        assert found[name].said_default == (default if isinstance(default, str) else format(default, "g"))
    assert f"penalty {PAPER['penalty']:g}" in found["paper"].help
    assert f"phrases of up to {PAPER['longest']} words" in found["paper"].help


def test_what_is_kept_is_what_the_library_trains(cepts, home, examples):
    ran = cepts("phrases", "train", examples, "--save", "model", *QUICK, "--dev", examples)
    assert ran.code == 0
    aligner = PhraseAligner(language=None, iterations=3, threads=1).fit(read_sentence_pairs(examples))
    kept = PhraseAligner.load("model")
    np.testing.assert_array_equal(kept.weights_, aligner.weights_.astype(np.float32))
    weights = f"{aligner.weights_.shape[1]:,}"
    assert ran.lines[0].split() == ["direction", "iterations", "objective", "weights"]
    for line, name, objectives in zip(ran.lines[1:3], ("forward", "reverse"), aligner.objectives_, strict=True):
        assert line.split() == [name, "3", f"{objectives[-1]:,.2f}", weights]
    assert ran.lines[4].split() == ["P,", "%", "R,", "%", "F1,", "%", "exact,", "%"]
    assert ran.lines[5].split()[0] == "dev"
    assert "trained  on 18 pairs with 168 links" in ran.err
    assert "cepts phrases align PAIRS --model model" in ran.err
    assert "stopped  forward and reverse at the most iterations, 3," in ran.err


def test_options_reach_the_aligner(cepts, home, examples):
    more = ("--longest", 2, "--widest", 1, "--wrong-cost", 0.5, "--missed-cost", 2, "--penalty", 3, "--max-length", 50)
    cepts("phrases", "train", examples, "--save", "model", *QUICK, *more, "--without", "context", "--without", "name")
    options = PhraseAligner.load("model").options()
    assert {name: options[name] for name in ("longest", "widest", "wrong_cost", "missed_cost", "penalty")} == {
        "longest": 2,
        "widest": 1,
        "wrong_cost": 0.5,
        "missed_cost": 2.0,
        "penalty": 3.0,
    }
    assert options["max_length"] == 50
    assert options["families"] == [name for name in FAMILIES if name not in {"context", "name"}]
    only = cepts("phrases", "train", examples, "--save", "other", *QUICK, "--families", "string", "-q")
    assert only.err == ""
    assert PhraseAligner.load("other").families_ == ("string",)


def test_the_papers_settings_and_the_token_model(cepts, home, examples):
    more = ("--paper", "--model", "token", "--penalty", 0.5)
    cepts("phrases", "train", examples, "--save", "model", *QUICK, *more)
    aligner = PhraseAligner.load("model")
    assert isinstance(aligner, TokenAligner)
    assert (aligner.memory, aligner.cost, aligner.penalty, aligner.iterations) == (False, "states", 0.5, 3)
    assert "lexical" not in aligner.families_


def test_the_papers_settings_of_phrases(cepts, home, examples):
    cepts("phrases", "train", examples, "--save", "model", *QUICK, "--paper", "--longest", 2)
    options = PhraseAligner.load("model").options()
    assert {name: options[name] for name in PAPER} == {**PAPER, "longest": 2, "iterations": 3}


def test_training_that_settles_does_not_speak_of_its_cap(cepts, home, examples):
    options = ("--language", "none", "--threads", "1", "--penalty", 50, "--save", "model", "--json")
    ran = cepts("phrases", "train", examples, *options)
    assert json.loads(ran.out)["capped"] == [] and "stopped" not in ran.err
    assert json.loads(ran.out)["forward"]["iterations"] < PhraseAligner().iterations


def test_phrase_links_are_synthesised_inside_chunks(cepts, home):
    columns = {
        f"{side}_{name}": value
        for side in ("source", "target")
        for name, value in (("pos", ["NN", "NN"]), ("chunk", ["B-NP", "I-NP"]), ("lemma", ["a", "b"]))
    }
    pair = {"source": "a b", "target": "a b", "sure": [[0, 0], [1, 1]], **columns}
    (home / "gold.jsonl").write_text(json.dumps(pair) + "\n")
    ran = cepts("phrases", "train", "gold.jsonl", "--save", "model", *QUICK, "--synthesise")
    assert "trained  on 1 pairs with 4 links (2 of them synthesised)" in ran.err
    assert PhraseAligner.load("model").columns_ == ("pos", "chunk", "lemma")
    plain = cepts("phrases", "align", "-", "--model", "model", stdin=b"a b ||| a b\n")
    assert "standard input: the source sentence of pair 1 has no pos column" in plain.error
    (home / "plain.jsonl").write_text('{"source": "a b", "target": "a b", "sure": [[0, 0]]}\n')
    late = cepts("phrases", "train", "gold.jsonl", "--save", "other", *QUICK, "--dev", "plain.jsonl")
    assert "plain.jsonl: the source sentence of pair 1 has no pos column" in late.error
    assert not (home / "other").exists()
    chunks = cepts("phrases", "train", "plain.jsonl", "--save", "other", *QUICK, "--synthesise")
    assert "plain.jsonl: found sentences without chunks" in chunks.error
    partly = (home / "gold.jsonl").read_text() + (home / "plain.jsonl").read_text()
    (home / "partly.jsonl").write_text(partly)
    ran = cepts("phrases", "train", "partly.jsonl", "--save", "model", *QUICK)
    assert "columns  none; pos is not used, because 1 of 2 pairs lack it (first 2)" in ran.err


def test_gold_links_of_another_file(cepts, home):
    rows = [
        ("ein Haus", "NN NN", "das Haus", "NN NN", "0-0 1-1"),
        ("er kam an", "PR VB RP", "er traf ein", "PR VB RP", "0-0"),
    ]
    records, texts = [], ([], [])
    for source, source_pos, target, target_pos, links in rows:
        sure = [[int(place) for place in link.split("-")] for link in links.split()]
        records.append(
            {"source": source, "source_pos": source_pos, "target": target, "target_pos": target_pos, "sure": sure}
        )
        for side, words, tags in zip(texts, (source, target), (source_pos, target_pos), strict=True):
            numbered = enumerate(zip(words.split(), tags.split(), strict=True), start=1)
            side.append("".join("\t".join([str(n), word, "_", tag, *"______"]) + "\n" for n, (word, tag) in numbered))
    (home / "gold.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (home / "old.conllu").write_text("\n".join(texts[0]))
    (home / "new.conllu").write_text("\n".join(texts[1]))
    (home / "links").write_text("".join(f"{row[-1]}\n" for row in rows))
    files = "old.conllu", "new.conllu"
    assert cepts("phrases", "train", "gold.jsonl", "--save", "one", *QUICK).code == 0
    ran = cepts("phrases", "train", *files, "--gold-links", "links", "--save", "other", *QUICK)
    assert "columns  pos\n" in ran.err
    np.testing.assert_array_equal(PhraseAligner.load("one").weights_, PhraseAligner.load("other").weights_)
    without = cepts("phrases", "train", *files, "--save", "third", *QUICK)
    assert "old.conllu: text and CoNLL-U have no gold links; give them in a separate file" in without.error
    three = cepts("phrases", "train", *files, "gold.jsonl", "--gold-links", "links", "--save", "third", *QUICK)
    assert "--gold-links goes with one file of pairs, or with two" in three.error


def test_vectors_and_paraphrases_are_kept_with_the_aligner(cepts, home, examples):
    write_vectors("words.vec", Vectors(Vocabulary.from_words(["bought", "purchased"]), np.eye(2, dtype=np.float32)))
    (home / "pairs.tsv").write_text("bought\tpurchased\ngive up\tgave in\n")
    more = ("--vectors", "words.vec", "--paraphrases", "pairs.tsv")
    assert cepts("phrases", "train", examples, "--save", "model", *QUICK, *more).code == 0
    for name in ("words.vec", "pairs.tsv"):
        (home / name).unlink()
    tables = PhraseAligner.load("model").lexical_
    assert (len(tables.relatedness), len(tables.paraphrases)) == (2, 2)
    assert tables.wordnet is None


def test_a_table_of_paraphrases_is_read_as_it_was_kept(home):
    (home / "pairs.tsv").write_text("bought\tpurchased\n")
    read_paraphrases(["pairs.tsv"]).save("table.safetensors")
    assert repr(read_paraphrases(["table.safetensors"])) == repr(read_paraphrases(["pairs.tsv"]))
    with pytest.raises(DataError, match="give the table alone"):
        read_paraphrases(["table.safetensors", "pairs.tsv"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "token", "--longest", "2"), "--longest goes with --model phrase"),
        (("--cost", "none", "--wrong-cost", "2"), "not with --cost none"),
        (("--families", "pos", "--without", "pos"), "contradict each other"),
        (tuple(word for name in FAMILIES for word in ("--without", name)), "leaves no family"),
        (("--penalty", "nan"), "must be a finite number"),
        (("--wrong-cost", "1e300"), "must be from 0 to 1,000,000"),
        (("--dev", "nowhere.jsonl"), "nowhere.jsonl"),
        (("--dev", "plain.txt"), "plain.txt, pair 1: found no gold links"),
        (("--vectors", "nowhere.vec"), "nowhere.vec"),
        (("--paraphrases", "plain.txt"), "plain.txt, line 1: a rule is"),
        (("--paraphrases", "empty"), "empty has no paraphrases"),
    ],
)
def test_what_does_not_work_is_one_line(cepts, home, examples, arguments, message):
    (home / "plain.txt").write_text("a b ||| a c\n")
    (home / "empty").write_text("\n")
    assert message in cepts("phrases", "train", examples, "--save", "model", *QUICK, *arguments).error
    assert not (home / "model").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"source": "a", "target": "a"}, "gold.jsonl, pair 1: found no gold links"),
        ({"source": "a", "target": "a", "sure": [[0, 3]]}, "gold.jsonl, line 1"),
        ({"source": "a b", "target": "a b", "segments": [[[0, 2], [0, 1]], [[1, 2], [1, 2]]]}, "gold.jsonl, line 1"),
        ({"source": "", "target": "a", "sure": []}, "there is nothing to learn"),
        ({"source": "a", "target": "a", "sure": []}, "there is nothing to learn"),
    ],
)
def test_wrong_gold_is_one_line(cepts, home, line, message):
    (home / "gold.jsonl").write_text(json.dumps(line) + "\n")
    assert message in cepts("phrases", "train", "gold.jsonl", "--save", "model", *QUICK).error


def test_other_directories_are_not_overwritten(cepts, home, examples):
    (home / "mine").mkdir()
    (home / "mine" / "thesis.txt").write_text("all of it")
    assert "thesis.txt" in cepts("phrases", "train", examples, "--save", "mine", *QUICK).error
    assert (home / "mine" / "thesis.txt").read_text() == "all of it"
