"""Read one direction's links off a table that systran-align trained; runs in the peers' environment.

    fast_align_links.py forward|reverse SOURCE TARGET TABLE TENSION OUTPUT

For each predicted word j of J, fast_align takes the given word i of I with the largest
t(j | i) exp(-tension |i/I - j/J|), normalised over i and times 0.92, unless null with 0.08 t(j | null) is at
least as likely. The first of equals wins.
"""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import numpy as np

NULL_PROB = 0.08
NULL_ID = 1
UNSEEN = 1e-9
PAIRS_AT_ONCE = 2000


class Table:
    """t(predicted | given) as systran-align writes it: words, then each one's (word, probability) pairs."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        count = int(np.frombuffer(data, "<u4", 1, 4)[0])
        position, words = 8, []
        for _ in range(count):
            end = data.index(b"\0", position)
            words.append(data[position:end])
            position = end + 1
        self.ids = {word: number for number, word in enumerate(words, 1)}
        self.width = count + 1
        entries = np.frombuffer(data[position + 4 :], "<u4")
        keys, probabilities, position = [], [], 0
        while position < len(entries):
            given, length = int(entries[position]), int(entries[position + 1])
            run = entries[position + 2 : position + 2 + 2 * length].reshape(length, 2)
            keys.append(given * self.width + run[:, 0].astype(np.int64))
            probabilities.append(run[:, 1].copy().view("<f4"))
            position += 2 + 2 * length
        order = np.argsort(np.concatenate(keys))
        self.keys = np.concatenate(keys)[order]
        self.probabilities = np.concatenate(probabilities)[order].astype(np.float64)

    def __call__(self, given: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """t(predicted | given), element by element."""
        keys = given * self.width + predicted
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.probabilities[places], UNSEEN)


def best_links(
    table: Table, tension: float, pairs: list[tuple[list[bytes], list[bytes]]]
) -> list[list[tuple[int, int]]]:
    """Links (given, predicted) of each pair of `pairs`; both sides of each must have words."""
    number = table.ids.get
    given = np.array([number(word, 0) for words, _ in pairs for word in words], dtype=np.int64)
    predicted = np.array([number(word, 0) for _, words in pairs for word in words], dtype=np.int64)
    widths = np.array([len(words) for words, _ in pairs])
    heights = np.array([len(words) for _, words in pairs])
    # A row for each predicted word, as wide as its pair's given side; rows laid end to end are the cells.
    row_pair = np.repeat(np.arange(len(pairs)), heights)
    row_place = np.arange(len(predicted)) - (np.cumsum(heights) - heights)[row_pair]
    row_width = widths[row_pair]
    row_start = np.cumsum(row_width) - row_width
    row = np.repeat(np.arange(len(predicted)), row_width)
    place = np.arange(len(row)) - row_start[row]
    column = (np.cumsum(widths) - widths)[row_pair][row] + place
    distance = np.abs((row_place[row] + 1) / heights[row_pair][row] - (place + 1) / row_width[row])
    prior = np.exp(-tension * distance)
    prior *= (1 - NULL_PROB) / np.add.reduceat(prior, row_start)[row]
    score = prior * table(given[column], predicted[row])
    best = np.maximum.reduceat(score, row_start)
    is_best = np.flatnonzero(score == best[row])
    first = place[is_best[np.unique(row[is_best], return_index=True)[1]]]
    linked = best > NULL_PROB * table(np.full(len(predicted), NULL_ID), predicted)
    links: list[list[tuple[int, int]]] = [[] for _ in pairs]
    for pair, i, j in zip(*(part[linked].tolist() for part in (row_pair, first, row_place)), strict=True):
        links[pair].append((i, j))
    return links


def main() -> None:
    """Write the links of every line of SOURCE and TARGET; a pair with an empty side has none."""
    direction, source, target, table_path, tension, output = sys.argv[1:]
    table = Table(Path(table_path))
    swap = direction == "reverse"
    with (
        Path(source).open("rb") as sources,
        Path(target).open("rb") as targets,
        Path(output).open("w") as file,
    ):
        lines = zip(sources, targets, strict=True)
        while batch := [(left.split(), right.split()) for left, right in islice(lines, PAIRS_AT_ONCE)]:
            pairs = [(right, left) if swap else (left, right) for left, right in batch if left and right]
            found = iter(best_links(table, float(tension), pairs) if pairs else [])
            for left, right in batch:
                links = [link[::-1] if swap else link for link in next(found)] if left and right else []
                file.write(" ".join(f"{i}-{j}" for i, j in sorted(links)) + "\n")


if __name__ == "__main__":
    main()
