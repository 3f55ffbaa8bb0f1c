"""How benchmarks report: Markdown tables, pages whose tables the scripts replace, and JSON lines."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TypeVar

import cepts

__all__ = [
    "WRITE_HELP",
    "Table",
    "append_lines",
    "check_pages",
    "circumstances",
    "make_tables",
    "markdown",
    "provenance",
    "replace_tables",
    "say",
    "spread",
]

ROOT = Path(__file__).resolve().parent.parent

# Help of `--write`, the same in all scripts that measure.
WRITE_HELP = "put the tables into this page, or into the pages of this directory (docs/results)"

Data = TypeVar("Data")


@dataclass(frozen=True, slots=True)
class Table:
    """A table as Markdown, its rows as JSON records, and how often the jobs in it ran, where they were timed."""

    text: str
    records: Sequence[Mapping[str, object]]
    repeat: int | None = None


def make_tables(
    title: str, folder: str, open_data: Callable[[Path], Data], tables: Mapping[str, Callable[[Data], Table]]
) -> None:
    """Read the options of a benchmark of many tables, make those that are asked for, print and keep them.

    Pages and result files have its tables under `title`; `folder` is the folder of the data that it needs.
    """
    results = ROOT / "benchmarks" / "results" / f"{title}.jsonl"
    parser = argparse.ArgumentParser(description=f"The tables of {title}.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), metavar="DIR", help=f"has {folder}/")
    parser.add_argument("--tables", nargs="+", choices=tables, default=list(tables), help="make these alone")
    parser.add_argument("--json-lines", type=Path, default=results, metavar="FILE", help="append one line a row")
    parser.add_argument("--write", type=Path, metavar="PAGES", help=WRITE_HELP)
    options = parser.parse_args()
    data = open_data(options.data)
    if options.write:
        check_pages(options.write, [f"{title} {name}" for name in options.tables])
    for name in options.tables:
        say(f"table {name}")
        table = tables[name](data)
        text = f"{table.text}\n\n{provenance(table.repeat)}"
        print(f"{text}\n", flush=True)
        about = {"table": name, **circumstances()}
        append_lines(options.json_lines, [{**about, **record} for record in table.records])
        if options.write:
            replace_tables(options.write, {f"{title} {name}": text})


def say(message: str) -> None:
    """Tell how far the run is, beside the results."""
    print(message, file=sys.stderr, flush=True)


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: int = 1) -> str:
    """A Markdown table, fit for a terminal too; its first `text_columns` go left, the others right."""
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if place < text_columns else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rules = ["-" * width if place < text_columns else "-" * (width - 1) + ":" for place, width in enumerate(widths)]
    return "\n".join(map(line, [columns, rules, *rows]))


def spread(values: Sequence[float], digits: int = 1) -> str:
    """The median of the values, with the least and the greatest where there are several."""
    if len(values) == 1:
        return f"{values[0]:,.{digits}f}"
    return f"{median(values):,.{digits}f} ({min(values):,.{digits}f}-{max(values):,.{digits}f})"


def circumstances() -> dict[str, object]:
    """What a JSON line says of the run itself: when, of which commit, on how many cores."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": _commit(),
        "cepts": cepts.__version__,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    }


def provenance(repeat: int | None = None) -> str:
    """A sentence that says what the tables of this run are of; `repeat` is how often timed jobs ran."""
    found = circumstances()
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba"))
    medians = "" if not repeat or repeat < 2 else f" Cost: median (least-greatest) of {repeat} runs."
    commit = found["commit"] or "no commit"
    machine = f"Python {platform.python_version()}, {versions}, {found['cores']} cores"
    return f"Measured on {str(found['date'])[:10]} with cepts {found['cepts']} ({commit}), {machine}.{medians}"


def append_lines(path: Path, records: Sequence[Mapping[str, object]]) -> None:
    """Append the records to a file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)


def replace_tables(pages: Path, tables: Mapping[str, str]) -> None:
    """Put each table between its marks, the lines `<!-- NAME -->` and `<!-- end of NAME -->`.

    `pages` is a page, or a directory in which one page has the marks of each table.
    """
    check_pages(pages, tables)
    for name, table in tables.items():
        page = _page_with(name, pages)
        text = page.read_text(encoding="utf-8")
        start, end = _marks(name)
        before, rest = text.split(start)
        page.write_text(f"{before}{start}{table}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def check_pages(pages: Path, names: Iterable[str]) -> None:
    """End the program if `pages` has no place for these tables, before they are measured."""
    for name in names:
        _page_with(name, pages)


def _page_with(name: str, pages: Path) -> Path:
    """The page that has the marks of a table: `pages` itself, or one in that directory."""
    if not pages.exists():
        sys.exit(f"There is no page or directory {pages}.")
    start, end = _marks(name)
    candidates = sorted(pages.glob("*.md")) if pages.is_dir() else [pages]
    texts = {page: page.read_text(encoding="utf-8") for page in candidates}
    found = [page for page, text in texts.items() if start in text or end in text]
    if len(found) != 1:
        sys.exit(f"{pages} needs one page with the lines {start.strip()} and {end}; it has {len(found)}.")
    text = texts[found[0]]
    if text.count(start) != 1 or text.count(end) != 1 or text.index(start) > text.index(end):
        sys.exit(f"{found[0]} needs the line {start.strip()} and, below it, {end}, each once.")
    return found[0]


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- {name} -->\n", f"<!-- end of {name} -->"


def _commit() -> str | None:
    """The commit that was measured, marked where the package has changed since; None without git."""
    try:
        commit = _git("rev-parse", "--short=12", "HEAD")
        return f"{commit}+changes" if _git("status", "--porcelain", "--", "src") else commit
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*command: str) -> str:
    found = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True)
    return found.stdout.strip()
