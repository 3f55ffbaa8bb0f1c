from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepts.data import Hypothesis, Utterance
from cepts.errors import DataError, UsageError
from cepts.io import HypothesisWriter, read_hypotheses, read_transcripts, write_hypotheses


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def fails(match, *arguments, kind=DataError, **options):
    with pytest.raises(kind, match=match) as caught:
        list(read_hypotheses(*arguments, **options))
    assert "\n" not in str(caught.value)


def utterance(name, *readings, reference=None):
    hypotheses = [Hypothesis(tuple(text.split()), score, lm_score) for text, score, lm_score in readings]
    return Utterance(name, tuple(hypotheses), None if reference is None else tuple(reference.split()))


A = utterance("a", ("the cell", -1.5, None), ("the sell", -1.0, None))
B = utterance("b", ("", -3.0, None))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.tsv", "a\t-1.5\tthe cell\na\t-1\t the  sell\r\n\nb\t-3e0\t\n"),
        ("x", "id\tscore\ttext\na\t-1.5\tthe cell\na\t-1\tthe sell\nb\t-3\t\n"),
        ("x.txt", "text\tID\trank\tscore\nthe cell\ta\t1\t-1.5\nthe sell\ta\t2\t-1\n\tb\t1\t-3\n"),
        ("x.tsv.gz", gzip.compress(b"\xef\xbb\xbfa\t-1.5\tthe cell\na\t-1\tthe sell\nb\t-3\t", mtime=0)),
        (
            "x.jsonl",
            '{"id": "a", "hypotheses": [{"text": "the cell", "score": -1.5}, {"tokens": ["the", "sell"], "score": -1}]}'
            '\n\n{"id": "b", "nbest": [{"text": "", "am_score": -3}]}\n',
        ),
        (
            "x",
            '{"id": "a", "text": "the cell", "score": -1.5}\n{"id": "a", "text": "the sell", "acoustic_score": -1}\n'
            '{"id": "b", "hypotheses": [{"text": "", "score": -3, "lm_score": null}]}\n',
        ),
    ],
)
def test_lists(write, name, content):
    assert list(read_hypotheses(write(name, content))) == [A, B]


def test_scores_of_a_language_model_and_references(write):
    want = utterance("a", ("x y", -1.0, -2.5), ("x", -2.0, None), reference="x y")
    header = "id\treference\tscore\tlm_score\ttext\n"
    assert list(read_hypotheses(write("a.tsv", f"{header}a\tx  y\t-1\t-2.5\tx y\na\t\t-2\t\tx\n"))) == [want]
    lists = [{"text": "x y", "score": -1, "lm_score": -2.5}, {"text": "x", "score": -2}]
    record = {"id": "a", "reference": "x y", "hypotheses": lists}
    assert list(read_hypotheses(write("a.jsonl", json.dumps(record)))) == [want]
    got = list(read_hypotheses(write("b.tsv", "a\t-1\t-2.5\tx y\n")))
    assert got == [utterance("a", ("x y", -1.0, -2.5))]


def test_lists_stream(write):
    """The first utterance is there before the last is read."""
    lists = read_hypotheses(write("x.tsv", "a\t1\tx\nb\t1\ty\nc\tbad\tz\n"))
    assert next(lists).id == "a"
    with pytest.raises(DataError, match="line 3"):
        list(lists)


def test_several_files_are_one_list(write):
    first, second = write("a.tsv", "a\t1\tx\n"), write("b.tsv", "b\t1\tx\n")
    assert [found.id for found in read_hypotheses([second, first])] == ["b", "a"]
    fails("a.tsv, line 1: found the utterance 'a' again", [first, second, first])


ARCHIVES = {
    "words_text": "u-1-1 the cell\nu-1-2 the sell\nv-1 \n",
    "acwt": "u-1-1 100\nu-1-2 90.5\nv-1 0\n",
    "lmwt.nolm": "u-1-1 2\nu-1-2 3\nv-1 1\n",
    "lmwt.withlm": "u-1-1 7\nu-1-2 9\nv-1 1\n",
    "lmwt.lmonly": "u-1-1 5\nu-1-2 6\nv-1 0\n",
}


@pytest.fixture
def archives(write, tmp_path):
    def archives(**changes):
        for name, content in {**ARCHIVES, **{key.replace("_dot_", "."): text for key, text in changes.items()}}.items():
            if content is not None:
                write(f"kaldi/{name}", content)
        return tmp_path / "kaldi"

    return archives


