"""Jobs in steps: the same bytes from memory, from files, from threads and from two workers of a cluster."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

import cepts.lm.cells as cells_module
import cepts.lm.ngram_counts as ngrams_module
import cepts.lm.shelved as shelved_module
import cepts.pipeline.phrase_jobs as phrases_module
import cepts.spaces.moments as moments_module
import oracles_ngrams
from cepts.data import Documents, Sentence, SentencePair
from cepts.engine import DaskEngine, PieceStep, ThreadEngine, Workplace, keep_terms, run_steps
from cepts.errors import CeptsError, ModelError, UsageError
from cepts.extract import Extraction, aligned_runs
from cepts.factor import Factoring
from cepts.lm import KneserNey, document_counts, window_counts
from cepts.phrases import TokenAligner
from cepts.pipeline.phrase_jobs import PhraseWork, aligned_on, decoded, encoded
from cepts.spaces.moments import gather_moments
from cepts.store import DiskShelf, MemoryShelf
from toy_paraphrases import toy_pairs

TEXT = oracles_ngrams.random_text(3, sentences=80, words=25)
NGRAMS = ("levels", "words", "probs", "backoffs", "first", "suffixes")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(shelved_module, "SHARD_WORDS", 60)
    monkeypatch.setattr(ngrams_module, "RANGE_WORDS", 40)
    monkeypatch.setattr(cells_module, "RANGE_CELLS", 100)
    monkeypatch.setattr(moments_module, "SHARD_ENTRIES", 7)


@pytest.fixture(scope="module")
def token_model(tmp_path_factory):
    directory = tmp_path_factory.mktemp("model") / "token"
    TokenAligner(language=None, iterations=10, threads=1).fit(toy_pairs(30)).save(directory)
    return directory


def ngrams(workplace):
    found = KneserNey(order=3).fit(TEXT, workplace=workplace).ngrams_
    return [getattr(found, name).tobytes() for name in NGRAMS]


def windows(workplace):
    documents = Documents(TEXT, np.array([0, 30, len(TEXT)]), ("a", "b"))
    found = window_counts(documents, np.arange(len(TEXT.vocabulary)) % 3 > 0, stop_first=True, workplace=workplace)
    return [getattr(found, name).tobytes() for name in ("data", "indices", "indptr")]


def in_documents(workplace):
    documents = Documents(TEXT, np.array([0, 10, 30, len(TEXT)]), ("a", "b", "c"))
    found = document_counts(documents, np.arange(len(TEXT.vocabulary)) % 3 > 0, workplace=workplace)
    return [getattr(found, name).tobytes() for name in ("data", "indices", "indptr")]


def moments(workplace):
    random = np.random.default_rng(0)
    views = [random.standard_normal((50, width)).astype(np.float32) for width in (3, 4)]
    found = gather_moments(views, random.integers(-1, 50, (60, 2)), None, workplace)
    return [(part.views, part.weight, part.mean.tobytes(), part.covariance.tobytes()) for part in found]


JOBS = {"n-grams": ngrams, "windows": windows, "documents": in_documents, "moments": moments}


class Killed(BaseException):
    """Stands for SIGKILL: nothing after it runs."""


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("name", JOBS)
def test_a_job_that_is_killed_anywhere_ends_with_the_same_bytes(name, after, tmp_path, monkeypatch):
    job = JOBS[name]
    wanted = job(Workplace(ThreadEngine(1)))
    put = DiskShelf.put
    left = 0

    def mortal(self, piece, arrays, /, **settings):
        nonlocal left
        left -= 1
        if left <= 0 and not after:
            raise Killed
        put(self, piece, arrays, **settings)
        if left <= 0:
            raise Killed

    monkeypatch.setattr(DiskShelf, "put", mortal)
    for attempt in range(1, 100):
        left = 1 + attempt % 3
        try:
            found = job(Workplace(ThreadEngine(1), tmp_path))
        except Killed:
            continue
        assert found == wanted
        assert attempt > 3
        return
    raise AssertionError("the job does not end")


@pytest.mark.xdist_group("cluster")
def test_two_workers_of_a_cluster_give_the_bytes_of_this_process(tmp_path, token_model):
    distributed = pytest.importorskip("distributed")
    pairs = toy_pairs(phrases_module.SHARD_PAIRS + 3, seed=1)
    work = PhraseWork(model=str(token_model), extraction=Extraction(), scores=True)

    def links(workplace):
        with aligned_on(workplace, work, pairs) as runs:
            return [(run.links.source.tobytes(), run.links.confidence.tobytes(), run.scores.tobytes()) for run in runs]

    places = {"host": "127.0.0.1", "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **places) as cluster,
        closing(DaskEngine(cluster.scheduler_address)) as engine,
    ):
        for name, job in {**JOBS, "links": links}.items():
            assert job(Workplace(engine, tmp_path / name)) == job(Workplace(ThreadEngine(1))), name
    # The workers have left what this process would have.
    for name, job in JOBS.items():
        before = {path: path.read_bytes() for path in (tmp_path / name).rglob("*.piece")}
        again = tmp_path / f"{name} again"
        job(Workplace(ThreadEngine(2), again))
        assert {path.relative_to(tmp_path / name): data for path, data in before.items()} == {
            path.relative_to(again): path.read_bytes() for path in again.rglob("*.piece")
        }


@pytest.mark.parametrize("options", [{}, {"combine": "onmf", "factoring": Factoring(cepts="aic", restarts=2)}])
def test_links_made_in_shards_are_those_of_a_single_pass(tmp_path, token_model, options, monkeypatch):
    monkeypatch.setattr(phrases_module, "SHARD_PAIRS", 16)
    pairs = [*toy_pairs(40, seed=1), SentencePair(Sentence(()), Sentence(("w1",), lemma=("l1",)), id="empty")]
    work = PhraseWork(model=str(token_model), extraction=Extraction(**options), matrices=True, scores=True)
    scorer = TokenAligner.load(token_model, threads=1)
    monkeypatch.setattr(TokenAligner, "PAIRS_AT_A_TIME", 16)
    wanted = list(aligned_runs(scorer, pairs, work.extraction, matrices=True, scores=True))
    for missing in (None, "links/00001"):
        if missing is not None:
            (tmp_path / f"{missing}.piece").unlink()
        with aligned_on(Workplace(ThreadEngine(2), tmp_path), work, pairs) as runs:
            found = list(runs)
        assert len(found) == len(wanted) == 3
        for one, other in zip(found, wanted, strict=True):
            assert phrases_module._arrays_of("links", one.links).keys() == (
                phrases_module._arrays_of("links", other.links).keys()
            )
            for part in ("links", "matrix"):
                mine = phrases_module._arrays_of(part, getattr(one, part))
                for name, array in phrases_module._arrays_of(part, getattr(other, part)).items():
                    assert mine[name].tobytes() == array.tobytes(), name
            assert one.scores.tobytes() == other.scores.tobytes()
    for other in (replace(work, scores=False), replace(work, links="phrases")):
        with (
            pytest.raises(ModelError, match="`work` differs"),
            aligned_on(Workplace(ThreadEngine(1), tmp_path), other, pairs),
        ):
            pass


def test_pairs_are_read_as_they_were_put():
    pairs = [
        SentencePair(Sentence(("\udcff", "é"), pos=("NN", "X")), Sentence((), lemma=()), id="1"),
        SentencePair(Sentence(("a b",), chunk=("B-NP",)), Sentence(("c",))),
    ]
    assert decoded(encoded(pairs)) == pairs


# -- steps -------------------------------------------------------------------------------------------------------------


def double(shelf, number):
    """Work of a first step."""
    return {"value": 2 * shelf.get("numbers")["values"][number : number + 1]}


def add_up(shelf, number):
    """Work of a second step, which needs all pieces of the first."""
    return {"sum": sum(shelf.get(f"doubled/{n:05}")["value"] for n in range(5))}


def toy_steps(shelf):
    yield PieceStep("doubling", "doubled", "test_steps_of_jobs:double", 5)
    assert shelf.has("doubled/00004")  # a step is asked for when those before it are finished
    yield PieceStep("adding", "sums", "test_steps_of_jobs:add_up", 1)


@pytest.fixture
def toy(monkeypatch):
    import sys
    from types import SimpleNamespace

    monkeypatch.setitem(sys.modules, "test_steps_of_jobs", SimpleNamespace(double=double, add_up=add_up))


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("kind", ["memory", "files"])
def test_steps_run_what_is_missing_and_say_so(kind, tmp_path):
    shelf = MemoryShelf() if kind == "memory" else DiskShelf(tmp_path)
    keep_terms(shelf, "numbers", {"values": np.arange(5)})
    before = {
        (): {},
        ("doubled/00001", "doubled/00003"): {"doubling": (3, 5)},
        ("sums",): {},
        ("no",): {"adding": (1, 1)},
    }
    for missing, wanted in before.items():
        for name in missing:
            shelf.drop(name)
        said = []
        *_, last = run_steps(toy_steps(shelf), shelf, ThreadEngine(2), said.append)
        (piece,) = last.pieces(shelf)
        assert piece["sum"].tolist() == [20]
        assert {step.stage: step.parts for step in said if step.parts is not None} == wanted
        assert all(step.done <= step.total for step in said)


def test_a_cluster_needs_a_directory():
    class Remote:
        remote, threads = True, 1

    with pytest.raises(UsageError, match="`engine` dask needs `checkpoint`, a directory that all workers"):
        Workplace(Remote())


@pytest.mark.usefixtures("toy")
def test_an_error_of_a_task_is_the_error_of_the_job(tmp_path):
    shelf = DiskShelf(tmp_path)
    with pytest.raises(CeptsError, match=r"numbers\.piece is missing"):
        run_steps(toy_steps(shelf), shelf, ThreadEngine(1))
