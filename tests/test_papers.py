"""The tables of the five papers: each has its place in a page, and an interrupted run continues."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAPERS = ("ibm12", "onmf", "semicrf", "mfa", "nmf_lm")


@pytest.fixture
def benchmarks(monkeypatch):
    """Modules of benchmarks/ can be imported."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


def marks_of(paper: str) -> list[str]:
    """The names of the tables for which a page has a place, in its order."""
    text = (ROOT / "docs" / "papers" / f"{paper}.md").read_text(encoding="utf-8")
    return re.findall(rf"^<!-- {paper} paper (\S+) -->$", text, re.MULTILINE)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_has_a_place_for_every_table_and_no_other(benchmarks, paper):
    from papers import PAPERS as TABLES

    assert sorted(marks_of(paper)) == sorted(TABLES[paper])


@pytest.mark.parametrize("paper", PAPERS)
def test_every_table_of_a_page_was_measured_or_says_that_it_was_not(paper):
    text = (ROOT / "docs" / "papers" / f"{paper}.md").read_text(encoding="utf-8")
    for name in marks_of(paper):
        table = text.split(f"<!-- {paper} paper {name} -->")[1].split(f"<!-- end of {paper} paper {name} -->")[0]
        measured = "| " in table and "Measured on " in table
        assert measured or f"Not measured with this version yet: table {name} of {paper}." in table, name


@pytest.mark.parametrize("paper", PAPERS)
def test_every_figure_of_a_page_is_there(paper):
    page = ROOT / "docs" / "papers" / f"{paper}.md"
    for place in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / place).is_file(), place


def test_a_finished_table_is_not_made_again(benchmarks, tmp_path):
    from paper_run import PaperRun
    from report import Table

    made = []

    def make() -> Table:
        made.append(1)
        return Table("| a |\n| - |", [{"figure": 1.5}])

    run = PaperRun(tmp_path, tmp_path / "work", tmp_path)
    first, again = run.once("onmf", "table1", make), run.once("onmf", "table1", make)
    assert [new for _, new in (first, again)] == [True, False]
    assert again[0].text == first[0].text
    assert list(again[0].records) == list(first[0].records) == [{"figure": 1.5}]
    assert len(made) == 1
    # Other tables, and tables of a part of the data, are other tables.
    run.once("onmf", "table2", make)
    PaperRun(tmp_path, tmp_path / "work", tmp_path, quick=True).once("onmf", "table1", make)
    assert len(made) == 3


def test_a_table_that_fails_is_made_anew(benchmarks, tmp_path):
    from paper_run import PaperRun
    from report import Table

    run = PaperRun(tmp_path, tmp_path / "work", tmp_path)

    def fail() -> Table:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.once("mfa", "table1", fail)
    assert run.once("mfa", "table1", lambda: Table("| a |", []))[1]


def test_missing_data_is_said_plainly(tmp_path):
    command = [sys.executable, ROOT / "benchmarks" / "papers.py", "--data", tmp_path / "nowhere", "--work", tmp_path]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stderr == f"There is no directory {tmp_path / 'nowhere'}; say by --data where the data is.\n"


def test_kept_results_say_where_they_come_from():
    for line in (ROOT / "benchmarks" / "results" / "papers.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        assert record["paper"] in PAPERS
        assert {"table", "date", "commit", "cepts"} <= set(record)
