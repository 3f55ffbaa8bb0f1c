"""Small texts, n-best lists and a stop list as files, for tests of `cepts lm`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from toy_lm import toy_documents

GOLDEN = Path(__file__).parent / "golden" / "lm"
STOP = ("the", "of", "and", "is")
FIT = ("--stop", "stop.txt", "--hidden", "6", "--iterations", "5", "--threads", "1")


def text_of(documents) -> str:
    """Documents as a file with blank lines between them."""
    parts = []
    for number in range(len(documents)):
        first, last = documents.offsets[number : number + 2].tolist()
        parts.append("".join(" ".join(documents.text[n]) + "\n" for n in range(first, last)))
    return "\n".join(parts)


def write_files(home: Path) -> None:
    """A text, others to set weights and to test on, a stop list, and n-best lists with references."""
    for name, seed, count in (("text.txt", 0, 60), ("dev.txt", 1, 9), ("test.txt", 2, 9), ("other.txt", 3, 30)):
        (home / name).write_text(text_of(toy_documents(seed, count)))
    (home / "stop.txt").write_text("# ties\n" + "\n".join(STOP) + "\n")
    random = np.random.default_rng(0)
    lines = ["id\tscore\ttext\treference"]
    for number, line in enumerate((home / "test.txt").read_text().split("\n")[:12]):
        if not line:
            continue
        words = line.split()
        for rank in range(4):
            heard = list(words)
            if rank:
                heard[rank] = f"s{random.integers(3)}w{random.integers(8)}"
            lines.append(f"u-{number}\t{random.normal():.3f}\t{' '.join(heard)}\t{line}")
    (home / "lists.tsv").write_text("\n".join(lines) + "\n")
