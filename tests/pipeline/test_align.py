from __future__ import annotations

import io
import json
from importlib import import_module
from importlib.resources import files

import numpy as np
import pytest

from cepts.data import Bitext
from cepts.errors import UsageError
from cepts.extract import Extraction, aligning
from cepts.factor import Factoring
from cepts.io import AssociationWriter, LinkWriter, read_association, read_links, write_links
from cepts.names import LINK_FORMATS
from cepts.pipeline import MatrixFile, align, align_matrices
from cepts.words import HMM, IBM4
from cepts.words import aligner as aligner_module
from cepts.words.index import Sizes


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


def write(aligner, bitext, path, *, format="pharaoh", scores=None, matrices=None, progress=None, **how):
    """Align a text and write the links to `path`."""
    writer = LinkWriter(path, format=format, bitext=bitext)
    return align(aligner, bitext, writer, Extraction(**how), scores=scores, matrices=matrices, progress=progress)


def test_the_summary_counts_what_was_written(aligner, bitext, tmp_path):
    summary = write(aligner, bitext, tmp_path / "links")
    links = read_links(tmp_path / "links", source_lengths=bitext.source.lengths, target_lengths=bitext.target.lengths)
    assert len(links) == len(bitext) == summary.pairs == 90
    assert (summary.source_words, summary.target_words) == (bitext.source.lengths.sum(), bitext.target.lengths.sum())
    assert summary.links == sum(len(alignment.links) for alignment in links) > 100
    assert summary.source_covered == sum(len({i for i, _ in alignment.links}) for alignment in links)
    assert summary.target_covered == sum(len({j for _, j in alignment.links}) for alignment in links)
    assert summary.empty == 6
    assert summary.too_long == 1
    assert not links[11].links
    assert summary.as_dict()["links"] == summary.links


@pytest.mark.parametrize("combine", ["union", "onmf"])
@pytest.mark.parametrize("format", LINK_FORMATS)
def test_the_file_is_what_align_gives(aligner, bitext, tmp_path, format, combine):
    write(aligner, bitext, tmp_path / "found", combine=combine, format=format)
    write_links(tmp_path / "wanted", aligner.align(bitext, combine=combine), format=format, bitext=bitext)
    assert (tmp_path / "found").read_bytes() == (tmp_path / "wanted").read_bytes()


def test_scores_are_those_of_the_model(aligner, bitext, tmp_path):
    write(aligner, bitext, tmp_path / "links", scores=tmp_path / "scores")
    np.testing.assert_allclose(np.loadtxt(tmp_path / "scores"), aligner.score(bitext), atol=1e-6)


def test_blocks_make_no_difference(bitext, tmp_path, monkeypatch):
    """Of new sentences, and of those of training, in blocks of a few pairs."""
    new = Bitext(bitext.source, bitext.target)
    outputs = set()
    for cells in (1 << 20, 700):
        monkeypatch.setattr(aligning, "PAIRS_AT_A_TIME", cells // 100)
        aligner = HMM(iterations=2, start_iterations=2, threads=2).fit(bitext)
        monkeypatch.setattr(aligner_module, "SIZES", Sizes(block=cells))
        for text in (bitext, new):
            summary = write(aligner, text, tmp_path / "links", scores=tmp_path / "scores")
            outputs.add((str(summary.as_dict()), (tmp_path / "links").read_bytes(), (tmp_path / "scores").read_bytes()))
    assert len(outputs) == 1


def test_progress_reaches_its_end(bitext, tmp_path, monkeypatch):
    monkeypatch.setattr(aligner_module, "SIZES", Sizes(block=2000, shard=6000, range=4000))
    aligner = HMM(iterations=1, start_iterations=1, threads=2).fit(bitext)
    steps = []
    write(aligner, bitext, tmp_path / "links", progress=steps.append)
    assert {step.stage for step in steps} == {"aligning"}
    done = [step.done for step in steps]
    assert done == sorted(set(done))
    assert len(done) > 3
    # Repeated pairs are aligned once.
    assert done[-1] == steps[-1].total < len(bitext)


def test_unknown_methods_and_formats(aligner, bitext, tmp_path):
    with pytest.raises(UsageError, match="`combine` must be one of"):
        write(aligner, bitext, tmp_path / "links", combine="guess")
    with pytest.raises(UsageError, match="`format` must be one of"):
        write(aligner, bitext, tmp_path / "links", format="guess")
    assert not list(tmp_path.iterdir())


def test_standard_output_in_memory(aligner, bitext, tmp_path, monkeypatch):
    """As in a notebook, where no file descriptor stands behind stdout."""
    screen = io.TextIOWrapper(io.BytesIO())
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", screen)
        write(aligner, bitext, "-")
    write(aligner, bitext, tmp_path / "links")
    assert screen.buffer.getvalue() == (tmp_path / "links").read_bytes()


# -- through cepts ---------------------------------------------------------------------------------------------------


def test_the_summary_counts_cepts(aligner, bitext, tmp_path):
    summary = write(aligner, bitext, tmp_path / "links", combine="onmf", format="json")
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
    assert write(aligner, bitext, tmp_path / "links").as_dict()["cepts"] is None


def test_matrices_are_those_that_were_factorised(aligner, bitext, tmp_path):
    how = {"combine": "onmf", "association": "mean", "factoring": Factoring(spread=0.3)}
    files = {"matrices": tmp_path / "m.jsonl", "scores": tmp_path / "scores"}
    write(aligner, bitext, tmp_path / "links", format="scored", **how, **files)
    found = read_association(tmp_path / "m.jsonl", allow_empty=True)
    assert len(found) == 90
    assert found.source[0] == bitext[0][0]
    assert found.association[11].size == 0
    align_matrices(MatrixFile(tmp_path / "m.jsonl", allow_empty=True), tmp_path / "again", format="scored")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "links").read_bytes()
    np.testing.assert_allclose(np.loadtxt(tmp_path / "scores"), aligner.score(bitext), atol=1e-6)


