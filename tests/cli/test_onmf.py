"""`cepts align --combine onmf`: links through cepts."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import pytest

from cepts import words
from cepts.cli import align
from cepts.cli.option import Option
from cepts.extract import ASSOCIATIONS, Extraction, associations
from cepts.factor import Factoring, orthogonal
from cepts.names import LINK_FORMATS, STATISTICS
from cepts.words import aligner as aligner_module
from cepts.words.index import cut

QUICK = ("--iterations", 1, "--start-iterations", 1)
ONMF = ("--combine", "onmf")
# Whether there is noise is asked by `cepts factor` alone.
FACTORING = {field.name for field in fields(Factoring)} - {"noise"}
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
needs_signals = pytest.mark.skipif(os.name == "nt", reason="signals and pipes differ")


@pytest.fixture
def untrained(monkeypatch):
    """Fail where training starts."""

    def fit(self, *arguments, **options):
        raise AssertionError("training has started")

    monkeypatch.setattr(words.Aligner, "fit", fit)


@pytest.fixture(scope="module", params=["ibm3", "ibm4"])
def fertile(request, tmp_path_factory, sentences):
    """A model of fertilities, with the cepts (`links`) that it gave when it was trained."""
    from cepts.cli import main

    home = tmp_path_factory.mktemp(request.param)
    for name, lines in zip(("en", "fr"), sentences, strict=True):
        (home / name).write_text("\n".join(lines) + "\n", "utf-8")
    files = [str(home / name) for name in ("en", "fr")]
    more = ["--model", request.param, "--save", str(home / "model"), "-o", str(home / "links")]
    assert main(["align", *files, *map(str, QUICK), *ONMF, "--format", "json", "-q", *more]) == 0
    return home / "model"


def links_of(line):
    return {tuple(map(int, re.split("[-?]", link))) for link in line.split()}


def assert_proper(record):
    """Each word in exactly one cept or null, each cept with words on both sides, links between all words of a cept."""
    for side in ("source", "target"):
        placed = [word for cept in record["cepts"] for word in cept[side]] + record["null"][side]
        assert sorted(placed) == list(range(len(record[side])))
        assert all(cept[side] for cept in record["cepts"])
        assert len(record["cept_confidence"][side]) == len(record[side])
        assert all(0 <= value <= 1 for value in record["cept_confidence"][side])
    links = [(link["source"], link["target"]) for link in record["links"]]
    assert links == sorted((i, j) for cept in record["cepts"] for i in cept["source"] for j in cept["target"])
    assert 0 <= record["noise"] < 1


# -- the options -----------------------------------------------------------------------------------------------------


def test_names_are_those_of_the_library():
    options = {option.name for option in align.command.params}
    assert options >= FACTORING


def test_defaults_that_the_help_states_are_those_of_the_library():
    said = {option.name: option.said_default for option in align.command.params if isinstance(option, Option)}
    usual = Factoring()
    assert said["association"] == Extraction().association
    for name in FACTORING - {"spread"}:
        assert said[name] == str(getattr(usual, name))
    assert said["nbest"] == f"{associations.NBEST} with --association nbest"
    assert said["spread"] == f"{associations.SPREAD_LISTS} for nbest, otherwise {associations.SPREAD}"


def test_options_of_onmf_stand_together_in_the_help():
    names = [option.name for option in align.command.params]
    options = FACTORING
    places = sorted(names.index(name) for name in options)
    assert places == list(range(places[0], places[0] + len(places)))
    for option in align.command.params:
        if option.name in options:
            assert option.help.startswith("For onmf: ")


# -- what comes out --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("association", ASSOCIATIONS)
def test_every_association_gives_proper_alignments(cepts, corpus, sentences, trained, association):
    model = QUICK if association in STATISTICS else ("--load", trained)
    ran = cepts("align", "en", "fr", *model, *ONMF, "--association", association, "--format", "json")
    assert ran.code == 0
    records = [json.loads(line) for line in ran.lines]
    assert [" ".join(record["source"]) for record in records] == [" ".join(line.split()) for line in sentences[0]]
    for record in records:
        assert_proper(record)
    assert sum(len(record["links"]) for record in records) > 1000


@pytest.mark.parametrize("how", ["anneal", "anneal-bic", "aic", "bic"])
def test_every_choice_of_the_number(cepts, corpus, trained, how):
    more = ("--restarts", 2, "--seed", 3) if how in {"aic", "bic"} else ()
    ran = cepts("align", "en", "fr", "--load", trained, *ONMF, "--cepts", how, *more, "--format", "json")
    assert ran.code == 0
    for line in ran.lines:
        assert_proper(json.loads(line))
    plain = cepts("align", "en", "fr", "--load", trained, *ONMF, "--format", "json")
    assert (ran.out == plain.out) == (how == "anneal")


def test_a_number_of_cepts_and_fewer_in_pairs_too_short_for_it(cepts, corpus, trained):
    ran = cepts("align", "en", "fr", "--load", trained, *ONMF, "--cepts", 5, "--format", "json")
    numbers = []
    for record in map(json.loads, ran.lines):
        assert_proper(record)
        most = min(5, len(record["source"]), len(record["target"]))
        assert 1 <= len(record["cepts"]) <= most
        numbers.append((most, len(record["cepts"])))
    assert {most for most, _ in numbers} > {5}
    assert sum(found == 5 for most, found in numbers if most == 5) > 0.9 * sum(most == 5 for most, _ in numbers)


@pytest.mark.parametrize("format_", LINK_FORMATS)
def test_every_format_reads_back_as_the_same_links(cepts, corpus, trained, format_):
    plain = cepts("align", "en", "fr", "--load", trained, *ONMF).lines
    assert cepts("align", "en", "fr", "--load", trained, *ONMF, "--format", format_, "-o", "links").code == 0
    back = cepts("convert", "links", "--from", format_, "--to", "pharaoh", "--sentences", 120)
    assert (back.code, back.err) == (0, "")
    if format_ == "giza":  # which has no tiers
        assert list(map(links_of, back.lines)) == list(map(links_of, plain))
    else:
        assert back.lines == plain


def test_base_one(cepts, corpus, trained):
    plain, shifted = (
        cepts("align", "en", "fr", "--load", trained, *ONMF, "--base", base, "--max-length", 12).lines
        for base in (0, 1)
    )
    assert [{(i + 1, j + 1) for i, j in links_of(line)} for line in plain] == [links_of(line) for line in shifted]


def test_sure_links_have_the_confidence_that_was_asked_for(cepts, corpus, trained):
    tiers = {}
    for least in (0, 0.3, 1):
        ran = cepts("align", "en", "fr", "--load", trained, *ONMF, "--sure", least, "--format", "json")
        found = [link for line in ran.lines for link in json.loads(line)["links"]]
        for link in found:
            if abs(link["confidence"] - least) > 1e-4:  # four decimals are written
                assert (link["tier"] == "sure") == (link["confidence"] > least)
        tiers[least] = sum(link["tier"] == "sure" for link in found)
        assert f"sure     {tiers[least] / len(found):.1%} of the links" in ran.err
    assert tiers[0] > tiers[0.3] > tiers[1]


def test_spreading_leaves_fewer_words_to_null(cepts, corpus, trained):
    left = []
    for spread in (0, 0.5, 0.99):
        ran = cepts("align", "en", "fr", "--load", trained, *ONMF, "--spread", spread, "--format", "json")
        nulls = [json.loads(line)["null"] for line in ran.lines]
        left.append(sum(len(null["source"]) + len(null["target"]) for null in nulls))
    assert left[0] > left[1] > left[2]


def test_longer_lists_hold_more(cepts, corpus, trained):
    one, many = (
        cepts("align", "en", "fr", "--load", trained, *ONMF, "--association", "nbest", "--nbest", count).lines
        for count in (1, 50)
    )
    assert one != many
    assert cepts("align", "en", "fr", "--load", trained, *ONMF, "--association", "nbest").lines != many


def test_the_summary(cepts, corpus, sentences, trained):
    ran = cepts("align", "en", "fr", "--load", trained, *ONMF, "--format", "json")
    records = [json.loads(line) for line in ran.lines]
    links = [link for record in records for link in record["links"]]
    cepts_found = sum(len(record["cepts"]) for record in records)
    shares = [
        sum(len(record["null"][side]) for record in records) / sum(len(record[side]) for record in records)
        for side in ("source", "target")
    ]
    noise = sum(record["noise"] for record in records) / len(records)
    summary = ran.err.splitlines()
    assert summary[0].startswith("aligned  120 pairs, ")
    assert summary[1:] == [
        f"links    {len(links):,}; covered {1 - shares[0]:.1%} of the source and {1 - shares[1]:.1%} of the target "
        "words",
        f"sure     {sum(link['tier'] == 'sure' for link in links) / len(links):.1%} of the links",
        f"cepts    {cepts_found:,} ({cepts_found / 120:.1f} per pair); noise {noise:.2%}",
        f"null     {shares[0]:.1%} of the source and {shares[1]:.1%} of the target words",
    ]
    assert cepts("align", "en", "fr", "--load", trained, *ONMF, "-q", "-o", "links").err == ""


# -- unusual lines ---------------------------------------------------------------------------------------------------


def test_lines_in_are_lines_out(cepts, corpus, trained):
    """Empty lines, an empty side, one word, unknown words, a long sentence, a pair that stands twice."""
    (corpus / "a").write_text("The file\n\nThe\n\nzzz\nThe file\n" + "The " * 9 + "\n The  file \n")
    (corpus / "b").write_text("Le fichier\nrien\n\n\nqqq\nLe fichier\nLe\nLe fichier\n")
    for association in ("agreement", "nbest", "tables"):
        options = ("--load", trained, "--max-length", 8, *ONMF, "--association", association)
        ran = cepts("align", "a", "b", *options)
        assert ran.code == 0
        assert [bool(line) for line in ran.lines[1:4]] == [False] * 3
        assert ran.lines[6] == ""
        assert ran.lines[0] == ran.lines[5] == ran.lines[7] != ""
        assert "empty    3 pairs with an empty side, without links" in ran.err
        assert "skipped  1 pair with a sentence of more than 8 words, without links (--max-length)" in ran.err
        assert cepts("align", "a", "b", *options, "--format", "giza").out.count("\n") == 24
        for line in cepts("align", "a", "b", *options, "--format", "json").lines:
            record = json.loads(line)
            if record["links"]:
                assert_proper(record)
            else:
                assert record["cepts"] == []


@pytest.mark.parametrize("model", ["ibm1", "hmm", "ibm3", "ibm4"])
def test_small_texts(cepts, corpus, model):
    (corpus / "one").write_text("a\n")
    (corpus / "same").write_text("the house is red\n" * 30)
    (corpus / "words").write_text("x\ny\nz\n" * 5)
    for name, lines in (("one", 1), ("same", 30), ("words", 15)):
        ran = cepts("align", name, name, "--model", model, *ONMF, "--format", "json")
        assert ran.code == 0
        assert len(ran.lines) == lines
        for line in ran.lines:
            assert_proper(json.loads(line))
    assert len(set(ran.lines)) == 3


@pytest.mark.parametrize(
    "options", [("--cepts", 3), ("--cepts", "aic"), ("--association", "nbest"), ("--format", "json")]
)
def test_only_empty_lines(cepts, corpus, options):
    (corpus / "a").write_text("\n \n")
    ran = cepts("align", "a", "a", *ONMF, *options, "--matrices", "matrices", "--scores", "scores")
    assert ran.code == 0
    assert len(ran.lines) == 2
    assert "cepts    none\n" in ran.err
    assert [json.loads(line)["matrix"] for line in (corpus / "matrices").read_text().splitlines()] == [[], []]
    assert (corpus / "scores").read_text() == "0.000000\t0.000000\n" * 2


def test_no_pairs_at_all(cepts, corpus, untrained):
    (corpus / "empty").touch()
    ran = cepts("align", "empty", "empty", *ONMF)
    assert ran.code == 1
    assert ran.error.startswith("empty is empty; wanted one sentence per line")


def test_words_of_which_nothing_is_known(cepts, corpus):
    """Words that always stand together attract each other no more than chance."""
    (corpus / "a").write_text("the house\n" * 4)
    ran = cepts("align", "a", "a", *ONMF, "--association", "llr")
    assert (ran.code, ran.lines) == (0, [""] * 4)
    assert ran.err.splitlines()[1:] == [
        "links    0; covered 0.0% of the source and 0.0% of the target words",
        "sure     none of the links",
        "cepts    0 (0.0 per pair); noise 0.00%",
        "null     100.0% of the source and 100.0% of the target words",
    ]


# -- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["matrices.jsonl", "matrices.jsonl.gz", "matrices.npz", "-"])
def test_matrices_give_the_same_links_through_cepts_factor(cepts, corpus, sentences, trained, name):
    (corpus / "a").write_text("\n".join([*sentences[0][:40], "", "x", ""]), "utf-8")
    (corpus / "b").write_text("\n".join([*sentences[1][:40], "x", "", ""]), "utf-8")
    ran = cepts("align", "a", "b", "--load", trained, *ONMF, "--matrices", name, "--format", "scored", "-o", "links")
    assert ran.code == 0
    stdin = ran.out.encode()
    assert (name == "-") == bool(stdin)
    back = cepts("factor", name, "--allow-empty", "--format", "scored", stdin=stdin)
    assert (back.code, back.out) == (0, (corpus / "links").read_text())
    refused = cepts("factor", name, stdin=stdin)
    assert "found a matrix of 0 x 0, wanted at least one row and one column" in refused.error
    assert "--allow-empty" in refused.error


def test_matrices_of_repeated_pairs(cepts, corpus, sentences, trained):
    for name, lines in zip(("a", "b"), sentences, strict=True):
        (corpus / name).write_text("\n".join(lines[:9] * 3), "utf-8")
    assert cepts("align", "a", "b", "--load", trained, *ONMF, "--matrices", "matrices", "-o", "links").code == 0
    assert cepts("factor", "matrices").out == (corpus / "links").read_text()
    links = (corpus / "links").read_text().splitlines()
    assert links == links[:9] * 3


def test_scores_are_those_of_the_model(cepts, corpus, trained):
    assert cepts("align", "en", "fr", "--load", trained, *ONMF, "--scores", "scores.gz", "-o", "links").code == 0
    assert gzip.decompress((corpus / "scores.gz").read_bytes()) == (trained.parent / "scores").read_bytes()


@needs_full
@pytest.mark.parametrize("name", ["-o", "--scores", "--matrices"])
def test_a_full_disk_leaves_nothing_of_any_file(cepts, corpus, trained, name):
    where = {"-o": "links", "--scores": "scores", "--matrices": "matrices"}
    where[name] = "/dev/full"
    ran = cepts("align", "en", "fr", "--load", trained, *ONMF, *(part for pair in where.items() for part in pair))
    assert ran.code == 1
    assert ran.error == "cannot write /dev/full: No space left on device."
    assert sorted(path.name for path in corpus.iterdir()) == ["en", "fr"]


# -- models and threads ----------------------------------------------------------------------------------------------


def test_models_of_fertilities(cepts, corpus, fertile):
    """Loaded, they give what they gave when trained; and other matrices, of which lists are made by another search."""
    load = ("--load", fertile, *ONMF, "--format", "json")
    wanted = (fertile.parent / "links").read_text("utf-8")
    assert cepts("align", "en", "fr", *load).out == wanted
    for association in ("nbest", "tables", "reverse"):
        ran = cepts("align", "en", "fr", *load, "--association", association)
        assert ran.code == 0
        for line in ran.lines:
            assert_proper(json.loads(line))
        assert ran.out != wanted


@pytest.mark.parametrize("options", [(), ("--association", "nbest"), ("--cepts", "aic", "--restarts", 2)])
def test_one_and_two_threads_give_the_same_bytes(cepts, corpus, trained, monkeypatch, options):
    """With runs so small that there are many, as there are of large texts."""
    whole = cepts("align", "en", "fr", "--load", trained, *ONMF, "--format", "json", *options).out
    monkeypatch.setattr(aligner_module, "cut", lambda pairs, cells: cut(pairs, 3000))
    monkeypatch.setattr(orthogonal, "CELLS_AT_A_TIME", 700)
    for threads in (1, 2):
        more = ("--threads", threads, "--format", "json", "--matrices", f"matrices{threads}", *options)
        assert cepts("align", "en", "fr", "--load", trained, *ONMF, *more).out == whole
    assert (corpus / "matrices1").read_bytes() == (corpus / "matrices2").read_bytes()


# -- wrong usage -----------------------------------------------------------------------------------------------------

NO_NUMBER = "Invalid value for '--cepts': must be anneal, anneal-bic, anneal-icl, aic, bic, icl or a number from 1 to"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--cepts", 0), NO_NUMBER),
        (("--cepts", -1), NO_NUMBER),
        (("--cepts", "x"), NO_NUMBER),
        (("--cepts", ""), NO_NUMBER),
        (("--cepts", "³"), NO_NUMBER),
        (("--cepts", "9" * 5000), NO_NUMBER),
        (
            ("--cepts", 99_999),
            "--cepts must be at most 22, the length of the shorter side of the longest sentence pair (",
        ),
        (("--cepts", 12, "--max-length", 12), "--cepts must be at most 11, the length of the shorter side"),
        (("--association", "x"), "Invalid value for '--association': 'x' is not one of 'agreement'"),
        (
            ("--nbest", 10),
            "--nbest is the length of lists of alignments, which --association agreement does not use",
        ),
        (
            ("--association", "tables", "--nbest", 10),
            "--nbest is the length of lists of alignments, which --association tables does not use",
        ),
        (("--association", "nbest", "--nbest", 0), "Invalid value for '--nbest': must be 1 or more. Got 0"),
        (("--association", "nbest", "--nbest", 10**20), "Invalid value for '--nbest': must be at most 1,000,000,000"),
        (
            ("--association", "pmi", "--spread", 0.1),
            "--spread moves null mass to neighbouring words, but --association pmi has no null",
        ),
        (("--spread", 1), "Invalid value for '--spread': must be 0 or more and below 1. Got 1"),
        (("--spread", "nan"), "Invalid value for '--spread': must be a finite number. Got nan."),
        (("--sure", "nan"), "Invalid value for '--sure': must be a finite number. Got nan."),
        (("--sure", 1.5), "Invalid value for '--sure': must be from 0 to 1. Got 1.5"),
        (("--restarts", 5), "--restarts goes with --cepts aic, bic or icl, not with anneal."),
        (("--restarts", 5, "--cepts", 3), "--restarts goes with --cepts aic, bic or icl, not with 3."),
        (("--restarts", 10**20, "--cepts", "aic"), "Invalid value for '--restarts': must be at most 1,000,000,000."),
        (("--seed", 10**20), "Invalid value for '--seed': must be from 0 to 4,294,967,295."),
        (("--seed", -1), "Invalid value for '--seed': must be from 0 to 4,294,967,295. Got -1"),
        (("--matrices", "-"), "--matrices and the links would both go to stdout; name another file for one of them."),
        (("--matrices", "x", "-o", "x"), "--matrices and the links would both go to x; "),
        (("--matrices", "x", "-o", "./x"), "--matrices and the links would both go to x; "),
        (("--matrices", "x", "--scores", "./x"), "--scores and --matrices would both go to ./x; "),
        (("--scores", "x", "-o", "./x"), "--scores and the links would both go to x; "),
        (("--matrices", "m.npy"), "--matrices m.npy: a .npy file holds a single matrix; name it .npz or .jsonl."),
    ],
)
def test_options_that_are_wrong_usage(cepts, corpus, untrained, options, line):
    ran = cepts("align", "en", "fr", *ONMF, *options)
    assert ran.code == 2
    assert ran.error.startswith(line)
    assert sorted(path.name for path in corpus.iterdir()) == ["en", "fr"]


@pytest.mark.parametrize("option", sorted(FACTORING))
def test_options_that_go_with_onmf_alone(cepts, corpus, untrained, option):
    value = {"cepts": "aic", "assign": "classify", "orphans": "direct"}.get(option, 0.5)
    value = 1 if option in {"restarts", "seed"} else value
    for combine in ("agreement", "union"):
        ran = cepts("align", "en", "fr", "--combine", combine, f"--{option}", value)
        assert ran.code == 2
        assert ran.error == f"--{option} goes with --combine onmf, not with {combine}."


def test_statistics_need_the_text_of_training(cepts, corpus, trained):
    ran = cepts("align", "en", "fr", "--load", trained, *ONMF, "--association", "dice", "-o", "links")
    assert (ran.code, ran.error.split(";")[0]) == (
        2,
        "co-occurrence statistics need the training text, which a loaded model does not have",
    )
    assert not (corpus / "links").exists()


def test_two_options_that_go_with_onmf_alone(cepts, corpus, untrained):
    ran = cepts("align", "en", "fr", "--cepts", 3, "--sure", 0.5)
    assert ran.error == "--cepts, --sure go with --combine onmf, not with agreement."


@pytest.mark.parametrize("where", ["no/matrices", "en/matrices", "."])
def test_matrices_that_cannot_be_written_are_refused_before_training(cepts, corpus, untrained, where):
    ran = cepts("align", "en", "fr", *ONMF, "--matrices", where)
    assert ran.code == 1
    assert ran.error.startswith(f"cannot write {where}: ")
    assert sorted(path.name for path in corpus.iterdir()) == ["en", "fr"]


# -- signals and pipes -----------------------------------------------------------------------------------------------


def test_control_c_while_links_are_written(cepts, corpus, trained, monkeypatch):
    from cepts.pipeline import CeptCounts

    def stop(*arguments):
        raise KeyboardInterrupt

    (corpus / "links").write_text("old\n")
    monkeypatch.setattr(CeptCounts, "add", stop)  # called after each run
    more = ("-o", "links", "--scores", "scores", "--matrices", "matrices")
    ran = cepts("align", "en", "fr", "--load", trained, *ONMF, *more)
    assert (ran.code, ran.out, ran.err) == (130, "", "cepts: stopped; run the command again to start over.\n")
    assert (corpus / "links").read_text() == "old\n"
    assert sorted(path.name for path in corpus.iterdir()) == ["en", "fr", "links"]


@needs_signals
def test_control_c_while_matrices_are_factorised(cepts_process, corpus, trained):
    """Soon, although all of them would take minutes, and with nothing left behind."""
    slow = ("--cepts", "aic", "-o", "links", "--matrices", "matrices")
    for name in ("en", "fr"):
        lines = (corpus / name).read_text("utf-8")
        # Distinct pairs: one that stands twice is factorised once.
        (corpus / name).write_text("".join(lines.replace(" .", f" {n} .") for n in range(30)), "utf-8")
    process = cepts_process("align", "en", "fr", "--load", trained, *ONMF, *slow)
    deadline = time.monotonic() + 60
    while not list(corpus.glob(".links.*.tmp")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "cepts: stopped; run the command again to start over.\n")
    assert sorted(path.name for path in corpus.iterdir()) == ["en", "fr"]


@needs_signals
def test_head(corpus, trained):
    command = [sys.executable, "-m", "cepts", "align", "en", "fr", "--load", str(trained), *ONMF, "--format", "json"]
    done = subprocess.run(
        f"{shlex.join(command)} | head -n 1", shell=True, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.count("\n") == 1
    assert_proper(json.loads(done.stdout))
    # The writer may or may not notice; either way it says nothing but its summary.
    assert re.fullmatch(r"(aligned .*\nlinks .*\nsure .*\ncepts .*\n)?", done.stderr)


def test_the_bar_moves_while_matrices_are_factorised(cepts, corpus, trained, monkeypatch):
    from cepts.cli import console

    steps = []
    monkeypatch.setattr(console.ProgressBars, "__call__", lambda self, step: steps.append(step))
    monkeypatch.setattr(orthogonal, "CELLS_AT_A_TIME", 3000)
    monkeypatch.setattr(aligner_module, "cut", lambda pairs, cells: cut(pairs, 8000))
    more = ("--matrices", "matrices", "--scores", "scores")
    assert cepts("align", "en", "fr", "--load", trained, *ONMF, *more).code == 0
    done = {}
    for step in steps:
        done.setdefault(step.stage, []).append((step.done, step.total))
    assert list(done) == ["reading", "aligning"]
    shown = done["aligning"]
    assert shown[0][0] == 0
    assert shown[-1] == (120, 120)
    assert shown == sorted(set(shown))
    assert len(shown) > 3
    for reports in done.values():
        assert reports[-1][0] == reports[-1][1]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--classes", 5, "--model", "hmm"), "--classes goes with --model mixed or ibm4, not with hmm."),
        (("--classes", 5, "--model", "ibm3"), "--classes goes with --model mixed or ibm4, not with ibm3."),
        (
            ("--hmm-iterations", 5, "--model", "ibm1"),
            "--hmm-iterations goes with --model mixed or ibm3 or ibm4, not with ibm1.",
        ),
    ],
)
def test_options_of_the_fertility_models_go_with_them(cepts, corpus, untrained, options, line):
    ran = cepts("align", "en", "fr", *options)
    assert (ran.code, ran.error) == (2, line)


def test_classes_and_hmm_iterations_reach_the_model(cepts, corpus):
    more = ("--model", "ibm4", "--classes", 7, "--hmm-iterations", 2, "--save", "model", "-o", "links")
    assert cepts("align", "en", "fr", *QUICK, *more).code == 0
    model = words.load_aligner("model")
    assert (model.classes, model.hmm_iterations) == (7, 2)
