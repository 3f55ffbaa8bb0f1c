"""Phrase links out of token links: section 4.1 of semicrf."""

from __future__ import annotations

from dataclasses import replace

from cepts.data import Sentence, SentencePair, Span
from cepts.errors import DataError


def chunk_spans(chunk: tuple[str, ...]) -> list[Span]:
    """Spans of the chunks that a column of labels marks, such as B-NP, I-NP, B-VP, O.

    A chunk starts at B, and at an I of another kind than the label before; O belongs to none.

    Examples
    --------
    >>> chunk_spans(("B-NP", "I-NP", "B-VP", "O"))
    [(0, 2), (2, 3)]
    """
    starts = [
        n
        for n, label in enumerate(chunk)
        if label[:1] not in ("O", "_", "")
        and (label[:1] == "B" or n == 0 or chunk[n - 1][:1] == "O" or chunk[n - 1][1:] != label[1:])
    ]
    spans = []
    for start in starts:
        stop = start + 1
        while stop < len(chunk) and chunk[stop][:1] == "I" and chunk[stop][1:] == chunk[start][1:]:
            stop += 1
        spans.append((start, stop))
    return spans


def synthesise(pair: SentencePair) -> SentencePair:
    """Make one phrase link of the token links between two chunks, where these are one-to-one and monotone.

    Section 4.1 of semicrf: each token of the source chunk is aligned to a token of the target chunk in a monotone way,
    and vice versa. The chunks are then equally long, word n of the one is linked with word n of the other and with no
    other word of it, and all their cells become sure links. Links that leave the chunks do not matter.

    Raises
    ------
    DataError
        Where the pair has no gold links, or a side has no chunks.
    """
    if pair.sure is None:
        raise DataError(f"{_name(pair)}: found no gold links, of which phrase links are made; give `sure`.")
    links = set(pair.sure)
    filled = set(links)
    targets = _chunks(pair, "target")
    for i0, i1 in _chunks(pair, "source"):
        for j0, j1 in targets:
            inside = {(i, j) for i in range(i0, i1) for j in range(j0, j1)}
            if i1 - i0 == j1 - j0 > 1 and inside & links == set(zip(range(i0, i1), range(j0, j1), strict=True)):
                filled |= inside
    possible = None if pair.possible is None else tuple(link for link in pair.possible if link not in filled)
    return replace(pair, sure=tuple(sorted(filled)), possible=possible)


def _chunks(pair: SentencePair, side: str) -> list[Span]:
    sentence: Sentence = getattr(pair, side)
    if sentence.chunk is None and len(sentence):
        raise DataError(
            f"{_name(pair)}: found no column chunk of the {side} sentence, wanted labels such as B-NP, I-NP, O; give "
            f"`{side}_chunk`, or run the chunker first."
        )
    return chunk_spans(sentence.chunk or ())


def _name(pair: SentencePair) -> str:
    return f"sentence pair {pair.id}" if pair.id else "a sentence pair"
