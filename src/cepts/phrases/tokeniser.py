"""Cutting running English into tokens, in the manner of the Penn Treebank, on which the English tagger was trained.

Unlike the Treebank's own script, it keeps every character as it is written: quotation marks are not turned into `` and
'', brackets not into -LRB-. Text that is tokenised already stays as it is: pieces are cut until no rule cuts them
again, and what a rule sees of the text behind a piece does not depend on blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cepts.data import Sentence, SentencePair, TokenStyle
from cepts.phrases.emoji import EMOJI, is_emoji


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that end in a full stop wherever they stand.
ABBREVIATIONS = _words(
    "mr mrs ms mx dr drs prof rev hon messrs mme mlle st sr jr esq capt cmdr cpl col gen gov lt maj sgt adm brig det "
    "pfc pvt sen sens rep reps supt inc ltd corp co cos bros mfg assn bancorp llc bhd dept univ intl "
    "jan feb apr aug sept sep oct nov dec tues thurs ave blvd rd hwy mt ft lbs "
    "ala ariz ark calif colo conn fla ga ill kan ky la md mich minn mont neb nev okla ont ore pa penn "
    "sask tenn tex va vt wis wyo etc vs v al approx cf eds viz incl pp"
)
# Those that are also words, or the ends of sentences: abbreviations only before a number ...
BEFORE_NUMBERS = _words("no nos fig figs vol vols p art sec ch ca op")
# ... or only with a capital and where the sentence goes on.
WITH_CAPITALS = _words("ill la pa ore rep reps mass miss del ind mo wash mar sat sun mon wed fri est pres tex ark")
# What may follow the apostrophe of a token: clitics, and words that have lost their start.
CLIPPED = _words("s m d ll re ve t em til till cause bout round n n' nuff cept neath")
ENDING_IN_APOSTROPHE = _words("o' ol' d' l' 'n'")
# Words that are two tokens, and the length of the first.
JOINED = {"cannot": 3, "gonna": 3, "gotta": 3, "wanna": 3, "gimme": 3, "lemme": 3, "'tis": 2, "'twas": 2}

APOSTROPHES = "'’‘‛`´"
WORDS = re.compile(r"[^\s\u200b\u2060\ufeff]+")
LINK = re.compile(r"(?:[a-z][a-z0-9+.-]*://|www\.)[^\s<>\"“”]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE)
AFTER_LINK = re.compile(r"[.,;:!?'’»…]+$|(?<=[^(])\)[.,;:!?'’»…)]*$")
MONEY = re.compile(r"(?:[A-Z]{0,3}\$|[£€¥₹₩₽])(?=[0-9.])")
# Marks that are cut off wherever they stand; but commas and colons stay within numbers and times, semicolons in
# character references such as &amp; and percent signs before a hyphen.
MARK = re.compile(
    r"``|''|[\"“”„‟«»()\[\]{}¿¡—―]|-{2,}|\.{2,}|…+|[!?]+|,(?![0-9])|(?<![0-9]),|:(?!\w)|(?<=[0-9])[%‰€£]$"
    r"|;(?<!&amp;)(?<!&lt;)(?<!&gt;)(?<!&quot;)(?<!&apos;)(?<!&nbsp;)(?<!&#\d\d;)(?<!&#\d\d\d;)"
)
CLITIC = re.compile(r"(?<=[\w.])(?:n['’´`]t|['’´`](?:s|m|d|ll|re|ve))$", re.IGNORECASE)
EMOTICON_AT_END = re.compile(r"(?<=[\w.!?,…])[:;=]-[()DPp]+$")
ACRONYM = re.compile(r"(?:[^\W\d_]{1,2}\.){2,}")
YEARS = re.compile(r"[0-9]{2}s?")
IN_NUMBER = re.compile(r"[0-9][0-9.,]*")
NEXT_IS_NUMBER = re.compile(r"[\s\u200b\u2060\ufeff]*[0-9]")
LETTER_OR_DIGIT = re.compile(r"\w")
SAMPLE = 1000  # pairs that are looked at, spread over the text
LONGEST = 1000  # characters of a piece that is looked at; a longer one is no word


def tokenise(text: str) -> list[str]:
    """The tokens of an English sentence.

    Examples
    --------
    >>> tokenise("Mr. O'Brien can't pay $1,000.50 (50%) by 10:30 p.m.")
    ['Mr.', "O'Brien", 'ca', "n't", 'pay', '$', '1,000.50', '(', '50', '%', ')', 'by', '10:30', 'p.m.']
    """
    tokens: list[str] = []
    for found in WORDS.finditer(text):
        piece = found[0]
        if (piece.isalpha() and piece.lower() not in JOINED) or not 1 < len(piece) <= LONGEST:
            tokens.append(piece)
        else:
            tokens += _pieces(text, *found.span())
    return tokens


def tokenised(pairs: Iterable[SentencePair]) -> list[SentencePair]:
    """The pairs with the tokens of running English; tokens that are given, and pairs with gold links, stay."""
    return [
        replace(pair, source=_tokenised(pair.source), target=_tokenised(pair.target)) if is_running(pair) else pair
        for pair in pairs
    ]


def is_running(pair: SentencePair) -> bool:
    """Whether a pair has a sentence of running text, whose words nobody has numbered."""
    return (pair.source.running or pair.target.running) and pair.sure is None and pair.possible is None


def looks_untokenised(pairs: Sequence[SentencePair]) -> bool:
    """Whether the running text of `pairs` looks as if nobody had tokenised it.

    Most of its punctuation is part of words; or it has none that stands alone, and there is something to cut.
    """
    running = [pair for pair in pairs if is_running(pair)]
    sample = running[:: max(len(running) // SAMPLE, 1)]
    sentences = [side.tokens for pair in sample for side in (pair.source, pair.target) if side.running]
    style = TokenStyle.of(sentences)
    if style.is_glued:
        return True
    return style.alone == 0 and any(len(tokenise(" ".join(tokens))) > len(tokens) for tokens in sentences)


def _tokenised(sentence: Sentence) -> Sentence:
    return Sentence(tuple(tokenise(" ".join(sentence.tokens)))) if sentence.running else sentence


def _pieces(text: str, start: int, stop: int) -> Iterator[str]:
    """The tokens of `text[start:stop]`, which has no blanks."""
    stops = [stop]
    while stops:
        cut = _cut(text, start, stops[-1])
        if cut is None:
            yield text[start : stops[-1]]
            start = stops.pop()
        else:
            stops.append(cut)


def _cut(text: str, start: int, stop: int) -> int | None:
    """Where `text[start:stop]` is cut first; None where it is one token."""
    piece = text[start:stop]
    if len(piece) == 1 or is_emoji(piece):
        return None
    for rule in (_cut_emoji, _cut_link, _cut_mark, _cut_clitic):
        place = rule(piece)
        if place is not None:
            return start + place if 0 < place < len(piece) else None
    if piece[-1] == "." and not _keeps_full_stop(text, start, stop):
        return stop - 1
    place = _cut_apostrophe(piece)
    return None if place is None else start + place


def _edge(span: tuple[int, int]) -> int:
    """Where a piece is cut to free a span in it: before the span, or after one at the start."""
    return span[0] or span[1]


def _cut_emoji(piece: str) -> int | None:
    found = EMOTICON_AT_END.search(piece) if piece.isascii() else EMOJI.search(piece)
    return None if found is None else _edge(found.span())


def _cut_link(piece: str) -> int | None:
    if "@" not in piece and "://" not in piece and "www." not in piece.lower():
        return None
    found = LINK.search(piece)
    if found is None:
        return None
    after = AFTER_LINK.search(piece, *found.span())
    return _edge((found.start(), found.end() if after is None else after.start()))


def _cut_mark(piece: str) -> int | None:
    found = MONEY.match(piece) or MARK.search(piece)
    return None if found is None else _edge(found.span())


def _cut_clitic(piece: str) -> int | None:
    found = CLITIC.search(piece)
    return JOINED.get(piece.lower().replace("’", "'")) if found is None else found.start()


def _cut_apostrophe(piece: str) -> int | None:
    """Cut off a single quotation mark, or the apostrophe of a possessive."""
    lower = piece.lower().replace("’", "'")
    if piece[0] in APOSTROPHES and lower[1:] not in CLIPPED and YEARS.fullmatch(lower, 1) is None:
        return 1
    if piece[-1] in APOSTROPHES and lower not in ENDING_IN_APOSTROPHE:
        return len(piece) - 1
    return None


def _keeps_full_stop(text: str, start: int, stop: int) -> bool:
    """Whether the full stop at the end of `text[start:stop]` belongs to an abbreviation or a numbered item."""
    word = re.split("[-/]", text[start : stop - 1])[-1]
    lower = word.lower()
    if ACRONYM.fullmatch(f"{word}."):
        return True
    if lower in BEFORE_NUMBERS and NEXT_IS_NUMBER.match(text, stop):
        return True
    is_last = LETTER_OR_DIGIT.search(text, stop) is None
    is_initial = len(word) == 1 and word.isalpha() and word not in {"I", "v"}
    if lower in WITH_CAPITALS or is_initial:
        return word[0].isupper() and not is_last
    if IN_NUMBER.fullmatch(word):
        return not is_last and LETTER_OR_DIGIT.search(text, 0, start) is None
    return lower in ABBREVIATIONS
