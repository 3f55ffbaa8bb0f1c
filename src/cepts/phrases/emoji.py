"""Emoji and emoticons, and the plain forms of typographic signs, which are the same in every language."""

from __future__ import annotations

import re

_PICTURE = (
    "[\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff\u2600-\u27bf\u231a\u231b\u2328\u23cf"
    "\u23e9-\u23f3\u23f8-\u23fa\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
    "\u3030\u303d\u3297\u3299]"
)
_SKIN = "[\U0001f3fb-\U0001f3ff]"
_TAGS = "[\U000e0020-\U000e007f]+"  # the flags of England, Scotland and Wales
_ONE = rf"(?:{_PICTURE}|[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff](?=\ufe0f))\ufe0f?{_SKIN}?(?:{_TAGS})?"
# One emoji as people see it: a flag, a key, or pictures that zero-width joiners (U+200D) make into one.
EMOJI = re.compile(
    rf"[\U0001f1e6-\U0001f1ff]{{2}}|[0-9#*]\ufe0f?\u20e3|{_ONE}(?:\u200d{_ONE})*|{_SKIN}|[\U0001f1e6-\U0001f1ff]"
)
EMOTICON = re.compile(r"[<>]?[:;=][-^']?(?:[()\[\]DPpOo3|*]+|[/\\])|</?3+|\^_*\^|[()][-^']?[:;=]")

_PLAIN = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»", '"'),
        **dict.fromkeys("‘’‚‛´", "'"),
        **dict.fromkeys("—―", "--"),
        "…": "...",
        "\ufe0f": None,  # selects the coloured form of a sign
    }
)


def is_emoji(token: str) -> bool:
    """Whether a token is an emoji or an emoticon; these have meaning although they have no letters."""
    if token.isascii():
        return len(token) > 1 and not token.isalnum() and EMOTICON.fullmatch(token) is not None
    return EMOJI.fullmatch(token) is not None


def plain_form(token: str) -> str:
    """The token with straight quotation marks and apostrophes, `--` and `...` in place of their typographic forms.

    Two tokens with the same plain form are the same word, and taggers know the plain form best.
    """
    return token if token.isascii() else token.translate(_PLAIN) or token


def plain_forms(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """The plain form of each token."""
    return tokens if all(map(str.isascii, tokens)) else tuple(map(plain_form, tokens))
