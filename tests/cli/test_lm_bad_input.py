"""Bad input of `cepts lm` gets one clear line, and nothing is half-written."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepts import lm
from cepts.cli import main
from cepts.store import save_model
from toy_lm_files import FIT, GOLDEN, write_files


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A directory with texts, a model of them, and one without hidden documents."""
    home = tmp_path_factory.mktemp("lm")
    write_files(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        assert main(["lm", "fit", "text.txt", "--dev", "dev.txt", "--save", "model", "-q", *FIT]) == 0
        assert main(["lm", "fit", "text.txt", "--dev", "dev.txt", "--save", "bare", "-q", *FIT, "--hidden", "0"]) == 0
    save_model(home / "other", kind="hmm", settings={}, arrays={})
    return home


@pytest.fixture
def home(made, monkeypatch):
    """The working directory, which no test may change."""
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def unfitted(monkeypatch):
    """Fail where fitting starts."""

    def fit(*arguments, **options):
        raise AssertionError("fitting has started")

    monkeypatch.setattr(lm.AdaptedModel, "fit", fit)


def contents(home):
    return sorted(path.relative_to(home).as_posix() for path in home.rglob("*"))


@pytest.fixture
def fails(cepts, home, tmp_path):
    """The command fails with this code and a line in which this stands, and leaves no file behind."""

    def fails(code, line, *arguments, stdin=b""):
        before = contents(home)
        ran = cepts("lm", *arguments, stdin=stdin)
        assert line in ran.error
        assert ran.code == code
        assert contents(home) == before
        assert not (tmp_path / "out").exists()

    return fails


@pytest.fixture
def fit_fails(fails, tmp_path):
    """The same of a fit of some text, given as bytes, into a directory that is then not there."""

    def fit_fails(code, line, data, *options, name="odd.txt"):
        (tmp_path / name).write_bytes(data)
        fails(code, line, "fit", tmp_path / name, "--save", tmp_path / "out", *options)

    return fit_fails


# -- texts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", "found no words"),
        (b"\n \n\t\n", "found no words"),
        (b"the cell\nth\xff\n", "odd.txt, line 2"),
    ],
)
def test_texts_without_words_or_that_are_no_text(fit_fails, unfitted, data, line):
    fit_fails(1, line, data)


def test_bytes_that_are_no_text_may_be_replaced(cepts, home, tmp_path):
    """The message of the refusal names the option."""
    (tmp_path / "odd.txt").write_bytes(b"th\xff\n" + Path("text.txt").read_bytes())
    refused = cepts("lm", "perplexity", "model", tmp_path / "odd.txt")
    assert refused.code == 1
    option = refused.error.rpartition("read it with ")[2].rstrip(".\n").split()
    assert option == ["--errors", "replace"]
    for arguments in (["perplexity", "model", tmp_path / "odd.txt"], ["show", "model", "--text", tmp_path / "odd.txt"]):
        assert cepts("lm", *arguments, *option).code == 0
    fitted = cepts(
        "lm", "fit", tmp_path / "odd.txt", "-b", tmp_path / "odd.txt", "--save", tmp_path / "out", *FIT, *option
    )
    assert fitted.code == 0


def test_marks_of_sentences_are_found_where_they_stand(fit_fails, fails, unfitted, tmp_path):
    fit_fails(1, "odd.txt:4, sentence 2: found the word </s>", b"the cell\nof\n\na\nthe cell </s>\n\nb\n")
    (tmp_path / "lists.tsv").write_text("u-0\t1\ta\nu-1\t1\tb\nu-1\t1\t<s> b\n")
    rescored = ("rescore", "model", tmp_path / "lists.tsv", "-o", tmp_path / "out")
    fails(1, "utterance 'u-1', hypothesis 2: found the word <s>", *rescored)


def test_json_that_is_none(fit_fails, unfitted):
    fit_fails(1, "odd.jsonl, line 2: found invalid JSON", b'{"text": "a"}\n{"text": \n', name="odd.jsonl")


def test_empty_documents_are_left_out_and_counted(cepts, home, tmp_path):
    Path(tmp_path / "some.jsonl").write_text(
        '{"text": ""}\n'
        + "".join(f'{{"text": "{line}"}}\n' for line in Path("test.txt").read_text().split("\n") if line)
    )
    ran = cepts("lm", "perplexity", "model", tmp_path / "some.jsonl")
    assert ran.code == 0
    assert "note     1 of 37 documents have no words and are left out." in ran.err


def test_a_text_of_function_words_only(fit_fails):
    text = b"the of and is the of\n" * 30
    fit_fails(1, "no content words", text, "--stop", "stop.txt")
    fit_fails(1, "no content words", text, "--stop", "stop.txt", "--hidden", "5")


