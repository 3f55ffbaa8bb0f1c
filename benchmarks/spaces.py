"""Word-vector spaces: how right translations, similarities and sentence retrieval are, and what fitting costs.

Every method sees the same vectors, prepared in the same way (unit, centred, unit length), and the same dictionary.
Nothing is chosen on test words: where a setting is chosen, `fit_space` chooses it on held-out training entries.

    spaces.py --data DIR [--tables translation sentences ...] [--write PAGE]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import report
import spaces_accuracy
import spaces_cost
import spaces_languages
import spaces_links
from report import Table
from spaces_data import SpacesData

RESULTS = Path(__file__).resolve().parent / "results" / "spaces.jsonl"
TABLES = {
    "translation": spaces_accuracy.translation,
    "measures": spaces_accuracy.measures,
    "sentences": spaces_accuracy.sentences,
    "similarity": spaces_accuracy.similarity,
    "sts": spaces_accuracy.sts,
    "languages": spaces_languages.languages,
    "links": spaces_links.links,
    "senses": spaces_links.senses,
    "em": spaces_cost.em,
    "jobs": spaces_cost.jobs,
}


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="Word-vector spaces: accuracy and cost.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), metavar="DIR", help="has spaces/")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), help="make these alone")
    parser.add_argument("--json-lines", type=Path, default=RESULTS, metavar="FILE", help="append one line a row")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables into this page")
    return parser.parse_args(arguments)


def main() -> None:
    """Print the tables."""
    options = parse()
    data = SpacesData(options.data)
    if options.write:
        report.check_page(options.write, [f"spaces {name}" for name in options.tables])
    for name in options.tables:
        report.say(f"table {name}")
        table: Table = TABLES[name](data)
        text = f"{table.text}\n\n{report.provenance(table.repeat)}"
        print(f"{text}\n", flush=True)
        about = {"table": name, **report.circumstances()}
        report.append_lines(options.json_lines, [{**about, **record} for record in table.records])
        if options.write:
            report.replace_tables(options.write, {f"spaces {name}": text})


if __name__ == "__main__":
    main()
