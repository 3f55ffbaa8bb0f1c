"""Names of languages: in the tags of a file, in the names of files, and before the colon of ``en-fr:FILE``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from cepts.errors import UsageError

# The codes of ISO 639-1, each between blanks.
CODES = (
    " aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv "
    "ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne "
    "ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st "
    "su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu "
)
SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".vec", ".bin", ".txt", ".npy")
SHOWN = 6  # languages or columns that a notice names
SAYS_NOTHING = re.compile(r"(vectors?|embeddings?|vec|model)\b", re.IGNORECASE)


def normal_language(tag: str) -> str:
    """`tag` in lower case with hyphens: ``en_US`` is ``en-us``."""
    return tag.strip().lower().replace("_", "-")


def find_language(wanted: str, available: Iterable[str]) -> str | None:
    """The `available` tag that equals `wanted`, or otherwise the first that differs only by a region or script.

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


def taken_notice(name: str, kind: str, taken: Sequence[str], others: Sequence[str]) -> str:
    """The note that says which two languages or columns of a file are source and target, and which `others` it has."""
    shown = ", ".join(others[:SHOWN]) + (f" and {len(others) - SHOWN} more" if len(others) > SHOWN else "")
    more = f" (also there: {shown})" if others else ""
    return f"{name}: the source is {taken[0]} and the target is {taken[1]}{more}; choose others with `{kind}`."


def language_names(paths: Sequence[str], given: str | None = None) -> list[str]:
    """Names for the languages of vector files: those `given`, separated by commas, or otherwise from the file names.

    ``cc.en.300.vec`` is *en*; a file name without a language code is used as it is, without its suffixes.
    """
    if given is not None:
        names = [name.strip() for name in given.split(",")]
        if len(names) != len(paths) or not all(names):
            raise UsageError(
                f"`languages`: found {len([name for name in names if name])} names in {given!r}, wanted "
                f"{len(paths)}, one for each vector file, separated by commas."
            )
    else:
        names = [_code_in(path) or _bare(path) for path in paths]
        if len(set(names)) < len(names):
            names = [_bare(path) for path in paths]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise UsageError(
            f"found two languages named {repeated!r}, wanted different names; set `languages`, for example to A,B."
        )
    return names


def split_named(parameter: str, value: str, names: Sequence[str]) -> tuple[list[str], str]:
    """The languages and the file of ``en-fr:FILE``; no languages if there is only a file.

    `parameter` is what messages call the value.
    """
    head, colon, path = value.partition(":")
    if not colon or Path(value).exists():
        return [], value
    found = _segments(head, names)
    if found is None or not path:
        raise UsageError(
            f"`{parameter}` {value}: found {head!r} before the colon, wanted languages from {', '.join(names)}, "
            f"separated by hyphens, and a file after the colon."
        )
    return found, path


def _bare(path: str) -> str:
    if path == "-":
        return "stdin"
    name = Path(os.path.abspath(path)).name  # noqa: PTH100
    while (suffix := Path(name).suffix).lower() in SUFFIXES and suffix != name:
        name = name[: -len(suffix)]
    return name


def _code_in(path: str) -> str | None:
    """The language code in the name of a file, or of its directory if the file is just called *vectors*."""
    name = _bare(path)
    if path != "-" and SAYS_NOTHING.match(name):
        name = Path(os.path.abspath(path)).parent.name  # noqa: PTH100
    return next((part for part in re.split(r"[._-]", name) if len(part) == 2 and f" {part} " in CODES), None)


def _segments(text: str, names: Sequence[str]) -> list[str] | None:
    """The names that `text` joins with hyphens; names may contain hyphens themselves."""
    for name in names:
        if text == name:
            return [name]
        if text.startswith(f"{name}-"):
            rest = _segments(text[len(name) + 1 :], names)
            if rest is not None:
                return [name, *rest]
    return None