def test_a_text_that_is_too_short_to_hold_anything_out(fit_fails):
    fit_fails(1, "separate development text", b"cell\n", "--min-count", "1")


def test_held_out_text_that_the_model_does_not_know(fit_fails, tmp_path):
    (tmp_path / "dev").write_text("foreign words alone\n")
    fit_fails(1, "the held-out text has no", Path("text.txt").read_bytes(), "--dev", tmp_path / "dev", *FIT)


def test_a_test_text_of_unknown_words_only(fails, tmp_path):
    (tmp_path / "foreign").write_text("foreign words\nalone\n")
    fails(1, "knows none of the 3 words", "perplexity", "model", tmp_path / "foreign")
    fails(1, "no word of the hidden documents", "show", "model", "--text", tmp_path / "foreign")


def test_more_hidden_documents_than_the_matrix_has_rows(fails, tmp_path):
    line = "24 content words, so --hidden must be 1 to 24"
    fails(2, line, "fit", "text.txt", "--save", tmp_path / "out", *FIT, "--hidden", "25")
    explicit = ("--segmentation", "explicit", "--documents", "file")
    fails(
        2,
        "documents with such words, so --hidden must be 1 to",
        "fit",
        "text.txt",
        "--save",
        tmp_path / "out",
        *FIT,
        "--hidden",
        "20",
        *explicit,
    )


def test_files_that_are_not_there(fails, tmp_path):
    out = ("--save", tmp_path / "out")
    fails(1, "cannot read nowhere", "fit", "nowhere", *out)
    fails(1, "cannot read nowhere", "fit", "text.txt", "--dev", "nowhere", *out)
    fails(1, "cannot read nowhere", "fit", "text.txt", "--background", "nowhere", *out)
    fails(1, "cannot read nowhere", "fit", "text.txt", "--stop", "nowhere", *out)
    fails(1, "cannot read nowhere", "perplexity", "model", "nowhere")
    fails(1, "cannot read nowhere", "rescore", "model", "nowhere")
    fails(1, "cannot read nowhere", "rescore", "model", "lists.tsv", "--references", "nowhere")
    fails(1, "nowhere", "perplexity", "nowhere", "test.txt")


# -- backgrounds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [20, 120, 300])
def test_an_arpa_file_cut_short(fails, unfitted, tmp_path, kept):
    (tmp_path / "cut.arpa").write_bytes((GOLDEN / "tiny.arpa").read_bytes()[:kept])
    fails(1, "cut.arpa", "fit", "text.txt", "-b", tmp_path / "cut.arpa", "--save", tmp_path / "out")


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"\x7fELF\x02\x01\x01\0\0\0", "found no KenLM binary"),
        ((GOLDEN / "tiny.trie").read_bytes()[:700], "cut short"),
        ((GOLDEN / "tiny.no-words").read_bytes(), "without its words"),
    ],
)
def test_a_binary_that_is_not_kenlms_or_not_whole(fails, unfitted, tmp_path, data, line):
    (tmp_path / "odd.bin").write_bytes(data)
    fails(1, line, "fit", "text.txt", "-b", tmp_path / "odd.bin", "--save", tmp_path / "out")


def test_an_export_of_what_cannot_be_listed(cepts, fails, tmp_path):
    pytest.importorskip("kenlm")
    model = tmp_path / "kenlm"
    options = (*FIT, "--hidden", "0", "--cache", "none")
    assert cepts("lm", "fit", "text.txt", "-b", GOLDEN / "tiny.trie", "--save", model, *options).code == 0
    fails(2, "KenLM binary, whose n-grams cannot be listed", "export", model, "-o", tmp_path / "out")


# -- lists -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("id\tscore\ttext\na\t-1\tx\na\t\ty\n", "odd.tsv, line 3: found '' as score"),
        ("id\tscore\ttext\na\tnan\tx\n", "odd.tsv, line 2: found 'nan' as score"),
        ("id\ttext\na\tx\n", "header without `score`"),
        ("", "found no hypotheses"),
        ("a\t1\tx\nb\t1\tx\na\t1\ty\n", "found the utterance 'a' again"),
    ],
)
def test_lists_with_missing_scores_and_the_like(fails, tmp_path, text, line):
    (tmp_path / "odd.tsv").write_text(text)
    fails(1, line, "rescore", "model", tmp_path / "odd.tsv", "-o", tmp_path / "out")


def test_json_lists_without_scores(fails, tmp_path):
    (tmp_path / "odd.jsonl").write_text('{"id": "a", "hypotheses": [{"text": "x"}]}\n')
    fails(1, "hypothesis 1: found no `score`", "rescore", "model", tmp_path / "odd.jsonl", "-o", tmp_path / "out")


