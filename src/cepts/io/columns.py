"""Which two columns of a table are the source and the target of a bitext."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from cepts.errors import DataError, listed
from cepts.io.languages import CODES, find_language, normal_language, taken_notice

TRANSLATION = "translation"  # a column of texts by language, as Hugging Face's datasets have it
NAMED = (
    ("source", "target"),
    ("src", "tgt"),
    ("src", "trg"),
    ("source_text", "target_text"),
    ("sentence1", "sentence2"),
)
# Columns that describe a pair; they are used as sentences only if there are not two others.
ABOUT = {
    *("id", "idx", "index", "key", "no", "nr", "num", "number", "line", "row"),
    *("score", "scores", "url", "domain", "date", "split", "doc", "document"),
}
LANGUAGE = re.compile(r"([a-z]{2})(-[a-z0-9]+)*")


class SideColumns(NamedTuple):
    """The columns of source and target; `nested` if they are fields of the column `translation`."""

    source: str
    target: str
    nested: bool = False


def choose_columns(
    name: str,
    found: str,
    texts: Sequence[str],
    fields: Sequence[str] | None,
    columns: Sequence[str] | None,
    languages: Sequence[str] | None,
    notices: list[str] | None = None,
) -> SideColumns:
    """The columns that a user named, or those that most likely hold sentences and their translations.

    Parameters
    ----------
    name, found
        What messages call the table, and the words with which they say which columns it has.
    texts
        Columns of text.
    fields
        Fields of the column `translation`; None if there is no such column.
    columns, languages
        What the user named: two columns, or two languages, which are fields of `translation` or otherwise columns.
    notices
        A list to which a note about the choice is appended, if the user named nothing and there was a choice.
    """
    if columns is not None:
        for column in columns:
            if column not in texts:
                raise DataError(f"{found}; wanted a text column {column}.")
        return SideColumns(columns[0], columns[1])
    named = next((pair for pair in NAMED if set(pair) <= set(texts)), None)
    if named is not None and languages is None:
        return SideColumns(*named)
    nested = fields is not None
    available = texts if fields is None else fields
    has = f"{name}: the column {TRANSLATION} has the fields {listed(available)}" if nested else found
    if languages is not None:
        chosen = [find_language(tag, available) for tag in languages]
        if chosen[0] is None or chosen[1] is None:
            raise DataError(f"{has}, wanted {' and '.join(languages)}.")
        return SideColumns(chosen[0], chosen[1], nested)
    if len(available) < 2:
        raise DataError(f"{has}; wanted two text {'fields' if nested else 'columns'}.")
    coded = [column for column in available if is_language(column)]
    # A column "id" is taken for Indonesian only if there are not two others.
    plain = [column for column in available if column.lower() not in ABOUT]
    kinds = [column for column in coded if column.lower() != "id"], coded, plain
    taken = next((kind for kind in kinds if len(kind) >= 2), available)[:2]
    if notices is not None:
        others = [column for column in available if column not in taken]
        notices.append(taken_notice(name, "languages" if nested else "columns", taken, others))
    return SideColumns(taken[0], taken[1], nested)


def is_language(name: str) -> bool:
    """Whether the name of a column is a language code, such as ``en`` or ``pt_BR``."""
    match = LANGUAGE.fullmatch(normal_language(name))
    return match is not None and f" {match[1]} " in CODES
