"""Signatures: one short line that says exactly what produced a result."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from cepts._version import __version__


def signature(facts: Mapping[str, object]) -> str:
    """Join `facts` into a line such as ``aer:0.063|links:sure+possible|cepts:0.1.0``.

    Examples
    --------
    >>> signature({"model": "hmm", "iterations": 5}).rsplit("|", 1)[0]
    'model:hmm|iterations:5'
    """
    return "|".join([*(f"{name}:{value}" for name, value in facts.items()), f"cepts:{__version__}"])


def short_signature(whole: str, width: int) -> str:
    """Shorten a signature to `width` columns: the first facts, the version, and a digest of the whole signature.

    Examples
    --------
    >>> short_signature("pairs:2|protocol:macro|gold:sure|cepts:0.1.0", 80)
    'pairs:2|protocol:macro|gold:sure|cepts:0.1.0'
    >>> short_signature("pairs:2|protocol:macro|gold:sure|cepts:0.1.0", 40)
    'pairs:2|...|cepts:0.1.0|sha256:1624d024'
    """
    if len(whole) <= width:
        return whole
    facts = whole.split("|")
    end = f"|...|{facts[-1]}|sha256:{sha256(whole.encode()).hexdigest()[:8]}"
    shown = facts[0]
    for fact in facts[1:-1]:
        if len(f"{shown}|{fact}{end}") > width:
            break
        shown = f"{shown}|{fact}"
    return f"{shown}{end}"


class Signed:
    """Base class of results with `facts`, which say what was scored and how."""

    __slots__ = ()

    facts: Mapping[str, object]

    @property
    def signature(self) -> str:
        """One line that says what was scored and how."""
        return signature(self.facts)
