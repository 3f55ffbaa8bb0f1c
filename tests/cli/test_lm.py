"""`cepts lm`: from texts to models, perplexities, rescored lists, tables of hidden documents, and ARPA files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click
import numpy as np
import pytest

from cepts import names
from cepts.cli import main
from cepts.cli.lm import command
from cepts.io import read_arpa, read_documents, read_hypotheses
from cepts.lm import AdaptedModel, BackoffModel, Cache, HistoryOptions
from toy_lm_files import FIT, GOLDEN, STOP, write_files


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A directory with these files and a model of them."""
    home = tmp_path_factory.mktemp("lm")
    write_files(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        assert main(["lm", "fit", "text.txt", "--dev", "dev.txt", "--save", "model", "-q", *FIT]) == 0
    return home


@pytest.fixture
def home(made, tmp_path, monkeypatch):
    """The working directory: a copy of it."""
    shutil.copytree(made, tmp_path / "home")
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home"


def table(lines):
    """The numbers of a table by its first column."""
    return {line.split("  ")[0]: line.split()[1:] for line in lines}


# -- the commands ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", command.table)
def test_the_table_of_helps_is_that_of_the_commands(name):
    found = command.get_command(click.Context(command), name)
    assert found.get_short_help_str(limit=200) == command.table[name][1]
    assert found.name == name


def test_the_defaults_are_those_of_the_model():
    fit = command.get_command(click.Context(command), "fit")
    defaults = {name: parameter.default for name, parameter in AdaptedModel.parameters().items()}
    parsed = fit.make_context("fit", ["text.txt", "--save", "model"]).params
    found = {name: value for name, value in parsed.items() if name in defaults}
    assert not found.pop("caches")  # said in the help alone
    assert len(found) > 10
    assert {name: value for name, value in found.items() if value != defaults[name]} == {}


def test_the_group_alone_shows_its_commands(cepts):
    ran = cepts("lm")
    assert ran.code == 0
    for name, (_, line) in command.table.items():
        assert f"{name} " in ran.out
        assert line in ran.out


# -- fit ---------------------------------------------------------------------------------------------------------------


def test_a_fit_says_what_it_made(cepts, home):
    ran = cepts("lm", "fit", "text.txt", "--dev", "dev.txt", "--background", "other.txt", "--save", "both", *FIT)
    assert (ran.code, ran.out) == (0, "")
    lines = {line.split()[0]: line for line in ran.err.splitlines()}
    assert lines["text"] == "text     60 documents, 2,460 words"
    assert "content words" in lines["words"]
    assert "; weight 0." in lines["n-grams"]
    assert "6 documents of 24 words; implicit, window 21" in lines["hidden"]
    assert "cache 0.98" in lines["weights"]
    assert "the dev text, 369 words; perplexity" in lines["set"]
    assert lines["model"].startswith("model    both")
    model = AdaptedModel.load("both")
    assert len(model.predictor_.background) == 2
    assert model.record_.ngrams == ("text.txt", "other.txt")


def test_a_fit_in_json_and_in_silence(cepts, home):
    ran = cepts("lm", "fit", "text.txt", "--save", "again", "--json", *FIT)
    found = json.loads(ran.out)
    assert found["hidden"] == 6
    assert sum(found["weights"].values()) == pytest.approx(1)
    assert found["ngrams"][0]["name"] == "text.txt"
    assert found["held_out"] == "every 20th document"
    ran = cepts("lm", "fit", "text.txt", "--save", "again", "-q", *FIT)
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_a_newcomer_gets_as_many_hidden_documents_as_the_text_allows(cepts, home):
    ran = cepts("lm", "fit", "text.txt", "--stop", "stop.txt", "--save", "new")
    assert ran.code == 0
    assert "note     6 hidden documents instead of 500" in ran.err
    assert len(AdaptedModel.load("new").predictor_.hidden) == 6


def test_options_reach_the_model(cepts, home):
    options = ("--cache", "500:0.99", "--cache", "30", "--exponent", "0.4", "--decay", "0.9", "--order", "2")
    assert cepts("lm", "fit", "text.txt", "--save", "m", *FIT, *options).code == 0
    model = AdaptedModel.load("m").predictor_
    assert model.caches == (Cache(500, 0.99), Cache(30, 1.0))
    assert model.exponent == 0.4
    assert model.history == HistoryOptions(decay=0.9)
    assert model.background.models[0].order == 2
    assert {word for word, content in zip(model.vocabulary.words, model.content, strict=True) if not content} == {
        "<unk>",
        "<s>",
        "</s>",
        *STOP,
    }
    assert cepts("lm", "fit", "text.txt", "--save", "m", "--hidden", "0", "--cache", "none", "--stop", "none").code == 0
    model = AdaptedModel.load("m").predictor_
    assert model.components == ("ngram",)
    assert model.content[model.vocabulary.number("the")]


def test_the_papers_model_is_one_option(cepts, home):
    assert cepts("lm", "fit", "text.txt", "--save", "m", "--paper", *FIT).code == 0
    model = AdaptedModel.load("m").predictor_
    assert model.history == HistoryOptions(history=25, places="all", fold_in=1, uninformative=0.0)
    assert model.components == ("ngram", "hidden")
    assert not model.content[model.vocabulary.number("the")]
    assert (model.mixture, model.exponent) == ("literal", 0.0)
    assert cepts("lm", "fit", "text.txt", "--save", "m", "--paper", "--history", "7", "--cache", "9", *FIT).code == 0
    model = AdaptedModel.load("m").predictor_
    assert model.history == HistoryOptions(history=7, places="all", fold_in=1, uninformative=0.0)
    assert model.components == ("ngram", "hidden", "cache 9")


def test_documents_may_be_explicit_files_of_a_directory(cepts, home):
    Path("chapters").mkdir()
    for number, part in enumerate(Path("text.txt").read_text().split("\n\n")):
        Path(f"chapters/{number:02}.txt").write_text(part + "\n")
    ran = cepts("lm", "fit", "chapters", "--segmentation", "explicit", "--save", "m", *FIT)
    assert ran.code == 0
    assert "text     60 documents, 2,460 words" in ran.err
    assert AdaptedModel.load("m").segmentation == "explicit"


def test_a_background_may_be_an_arpa_file_or_a_binary(cepts, home):
    assert cepts("lm", "fit", "text.txt", "--save", "m", "-b", GOLDEN / "tiny.arpa", *FIT).code == 0
    assert "nucleus" in AdaptedModel.load("m").predictor_.vocabulary.words
    pytest.importorskip("kenlm")
    ran = cepts("lm", "fit", "text.txt", "--save", "m", "-b", GOLDEN / "tiny.trie", *FIT, "--hidden", "2")
    assert ran.code == 0
    assert "tiny.trie: KenLM binary; weight" in ran.err


def test_a_background_that_writes_words_otherwise_is_told(cepts, home):
    Path("loud.txt").write_text(Path("other.txt").read_text().upper())
    fit = ("lm", "fit", "text.txt", "--save", "m", *FIT)
    told = "note     loud.txt has only 0% of the words of the text"
    assert told in cepts(*fit, "-b", "other.txt", "-b", "loud.txt").err
    assert "of the words of the text" not in cepts(*fit, "-b", "other.txt", "-b", "loud.txt", "--lowercase").err


def test_lower_case_goes_with_the_model(cepts, home):
    Path("loud.txt").write_text(Path("text.txt").read_text().upper())
    assert cepts("lm", "fit", "loud.txt", "--lowercase", "--save", "m", *FIT).code == 0
    Path("LOUD").write_text(Path("test.txt").read_text().upper())
    quiet, loud = (cepts("lm", "perplexity", "m", name).lines for name in ("test.txt", "LOUD"))
    assert quiet == loud
    assert "unknown (2.4%)" in quiet[0]


def test_any_number_of_threads_gives_the_same_bytes(cepts, home):
    for threads in ("1", "2"):
        assert cepts("lm", "fit", "text.txt", "--save", f"m{threads}", *FIT[:-1], threads).code == 0
    assert Path("m1/arrays.safetensors").read_bytes() == Path("m2/arrays.safetensors").read_bytes()


# -- perplexity --------------------------------------------------------------------------------------------------------


def test_perplexities_are_those_of_the_room(cepts, home):
    ran = cepts("lm", "perplexity", "model", "test.txt", "--json")
    found = json.loads(ran.out)
    model = AdaptedModel.load("model")
    predictor = model.predictor_
    documents = read_documents("test.txt")
    scored = model.score(documents.text)
    for name, probs in (("background", scored.probs), ("all", predictor.mixed(scored))):
        wanted = np.exp(-np.log(probs[scored.known]).mean())
        assert found["perplexity"][name] == pytest.approx(wanted, rel=1e-6)
    assert (found["words"], found["unknown"], found["documents"]) == (369, 9, 9)
    assert "ends:counted|reset:never|" in found["signature"]
    rows = table(cepts("lm", "perplexity", "model", "test.txt").lines[2:])
    assert float(rows["background"][1]) == pytest.approx(found["perplexity"]["background"], abs=0.06)
    assert float(rows["all"][0]) == pytest.approx(found["perplexity"]["all"], abs=0.06)
    assert {f"+ {name}" for name in predictor.components[1:]} <= set(rows)


def test_documents_are_listed_and_may_be_forgotten(cepts, home):
    found = {}
    for reset in ("never", "document"):
        ran = cepts("lm", "perplexity", "model", "test.txt", "--reset", reset, "--by-document", "--json")
        found[reset] = json.loads(ran.out)["by_document"]
        assert len(found[reset]) == 9
    assert found["never"][0]["all"] == pytest.approx(found["document"][0]["all"])
    assert found["never"][3]["all"] != pytest.approx(found["document"][3]["all"])
    assert found["never"][3]["background"] == pytest.approx(found["document"][3]["background"])
    lines = cepts("lm", "perplexity", "model", "test.txt", "--by-document").lines
    assert sum(line.startswith("test.txt:") for line in lines) == 9
    without = json.loads(cepts("lm", "perplexity", "model", "test.txt", "--no-ends", "--json").out)
    assert without["counted"] == 369 - 9


def test_several_backgrounds_have_a_line_each(cepts, home):
    assert cepts("lm", "fit", "text.txt", "-b", "other.txt", "--save", "both", *FIT).code == 0
    lines = cepts("lm", "perplexity", "both", "test.txt").lines
    assert [line.split("  ")[0] for line in lines[2:5]] == ["n-grams text.txt", "n-grams other.txt", "background"]


# -- rescore -----------------------------------------------------------------------------------------------------------


def test_lists_are_rescored_and_their_errors_shown(cepts, home):
    ran = cepts("lm", "rescore", "model", "lists.tsv", "--weight", "0.5", "-o", "best.tsv", "--signature")
    assert ran.code == 0
    rows = table(ran.lines[1:])
    before, after, oracle = (float(rows[name][-5]) for name in ("before", "rescored", "oracle"))
    assert after < before
    assert oracle == 0
    assert "weight:0.5|word-bonus:0|reset:never|" in ran.out
    assert "rescored 10 utterances, 40 hypotheses" in ran.err
    again = list(read_hypotheses("best.tsv"))
    assert [utterance.id for utterance in again] == [utterance.id for utterance in read_hypotheses("lists.tsv")]
    assert all(hypothesis.lm_score < 0 for utterance in again for hypothesis in utterance.hypotheses)
    json_errors = json.loads(cepts("lm", "rescore", "model", "lists.tsv", "--weight", "0.5", "--json").out)["errors"]
    assert json_errors["after"]["wer"] == pytest.approx(after, abs=0.006)


@pytest.mark.parametrize("format_", names.WRITABLE_HYPOTHESIS_FORMATS)
def test_hypotheses_go_to_stdout_in_every_format(cepts, home, format_):
    ran = cepts("lm", "rescore", "model", "lists.tsv", "-o", "-", "--output-format", format_)
    assert ran.code == 0
    lines = {"tsv": 41, "jsonl": 10, "kaldi": 40, "text": 10, "trn": 10}
    assert len(ran.lines) == lines[format_]
    assert "WER " in ran.err


def test_formats_go_by_names(cepts, home):
    for name in ("a.jsonl", "a.tsv.gz", "a.trn", "a"):
        assert cepts("lm", "rescore", "model", "lists.tsv", "-o", name).code == 0
    assert Path("a.jsonl").read_text().startswith("{")
    assert Path("a.trn").read_text().split("\n")[0].endswith("(u-0)")
    assert len(list(read_hypotheses("a.tsv.gz"))) == 10


def test_references_of_a_file_and_no_references(cepts, home):
    _, *lines = Path("lists.tsv").read_text().splitlines()
    fields = [line.split("\t") for line in lines]
    Path("bare.tsv").write_text("".join("\t".join(field[:3]) + "\n" for field in fields))
    Path("text").write_text("".join(f"{name} {words}\n" for name, words in {f[0]: f[3] for f in fields}.items()))
    whole, bare = (
        cepts("lm", "rescore", "model", *arguments, "-o", "out").lines[:4]
        for arguments in (("lists.tsv",), ("bare.tsv", "--references", "text"))
    )
    assert whole == bare
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cepts.pipeline.rescoring.rescore", None)  # refused before any work
        assert "--output" in cepts("lm", "rescore", "model", "bare.tsv", "--json").error
        assert "--references" in cepts("lm", "rescore", "model", "bare.tsv", "--tune").error
    ran = cepts("lm", "rescore", "model", "bare.tsv", "-o", "out")
    assert (ran.code, ran.out) == (0, "")


def test_hypotheses_go_to_stdout_unless_a_file_is_named(cepts, home):
    assert cepts("lm", "rescore", "model", "lists.tsv", "-o", "best.tsv").code == 0
    ran = cepts("lm", "rescore", "model", "lists.tsv")
    assert ran.out == Path("best.tsv").read_text()
    assert "WER      " in ran.err
    assert cepts("lm", "rescore", "model", "lists.tsv", "-q").err == ""


def test_weights_are_tuned_and_nothing_is_written(cepts, home):
    ran = cepts("lm", "rescore", "model", "lists.tsv", "--tune", "--signature")
    assert ran.code == 0
    assert ran.lines[-3].startswith("tuned    --weight ")
    assert cepts("lm", "rescore", "model", "lists.tsv", "--tune", "--signature", "--quiet").lines == ran.lines
    assert "tuned:on-these-lists" in ran.out
    found = json.loads(cepts("lm", "rescore", "model", "lists.tsv", "--tune", "--json").out)
    chosen = ("--weight", str(found["weight"]), "--word-bonus", str(found["word_bonus"]))
    again = json.loads(cepts("lm", "rescore", "model", "lists.tsv", "--json", *chosen).out)
    assert again["errors"] == found["errors"]
    assert "--output" in cepts("lm", "rescore", "model", "lists.tsv", "--tune", "-o", "out").error
    assert not Path("out").exists()


def test_the_history_may_start_with_a_text_and_anew(cepts, home):
    def scores(*options):
        assert cepts("lm", "rescore", "model", "lists.tsv", "-o", "out.tsv", *options).code == 0
        return [[h.lm_score for h in utterance.hypotheses] for utterance in read_hypotheses("out.tsv")]

    plain, alone, adapted = scores(), scores("--reset", "utterance"), scores("--adapt", "other.txt")
    assert sorted(plain[0]) == sorted(alone[0]) != sorted(adapted[0])
    assert sorted(plain[-1]) != sorted(alone[-1])
    # All utterances are of one talk.
    assert scores("--reset", "talk") == plain


# -- show --------------------------------------------------------------------------------------------------------------


def test_hidden_documents_are_shown_as_columns(cepts, home):
    lines = cepts("lm", "show", "model", "--top", "4").lines
    assert lines[0] == "6 hidden documents of 24 words"
    hidden = AdaptedModel.load("model").predictor_.hidden
    order = np.argsort(-hidden.priors, kind="stable") + 1
    assert lines[3].split() == ["d", *map(str, order)]
    assert lines[4].split() == ["P(d)", *(f"{prior:.4f}" for prior in sorted(hidden.priors, reverse=True))]
    assert [line.split()[0] for line in lines[5:9]] == ["50", "90", "99", "words"]
    assert max(map(len, lines)) <= 80
    one = cepts("lm", "show", "model", "--hidden-document", "2").lines
    assert one[3].split() == ["d", "2"]
    many = cepts("lm", "show", "model", "--hidden-document", "2", "--top", "99").lines
    assert many[-1].strip()  # no rows for words that are not there
    assert len(many) == 8 + np.count_nonzero(hidden.words[:, 1])


def test_hidden_documents_in_json_add_up(cepts, home):
    found = json.loads(cepts("lm", "show", "model", "--top", "99", "--text", "text.txt", "--json").out)
    assert found["hidden_documents"] == len(found["shown"]) == 6
    assert sum(one["prior"] for one in found["shown"]) == pytest.approx(1, abs=1e-5)
    assert sum(one["estimated_prior"] for one in found["shown"]) == pytest.approx(1, abs=1e-4)
    for one in found["shown"]:
        probs = [word["probability"] for word in one["words"]]
        assert probs == sorted(probs, reverse=True)
        assert sum(probs) == pytest.approx(1, abs=1e-4)
        for share, count in one["words_with"].items():
            assert sum(probs[:count]) >= float(share) - 1e-5
            assert sum(probs[: count - 1]) < float(share)


def test_the_hidden_documents_of_a_word(cepts, home):
    found = json.loads(cepts("lm", "show", "model", "-w", "s0w0", "--json").out)["of_words"]["s0w0"]
    predictor = AdaptedModel.load("model").predictor_
    hidden, row = predictor.hidden, predictor.rows[predictor.vocabulary.number("s0w0")]
    shares = hidden.words[row] * hidden.priors / hidden.marginals[row]
    assert [one["hidden_document"] for one in found] == (np.argsort(-shares)[: len(found)] + 1).tolist()
    assert found[0]["given_word"] == pytest.approx(shares.max(), rel=1e-4)
    lines = cepts("lm", "show", "model", "-w", "s0w0").lines
    assert lines[0].split() == ["word", "d", "P(d", "|", "word)", "P(word", "|", "d)", "words", "of", "d"]
    assert lines[1].startswith("s0w0  ")


def test_a_figure_is_drawn(cepts, home):
    pytest.importorskip("matplotlib")
    ran = cepts("lm", "show", "model", "--text", "text.txt", "--plot", "h.png")
    assert ran.code == 0
    assert "correlation of P(d) with its estimates" in ran.out
    assert Path("h.png").read_bytes().startswith(b"\x89PNG")


# -- export ------------------------------------------------------------------------------------------------------------


def test_a_static_model_is_an_arpa_file_of_the_adapted_one(cepts, home):
    lines = Path("test.txt").read_text().split("\n")
    for name, part in (("read.txt", slice(0, None, 2)), ("to-come.txt", slice(1, None, 2))):
        Path(name).write_text("\n".join([line for line in lines if "s0w" in line][part]) + "\n")
    for name, texts in (("plain.arpa", ()), ("after.arpa.gz", ("read.txt",))):
        ran = cepts("lm", "export", "model", *texts, "-o", name)
        assert ran.code == 0
        assert ran.err.startswith("n-grams  ")
    text = read_documents("to-come.txt").text
    plain, after = (BackoffModel(read_arpa(name)).log_probs(text).sum() for name in ("plain.arpa", "after.arpa.gz"))
    assert after > plain
    assert cepts("lm", "export", "model").out.startswith("\\data\\\n")
