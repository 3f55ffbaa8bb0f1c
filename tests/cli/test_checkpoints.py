"""`--checkpoint` of commands that count or align in shards: resumed, on a cluster's terms, and by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import cepts.lm.cells as cells_module
import cepts.lm.ngram_counts as ngrams_module
import cepts.lm.shelved as shelved_module
import cepts.pipeline.phrase_jobs as phrases_module
import cepts.spaces.moments as moments_module
from cepts.phrases import TokenAligner
from toy_paraphrases import toy_pairs

LM = ("lm", "fit", "text", "--hidden", 3, "--iterations", 3, "--cache", "none")
SPACE = ("spaces", "fit", "en.vec", "fr.vec", "-d", "dictionary", "--factors", 3, "--method", "mbfa", "--iterations", 3)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(shelved_module, "SHARD_WORDS", 300)
    monkeypatch.setattr(ngrams_module, "RANGE_WORDS", 500)
    monkeypatch.setattr(cells_module, "RANGE_CELLS", 5_000)
    monkeypatch.setattr(phrases_module, "SHARD_PAIRS", 10)
    monkeypatch.setattr(moments_module, "SHARD_ENTRIES", 7)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Texts, vectors, and sentence pairs with a model for them."""
    from cepts.cli.warm_up import write_files
    from cepts.io import write_sentence_pairs

    made = tmp_path_factory.mktemp("home")
    write_files(made)
    write_sentence_pairs(made / "pairs.jsonl", toy_pairs(30))
    judged = [replace(pair, label=float(number % 3 > 0)) for number, pair in enumerate(toy_pairs(30))]
    write_sentence_pairs(made / "judged.jsonl", judged)
    TokenAligner(language=None, iterations=10).fit(toy_pairs(30)).save(made / "model")
    return made


