"""Dictionaries: words that mean the same in two or more languages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from cepts.data import Dictionary
from cepts.errors import DataError, UsageError, listed
from cepts.io.files import InputFile, PathLike, last_suffix, name_of, open_output
from cepts.io.languages import find_language
from cepts.io.lines import columns_of, filled_lines, json_objects, short_name, shown, shown_json

DEFAULT_LANGUAGES = ("source", "target")
SCORE = "score"  # a column of this name is not a language
JSON_SUFFIXES = {".jsonl", ".ndjson"}
AN_OBJECT = 'an object such as {"en": "house", "fr": null}'

Entry = tuple[str | None, ...]
Found = tuple[int, Entry]  # with its line


def read_dictionary(
    path: PathLike, *, languages: Sequence[str] | None = None, notices: list[str] | None = None
) -> Dictionary:
    """Read a dictionary of two or more languages.

    Parameters
    ----------
    path
        A file, plain or compressed; `-` is standard input. Each line is an entry and each column a language. Columns
        are separated by tabs or, in lines without a tab, by ASCII blanks. A first line that starts with ``#`` names the
        languages. An empty column between tabs means that the language has no word in this entry. A ``.jsonl`` file has
        one object per line, such as ``{"en": "house", "fr": "maison"}``.
    languages
        If the file names its languages: which of them to read, in this order. If it does not: what to call its columns,
        by default ``source`` and ``target``.
    notices
        A list to which notes for the user are appended: about repeated entries, which are read once, and about entries
        with a word in one language only.
    """
    if languages is not None and (isinstance(languages, str) or len(languages) < 2):
        raise UsageError(f"`languages` must be two or more names. Got {languages!r} instead.")
    if languages is not None and len(set(languages)) < len(languages):
        raise UsageError(f"`languages` must be different from each other. Got {', '.join(languages)} instead.")
    with InputFile(path) as file:
        if _is_json(file):
            names, found = _json_entries(file)
            named = True
        else:
            names, found, named = _table(file, languages)
        if named and languages is not None:
            names, found = _chosen(file.name, names, found, languages)
        entries = _distinct(file.name, found, notices)
        return Dictionary(names, entries, short_name(file))


def _is_json(file: InputFile) -> bool:
    if last_suffix(file.path) in JSON_SUFFIXES:
        return True
    line = file.first_line().lstrip()
    if not line.startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _table(file: InputFile, languages: Sequence[str] | None) -> tuple[tuple[str, ...], list[Found], bool]:
    """Names of the columns, the entries, and whether the file itself names its columns."""
    lines = filled_lines(file)
    first = next(lines, None)
    names: list[str] | None = None
    if first is not None and first[2].startswith("#"):
        _, where, line = first
        names = columns_of(line[1:].strip(" "))
        languages_named = [name for name in names if name != SCORE]
        if len(languages_named) < 2 or "" in names or len(set(names)) < len(names):
            raise DataError(
                f"{where}: found the header {shown(line)}, wanted # and the names of two or more "
                f"different languages; correct it, or put another entry first."
            )
        first = next(lines, None)
    if first is None:
        raise DataError(f"{file.name} is empty; wanted one entry per line: one word of each language.")
    width = len(names) if names else len(columns_of(first[2]))
    if names is None and languages is not None:
        width = len(languages)
    reason = "the names in the header" if names else "the languages asked for" if languages else "the first entry"
    found = [_entry(*first, width, "at least 2" if width < 2 else f"{width} as {reason}")]
    found += [_entry(*line, width, f"{width} as {reason}") for line in lines]
    if names is None:
        if languages is None and width > 2:
            languages = [f"language {column + 1}" for column in range(width)]
        return tuple(languages or DEFAULT_LANGUAGES), found, False
    kept = [column for column, name in enumerate(names) if name != SCORE]
    found = [(number, tuple(entry[column] for column in kept)) for number, entry in found]
    return tuple(names[column] for column in kept), found, True


def _entry(number: int, where: str, line: str, width: int, wanted: str) -> Found:
    columns = columns_of(line)
    if len(columns) != width or width < 2:
        raise DataError(
            f"{where}: found {len(columns)} word{'s' * (len(columns) != 1)} in {shown(line)}, wanted "
            f"{wanted}; put tabs between words that contain blanks, and leave a column empty if its word is missing."
        )
    if not any(columns):
        raise DataError(f"{where}: found no word, wanted at least one; remove the line.")
    return number, tuple(column or None for column in columns)


def _json_entries(file: InputFile) -> tuple[tuple[str, ...], list[Found]]:
    names: dict[str, int] = {}
    records: list[tuple[int, dict[str, str]]] = []
    for number, where, record in json_objects(file, AN_OBJECT, errors="surrogateescape", skip_blank=True):
        record.pop(SCORE, None)
        if not all(isinstance(word, str | None) for word in record.values()):
            raise DataError(f"{where}: found {shown_json(record)}, wanted a text for each language, in {AN_OBJECT}.")
        for language in record:
            names.setdefault(language, len(names))
        if not any(record.values()):
            raise DataError(f"{where}: found no word, wanted at least one; remove the line.")
        records.append((number, record))
    if not records:
        raise DataError(f"{file.name} is empty; wanted one entry per line: one word of each language.")
    if len(names) < 2:
        raise DataError(f"{file.name}: found words in {listed(names)} only, wanted at least two languages.")
    return tuple(names), [(number, tuple(record.get(name) or None for name in names)) for number, record in records]


def _chosen(
    name: str, names: tuple[str, ...], found: list[Found], languages: Sequence[str]
) -> tuple[tuple[str, ...], list[Found]]:
    columns = []
    for language in languages:
        match = find_language(language, names)
        if match is None:
            raise DataError(f"{name}: found the languages {listed(names)}, wanted {language}; choose from those.")
        columns.append(names.index(match))
    if len(set(columns)) < len(columns):
        raise DataError(
            f"{name}: found {listed(names)}, wanted a different language for each of {', '.join(languages)}."
        )
    chosen = [(number, tuple(entry[column] for column in columns)) for number, entry in found]
    chosen = [(number, entry) for number, entry in chosen if any(entry)]
    if not chosen:
        raise DataError(f"{name}: found no entry with a word of {', '.join(languages)}; choose other languages.")
    return tuple(languages), chosen


def _distinct(name: str, found: list[Found], notices: list[str] | None) -> tuple[Entry, ...]:
    first: dict[Entry, int] = {}
    repeated = []
    for number, entry in found:
        if first.setdefault(entry, number) != number:
            repeated.append((number, entry))
    if notices is not None and repeated:
        number, entry = repeated[0]
        entries = "1 entry is" if len(repeated) == 1 else f"{len(repeated):,} entries are"
        words = shown(" ".join(word or "" for word in entry))
        notices.append(
            f"{name}: {entries} repeated, first {words} (line {first[entry]:,}, again in line {number:,}); each is "
            f"read once."
        )
    alone = [entry for entry in first if sum(word is not None for word in entry) == 1]
    if notices is not None and alone:
        entries = "1 entry has" if len(alone) == 1 else f"{len(alone):,} entries have"
        notices.append(f"{name}: {entries} a word in one language only, first in line {first[alone[0]]:,}.")
    return tuple(first)


def write_dictionary(
    path: PathLike, dictionary: Dictionary, *, scores: Sequence[float] | None = None, header: bool | None = None
) -> None:
    """Write a dictionary that `read_dictionary` reads: columns with tabs between them, or JSON lines for ``.jsonl``.

    Parameters
    ----------
    path
        The file; see `cepts.io`.
    dictionary
        A dictionary with at least one entry.
    scores
        One score for each entry, written as a last column ``score``.
    header
        Whether the first line names the languages, after a ``#``. By default it does unless the languages are just
        `source` and `target`.
    """
    if scores is not None and len(scores) != len(dictionary):
        raise UsageError(f"`scores` must have one for each of {len(dictionary)} entries. Got {len(scores)} instead.")
    if last_suffix(path) in JSON_SUFFIXES:
        lines = _json_lines(dictionary, scores)
    else:
        lines = _tsv_lines(name_of(path, "standard output"), dictionary, scores, header)
    with open_output(path) as file:
        for line in lines:
            file.write(line.encode("utf-8", "surrogateescape") + b"\n")


def _json_lines(dictionary: Dictionary, scores: Sequence[float] | None) -> Iterator[str]:
    for number, entry in enumerate(dictionary):
        record: dict[str, object] = dict(zip(dictionary.languages, entry, strict=True))
        if scores is not None:
            record[SCORE] = float(scores[number])
        yield json.dumps(record, ensure_ascii=False)


def _tsv_lines(name: str, dictionary: Dictionary, scores: Sequence[float] | None, header: bool | None) -> Iterator[str]:
    names = [*dictionary.languages, *([SCORE] if scores is not None else [])]
    starts_as_header = bool(dictionary.entries) and (dictionary.entries[0][0] or "").startswith("#")
    if header is None:
        header = tuple(names) != DEFAULT_LANGUAGES or starts_as_header
    if header:
        yield "# " + "\t".join(names)
    for number, entry in enumerate(dictionary):
        if not any(entry):
            raise DataError(f"{name}: entry {number + 1:,} has no word; leave it out.")
        for word in entry:
            if word is not None and (not word or word != word.strip(" \r\n\t") or set(word) & set("\t\r\n")):
                raise DataError(
                    f"{name}: entry {number + 1:,} has the word {shown(word)}, which could not be read back between "
                    f"tabs; leave it out, or write .jsonl."
                )
        score = [] if scores is None else [f"{scores[number]:.6g}"]
        yield "\t".join([*(word or "" for word in entry), *score])