def test_references_that_are_not_whole(fails, tmp_path):
    (tmp_path / "text").write_text("u-0 the cell\n")
    (tmp_path / "lists.tsv").write_text("u-0\t1\ta\nu-1\t1\tb\n")
    arguments = ("rescore", "model", tmp_path / "lists.tsv", "--references", tmp_path / "text")
    fails(1, "no reference for the utterance 'u-1'", *arguments, "-o", tmp_path / "out")
    fails(2, "give a file of --references", "rescore", "model", tmp_path / "lists.tsv", "--tune")


# -- options -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--window", "20"), "an odd number"),
        (("--fold-in", "3"), "--fold-in needs a --history of 1 or more"),
        (("--history", "20", "--decay", "0.9"), "--decay needs a --history of 0"),
        (("--no-rescaling", "--exponent", "0.5"), "--exponent is for rescaling"),
        (("--mixture", "literal", "--rescaling"), "--rescaling needs --mixture class"),
        (("--hidden", "0", "--rescaling"), "--hidden is 0"),
        (("--hidden", "0", "--exponent", "0.5"), "--exponent is for rescaling"),
        (("--cache", "none", "--cache", "500"), "--cache none"),
        (("--cache", "500", "--cache", "500"), "two of --cache are the same"),
        (("--cache", "soon"), "each of --cache must be"),
        (("--hidden", "-1"), "--hidden must be 0 or more"),
        (("--window", "1"), "--window must be an odd number of 3 or more"),
        (("--background-worth", "nan"), "Invalid value for '--background-worth': must be a finite number"),
        (("--background-worth", "inf"), "Invalid value for '--background-worth': must be a finite number"),
        (("--decay", "1.5"), "--decay must be above 0 and at most 1"),
        (("--exponent", "nan"), "Invalid value for '--exponent': must be a finite number"),
        (("--seed", "-1"), "--seed must be 0 or more"),
        (("--iterations", "0"), "--iterations must be 1 or more"),
        (("--window", "2000000001"), "at most 1,000,000,000"),
        (("--dev", "-", "--background", "-"), "standard input"),
    ],
)
def test_options_that_do_not_go_together(fails, unfitted, tmp_path, options, line):
    fails(2, line, "fit", "text.txt", "--save", tmp_path / "out", *options)


def test_a_model_needs_a_place_that_is_its_own(fails, cepts, home, tmp_path, unfitted):
    assert "--save" in cepts("lm", "fit", "text.txt").error
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").write_text("dear")
    fails(1, "full", "fit", "text.txt", "--save", tmp_path / "full")
    assert (tmp_path / "full" / "letter").read_text() == "dear"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--weight", "-1"), "--weight must be 0 or more"),
        (("--weight", "nan"), "Invalid value for '--weight': must be a finite number"),
        (("--own-weight", "inf"), "Invalid value for '--own-weight': must be a finite number"),
        (("--word-bonus", "nan"), "Invalid value for '--word-bonus': must be a finite number"),
        (("--unknown-penalty", "inf"), "Invalid value for '--unknown-penalty': must be a finite number"),
        (("--acoustic-scale", "0"), "--acoustic-scale must be above 0"),
    ],
)
def test_weights_that_are_no_weights(fails, options, line):
    fails(2, line, "rescore", "model", "lists.tsv", *options)


def test_models_of_another_kind(fails):
    for arguments in (("perplexity", "other", "test.txt"), ("show", "other"), ("export", "other")):
        fails(1, "other", *arguments)


def test_what_a_model_does_not_have(fails, tmp_path):
    fails(2, "bare has no hidden documents", "show", "bare")
    for number in ("7", "0", "-1"):
        line = f"--hidden-document must be 1 to 6, the hidden documents of model. Got {number}"
        fails(2, line, "show", "model", "--hidden-document", number)
    fails(2, "--count must be 1 or more", "show", "model", "--count", "0")
    fails(1, "does not know it", "show", "model", "--words", "foreign")
    fails(1, "treats it as a function word", "show", "model", "--words", "the")
    fails(2, "leave one of them out", "show", "model", "--words", "s0w0", "--hidden-document", "1")


def test_results_that_have_no_place(fails, tmp_path):
    fails(1, "nowhere", "export", "model", "-o", "nowhere/x.arpa")
    fails(1, "nowhere", "rescore", "model", "lists.tsv", "-o", "nowhere/x.tsv")
    fails(2, ".svg, .pdf or .png", "show", "model", "--plot", tmp_path / "h.gif")
    fails(2, "stdout", "rescore", "model", "lists.tsv", "-o", "-", "--json")
