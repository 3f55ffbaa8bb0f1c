"""Which scripts figures can show on this machine."""

from __future__ import annotations

# A letter of each script.
LETTERS = {
    "Latin": "a",
    "Greek": "λ",
    "Cyrillic": "ж",
    "Arabic": "ش",
    "Hebrew": "ש",
    "Devanagari": "क",
    "Thai": "ก",
    "Chinese": "语",
    "Japanese": "の",
    "Korean": "한",
}


def script_fonts() -> dict[str, str | None] | None:
    """A font for each script, preferably the one that comes with matplotlib; None if matplotlib is not installed."""
    try:
        from matplotlib.font_manager import fontManager
        from matplotlib.ft2font import FT2Font
    except ImportError:
        return None
    found: dict[str, str | None] = dict.fromkeys(LETTERS)
    seen = set()
    for entry in sorted(fontManager.ttflist, key=lambda entry: (entry.name != "DejaVu Sans", entry.name)):
        # Fonts of last resort have a box with the name of the script for every letter.
        if entry.name in seen or entry.name.startswith("Last Resort") or None not in found.values():
            continue
        seen.add(entry.name)
        try:
            font = FT2Font(entry.fname)
        except (OSError, RuntimeError):  # a font that was removed or is damaged
            continue
        for script, letter in LETTERS.items():
            if found[script] is None and font.get_char_index(ord(letter)):
                found[script] = entry.name
    return found
