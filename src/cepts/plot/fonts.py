"""Which fonts have the letters of a text, how wide a text is, and how right-to-left words are drawn."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any

from cepts.data import runs_right_to_left

MAIN = "DejaVu Sans"  # part of matplotlib, so it is the same everywhere
POINTS_PER_INCH = 72

# Families for scripts of East Asia, the best first. The same Han character looks different in Japanese and in Chinese,
# so for a text with kana or hangul the fonts of its own country come first.
_JAPANESE = ("Noto Sans CJK JP", "Noto Sans JP", "Hiragino Sans", "Yu Gothic", "Meiryo", "IPAexGothic", "IPAGothic")
_KOREAN = ("Noto Sans CJK KR", "Noto Sans KR", "Apple SD Gothic Neo", "Malgun Gothic", "NanumGothic")
_CHINESE = ("Noto Sans CJK SC", "Noto Sans SC", "PingFang SC", "Microsoft YaHei", "WenQuanYi Micro Hei", "SimHei")
_OTHERS = ("Noto Sans", "Arial Unicode MS", "Noto Emoji", "Symbola")
# First words of the Unicode names of the characters of these scripts.
_EAST_ASIAN = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "FULLWIDTH", "HALFWIDTH", "KANGXI"}


@contextmanager
def hushed() -> Iterator[None]:
    """Keep matplotlib from logging that a family has no bold face, or that it chose a narrow one."""
    log = logging.getLogger("matplotlib.font_manager")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def families_for(texts: Iterable[str]) -> list[str]:
    """Families that together have the letters of `texts`, as far as this machine has fonts for them.

    The first is always `MAIN`; matplotlib looks for each letter in the families one after the other.
    """
    return [MAIN, *_fallbacks(_drawn(texts))[0]]


def lacking(texts: Iterable[str]) -> str:
    """The letters of `texts` that no font of this machine has, in the order of their code points."""
    return _fallbacks(_drawn(texts))[1]


def advice(letters: str) -> str:
    """The text of a warning that says what to install so that `letters` can be drawn."""
    scripts = sorted({_script(letter) for letter in letters})
    if any(script in _EAST_ASIAN for script in scripts):
        package = "Noto Sans CJK (Debian, Ubuntu: fonts-noto-cjk; Fedora: google-noto-sans-cjk-fonts)"
    elif all(unicodedata.category(letter) == "So" for letter in letters):
        package = "Noto Emoji or Symbola (Debian, Ubuntu: fonts-symbola)"
    else:
        package = "Noto Sans (Debian, Ubuntu: fonts-noto-core; Fedora: google-noto-sans-fonts)"
    some = letters if len(letters) <= 8 else letters[:7] + "…"
    return (
        f"no font on this machine has {some}, so boxes are drawn instead; install a font that does, such as {package}."
    )


def can_shape() -> bool:
    """Whether matplotlib orders and joins the letters of right-to-left scripts itself, which it does from 3.11 on."""
    from matplotlib import ft2font

    return hasattr(ft2font, "__libraqm_version__")


def shaped(word: str) -> str:
    """A word in the form that matplotlib draws correctly; characters that cannot be drawn become U+FFFD.

    Before version 3.11, matplotlib draws all letters from left to right, so the letters of a right-to-left word are
    reversed here; the letters of Arabic, which should be joined, are drawn apart.
    """
    word = "".join("\ufffd" if unicodedata.category(letter) in {"Cc", "Cs"} else letter for letter in word)
    if can_shape() or not runs_right_to_left([word]):
        return word
    return "".join(reversed(list(_clusters(word))))


def width_of(text: str, size: float, families: Sequence[str]) -> float:
    """Width of a text in inches; `size` is the size of the font in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    # An empty word has no extents.
    if not text.strip():
        return 0.0
    path = TextPath((0, 0), text, size=size, prop=FontProperties(family=list(families)))
    return float(path.get_extents().width) / POINTS_PER_INCH


def _drawn(texts: Iterable[str]) -> str:
    """The letters that need a glyph, each once."""
    letters = {letter for text in texts for letter in text}
    return "".join(sorted(letter for letter in letters if _needs_glyph(letter)))


def _needs_glyph(letter: str) -> bool:
    # Spaces, control and format characters, lone surrogates and variation selectors have no glyph.
    kind = unicodedata.category(letter)
    return kind not in {"Zs", "Zl", "Zp", "Cc", "Cf", "Cs"} and not 0xFE00 <= ord(letter) <= 0xFE0F


def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNKNOWN").partition(" ")[0].partition("-")[0]


def _clusters(word: str) -> Iterator[str]:
    """Letters, each with its combining marks."""
    cluster = ""
    for letter in word:
        if cluster and not unicodedata.combining(letter):
            yield cluster
            cluster = ""
        cluster += letter
    yield cluster


@lru_cache(maxsize=1024)
def _fallbacks(letters: str) -> tuple[tuple[str, ...], str]:
    """Families that `letters` need in addition to the main one, and the letters that are still missing then."""
    wanted = {letter for letter in letters if ord(letter) not in _letters_of(MAIN)}
    chosen: list[str] = []
    if not wanted:
        return (), ""
    known = _known_families()
    preferred = [name for name in _preferred(wanted) if name in known]
    for name in preferred:
        found = {letter for letter in wanted if ord(letter) in _letters_of(name)}
        if found:
            chosen.append(name)
            wanted -= found
    while wanted:
        counts = {name: sum(ord(letter) in _letters_of(name) for letter in wanted) for name in known}
        best = min(counts, key=lambda name: (-counts[name], not name.startswith("Noto Sans"), name), default=MAIN)
        if not counts.get(best):
            break
        chosen.append(best)
        wanted = {letter for letter in wanted if ord(letter) not in _letters_of(best)}
    return tuple(chosen), "".join(sorted(wanted))


def _preferred(letters: Iterable[str]) -> tuple[str, ...]:
    scripts = {_script(letter) for letter in letters}
    if not scripts & _EAST_ASIAN:
        return _OTHERS
    if scripts & {"HIRAGANA", "KATAKANA"}:
        return _JAPANESE + _CHINESE + _KOREAN + _OTHERS
    if "HANGUL" in scripts:
        return _KOREAN + _JAPANESE + _CHINESE + _OTHERS
    return _CHINESE + _JAPANESE + _KOREAN + _OTHERS


@cache
def _known_families() -> tuple[str, ...]:
    """The families of this machine, except the one that has a box for every letter."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    # Matplotlib keeps its list of fonts between runs, so it does not know fonts that were installed since.
    listed = {str(entry.fname) for entry in fontManager.ttflist}
    for path in sorted(set(findSystemFonts()) - listed):
        try:
            fontManager.addfont(path)
        except (OSError, RuntimeError, ValueError):  # a font that FreeType cannot use, such as one of coloured pictures
            continue
    return tuple(sorted({entry.name for entry in fontManager.ttflist if not entry.name.startswith("Last Resort")}))


@cache
def _letters_of(family: str) -> frozenset[int]:
    """The code points for which the font of a family has a glyph."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    try:
        with hushed():
            font: Any = get_font(findfont(FontProperties(family=[family]), fallback_to_default=False))
    except (OSError, RuntimeError, ValueError):
        return frozenset()
    return frozenset(font.get_charmap())
