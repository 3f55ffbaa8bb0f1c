from __future__ import annotations

import gzip
import io
import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Alignments, Sentence, SentencePair, gold_alignments
from cepts.errors import DataError, UsageError
from cepts.extract.rectangles import rectangles
from cepts.io import (
    SentencePairWriter,
    read_links,
    read_predicted_links,
    read_sentence_pairs,
    write_sentence_pairs,
)
from cepts.names import SENTENCE_PAIR_FORMATS, WRITABLE_PAIR_FORMATS

SHOPS = {"id": "s1", "source": ["Shops", "are", "closed", "up"], "target": "Shops are  closed\tdown"}
NBSP = "\u00a0"


@pytest.fixture
def write(tmp_path):
    def write(content, name="x.jsonl"):
        if isinstance(content, dict | list):
            content = json.dumps(content)
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / name

    return write


def fails(match, *paths, **options):
    with pytest.raises(DataError, match=match) as caught:
        read_sentence_pairs(*paths, **options)
    assert "\n" not in str(caught.value)


def test_a_record_with_everything(write):
    record = {
        **SHOPS,
        "sure": [[1, 1], [0, 0], [1, 1]],
        "possible": [[3, 3], [0, 0]],
        "source_pos": ["NNS", "VBP", "VBN", "RP"],
        "target_chunk": "B-NP B-VP I-VP I-VP",
        "target_lemma": ["shop", "be", "close", "down"],
        "label": 1,
        "qid": 7,
        "annotators": {},
    }
    [pair] = read_sentence_pairs(write(record))
    assert pair == SentencePair(
        Sentence(("Shops", "are", "closed", "up"), pos=("NNS", "VBP", "VBN", "RP")),
        Sentence(
            ("Shops", "are", "closed", "down"),
            chunk=("B-NP", "B-VP", "I-VP", "I-VP"),
            lemma=("shop", "be", "close", "down"),
        ),
        "s1",
        ((0, 0), (1, 1)),  # once, and sure wins
        ((3, 3),),
        1.0,
        "7",
    )


def test_what_is_not_said_of_links_is_none_and_no_links_are_empty(write):
    nothing, none, only_possible, null = read_sentence_pairs(
        write(
            "\n".join(
                json.dumps({**SHOPS, **more})
                for more in ({}, {"sure": []}, {"possible": [[0, 0]]}, {"sure": None, "label": None, "qid": None})
            )
        )
    )
    assert (nothing.sure, nothing.possible, nothing.label, nothing.group) == (None, None, None, "")
    assert (none.sure, none.possible) == ((), ())
    assert (only_possible.sure, only_possible.possible) == ((), ((0, 0),))
    assert null == nothing


def test_segments_become_links(write):
    [pair] = read_sentence_pairs(write({**SHOPS, "segments": [[[2, 4], [2, 4], 0.9], [[0, 1], [0, 1]]]}))
    assert pair.sure == ((0, 0), (2, 2), (2, 3), (3, 2), (3, 3))
    [pair] = read_sentence_pairs(write({**SHOPS, "segments": [[[2, 4], [2, 3]]], "sure": [[0, 0]]}))
    assert pair.sure == ((0, 0), (2, 2), (3, 2))


def test_segments_may_share_target_words(write):
    [pair] = read_sentence_pairs(write({**SHOPS, "segments": [[[0, 1], [0, 2]], [[1, 2], [1, 2]]]}))
    assert pair.sure == ((0, 0), (0, 1), (1, 1))


def test_links_of_a_prediction(write):
    links = [{"source": 0, "target": 0, "confidence": 0.5}, {"source": 1, "target": 1, "tier": "possible"}]
    overlapping = [[[0, 2], [0, 1]], [[1, 2], [1, 2]]]
    [pair] = read_sentence_pairs(write({**SHOPS, "links": links, "segments": overlapping}))
    assert (pair.sure, pair.possible) == (((0, 0),), ((1, 1),))


def test_empty_sides_are_sentences(write):
    pairs = read_sentence_pairs(write('{"source": [], "target": "a"}\n{"source": "", "target": []}\n'))
    assert [(len(pair.source), len(pair.target)) for pair in pairs] == [(0, 1), (0, 0)]
    assert [len(p.source) for p in read_sentence_pairs(write(" ||| a\n||| \n", "x.txt"))] == [0, 0]


