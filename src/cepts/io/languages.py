"""Choosing two languages among those that a file names."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["find_language", "normal_language"]


def normal_language(tag: str) -> str:
    """`tag` in lower case with hyphens: ``en_US`` is ``en-us``."""
    return tag.strip().lower().replace("_", "-")


def find_language(wanted: str, available: Iterable[str]) -> str | None:
    """The one of the `available` tags that is `wanted`; else the first that differs by a region or script
    only.

    Examples
    --------
    >>> find_language("en", ["fr", "en-US"])
    'en-US'
    >>> find_language("en-GB", ["en-US", "EN"])
    'EN'
    """
    tags = [(normal_language(tag), tag) for tag in available]
    want = normal_language(wanted)
    for normal, tag in tags:
        if normal == want:
            return tag
    for normal, tag in tags:
        if normal.startswith(f"{want}-") or want.startswith(f"{normal}-"):
            return tag
    return None
