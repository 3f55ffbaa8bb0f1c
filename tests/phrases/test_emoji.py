"""What counts as an emoji, and the plain forms of typographic signs."""

from __future__ import annotations

import pytest

from cepts.phrases.emoji import is_emoji, plain_form, plain_forms

EMOJI = "🎉 ❤ ❤️ 👍🏽 👨‍👩‍👧 🇬🇧 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ☕ :-) :( ;D <3 ^_^"
OTHERS = "a 3 : ) :// ... -- $ % © x3 “ 🎉🎉 Zürich 8)"


@pytest.mark.parametrize("token", EMOJI.split())
def test_emoji(token):
    assert is_emoji(token)


@pytest.mark.parametrize("token", ["", *OTHERS.split()])
def test_no_emoji(token):
    assert not is_emoji(token)


def test_plain_forms():
    assert plain_forms(("“", "It", "’s", "n’t", "—", "…", "❤️")) == ('"', "It", "'s", "n't", "--", "...", "❤")
    ascii_only = ("It", "'s")
    assert plain_forms(ascii_only) is ascii_only
    assert plain_form("\ufe0f") == "\ufe0f"  # a token never vanishes