def bad(**more):
    return json.dumps(SHOPS) + "\n" + json.dumps({**SHOPS, **more})


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", r"x.jsonl is empty; wanted sentence pairs"),
        (
            '{"source": ["a"]',
            r"x.jsonl, line 1: found invalid JSON \(.*\), wanted an object with `source` and `target`",
        ),
        (json.dumps(SHOPS) + "\n\n" + json.dumps(SHOPS), "line 2: found invalid JSON"),
        (json.dumps(SHOPS) + "\n[1]\n", r"line 2: found '\[1\]', wanted an object"),
        ('{"source": "a"}', "line 1: found no `target`, wanted its tokens"),
        ('{"source": "a", "target": [1]}', r"line 1: found '\[1\]' in `target`, wanted a list of texts"),
        ('{"source": "a", "target": ["a", ""]}', "line 1: found an empty token in `target`"),
        (b'{"source": "\xff", "target": "a"}', "x.jsonl, line 1: byte 13 is not valid UTF-8; convert"),
        (r'{"source": "a\ud800", "target": "a"}', r"line 1: found \\ud800 in 'a\\ud800', which is half a character"),
        (r'{"source": "a", "source_pos": "\udc01", "target": "a"}', r"line 1: found \\udc01 in"),
        (r'{"source": "a", "target": "a", "id": "\ud800"}', r"line 1: found \\ud800 in"),
        (bad(source_pos=["NN"]), "line 2: found 1 entries in `source_pos` but 4 tokens in `source`; wanted one entry"),
        (bad(sure=[[4, 0]]), r"line 2: found the link 4-0 in `sure`, but the source has 4 words .* no word 4; check"),
        (bad(sure=[[0, -1]]), "line 2: found the link 0--1 in `sure`, but the target has 4 words"),
        (bad(possible=[[0, 0], [0, 9]]), "line 2: found the link 0-9 in `possible`, but the target"),
        (bad(sure=[[0]]), r"line 2: found '\[\[0\]\]' in `sure`, wanted a list of links such as"),
        (bad(sure=[["0", "1"]]), "line 2: found .* in `sure`, wanted a list of links"),
        (bad(sure=[[0, True]]), "line 2: found .* in `sure`, wanted a list of links"),
        (bad(sure="0-0"), "line 2: found .* in `sure`, wanted a list of links"),
        (bad(sure=3), "line 2: found '3' in `sure`, wanted a list of links"),
        (bad(label="yes"), 'line 2: found the label "yes", wanted a number'),
        (bad(label=float("nan")), "line 2: found the label NaN"),
        (
            bad(segments=[[[0, 2], [0, 1]], [[1, 3], [2, 3]]]),
            r"the segments \[\[0, 2\], \[0, 1\]\] and \[\[1, 3\], \[2, 3\]\], which share source word 1; .* one",
        ),
        (bad(segments=[[[0, 0], [0, 1]]]), "wanted two spans that are not empty"),
        (bad(segments=[[0, 1]]), "wanted two spans that are not empty"),
        (bad(segments=[[[0, 5], [0, 1]]]), "found the link 4-0 in `segments`, but the source has 4 words"),
        (bad(segments={}), "found no list in `segments`"),
        (bad(links={}), "found no list in `links`"),
        (bad(links=[[0, 0]]), r"line 2: found the link \[0, 0\], wanted an object"),
        (bad(links=[{"source": 0, "target": 7}]), "found the link 0-7 in `links`, but the target has 4 words"),
        (bad(sureAlign=[1]), "in `sureAlign`, wanted text such as"),
        (bad(sureAlign="0-0 1:1"), "found '1:1' in `sureAlign`, wanted links such as 0-0 1-2"),
        (bad(sureAlign="0-0 9-9"), "found the link 9-9 in `sureAlign`"),
    ],
)
def test_json_with_mistakes(write, content, match):
    fails(match, write(content))


JACANA = """[
    {
        "possibleAlign": "",
        "sureAlign": "0-0 1-1 ",
        "target": "a b",
        "source": "a b c",
        "id": "news-common:1",
        "name": "news-common:1"
    },
    {"name": "second", "source": "", "target": "a", "sureAlign": ""}
]
"""


