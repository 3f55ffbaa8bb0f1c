"""Which two columns of a table are the source and the target of a bitext."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from cepts.errors import DataError, listed
from cepts.io.languages import CODES, find_language, normal_language, taken_notice

TRANSLATION = "translation"  # a column of texts by language, as Hugging Face's datasets have it
NAMED = (("source", "target"), ("src", "tgt"), ("src", "trg"))
LANGUAGE = re.compile(r"([a-z]{2})(-[a-z0-9]+)*")


class SideColumns(NamedTuple):
    """The columns of source and target; `nested` where they are fields of the column `translation`."""

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
        What messages call the table, and what they say that it has.
    texts
        Columns of text.
    fields
        Those of the column `translation`; None where there is no such column.
    columns, languages
        What the user named: two columns, or two languages, which are fields of `translation`, else columns.
    notices
        Gets a line that says what was taken, where the user named nothing and the names leave a choice.
    """
    if columns is not None:
        for column in columns:
            if column not in texts:
                raise DataError(f"{found}; wanted a column {column} of text.")
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
        raise DataError(f"{has}, wanted two of text." if nested else f"{has}; wanted two columns of text.")
    coded = [column for column in available if is_language(column)]
    # A column "id" is Indonesian only where it is needed.
    kinds = [column for column in coded if column.lower() != "id"], coded, available
    taken = next((kind for kind in kinds if len(kind) >= 2), available)[:2]
    if notices is not None:
        others = [column for column in available if column not in taken]
        notices.append(taken_notice(name, "languages" if nested else "columns", taken, others))
    return SideColumns(taken[0], taken[1], nested)


def is_language(name: str) -> bool:
    """Whether a column is called by the code of a language, such as ``en`` or ``pt_BR``."""
    match = LANGUAGE.fullmatch(normal_language(name))
    return match is not None and f" {match[1]} " in CODES