def test_archives_of_kaldi(archives):
    first, second = read_hypotheses(archives())
    assert first.id == "u-1"
    assert [found.tokens for found in first.hypotheses] == [("the", "cell"), ("the", "sell")]
    assert [found.score for found in first.hypotheses] == pytest.approx([-12, -12.05])
    assert [found.lm_score for found in first.hypotheses] == [-5, -6]
    assert (second.id, second.hypotheses[0].tokens, second.hypotheses[0].score) == ("v", (), -1)


def test_costs_of_kaldi_in_parts(archives):
    first, _ = read_hypotheses(archives(lmwt_dot_lmonly=None), acoustic_scale=1.0)
    assert [(found.score, found.lm_score) for found in first.hypotheses] == [(-102, -5), (-93.5, -6)]


def test_costs_of_kaldi_without_a_language_model(archives):
    first, _ = read_hypotheses(archives(lmwt_dot_lmonly=None, lmwt_dot_withlm=None, lmwt_dot_nolm=None))
    assert [found.lm_score for found in first.hypotheses] == [None, None]
    assert [found.score for found in first.hypotheses] == pytest.approx([-10, -9.05])


def test_archives_by_what_their_names_start_with(write, tmp_path):
    write("run.words_text.gz", gzip.compress(b"a-1 x\n", mtime=0))
    write("run.acwt", "a-1 2\n")
    assert list(read_hypotheses(tmp_path / "run")) == [utterance("a", ("x", -0.2, None))]


def test_ranks_of_kaldi_in_another_order(write, tmp_path):
    write("k/words_text", "".join(f"a-{rank} w{rank}\n" for rank in (1, 10, *range(2, 10))))
    write("k/acwt", "".join(f"a-{rank} {rank}\n" for rank in (1, 10, *range(2, 10))))
    (found,) = read_hypotheses(tmp_path / "k", acoustic_scale=1)
    assert [one.tokens[0] for one in found.hypotheses] == [f"w{rank}" for rank in range(1, 11)]


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"words_text": None}, "kaldi: found no `words_text`"),
        ({"words_text": None, "words": "a-1 2 3\n"}, "found no `words_text`.*int2sym"),
        ({"acwt": None}, "kaldi: found no `acwt`"),
        ({"acwt": "u-1-1 100\nu-1-2 90.5\n"}, "acwt: found no cost for 'v-1' .*words_text, line 3"),
        (
            {"acwt": "u-1-1 100\nu-1-2 90.5\nv-1 0\nw-1 0\n"},
            "acwt, line 4: found 'w-1', which .*words_text does not have",
        ),
        ({"acwt": "u-1-1 100\nv-1 90.5\nu-1-2 0\n"}, "acwt, line 2: found 'v-1', wanted 'u-1-2'"),
        ({"acwt": "u-1-1 100\nu-1-2\nv-1 0\n"}, "acwt, line 2: found '' as cost"),
        ({"acwt": "u-1-1 100\nu-1-2 inf\nv-1 0\n"}, "acwt, line 2: found 'inf' as cost, wanted a finite number"),
        (
            {"words_text": "u x\n", "acwt": "u 1\n"},
            "words_text, line 1: found 'u', wanted an utterance, a hyphen and a rank",
        ),
        (
            {"words_text": "u-1 x\nu-1 y\n", "acwt": "u-1 1\nu-1 2\n"},
            "words_text, line 1: found the rank 1 twice among the 2 hypotheses of 'u'",
        ),
        ({"words_text": "u-1 x\nu-3 y\n", "acwt": "u-1 1\nu-3 2\n"}, "found ranks up to 3 among the 2 hypotheses"),
        ({"words_text": "", "acwt": ""}, "kaldi: found no hypotheses"),
        (
            {"words_text": "u-1 x\nv-1 y\nu-2 z\n", "acwt": "u-1 1\nv-1 1\nu-2 1\n"},
            "line 3: found the rank|ranks up to 2",
        ),
    ],
)
def test_archives_with_mistakes(archives, changes, match):
    others = {"lmwt_dot_nolm": None, "lmwt_dot_withlm": None, "lmwt_dot_lmonly": None}
    fails(match, archives(**{**others, **changes}))


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("x.tsv", "", "x.tsv: found no hypotheses, wanted an n-best list"),
        ("x.tsv", "id\tscore\ttext\n", "x.tsv: found no hypotheses"),
        ("x.tsv", "a\t1\n", "line 1: found 2 columns, wanted 3"),
        ("x.tsv", "a 1 x\n", "line 1: found 1 column, wanted 3"),
        ("x.tsv", "a\t1\tx\nb\t1\n", r"line 2: found 2 columns, wanted 3 \(id, score, text\) as above"),
        ("x.tsv", "a\t1\tx\nb\t\tx\n", "line 2: found '' as score, wanted a finite number"),
        ("x.tsv", "a\tx\t1\n", "line 1: found 'x' as score"),
        ("x.tsv", "a\tnan\tx\n", "line 1: found 'nan' as score"),
        ("x.tsv", "a\t1\t-inf\tx\n", "line 1: found '-inf' as lm_score"),
        ("x.tsv", "\t1\tx\n", "line 1: found no id"),
        ("x.tsv", "id\ttext\na\tx\n", "line 1: found a header without `score`"),
        ("x.tsv", "id\ttext\tscore\tscore\n", "line 1: found the column `score` twice"),
        ("x.tsv", "a\t1\tx\nb\t1\tx\na\t2\ty\n", "line 3: found the utterance 'a' again"),
        (
            "x.tsv",
            "id\tscore\ttext\treference\na\t1\tx\tx\na\t1\ty\ty\n",
            "line 3: found a second, different reference for 'a'",
        ),
        ("x.tsv", b"a\t1\tx\na\t1\t\xff\n", "line 2: byte 5 is not valid UTF-8"),
        ("x.txt", "a 1 x\n", "line 1: found neither a tab nor a JSON object"),
        ("x.jsonl", "{}\n", "line 1: found null as `id`"),
        ("x.jsonl", '{"id": "a"}\n', "line 1: found neither `text` nor `tokens`"),
        ("x.jsonl", '{"id": "a", "text": "x"}\n', "line 1: found no `score`"),
        ("x.jsonl", '{"id": "a", "text": "x", "score": null}\n', "line 1: found null as score"),
        ("x.jsonl", '{"id": "a", "text": "x", "score": NaN}\n', "line 1: found NaN as score"),
        ("x.jsonl", '{"id": "a", "text": "x", "score": true}\n', "line 1: found true as score"),
        ("x.jsonl", '{"id": "a", "text": "x", "score": "1"}\n', 'line 1: found "1" as score, wanted a number, without'),
        ("x.jsonl", '{"id": "a", "text": "x", "score": 1%s}\n' % ("0" * 400), "line 1: found .* as score"),
        ("x.jsonl", '{"id": "a", "hypotheses": []}\n', r"line 1: found '\[\]' as `hypotheses`"),
        ("x.jsonl", '{"id": "a", "nbest": [1]}\n', r"line 1: found '\[1\]' as `nbest`"),
        (
            "x.jsonl",
            '{"id": "a", "nbest": [{"text": "x", "score": 1}, {"text": "y"}]}',
            "line 1, hypothesis 2: found no",
        ),
        ("x.jsonl", '{"id": "a", "text": ["x"], "score": 1}{}', "line 1: found invalid JSON"),
        ("x.jsonl", '{"id": "a", "tokens": ["x y"], "score": 1}', "line 1: found .* as `tokens`, wanted a text, or a"),
        ("x.jsonl", '{"id": "a", "text": 1, "score": 1}', "line 1: found '1' as `text`"),
        ("x.jsonl", '{"id": "a", "text": "\\ud800", "score": 1}', "half a character"),
        ("x.jsonl", "[]\n", r"line 1: found '\[\]', wanted one object per line"),
    ],
)
def test_lists_with_mistakes(write, name, content, match):
    fails(match, write(name, content))


