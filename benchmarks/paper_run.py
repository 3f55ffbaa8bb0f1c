"""What the tables of a paper are made of: where the data is, how much of it to use, and where figures go."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from report import ROOT, Table


@dataclass(frozen=True, slots=True)
class PaperRun:
    """A run of `papers.py`.

    Attributes
    ----------
    data
        The directory of the shared data.
    work
        Where finished tables, models and texts are kept, so that an interrupted run can continue.
    figures
        The directory of figures.
    quick
        Whether to use a small part of the data, so that all five papers take less than ten minutes.
    """

    data: Path
    work: Path
    figures: Path
    quick: bool = False

    def once(self, paper: str, name: str, make: Callable[[], Table]) -> tuple[Table, bool]:
        """The table that `make` makes, or the one that an earlier run of the same code kept; and whether it is new."""
        kept = self.work / "tables" / f"{paper}.{name}.{'quick' if self.quick else 'whole'}.{_code()}.json"
        if kept.is_file():
            found = json.loads(kept.read_text(encoding="utf-8"))
            return Table(found["text"], found["records"], found["repeat"]), False
        table = make()
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(".part")
        content = {"text": table.text, "records": list(table.records), "repeat": table.repeat}
        part.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        part.replace(kept)
        return table, True


PaperTables = Mapping[str, Callable[[PaperRun], Table]]


@cache
def _code() -> str:
    """A digest of the package and of the benchmarks, as they are when the run starts."""
    files = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "benchmarks").glob("*.py")])
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
