"""The figures of the pages: what the command draws now is what they show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from cepts.cli import main
from cepts.cli.factor import command

pytest.importorskip("matplotlib")

ROOT = Path(__file__).resolve().parent.parent
TOYS = ROOT / "examples" / "toys.jsonl"
FIGURES = ROOT / "docs" / "figures"
NAMES = ("toys.svg", "toys-criterion.svg")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """The directory with the figures as they are drawn now, and the record of the pair."""
    directory = tmp_path_factory.mktemp("figures")
    factors, criterion = (str(directory / name) for name in NAMES)
    links = directory / "links.jsonl"
    plots = ["--plot", factors, "--plot-criterion", criterion]
    ran = CliRunner().invoke(command, [str(TOYS), *plots, "--format", "json", "-o", str(links), "--quiet"])
    assert ran.exit_code == 0, ran.output
    return directory, json.loads(links.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """The first picture of README as it is drawn now, and the links that it shows."""
    directory = tmp_path_factory.mktemp("pair")
    texts = [str(ROOT / "examples" / f"sample.{language}") for language in ("en", "fr")]
    links, figure = str(directory / "links.txt"), directory / "pair.svg"
    assert main(["align", *texts, "--combine", "onmf", "--format", "scored", "-o", links, "--quiet"]) == 0
    assert main(["show", *texts, links, "--plot", str(figure), "--quiet"]) == 0
    return figure, (directory / "links.txt").read_text(encoding="utf-8").splitlines()[0]


def drawing(path):
    """The size of a drawing and all that is written in it: other versions of matplotlib may change the rest."""
    text = path.read_text(encoding="utf-8")
    return re.findall(r'viewBox="([^"]*)"', text), re.findall(r"<!-- (.*?) -->", text)


@pytest.mark.parametrize("name", NAMES)
def test_figures_of_the_pages_show_what_the_command_draws(drawn, name):
    directory, _ = drawn
    again = drawing(directory / name)
    assert again[1]
    assert drawing(FIGURES / name) == again, "draw docs/figures anew: see CONTRIBUTING.md"
    assert (FIGURES / name).stat().st_size < 100_000


def test_the_picture_of_a_pair_shows_what_the_commands_draw(pair):
    drawn, links = pair
    assert drawing(FIGURES / "pair.svg") == drawing(drawn), "draw docs/figures anew: see CONTRIBUTING.md"
    # *of the* is *du*, *supported* is *pris en charge*, and the two nouns change places.
    linked = {tuple(map(int, link.replace("?", "-").partition(":")[0].split("-"))) for link in links.split()}
    assert {(2, 2), (3, 2), (8, 8), (8, 9), (8, 10), (4, 4), (5, 3)} <= linked
    text = (FIGURES / "pair.svg").read_text(encoding="utf-8")
    assert text.count("stroke-dasharray") == links.count("?")
    assert len(text) < 100_000
    assert "fill: #ffffff" not in text  # no ground, so that dark pages show it as well


def test_the_example_of_the_paper_has_its_six_cepts(drawn):
    directory, record = drawn
    assert "AIC (6)" in drawing(directory / NAMES[1])[1]
    assert "BIC (6)" in drawing(directory / NAMES[1])[1]
    source, target = record["source"], record["target"]
    groups = [
        (" ".join(source[i] for i in cept["source"]), " ".join(target[j] for j in cept["target"]))
        for cept in record["cepts"]
    ]
    assert groups == [
        ("they", "ont"),
        ("need", "besoin"),
        ("toys", "jouets"),
        ("and", "et"),
        ("entertainment", "loisirs"),
        (".", "."),
    ]
    assert [target[j] for j in record["null"]["target"]] == ["les", "enfants", "de", "de"]
    assert record["null"]["source"] == []
