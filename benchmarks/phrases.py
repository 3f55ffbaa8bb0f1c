"""Monolingual alignment: how right links and phrases are, what features and settings are worth, what it costs.

Models are trained on training pairs. Settings are compared on held-out training pairs alone; test pairs are aligned
once, for the tables `alignment` and `applications`. The corpora's phrasal versions are also aligned with the tags and
chunks of the biomedical chunker that made them, as the paper did.

    phrases.py --data DIR [--tables alignment speed ...] [--write PAGE]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import phrases_accuracy
import phrases_applications
import phrases_cost
import phrases_gaps
import report
from phrases_data import PhrasesData
from report import Table

RESULTS = Path(__file__).resolve().parent / "results" / "phrases.jsonl"
TABLES = {
    "alignment": phrases_accuracy.alignment,
    "applications": phrases_applications.applications,
    "judgements": phrases_applications.judgements,
    "gaps": phrases_gaps.gaps,
    "thresholds": phrases_accuracy.thresholds,
    "settings": phrases_accuracy.settings,
    "families": phrases_accuracy.families,
    "upweighting": phrases_accuracy.upweighting,
    "speed": phrases_cost.speed,
    "growth": phrases_cost.growth,
    "training": phrases_cost.training,
}


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="Monolingual alignment: accuracy and cost.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), metavar="DIR", help="has mono/")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), help="make these alone")
    parser.add_argument("--json-lines", type=Path, default=RESULTS, metavar="FILE", help="append one line a row")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables into this page")
    return parser.parse_args(arguments)


def main() -> None:
    """Print the tables."""
    options = parse()
    data = PhrasesData(options.data)
    if options.write:
        report.check_page(options.write, [f"phrases {name}" for name in options.tables])
    for name in options.tables:
        report.say(f"table {name}")
        table: Table = TABLES[name](data)
        text = f"{table.text}\n\n{report.provenance(table.repeat)}"
        print(f"{text}\n", flush=True)
        about = {"table": name, **report.circumstances()}
        report.append_lines(options.json_lines, [{**about, **record} for record in table.records])
        if options.write:
            report.replace_tables(options.write, {f"phrases {name}": text})


if __name__ == "__main__":
    main()
