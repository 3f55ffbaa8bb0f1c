"""Bad input of `cepts spaces` gets one clear line, and nothing is half-written."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from cepts.cli import main
from cepts.data import Dictionary, Vectors
from cepts.io import write_dictionary, write_vectors
from cepts.spaces import SpaceModel
from cepts.store import save_model
from toy_spaces import toy_dictionary, toy_views

VIEWS = toy_views()


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A working directory with the vectors `en.npy` and `fr.npy` and a dictionary."""
    monkeypatch.chdir(tmp_path)
    for view in VIEWS:
        write_vectors(f"{view.name}.npy", view)
    write_dictionary("train.tsv", toy_dictionary(), header=False)
    return tmp_path


@pytest.fixture
def space(home):
    """The space `space` of these, and `direct`, which has no model."""
    for name, method in (("space", "ibfa"), ("direct", "procrustes")):
        arguments = ("-d", "train.tsv", "--method", method, "--save", name, "-q")
        assert main(["spaces", "fit", "en.npy", "fr.npy", *arguments]) == 0
    return home


@pytest.fixture
def unfitted(monkeypatch):
    """Fail where fitting starts."""

    def fit(*arguments, **options):
        raise AssertionError("fitting has started")

    monkeypatch.setattr(SpaceModel, "fit", fit)


def contents(home):
    return sorted(path.relative_to(home).as_posix() for path in home.rglob("*"))


def fails(cepts, code, line, *arguments, stdin=b""):
    """The command fails with this code and a line in which this stands, and leaves no file behind."""
    before = contents(Path())
    ran = cepts("spaces", *arguments, stdin=stdin)
    assert line in ran.error
    assert ran.code == code
    assert contents(Path()) == before


FIT = ("fit", "en.npy", "fr.npy", "-d", "train.tsv", "--save", "out")


# -- vectors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("2 3\na 1 2 3\nb 1 2\n", "odd.vec, line 3: "),
        ("2 3\na 1 2 3\nb 1 nan 2\n", "odd.vec, line 3: "),
        ("2 3\na 1 2 3\nb 1 x 2\n", "odd.vec, line 3: "),
        ("3 3\na 1 2 3\nb 1 3 2\n", "odd.vec"),
        ("", "odd.vec is empty"),
    ],
)
def test_vectors_of_other_width_or_that_are_no_numbers(cepts, home, unfitted, text, line):
    Path("odd.vec").write_text(text)
    fails(cepts, 1, line, "fit", "en.npy", "odd.vec", "-d", "train.tsv", "--save", "out")


def test_files_that_are_not_there(cepts, home, unfitted):
    fails(cepts, 1, "cannot read no.vec", "fit", "en.npy", "no.vec", "-d", "train.tsv", "--save", "out")
    fails(cepts, 1, "cannot read no.tsv", "fit", "en.npy", "fr.npy", "-d", "no.tsv", "--save", "out")
    fails(cepts, 1, "no does not exist", "translate", "no", "word")


def test_vectors_of_zeros_are_told_and_do_no_harm(cepts, home):
    matrix = VIEWS[1].matrix.copy()
    matrix[[3, 110]] = 0
    write_vectors("zeros.npy", Vectors(VIEWS[1].vocabulary, matrix))
    ran = cepts("spaces", "fit", "en.npy", "zeros.npy", "-d", "train.tsv", "--save", "out")
    assert ran.code == 0
    assert ran.err.startswith("note     ")
    assert "zero" in ran.err.splitlines()[0]
    assert "fr90" in cepts("spaces", "translate", "out", "en90").out


def test_all_vectors_are_zeros(cepts, home):
    write_vectors("zeros.npy", Vectors(VIEWS[1].vocabulary, np.zeros((120, 8), dtype=np.float32)))
    line = "zeros: found the same vector for all words with an entry"
    fails(cepts, 1, line, "fit", "en.npy", "zeros.npy", "-d", "train.tsv", "--save", "out")


