"""A plain speller of numbers, the other way round than cepts.phrases.numbers."""

from __future__ import annotations

BELOW_TWENTY = """zero one two three four five six seven eight nine
ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"""
FROM_TWENTY = "twenty thirty forty fifty sixty seventy eighty ninety"
UNITS = BELOW_TWENTY.split()
TENS = ["", "", *FROM_TWENTY.split()]


def spelt(value, *, british=False):
    """The words of a number below a million; `british` has "and" before what is left of hundreds."""
    if value < 20:
        return UNITS[value]
    if value < 100:
        return TENS[value // 10] + (f"-{UNITS[value % 10]}" if value % 10 else "")
    size, name = (100, "hundred") if value < 1000 else (1000, "thousand")
    whole, rest = divmod(value, size)
    words = f"{spelt(whole, british=british)} {name}"
    if not rest:
        return words
    joined = " and " if british and rest < 100 else " "
    return words + joined + spelt(rest, british=british)