def test_jacana(write):
    for name in ("x.json", "x.jsonl", "x"):
        first, second = read_sentence_pairs(write(JACANA, name))
        assert (first.id, first.sure, first.possible) == ("news-common:1", ((0, 0), (1, 1)), ())
        assert (second.id, len(second.source), second.sure) == ("second", 0, ())


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ('[\n{"source": "a",\n]', r"x.json, line 3: found no JSON \(.*\), wanted one array of objects"),
        ("[]", "x.json is empty"),
        ('[{"id": "k", "source": "a", "target": "b", "sureAlign": "0-4"}]', r"pair 1 \(k\): found the link 0-4"),
        ("[3]", "pair 1: found '3', wanted an object"),
        (b'["\xff"]', "x.json: byte 3 is not valid UTF-8; convert"),
        (b'[\n"\xff"]', "x.json, line 2: byte 2 is not valid UTF-8; convert"),
    ],
)
def test_jacana_with_mistakes(write, content, match):
    fails(match, write(content, "x.json"))
    fails("found no array", write("{}", "y.json"), format="jacana")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (f"a b{NBSP}c ||| d\r\n", "x.txt"),
        (f"a b{NBSP}c\td\n", "x.txt"),
        (f"\ufeffa  b{NBSP}c\td", "x.tsv"),
        (gzip.compress(f"a b{NBSP}c ||| d\n".encode(), mtime=0), "x.gz"),
    ],
)
def test_plain_text(write, content, name):
    [pair] = read_sentence_pairs(write(content, name))
    assert (pair.source.tokens, pair.target.tokens) == (("a", f"b{NBSP}c"), ("d",))
    assert pair.sure is None


def test_two_files(write):
    [pair] = read_sentence_pairs(write("a b\n", "s"), write("c\n", "t"))
    assert (pair.source.tokens, pair.target.tokens) == (("a", "b"), ("c",))


def test_two_files_of_which_one_is_something_else(write):
    text, pairs, tree = write("a\n", "s"), write(SHOPS), write("", "t.conllu")
    for one, other in ((text, pairs), (pairs, pairs)):
        with pytest.raises(UsageError, match=r"x\.jsonl holds both sides, by its suffix; give it alone"):
            read_sentence_pairs(one, other)
    with pytest.raises(UsageError, match="is CoNLL-U by its suffix; give two"):
        read_sentence_pairs(text, tree)


def test_two_files_with_mistakes(write):
    good = write("a b\nc\n", "s")
    fails("t, line 2: byte 3 is not valid UTF-8; convert the file to UTF-8.$", good, write(b"a\nb \xff\n", "t"))
    fails("s has 2 lines but .*t has 1; .* without a partner is 2", good, write("a\n", "t"))


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("a b\n", "line 1: found neither a JSON object or array"),
        ("a ||| b\nc\n", r"line 2: found no separators ` \|\|\| `, wanted 1"),
        ("a ||| b ||| c\n", "line 1: found 2 separators"),
        ("a\tb\nc\td\te\n", "line 2: found 3 columns, wanted 2"),
        (b"a ||| \xff\n", "x.txt, line 1: byte 7 is not valid UTF-8; convert"),
    ],
)
def test_plain_text_with_mistakes(write, content, match):
    fails(match, write(content, "x.txt"))


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Shops are ||| Shops\n")))
    [pair] = read_sentence_pairs("-")
    assert pair.source.tokens == ("Shops", "are")
    with pytest.raises(UsageError, match="only one input"):
        read_sentence_pairs("-", links="-")


def test_gold_links_of_another_file(write):
    text = write("a b ||| c d\ne ||| f\n", "x.txt")
    first, second = read_sentence_pairs(text, links=write("1 1 1 S\n1 2 2 P\n", "x.wa"))
    assert (first.sure, first.possible, second.sure, second.possible) == (((0, 0),), ((1, 1),), (), ())
    first, second = read_sentence_pairs(text, links=write("1-1 2?2\n1-1\n", "links"), base=1)
    assert (first.sure, first.possible, second.sure) == (((0, 0),), ((1, 1),), ((0, 0),))
    fails("line 2: found a link to target word 1, but that sentence has 1 words", text, links=write("\n0-1\n", "l"))
    fails("links of 1 sentence pairs but the bitext has 2", text, links=write("0-0\n", "l"))


CONLLU = """# sent_id = s-1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\tVBP\t_\t3\taux\t_\tChunk=B-VP
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\tSpaceAfter=No|Chunk=I-VP
2.1\tx\tx\tX\tX\t_\t_\t_\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tChunk=I-VP

1\tsnow_\t_\tNOUN\t_\t_\t0\troot\t_\t_

"""


def test_conllu(write):
    source, target = write(CONLLU, "s.conllu"), write(CONLLU.rstrip("\n"), "t.conllu")
    first, second = read_sentence_pairs(source, target)
    assert first.id == "s-1"
    assert (
        first.source
        == first.target
        == Sentence(("do", "n't", "go"), ("VBP", "RB", "VB"), ("B-VP", "I-VP", "I-VP"), ("do", "not", "go"))
    )
    assert second.source == Sentence(("snow_",), pos=("NOUN",))
    assert second.id == ""


