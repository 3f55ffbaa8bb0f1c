from __future__ import annotations

import subprocess
import sys

import pytest

from cepts.pipeline.demo import COMPARED

HEAVY = ("numpy", "numba", "scipy", "rich", "lxml", "pyarrow", "safetensors", "xopen", "zstandard")


@pytest.fixture(scope="module")
def shown():
    """Stdout and stderr of one demo, run as a user would."""
    done = subprocess.run(
        [sys.executable, "-m", "cepts", "demo"], capture_output=True, encoding="utf-8", timeout=300, check=True
    )
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def test_the_table_has_aer(shown):
    lines = shown[0].splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("--combine"))
    assert lines[start].split()[:4] == ["--combine", "precision", "recall", "AER"]
    rows = [line.split() for line in lines[start + 1 : start + 1 + len(COMPARED)]]
    assert [row[0] for row in rows] == list(COMPARED)
    for _, precision, recall, aer, interval, links in rows:
        assert float(precision) > 90
        assert float(recall) > 90
        low, high = map(float, interval.split("-"))
        assert low <= float(aer) <= high
        assert float(aer) < 6  # where links are as good as promised; a broken model has 30 and more
        assert int(links) > 400


def test_pairs_are_pictures(shown):
    """A row for each source word, as wide as the target sentence, with marks of links."""
    blocks = shown[0].split("\n\n")[:3]
    for block in blocks:
        header, *rows = block.splitlines()
        width = max(len(row.split("  ")[0]) for row in rows)
        assert header[:width].strip() == ""
        for row in rows:
            marks = row[width:].split()
            assert len(marks) == len(header.split())
            assert set(marks) <= {"·", "■", "□"}
        assert "■" in block


def test_it_says_where_to_go_next(shown):
    for command in ("cepts align ", "cepts lexicon ", "cepts score ", "cepts --help"):
        assert command in shown[1]
    assert "3,000 sentence pairs" in shown[1]


def test_the_same_every_time(cepts, shown):
    ran = cepts("demo", "--quiet")
    assert ran.code == 0
    assert ran.out == shown[0]


@pytest.mark.parametrize("arguments", [["--help"], [], ["lexicon", "--help"], ["demo", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    code = (
        f"import sys; from cepts.cli import main; main({arguments!r}); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "[]"
    assert "Usage:" in done.stdout