def test_the_same_file_twice(cepts, home, unfitted):
    fails(cepts, 2, "en.npy is given twice", "fit", "en.npy", "./en.npy", "-d", "train.tsv", "--save", "out")
    fails(cepts, 2, "- is given twice", "fit", "-", "-", "-d", "train.tsv", "--save", "out")
    fails(cepts, 2, "found 1 vector file", "fit", "en.npy", "-d", "train.tsv", "--save", "out")
    fails(cepts, 2, "only one input", "fit", "en.npy", "-", "-d", "-", "--save", "out")


# -- dictionaries ------------------------------------------------------------------------------------------------------


def test_unknown_words_are_counted(cepts, home):
    write_dictionary("some.tsv", toy_dictionary(numbers=range(60, 160)), header=False)
    ran = cepts("spaces", "fit", "en.npy", "fr.npy", "-d", "some.tsv", "--save", "out")
    assert ran.code == 0
    assert "entries  60 distinct; found 60 of 100 (60.0%)\n" in ran.err


def test_dictionaries_that_join_nothing(cepts, home):
    write_dictionary("other.tsv", toy_dictionary(numbers=range(500, 520)), header=False)
    line = "other.tsv: found no entry among 20 with words in two of the views (en 120 words, fr 120 words)"
    fails(cepts, 1, line, "fit", "en.npy", "fr.npy", "-d", "other.tsv", "--save", "out")
    fails(cepts, 1, "identical strings: found no entry", "fit", "en.npy", "fr.npy", "--identical", "--save", "out")
    write_dictionary("reversed.tsv", toy_dictionary(("fr", "en")), header=False)
    fails(cepts, 1, "check the order of the languages", "fit", "en.npy", "fr.npy", "-d", "reversed.tsv", "--save", "o")


def test_one_entry(cepts, home):
    write_dictionary("one.tsv", toy_dictionary(numbers=[3]), header=False)
    fails(cepts, 1, "found 1 entry among 1", "fit", "en.npy", "fr.npy", "-d", "one.tsv", "--save", "out")


def test_entries_without_any_word(cepts, home, unfitted):
    write_vectors("ru.npy", toy_views(widths=(10, 8, 9))[2])
    Path("empty.tsv").write_text("# en\tfr\tru\nen1\tfr1\tru1\n\t\t\n")
    files = ("en.npy", "fr.npy", "ru.npy")
    line = "empty.tsv, line 3: found no word, wanted at least one"
    fails(cepts, 1, line, "fit", *files, "-d", "empty.tsv", "--save", "out")


def test_a_language_that_no_entry_has(cepts, home):
    write_vectors("ru.npy", toy_views(widths=(10, 8, 9))[2])
    files = ("en.npy", "fr.npy", "ru.npy")
    fails(cepts, 1, "found no entry with a word of ru", "fit", *files, "-d", "en-fr:train.tsv", "--save", "out")


def test_other_numbers_of_columns(cepts, home, unfitted):
    write_dictionary("three.tsv", toy_dictionary(("en", "fr", "ru")), header=False)
    line = (
        "three.tsv: found 3 columns (language 1, language 2, language 3), wanted one for each of the languages en, fr"
    )
    fails(cepts, 1, line, "fit", "en.npy", "fr.npy", "-d", "three.tsv", "--save", "out")
    fails(
        cepts, 1, "three.tsv, line 1: found 3 words", "fit", "en.npy", "fr.npy", "-d", "en-fr:three.tsv", "--save", "o"
    )
    write_vectors("ru.npy", toy_views(widths=(10, 8, 9))[2])
    line = "train.tsv: found 2 columns (source, target), wanted one for each of the languages en, fr, ru; name the lang"
    fails(cepts, 1, line, "fit", "en.npy", "fr.npy", "ru.npy", "-d", "train.tsv", "--save", "out")
    Path("ragged.tsv").write_text("en1\tfr1\nen2\n")
    fails(cepts, 1, "ragged.tsv, line 2: ", "fit", "en.npy", "fr.npy", "-d", "ragged.tsv", "--save", "out")


