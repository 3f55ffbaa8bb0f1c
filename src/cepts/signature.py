"""Signatures: one short line that says exactly what produced a result."""

from __future__ import annotations

from collections.abc import Mapping

from cepts._version import __version__


def signature(facts: Mapping[str, object]) -> str:
    """Join `facts` to a line such as ``aer:0.063|links:sure+possible|cepts:0.1.0``.

    Examples
    --------
    >>> signature({"model": "hmm", "iterations": 5}).rsplit("|", 1)[0]
    'model:hmm|iterations:5'
    """
    return "|".join([*(f"{name}:{value}" for name, value in facts.items()), f"cepts:{__version__}"])


class Signed:
    """Base of results with `facts`, which say what was scored and how."""

    __slots__ = ()

    facts: Mapping[str, object]

    @property
    def signature(self) -> str:
        """One line that says what was scored and how."""
        return signature(self.facts)
