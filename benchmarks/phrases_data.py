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
        """The pairs of a file of judged pairs, with the tags that it has, as `cepts phrases apply` uses them."""
        return read_sentence_pairs(self.path(folder, f"{part}.jsonl"))

    @cache  # noqa: B019
    def answer_judgements(self) -> dict[str, int]:
        """The test questions of trec_eval's judgement file, and how many right answers each has there.

        The file numbers all questions of its year, of which those without an answer of less than 40 words are not in
        our data. So question n of the file is our question n - d, where d never falls: the alignment with the most
        equal labels.
        """
        labels: dict[int, dict[str, int]] = {}
        path = self.path("trecqa", "Test-T40.judgment")
        for line in path.read_text(encoding="utf-8").splitlines():
            number, _, answer, label = line.split()
            labels.setdefault(int(number), {})[answer] = int(label)
        ours: dict[str, dict[str, int]] = {}
        for pair in self.labelled("trecqa", "test"):
            ours.setdefault(pair.group, {})[pair.id.rpartition("-")[2]] = int(pair.label or 0)
        names = list(ours)
        most = max(labels) - len(names)
        best: list[tuple[int, list[int]]] = [(0, []) for _ in range(most + 1)]
        for number, known in labels.items():
            # The best of all smaller differences goes on with this one.
            reached = [max(best[: d + 1], key=lambda one: one[0]) for d in range(most + 1)]
            best = [
                (score + sum(1 if known.get(answer) == label else -1 for answer, label in asked.items()), [*path, d])
                for d, (score, path) in enumerate(reached)
                for asked in [ours[names[number - d - 1]] if 0 < number - d <= len(names) else {}]
            ]
        chosen = max(best, key=lambda one: one[0])[1]
        return {
            names[number - d - 1]: sum(known.values())
            for (number, known), d in zip(labels.items(), chosen, strict=True)
        }

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
