from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest

from cepts import factor
from cepts.data import Association, Bitext, offsets_of
from cepts.errors import DataError, UsageError
from cepts.extract import Extraction
from cepts.factor import Factoring
from cepts.io import association_blocks, read_association, read_links, write_association, write_links
from cepts.io.files import read_blocks
from cepts.pipeline import MatrixFile, align_matrices
from cepts.pipeline import matrices as matrices_module


def matrices(count=30, most=7, seed=3):
    """Counts with null, of pairs of one word and more."""
    random = np.random.default_rng(seed)
    rows, columns = random.integers(1, most, (2, count))
    values = (random.integers(0, 60, (rows * columns).sum()) + 1).astype(np.float32)
    nulls = [random.integers(0, 9, lengths.sum()).astype(np.float32) for lengths in (rows, columns)]
    return Association(rows, columns, offsets_of(rows * columns), values, *nulls)


def sentences(association):
    words = [f"w{place}" for place in range(20)]
    lengths = zip(association.source_lengths.tolist(), association.target_lengths.tolist(), strict=True)
    return Bitext.from_tokens((words[:rows], words[:columns]) for rows, columns in lengths)


def factor_file(path, output, *, format="pharaoh", progress=None, cepts="anneal", **options):
    """Factorise the matrices of a file."""
    how = Extraction(combine="onmf", factoring=Factoring(cepts=cepts))
    return align_matrices(MatrixFile(path, cepts=cepts, **options), output, how, format=format, progress=progress)


@pytest.fixture
def association():
    return matrices()


@pytest.fixture
def given(tmp_path, association):
    write_association(tmp_path / "m.jsonl", association)
    return tmp_path / "m.jsonl"


@pytest.fixture
def small_blocks(monkeypatch):
    """Some five blocks in the place of one."""
    monkeypatch.setattr(matrices_module, "association_blocks", partial(association_blocks, cells=60))


def test_the_file_is_what_onmf_gives_and_the_summary_counts_it(association, given, tmp_path):
    summary = factor_file(given, tmp_path / "found", format="json", threads=1)
    found = factor.onmf(association, threads=1)
    write_links(tmp_path / "wanted", found, format="json")
    assert (tmp_path / "found").read_bytes() == (tmp_path / "wanted").read_bytes()
    records = [json.loads(line) for line in (tmp_path / "found").read_text().splitlines()]
    assert summary.pairs == len(records) == 30
    assert (summary.source_words, summary.target_words) == (len(association.source_null), len(association.target_null))
    assert summary.links == sum(len(record["links"]) for record in records)
    assert summary.sure == sum(link["tier"] == "sure" for record in records for link in record["links"])
    assert summary.cepts.cepts == sum(len(record["cepts"]) for record in records)
    assert summary.cepts.source_null == sum(len(record["null"]["source"]) for record in records)
    assert summary.cepts.target_null == sum(len(record["null"]["target"]) for record in records)
    assert summary.cepts.noise == pytest.approx(sum(record["noise"] for record in records), abs=1e-4)
    figures = summary.as_dict()
    assert figures["cepts"]["cepts"] == summary.cepts.cepts
    assert json.loads(json.dumps(figures)) == figures


@pytest.mark.parametrize("cepts", ["anneal", "aic", 2])
def test_blocks_make_no_difference(association, given, tmp_path, monkeypatch, cepts):
    outputs = set()
    for cells in (1 << 20, 60, 1):
        monkeypatch.setattr(matrices_module, "association_blocks", partial(association_blocks, cells=cells))
        options = {"bitext": sentences(association), "format": "json", "cepts": cepts, "threads": 2}
        summary = factor_file(given, tmp_path / "links", **options)
        figures = summary.as_dict()
        figures["cepts"]["noise"] = round(figures["cepts"]["noise"], 4)
        outputs.add((str(figures), (tmp_path / "links").read_bytes()))
    assert len(outputs) == 1


@pytest.mark.parametrize("cells", [1 << 20, 60])
def test_progress_reaches_its_end(given, tmp_path, monkeypatch, cells):
    monkeypatch.setattr(matrices_module, "association_blocks", partial(association_blocks, cells=cells))
    monkeypatch.setattr(matrices_module, "CELLS_IN_RUN", 50)
    steps = []
    factor_file(given, tmp_path / "links", progress=steps.append)
    assert {step.stage for step in steps} == {"aligning"}
    assert steps[0].done == 0
    done = [step.done for step in steps]
    assert done == sorted(set(done))
    assert len(steps) > 5
    assert done[-1] == steps[-1].total == 30
    assert all(step.done <= step.total for step in steps)


def test_progress_is_told_by_how_much_of_the_file_has_been_read(tmp_path, monkeypatch):
    """As near as buffers let one know."""
    write_association(tmp_path / "m.jsonl", matrices(count=4000, most=12))
    monkeypatch.setattr(matrices_module, "association_blocks", partial(association_blocks, cells=50_000))
    monkeypatch.setattr("cepts.io.lines.read_blocks", partial(read_blocks, block_bytes=1 << 14))
    steps = []
    factor_file(tmp_path / "m.jsonl", tmp_path / "links", cepts=1, progress=steps.append)
    first = steps[1]
    assert first.done < 2000
    assert 3000 < first.total < 5000
    assert steps[-1].total == 4000


