"""Slow, plain twins of `cepts.io`: cutting text into tokens, and links as sets."""

from __future__ import annotations

import re

Link = tuple[int, int, float, bool]


def lines_of(data: bytes) -> list[bytes]:
    """Lines end at newlines only; the last needs none."""
    lines = data.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def tokens_of(line: bytes) -> list[bytes]:
    return [token for token in re.split(rb"[ \t\n\v\f\r]+", line) if token]


def numbered(sentences: list[list[bytes]]) -> tuple[list[list[int]], list[bytes]]:
    """Word numbers of each sentence in order of first use, and the words."""
    words: list[bytes] = []
    rows = []
    for sentence in sentences:
        row = []
        for token in sentence:
            if token not in words:
                words.append(token)
            row.append(words.index(token))
        rows.append(row)
    return rows, words


def sides_of(line: bytes, by_tab: bool) -> tuple[bytes, bytes] | None:
    """What stands before and after the separator; None where there is not exactly one."""
    if not tokens_of(line) and not (by_tab and b"\t" in line):
        return b"", b""
    if by_tab:
        columns = line.split(b"\t")
        return (columns[0], columns[1]) if len(columns) == 2 else None
    tokens = tokens_of(line)
    if tokens.count(b"|||") != 1:
        return None
    at = tokens.index(b"|||")
    return b" ".join(tokens[:at]), b" ".join(tokens[at + 1 :])


def distinct(links: list[Link]) -> list[Link]:
    """Sorted links, each once: sure if either is, with the higher confidence."""
    merged: dict[tuple[int, int], tuple[float, bool]] = {}
    for i, j, confidence, sure in links:
        known = merged.get((i, j), (0.0, False))
        merged[i, j] = max(known[0], confidence), known[1] or sure
    return [(i, j, *merged[i, j]) for i, j in sorted(merged)]
