"""Dictionary entries as rows of the views: finding, joining, counting and weighting them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cepts.data import Dictionary, Vectors
from cepts.errors import DataError, UsageError

FEW_FOUND = 0.2  # a smaller share of a dictionary's entries is worth a notice

_Word = tuple[int, int]  # a view and a row of it


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The dictionary entries that a model trains on.

    Attributes
    ----------
    rows
        One line for each entry and one column for each view: the row of the entry's word in the view, or -1 if it has
        none. All lines are distinct, and each has at least two words.
    asked
        Number of entries of the dictionaries.
    unknown
        Number of these that are not used, because fewer than two of their words have a vector.
    """

    rows: NDArray[np.int64]
    asked: int
    unknown: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def coverage(self) -> float:
        """Share of the dictionaries' entries that can be used, from 0 to 1."""
        return 1.0 - self.unknown / self.asked if self.asked else 0.0

    @property
    def complete(self) -> int:
        """Number of entries with a word in every view."""
        return int((self.rows >= 0).all(axis=1).sum())

    def spelt_alike(self, views: Sequence[Vectors]) -> NDArray[np.bool_]:
        """Whether all words of an entry are spelt the same."""
        words = [view.words for view in views]
        return np.array(
            [len({words[view][row] for view, row in enumerate(line) if row >= 0}) == 1 for line in self.rows.tolist()],
            dtype=np.bool_,
        )

    def completed(self) -> Entries:
        """Only the entries with a word in every view; raises `DataError` if there are none."""
        if not self.complete:
            raise DataError(
                f"found no entry with a word of each of the {self.rows.shape[1]} languages among {len(self):,}, wanted "
                f"some; give dictionaries of all pairs of languages, or use incomplete ones too, without `complete`."
            )
        return replace(self, rows=self.rows[(self.rows >= 0).all(axis=1)])


def find_entries(
    dictionaries: Sequence[Dictionary], views: Sequence[Vectors], notices: list[str] | None = None
) -> Entries:
    """Look up the entries of dictionaries among the words of the views.

    The columns of a dictionary are matched to the views by name. If the names do not match, a dictionary with as many
    columns as there are views is matched in order, and any other raises `UsageError`. If entries of bilingual
    dictionaries link one word in each of three or more languages to each other, pair by pair, they are joined into one
    entry.

    Parameters
    ----------
    dictionaries
        One or more dictionaries.
    views
        The vectors of each language.
    notices
        A list to which a note is appended for each dictionary of which few entries are found, or more if its two
        columns are exchanged.
    """
    parts, noted = [], []
    for dictionary in dictionaries:
        columns = _columns(dictionary, views)
        rows = np.full((len(dictionary), len(views)), -1, dtype=np.int64)
        own = [views[column] for column in columns]
        rows[:, columns] = dictionary.rows(own)
        noted.append(few_found_notice(dictionary, own))
        parts.append(rows)
    rows = np.concatenate(parts) if parts else np.empty((0, len(views)), dtype=np.int64)
    useful = (rows >= 0).sum(axis=1) >= 2
    if not useful.any():
        names = ", ".join(dictionary.name for dictionary in dictionaries if dictionary.name) or "the dictionary"
        # A notice would never be seen, so the error gives this advice, if there is a single dictionary.
        advice = "check the order of the languages, and whether the words must be lower-cased"
        if len(dictionaries) == len(views) - 1 == 1 and (exchanged := _found(dictionaries[0], own[::-1])):
            advice = f"check the order of the languages: with its columns exchanged, {exchanged:,} entries are found"
        sizes = ", ".join(f"{view.name or 'a view'} {len(view):,} words" for view in views)
        raise DataError(
            f"{names}: found no entry among {len(rows):,} with words in two of the views ({sizes}), wanted at least "
            f"one; {advice}."
        )
    if notices is not None:
        notices += [line for line in noted if line is not None]
    distinct = np.unique(rows[useful], axis=0)
    if len(views) > 2:
        distinct = _joined(distinct)
    return Entries(distinct, len(rows), int((~useful).sum()))