@pytest.mark.parametrize(("change", "found"), [(-1, "more than 29"), (1, "30")])
@pytest.mark.parametrize("cells", [1 << 20, 60])
def test_another_number_of_sentences(association, given, tmp_path, monkeypatch, change, found, cells):
    monkeypatch.setattr(matrices_module, "association_blocks", partial(association_blocks, cells=cells))
    bitext = sentences(association)
    more = bitext.part(0, 29) if change < 0 else Bitext.from_tokens([*(bitext[n] for n in range(30)), (["a"], ["b"])])
    with pytest.raises(DataError, match=rf"m.jsonl has {found} matrices but the bitext has {30 + change} sentence"):
        factor_file(given, tmp_path / "links", bitext=more)
    assert [path.name for path in tmp_path.iterdir()] == ["m.jsonl"]


def test_sentences_of_other_lengths_are_told_by_their_place_in_the_file(association, given, tmp_path, small_blocks):
    pairs = [sentences(association)[n] for n in range(30)]
    pairs[26] = (pairs[26][0], [*pairs[26][1], "more"])
    rows, columns = association.source_lengths[26], association.target_lengths[26]
    line = (
        f"line 27: found a matrix of {rows} x {columns}, wanted {rows} x {columns + 1}, the words of sentence pair 27"
    )
    with pytest.raises(DataError, match=line):
        factor_file(given, tmp_path / "links", bitext=Bitext.from_tokens(pairs))


def test_a_number_that_no_pair_can_have(tmp_path, small_blocks):
    """Known only at the end, where the largest matrix stands."""
    rows = np.array([*([2] * 29), 5])
    cells = offsets_of(rows * (rows + 1))
    given = Association(rows, rows + 1, cells, np.arange(1, cells[-1] + 1, dtype=np.float32))
    write_association(tmp_path / "m", given)
    factor_file(tmp_path / "m", tmp_path / "links", cepts=5)
    assert len(read_links(tmp_path / "links")) == 30
    with pytest.raises(UsageError, match=r"`cepts` must be at most 5, .* \(.*m, line 30\). Got 6 instead"):
        factor_file(tmp_path / "m", tmp_path / "more", cepts=6)
    assert not (tmp_path / "more").exists()


def test_the_scale_is_that_of_the_first_matrices(tmp_path, monkeypatch):
    random = np.random.default_rng(2)
    values = random.random(80).astype(np.float32)
    lengths = np.full(20, 2, dtype=np.int64)
    probabilities = Association(lengths, lengths, offsets_of(lengths * lengths), values)
    write_association(tmp_path / "p.npz", probabilities)
    file = MatrixFile(tmp_path / "p.npz")
    align_matrices(file, tmp_path / "links", format="scored")
    assert file.scale_used == 200
    write_links(tmp_path / "wanted", factor.onmf(probabilities, scale=200), format="scored")
    assert (tmp_path / "links").read_bytes() == (tmp_path / "wanted").read_bytes()
    factor_file(tmp_path / "p.npz", tmp_path / "links", format="scored", scale=3)
    write_links(tmp_path / "wanted", factor.onmf(probabilities, scale=3), format="scored")
    assert (tmp_path / "links").read_bytes() == (tmp_path / "wanted").read_bytes()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_nothing_is_left_of_a_run_that_fails(given, tmp_path, monkeypatch, small_blocks, error):
    (tmp_path / "links").write_text("old\n")
    seen = []

    def add(self, alignments):
        seen.append(alignments)
        if len(seen) == 3:
            raise error

    monkeypatch.setattr("cepts.pipeline.CeptCounts.add", add)
    with pytest.raises((KeyboardInterrupt, OSError, DataError)):
        factor_file(given, tmp_path / "links")
    assert len(seen) == 3
    assert (tmp_path / "links").read_text() == "old\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["links", "m.jsonl"]


def test_unknown_options(given, tmp_path):
    with pytest.raises(UsageError, match="`format` must be one of"):
        factor_file(given, tmp_path / "links", format="guess")
    with pytest.raises(UsageError, match=r"cepts`? must be"):
        factor_file(given, tmp_path / "links", cepts="guess")
    assert [path.name for path in tmp_path.iterdir()] == ["m.jsonl"]


def test_words_of_the_file_are_used_only_without_sentences(tmp_path):
    one = Association(np.array([1]), np.array([1]), offsets_of([1]), np.array([3], dtype=np.float32))
    write_association(tmp_path / "m", one, bitext=Bitext.from_tokens([(["a"], ["b"])]))
    factor_file(tmp_path / "m", tmp_path / "links", format="json")
    assert json.loads((tmp_path / "links").read_text())["source"] == ["a"]
    factor_file(tmp_path / "m", tmp_path / "links", format="json", bitext=Bitext.from_tokens([(["c"], ["d"])]))
    assert json.loads((tmp_path / "links").read_text())["source"] == ["c"]


def test_one_matrix_of_many_keeps_its_place(association, given):
    found = read_association(given).part(7, 8)
    assert len(found) == 1
    assert found.where(0) == f"{given}, line 8"
    np.testing.assert_array_equal(found.association[0], association[7])
    assert len(found.association.source_null) == association.source_lengths[7]
