"""`cepts phrases align`: text for people, files for programs, one line for each mistake."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from cepts.cli.phrases import align, show
from cepts.data import Alignments, Segments, Sentence, SentencePair, offsets_of
from cepts.extract import EXTRACTORS
from cepts.io import read_association, read_sentence_pairs
from cepts.phrases.aligner import PhraseAligner
from cepts.phrases.directions import PhraseDirections

PAIRS = b"the old mill closed ||| the old mill closed\n ||| nobody\nthe mill ||| the mill\n"


def option(name):
    return next(param for param in align.command.params if param.name == name)


def test_defaults_that_the_help_states_are_those_of_the_library():
    assert PhraseDirections.threshold == PhraseDirections.looseness
    assert option("threshold").said_default == f"{PhraseDirections.threshold:g}"
    assert option("max_length").said_default == f"as in training, {PhraseAligner().max_length}"


def test_text_shows_both_sentences_and_their_phrases(cepts, phrase_model):
    ran = cepts("phrases", "align", "-", "--model", phrase_model, stdin=PAIRS)
    assert ran.code == 0
    assert ran.lines[:3] == ["the old mill closed", "the old mill closed", "  the     ~  the     1.00"]
    assert ran.lines[7:10] == ["", "nobody", "  (a side is empty)"]
    assert "aligned  3 pairs, 6 + 7 words" in ran.err
    assert "empty    1 pair" in ran.err


def shown(source, target, rows):
    pair = SentencePair(Sentence(tuple(source.split())), Sentence(tuple(target.split())))
    spans = np.array([row[:4] for row in rows], dtype=np.int32).reshape(-1, 4)
    segments = Segments(
        offsets_of([len(rows)]), spans, np.array([row[4] for row in rows], np.float32), np.zeros(1), np.zeros(1, int)
    )
    return pair, segments, segments.alignments()


def test_words_without_a_partner_stand_where_they_belong(home):
    pair, segments, links = shown("a b c d", "a x c 日本 z", [(0, 1, 0, 1, 1.0), (2, 4, 2, 4, 0.456)])
    with show.PairText("out") as writer:
        writer.write([pair], links, segments)
    assert (home / "out").read_text().splitlines() == [
        "a b c d",
        "a x c 日本 z",
        "  a    ~  a       1.00",
        "  -    ~  x",
        "  b    ~  -",
        "  c d  ~  c 日本  0.46",
        "  -    ~  z",
    ]


def test_phrases_say_how_their_words_are_linked(home):
    rows = [(0, 2, 0, 2, 0.9), (2, 4, 2, 3, 0.8), (4, 6, 3, 6, 0.7)]
    pair, segments, _ = shown("a dog gave up in May", "a dog quit in late May", rows)
    links = Alignments.from_links([[(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (5, 5)]])
    with show.PairText("out") as writer:
        writer.write([pair], links, segments)
    assert (home / "out").read_text().splitlines()[2:] == [
        "  a dog    ~  a dog        0.90  word by word",
        "  gave up  ~  quit         0.80",
        "  in May   ~  in late May  0.70  in ~ in, May ~ May",
    ]


def linked(cepts, phrase_model, *options):
    stdin = b"the old mill closed ||| the old mill closed\n"
    ran = cepts("phrases", "align", "-", "--model", phrase_model, "--format", "json", "-q", *options, stdin=stdin)
    found = json.loads(ran.out)
    return {(link["source"], link["target"]) for link in found["links"]}, found["segments"]


def test_links_are_of_words_or_of_phrases_and_both_are_written(cepts, home, examples):
    pairs = [replace(pair, sure=tuple(sorted(squares(pair)))) for pair in read_sentence_pairs(examples)]
    PhraseAligner(language=None, threads=1).fit(pairs).save("model")
    words, segments = linked(cepts, "model")
    assert words == {(place, place) for place in range(4)}
    cells = {(i, j) for (a, b), (c, d), _ in segments for i in range(a, b) for j in range(c, d)}
    assert len(segments) < 4 and cells > words
    whole, again = linked(cepts, "model", "--links", "phrases")
    assert (whole, again) == (cells, segments)
    # A model that was trained as in the paper links phrases.
    PhraseAligner(language=None, threads=1, links="phrases").fit(pairs).save("paper")
    assert linked(cepts, "paper") == (cells, segments)
    assert linked(cepts, "paper", "--links", "words") == (words, segments)


def squares(pair):
    """The links of a pair, and those that make squares of two links in a row."""
    links = set(pair.sure)
    for i, j in pair.sure:
        if (i + 1, j + 1) in links and i % 2 == 0:
            links |= {(i, j + 1), (i + 1, j)}
    return links


def test_phrases_are_synthesised_from_word_links(cepts, home):
    line = "The old mill closed on Monday ||| The old mill closed on Monday\n"
    options = ("phrases", "align", "-", "--model", "token", "--synthesise", "-q")
    record = json.loads(cepts(*options, "--format", "json", stdin=line.encode()).out)
    assert {(link["source"], link["target"]) for link in record["links"]} == {(place, place) for place in range(6)}
    assert record["segments"][0][:2] == [[0, 3], [0, 3]]
    ran = cepts(*options, "--links", "phrases", "--format", "pharaoh", stdin=line.encode())
    assert {"0-0", "0-1", "0-2", "1-0", "2-2", "5-5"} <= set(ran.out.split())
    assert "  The old mill  ~  The old mill" in cepts(*options, stdin=line.encode()).out
    wrong = cepts(*options, "--nbest", 2, stdin=line.encode())
    assert wrong.code == 2 and "--synthesise" in wrong.err


def test_synthesis_needs_chunks(cepts, phrase_model, home):
    ran = cepts("phrases", "align", "-", "--model", phrase_model, "--synthesise", stdin=PAIRS)
    assert ran.code == 1 and "has no chunk column" in ran.err


def test_every_word_is_shown_even_without_any_link(home):
    pair, segments, links = shown("a b", "x y", [])
    with show.PairText("out") as writer:
        writer.write([pair, pair], Alignments.concatenate([links] * 2), Segments.concatenate([segments] * 2))
    once = ["a b", "x y", "  -    ~  x y", "  a b  ~  -"]
    assert (home / "out").read_text().splitlines() == [*once, "", *once]


def test_lines_in_are_lines_out_in_every_format(cepts, phrase_model, home):
    for format_ in ("json", "pharaoh", "scored"):
        ran = cepts("phrases", "align", "-", "--model", phrase_model, "--format", format_, "-q", stdin=PAIRS)
        assert (len(ran.lines), ran.err) == (3, "")
    assert (
        len(json.loads(cepts("phrases", "align", "-", "--model", phrase_model, "--format", "jacana", stdin=PAIRS).out))
        == 3
    )
    naacl = cepts("phrases", "align", "-", "--model", phrase_model, "--format", "naacl", stdin=PAIRS)
    assert {line.split()[0] for line in naacl.lines} == {"1", "3"}


def test_a_file_is_json_and_is_scored(cepts, phrase_model, home, examples):
    assert cepts("phrases", "align", examples, "--model", phrase_model, "-o", "out.jsonl", "-q").code == 0
    first = json.loads((home / "out.jsonl").read_text().splitlines()[0])
    assert {"id", "source", "target", "links", "segments"} <= set(first)
    assert cepts("phrases", "score", examples, "out.jsonl").lines[0] == "18 sentence pairs, 168 gold links"
    predicted = read_sentence_pairs("out.jsonl")
    gold = read_sentence_pairs(examples)
    right = sum(len(set(one.sure) & set(other.sure)) for one, other in zip(predicted, gold, strict=True))
    assert right > 0.8 * sum(len(pair.sure) for pair in gold)


@pytest.mark.parametrize("combine", EXTRACTORS)
def test_every_combination_is_that_of_the_library(cepts, phrase_model, examples, combine):
    ran = cepts("phrases", "align", examples, "--model", phrase_model, "--format", "pharaoh", "--combine", combine)
    links = PhraseAligner.load(phrase_model).align(read_sentence_pairs(examples), combine=combine)
    assert [line.replace("?", "-") for line in ran.lines] == [
        " ".join(f"{i}-{j}" for i, j in one.links) for one in links
    ]


def test_a_higher_threshold_gives_fewer_links(cepts, phrase_model, examples):
    def links(threshold):
        more = ("--format", "pharaoh", "--threshold", threshold)
        return sum(
            len(line.split()) for line in cepts("phrases", "align", examples, "--model", phrase_model, *more).lines
        )

    assert links(0.9) < links(0.4) < links(0.05)


def test_cepts_matrices_and_scores(cepts, phrase_model, home, examples):
    more = ("--combine", "onmf", "--format", "json", "--matrices", "m.jsonl", "--scores", "scores")
    ran = cepts("phrases", "align", examples, "--model", phrase_model, *more)
    pairs = read_sentence_pairs(examples)
    records = [json.loads(line) for line in ran.lines]
    for record, pair in zip(records, pairs, strict=True):
        for side in ("source", "target"):
            words = sorted(word for cept in record["cepts"] for word in cept[side]) + record["null"][side]
            assert sorted(words) == list(range(len(getattr(pair, side))))
    assert "cepts    " in ran.err
    kept = read_association("m.jsonl", allow_empty=True)
    assert len(kept) == len(pairs)
    aligner = PhraseAligner.load(phrase_model)
    for combine, scores in zip(("forward", "reverse"), np.loadtxt("scores").T, strict=True):
        wanted = aligner.align(pairs, combine=combine).segments.normalised_scores
        np.testing.assert_allclose(scores, wanted, atol=1e-6)
    again = cepts("factor", "m.jsonl", "--format", "pharaoh", "--allow-empty")
    # The same cepts, before words that have little in common with theirs are taken out.
    for line, record in zip(again.lines, records, strict=True):
        assert {(link["source"], link["target"]) for link in record["links"]} <= {
            tuple(map(int, re.split(r"\D", link))) for link in line.split()
        }


def test_matrices_of_pairs_that_are_left_out_go_through_factor(cepts, phrase_model, home):
    more = ("--combine", "onmf", "--format", "pharaoh", "--matrices", "m.jsonl", "--max-length", 3)
    ran = cepts("phrases", "align", "-", "--model", phrase_model, *more, stdin=PAIRS)
    assert [bool(line) for line in ran.lines] == [False, False, True]
    assert cepts("factor", "m.jsonl", "--format", "pharaoh", "--allow-empty").lines == ran.lines


def test_words_that_would_disturb_the_lines_are_escaped(cepts, phrase_model):
    pair = {"source": ["a\tb", "\x1b[1m"], "target": ["a\tb", "x\ny"]}
    ran = cepts("phrases", "align", "-", "--model", phrase_model, stdin=json.dumps(pair).encode())
    assert ran.lines[:2] == [r"a\tb \x1b[1m", r"a\tb x\ny"]
    assert all(line.startswith("  ") for line in ran.lines[2:])


def test_gaps_are_shown_in_text(home):
    from cepts.data import Association
    from cepts.factor import onmf

    # "put the vote off" - "postponed the vote": put and off share a partner.
    matrix = np.array([[100, 0, 0], [0, 200, 0], [0, 0, 200], [100, 0, 0]], dtype=np.float32)
    links = onmf(Association(np.array([4]), np.array([3]), np.array([0, 12]), matrix.reshape(-1)))
    pair, segments, _ = shown("put the vote off", "postponed the vote", [])
    with show.PairText("out") as writer:
        writer.write([pair], links, segments)
    assert (home / "out").read_text().splitlines()[2].startswith("  put ... off  ~  postponed  0.")


def test_lists_of_both_directions_or_of_one(cepts, phrase_model, examples):
    both = [
        json.loads(line) for line in cepts("phrases", "align", examples, "--model", phrase_model, "--nbest", 3).lines
    ]
    assert all(len(record["forward"]) == len(record["reverse"]) == 3 for record in both)
    for record in both:
        scores = [one["score"] for one in record["forward"]]
        assert scores == sorted(scores, reverse=True)
        assert sum(np.exp(one["log_probability"]) for one in record["forward"]) <= 1 + 1e-6
    one = cepts("phrases", "align", examples, "--model", phrase_model, "--nbest", 1, "--combine", "reverse")
    assert [set(json.loads(line)) for line in one.lines] == [{"id", "source", "target", "reverse"}] * len(both)
    assert f"lists    {len(both)} reverse segmentations" in one.err


def test_long_pairs_are_left_out_and_told_of(cepts, phrase_model):
    ran = cepts("phrases", "align", "-", "--model", phrase_model, "--max-length", 2, "--format", "pharaoh", stdin=PAIRS)
    assert [bool(line) for line in ran.lines] == [False, False, True]
    assert "skipped  1 pair with a sentence of more than 2 words" in ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--threshold", "0.3", "--combine", "union"), "--threshold goes with --combine agreement"),
        (("--cepts", "3"), "--cepts goes with --combine onmf"),
        (("--nbest", "2", "--combine", "union"), "single directions"),
        (("--nbest", "2", "--format", "pharaoh"), "in the format json, not pharaoh"),
        (("--nbest", "2", "--scores", "s"), "--scores goes with links"),
        (("-o", "same", "--scores", "same"), "would both go to same"),
        (("--model", "nowhere"), "nowhere"),
        (("-o", "no/such/place"), "no/such/place"),
        (("--combine", "onmf", "--cepts", "999"), "cepts must be at most 4"),
    ],
)
def test_what_does_not_work_is_one_line(cepts, phrase_model, home, arguments, message):
    model = () if "--model" in arguments else ("--model", phrase_model)
    ran = cepts("phrases", "align", "-", *model, *arguments, stdin=PAIRS)
    assert message in ran.error
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("text", [b"", b"one sentence alone\n", b'{"source": "a"}\n'])
def test_wrong_input_is_one_line(cepts, phrase_model, text):
    assert "standard input" in cepts("phrases", "align", "-", "--model", phrase_model, stdin=text).error


def test_the_english_model_needs_nothing(cepts):
    ran = cepts("phrases", "align", "-", stdin=b"Shops are closed up for now ||| Shops are temporarily closed down\n")
    assert ran.code == 0
    rows = [[cell.strip() for cell in line.rsplit("  ", 1)[0].split("~")] for line in ran.lines[2:]]
    assert ["Shops", "Shops"] in rows
    assert ["are", "are"] in rows
    assert any(left.startswith("closed") and right.startswith("closed") for left, right in rows)


RAW = b'"Don\'t do it!" he said ||| He said: "Do not do it!"\n'


def test_running_english_is_tokenised_and_a_line_says_so(cepts):
    ran = cepts("phrases", "align", "-", stdin=RAW)
    assert ran.lines[:2] == ['" Do n\'t do it ! " he said', 'He said : " Do not do it ! "']
    assert re.search(r"~ +Do not do ", ran.out)
    (note,) = [line for line in ran.err.splitlines() if line.startswith("note ")]
    assert "not tokenised" in note and "--tokenise no" in note
    assert "9 + 10 words" in ran.err
    record = json.loads(cepts("phrases", "align", "-", "--format", "json", stdin=RAW).out)
    assert record["source"] == ['"', "Do", "n't", "do", "it", "!", '"', "he", "said"]
    lists = json.loads(cepts("phrases", "align", "-", "--nbest", 1, stdin=RAW).out)
    assert lists["source"] == record["source"]


def test_text_is_tokenised_only_where_it_looks_untokenised_unless_asked(cepts):
    as_it_is = cepts("phrases", "align", "-", "--tokenise", "no", stdin=RAW)
    assert as_it_is.lines[0] == '"Don\'t do it!" he said'
    assert "note " not in as_it_is.err
    tokens = b"He does n't know it . ||| He doesn't know it .\n"
    kept = cepts("phrases", "align", "-", stdin=tokens)
    assert kept.lines[1] == "He doesn't know it ." and "note " not in kept.err
    asked = cepts("phrases", "align", "-", "--tokenise", "yes", stdin=tokens)
    assert asked.lines[:2] == ["He does n't know it ."] * 2 and "note " not in asked.err


def test_lists_columns_and_gold_links_are_not_tokenised_again(cepts, home):
    texts = {"source": "He's here.", "target": "It's he, here."}
    records = [
        texts,
        {name: text.split() for name, text in texts.items()},
        {**texts, "sure": [[0, 0]]},
        {**texts, "source_pos": "X Y"},
    ]
    (home / "raw.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    ran = cepts("phrases", "align", "raw.jsonl", "--format", "json", "-q")
    lengths = [[len(json.loads(line)[side]) for side in ("source", "target")] for line in ran.lines]
    assert lengths == [[4, 6], [2, 3], [2, 3], [2, 6]]


def test_a_model_of_no_language_tokenises_nothing(cepts, phrase_model):
    ran = cepts("phrases", "align", "-", "--model", phrase_model, stdin=RAW)
    assert ran.lines[0] == '"Don\'t do it!" he said'
    assert "tokenise the text first" in ran.err
    refused = cepts("phrases", "align", "-", "--model", phrase_model, "--tokenise", "yes", stdin=RAW)
    assert refused.code == 2
    assert "--tokenise" in refused.err
