"""The documentation site builds without warnings and has what readers look for."""

from __future__ import annotations

import html.parser
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# One worker builds the site, and then runs all of these tests.
pytestmark = pytest.mark.xdist_group("site")
PARTS = ("tutorial", "howto", "coming-from", "notebooks", "explanation", "reference", "results")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site; a warning of Sphinx is an error."""
    pytest.importorskip("sphinx", reason="sphinx is not installed: make docs installs it")
    directory = tmp_path_factory.mktemp("site")
    # Elsewhere, because Sphinx writes pages of the reference beside the others.
    shutil.copytree(
        ROOT / "docs", directory / "docs", ignore=shutil.ignore_patterns("_build", "generated", "__pycache__")
    )
    shutil.copytree(ROOT / "examples" / "cluster", directory / "examples" / "cluster")  # which a page includes
    made = directory / "html"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "2", "-b", "html", "docs", str(made)]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return made


class Links(html.parser.HTMLParser):
    """Collects the targets and the anchors of a page."""

    def __init__(self):
        super().__init__()
        self.targets, self.anchors = [], set()

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag == "a" and found.get("href"):
            self.targets.append(found["href"])
        if tag in ("img", "script") and found.get("src"):
            self.targets.append(found["src"])
        if "id" in found:
            self.anchors.add(found["id"])


def links_of(path):
    parser = Links()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser


def test_every_page_of_the_source_is_in_the_site(site):
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
    pages += (ROOT / "docs" / "notebooks").glob("*.ipynb")
    assert len(pages) > 60
    for path in pages:
        assert (site / path.relative_to(ROOT / "docs").with_suffix(".html")).exists(), path


def test_links_within_the_site_lead_somewhere(site):
    pages = {path: links_of(path) for path in site.rglob("*.html") if "_static" not in path.parts}
    broken = []
    for path, found in pages.items():
        for target in found.targets:
            name, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:|//", target) or not (name or anchor):
                continue
            there = (path.parent / name.partition("?")[0]).resolve() if name else path
            if not there.exists() or (anchor and there in pages and anchor not in pages[there].anchors):
                broken.append(f"{path.relative_to(site)}: {target}")
    assert broken == []


def test_the_parts_can_be_reached_from_the_first_page(site):
    targets = links_of(site / "index.html").targets
    assert all(f"{part}/index.html" in targets for part in PARTS)


def test_search_and_dark_mode_are_there(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    assert "theme-switch" in text
    assert "search.html" in text
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    terms = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))["terms"]
    for word in ("eflom", "pharaoh", "fertil"):
        assert any(term.startswith(word) for term in terms), word


@pytest.mark.parametrize(
    "name", ["words.HMM", "phrases.PhraseAligner", "spaces.IBFA", "lm.AdaptedModel", "io.read_bitext"]
)
def test_the_python_reference_describes_parameters(site, name):
    """A class that takes the parameters of its base class describes them too."""
    text = (site / "reference" / "api" / "generated" / f"cepts.{name}.html").read_text(encoding="utf-8")
    assert "Parameters" in text
    assert "<strong>" in text
