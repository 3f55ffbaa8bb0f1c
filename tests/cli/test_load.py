"""`cepts align --load`: whatever scores sentence pairs, alone or in a mixture."""

from __future__ import annotations

import numpy as np
import pytest

from cepts.extract import MatrixScorer, ScorerMixture
from cepts.io import read_association, read_bitext
from cepts.phrases.aligner import PhraseAligner
from cepts.spaces import IBFA
from cepts.words import load_aligner
from toy_spaces import toy_dictionary, toy_views

QUICK = ("--iterations", 1, "--start-iterations", 1)


@pytest.fixture(scope="module")
def second(tmp_path_factory, sentences):
    """Another model of the same pairs, with its matrices (`m.jsonl`) and links (`links`) beside it."""
    from cepts.cli import main

    home = tmp_path_factory.mktemp("second")
    for name, lines in zip(("en", "fr"), sentences, strict=True):
        (home / name).write_text("\n".join(lines) + "\n", "utf-8")
    where = {name: str(home / name) for name in ("en", "fr", "m.jsonl", "links", "model")}
    files = ["--save", where["model"], "--matrices", where["m.jsonl"], "-o", where["links"]]
    assert main(["align", where["en"], where["fr"], "--model", "ibm1", "-q", *files]) == 0
    return home / "model"


def lines_of(alignments):
    return [" ".join(f"{i}-{j}" for i, j in one.links) for one in alignments]


def test_a_mixture_of_two_models(cepts, corpus, trained, second):
    load = ("--load", trained, "--load", second)
    bitext = read_bitext("en", "fr")
    members = [load_aligner(place, threads=1) for place in (trained, second)]
    for weights, options in (([2, 1], ("--weight", 2, "--weight", 1)), ([1, 1], ())):
        mixture = ScorerMixture(members, weights)
        ran = cepts("align", "en", "fr", *load, *options, "--scores", "scores")
        assert (ran.code, ran.lines) == (0, lines_of(mixture.align(bitext)))
        np.testing.assert_allclose(np.loadtxt("scores"), mixture.score(bitext), atol=1e-6)
    alone = cepts("align", "en", "fr", "--load", trained).lines
    assert ran.lines != alone
    one, two = (cepts("align", "en", "fr", *load, "--threads", threads, "--format", "scored").out for threads in (1, 2))
    assert one == two


def test_matrices_as_a_model(cepts, corpus, second):
    """The matrices of a model are its agreement, and so give its links."""
    matrices = second.parent / "m.jsonl"
    ran = cepts("align", "en", "fr", "--load", matrices)
    assert ran.out == (second.parent / "links").read_text()
    mixed = cepts("align", "en", "fr", "--load", matrices, "--load", second, "--combine", "union")
    scorer = MatrixScorer(read_association(matrices, allow_empty=True).association)
    wanted = ScorerMixture([scorer, load_aligner(second)]).align(read_bitext("en", "fr"), combine="union")
    assert mixed.lines == lines_of(wanted)


def test_a_phrase_model(cepts, corpus):
    for name, line in (("en", "Shops are closed up for now"), ("fr", "Shops are temporarily closed down")):
        (corpus / name).write_text(line + "\n")
    ran = cepts("align", "en", "fr", "--load", "token")
    assert ran.lines == lines_of(PhraseAligner.load("token").align(read_bitext("en", "fr")))
    assert {"0-0", "1-1"} <= set(ran.lines[0].split())


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    """The directory of a space of toy languages."""
    home = tmp_path_factory.mktemp("space")
    IBFA(exponent=1.0, shrinkage=0.01).fit(toy_views(), toy_dictionary()).save(home / "space")
    return home / "space"