def test_blocks_make_no_difference_to_cepts(bitext, tmp_path, monkeypatch):
    monkeypatch.setattr(aligner_module, "SIZES", Sizes(block=2000, shard=4000))
    aligner = HMM(iterations=2, start_iterations=2, threads=2).fit(bitext)
    outputs = set()
    for cells in (1 << 20, 700):
        monkeypatch.setattr(aligner_module, "SIZES", Sizes(block=cells))
        monkeypatch.setattr("cepts.factor.orthogonal.CELLS_AT_A_TIME", cells // 2)
        for text in (bitext, Bitext(bitext.source, bitext.target)):
            for cepts in ("anneal", "aic"):
                factoring = Factoring(cepts=cepts, restarts=2)
                write(aligner, text, tmp_path / "links", combine="onmf", factoring=factoring, format="json")
                outputs.add((cepts, (tmp_path / "links").read_bytes()))
    assert len(outputs) == 2


def test_no_pairs_have_no_cepts(aligner, tmp_path):
    nothing = Bitext.from_tokens([])
    files = {"matrices": tmp_path / "matrices", "scores": tmp_path / "scores"}
    for cepts in ("anneal", 3):
        options = {"combine": "onmf", "factoring": Factoring(cepts=cepts), **files}
        summary = write(aligner, nothing, tmp_path / "links", **options)
        assert (summary.pairs, summary.links, summary.cepts) == (0, 0, None)
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
    write(aligner, text, tmp_path / "links", combine="onmf", factoring=Factoring(cepts=most))
    line = rf"`cepts` must be at most {most}, .* longest sentence pair \(3\). Got {most + 1} instead"
    with pytest.raises(UsageError, match=line):
        write(aligner, text, tmp_path / "no", combine="onmf", factoring=Factoring(cepts=most + 1))
    assert [path.name for path in tmp_path.iterdir()] == ["links"]


@pytest.mark.parametrize("when", ["links", "scores", "matrices"])
def test_files_are_there_together_or_not_at_all(aligner, bitext, tmp_path, monkeypatch, when):
    """Neither half a file nor a new file of links beside old scores."""

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    if when == "links":
        monkeypatch.setattr(LinkWriter, "write", fail)
    elif when == "matrices":
        monkeypatch.setattr(AssociationWriter, "write", fail)
    else:
        monkeypatch.setattr(import_module("cepts.pipeline.loop"), "_write_scores", fail)
    files = {name: tmp_path / name for name in ("matrices", "scores")}
    for name in ("links", "scores"):
        (tmp_path / name).write_text("old\n")
    with pytest.raises(Exception, match="No space left"):
        write(aligner, bitext, tmp_path / "links", combine="onmf", **files)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"links": "old\n", "scores": "old\n"}


# -- one pass --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(bitext):
    """A model of which posteriors, paths and lists are searched for pair by pair."""
    small = Bitext.from_tokens([pair for pair in (bitext[n] for n in range(30)) if all(pair)])
    return IBM4(iterations=1, hmm_iterations=1, start_iterations=1, classes=3, threads=1).fit(small), small


@pytest.mark.parametrize(
    ("how", "files"),
    [
        ({"combine": "grow-diag"}, ("scores",)),
        ({"combine": "reverse"}, ("scores",)),
        ({"combine": "onmf"}, ("scores", "matrices")),
        ({"combine": "onmf", "threshold": 0.2}, ("scores", "matrices")),
        ({"combine": "agreement"}, ("scores", "matrices")),
        ({"combine": "agreement", "association": "mean"}, ("scores", "matrices")),
        ({"combine": "grow-diag"}, ("scores", "matrices")),
        ({"combine": "onmf", "association": "nbest", "nbest": 5}, ("scores", "matrices")),
    ],
    ids=str,
)
def test_a_pair_is_scored_once_whatever_is_written(trained, tmp_path, monkeypatch, how, files):
    """Links, scores and matrices come out of one search of each pair."""
    aligner, bitext = trained
    counted = {"posterior": 0, "paths": 0, "nbest": 0}

    def count(name):
        asked_for = getattr(aligner.positions_, name)

        def counting(block, *arguments, **options):
            counted[name] += len(block.pairs)
            return asked_for(block, *arguments, **options)

        monkeypatch.setattr(aligner.positions_, name, counting)

    for name in counted:
        count(name)
    write(aligner, bitext, tmp_path / "links", **how, **{name: tmp_path / name for name in files})
    # Lists have no likelihoods, for which posteriors are asked besides.
    lists = len(bitext) if how.get("association") == "nbest" else 0
    assert counted == {"posterior": len(bitext), "paths": 0, "nbest": lists}
