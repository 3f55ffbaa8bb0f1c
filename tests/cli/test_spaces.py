"""`cepts spaces`: from files of vectors to translations, scores, samples and aligned vectors."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

from cepts import io, names
from cepts.cli import main
from cepts.cli.spaces import command
from cepts.cli.spaces import score as score_group
from cepts.io import read_dictionary, read_vectors, write_dictionary, write_vectors
from cepts.spaces import IBFA, MBFA, Induction, Procrustes, SpaceModel
from toy_spaces import toy_dictionary, toy_views

VIEWS = toy_views(widths=(10, 8, 9))


def write_files(home: Path) -> None:
    """The vectors `en.npy`, `fr.vec`, `ru.vec.gz`, dictionaries to learn from and to test on, and sentences."""
    for view, name in zip(VIEWS, ("en.npy", "fr.vec", "ru.vec.gz"), strict=True):
        write_vectors(home / name, view)
    write_dictionary(home / "train.tsv", toy_dictionary(), header=False)
    write_dictionary(home / "test.tsv", toy_dictionary(numbers=range(80, 125)), header=False)
    write_dictionary(home / "en-ru.tsv", toy_dictionary(("en", "ru"), range(20, 90)))
    random = np.random.default_rng(0)
    lines = [random.choice(120, 4, replace=False).tolist() for _ in range(60)]
    for language in ("en", "fr"):
        (home / f"sentences.{language}").write_text(
            "".join(" ".join(f"{language}{n}" for n in line) + "\n" for line in lines)
        )
    (home / "similar.txt").write_text(
        "".join(f"en{n}\ten{n + 1}\t{random.random():.3f}\n" for n in range(0, 40, 2)) + "en1 nowhere 2\n"
    )


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A directory with these files and the space `space` that was fitted to them."""
    home = tmp_path_factory.mktemp("spaces")
    write_files(home)
    files = [str(home / name) for name in ("en.npy", "fr.vec")]
    assert main(["spaces", "fit", *files, "-d", str(home / "train.tsv"), "--save", str(home / "space"), "-q"]) == 0
    return home


