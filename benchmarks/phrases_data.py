"""Reads the sentence pairs of the phrase benchmarks, and the columns that the paper's tagger gave them."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from cepts.data import Sentence, SentencePair
from cepts.io import read_sentence_pairs

__all__ = ["CORPORA", "PHRASAL", "PhrasesData", "folds"]

# Folder -> the paper's name.
CORPORA = {
    "msr06": "MSR06",
    "msr06_phrasal": "MSR06P",
    "edinburghpp": "EDB++",
    "edinburghpp_phrasal": "EDB++P",
}
PHRASAL = ("msr06_phrasal", "edinburghpp_phrasal")


class PhrasesData:
    """The directory that has mono/."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "mono"
        if not self.directory.is_dir():
            sys.exit(f"There is no directory {self.directory}; say by --data where the data is.")

    def path(self, *parts: str) -> Path:
        """A file below mono/."""
        path = self.directory.joinpath(*parts)
        if not path.is_file():
            sys.exit(f"There is no file {path}; say by --data where the data is.")
        return path

    @cache  # noqa: B019
    def pairs(self, corpus: str, part: str, columns: str = "cepts") -> list[SentencePair]:
        """The pairs of a file without columns (`cepts` then fills them in), or with those of the paper's chunker."""
        pairs = read_sentence_pairs(self.path(corpus, f"{part}.jsonl"))
        bare = [_bare(pair) for pair in pairs]
        if columns == "cepts":
            return bare
        table = self._genia()
        return [
            replace(pair, source=_with_columns(pair.source, table), target=_with_columns(pair.target, table))
            for pair in bare
        ]

    @cache  # noqa: B019
    def labelled(self, folder: str, part: str) -> list[SentencePair]:
        """The pairs of a file of judged pairs, without the columns that it has."""
        pairs = read_sentence_pairs(self.path(folder, f"{part}.jsonl"))
        return [_bare(pair) for pair in pairs]

    @cache  # noqa: B019
    def _genia(self) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """Tags and chunks by sentence: of the biomedical models with which the phrasal corpora were made."""
        with gzip.open(self.path("resources", "opennlp", "tags_genia.tsv.gz"), "rt", encoding="utf-8") as file:
            rows = (line.rstrip("\n").split("\t") for line in file)
            return {text: (tuple(tags.split()), tuple(chunks.split())) for text, tags, chunks in rows}


def _bare(pair: SentencePair) -> SentencePair:
    return replace(pair, source=Sentence(pair.source.tokens), target=Sentence(pair.target.tokens))


def _with_columns(sentence: Sentence, table: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]) -> Sentence:
    tags, chunks = table.get(" ".join(sentence.tokens), ((), ()))
    if len(tags) != len(sentence) or len(chunks) != len(sentence):
        return sentence
    return replace(sentence, pos=tags, chunk=chunks)


def folds(pairs: Sequence[SentencePair], count: int) -> list[tuple[list[SentencePair], list[SentencePair]]]:
    """Training and held-out pairs of each fold."""
    order = np.random.default_rng(1).permutation(len(pairs))
    found = []
    for fold in range(count):
        held = set(order[fold::count].tolist())
        found.append(
            (
                [pair for place, pair in enumerate(pairs) if place not in held],
                [pair for place, pair in enumerate(pairs) if place in held],
            )
        )
    return found