def test_options_that_are_wrong(write, tmp_path):
    path = write("a.tsv", "a\t1\tx\n")
    fails("`format` must be one of auto, tsv, jsonl, kaldi", path, format="slf", kind=UsageError)
    fails("`acoustic_scale` must be above 0", path, acoustic_scale=0, kind=UsageError)
    fails("name at least one", [], kind=UsageError)
    fails("only one input can be -", ["-", "-"], kind=UsageError)
    fails("cannot read .*nowhere", tmp_path / "nowhere")
    fails("found no `words_text`", tmp_path / "nowhere", format="kaldi")


RESCORED = [
    (
        utterance("a", ("the sell", -1.25, -9.0), ("the cell", -1.5, -2.0), reference="the cell"),
        [-7.0, -2.5],
        [-8.25, -4.0],
    ),
    (utterance("b", ("", -3.0, None), ("x", -3.0, None)), [-1.0, -1.0], [-4.0, -4.0]),
]


@pytest.mark.parametrize(
    ("format", "want"),
    [
        (
            "tsv",
            "id\ttotal\tscore\tlm_score\ttext\treference\n"
            "a\t-4.000000\t-1.5\t-2.500000\tthe cell\tthe cell\n"
            "a\t-8.250000\t-1.25\t-7.000000\tthe sell\tthe cell\n"
            "b\t-4.000000\t-3.0\t-1.000000\t\t\n"
            "b\t-4.000000\t-3.0\t-1.000000\tx\t\n",
        ),
        (
            "jsonl",
            '{"id": "a", "hypotheses": [{"text": "the cell", "score": -1.5, "lm_score": -2.5, "total": -4.0}, '
            '{"text": "the sell", "score": -1.25, "lm_score": -7.0, "total": -8.25}], "reference": "the cell"}\n'
            '{"id": "b", "hypotheses": [{"text": "", "score": -3.0, "lm_score": -1.0, "total": -4.0}, '
            '{"text": "x", "score": -3.0, "lm_score": -1.0, "total": -4.0}]}\n',
        ),
        ("kaldi", "a-1 7.000000\na-2 2.500000\nb-1 1.000000\nb-2 1.000000\n"),
        ("text", "a the cell\nb\n"),
        ("trn", "the cell (a)\n(b)\n"),
    ],
)
def test_what_is_written(tmp_path, format, want):
    path = tmp_path / "out"
    write_hypotheses(path, RESCORED, format=format)
    assert path.read_text() == want


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\v\f "), min_size=1, max_size=5)
SCORES = st.floats(-1e6, 1e6)
READINGS = st.lists(st.tuples(st.lists(NAMES, max_size=3), SCORES, SCORES), min_size=1, max_size=4)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(NAMES, READINGS, st.lists(NAMES, min_size=1, max_size=3)), unique_by=lambda one: one[0], min_size=1
    )
)
def test_lists_read_back(tmp_path_factory, found):
    directory = tmp_path_factory.mktemp("lists")
    utterances = [
        Utterance(name, tuple(Hypothesis(tuple(words), score) for words, score, _ in readings), tuple(reference))
        for name, readings, reference in found
    ]
    lm_scores = [[lm_score for _, _, lm_score in readings] for _, readings, _ in found]
    totals = [[-float(rank) for rank in range(len(readings))] for _, readings, _ in found]
    for format in ("tsv", "jsonl"):
        path = directory / f"x.{format}"
        write_hypotheses(path, zip(utterances, lm_scores, totals, strict=True), format=format)
        for got, want, given_lm in zip(read_hypotheses(path), utterances, lm_scores, strict=True):
            assert (got.id, got.reference) == (want.id, want.reference)
            assert [(one.tokens, one.score) for one in got.hypotheses] == [
                (one.tokens, one.score) for one in want.hypotheses
            ]
            assert [one.lm_score for one in got.hypotheses] == pytest.approx(given_lm, abs=1e-6)
    path = directory / "text"
    write_hypotheses(path, zip(utterances, lm_scores, totals, strict=True), format="text")
    assert read_transcripts(path) == {one.id: one.hypotheses[0].tokens for one in utterances}