@pytest.fixture
def home(tmp_path, monkeypatch, made):
    """A copy of it, which is the working directory."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# -- fit ---------------------------------------------------------------------------------------------------------------


def test_fit_says_what_it_did_and_saves(cepts, home):
    ran = cepts("spaces", "fit", "en.npy", "fr.vec", "--dictionary", "train.tsv", "--save", "out")
    assert (ran.code, ran.out) == (0, "")
    said = ran.err.splitlines()
    assert said[0] == "vectors  en 120 words of width 10, fr 120 words of width 8"
    assert said[1] == "entries  80 distinct; found 80 of 80 (100.0%)"
    assert re.fullmatch(r"fitted   ibfa, 8 factors, in [\d.]+ s", said[-2])
    assert said[-1] == "space    out  (try: cepts spaces translate out WORD)"
    model = SpaceModel.load("out")
    assert model.space_.languages == ("en", "fr")
    assert [len(view) for view in model.views_] == [120, 120]
    assert model.entries_.shape == (80, 2)
    assert cepts("spaces", "fit", "en.npy", "fr.vec", "-d", "train.tsv", "--save", "out", "-q").err == ""


def test_fit_says_when_entries_are_few_without_shrinkage(cepts, home):
    lines = Path("train.tsv").read_text().splitlines(keepends=True)
    for count, few in ((30, True), (80, False)):
        Path("some.tsv").write_text("".join(lines[-count:]))
        fit = ("spaces", "fit", "en.npy", "fr.vec", "-d", "some.tsv", "--save", "out")
        said = cepts(*fit, "--paper").err
        assert (f"note     {count} entries are few for vectors of width 10 without --shrinkage" in said) == few
        assert "are few" not in cepts(*fit).err + cepts(*fit, "--method", "svd").err


INDUCED = Induction(rounds=2, keep=0.5, vocabulary=90)
SAME = {
    "ibfa": (
        IBFA(factors=5, exponent=1.0, shrinkage=0.2, prepare=("centre", "unit")),
        ("--factors", 5, "--exponent", 1, "--shrinkage", 0.2, "--prepare", "centre,unit"),
    ),
    "ibfa, chosen and induced": (
        IBFA(induction=INDUCED, seed=4),
        ("--shrinkage", "auto", "--induce", 2, "--induce-keep", 0.5, "--induce-vocabulary", 90, "--seed", 4),
    ),
    "mbfa": (
        MBFA(iterations=7, accelerate=False, start="canonical", tolerance=0.0),
        ("--method", "mbfa", "--iterations", 7, "--plain-em", "--start", "canonical", "--tolerance", 0),
    ),
    "procrustes": (Procrustes(pivot="en"), ("--method", "procrustes", "--pivot", "en")),
    "svd": (Procrustes(), ("--method", "svd")),
    "ibfa of the paper": (IBFA.of_paper(), ("--paper",)),
    "mbfa of the paper": (
        MBFA.of_paper(iterations=8, start="random", seed=3, complete=False),
        ("--paper", "--method", "mbfa", "--iterations", 8, "--start", "random", "--seed", 3, "--incomplete"),
    ),
    "mbfa, its own options": (
        MBFA(balance=0.2, complete=True, iterations=9),
        ("--method", "mbfa", "--balance", 0.2, "--complete", "--iterations", 9),
    ),
}
READ = {"lowercase": True, "max_vocabulary": 100}


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize(("model", "arguments"), SAME.values(), ids=SAME)
def test_a_space_made_in_python_is_the_one_that_the_command_makes(cepts, home, model, arguments, vectors):
    """Byte for byte; and commands read its vectors as Python did, without being told."""
    view = VIEWS[0]
    write_vectors("en.npy", type(view).from_words([word.title() for word in view.words], view.matrix))
    views = [read_vectors(name, name=name[:2], **READ) for name in ("en.npy", "fr.vec")]
    model.fit(views, read_dictionary("train.tsv")).save("python", vectors=vectors)
    given = ("-d", "train.tsv", "--lowercase", "--max-vocabulary", 100, *([] if vectors else ["--no-vectors"]))
    assert cepts("spaces", "fit", "en.npy", "fr.vec", *given, *arguments, "--save", "command").code == 0
    for file in ("model.json", "arrays.safetensors"):
        assert Path("python", file).read_bytes() == Path("command", file).read_bytes()
    more = () if vectors else ("--vectors", "en:en.npy", "--vectors", "fr:fr.vec")
    ran = [
        cepts("spaces", "translate", name, "en90", "En91", "--format", "tsv", *more) for name in ("python", "command")
    ]
    assert ran[0].out == ran[1].out
    found = model.translate(["en90", "En91"])
    assert [line.split("\t")[1] for line in ran[0].lines] == [answers[0].word for answers in found]


@pytest.mark.parametrize("method", names.SPACE_METHODS)
def test_every_method_translates(cepts, home, method):
    ran = cepts("spaces", "fit", "en.npy", "fr.vec", "-d", "train.tsv", "--method", method, "--save", "out")
    assert ran.code == 0
    assert f"\nfitted   {method}, " in ran.err
    (found,) = json.loads(cepts("spaces", "score", "translation", "out", "test.tsv", "--json").out)
    # No rotation undoes the maps of these languages, and cca takes noise for a dimension like others.
    assert found["precision_at_10"] > (50 if method in {"cca", "procrustes"} else 95)


def test_the_same_command_gives_the_same_bytes(cepts, home):
    for name, threads in (("one", 1), ("two", 2)):
        arguments = ("-d", "train.tsv", "--induce", 2, "--induce-keep", 0.5, "--seed", 4, "--threads", threads)
        assert cepts("spaces", "fit", "en.npy", "fr.vec", *arguments, "--save", name).code == 0
    for file in ("model.json", "arrays.safetensors"):
        assert Path("one", file).read_bytes() == Path("two", file).read_bytes()


def test_three_languages_joined_by_two_dictionaries(cepts, home):
    write_dictionary("plain.tsv", toy_dictionary(("en", "ru"), range(20, 90)), header=False)
    for dictionary in ("en-ru.tsv", "en-ru:plain.tsv"):
        arguments = ("-d", "en-fr:train.tsv", "-d", dictionary, "--save", "three", "--plot", "three.svg")
        ran = cepts("spaces", "fit", "en.npy", "fr.vec", "ru.vec.gz", *arguments)
        assert ran.code == 0, ran.err
        assert "; found 150 of 150 (100.0%); 0 in all languages\n" in ran.err
        assert re.search(r"fitted   mbfa, 8 factors after \d+ iterations", ran.err)
        assert Path("three.svg").stat().st_size > 1000
        ran = cepts("spaces", "translate", "three", "fr100", "fr101", "--from", "fr", "--to", "ru", "--format", "tsv")
        assert [line.split("\t")[1] for line in ran.lines] == ["ru100", "ru101"]
    ran = cepts("spaces", "translate", "three", "fr100", "--from", "fr")
    assert "en, fr, ru; choose the one to translate into (--to)" in ran.error


def test_identical_strings_and_induction(cepts, home):
    """Names are written alike in both languages; from a few of them the rest is found."""
    for view, name in zip(VIEWS, ("a.npy", "b.npy"), strict=False):
        words = [f"x{n}" if n < 20 else word for n, word in enumerate(view.words)]
        write_vectors(name, type(view).from_words(words, view.matrix))
    ran = cepts("spaces", "fit", "a.npy", "b.npy", "--identical", "--induce", 6, "--save", "out")
    assert ran.code == 0
    assert "\nentries  20 distinct; found 20 of 20 (100.0%)\n" in ran.err
    assert "\nround 1  " in ran.err
    ran = cepts("spaces", "translate", "out", "--all", "--mutual", "-q")
    found = [line.split("\t")[:2] for line in ran.lines[1:]]
    assert np.mean([one[1:].lstrip("nr") == two[1:].lstrip("nr") for one, two in found]) > 0.9


def test_options_of_mbfa(cepts, home):
    arguments = ("--method", "mbfa", "--plain-em", "--iterations", 3, "--start", "canonical", "--tolerance", 0)
    ran = cepts("spaces", "fit", "en.npy", "fr.vec", "-d", "train.tsv", *arguments, "--save", "out")
    assert "mbfa, 8 factors after 3 iterations" in ran.err
    assert len(SpaceModel.load("out").space_.objectives) == 3


def test_a_plot_alone_is_enough(cepts, home):
    ran = cepts("spaces", "fit", "en.npy", "fr.vec", "-d", "train.tsv", "--plot", "correlations.png")
    assert ran.code == 0
    assert Path("correlations.png").read_bytes().startswith(b"\x89PNG")
    assert "space    " not in ran.err


def test_lower_case_and_fewer_words(cepts, home):
    view = VIEWS[0]
    write_vectors("upper.npy", type(view).from_words([word.upper() for word in view.words], view.matrix))
    arguments = ("upper.npy", "fr.vec", "-l", "en,fr", "-d", "train.tsv", "--lowercase", "--max-vocabulary", 100)
    ran = cepts("spaces", "fit", *arguments, "--no-vectors", "--save", "out")
    assert "vectors  en 100 words of width 10, fr 100 words of width 8\n" in ran.err
    ran = cepts("spaces", "translate", "out", "en7", "--vectors", "en:upper.npy", "--vectors", "fr:fr.vec")
    assert ran.code == 0
    assert "fr7" in ran.out


def test_notices_of_the_readers_are_told(cepts, home):
    Path("again.tsv").write_text(Path("train.tsv").read_text() + "en0\tfr0\n")
    ran = cepts("spaces", "fit", "en.npy", "fr.vec", "-d", "again.tsv", "--save", "out")
    assert ran.err.startswith("note     again.tsv: 1 entry is repeated")


# -- translate ---------------------------------------------------------------------------------------------------------


def test_translations_are_a_table(cepts, home):
    ran = cepts("spaces", "translate", "space", "en90", "EN91", "--count", 2)
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines[0].split() == ["en", "fr", "csls"]
    assert ran.lines[1].split()[:2] == ["en90", "fr90"]
    assert ran.lines[3].split()[:2] == ["EN91", "fr91"]
    assert len(ran.lines) == 5


def test_the_other_direction_needs_one_name(cepts, home):
    for arguments in (("--from", "fr"), ("--to", "en"), ("--from", "fr", "--to", "en")):
        ran = cepts("spaces", "translate", "space", "fr90", *arguments, "--count", 1)
        assert ran.lines[1].split()[:2] == ["fr90", "en90"]


@pytest.mark.parametrize("measure", names.TRANSLATION_MEASURES)
def test_every_measure_translates(cepts, home, measure):
    ran = cepts("spaces", "translate", "space", "en90", "--measure", measure, "--format", "jsonl", "--count", 3)
    (line,) = map(json.loads, ran.lines)
    assert json.loads(
        cepts("spaces", "translate", "space", "en90", "--measure", measure, "--count", 3, "--json").out
    ) == [line]
    assert line["word"] == "en90"
    assert line["translations"][0]["word"] == "fr90"
    scores = [found["score"] for found in line["translations"]]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("stdin", [False, True])
def test_as_many_lines_as_words(cepts, home, stdin):
    text = b"en3\n\nnowhere\nen4\r\n\xff\n en5 "
    Path("words.txt").write_bytes(text)
    source = "-" if stdin else "words.txt"
    more = {"tsv": (), "jsonl": ("--format", "jsonl")}
    for format_ in ("tsv", "jsonl"):
        ran = cepts("spaces", "translate", "space", "--input", source, *more[format_], "-o", "out", stdin=text)
        assert ran.err.startswith("cepts: en has no vector for nowhere, ")
        assert ran.err.count("\n") == 1
        lines = Path("out").read_bytes().split(b"\n")
        assert len(lines) == 7
        assert lines[6] == b""
        if format_ == "tsv":
            assert [line.split(b"\t")[0] for line in lines[:6]] == [b"en3", b"", b"nowhere", b"en4", b"\xff", b"en5"]
            assert [len(line.split(b"\t")) for line in lines[:6]] == [11, 1, 1, 11, 1, 11]
            assert lines[3].split(b"\t")[1] == b"fr4"
        else:
            found = [json.loads(line.decode("utf-8", "surrogateescape")) for line in lines[:6]]
            assert [len(one["translations"]) for one in found] == [5, 0, 0, 5, 0, 5]
    assert cepts("spaces", "translate", "space", "--input", source, "--format", "tsv", "-q", stdin=text).err == ""


def test_no_more_translations_than_words(cepts, home):
    ran = cepts("spaces", "translate", "space", "en3", "--count", 500, "--format", "jsonl")
    assert len(json.loads(ran.out)["translations"]) == 120


def test_a_dictionary_of_all_words(cepts, home):
    ran = cepts("spaces", "translate", "space", "--all", "-o", "all.tsv.gz")
    assert ran.err == "entries  120 of 120 words\n"
    lines = gzip.decompress(Path("all.tsv.gz").read_bytes()).decode().splitlines()
    assert lines[0] == "# en\tfr\tscore"
    assert len(lines) == 121
    ran = cepts("spaces", "translate", "space", "--all", "--mutual", "--from", "fr", "-o", "mutual.tsv")
    found = read_dictionary("mutual.tsv")
    assert found.languages == ("fr", "en")
    assert 80 < len(found) <= 120
    assert len({target for _, target in found}) == len(found)


# -- score -------------------------------------------------------------------------------------------------------------


def test_scores_of_translation(cepts, home):
    arguments = ("--both", "--measure", "cosine", "--measure", "csls", "--at", "1,3", "--signature")
    ran = cepts("spaces", "score", "translation", "space", "test.tsv", *arguments)
    assert (ran.code, ran.err) == (0, "")
    header, *rows = ran.lines[:5]
    assert header.split("  ")[0] == "direction"
    assert [row.split()[:2] for row in rows] == [
        ["en-fr", "cosine"],
        ["en-fr", "csls"],
        ["fr-en", "cosine"],
        ["fr-en", "csls"],
    ]
    assert all(row.split()[-3:] == ["45", "40", "88.9"] for row in rows)
    assert all(float(row.split()[2]) > 90 for row in rows)
    signature = ran.lines[-1]
    assert signature.startswith("signature  task:word-translation|dictionary:test.tsv|asked:45|covered:40|at:1+3|")
    assert "|direction:en-fr+fr-en|measure:cosine+csls|" in signature
    assert "|space:ibfa|factors:8|" in signature


def test_scores_in_json_are_those_of_the_library(cepts, home):
    from cepts.pipeline.space_scores import score_translations

    want = score_translations(SpaceModel.load("space"), toy_dictionary(numbers=range(80, 125)))
    ran = cepts("spaces", "score", "translation", "space", "test.tsv", "--json", "--intervals", 50)
    (got,) = json.loads(ran.out)
    assert {name: got[name] for name in want.as_dict()} == want.as_dict()
    low, high = got["intervals"]["precision_at_1"]
    assert low <= got["precision_at_1"] <= high
    assert "|bootstrap:50|" in got["signature"]
    ran = cepts("spaces", "score", "translation", "space", "test.tsv", "--intervals", 50)
    assert "95 % interval" in ran.lines[0]


def test_a_test_dictionary_that_names_its_languages_may_have_them_in_any_order(cepts, home):
    write_dictionary("named.tsv", toy_dictionary(("ru", "fr", "en"), range(80, 100)))
    one = cepts("spaces", "score", "translation", "space", "named.tsv", "--json")
    write_dictionary("plain.tsv", toy_dictionary(("en", "fr"), range(80, 100)), header=False)
    two = cepts("spaces", "score", "translation", "space", "plain.tsv", "--json")
    assert json.loads(one.out)[0]["precision_at_1"] == json.loads(two.out)[0]["precision_at_1"] > 90


def test_word_similarity_with_and_without_the_space(cepts, home):
    ran = cepts("spaces", "score", "similarity", "space", "similar.txt", "similar.txt", "--signature")
    assert ran.code == 0
    assert ran.lines[1].split()[0] == "similar.txt"
    assert ran.lines[1].split()[-3:] == ["21", "20", "95.2"]
    assert ran.lines[3].split()[0] == "mean"
    assert "|language:en|" in ran.lines[-1]
    (got, _) = json.loads(cepts("spaces", "score", "similarity", "space", "similar.txt", "similar.txt", "--json").out)
    pairs = [(f"en{n}", f"en{n + 1}") for n in range(0, 40, 2)]
    human = io.read_similarities("similar.txt").scores[:20]
    model = SpaceModel.load("space")
    view = model.vectors("en")
    for name, matrix in (("alone", view.matrix), ("space", model.project(view.matrix, 0))):
        rows = np.array([[view.vocabulary.number(word) for word in pair] for pair in pairs])
        one, two = (matrix[rows[:, side]].astype(float) for side in (0, 1))
        cosines = (one * two).sum(axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(two, axis=1)
        ranks = [np.argsort(np.argsort(values)) for values in (cosines, human)]
        assert got[name] == pytest.approx(100 * np.corrcoef(*ranks)[0, 1])


def letters(words: str) -> str:
    """Words without digits, which the tokeniser takes for two tokens: en12 -> enbc."""
    return re.sub(r"\d", lambda digit: "abcdefghij"[int(digit[0])], words)


def test_sentence_similarity_and_retrieval(cepts, home):
    for view, name in zip(VIEWS, ("en.npy", "fr.npy"), strict=False):
        write_vectors(name, type(view).from_words([letters(word) for word in view.words], view.matrix))
    Path("train.tsv").write_text(letters(Path("train.tsv").read_text()))
    assert cepts("spaces", "fit", "en.npy", "fr.npy", "-d", "train.tsv", "--save", "out").code == 0
    texts = [letters(Path(f"sentences.{language}").read_text()) for language in ("en", "fr")]
    english = texts[0].splitlines()
    Path("counts.txt").write_text("".join(f"{letters(f'en{n}')} {1000 // (n + 1)}\n" for n in range(120)))
    Path("sts.tsv").write_text(
        "".join(f"{n % 5}\t{english[n]}\t{english[n + 1]}.\n" for n in range(20)) + "\tnobody\tjudged\n"
    )
    ran = cepts("spaces", "score", "sts", "out", "sts.tsv", "--counts", "counts.txt", "--signature")
    assert ran.err == "note     sts.tsv: 1 of 21 pairs have no score and are skipped.\n"
    assert ran.lines[1].split()[-3:] == ["20", "20", "100.0"]
    assert "|sentences:sif|counts:counts.txt|" in ran.lines[-1]
    for language, text in zip(("en", "fr"), texts, strict=True):
        Path(f"raw.{language}").write_text(text.upper().replace("\n", "!\n"))
    more = ("--measure", "cosine", "--queries", 50, "--signature")
    ran = cepts("spaces", "score", "retrieval", "out", "raw.en", "raw.fr", *more)
    assert [line.split()[:2] for line in ran.lines[1:3]] == [["en-fr", "cosine"], ["fr-en", "cosine"]]
    for line in ran.lines[1:3]:
        assert float(line.split()[2]) > 90
        assert line.split()[-3:] == ["50", "50", "100.0"]
    assert "|tokens:simple|" in ran.lines[-1]


def test_retrieval_of_tokenised_sentences(cepts, home):
    arguments = ("sentences.en", "sentences.fr", "--tokenized", "--json")
    ran = cepts("spaces", "score", "retrieval", "space", *arguments)
    there, back = json.loads(ran.out)
    assert (there["direction"], back["direction"]) == ("en-fr", "fr-en")
    assert there["asked"] == there["covered"] == 60
    assert min(there["precision_at_1"], back["precision_at_1"]) > 90
    assert "|tokens:given|" in there["signature"]


# -- sample and export -------------------------------------------------------------------------------------------------


def test_samples(cepts, home):
    ran = cepts("spaces", "sample", "space", "--count", 4, "--draws", 30, "--seed", 2)
    assert re.split(r"  +", ran.lines[0]) == ["en", "fr", "fr -> en", "log p"]
    assert len(ran.lines) == 5
    ran = cepts("spaces", "sample", "space", "--count", 4, "--draws", 30, "--seed", 2, "--json")
    found = json.loads(ran.out)
    want = SpaceModel.load("space").sample(4, draws=30, seed=2)
    assert [tuple(one["words"]) for one in found] == [one.words for one in want]
    assert [one["log_density"] for one in found] == pytest.approx([one.log_density for one in want])


@pytest.mark.parametrize("name", ["out.vec", "out.txt.gz", "out.bin", "out.npy"])
def test_exported_vectors_can_be_read_and_compared(cepts, home, name):
    ran = cepts("spaces", "export", "space", "fr", "-o", name, "--max-vocabulary", 50)
    assert (ran.code, ran.err) == (0, "vectors  50 words of fr, width 8\n")
    found = read_vectors(name)
    model = SpaceModel.load("space")
    assert found.words == model.vectors("fr").words[:50]
    np.testing.assert_array_equal(found.matrix, model.project(model.vectors("fr").matrix[:50], "fr"))


def test_export_to_stdout_in_a_format(cepts, home):
    ran = cepts("spaces", "export", "space", "en", "--format", "glove", "-q")
    assert len(ran.lines) == 120
    assert len(ran.lines[0].split()) == 9
    assert ran.err == ""


def test_a_space_without_vectors_takes_them_from_files(cepts, home):
    assert cepts("spaces", "fit", "en.npy", "fr.vec", "-d", "train.tsv", "--no-vectors", "--save", "bare").code == 0
    assert SpaceModel.load("bare").views_ == (None, None)
    given = ("--vectors", "en:en.npy", "--vectors", "fr:fr.vec")
    for arguments in (
        ("translate", "{}", "en90"),
        ("score", "translation", "{}", "test.tsv"),
        ("sample", "{}", "--draws", 40),
        ("export", "{}", "en"),
    ):
        whole = cepts("spaces", *(str(part).format("space") for part in arguments))
        bare = cepts("spaces", *(str(part).format("bare") for part in arguments), *given)
        assert whole.out == bare.out
    assert cepts("spaces", "export", "bare", "en", "--vectors", "en:en.npy").code == 0


# -- the frame ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", [command, score_group.command])
def test_the_table_of_helps_is_that_of_the_commands(group):
    context = click.Context(group)
    for name, (_, help_line) in group.table.items():
        found = group.get_command(context, name)
        assert (found.name, found.get_short_help_str(limit=200)) == (name, help_line)
        assert [option.name for option in found.params if isinstance(option, click.Option) and not option.help] == []


def test_groups_without_a_command_show_their_commands(cepts):
    for arguments, name in ((("spaces",), "translate"), (("spaces", "score"), "retrieval")):
        ran = cepts(*arguments)
        assert ran.code == 0
        assert f"  {name}" in ran.out
    assert cepts("spaces", "nothing").error == "There is no command 'nothing'. See 'cepts spaces --help'."


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from cepts.cli import main; main(['spaces', 'fit', '--help']); "
        "print([name for name in ('numpy', 'numba', 'rich', 'scipy') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "[]"
    assert "\\b" not in done.stdout