def test_conllu_with_mistakes(write):
    good = write(CONLLU, "s.conllu")
    fails(
        r"s.conllu, line 8: found sentence 2 of .*s.conllu, but .*t.conllu has only 1",
        good,
        write("\n".join(CONLLU.split("\n")[:6]), "t.conllu"),
    )
    fails("t.conllu, line 2: found 1 field in 'a', wanted the 10", good, write("# x\na\n", "t.conllu"))
    fails("t.conllu, line 1: found word number '2', wanted 1", good, write(CONLLU.split("\n")[3], "t.conllu"))
    fails("t.conllu, line 1: byte 3 is not valid UTF-8", good, write(b"1\t\xff", "t.conllu"))


def test_columns_that_must_be_there(write):
    path = write({**SHOPS, "source_pos": ["A", "B", "C", "D"]})
    fails("line 1: found no column pos of the target sentence, wanted one; give `target_pos`", path, columns=["pos"])
    fails("no column chunk of the source sentence, .* Chunk=", path, columns=["chunk"])
    assert read_sentence_pairs(write('{"source": [], "target": []}'), columns=["chunk"])
    with pytest.raises(UsageError, match="`columns` must be among pos, chunk, lemma"):
        read_sentence_pairs(path, columns=["tag"])


def test_formats_that_do_not_go_with_the_files(write):
    path = write(SHOPS)
    with pytest.raises(UsageError, match="`format` must be one of auto, json"):
        read_sentence_pairs(path, format="xml")
    with pytest.raises(UsageError, match="conllu needs two files"):
        read_sentence_pairs(path, format="conllu")
    with pytest.raises(UsageError, match="json has both sides in one file"):
        read_sentence_pairs(path, path, format="json")
    with pytest.raises(UsageError, match="`format` must be one of json, jacana"):
        SentencePairWriter(path, format="tsv")
    assert set(WRITABLE_PAIR_FORMATS) > {"json", "jacana", "naacl", "pharaoh"}
    assert "conllu" in SENTENCE_PAIR_FORMATS


WORD = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs"]), min_size=1, max_size=3)


@st.composite
def sentence_pairs(draw):
    sides = []
    for _ in range(2):
        tokens = draw(st.lists(WORD, max_size=4))
        column = st.none() | st.lists(WORD, min_size=len(tokens), max_size=len(tokens)).map(tuple)
        sides.append(Sentence(tuple(tokens), draw(column), draw(column), draw(column)))
    cells = [(i, j) for i in range(len(sides[0])) for j in range(len(sides[1]))]
    links = st.sets(st.sampled_from(cells)) if cells else st.just(set())
    sure, possible = draw(st.none() | links), draw(links)
    return SentencePair(
        *sides,
        draw(WORD),
        None if sure is None else tuple(sorted(sure)),
        None if sure is None else tuple(sorted(possible - sure)),
        draw(st.none() | st.sampled_from([0.0, 1.0, 0.25])),
        draw(st.just("") | WORD),
    )


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pairs")


@settings(deadline=None)
@given(pairs=st.lists(sentence_pairs(), min_size=1, max_size=3))
def test_what_is_written_reads_back(folder, pairs):
    write_sentence_pairs(folder / "x.jsonl.gz", pairs)
    assert read_sentence_pairs(folder / "x.jsonl.gz") == pairs
    write_sentence_pairs(folder / "x.json", pairs, format="jacana")
    back = read_sentence_pairs(folder / "x.json")
    assert [(p.id, p.source.tokens, p.target.tokens) for p in back] == [
        (p.id, p.source.tokens, p.target.tokens) for p in pairs
    ]
    assert [(p.sure, p.possible) for p in back] == [(p.sure or (), p.possible or ()) for p in pairs]
    for name in ("naacl", "pharaoh"):
        write_sentence_pairs(folder / "links", pairs, format=name)
        links = read_links(folder / "links", format=name, sentences=len(pairs))
        assert [(a.links, a.sure.tolist()) for a in links] == [
            (a.links, a.sure.tolist()) for a in gold_alignments(pairs)
        ]


PAIR = SentencePair(Sentence(("a", "b")), Sentence(("c", "d")), "p", ((0, 0),), (), 1.0, "q")
LINKS = Alignments.from_links([[(0, 0), (0, 1), (1, 0), (1, 1)]])


