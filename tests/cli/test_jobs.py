"""`cepts shard`, `train`, `reduce` and `align DIR`: the steps of a large job, as a scheduler would run them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess

import pytest

import cepts.pipeline.jobs as jobs_module
import cepts.words.aligner as aligner_module
from cepts.names import WORD_MODELS
from cepts.words.index import Sizes
from cepts.words.rare import LEAST_HELD, WORDS_HELD

SMALL = Sizes(block=2_000, shard=5_000, range=2_000)
QUICK = ("--iterations", 2)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    for module in (aligner_module, jobs_module):
        monkeypatch.setattr(module, "SIZES", SMALL)


def by_hand(cepts, job="job", shares=2):
    """All steps of a training, each on its shares in an order that no scheduler promises."""
    for _ in range(30):
        for share in range(shares, 0, -1):
            assert cepts("train", job, "--shard", f"{share}/{shares}", "-q").code == 0
        ran = cepts("reduce", job, "--json", "-q")
        assert ran.code == 0, ran
        if json.loads(ran.out)["finished"]:
            return
    raise AssertionError("the training does not end")


def by_ranges(cepts, job="job", shares=3):
    """All steps of a training, of which each is finished by several commands; returns what these said."""
    said = []
    for _ in range(30):
        assert cepts("train", job, "--shard", "1/1", "-q").code == 0
        for _ in range(2):
            for share in (2, 1, 3):
                ran = cepts("reduce", job, "--range", f"{share}/{shares}", "--threads", 1)
                assert ran.code == 0, ran
                said.append(ran.err)
        # The others need not have done their part.
        ran = cepts("reduce", job, "--json", "-q")
        assert ran.code == 0, ran
        if json.loads(ran.out)["finished"]:
            return said
    raise AssertionError("the training does not end")


@pytest.mark.parametrize("model", WORD_MODELS)
@pytest.mark.parametrize("shares", [3, 4])
def test_several_commands_can_finish_a_step(cepts, corpus, model, shares):
    """With four shares, one of them is never run."""
    wanted = cepts("align", "en", "fr", "--model", model, *QUICK, "--format", "scored").out
    assert cepts("shard", "en", "fr", "job", "--model", model, *QUICK, "-q").code == 0
    said = by_ranges(cepts, shares=shares)
    assert cepts("align", "job", "--format", "scored", "-q").out == wanted
    # The first round of each iteration adds up, and the second one makes tables.
    ranges = int(re.search(r"of (\d+) ranges are missing", said[0]).group(1))
    assert ranges > 5
    if shares == 3:
        assert "indexing, numbering cells: all ranges are done, next is cepts reduce job" in said[2]
        assert f"training ibm1, iteration 1, making tables: {ranges} of {ranges} ranges are missing" in said[8]
        assert "training ibm1, iteration 1, making tables: all ranges are done" in said[11]
    else:
        assert re.search(rf"iteration 1, adding up: \d+ of {ranges} ranges are missing", said[11])


def test_what_several_commands_left_is_used_and_made_again_where_it_is_damaged(cepts, corpus):
    wanted = cepts("align", "en", "fr", *QUICK, "--format", "scored").out
    assert cepts("shard", "en", "fr", "job", *QUICK, "-q").code == 0
    for _ in range(2):
        assert cepts("train", "job", "--shard", "1/1", "-q").code == 0
        for _ in range(2):
            assert json.loads(cepts("reduce", "job", "--range", "1/1", "--json", "-q").out)["missing"] >= 0
        sums = sorted((corpus / "job").glob("training-ibm1/sums-*/*.piece"))
        times = [path.stat().st_mtime_ns for path in sums]
        if sums:
            with sums[1].open("r+b") as file:
                file.seek(-1, os.SEEK_END)
                file.write(b"\xff")
        assert cepts("reduce", "job", "-q").code == 0
        assert [path.stat().st_mtime_ns for path in sums][2:] == times[2:]
    assert sums
    assert cepts("train", "job", "-q").code == 0
    assert cepts("align", "job", "--format", "scored", "-q").out == wanted
    assert json.loads(cepts("reduce", "job", "--range", "1/1", "--json", "-q").out) == {"finished": True}


@pytest.mark.parametrize("model", WORD_MODELS)
def test_steps_by_hand_give_the_links_of_a_single_command(cepts, corpus, model):
    wanted = cepts("align", "en", "fr", "--model", model, *QUICK, "--format", "scored", "--scores", "wanted").out
    ran = cepts("shard", "en", "fr", "job", "--model", model, *QUICK)
    assert ran.code == 0
    shards = int(re.match(r"shards   (\d+) of 120 pairs", ran.err).group(1))
    assert shards > 3
    by_hand(cepts)
    found = ""
    scores = b""
    for share in (1, 2, 3):
        options = ("--format", "scored", "--scores", "scores")
        found += cepts("align", "job", "--shard", f"{share}/3", *options).out
        scores += (corpus / "scores").read_bytes()
    assert found == wanted
    assert scores == (corpus / "wanted").read_bytes()
    for combine in ("onmf", "grow-diag"):
        options = ("--combine", combine, "--format", "json", "-q")
        assert cepts("align", "job", *options).out == cepts("align", "en", "fr", "--model", model, *QUICK, *options).out


def test_train_goes_on_where_others_stopped_and_saves_the_model(cepts, corpus):
    wanted = cepts("align", "en", "fr", "--save", "wanted").out
    assert cepts("shard", "en", "fr", "job").code == 0
    for _ in range(3):
        cepts("train", "job", "--shard", "1/1")
        cepts("reduce", "job")
    ran = cepts("train", "job", "--save", "model")
    assert ran.code == 0
    assert "resumed  training ibm1: 2 of 4 iterations" in ran.err
    assert cepts("align", "job").out == wanted
    for name in ("arrays.safetensors", "model.json"):
        assert (corpus / "model" / name).read_bytes() == (corpus / "wanted" / name).read_bytes()
    assert "trained" in cepts("train", "job").err
    assert json.loads(cepts("reduce", "job", "--json").out) == {
        "done": None,
        "next": None,
        "finished": True,
        "left": 0,
    }


def test_the_steps_that_are_left_are_counted(cepts, corpus):
    ran = cepts("shard", "en", "fr", "job", "--json", *QUICK)
    found = json.loads(ran.out)
    assert found["pairs"] == 120
    assert found["steps"] == 1 + 4 + 2 + 1  # indexing, Model 1, the HMM, positions of Model 4
    ran = cepts("reduce", "job", "--status")
    assert re.search(r"next     indexing: .*\nleft     8 steps; (\d+) of \1 shards are missing in this one\n", ran.err)
    left = [found["steps"]]
    while left[-1]:
        cepts("train", "job", "--shard", "1/1")
        ran = json.loads(cepts("reduce", "job", "--json").out)
        left.append(ran["left"])
        assert ran["finished"] == (left[-1] == 0)
    # EM may stop before its last iteration, so that several steps go at once.
    assert left == sorted(set(left), reverse=True)
    assert left[:2] == [8, 7]


def test_processes_that_wait_for_each_other_train_together(cepts, cepts_process, corpus):
    wanted = cepts("align", "en", "fr", *QUICK).out
    cepts("shard", "en", "fr", "job", *QUICK)
    share = ("train", "job", "--wait", "--quiet", "--shard")
    processes = [cepts_process(*share, f"{number}/3") for number in (3, 2, 1)]
    processes[0].kill()
    processes[0].wait()
    with pytest.raises(subprocess.TimeoutExpired):  # nobody does the last share
        processes[2].wait(0.5)
    processes.append(cepts_process(*share, "3/3"))
    for process in processes[1:]:
        assert process.wait(60) == 0
    assert cepts("align", "job").out == wanted


def test_what_is_next_is_said(cepts, corpus):
    cepts("shard", "en", "fr", "job")
    ran = cepts("train", "job", "--shard", "1/2")
    assert re.search(r"done     in .* s; indexing: \d+ of \d+ shards are missing", ran.err)
    ran = cepts("reduce", "job")
    assert ran.code == 1
    assert re.match(r"job: \d+ of \d+ shards are missing in indexing, the first of them \d+; run", ran.error)
    cepts("train", "job", "--shard", "2/2")
    assert "next     training ibm1, iteration 1" in cepts("reduce", "job").err
    ran = cepts("align", "job", "-o", "links")
    assert ran.error.startswith("job: the training is not finished, next is training ibm1, iteration 1;")
    assert not (corpus / "links").exists()


def test_a_checkpoint_of_align_is_a_job(cepts, corpus):
    wanted = cepts("align", "en", "fr", "--checkpoint", "job").out
    assert cepts("align", "job").out == wanted
    # Files that have not changed are not read again; here they could not be.
    (corpus / "en").chmod(0o000)
    ran = cepts("align", "en", "fr", "--checkpoint", "job")
    assert ran.out == wanted
    # The same text in other files is found to be the same.
    (corpus / "en").chmod(0o600)
    shutil.copy(corpus / "en", corpus / "again")
    assert cepts("align", "again", "fr", "--checkpoint", "job").out == wanted


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("train", "nowhere"), 1, "nowhere holds no training job; begin one there with `cepts shard`."),
        (("reduce", "fr"), 1, "fr holds no training job"),
        (("align", "empty"), 1, "empty holds no training job"),
        (("shard", "en", "fr", "job"), 1, "job already has a text; go on with `cepts train`, or delete it"),
        (("shard", "en", "fr", "full"), 1, "full has other files (such as mine.txt); choose another directory"),
        (("shard", "en"), 2, "wanted SOURCE, TARGET and DIR, or a file with both sides and DIR. Got 1 names."),
        (("train", "job", "--shard", "3/2"), 2, "--shard must be I/N with I from 1 to N. Got 3/2 instead."),
        (("train", "job", "--shard", "0/2"), 2, "--shard must be I/N with I from 1 to N"),
        (("train", "job", "--shard", "half"), 2, "--shard must be I/N, such as 2/8. Got 'half' instead."),
        (("train", "job", "--shard", "1/2", "--save", "m"), 2, "--save saves the model of a training that is finished"),
        (("reduce", "job", "--range", "3/2"), 2, "--range must be I/N with I from 1 to N. Got 3/2 instead."),
        (("reduce", "job", "--range", "1/2"), 1, "run `cepts train` for them first."),
        (("reduce", "job", "--range", "1/2", "--status"), 2, "--status does nothing, so it does not go with --range"),
        (("train", "job", "--wait"), 2, "--wait is for one of several processes; give --shard too."),
        (("train", "job", "--engine", "spark"), 2, "--engine must be local, dask or dask:ADDRESS. Got 'spark'"),
        (("align", "en", "fr", "--shard", "1/2"), 2, "--shard goes with the directory of a training job"),
        (("align", "job", "--model", "ibm1"), 2, "--model does not go with job, a training job"),
        (("align", "en", "fr", "--engine", "dask"), 2, "--engine dask needs --checkpoint"),
        (("align", "no-such-file", "fr", "--engine", "dask"), 2, "--engine dask needs --checkpoint"),  # before reading
    ],
)
def test_misuse_is_one_clear_line(cepts, corpus, arguments, code, message):
    assert cepts("shard", "en", "fr", "job").code == 0
    (corpus / "empty").mkdir()
    (corpus / "full").mkdir()
    (corpus / "full" / "mine.txt").write_text("keep me")
    ran = cepts(*arguments)
    assert message in ran.error
    assert ran.code == code
    assert (corpus / "full" / "mine.txt").read_text() == "keep me"


def test_a_job_of_another_version_is_refused(cepts, corpus, monkeypatch):
    cepts("shard", "en", "fr", "job")
    monkeypatch.setattr("cepts.engine.piecework.__version__", "99.0")
    assert "was begun with cepts" in cepts("train", "job").error


def test_a_text_of_pairs_that_cannot_be_aligned(cepts, corpus):
    (corpus / "a").write_text("\n\nx\n")
    (corpus / "b").write_text("y\n\n\n")
    assert cepts("shard", "a", "b", "job").code == 0
    by_hand(cepts)
    assert cepts("align", "job").out == "\n\n\n"


def test_a_budget_of_memory_is_said_before_the_work_and_kept_for_the_next_run(cepts, corpus):
    ran = cepts("align", "en", "fr", "--memory", "1G", "--checkpoint", "job", "-o", "links")
    assert ran.code == 0
    assert re.match(r"memory   at most \d+M of 1,024M, and about \d+M in files\n", ran.err)
    again = cepts("align", "en", "fr", "--memory", "2G", "--checkpoint", "job", "-o", "again")
    assert again.code == 0, again
    assert (corpus / "again").read_bytes() == (corpus / "links").read_bytes()


def test_too_little_memory_is_refused_with_what_would_be_enough(cepts, corpus):
    ran = cepts("align", "en", "fr", "--memory", "10M", "-o", "links", "--threads", 2)
    assert ran.code == 2
    assert re.search(r"--memory must be at least \d+M for this text, .* Got 10M instead\.", ran.err)
    assert not (corpus / "links").exists()


@pytest.mark.parametrize("size", ["4", "G", "-1G", "4X", "nanG", "9999999T"])
def test_a_size_that_is_none_is_refused(cepts, corpus, size):
    ran = cepts("align", "en", "fr", "--memory", size)
    assert ran.code == 2
    assert f"must be a size such as 500M or 4G. Got '{size}'" in ran.err


@pytest.mark.skipif(os.name == "nt", reason="needs a limit on file size")
def test_a_full_disk_is_one_line_and_the_same_command_continues(cepts, cepts_process, corpus):
    import resource

    wanted = cepts("align", "en", "fr", "--checkpoint", "whole").out
    largest = max(file.stat().st_size for file in (corpus / "whole").rglob("*.piece"))
    limit = (largest * 2 // 3, largest * 2 // 3)
    command = ("align", "en", "fr", "--checkpoint", "job", "--quiet")
    limited = cepts_process(*command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    out, err = limited.communicate()
    said = err.splitlines()[-1]
    assert (limited.returncode, out) == (1, "")
    assert re.fullmatch(r"cepts: error: the disk of job is full \(.* File too large\); free .* to continue\.", said)
    assert not list((corpus / "job").rglob(".*"))
    assert cepts(*command).out == wanted


def test_what_killed_processes_left_is_no_obstacle_and_goes(cepts, corpus):
    wanted = cepts("align", "en", "fr").out
    (corpus / "job").mkdir()
    for place in (corpus / "job" / ".text.piece.0123abcd.tmp", corpus / "job" / ".words.piece.there-1.0123abcd.tmp"):
        place.write_bytes(b"half")
        os.utime(place, (0, 0))
    assert cepts("shard", "en", "fr", "job").code == 0
    assert cepts("train", "job").code == 0
    assert not list((corpus / "job").glob(".*"))
    assert cepts("align", "job").out == wanted


def test_a_shard_that_was_killed_begins_again(cepts, corpus):
    wanted = cepts("align", "en", "fr").out
    cepts("shard", "en", "fr", "job")
    for name in ("words.piece", "options.piece"):
        (corpus / "job" / name).unlink()
    assert cepts("train", "job").code == 1
    assert cepts("shard", "en", "fr", "job").code == 0
    assert cepts("train", "job").code == 0
    assert cepts("align", "job").out == wanted


def test_a_damaged_index_is_made_again(cepts, corpus):
    wanted = cepts("align", "en", "fr").out
    cepts("shard", "en", "fr", "job")
    cepts("train", "job", "--shard", "1/1")
    file = next((corpus / "job" / "index").glob("*.piece"))
    data = bytearray(file.read_bytes())
    data[-9] ^= 1
    file.write_bytes(data)
    by_hand(cepts)
    assert cepts("align", "job").out == wanted


def test_help_says_how_many_words_are_held(cepts):
    said = " ".join(cepts("shard", "--help").out.split())
    assert f"{WORDS_HELD} N words of a side are held, or {LEAST_HELD:,} if that is more" in said
