from __future__ import annotations

import gzip
import json

import pytest


@pytest.fixture
def lexicon(cepts, trained):
    """Run `cepts lexicon` on the trained model and split its table."""

    def lexicon(*arguments):
        ran = cepts("lexicon", trained, *arguments)
        assert (ran.code, ran.err) == (0, "")
        return [line.split("\t") for line in ran.lines]

    return lexicon


def test_the_table(lexicon):
    rows = lexicon()
    assert len(rows) > 300
    before = {}
    for row in rows:
        word, _other, probability, back, count = row
        assert 0.01 <= float(probability) <= 1
        assert 0 <= float(back) <= 1
        assert float(count) >= 0
        # Words stand together, with falling probabilities.
        assert list(before)[-1:] in ([], [word]) or word not in before
        assert float(probability) <= before.get(word, 1)
        before[word] = float(probability)
    assert len({(word, other) for word, other, *_ in rows}) == len(rows)


def test_probabilities_of_a_word_sum_to_one_at_most(lexicon):
    totals = {}
    for word, _, probability, _, _ in lexicon("--top", 100, "--least", 0):
        totals[word] = totals.get(word, 0) + float(probability)
    assert max(totals.values()) <= 1.01


def test_top_and_least(lexicon):
    rows = lexicon("--top", 2, "--least", 0.2)
    words = [row[0] for row in rows]
    assert max(map(words.count, set(words))) == 2
    assert min(float(row[2]) for row in rows) >= 0.2
    assert lexicon("--top", 1) == [row for row in lexicon("--top", 1, "--least", 0) if float(row[2]) >= 0.01]


def test_words_are_asked_for_as_they_are_written(lexicon):
    rows = lexicon("--word", "The", "--word", "file")
    assert {row[0] for row in rows} == {"the", "file"}
    assert rows[0][0] == "the"
    assert rows == lexicon("--word", "the", "--word", "FILE")
    best = {row[0]: row[1] for row in reversed(rows)}
    assert best["file"] == "fichier"
    assert best["the"] in {"le", "la", "les", "l'"}


def test_the_other_direction_has_the_same_numbers_exchanged(lexicon):
    ahead = {(row[0], row[1]): row[2:4] for row in lexicon("--word", "file", "--least", 0, "--top", 1000)}
    back = {(row[1], row[0]): row[3:1:-1] for row in lexicon("--direction", "reverse", "--least", 0, "--top", 1000)}
    assert ahead
    for pair, numbers in ahead.items():
        assert back[pair] == numbers


def test_json_is_the_table(cepts, trained, lexicon):
    ran = cepts("lexicon", trained, "--word", "file", "--json")
    assert (ran.code, ran.err) == (0, "")
    entries = json.loads(ran.out)
    rows = lexicon("--word", "file")
    assert len(entries) == len(rows)
    for entry, (word, other, probability, back, count) in zip(entries, rows, strict=True):
        assert (entry["word"], entry["other"]) == (word, other)
        assert entry["probability"] == pytest.approx(float(probability), abs=6e-5)
        assert entry["back"] == pytest.approx(float(back), abs=6e-5)
        assert entry["count"] == pytest.approx(float(count), abs=6e-3)


def test_output_file(cepts, trained, corpus):
    ran = cepts("lexicon", trained, "--top", 1, "-o", "table.gz")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    table = gzip.decompress((corpus / "table.gz").read_bytes()).decode()
    assert table == cepts("lexicon", trained, "--top", 1).out


@pytest.mark.parametrize("options", [["--lexicon", "ml"], ["--lexicon", "bayes"], ["--no-agreement"]])
def test_of_other_models(cepts, corpus, options):
    assert cepts("align", "en", "fr", "--model", "ibm1", *options, "--save", "model", "-o", "links").code == 0
    ran = cepts("lexicon", "model", "--word", "file", "--top", 1)
    assert ran.code == 0
    assert ran.out.startswith("file\t")


def test_some_words_unknown(cepts, trained):
    ran = cepts("lexicon", trained, "--word", "file", "--word", "xyzzy")
    assert ran.code == 0
    assert {line.split("\t")[0] for line in ran.lines} == {"file"}
    assert ran.err == "cepts: no translation of xyzzy with a probability of at least 0.01.\n"


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["--word", "xyzzy"], 1, "{model} has no translation of xyzzy with a probability of at least 0.01"),
        (["--word", "file", "--least", "1"], 1, "{model} has no translation of file"),
        (["--top", "0"], 2, "Invalid value for '--top'"),
        (["--least", "2"], 2, "Invalid value for '--least'"),
        (["--direction", "up"], 2, "Invalid value for '--direction'"),
        (["--json", "-o", "x"], 2, "--json prints to stdout"),
        (["-o", "no/table"], 1, "cannot write no/table: "),
    ],
)
def test_bad_options_are_one_line(cepts, trained, corpus, arguments, code, line):
    ran = cepts("lexicon", trained, *arguments)
    assert ran.code == code
    assert ran.error.startswith(line.format(model=trained))


def test_no_model(cepts, corpus):
    assert cepts("lexicon").code == 2
    assert cepts("lexicon", "nowhere").error.startswith("nowhere does not exist")
    assert cepts("lexicon", "en").error.startswith("en is not a directory")