def test_languages_that_are_not_there(cepts, space):
    fails(cepts, 2, "found 'en-de' before the colon", "fit", "en.npy", "fr.npy", "-d", "en-de:train.tsv", "--save", "o")
    fails(cepts, 2, "found one language", "fit", "en.npy", "fr.npy", "-d", "en:train.tsv", "--save", "o")
    fails(cepts, 2, "the language must be one of en, fr. Got 'de'", "translate", "space", "en1", "--to", "de")
    fails(cepts, 2, "--from and --to are both en", "translate", "space", "en1", "--from", "en", "--to", "en")
    fails(cepts, 2, "the language must be one of en, fr. Got 'de'", "export", "space", "de", "-o", "de.vec")
    line = "the language must be one of en, fr. Got 'de'"
    fails(cepts, 2, line, "score", "translation", "space", "train.tsv", "--from", "de")
    fails(cepts, 2, "found 'de' before the colon", "translate", "space", "en1", "--vectors", "de:en.npy")
    fails(cepts, 2, "wanted LANGUAGE:FILE", "translate", "space", "en1", "--vectors", "en.npy")


# -- options -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        (
            "give a dictionary (--dictionary), or use words that are spelt the same (--identical)",
            ("fit", "en.npy", "fr.npy", "--save", "out"),
        ),
        ("save it with --save DIR", ("fit", "en.npy", "fr.npy", "-d", "train.tsv")),
        ("--pivot goes with --method procrustes or least-squares or ridge, not with ibfa", (*FIT, "--pivot", "en")),
        ("--pivot must be one of en, fr. Got 'de'", (*FIT, "--method", "ridge", "--pivot", "de")),
        ("--factors goes with", (*FIT, "--method", "procrustes", "--factors", 3)),
        ("--exponent goes with", (*FIT, "--method", "ridge", "--exponent", "auto")),
        (
            "--shrinkage auto goes with --method ibfa or mbfa, not with cca",
            (*FIT, "--method", "cca", "--shrinkage", "auto"),
        ),
        ("--plain-em goes with --method mbfa, not with ibfa", (*FIT, "--plain-em")),
        ("--iterations goes with --method mbfa", (*FIT, "--iterations", 3)),
        ("--plot goes with", (*FIT, "--method", "least-squares", "--plot", "a.svg")),
        ("--induce-keep goes with --induce", (*FIT, "--induce-keep", 0.5)),
        ("must be auto or a number of 0 or more", (*FIT, "--exponent", "nan")),
        ("must be auto or a number of 0 or more", (*FIT, "--shrinkage", -1)),
        ("must be unit and centre", (*FIT, "--prepare", "unit,center")),
        ("--languages: found 1 names in 'en'", (*FIT, "-l", "en")),
        ("must end in .svg, .pdf or .png", (*FIT, "--plot", "a.gif")),
        ("Invalid value for '--induce-keep'", (*FIT, "--induce", 2, "--induce-keep", 0)),
        ("Invalid value for '--factors'", (*FIT, "--factors", 0)),
    ],
)
def test_options_that_do_not_go_together(cepts, home, unfitted, line, arguments):
    fails(cepts, 2, line, *arguments)


def test_more_factors_than_dimensions(cepts, home):
    fails(cepts, 2, "--factors must be 1 to 8, the width of the narrowest vectors. Got 9", *FIT, "--factors", 9)


def test_two_languages_only(cepts, home):
    write_vectors("ru.npy", toy_views(widths=(10, 8, 9))[2])
    write_dictionary("three.tsv", toy_dictionary(("en", "fr", "ru")))
    arguments = ("-d", "three.tsv", "--method", "ibfa", "--save", "out")
    fails(cepts, 2, "ibfa can join two languages only, found 3", "fit", "en.npy", "fr.npy", "ru.npy", *arguments)


