"""A real cluster of two workers over TCP: the same bytes, whatever happens to the workers."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

import cepts.words.aligner as aligner_module
from bitexts_words import WORDS_WITH_STEMS
from cepts.data import Bitext
from cepts.engine import DaskEngine, ThreadEngine, engine_of
from cepts.engine import engines as engines_module
from cepts.errors import CeptsError, UsageError
from cepts.store import DiskShelf
from cepts.words import HMM
from cepts.words.index import Sizes
from cepts.words.text import ShelvedText

pytest.importorskip("distributed")
pytestmark = pytest.mark.xdist_group("cluster")
SMALL = Sizes(block=150, shard=400, range=60)
OPTIONS = {"iterations": 2, "start_iterations": 2}


class Cluster:
    """A scheduler and two workers, each a process of its own."""

    def __init__(self, directory: Path, workers: int = 2) -> None:
        self.directory = directory
        self.environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "ignore"}
        self.file = directory / "scheduler.json"
        self.scheduler = self.start("scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1")
        self.workers = [self.worker() for _ in range(workers)]

    def start(self, kind, *arguments):
        command = [sys.executable, "-m", "distributed.cli.dask_" + kind, "--scheduler-file", str(self.file), *arguments]
        with (self.directory / f"{kind}.log").open("ab") as log:
            return subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, cwd=self.directory)

    def worker(self):
        options = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--death-timeout", "60", "--host", "127.0.0.1")
        return self.start("worker", *options)

    @property
    def address(self):
        import json

        for _ in range(600):
            try:
                return json.loads(self.file.read_text())["address"]
            except (OSError, ValueError):
                time.sleep(0.1)
        raise AssertionError((self.directory / "scheduler.log").read_text())

    @contextmanager
    def watched(self):
        """Start a new worker wherever one dies, as a scheduler of cheap machines does."""
        ended = threading.Event()

        def watch():
            while not ended.wait(0.2):
                self.workers = [worker if worker.poll() is None else self.worker() for worker in self.workers]

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def close(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def text():
    random = np.random.default_rng(1)

    def sentence():
        words = random.integers(0, len(WORDS_WITH_STEMS), random.integers(1, 9))
        return [WORDS_WITH_STEMS[word] for word in words]

    return Bitext.from_tokens([(sentence(), sentence()) for _ in range(100)])


@pytest.fixture
def shelved(text, tmp_path, monkeypatch):
    monkeypatch.setattr(aligner_module, "SIZES", SMALL)
    return ShelvedText.put(DiskShelf(tmp_path / "job"), text, SMALL.shard)


@pytest.fixture
def wanted(text, monkeypatch):
    monkeypatch.setattr(aligner_module, "SIZES", SMALL)
    return everything(HMM(**OPTIONS).fit(text), text)


def everything(aligner, text):
    links = aligner.align(text)
    arrays = (links.offsets, links.source, links.target, links.confidence, aligner.lexicon_.table)
    return [aligner.objectives_, *(array.tobytes() for array in arrays)]


def perform_once(marker: str, what: str, task, number: int) -> None:
    """A task before which, once, the worker that runs it dies or fails."""
    path = Path(marker)
    if not path.exists():
        path.touch()
        if what == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(28, "No space left on device")
    task(number)


def test_a_running_cluster_gives_the_same_bytes(cluster, shelved, wanted, text):
    with engine_of(f"dask:{cluster.address}") as engine:
        found = HMM(**OPTIONS).fit_shelved(shelved, engine=engine)
    assert shelved.shards > 3
    assert everything(found, shelved) == wanted


@pytest.mark.parametrize("what", ["die", "fail"])
def test_a_task_whose_worker_dies_or_fails_runs_again(cluster, shelved, wanted, tmp_path, what, monkeypatch):
    run = DaskEngine._run

    def sabotaged(self, task, waiting, total, tick):
        marker = str(tmp_path / f"{what} {task.kind} {task.stage} {task.iteration}")
        if task.kind == "count" and task.iteration == 1:
            task = functools.partial(perform_once, marker, what, task)
        run(self, task, waiting, total, tick)

    monkeypatch.setattr(DaskEngine, "_run", sabotaged)
    with cluster.watched(), closing(DaskEngine(cluster.address, no_workers=60)) as engine:
        found = HMM(**OPTIONS).fit_shelved(shelved, engine=engine)
    assert len(list(tmp_path.glob(f"{what} count*"))) == 2
    assert everything(found, shelved) == wanted


def test_a_cluster_without_workers_is_not_waited_for_for_ever(tmp_path, shelved):
    message = r"has had no worker for \d+ s; start some, then run the same command"
    with (
        closing(Cluster(tmp_path, workers=0)) as lonely,
        closing(DaskEngine(lonely.address, no_workers=1)) as engine,
        pytest.raises(CeptsError, match=message),
    ):
        HMM(**OPTIONS).fit_shelved(shelved, engine=engine)


def test_a_worker_of_another_version_is_refused(cluster, shelved, monkeypatch):
    monkeypatch.setattr(engines_module, "__version__", "99.0")
    message = r"a worker has cepts .*, but the job was started by cepts 99\.0; install"
    with closing(DaskEngine(cluster.address)) as engine, pytest.raises(CeptsError, match=message):
        HMM(**OPTIONS).fit_shelved(shelved, engine=engine)


def test_an_error_of_a_task_is_the_error_of_the_job(cluster, shelved):
    with closing(DaskEngine(cluster.address)) as engine:
        HMM(**OPTIONS | {"iterations": 0}).fit_shelved(shelved, engine=engine)
        directory = shelved.shelf.directory
        for file in directory.glob("text/*.piece"):
            file.unlink()
        for file in directory.glob("index/*.piece"):
            file.unlink()
        # Of two tasks that fail, either may be heard of first.
        with pytest.raises(CeptsError, match=r"text.0000\d\.piece is missing"):
            HMM(**OPTIONS).fit_shelved(shelved, engine=engine)


def test_no_scheduler_is_said_in_one_line(shelved, monkeypatch):
    monkeypatch.setattr(engines_module, "PATIENCE", 0.5)
    with pytest.raises(CeptsError, match=r"there is no Dask scheduler at tcp://127\.0\.0\.1:1 ") as raised:
        HMM(**OPTIONS).fit_shelved(shelved, engine=DaskEngine("tcp://127.0.0.1:1"))
    assert "\n" not in str(raised.value)


def test_engines_by_name():
    with engine_of("local", 3) as engine:
        assert isinstance(engine, ThreadEngine)
        assert (engine.threads, engine.remote) == (3, False)
    for wrong in ("spark", "local:1", ""):
        with pytest.raises(UsageError, match="`engine` must be local, dask or dask:ADDRESS"), engine_of(wrong):
            pass