@pytest.mark.parametrize(
    ("format", "bad", "match"),
    [
        ("text", utterance("a b", ("x", 1, None)), "found the utterance 'a b', wanted a name without white space"),
        ("kaldi", utterance("", ("x", 1, None)), "found the utterance ''"),
        ("tsv", utterance("a\tb", ("x", 1, None)), "found the utterance"),
        ("jsonl", utterance("", ("x", 1, None)), "found the utterance ''"),
        ("tsv", Utterance("a", (Hypothesis(("x y",), 1),)), "utterance 'a': found the tokens"),
        ("jsonl", Utterance("a", (Hypothesis(("",), 1),)), "utterance 'a': found the tokens"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(tmp_path, format, bad, match):
    path = tmp_path / "out"
    with pytest.raises(DataError, match=match), HypothesisWriter(path, format=format) as writer:
        writer.write(RESCORED[0][0], *RESCORED[0][1:])
        writer.write(bad, [1.0], [1.0])
    assert list(tmp_path.iterdir()) == []


def test_scores_that_do_not_fit_are_refused(tmp_path):
    with HypothesisWriter(tmp_path / "out") as writer:
        with pytest.raises(ValueError, match=r"`totals` must have one for each of 2 hypotheses\. Got 1"):
            writer.write(RESCORED[0][0], [1.0, 2.0], [1.0])
        with pytest.raises(ValueError, match="`lm_scores` must be finite"):
            writer.write(RESCORED[0][0], [1.0, float("nan")], [1.0, 2.0])
    with pytest.raises(UsageError, match="`format` must be one of tsv, jsonl, kaldi, text, trn"):
        HypothesisWriter(tmp_path / "out", format="ctm")


def test_transcripts(write):
    assert read_transcripts(write("text", "a the cell\nb\nc\tx y\n")) == {
        "a": ("the", "cell"),
        "b": (),
        "c": ("x", "y"),
    }
    with pytest.raises(DataError, match="line 2: found 'a' a second time"):
        read_transcripts(write("text", "a x\na y\n"))
    with pytest.raises(DataError, match="text is empty"):
        read_transcripts(write("text", "\n"))