def test_places_that_cannot_be_written_show_before_the_work(cepts, home, unfitted):
    Path("mine").mkdir()
    Path("mine", "thesis.txt").write_text("years of work")
    fails(cepts, 1, "mine exists and is not a cepts model", *FIT[:-1], "mine")
    fails(cepts, 1, "cannot write no/such/place.svg", *FIT, "--plot", "no/such/place.svg")
    Path("file").write_text("")
    fails(cepts, 1, "file: no model can be saved there", *FIT[:-1], "file")
    assert Path("mine", "thesis.txt").read_text() == "years of work"


# -- saved spaces ------------------------------------------------------------------------------------------------------


EVERY_COMMAND = (
    ("translate", "{}", "en1"),
    ("score", "translation", "{}", "train.tsv"),
    ("sample", "{}"),
    ("export", "{}", "en", "-o", "out.vec"),
)


@pytest.mark.parametrize("arguments", EVERY_COMMAND)
def test_what_is_no_space(cepts, space, arguments):
    def at(directory):
        return [part.format(directory) for part in arguments]

    save_model("words", kind="words", settings={}, arrays={"x": np.zeros(1)})
    fails(cepts, 1, "words holds a model of kind words, not space", *at("words"))
    fails(cepts, 1, "en.npy is not a directory", *at("en.npy"))
    Path("empty").mkdir()
    fails(cepts, 1, "model.json is missing", *at("empty"))
    path = Path("space", "arrays.safetensors")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    fails(cepts, 1, "arrays.safetensors is damaged", *at("space"))
    Path("space", "model.json").write_text("{}")
    fails(cepts, 1, "model.json is damaged", *at("space"))


@pytest.mark.parametrize("arguments", EVERY_COMMAND)
def test_a_space_without_vectors(cepts, home, arguments):
    assert cepts("spaces", *FIT, "--no-vectors").code == 0
    line = "the space was saved without vectors, but those of en are needed; give them (--vectors)"
    fails(cepts, 2, line, *(part.format("out") for part in arguments))
    write_vectors("narrow.npy", Vectors.from_words(["en1", "x"], np.eye(2, 3, dtype=np.float32)))
    line = "found vectors of width 3 for en, wanted width 10 as when the space was fitted"
    fails(cepts, 2, line, *(part.format("out") for part in arguments), "--vectors", "en:narrow.npy")


# -- translate, score, sample, export ----------------------------------------------------------------------------------


def test_nothing_to_translate(cepts, space):
    fails(cepts, 2, "found nothing to translate, wanted one of WORDS, --input FILE and --all", "translate", "space")
    fails(cepts, 2, "found WORDS and --all to translate", "translate", "space", "en1", "--all")
    fails(cepts, 1, "standard input: found no word", "translate", "space", "--input", "-")
    fails(cepts, 1, "standard input: found no word", "translate", "space", "--input", "-", stdin=b"\n \n")
    fails(cepts, 1, "en has no vector for nowhere, maison among its 120", "translate", "space", "nowhere", "maison")


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("--mutual goes with --all", ("en1", "--mutual")),
        ("--count does not go with --all", ("--all", "--count", 3)),
        ("--format does not go with --all", ("--all", "--format", "jsonl")),
        ("--json does not go with --all", ("--all", "--json")),
        ("--json prints to stdout", ("en1", "--json", "-o", "out.txt")),
        ("--json prints to stdout", ("en1", "--json", "--format", "tsv")),
        ("Invalid value for '--measure'", ("en1", "--measure", "dot")),
    ],
)
def test_options_of_translate_that_do_not_go_together(cepts, space, line, arguments):
    fails(cepts, 2, line, "translate", "space", *arguments)


