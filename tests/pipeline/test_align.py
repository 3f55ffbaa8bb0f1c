from __future__ import annotations

import io
from functools import partial
from importlib.resources import files

import numpy as np
import pytest

from cepts.errors import UsageError
from cepts.io import LINK_FORMATS, LinkWriter, read_links, write_links
from cepts.pipeline import align_bitext
from cepts.types import Bitext
from cepts.words import HMM
from cepts.words import aligner as aligner_module
from cepts.words.index import build_index, cut


@pytest.fixture(scope="module")
def bitext():
    """Eighty pairs of the sample, some empty on a side, one of them long, some of them twice."""
    sample = files("cepts") / "sample"
    source, target = (
        [line.split() for line in (sample / f"sample.{language}").read_text("utf-8").splitlines()[:80]]
        for language in ("en", "fr")
    )
    source[3], target[7], source[9], target[9] = [], [], [], []
    source[11] = source[11] * 10
    return Bitext.from_tokens([*zip(source, target, strict=True), *zip(source[:10], target[:10], strict=True)])


@pytest.fixture(scope="module")
def aligner(bitext):
    return HMM(iterations=2, start_iterations=2, max_length=60, threads=1).fit(bitext)


def test_the_summary_counts_what_was_written(aligner, bitext, tmp_path):
    summary = align_bitext(aligner, bitext, tmp_path / "links")
    links = read_links(tmp_path / "links", source_lengths=bitext.source.lengths, target_lengths=bitext.target.lengths)
    assert len(links) == len(bitext) == summary.pairs == 90
    assert (summary.source_words, summary.target_words) == (bitext.source.lengths.sum(), bitext.target.lengths.sum())
    assert summary.links == sum(len(alignment.links) for alignment in links) > 100
    assert summary.source_covered == sum(len({i for i, _ in alignment.links}) for alignment in links)
    assert summary.target_covered == sum(len({j for _, j in alignment.links}) for alignment in links)
    assert summary.empty == 6
    assert summary.too_long == 1
    assert not links[11].links
    assert summary.seconds > 0
    assert summary.as_dict()["links"] == summary.links


@pytest.mark.parametrize("format", LINK_FORMATS)
def test_the_file_is_what_align_gives(aligner, bitext, tmp_path, format):
    align_bitext(aligner, bitext, tmp_path / "found", combine="union", format=format)
    write_links(tmp_path / "wanted", aligner.align(bitext, combine="union"), format=format, bitext=bitext)
    assert (tmp_path / "found").read_bytes() == (tmp_path / "wanted").read_bytes()


def test_scores_are_those_of_the_model(aligner, bitext, tmp_path):
    align_bitext(aligner, bitext, tmp_path / "links", scores=tmp_path / "scores")
    np.testing.assert_allclose(np.loadtxt(tmp_path / "scores"), aligner.score(bitext), atol=1e-6)


def test_blocks_make_no_difference(bitext, tmp_path, monkeypatch):
    """Of new sentences, and of those of training, in blocks of a few pairs."""
    new = Bitext(bitext.source, bitext.target)
    outputs = set()
    for cells in (1 << 20, 700):
        monkeypatch.setattr(aligner_module, "PAIRS_AT_A_TIME", cells // 100)
        aligner = HMM(iterations=2, start_iterations=2, threads=2).fit(bitext)
        monkeypatch.setattr(aligner_module, "cut", partial(cut, cells=cells))
        for text in (bitext, new):
            summary = align_bitext(aligner, text, tmp_path / "links", scores=tmp_path / "scores")
            figures = {key: value for key, value in summary.as_dict().items() if key != "seconds"}
            outputs.add((str(figures), (tmp_path / "links").read_bytes(), (tmp_path / "scores").read_bytes()))
    assert len(outputs) == 1


def test_progress_reaches_its_end(bitext, tmp_path, monkeypatch):
    monkeypatch.setattr(aligner_module, "build_index", partial(build_index, cells_in_shard=2000))
    aligner = HMM(iterations=1, start_iterations=1, threads=2).fit(bitext)
    steps = []
    align_bitext(aligner, bitext, tmp_path / "links", progress=steps.append)
    assert {step.stage for step in steps} == {"aligning"}
    assert [step.done for step in steps] == list(range(1, steps[-1].total + 1))
    assert len(steps) > 2


@pytest.mark.parametrize("when", ["links", "scores"])
def test_nothing_is_left_of_a_run_that_fails(aligner, bitext, tmp_path, monkeypatch, when):
    """Neither half a file nor a new file of links beside old scores."""
    for name in ("links", "scores"):
        (tmp_path / name).write_text("old\n")

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    if when == "links":
        monkeypatch.setattr(LinkWriter, "write", fail)
    else:
        monkeypatch.setattr("cepts.pipeline.align._write_scores", fail)
    with pytest.raises(Exception, match="No space left"):
        align_bitext(aligner, bitext, tmp_path / "links", scores=tmp_path / "scores")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"links": "old\n", "scores": "old\n"}


def test_unknown_methods_and_formats(aligner, bitext, tmp_path):
    with pytest.raises(UsageError, match="combine must be one of"):
        align_bitext(aligner, bitext, tmp_path / "links", combine="guess")
    with pytest.raises(UsageError, match="format must be one of"):
        align_bitext(aligner, bitext, tmp_path / "links", format="guess")
    assert not list(tmp_path.iterdir())


def test_standard_output_in_memory(aligner, bitext, tmp_path, monkeypatch):
    """As in a notebook, where no file descriptor stands behind stdout."""
    screen = io.TextIOWrapper(io.BytesIO())
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", screen)
        align_bitext(aligner, bitext, "-")
    align_bitext(aligner, bitext, tmp_path / "links")
    assert screen.buffer.getvalue() == (tmp_path / "links").read_bytes()