def test_a_prediction_shows_links_and_segments_and_no_gold(tmp_path):
    path = tmp_path / "x.jsonl"
    segments = rectangles(LINKS)
    write_sentence_pairs(path, [PAIR], segments=segments)
    record = json.loads(path.read_text())
    assert list(record) == ["id", "qid", "source", "target", "label", "links", "segments"]
    assert record["links"][1] == {"source": 0, "target": 1, "confidence": 1.0, "tier": "sure"}
    assert record["segments"] == [[[0, 2], [0, 2], 1.0]]
    assert read_links(path)[0].links == LINKS[0].links
    assert read_sentence_pairs(path)[0].sure == tuple(LINKS[0].links)
    write_sentence_pairs(path, [PAIR], links=LINKS)
    assert "segments" not in json.loads(path.read_text())


@pytest.mark.parametrize("format_", WRITABLE_PAIR_FORMATS)
def test_predictions_read_back_in_every_format(tmp_path, format_):
    path = tmp_path / "x"
    write_sentence_pairs(path, [PAIR, PAIR], links=Alignments.concatenate([LINKS, LINKS]), format=format_)
    for chosen in ("auto", format_):
        got = read_predicted_links(path, [PAIR, PAIR], format=chosen)
        assert [alignment.links for alignment in got] == [LINKS[0].links] * 2


def test_pairs_can_be_written_bit_by_bit(tmp_path):
    for format_ in WRITABLE_PAIR_FORMATS:
        with SentencePairWriter(tmp_path / "bits", format=format_) as writer:
            writer.write([])
            writer.write([PAIR], LINKS)
            writer.write([PAIR])
        got = read_predicted_links(tmp_path / "bits", [PAIR, PAIR], format=format_)
        assert [alignment.links for alignment in got] == [LINKS[0].links, [(0, 0)]]
    write_sentence_pairs(tmp_path / "none", [], format="jacana")
    assert json.loads((tmp_path / "none").read_text()) == []


def test_writing_what_cannot_be_written(tmp_path):
    with pytest.raises(ValueError, match=r"links must have the same number of pairs, 2\. Got 1"):
        write_sentence_pairs(tmp_path / "x", [PAIR, PAIR], links=LINKS)
    blank = SentencePair(Sentence(("a b",)), Sentence(()), "p9")
    for format_ in ("jacana", "giza"):
        with pytest.raises(DataError, match=rf"pair 2 \(p9\): found the token 'a b', .* because the format {format_}"):
            write_sentence_pairs(tmp_path / "x", [PAIR, blank], format=format_)
    assert not (tmp_path / "x").exists()


def test_predictions_with_mistakes(write, monkeypatch):
    def wrong(match, content, name="x.jsonl", **options):
        with pytest.raises(DataError, match=match):
            read_predicted_links(write(content, name), [PAIR], **options)

    good = {"source": "a b", "target": "c d", "sure": []}
    wrong("has 2 sentence pairs but the gold has 1", "\n".join([json.dumps(good)] * 2))
    wrong("line 1: found other tokens in the target", {**good, "target": "c e"})
    wrong("line 1: found no links, wanted `links`", {"source": "a b", "target": "c d"})
    wrong("line 1: found invalid JSON", "{")
    wrong("found a link to target word 2", "0-2\n", "x.links")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"0-0\n")))
    with pytest.raises(DataError, match="standard input: found no JSON with sentences"):
        read_predicted_links("-", [PAIR])
    bare = write('{"links": [{"source": 1, "target": 0}]}')
    assert read_predicted_links(bare, [PAIR])[0].links == [(1, 0)]


def test_running_text_is_told_from_tokens(tmp_path):
    record = {"source": "a b.", "target": ["a", "b."]}
    (tmp_path / "pairs.jsonl").write_text(
        json.dumps(record) + "\n" + json.dumps({**record, "source_pos": "X Y"}) + "\n"
    )
    (tmp_path / "pairs.txt").write_text("a b. ||| c\n")
    (tmp_path / "text").write_text("a b.\n")
    found = [*read_sentence_pairs(tmp_path / "pairs.jsonl"), *read_sentence_pairs(tmp_path / "pairs.txt")]
    found += read_sentence_pairs(tmp_path / "text", tmp_path / "text")
    assert [(pair.source.running, pair.target.running) for pair in found] == [
        (True, False),
        (False, False),
        (True, True),
        (True, True),
    ]
    assert found[3].source == Sentence(("a", "b."))