def test_the_likelihood_of_what_is_no_model(cepts, space):
    line = "procrustes has no likelihood; fit the space by ibfa or mbfa, or choose another --measure"
    fails(cepts, 2, line, "translate", "direct", "en1", "--measure", "likelihood")
    fails(cepts, 2, line, "score", "translation", "direct", "train.tsv", "--measure", "likelihood")
    fails(cepts, 2, "procrustes has no factor model to draw from", "sample", "direct")
    fails(
        cepts,
        2,
        "--count must be 1 to 20, the number of --draws. Got 30",
        "sample",
        "space",
        "--count",
        30,
        "--draws",
        20,
    )


def test_test_dictionaries(cepts, space):
    Path("other.tsv").write_text("chat\tcat\nchien\tdog\n")
    line = "other.tsv: none of the 2 source words is in the vocabularies together with a translation"
    fails(cepts, 1, line, "score", "translation", "space", "other.tsv")
    Path("named.tsv").write_text("# de\tit\nHund\tcane\n")
    fails(cepts, 1, "found the languages de, it, wanted en", "score", "translation", "space", "named.tsv")
    Path("empty.tsv").write_text("")
    fails(cepts, 1, "empty.tsv is empty", "score", "translation", "space", "empty.tsv")
    for wrong in ("0", "1,x", "1,1", ""):
        fails(cepts, 2, "must be numbers from 1", "score", "translation", "space", "train.tsv", "--at", wrong)


def test_judgements_and_sentences(cepts, space):
    Path("words.txt").write_text("en1 en2 3\nen1 en2\n")
    fails(cepts, 1, "words.txt, line 2: ", "score", "similarity", "space", "words.txt")
    Path("strange.txt").write_text("chat chien 3\nloup chien 4\n")
    fails(cepts, 1, "strange.txt: 0 of 2 pairs have vectors", "score", "similarity", "space", "strange.txt")
    Path("sts.tsv").write_text("3\tone sentence\n")
    Path("counts").write_text("a 3\n")
    fails(cepts, 1, "sts.tsv, line 1: found 2 columns", "score", "sts", "space", "sts.tsv", "--counts", "counts")
    fails(cepts, 2, "Missing option '--counts'", "score", "sts", "space", "sts.tsv")
    for name, lines in (("a.en", 12), ("a.fr", 11), ("b.en", 3)):
        Path(name).write_text("en1 en2\n" * lines)
    fails(cepts, 1, "a.en has 12 lines but a.fr has 11", "score", "retrieval", "space", "a.en", "a.fr")
    fails(cepts, 1, "found 3 sentence pairs, wanted at least 10", "score", "retrieval", "space", "b.en", "b.en")
    fails(cepts, 2, "only one input", "score", "retrieval", "space", "-", "-")


def test_exports_that_cannot_be_written(cepts, space):
    fails(cepts, 1, "cannot write no/en.vec", "export", "space", "en", "-o", "no/en.vec")
    fails(cepts, 2, "must end in .npy", "export", "space", "en", "-o", "en.vec", "--format", "npy")
    words = ["a b", "c"]
    write_vectors("blank.npy", Vectors.from_words(words, VIEWS[0].matrix[:2]))
    write_vectors("other.npy", Vectors.from_words(["d", "e"], VIEWS[1].matrix[:2]))
    write_dictionary("two.tsv", Dictionary(("blank", "other"), (("a b", "d"), ("c", "e"))))
    assert cepts("spaces", "fit", "blank.npy", "other.npy", "-d", "two.tsv", "--save", "two").code == 0
    fails(cepts, 1, "'a b', could not be read back", "export", "two", "blank", "-o", "blank.vec")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_a_full_disk(cepts, space):
    ran = cepts("spaces", "export", "space", "en", "-o", "/dev/full", "-q")
    assert ran.code == 1
    assert ran.err.count("\n") == 1
