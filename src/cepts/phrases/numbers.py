"""The values of English numbers, in words and in figures: *twice* is *two times*, *half* is *50 %*, *a dozen* is *12*.

A value has a kind, because *two*, *second* and *twice* say different things; only values of one kind are equal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

LONGEST = 6  # tokens of a number that is looked at
MOST_CHARACTERS = 30  # of a token with digits; Python refuses to read much longer numbers


def _list(text: str) -> list[str]:
    return text.split()


_UNITS = _list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = _list("twenty thirty forty fifty sixty seventy eighty ninety")
_ORDINAL_UNITS = _list(
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_ORDINAL_TENS = [f"{word[:-1]}ieth" for word in _TENS]
SMALL = {word: value for value, word in enumerate(_UNITS)} | {word: 10 * value for value, word in enumerate(_TENS, 2)}
SMALL |= {f"{ten}-{one}": SMALL[ten] + SMALL[one] for ten in _TENS for one in _UNITS[1:10]}
ORDINALS = {word: value for value, word in enumerate(_ORDINAL_UNITS)} | {
    word: 10 * value for value, word in enumerate(_ORDINAL_TENS, 2)
}
ORDINALS |= {f"{ten}-{one}": SMALL[ten] + ORDINALS[one] for ten in _TENS for one in _ORDINAL_UNITS[1:10]}
ORDINALS |= {"hundredth": 100, "thousandth": 1000, "millionth": 10**6}
SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "k": 1000,
    "m": 10**6,
    "mn": 10**6,
    "bn": 10**9,
    "tn": 10**12,
}
WORD_SCALES = frozenset({"dozen", "hundred", "thousand", "million", "billion", "trillion"})
TIMES = {
    "once": 1,
    "twice": 2,
    "thrice": 3,
    "double": 2,
    "twofold": 2,
    "two-fold": 2,
    "triple": 3,
    "treble": 3,
    "threefold": 3,
    "three-fold": 3,
    "quadruple": 4,
    "fourfold": 4,
    "four-fold": 4,
    "tenfold": 10,
    "ten-fold": 10,
}
SHARES = {"half": Fraction(1, 2), "quarter": Fraction(1, 4)}
PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4}
PARTS |= {f"{word}{plural}": value for word, value in ORDINALS.items() if 2 < value <= 10 for plural in ("", "s")}
PERCENT = frozenset({"%", "percent", "pct", "pc"})
# Words that may be, or begin, a number; but every number has another one than an article, or a digit.
PARTED = {
    f"{word}-{part}": Fraction(count, parts)
    for part, parts in PARTS.items()
    for word, count in {**SMALL, "a": 1}.items()
    if 0 < count < parts
}
WORDS = frozenset({*SMALL, *ORDINALS, *WORD_SCALES, *TIMES, *PARTS, *PARTED, "both"})
STARTS = WORDS | {"a", "an"}
DIGIT = re.compile("[0-9]")
FIGURE_STARTS = frozenset("0123456789+.")

FIGURES = re.compile(r"[+]?(\d{1,3}(?:,\d{3})+|\d+)?(\.\d+)?")
SCALED = re.compile(r"([\d.,]*\d)-?(k|m|mn|bn|tn|hundred|thousand|million|billion|trillion)")
NUMBERED = re.compile(r"(\d[\d,]*)(?:st|nd|rd|th)")
MULTIPLE = re.compile(r"(\d+)(?:x|×|-?fold)")
QUOTIENT = re.compile(r"(\d{1,3})/(\d{1,3})")


class Number(NamedTuple):
    """Tokens `start` to `stop` (exclusive) that say a value: a count, an ordinal, a multiple, a share or both."""

    start: int
    stop: int
    kind: str
    value: Fraction


def numbers_in(tokens: Sequence[str]) -> list[Number]:
    """The numbers of a sentence whose tokens are in lower case, by their places.

    Parts of a longer number are none of their own: *two* in *two hundred*. A count that a multiple or share is made
    of is: *two* in *two times*.

    Examples
    --------
    >>> [(number.kind, int(number.value)) for number in numbers_in("twenty-one people came two times".split())]
    [('count', 21), ('count', 2), ('times', 2)]
    """
    found: list[Number] = []
    if WORDS.isdisjoint(tokens) and DIGIT.search(" ".join(tokens)) is None:
        return found
    done = 0
    for place, token in enumerate(tokens):
        if place < done or not (token in STARTS or token[:1] in FIGURE_STARTS):
            continue
        count = _count(tokens, place)
        if count is None:
            found += _others(tokens, place)
        else:
            found += [count, *_made_of(tokens, count)]
            done = count.stop
    return [number for number in found if number.stop - number.start <= LONGEST]


def _count(tokens: Sequence[str], start: int) -> Number | None:
    """The longest count that starts at a token."""
    token, place = tokens[start], start + 1
    value = _figures(token)
    if value is None:
        return _count_in_words(tokens, start)
    while _word(tokens, place) in SCALES:
        value *= SCALES[tokens[place]]
        place += 1
    return Number(start, place, "count", value)


def _count_in_words(tokens: Sequence[str], start: int) -> Number | None:
    """A count such as *two hundred and five thousand*: parts below a thousand, each with its scale, are added up."""
    total, part, place = 0, 0, start
    room = math.inf  # the next part must be smaller
    if tokens[start] in {"a", "an"} and _word(tokens, start + 1) in WORD_SCALES:
        part, room, place = 1, 1, start + 1
    while place < len(tokens):
        word = tokens[place]
        after_and = word == "and" and place > start and _word(tokens, place + 1) in SMALL and room > 1
        small = SMALL.get(tokens[place + 1] if after_and else word)
        if small is not None and (place == start or small < room):
            if after_and and (total or part) % 100:
                break  # "five and six" are two numbers
            part += small
            room = 10 if small >= 20 and small % 10 == 0 else 1
            place += 1 + after_and
        elif word in WORD_SCALES and SCALES[word] > (part if part else 0) and (part or place == start):
            part = max(part, 1) * SCALES[word]
            if SCALES[word] > 100:
                total, part, room = total + part, 0, SCALES[word]
            else:
                room = SCALES[word]
            place += 1
        else:
            break
    return None if place == start else Number(start, place, "count", Fraction(total + part))


def _made_of(tokens: Sequence[str], count: Number) -> list[Number]:
    """The multiple or share that a count and the words behind it make, and what *the* makes of two."""
    found = []
    next_word = _word(tokens, count.stop)
    if next_word == ("time" if count.value == 1 else "times"):
        found.append(Number(count.start, count.stop + 1, "times", count.value))
    elif next_word in PERCENT:
        found.append(Number(count.start, count.stop + 1, "share", count.value / 100))
    elif next_word == "per" and _word(tokens, count.stop + 1) == "cent":
        found.append(Number(count.start, count.stop + 2, "share", count.value / 100))
    elif next_word in PARTS and count.value < PARTS[next_word] and not tokens[count.start][0].isdigit():
        found.append(Number(count.start, count.stop + 1, "share", count.value / PARTS[next_word]))
    if count.value == 2 and count.start and tokens[count.start - 1] == "the":
        found.append(Number(count.start - 1, count.stop, "both", count.value))
    return found


def _others(tokens: Sequence[str], start: int) -> list[Number]:
    """What a token says that is no count: an ordinal, a multiple, a share, both."""
    token, stop = tokens[start], start + 1
    if token in TIMES:
        times = Fraction(TIMES[token])
        found = [Number(start, stop, "times", times)]
        if _word(tokens, stop) == "as" and _word(tokens, stop + 1) in {"much", "many"}:
            found.append(Number(start, stop + 2, "times", times))
        return found
    if token in ORDINALS:
        return [Number(start, stop, "ordinal", Fraction(ORDINALS[token]))]
    if token in SHARES:
        return [Number(start, stop, "share", SHARES[token])]
    if token in {"a", "an"} and _word(tokens, stop) in PARTS:
        return [Number(start, stop + 1, "share", Fraction(1, PARTS[tokens[stop]]))]
    if token == "both":
        return [Number(start, stop, "both", Fraction(2))]
    if token in PARTED:
        return [Number(start, stop, "share", PARTED[token])]
    if len(token) > MOST_CHARACTERS:
        return []
    for pattern, kind in ((NUMBERED, "ordinal"), (MULTIPLE, "times")):
        if whole := pattern.fullmatch(token):
            return [Number(start, stop, kind, Fraction(whole[1].replace(",", "")))]
    if (whole := QUOTIENT.fullmatch(token)) and 0 < int(whole[1]) < int(whole[2]):
        return [Number(start, stop, "share", Fraction(int(whole[1]), int(whole[2])))]
    if token[-1] == "%" and (value := _figures(token[:-1])) is not None:
        return [Number(start, stop, "share", value / 100)]
    return []


def _figures(token: str) -> Fraction | None:
    """The value of a number in figures: 1,000, 2.5, 10k, 5-million."""
    if not any(map(str.isdigit, token)) or not token.isascii() or len(token) > MOST_CHARACTERS:
        return None
    if whole := SCALED.fullmatch(token):
        value = _figures(whole[1])
        return None if value is None else value * SCALES[whole[2]]
    if FIGURES.fullmatch(token):
        return Fraction(token.lstrip("+").replace(",", ""))
    return None


def _word(tokens: Sequence[str], place: int) -> str:
    return tokens[place] if place < len(tokens) else ""


class SameNumbers(NamedTuple):
    """A number of either sentence, of one value; `alone` if neither sentence says that value a second time."""

    source: Number
    target: Number
    alone: bool


def same_numbers(source: Sequence[str], target: Sequence[str]) -> list[SameNumbers]:
    """The numbers of two sentences, in lower case, that have one value, without those that are the same words."""
    ours = numbers_in(source)
    theirs = numbers_in(target) if ours else []
    values = [[number[2:] for number in numbers] for numbers in (ours, theirs)]
    return [
        SameNumbers(one, other, values[0].count(one[2:]) == values[1].count(one[2:]) == 1)
        for one in ours
        for other in theirs
        if one[2:] == other[2:] and source[one.start : one.stop] != target[other.start : other.stop]
    ]