@pytest.fixture
def here(home, monkeypatch, tmp_path):
    import shutil

    shutil.copytree(home, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


PHRASES = ("phrases", "align", "pairs.jsonl", "--model", "model")
# Some pairs are too long to be judged.
APPLY = ("phrases", "apply", "rte", "judged.jsonl", "--train", "judged.jsonl", "--model", "model", "--max-length", 7)
# The command, the option for its results, the files of the results, and pieces to delete.
COMMANDS = {
    "lm": (
        LM,
        ("--save",),
        ("arrays.safetensors", "model.json"),
        ("part/ngrams-1/shards/00001", "whole/words-1/rows/00000"),
    ),
    "spaces": (SPACE, ("--save",), ("arrays.safetensors", "model.json"), ("sums/00002", "entries/00001")),
    "procrustes": (
        (*SPACE[:6], "--method", "procrustes"),
        ("--save",),
        ("arrays.safetensors", "model.json"),
        ("view-1/sums/00002", "view-1/entries/00001"),
    ),
    "apply": (APPLY, ("--predictions",), ("",), ("judged/00002",)),
    "phrases": (PHRASES, ("-o",), ("",), ("links/00001",)),
}


def results(here, out, names):
    return [(here / out / name if name else here / out).read_bytes() for name in names]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_run_continues_with_what_is_missing(cepts, here, name):
    command, to, names, missing = COMMANDS[name]
    assert cepts(*command, *to, "wanted").code == 0
    assert cepts(*command, *to, "first", "--checkpoint", "work").code == 0
    for piece in missing:
        (here / "work" / f"{piece}.piece").unlink()
    ran = cepts(*command, *to, "again", "--checkpoint", "work", "--threads", 2)
    assert ran.code == 0
    assert "resumed  " in ran.err
    assert " were there\n" in ran.err
    wanted = results(here, "wanted", names)
    assert results(here, "first", names) == wanted
    assert results(here, "again", names) == wanted


@pytest.mark.parametrize("name", ["lm", "phrases", "apply", "spaces", "procrustes"])
def test_steps_by_hand_give_the_results_of_a_single_command(cepts, here, name):
    command, to, names, _ = COMMANDS[name]
    assert cepts(*command, *to, "wanted").code == 0
    ran = cepts(*command, *to, "found", "--checkpoint", "job", "--begin")
    assert ran.code == 0
    assert "next     cepts train job, or cepts train job --shard I/N for each I and cepts reduce job\n" in ran.err
    assert not (here / "found").exists()
    ran = cepts("train", "job", "--shard", "2/2")
    assert " shards are missing\n" in ran.err
    ran = cepts("reduce", "job")
    assert ran.code == 1
    assert "shards are missing; run `cepts train` for them first" in ran.error
    ran = cepts("train", "job", "--shard", "1/2")
    if name == "lm":
        assert ran.err.endswith(
            "counting n-grams and counting neighbours: all shards are done, next is cepts reduce job\n"
        )
    ran = cepts("reduce", "job", "--json")
    assert json.loads(ran.out)["finished"] is True
    assert f"next     the command that began the job, cepts {command[0]} {command[1]}, w" in cepts("reduce", "job").err
    assert cepts(*command, *to, "found", "--checkpoint", "job").code == 0
    assert results(here, "found", names) == results(here, "wanted", names)


def test_words_of_documents_are_counted_by_hand(cepts, here):
    explicit = (*LM, "--segmentation", "explicit", "--dev", "text", "-b", "en")
    assert cepts(*explicit, "--save", "wanted").code == 0
    assert cepts(*explicit, "--save", "found", "--checkpoint", "job", "--begin").code == 0
    assert cepts("train", "job", "--shard", "1/1").code == 0
    assert (
        json.loads(cepts("reduce", "job", "--json").out)["done"] == "counting n-grams and counting words of documents"
    )
    ran = cepts(*explicit, "--save", "found", "--checkpoint", "job")
    assert ran.err.count("resumed  adding n-grams: ") == ran.err.count("resumed  adding words of documents: ") == 2
    names = ("arrays.safetensors", "model.json")
    assert results(here, "found", names) == results(here, "wanted", names)


def test_train_does_all_that_is_missing(cepts, here):
    assert cepts(*LM, "--save", "wanted").code == 0
    assert cepts(*LM, "--save", "found", "--checkpoint", "job", "--begin").code == 0
    ran = cepts("train", "job")
    assert "next is the command that began the job, cepts lm fit, without --begin" in ran.err
    ran = cepts(*LM, "--save", "found", "--checkpoint", "job")
    assert "adding n-grams: " in ran.err
    assert "counting n-grams: " not in ran.err
    names = ("arrays.safetensors", "model.json")
    assert results(here, "found", names) == results(here, "wanted", names)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((*LM, "--save", "m", "--engine", "dask"), 2, "--engine dask needs --checkpoint, a directory that all workers"),
        ((*SPACE, "--save", "m", "--engine", "spark"), 2, "--engine must be local, dask or dask:ADDRESS. Got 'spark'"),
        ((*LM, "--save", "m", "--begin"), 2, "--begin needs --checkpoint, the directory of the job."),
        ((*PHRASES, "--begin"), 2, "--begin needs --checkpoint, the directory of the job."),
        ((*PHRASES, "--checkpoint", "work"), 1, "work was begun with another text or with other options"),
        ((*LM, "--order", 2, "--save", "m", "--checkpoint", "work"), 1, "(`order` differs); delete it to start again"),
        ((*LM, "--save", "m", "--checkpoint", "model"), 1, "model has other files (such as arrays.safetensors)"),
        (("phrases", "align", "pairs.jsonl", "--nbest", 2, "--checkpoint", "w"), 2, "--checkpoint is for links, and"),
        (("train", "work", "--save", "m"), 2, "--save is for word models; work is a checkpoint of cepts lm fit."),
    ],
)
def test_misuse_is_one_clear_line(cepts, here, arguments, code, message):
    assert cepts(*LM, "--save", "first", "--checkpoint", "work", "-q").code == 0
    ran = cepts(*arguments)
    assert message in ran.error
    assert ran.code == code


def test_a_checkpoint_of_another_version_is_refused(cepts, here, monkeypatch):
    cepts(*LM, "--save", "first", "--checkpoint", "work", "--begin")
    monkeypatch.setattr("cepts.engine.piecework.__version__", "99.0")
    assert "was begun with cepts" in cepts("train", "work").error
