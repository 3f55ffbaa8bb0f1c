from __future__ import annotations

import io
import json
from functools import partial
from importlib.resources import files

import numpy as np
import pytest

from cepts.data import Alignments, Bitext
from cepts.errors import UsageError
from cepts.io import LINK_FORMATS, LinkWriter, read_association, read_links, write_links
from cepts.pipeline import align_bitext, factor_matrices
from cepts.words import HMM, Factoring, align_by_cepts
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


# -- through cepts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", LINK_FORMATS)
def test_the_file_of_cepts_is_what_align_by_cepts_gives(aligner, bitext, tmp_path, format):
    align_bitext(aligner, bitext, tmp_path / "found", combine="onmf", format=format)
    wanted = Alignments.concatenate(list(align_by_cepts(aligner, bitext)))
    write_links(tmp_path / "wanted", wanted, format=format, bitext=bitext)
    assert (tmp_path / "found").read_bytes() == (tmp_path / "wanted").read_bytes()


def test_the_summary_counts_cepts(aligner, bitext, tmp_path):
    summary = align_bitext(aligner, bitext, tmp_path / "links", combine="onmf", format="json")
    records = [json.loads(line) for line in (tmp_path / "links").read_text("utf-8").splitlines()]
    assert summary.pairs == len(records) == 90
    assert (summary.empty, summary.too_long) == (6, 1)
    assert summary.links == sum(len(record["links"]) for record in records)
    assert summary.sure == sum(link["tier"] == "sure" for record in records for link in record["links"])
    assert 0 < summary.sure < summary.links
    assert summary.cepts.pairs == 83
    assert summary.cepts.cepts == sum(len(record["cepts"]) for record in records)
    for side, null, covered in (
        ("source", summary.cepts.source_null, summary.source_covered),
        ("target", summary.cepts.target_null, summary.target_covered),
    ):
        assert null == sum(len(record["null"][side]) for record in records)
        assert covered == sum(len(cept[side]) for record in records for cept in record["cepts"])
    assert summary.as_dict()["cepts"]["cepts"] == summary.cepts.cepts
    assert align_bitext(aligner, bitext, tmp_path / "links").as_dict()["cepts"] is None


def test_matrices_are_those_that_were_factorised(aligner, bitext, tmp_path):
    factoring = Factoring(association="mean", spread=0.3)
    files = {"matrices": tmp_path / "m.jsonl", "scores": tmp_path / "scores"}
    align_bitext(aligner, bitext, tmp_path / "links", combine="onmf", factoring=factoring, format="scored", **files)
    found = read_association(tmp_path / "m.jsonl", allow_empty=True)
    assert len(found) == 90
    assert found.source[0] == bitext[0][0]
    assert found.association[11].size == 0
    factor_matrices(tmp_path / "m.jsonl", tmp_path / "again", format="scored", allow_empty=True)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "links").read_bytes()
    np.testing.assert_allclose(np.loadtxt(tmp_path / "scores"), aligner.score(bitext), atol=1e-6)


def test_blocks_make_no_difference_to_cepts(bitext, tmp_path, monkeypatch):
    outputs = set()
    for cells in (1 << 20, 700):
        monkeypatch.setattr(aligner_module, "cut", partial(cut, cells=cells))
        monkeypatch.setattr("cepts.factor.orthogonal.CELLS_AT_A_TIME", cells // 2)
        aligner = HMM(iterations=2, start_iterations=2, threads=2).fit(bitext)
        for text in (bitext, Bitext(bitext.source, bitext.target)):
            for cepts in ("anneal", "aic"):
                factoring = Factoring(cepts=cepts, restarts=2)
                align_bitext(aligner, text, tmp_path / "links", combine="onmf", factoring=factoring, format="json")
                outputs.add((cepts, (tmp_path / "links").read_bytes()))
    assert len(outputs) == 2


def test_no_pairs_have_no_cepts(aligner, tmp_path):
    nothing = Bitext.from_tokens([])
    files = {"matrices": tmp_path / "matrices", "scores": tmp_path / "scores"}
    for cepts in ("anneal", 3):
        options = {"combine": "onmf", "factoring": Factoring(cepts=cepts), **files}
        summary = align_bitext(aligner, nothing, tmp_path / "links", **options)
        assert (summary.pairs, summary.links, summary.cepts.cepts) == (0, 0, 0)
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
            "links": "",
            "matrices": "",
            "scores": "",
        }


def test_a_number_of_cepts_that_no_pair_can_have(aligner, bitext, tmp_path):
    """Long sentences are not aligned, and do not count."""
    pairs = [bitext[0], (["x"] * 5, ["y"] * 70), bitext[1], (["x"] * 70, ["y"] * 65)]
    text = Bitext.from_tokens(pairs)
    most = min(map(len, bitext[1]))
    assert min(map(len, bitext[0])) < most
    align_bitext(aligner, text, tmp_path / "links", combine="onmf", factoring=Factoring(cepts=most))
    line = rf"cepts must be at most {most}, .* longest sentence pair \(3\). Got {most + 1} instead"
    with pytest.raises(UsageError, match=line):
        align_bitext(aligner, text, tmp_path / "no", combine="onmf", factoring=Factoring(cepts=most + 1))
    assert [path.name for path in tmp_path.iterdir()] == ["links"]


@pytest.mark.parametrize("when", ["_write_matrices", "_write_scores", "Tally.add"])
def test_files_are_there_together_or_not_at_all(aligner, bitext, tmp_path, monkeypatch, when):
    def fail(*arguments, **options):
        raise KeyboardInterrupt

    (tmp_path / "links").write_text("old\n")
    monkeypatch.setattr(f"cepts.pipeline.align.{when}", fail)
    files = {"matrices": tmp_path / "matrices", "scores": tmp_path / "scores"}
    with pytest.raises(KeyboardInterrupt):
        align_bitext(aligner, bitext, tmp_path / "links", combine="onmf", **files)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"links": "old\n"}
