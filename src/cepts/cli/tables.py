"""Choices whose names stand in a table of the library, which is read when a command needs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from cepts.names import resolve


class TableChoice(click.Choice):
    """A choice of the names of a table, such as ``cepts.extract:EXTRACTORS``.

    What somebody adds to the table can be chosen; the table is not imported before it is asked for.

    Parameters
    ----------
    table
        Where the table is, for `cepts.names.resolve`.
    first
        Names that stand before those of the table.
    """

    def __init__(self, table: str, first: Sequence[str] = ()) -> None:
        self._table, self._first = table, tuple(first)
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        """The names."""
        return (*self._first, *resolve(self._table))

    @choices.setter
    def choices(self, names: Sequence[Any]) -> None:
        pass  # click sets them once, to nothing
