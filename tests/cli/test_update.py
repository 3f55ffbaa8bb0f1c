"""`cepts align --update`, `cepts align --priors` and `cepts merge`."""

from __future__ import annotations

import pytest


@pytest.fixture
def halves(corpus, sentences):
    """The pairs of the corpus in two halves, and a model of the first one."""
    for name, lines in zip(("en", "fr"), sentences, strict=True):
        for half, part in (("a", lines[:60]), ("b", lines[60:])):
            (corpus / f"{half}.{name}").write_text("\n".join(part) + "\n", "utf-8")
    return corpus


@pytest.fixture
def model(cepts, halves):
    assert cepts("align", "a.en", "a.fr", "--save", "model", "-o", "a.links", "-q").code == 0
    return "model"


def test_a_model_goes_on_with_new_text(cepts, model, halves):
    ran = cepts("align", "b.en", "b.fr", "--load", model, "--update", "--save", "newer", "-o", "b.links")
    assert ran.code == 0
    assert "model    newer" in ran.err
    links = (halves / "b.links").read_text()
    assert cepts("align", "b.en", "b.fr", "--load", "newer", "-q").out == links
    assert cepts("align", "b.en", "b.fr", "--load", model, "-q").out != links
    again = cepts("align", "a.en", "a.fr", "--load", "newer", "--update", "--save", "newest", "--iterations", 2, "-q")
    assert again.code == 0
    assert len(again.lines) == 60
    assert cepts("lexicon", "newest", "--top", 1).code == 0


def test_jobs_and_checkpoints_give_the_same_model(cepts, model, halves):
    plain = ("align", "b.en", "b.fr", "--load", model, "--update", "--weight", 2, "-q", "-o", "links")
    assert cepts(*plain, "--save", "one").code == 0
    assert cepts(*plain, "--save", "two", "--checkpoint", "state").code == 0
    assert cepts("shard", "b.en", "b.fr", "job", "--load", model, "--update", "--weight", 2, "-q").code == 0
    assert cepts("train", "job", "--shard", "1/1", "-q").code == 0
    said = cepts("reduce", "job").err
    assert "training prior" in said
    assert cepts("reduce", "job", "-q").code == 0
    assert cepts("train", "job", "--save", "three", "-q").code == 0
    arrays = [(halves / name / "arrays.safetensors").read_bytes() for name in ("one", "two", "three")]
    assert arrays[0] == arrays[1] == arrays[2]
    # The same command goes on from its checkpoint; another model is not what it began with.
    assert "resumed  training hmm" in cepts(*plain[:-3], "--checkpoint", "state", "-o", "links").err
    assert "other models or priors" in cepts("align", "b.en", "b.fr", "--checkpoint", "state", "-o", "x", "-q").error


def test_models_are_merged(cepts, model, halves):
    assert cepts("align", "b.en", "b.fr", "--save", "other", "-q", "-o", "b.links").code == 0
    ran = cepts("merge", model, "other", "--save", "merged")
    assert ran.code == 0
    assert ran.out == ""
    assert ran.err.startswith("merged   2 models, ")
    assert cepts("align", "a.en", "a.fr", "--load", "merged", "-q").code == 0
    counts = {}
    for name in (model, "other", "merged"):
        rows = (line.split("\t") for line in cepts("lexicon", name, "--top", 99, "--least", 0).lines)
        counts[name] = {(row[0], row[1]): float(row[4]) for row in rows}
    assert set(counts["merged"]) == {*counts[model], *counts["other"]}
    # Prior counts of words that are spelt alike are not added twice.
    for pair, count in counts["merged"].items():
        assert count == pytest.approx(counts[model].get(pair, 0.0) + counts["other"].get(pair, 0.0), abs=0.12)
    weighted = cepts("merge", model, "other", "--weight", 1, "--weight", 0.5, "--save", "weighted", "-q")
    assert (weighted.code, weighted.err) == (0, "")


