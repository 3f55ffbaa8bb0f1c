from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepts.errors import LONGEST_QUOTE, clipped, listed, printable, reason_of, shown


@given(st.text(st.characters(), max_size=200))
def test_what_messages_quote_is_short_and_on_one_line(text):
    for found in (shown(text), clipped(text)):
        assert found.isprintable()
        assert len(found) <= LONGEST_QUOTE + 3
    if text.isprintable() and len(text) <= LONGEST_QUOTE:
        assert clipped(text) == text == printable(text)
    if len(repr(text)) <= LONGEST_QUOTE + 2:
        assert shown(text) == repr(text)


@pytest.mark.parametrize(
    ("text", "wanted"), [("a\tb", "'a\\tb'"), ("x" * 61, repr("x" * 60 + "…")), ("\x1b[31m", "'\\x1b[31m'")]
)
def test_what_is_shown(text, wanted):
    assert shown(text) == wanted


def test_long_lists_and_reasons_are_cut():
    assert listed(["a", "b\n"]) == "a, b\\n"
    assert listed(range(1000), most=2) == "0, 1 and 998 more"
    assert reason_of(ValueError("\n one thing.\nand another")) == "one thing"
    assert reason_of(ValueError()) == "ValueError"
    assert len(reason_of(ValueError("x" * 5000))) < 130
