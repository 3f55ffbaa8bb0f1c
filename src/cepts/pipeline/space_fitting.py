"""From files of vectors and dictionaries to a fitted space, and to its model directory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cepts.data import Dictionary
from cepts.errors import UsageError
from cepts.io import read_dictionary, read_vectors
from cepts.io.languages import language_names, split_named
from cepts.progress import Progress
from cepts.spaces import SpaceModel, identical_strings
from cepts.store import check_destination


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceFiles:
    """The files that a space is fitted on, and how they are read.

    Attributes
    ----------
    vectors
        A file of vectors for each language.
    dictionaries
        Files of translations; ``en-fr:FILE`` names the languages of its columns.
    identical
        Also use words that are spelt the same in several languages as entries.
    languages
        Names of the languages, with commas between them; None is by the names of the files.
    lowercase, max_vocabulary, vector_format
        As `cepts.io.read_vectors` takes them.
    """

    vectors: tuple[str, ...]
    dictionaries: tuple[str, ...] = ()
    identical: bool = False
    languages: str | None = None
    lowercase: bool = False
    max_vocabulary: int | None = None
    vector_format: str | None = None

    def __post_init__(self) -> None:
        paths = self.vectors
        if len(paths) < 2:
            raise UsageError(f"found {len(paths)} file of vectors, wanted two or more, one for each language.")
        places = [path if path == "-" else os.path.realpath(path) for path in paths]
        twice = next((path for path, place in zip(paths, places, strict=True) if places.count(place) > 1), None)
        if twice is not None:
            raise UsageError(f"{twice} is given twice; give the vectors of another language.")
        language_names(paths, self.languages)
        if not self.dictionaries and not self.identical:
            raise UsageError(
                "nothing says which words have the same meaning; give a dictionary (`dictionaries`), or use words that "
                "are spelt the same (`identical`)."
            )

    @property
    def names(self) -> list[str]:
        """Name of each language."""
        return language_names(self.vectors, self.languages)


def method_for(files: SpaceFiles) -> str:
    """The method by default: ibfa for two languages, mbfa for more."""
    return "ibfa" if len(files.vectors) == 2 else "mbfa"


def fit_space_files(
    files: SpaceFiles,
    model: SpaceModel,
    *,
    save: str | Path | None = None,
    keep_vectors: bool = True,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> SpaceModel:
    """Read the files, fit `model`, save it, and return it.

    Parameters
    ----------
    save
        The directory where the model goes, which is checked before anything is read.
    keep_vectors
        Save the vectors and the dictionary entries with it.
    notices
        Gets a line for each thing that is no error but that a user should know.
    """
    if save is not None:
        check_destination(save)
    names = files.names
    model.check_languages(names)
    asked = [split_named("dictionaries", value, names) for value in files.dictionaries]
    if [*files.vectors, *(path for _, path in asked)].count("-") > 1:
        raise UsageError("only one of the files can come from standard input; name the others.")
    dictionaries = [_read_dictionary(languages, path, names, notices) for languages, path in asked]
    views = [
        read_vectors(
            path,
            name=name,
            format=files.vector_format,
            max_vocabulary=files.max_vocabulary,
            lowercase=files.lowercase,
            notices=notices,
            progress=progress,
        )
        for path, name in zip(files.vectors, names, strict=True)
    ]
    if files.identical:
        dictionaries.append(identical_strings(views))
    model.fit(views, dictionaries, progress=progress)
    if save is not None:
        model.save(save, vectors=keep_vectors)
    return model


def read_named_dictionaries(
    values: Sequence[str], names: Sequence[str], notices: list[str] | None = None
) -> list[Dictionary]:
    """The dictionaries of files, each with the languages of its columns before a colon where they are given."""
    asked = [split_named("dictionaries", value, names) for value in values]
    return [read_dictionary(path, languages=languages or None, notices=notices) for languages, path in asked]


def _read_dictionary(languages: list[str], path: str, names: list[str], notices: list[str] | None) -> Dictionary:
    if len(languages) == 1:
        raise UsageError(
            f"`dictionaries` {languages[0]}:{path}: found one language, wanted two or more, such as en-fr:."
        )
    found = read_dictionary(path, languages=languages or None, notices=notices)
    if not languages and len(found.languages) != len(names) and not set(found.languages) <= set(names):
        remedy = (
            "name the languages of its columns, in a first line that starts with # or as in en-fr:FILE"
            if len(found.languages) < len(names)
            else "remove columns, or give the vectors of their languages too"
        )
        raise UsageError(
            f"{path}: found {len(found.languages)} columns ({', '.join(found.languages)}), wanted one for each of the "
            f"languages {', '.join(names)}; {remedy}."
        )
    return found