def test_what_cannot_be_merged_is_said_in_one_line(cepts, model, halves):
    assert cepts("align", "b.en", "b.fr", "--save", "ibm1", "--model", "ibm1", "-q", "-o", "x").code == 0
    assert cepts("align", "b.en", "b.fr", "--save", "whole", "--no-lowercase", "-q", "-o", "x").code == 0
    said = cepts("merge", model, "ibm1", "--save", "merged").error
    assert said.startswith("model and ibm1: one model is mixed and another one is ibm1")
    assert "lowercase is True in one model and False in another" in cepts(
        "merge", model, "whole", "--save", "m"
    ).error.replace("--", "").replace("`", "")
    assert "two or more" in cepts("merge", model, "--save", "merged").error
    assert "2 times" in cepts("merge", model, model, "--weight", 1, "--save", "merged").error
    assert "does not exist" in cepts("merge", model, "nothing", "--save", "merged").error
    assert not (halves / "merged").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--update"], "--load"),
        (["--load", "model", "--update", "--model", "ibm1"], "--model: a model that is updated keeps its options"),
        (["--load", "model", "--update", "--lexicon", "ml"], "--lexicon"),
        (["--load", "model", "--update", "--weight", "1", "--weight", "2"], "once for each --load"),
        (["--load", "model", "--save", "x"], "train it further with --update"),
        (["--load", "model", "--priors", "p"], "--priors: --load uses a model that is already trained"),
        (["--priors", "nothing"], "cannot read nothing: there is no such file"),
        (["--priors", "-"], "--priors is read twice"),
    ],
)
def test_options_that_do_not_go_together(cepts, model, options, said):
    assert said in cepts("align", "b.en", "b.fr", *options).error


def test_other_models_cannot_be_updated(cepts, halves):
    (halves / "bad").mkdir()
    assert "bad" in cepts("align", "b.en", "b.fr", "--load", "bad", "--update").error


def test_priors_come_out_and_go_in(cepts, model, halves):
    assert cepts("lexicon", model, "--format", "priors", "-o", "m.priors").code == 0
    lines = (halves / "m.priors").read_text("utf-8").splitlines()
    assert {line.split("\t")[0] for line in lines} == {"LEX", "HMMF", "HMMR", "FERF", "FERR"}
    assert cepts("lexicon", model, "--least", 0, "--top", 99, "-o", "table.tsv").code == 0
    to_priors = ("convert", "a.links", "--to", "priors", "--source", "a.en", "--target", "a.fr")
    assert cepts(*to_priors, "-o", "l.priors.gz").code == 0
    plain = cepts("align", "b.en", "b.fr", "-q").out
    for name in ("m.priors", "table.tsv", "l.priors.gz"):
        found = cepts("align", "b.en", "b.fr", "--priors", name, "-q")
        assert found.code == 0
        assert found.out != plain
    assert cepts("align", "b.en", "b.fr", "--priors", "m.priors", "--model", "ibm4", "-q").code == 0
    both = cepts("align", "b.en", "b.fr", "--load", model, "--update", "--priors", "m.priors", "-q")
    assert both.code == 0
    assert (
        "--word does not go with --format priors"
        in cepts("lexicon", model, "--format", "priors", "--word", "the").error
    )
    assert "--source" in cepts("convert", "a.links", "--to", "priors").error


def test_priors_of_other_languages_are_noted(cepts, halves):
    (halves / "p").write_text("LEX\tqux\tquux\t3\n")
    ran = cepts("align", "b.en", "b.fr", "--priors", "p", "-o", "links")
    assert ran.code == 0
    assert "none of the 1 pairs of words in the priors has words of b.en and b.fr" in ran.err
    (halves / "p").write_text("LEX\tthe\tle\tx\n")
    ran = cepts("align", "b.en", "b.fr", "--priors", "p", "-o", "links", "-q")
    assert ran.error.startswith("p, line 1: found 'x' as a count")
