"""The tables and figures of the five papers: published figures, ours with --paper, and ours by default.

Every table is printed, kept, and written into its page of docs/papers as soon as it is ready. A run that was
interrupted continues with the first table that is missing; a change of the code makes all of them anew.

    papers.py [--data DIR] [--papers onmf mfa ...] [--tables NAME ...] [--quick] [--work DIR] [--write PAGES]
"""

from __future__ import annotations

import argparse
import sys
import traceback
from functools import partial
from pathlib import Path

import paper_ibm12
import paper_mfa
import paper_nmf_lm
import paper_onmf
import paper_semicrf
import report
from cepts.progress import Stopwatch
from paper_run import PaperRun, PaperTables

PAPERS: dict[str, PaperTables] = {
    "ibm12": paper_ibm12.TABLES,
    "onmf": paper_onmf.TABLES,
    "semicrf": paper_semicrf.TABLES,
    "mfa": paper_mfa.TABLES,
    "nmf_lm": paper_nmf_lm.TABLES,
}
RESULTS = report.ROOT / "benchmarks" / "results" / "papers.jsonl"


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="The tables and figures of the five papers.")
    parser.add_argument("--data", type=Path, default=report.ROOT.parent / "shared" / "data", metavar="DIR")
    parser.add_argument("--papers", nargs="+", choices=PAPERS, default=list(PAPERS), help="only these papers")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="only these tables and figures")
    parser.add_argument("--quick", action="store_true", help="use a small part of the data; writes no pages")
    parser.add_argument(
        "--work", type=Path, default=report.ROOT / "build" / "papers", metavar="DIR", help="keep all here"
    )
    parser.add_argument("--write", type=Path, metavar="PAGES", help="put the tables into the pages of this directory")
    options = parser.parse_args()
    if options.quick and options.write:
        parser.error("--write takes tables of all the data: leave out --quick.")
    known = {name for paper in options.papers for name in PAPERS[paper]}
    if unknown := sorted(set(options.tables or ()) - known):
        parser.error(f"there are no tables {', '.join(unknown)}; there are {', '.join(sorted(known))}.")
    if not options.data.is_dir():
        sys.exit(f"There is no directory {options.data}; say by --data where the data is.")
    return options


def main() -> None:
    """Make what is asked for, one table after the other."""
    options = parse()
    wanted = [
        (paper, name, make)
        for paper in options.papers
        for name, make in PAPERS[paper].items()
        if options.tables is None or name in options.tables
    ]
    if options.write:
        report.check_pages(options.write, [f"{paper} paper {name}" for paper, name, _ in wanted])
    figures = report.ROOT / "docs" / "figures" / "papers" if options.write else options.work / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    run = PaperRun(options.data, options.work, figures, options.quick)
    failed = []
    for place, (paper, name, make) in enumerate(wanted, 1):
        stopwatch = Stopwatch()
        report.say(f"{place} of {len(wanted)}: {paper}, {name}")
        try:
            table, new = run.once(paper, name, partial(make, run))
        except Exception:  # the other tables should not be lost with this one
            traceback.print_exc()
            failed.append(f"{paper} {name}")
            continue
        report.say(f"  made in {stopwatch.seconds:.0f} s" if new else "  kept from an earlier run")
        text = f"{table.text}\n\n{report.provenance(table.repeat)}"
        print(f"\n{paper}, {name}\n\n{text}", flush=True)
        if new and not options.quick:
            about = {"paper": paper, "table": name, **report.circumstances()}
            report.append_lines(RESULTS, [{**about, **record} for record in table.records])
        if options.write:
            report.replace_tables(options.write, {f"{paper} paper {name}": text})
    if failed:
        sys.exit(f"These tables failed: {', '.join(failed)}.")


if __name__ == "__main__":
    main()
