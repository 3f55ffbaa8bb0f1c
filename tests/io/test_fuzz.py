"""Some damaged files of every format; `tests/fuzz.py` makes many more, and reads them where a crash does no harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import made, outcome, samples, whole_result

FILES = 60
SLOW_FILES = 6


def test_damaged_files_are_read_or_refused_in_a_line(tmp_path: Path) -> None:
    failures = []
    refused = 0
    for name, sample in samples(tmp_path):
        whole = whole_result(sample, tmp_path)
        for number in range(SLOW_FILES if sample.slow else FILES):
            found = outcome(sample, made(name, sample, 1, number), tmp_path, whole)
            refused += found == "refused"
            if found not in {"read", "refused"}:
                failures.append(f"{name} {number}: {found}")
    assert not failures
    assert refused > 1000  # the damage is such that most files are refused


@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_damages_alike(tmp_path: Path, seed: int) -> None:
    name, sample = next(samples(tmp_path))
    files = [made(name, sample, seed, number) for number in range(20)]
    assert files == [made(name, sample, seed, number) for number in range(20)]
    assert len(set(files)) > 15
