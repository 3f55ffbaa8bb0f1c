"""Train the model of names that comes with cepts.

    python resources/make_names.py --data ../shared/data -o src/cepts/phrases/english/names.safetensors

The list is names.csv of carltonnorthern/nicknames (Apache-2.0): lines `name1,relationship,name2`, the first a heading.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

from cepts.errors import DataError
from cepts.phrases.names import NameModel
from cepts.progress import Step

LIST = Path("mono") / "resources" / "nicknames" / "names.csv"


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Names and their nicknames."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; say with --data where the shared data are.") from error
    pairs = []
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != 3 or not row[0].strip() or not row[2].strip():
            raise DataError(f"{path}, line {number}: wanted name1,relationship,name2, found {','.join(row)!r}.")
        pairs.append((row[0].strip(), row[2].strip()))
    return pairs


def show(step: Step) -> None:
    """Tell the objective after each iteration."""
    if step.done == 1000 * step.iteration:
        print(f"iteration {step.iteration}: {step.objective:.2f}", file=sys.stderr)


def main() -> None:
    """Train and write the model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="directory of the shared data")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the model")
    arguments = parser.parse_args()
    try:
        pairs = read_pairs(arguments.data / LIST)
        model = NameModel.train(pairs, progress=show)
        model.save(arguments.output)
    except DataError as error:
        sys.exit(f"error: {error}")
    size = arguments.output.stat().st_size
    print(f"{len(model.pairs):,} pairs of names; {size:,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
