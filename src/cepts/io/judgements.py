"""Judgements of people: similar words, right answers; and word counts."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError
from cepts.io.files import InputFile, PathLike
from cepts.io.lines import columns_of, filled_lines, finite_number, short_name, shown

COUNT = re.compile(r"[0-9]{1,18}")
JUDGED = re.compile(r"-?[0-9]{1,9}")


@dataclass(frozen=True, slots=True, eq=False)
class WordSimilarities:
    """Pairs of words, and how similar people found them.

    Attributes
    ----------
    name
        The name of the file.
    pairs, scores
        The pairs of words, and one score for each; higher is more similar.
    """

    name: str
    pairs: list[tuple[str, str]]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.pairs)


@dataclass(frozen=True, slots=True, eq=False)
class SentenceSimilarities(WordSimilarities):
    """Pairs of sentences, and how similar people found them; `skipped` counts the pairs of the file without a score."""

    skipped: int = 0


def read_similarities(path: PathLike) -> WordSimilarities:
    """Read judgements of word similarity: on each line two words and a score, separated by tabs or ASCII blanks."""
    pairs, scores = [], []
    with InputFile(path) as file:
        for _, where, line in filled_lines(file):
            columns = columns_of(line)
            if len(columns) != 3 or not columns[0] or not columns[1]:
                raise DataError(
                    f"{where}: found {shown(line)}, wanted two words and a score with a tab or a blank between them."
                )
            pairs.append((columns[0], columns[1]))
            scores.append(_number(where, columns[2], "a score after the two words"))
        if not pairs:
            raise DataError(f"{file.name} is empty; wanted two words and a score per line.")
        return WordSimilarities(short_name(file), pairs, np.array(scores))


def read_sentence_similarities(path: PathLike, *, notices: list[str] | None = None) -> SentenceSimilarities:
    """Read judgements of sentence similarity: on each line a score and two sentences, separated by tabs.

    The files of the STS tasks have this form. If the score is empty, nobody judged the pair: it is skipped and counted,
    and a note is appended to the list `notices`.
    """
    pairs, scores = [], []
    skipped = 0
    with InputFile(path) as file:
        for _, where, line in filled_lines(file):
            columns = line.split("\t")
            if len(columns) != 3:
                raise DataError(
                    f"{where}: found {len(columns)} column{'s' * (len(columns) != 1)}, wanted 3 (score, sentence, "
                    f"sentence) with tabs between them."
                )
            if not columns[0].strip(" "):
                skipped += 1
                continue
            pairs.append((columns[1].strip(" "), columns[2].strip(" ")))
            scores.append(_number(where, columns[0], "a score before the two sentences"))
        if not pairs:
            found = f"{skipped:,} pairs without a score" if skipped else "nothing"
            raise DataError(f"{file.name}: found {found}, wanted a score and two sentences per line.")
        if notices is not None and skipped:
            notices.append(f"{file.name}: {skipped:,} of {skipped + len(pairs):,} pairs have no score and are skipped.")
        return SentenceSimilarities(short_name(file), pairs, np.array(scores), skipped)


def read_counts(path: PathLike) -> dict[str, int]:
    """Read word counts: on each line a word and its count, separated by a tab or ASCII blanks.

    The counts of a repeated word are added up.
    """
    counts: dict[str, int] = {}
    with InputFile(path) as file:
        for _, where, line in filled_lines(file):
            columns = columns_of(line)
            if len(columns) != 2 or not columns[0] or not COUNT.fullmatch(columns[1]):
                raise DataError(
                    f"{where}: found {shown(line)}, wanted a word and a whole number with a tab "
                    f"or a blank between them."
                )
            counts[columns[0]] = counts.get(columns[0], 0) + int(columns[1])
        if not counts:
            raise DataError(f"{file.name} is empty; wanted a word and its count per line.")
    return counts


def _number(where: str, text: str, what: str) -> float:
    number = finite_number(text)
    if number is None:
        raise DataError(f"{where}: found {shown(text)}, wanted {what}; correct the line, or remove a header.")
    return number


def read_answer_judgements(path: PathLike) -> dict[Hashable, int]:
    """Read which answers to questions are right, in the format of trec_eval: ``question 0 answer label``.

    Returns
    -------
    dict
        For each question, the number of its right answers (label above 0).
    """
    counts: dict[Hashable, int] = {}
    with InputFile(path) as file:
        for _, where, line in filled_lines(file):
            fields = line.split()
            if len(fields) != 4 or not JUDGED.fullmatch(fields[3]):
                raise DataError(
                    f"{where}: found {shown(line)}, wanted `question 0 answer label` with a label such as 0 or 1."
                )
            counts[fields[0]] = counts.get(fields[0], 0) + (int(fields[3]) > 0)
        if not counts:
            raise DataError(f"{file.name} is empty; wanted lines of `question 0 answer label`.")
    return counts