def few_found_notice(dictionary: Dictionary, views: Sequence[Vectors]) -> str | None:
    """A note if few entries of a dictionary are found, or more if its columns are exchanged; otherwise None.

    `views` has the vectors of each column's language.
    """
    found, total = _found(dictionary, views), len(dictionary)
    if found >= total / 2:
        return None
    name = dictionary.name or "the dictionary"
    exchanged = _found(dictionary, views[::-1]) if len(views) == 2 else 0
    if exchanged > 2 * found:
        return (
            f"{name}: found {found:,} of {total:,} entries, but {exchanged:,} with its columns exchanged; name the "
            f"languages of its columns in their order."
        )
    if found >= FEW_FOUND * total:
        return None
    lowered = replace(dictionary, entries=tuple(tuple(word and word.lower() for word in entry) for entry in dictionary))
    lower = _found(lowered, views)
    case = f"; lower-cased, {lower:,} would be found" if lower > 2 * found else ""
    return (
        f"{name}: found {found:,} of {total:,} entries among the words of {' and '.join(view.name for view in views)}; "
        f"check languages and spelling{case}."
    )


def _found(dictionary: Dictionary, views: Sequence[Vectors]) -> int:
    """Number of entries with words in at least two of `views`."""
    return int(((dictionary.rows(views) >= 0).sum(axis=1) >= 2).sum())


def entry_weights(rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weights with which each word counts about once, however many entries it has.

    `rows` is as in `Entries`. The weight of an entry is the geometric mean, over its words, of 1 / (the number of
    entries with that word).
    """
    logs = np.zeros(len(rows))
    for column in rows.T:
        known = column >= 0
        logs[known] -= np.log(np.bincount(column[known])[column[known]])
    return np.exp(logs / np.maximum((rows >= 0).sum(axis=1), 1))


def identical_strings(views: Sequence[Vectors]) -> Dictionary:
    """Make a dictionary of the words that are spelt the same in two or more views (Smith et al., 2017).

    Most of them are numbers, names and loan words; languages with different scripts have few.
    """
    seen: dict[str, list[str | None]] = {}
    for column, view in enumerate(views):
        for word in view.words:
            seen.setdefault(word, [None] * len(views))[column] = word
    shared = (tuple(words) for words in seen.values() if sum(word is not None for word in words) >= 2)
    return Dictionary(tuple(view.name for view in views), tuple(shared), "identical strings")


def _columns(dictionary: Dictionary, views: Sequence[Vectors]) -> list[int]:
    names = [view.name for view in views]
    languages = dictionary.languages
    if all(names.count(language) == languages.count(language) == 1 for language in languages):
        return [names.index(language) for language in languages]
    if len(languages) == len(views):
        return list(range(len(views)))
    raise UsageError(
        f"{dictionary.name or 'the dictionary'}: found the languages {', '.join(languages)}, wanted some of "
        f"{', '.join(names)}; name the languages of each dictionary."
    )


def _joined(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """`rows`, with pairs of words replaced by one line if all of these words are linked to each other.

    The lines are the maximal cliques (Bron & Kerbosch 1973) of the graph whose edges are the entries of two words: a
    pair stays if no third word is linked to both, and words with several translations are in several lines.
    """
    pairs = (rows >= 0).sum(axis=1) == 2
    tied: dict[_Word, set[_Word]] = {}
    for row in rows[pairs].tolist():
        a, b = ((view, word) for view, word in enumerate(row) if word >= 0)
        tied.setdefault(a, set()).add(b)
        tied.setdefault(b, set()).add(a)
    lines: list[list[int]] = rows[~pairs].tolist()

    def grow(clique: tuple[_Word, ...], after: set[_Word], before: set[_Word]) -> None:
        """All maximal cliques of `clique` and words of `after`; those with a word of `before` were found before."""
        if not after and not before:
            line = [-1] * rows.shape[1]
            for view, word in clique:
                line[view] = word
            lines.append(line)
        for node in list(after):
            grow((*clique, node), after & tied[node], before & tied[node])
            after.remove(node)
            before.add(node)

    for node, others in tied.items():
        grow((node,), {other for other in others if other > node}, {other for other in others if other < node})
    return np.unique(np.array(lines, dtype=np.int64).reshape(-1, rows.shape[1]), axis=0)
