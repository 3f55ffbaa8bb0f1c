"""A real cluster of two workers over TCP: the same bytes, whatever happens to the workers."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
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
from cepts.words.job import JobTask, TrainingJob
from cepts.words.text import ShelvedText
from cepts.words.training import AlignerTraining

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
        for _ in range(600):
            try:
                return json.loads(self.file.read_text())["address"]
            except (OSError, ValueError):
                time.sleep(0.1)
        raise AssertionError((self.directory / "scheduler.log").read_text())

    def restart_scheduler(self):
        """Kill the scheduler, and start another one at its address; the workers of the first one end."""
        port = self.address.rpartition(":")[2]
        self.scheduler.kill()
        self.scheduler.wait()
        self.scheduler = self.start("scheduler", "--port", port, "--no-dashboard", "--host", "127.0.0.1")

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


def perform_and_die(directory: str, deaths: int, task, number: int) -> None:
    """A task before which the worker that runs it dies, as long as fewer than `deaths` have died."""
    for death in range(deaths):
        with contextlib.suppress(FileExistsError):
            (Path(directory) / f"death {death}").touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
    task(number)


def test_both_workers_die_one_after_the_other(cluster, shelved, wanted, tmp_path, monkeypatch):
    run, deaths = DaskEngine._run, tmp_path / "deaths"
    deaths.mkdir()

    def sabotaged(self, task, waiting, total, tick):
        if (task.kind, task.stage, task.iteration) == ("count", "training-hmm", 1):
            task = functools.partial(perform_and_die, str(deaths), 2, task)
        run(self, task, waiting, total, tick)

    monkeypatch.setattr(DaskEngine, "_run", sabotaged)
    with cluster.watched(), closing(DaskEngine(cluster.address, no_workers=60)) as engine:
        found = HMM(**OPTIONS).fit_shelved(shelved, engine=engine)
    assert len(list(deaths.iterdir())) == 2
    assert everything(found, shelved) == wanted


def test_a_scheduler_that_is_restarted_in_mid_job(tmp_path, shelved, wanted, monkeypatch):
    monkeypatch.setattr(engines_module, "PATIENCE", 5.0)
    (tmp_path / "dask").mkdir()
    with closing(Cluster(tmp_path / "dask")) as cluster, closing(DaskEngine(cluster.address)) as engine:
        run = DaskEngine._run
        restarts = []

        def sabotaged(self, task, waiting, total, tick):
            def restarting(done, total):
                if (task.kind, task.stage, task.iteration) == ("count", "training-ibm1", 1) and not restarts:
                    restarts.append(done)
                    cluster.restart_scheduler()
                tick(done, total)

            run(self, task, waiting, total, tick and restarting)

        monkeypatch.setattr(DaskEngine, "_run", sabotaged)
        with cluster.watched():
            found = HMM(**OPTIONS).fit_shelved(shelved, engine=engine)
        assert restarts == [1]
        assert everything(found, shelved) == wanted


def test_a_scheduler_that_does_not_come_back_is_said_in_one_line(tmp_path, shelved, wanted, monkeypatch):
    monkeypatch.setattr(engines_module, "PATIENCE", 0.2)
    (tmp_path / "dask").mkdir()
    with closing(Cluster(tmp_path / "dask")) as cluster, closing(DaskEngine(cluster.address)) as engine:
        learn = AlignerTraining.learn

        def killing(self):
            cluster.scheduler.kill()
            learn(self)

        monkeypatch.setattr(AlignerTraining, "learn", killing)
        message = r"^the cluster tcp://\S+ failed 5 times in a row \(.*\); look at its log, then run the same command"
        with pytest.raises(CeptsError, match=message) as raised:
            HMM(**OPTIONS).fit_shelved(shelved, engine=engine)
    assert "\n" not in str(raised.value)
    monkeypatch.setattr(AlignerTraining, "learn", learn)
    assert everything(HMM(**OPTIONS).fit_shelved(shelved), shelved) == wanted


def test_damaged_counts_are_made_again_while_a_cluster_runs(cluster, shelved, wanted, monkeypatch):
    count_all, damaged = AlignerTraining.e_step, []

    def damaging(self, tick):
        objective = count_all(self, tick)
        for file, place in zip(sorted(self.shelf.directory.glob(f"{self.stage}/counts-*/*")), (-3, 40), strict=False):
            data = bytearray(file.read_bytes())
            data[place] ^= 1
            file.write_bytes(data)
            damaged.append(file)
        return objective

    monkeypatch.setattr(AlignerTraining, "e_step", damaging)
    with closing(DaskEngine(cluster.address)) as engine:
        found = HMM(**OPTIONS).fit_shelved(shelved, engine=engine)
    assert len(damaged) == 8
    assert everything(found, shelved) == wanted


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own with 300 kB."""
    directory = tmp_path / "disk"
    directory.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(directory)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root can mount a small file system")
    yield directory
    # Lazily, because workers have files of it mapped.
    subprocess.run(["umount", "--lazy", str(directory)], check=True)


def test_a_full_disk_is_said_and_nothing_half_written_is_read(cluster, text, wanted, small_disk, monkeypatch):
    monkeypatch.setattr(aligner_module, "SIZES", SMALL)
    job, ballast = small_disk / "job", small_disk / "ballast"
    shelved = ShelvedText.put(DiskShelf(job), text, SMALL.shard)
    with closing(DaskEngine(cluster.address)) as engine:
        HMM(**OPTIONS | {"iterations": 0}).fit_shelved(shelved, engine=engine)
        # One page is left: some task of the next iteration finds no more.
        ballast.write_bytes(bytes(shutil.disk_usage(small_disk).free - os.sysconf("SC_PAGE_SIZE")))
        message = rf"^the disk of {job} is full \(\S+: No space left on device\); free some space, then run the same"
        with pytest.raises(CeptsError, match=message) as raised:
            HMM(**OPTIONS).fit_shelved(shelved, engine=engine)
        assert "\n" not in str(raised.value)
        ballast.unlink()
        found = HMM(**OPTIONS).fit_shelved(shelved, engine=engine)
    assert not list(job.rglob(".*"))
    assert everything(found, shelved) == wanted


def test_another_job_in_the_same_directory_is_not_taken_for_the_first(cluster, text, shelved, wanted):
    """Workers keep what they have read of a job; another text that takes its place must not meet the words of it."""
    other = Bitext.from_tokens([(["x"], ["y"])] * 3)
    with closing(DaskEngine(cluster.address)) as engine:
        shelf = DiskShelf(shelved.shelf.directory.parent / "again")
        job = TrainingJob(HMM(**OPTIONS), ShelvedText.put(shelf, other, SMALL.shard), SMALL, engine)
        job.keep_options()
        job.index()
        shutil.rmtree(shelf.directory)
        again = ShelvedText.put(DiskShelf(shelf.directory), text, SMALL.shard)
        found = HMM(**OPTIONS).fit_shelved(again, engine=engine)
    assert everything(found, again) == wanted


def test_workers_that_do_not_see_the_directory_are_told_of(cluster, shelved):
    with closing(DaskEngine(cluster.address)) as engine:
        task = JobTask(str(shelved.shelf.directory / "elsewhere"), "index", None, 0)
        message = r"a worker cannot read \S+text\.piece \(No such file or directory\); all machines must see"
        with pytest.raises(CeptsError, match=message):
            engine.run(task, [0])


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
