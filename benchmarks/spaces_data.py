"""Reads the vectors, dictionaries and tasks of the benchmarks of word-vector spaces."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from cepts.data import Dictionary, Vectors
from cepts.io import read_dictionary, read_vectors

__all__ = ["SpacesData"]

VECTORS = {
    "en": "en-explosion-ft-cbow",
    "fr": "fr-explosion-ft-cbow",
    "ru": "ru-navec",
    "en europarl": "en-europarl-cbow",
    "fr europarl": "fr-europarl-cbow",
    "it europarl": "it-europarl-cbow",
}
RUSSIAN_WORDS = 16_000


class SpacesData:
    """The directory `spaces` of the shared data; of each view at most the first `words`, by default all."""

    def __init__(self, data: Path, words: int | None = None) -> None:
        self.root = data / "spaces"
        self.words = words
        if not (self.root / "vectors").is_dir():
            sys.exit(f"There is no directory {self.root / 'vectors'}; say by --data where the data is.")

    @cache  # noqa: B019 (one object a run)
    def vectors(self, name: str) -> Vectors:
        """One view in lower case; Russian cut to as many words as the other views have."""
        words = RUSSIAN_WORDS if name == "ru" and self.words is None else self.words
        path = self.root / "vectors" / VECTORS[name]
        return read_vectors(path, name=name.split(maxsplit=1)[0], lowercase=True, max_vocabulary=words)

    def muse(self, source: str, target: str, part: str) -> Dictionary:
        """Of the parts train (the first 5,000 source words), test (the next 1,500), full and further.

        The further entries are those of source words that are in neither train nor test: to develop methods on.
        """
        if part == "further":
            used = {entry[0] for name in ("train", "test") for entry in self.muse(source, target, name)}
            full = self.muse(source, target, "full")
            return replace(full, entries=tuple(entry for entry in full if entry[0] not in used))
        suffix = {"train": ".0-5000.txt", "test": ".5000-6500.txt", "full": ".txt.gz"}[part]
        return read_dictionary(self.root / "muse" / f"{source}-{target}{suffix}", languages=(source, target))

    def xling(self, source: str, target: str, part: str) -> Dictionary:
        """The 5,000 training entries, or the 2,000 test entries."""
        size = {"train": "train.freq.5k", "test": "test.freq.2k"}[part]
        for left, right in ((source, target), (target, source)):
            path = self.root / "xling" / f"{left}-{right}" / f"yacle.{size}.{left}-{right}.tsv"
            if path.is_file():
                found = read_dictionary(path, languages=(left, right))
                return found if left == source else found.swapped()
        sys.exit(f"There is no xling dictionary of {source} and {target}.")

    def files(self, folder: str, names: Sequence[str]) -> list[Path]:
        """Files of a folder that must be there."""
        paths = [self.root / folder / name for name in names]
        for path in paths:
            if not path.is_file():
                sys.exit(f"There is no file {path}.")
        return paths
