"""The files of examples/cluster do what they say, with stand-ins for schedulers that a test machine does not have."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import click
import pytest

from cepts import cli
from cepts.cli import main

pytestmark = pytest.mark.skipif(os.name == "nt", reason="shell scripts")
ROOT = Path(__file__).resolve().parent.parent
CLUSTER = ROOT / "examples" / "cluster"
SAMPLE = Path(str(files("cepts") / "sample"))
PAIRS = 150


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    """The links that every way of running the job must give."""
    directory = tmp_path_factory.mktemp("wanted")
    write_texts(directory)
    arguments = [str(directory / name) for name in ("en.txt.gz", "fr.txt.gz", "links")]
    assert main(["align", *arguments[:2], "-o", arguments[2], "--quiet"]) == 0
    return (directory / "links").read_bytes()


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A directory with the texts, and an empty one for stand-ins that are found before any other program."""
    write_texts(tmp_path)
    (tmp_path / "bin").mkdir()
    paths = [str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    for name, value in {
        "PATH": os.pathsep.join(paths),
        "PYTHONPATH": os.pathsep.join(sys.path),
        "SOURCE": "en.txt.gz",
        "TARGET": "fr.txt.gz",
        "JOB": str(tmp_path / "job"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_texts(directory):
    for language in ("en", "fr"):
        lines = (SAMPLE / f"sample.{language}").read_text(encoding="utf-8").splitlines(keepends=True)[:PAIRS]
        (directory / f"{language}.txt.gz").write_bytes(gzip.compress("".join(lines).encode()))


def stand_in(place, name, script):
    path = place / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}", encoding="utf-8")
    path.chmod(0o755)


def run(name, **environment):
    done = subprocess.run(
        ["sh", str(CLUSTER / name)], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def cepts(arguments):
    """Run a command in this process, which is faster than a process of its own."""
    assert main(list(arguments)) == 0, arguments


def arguments_of(script, **environment):
    """What a shell would give to the program `cepts`, which the script runs and nothing else."""
    caught = f"""cepts() {{ printf '%s\\n' "$@"; }}\n{script.replace("exec cepts", "cepts")}"""
    found = subprocess.run(
        ["sh", "-c", caught], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return found.stdout.splitlines()


@pytest.mark.parametrize("ranges", ["0", "2"])
def test_a_chain_of_slurm_jobs(place, wanted, ranges):
    keep = 'for part; do printf "%s\\0" "$part"; done > "jobs/$number"'
    stand_in(place, "sbatch", f'number=$(($(ls jobs | wc -l) + 1)); {keep}; echo "$number;cluster"\n')
    (place / "jobs").mkdir()
    said = run("slurm-steps.sh", SHARES="2", THREADS="1", RANGES=ranges)
    kept = sorted((place / "jobs").iterdir(), key=lambda file: int(file.name))
    jobs = [file.read_text().split("\0")[:-1] for file in kept]
    assert said.splitlines()[-1] == f"the last job is {len(jobs)}"
    # Indexing and eight iterations, each with its reduce and perhaps two rounds by range; then the links.
    assert len(jobs) == (2 if ranges == "0" else 4) * 8 + 2
    for number, job in enumerate(jobs):
        options = dict(part.partition("=")[::2] for part in job)
        assert options.get("--dependency") == (f"afterok:{number}" if number else None)
        if number == len(jobs) - 1:
            subprocess.run(["sh", "-c", options["--wrap"]], check=True)
        elif "--array" in options:
            assert options["--array"] == "1-2"
            for task in ("2", "1"):
                cepts(arguments_of(options["--wrap"], SLURM_ARRAY_TASK_ID=task))
        else:
            cepts(arguments_of(options["--wrap"]))
    assert (place / "job.links.txt").read_bytes() == wanted
    # Run again, it only aligns.
    for file in kept:
        file.unlink()
    assert run("slurm-steps.sh", SHARES="2", THREADS="1").splitlines()[-1] == "the last job is 2"


def test_a_slurm_array_whose_tasks_wait_for_each_other(place, wanted):
    cepts(["shard", "en.txt.gz", "fr.txt.gz", "job", "--quiet"])
    started = [
        subprocess.Popen(
            ["sh", str(CLUSTER / "slurm-shares.sh")],
            env=os.environ | {"SLURM_ARRAY_TASK_ID": task, "SLURM_ARRAY_TASK_COUNT": "2", "SLURM_CPUS_PER_TASK": "1"},
        )
        for task in ("1", "2")
    ]
    assert [process.wait(120) for process in started] == [0, 0]
    assert b"".join((place / f"job.links.0000{task}").read_bytes() for task in (1, 2)) == wanted


def test_machines_reached_by_ssh(place, wanted):
    stand_in(place, "ssh", 'echo "$2" >> hosts; shift 2; exec sh -c "$*"\n')
    run("ssh.sh", HOSTS="one two")
    assert sorted((place / "hosts").read_text().split()) == ["one", "two"]
    assert (place / "job.links.txt").read_bytes() == wanted


@pytest.mark.xdist_group("cluster")
def test_a_dask_cluster_within_a_slurm_job(place, wanted):
    pytest.importorskip("distributed")
    stand_in(place, "srun", '[ "$1" = --ntasks=1 ] || exit 1; shift; exec "$@"\n')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = ["sh", str(CLUSTER / "slurm-dask.sh")]
    environment = os.environ | {"HOST": "127.0.0.1", "PORT": port, "SLURM_NTASKS": "2", "TMPDIR": str(place)}
    with (place / "log").open("wb") as log:
        # In a session of its own, whose processes end with it as those of a job do.
        job = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            code = job.wait(120)
        finally:
            os.killpg(job.pid, signal.SIGKILL)
    assert code == 0, (place / "log").read_text()
    assert (place / "job.links.txt").read_bytes() == wanted


def test_a_spot_machine(place, wanted):
    for _ in range(2):
        run("spot.sh")
        assert (place / "job.links.txt").read_bytes() == wanted
        (place / "en.txt.gz").unlink(missing_ok=True)  # the second machine does not need it


# -- Kubernetes --------------------------------------------------------------------------------------------------------


def manifests(name):
    yaml = pytest.importorskip("yaml")
    return list(yaml.safe_load_all((CLUSTER / name).read_text(encoding="utf-8")))


def containers_of(manifest):
    spec = manifest["spec"]["template"]["spec"]
    claims = {volume["name"]: volume["persistentVolumeClaim"]["claimName"] for volume in spec.get("volumes", [])}
    for container in spec["containers"]:
        assert container["image"] == "cepts:0.1.0"
        assert all(mount["name"] in claims for mount in container.get("volumeMounts", []))
        yield container


def test_pods_that_wait_for_each_other(place, wanted):
    (job,) = manifests("kubernetes-shares.yaml")
    (container,) = containers_of(job)
    spec = job["spec"]
    environment = {entry["name"]: entry["value"] for entry in container["env"]}
    assert (job["kind"], spec["completionMode"]) == ("Job", "Indexed")
    assert str(spec["completions"]) == str(spec["parallelism"]) == environment["SHARES"]
    shared = container["volumeMounts"][0]["mountPath"]
    environment = {name: value.replace(shared, str(place)) for name, value in environment.items()}
    started = [
        subprocess.Popen(
            container["command"],
            env=os.environ | environment | {"SHARES": "2", "JOB_COMPLETION_INDEX": str(index)},
        )
        for index in (1, 0)
    ]
    assert [process.wait(120) for process in started] == [0, 0]
    assert b"".join((place / f"job.links.0000{task}").read_bytes() for task in (1, 2)) == wanted


def test_a_dask_cluster_in_kubernetes():
    service, scheduler, workers, job = manifests("kubernetes-dask.yaml")
    assert [each["kind"] for each in (service, scheduler, workers, job)] == ["Service", *["Deployment"] * 2, "Job"]
    for deployment in (scheduler, workers):
        assert deployment["spec"]["selector"]["matchLabels"] == deployment["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"] == scheduler["spec"]["selector"]["matchLabels"]
    address = f"tcp://{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
    (container,) = containers_of(scheduler)
    assert container["command"][:4] == ["dask", "scheduler", "--port", address.rpartition(":")[2]]
    (container,) = containers_of(workers)
    assert container["command"][:3] == ["dask", "worker", address]
    (container,) = containers_of(job)
    program, name, *arguments = container["command"]
    assert program == "cepts"
    parsed = cli.cepts.get_command(click.Context(cli.cepts), name).make_context(name, arguments).params
    assert parsed["engine"] == f"dask:{address}"
    assert parsed["checkpoint"].startswith(container["volumeMounts"][0]["mountPath"])


# -- Snakemake ---------------------------------------------------------------------------------------------------------


@dataclass
class Rule:
    """A rule of a Snakefile: what its sections say."""

    input: list = field(default_factory=list)
    output: list = field(default_factory=list)
    shell: str = ""


class Snakemake:
    """As much of Snakemake as the Snakefile needs: rules, wildcards, `expand` and `touch`; one command at a time."""

    def __init__(self, text, **config):
        self.names = {"config": config, "touch": lambda path: path, "expand": self.expand}
        head, *blocks = re.split(r"^(?:rule (\w+)|wildcard_constraints):\n", text, flags=re.MULTILINE)
        exec(head, self.names)
        self.rules, self.constraints = {}, {}
        for name, block in zip(blocks[::2], blocks[1::2], strict=True):
            if name is None:
                self.constraints = eval(f"dict({block})", self.names)
                continue
            rule = self.rules[name] = Rule()
            _, *sections = re.split(r"^    (\w+):\n", block, flags=re.MULTILINE)
            for section, content in zip(sections[::2], sections[1::2], strict=True):
                value = eval(f"({content})", self.names)
                setattr(rule, section, value if section == "shell" else [*flat(value)])
        self.ran = []

    @staticmethod
    def expand(pattern, **values):
        ((name, found),) = values.items()
        return [pattern.replace(f"{{{name}}}", str(value)).replace("{{", "{").replace("}}", "}") for value in found]

    def make(self, target):
        if Path(target).exists():
            return
        for name, rule in self.rules.items():
            for pattern in rule.output:
                parts = re.split(r"\{(\w+)\}", pattern)
                parts[::2] = map(re.escape, parts[::2])
                parts[1::2] = [f"(?P<{part}>{self.constraints[part]})" for part in parts[1::2]]
                if match := re.fullmatch("".join(parts), target):
                    self.run(name, rule, target, type("Wildcards", (), match.groupdict()))
                    return
        raise AssertionError(f"nobody makes {target}")

    def run(self, name, rule, target, wildcards):
        inputs = [entry(wildcards) if callable(entry) else entry for entry in rule.input]
        known = {key: value for key, value in vars(wildcards).items() if not key.startswith("_")}
        inputs = [entry.format(**known) for entry in inputs]
        for path in inputs:
            self.make(path)
        given = {"input": " ".join(inputs), "output": target, "wildcards": wildcards}
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        command = rule.shell.format(**{**self.names, **given})
        if command.startswith("cat "):
            subprocess.run(["sh", "-c", command], check=True)
        elif command:
            cepts(shlex.split(command.rpartition("|| ")[2])[1:])
            Path(target).touch()
        self.ran.append(name)


def flat(value):
    if isinstance(value, (tuple, list)):
        for each in value:
            yield from flat(each)
    else:
        yield value


def test_a_snakefile(place, wanted):
    source = (CLUSTER / "Snakefile").read_text(encoding="utf-8")
    if program := shutil.which("snakemake"):
        config = ["--config", "source=en.txt.gz", "target=fr.txt.gz", "shares=2"]
        subprocess.run([program, "--snakefile", str(CLUSTER / "Snakefile"), "--cores", "2", *config], check=True)
    else:
        snakemake = Snakemake(source, source="en.txt.gz", target="fr.txt.gz", shares=2)
        snakemake.run("all", snakemake.rules["all"], "all", type("Wildcards", (), {}))
        assert [snakemake.ran.count(name) for name in snakemake.rules] == [1, 1, 20, 10, 2, 1]
    assert (place / "links.txt").read_bytes() == wanted


def test_every_file_is_shown():
    page = (ROOT / "docs" / "howto" / "cluster.md").read_text(encoding="utf-8")
    for file in sorted(CLUSTER.iterdir()):
        assert page.count(f"../../examples/cluster/{file.name}\n") == 1, file