def test_a_space_alone_and_in_a_mixture(cepts, corpus, trained, space):
    (corpus / "a").write_text("en1 en7 en20 .\n\nzork en30\n")
    (corpus / "b").write_text("fr7 fr1 fr20 .\nfr4\nZork fr30\n")
    links = ["0-1 1-0 2-2 3-3", "", "0-0 1-1"]
    assert cepts("align", "a", "b", "--load", space).lines == links
    turned = cepts("align", "b", "a", "--load", space, "--from", "fr", "--to", "en")
    assert turned.lines == links
    short = cepts("align", "a", "b", "--load", space, "--max-length", 3)
    assert short.lines == ["", "", "0-0 1-1"]
    assert "skipped  1 pair" in short.err
    # A model that knows none of the words says little beside it.
    mixed = cepts("align", "a", "b", "--load", trained, "--load", space, "--weight", 1, "--weight", 99)
    assert mixed.lines == links
    refused = cepts("align", "a", "b", "--load", trained, "--load", space, "--scores", "scores")
    assert "a mixture gives no scores of whole pairs" in refused.error


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (
            ("--load", "{model}", "--weight", 1, "--weight", 2),
            2,
            "--weight must be given once for each --load, 1 times. Got 2",
        ),
        (
            ("--load", "{model}", "--load", "{model}", "--weight", 1),
            2,
            "--weight must be given once for each --load, 2 times. Got 1",
        ),
        (("--weight", 1), 2, "--weight must be given once for each --load, 0 times. Got 1"),
        (("--load", "{model}", "--weight", 0), 2, "Invalid value for '--weight'"),
        (("--load", "{model}", "--weight", "nan"), 2, "--weight"),
        (
            ("--load", "{model}", "--load", "{model}", "--nbest", 3),
            2,
            "--nbest lists alignments of a single word model; load one word model",
        ),
        (("--load", "{matrices}", "--nbest", 3), 2, "--nbest lists alignments of a single word model"),
        (("--load", "{matrices}", "--scores", "s"), 2, "a matrix gives no scores of whole pairs; leave out --scores"),
        (("--load", "{matrices}", "--combine", "onmf", "--association", "nbest"), 2, "a matrix gives no lists"),
        (("--load", "{matrices}", "--combine", "onmf", "--association", "tables"), 2, "a matrix has no lexicon"),
        (("--load", "{matrices}", "--combine", "onmf", "--association", "llr"), 2, "a matrix has no co-occurrence"),
        (("--load", "{state}"), 1, "which is not a model that can be used on its own"),
        (("--load", "{model}", "--load", "nowhere"), 1, "nowhere does not exist"),
    ],
)
def test_what_cannot_be_loaded_together(cepts, corpus, trained, second, options, code, message):
    if "{state}" in str(options):
        assert cepts("align", "en", "fr", *QUICK, "--checkpoint", "state", "-o", "links").code == 0
        (corpus / "links").unlink()
    places = {"model": trained, "matrices": second.parent / "m.jsonl", "state": corpus / "state"}
    ran = cepts("align", "en", "fr", *(str(option).format(**places) for option in options))
    assert message in ran.error
    assert ran.code == code
    assert {path.name for path in corpus.iterdir()} <= {"en", "fr", "state"}


def test_matrices_of_other_sentences(cepts, corpus, second):
    (corpus / "short").write_text("one line\n")
    ran = cepts("align", "short", "short", "--load", second.parent / "m.jsonl")
    assert ran.error.startswith("there are 120 matrices but 1 sentence pairs")


def test_notices_are_said_on_stderr_unless_quiet(cepts, corpus, trained):
    for name, text in (("new.en", "Hello, dear world!\n"), ("new.fr", "abc def ghi .\n")):
        (corpus / name).write_text(text)
    ran = cepts("align", "new.en", "new.fr", "--load", trained)
    notes = [line for line in ran.err.splitlines() if line.startswith("note     ")]
    assert [note.split(":")[0] for note in notes] == ["note     new.en", "note     new.en", "note     new.fr"]
    assert "100% of the punctuation" in notes[0]
    assert "the model does not know" in notes[1]
    assert cepts("align", "new.en", "new.fr", "--load", trained, "-q").err == ""
