"""Features of a source span with a target span, at least one of them longer than a word (sections 3.3 and 3.4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepts.phrases.columns import Columns
from cepts.phrases.inventory import Inventory
from cepts.phrases.lexical import Lexical
from cepts.phrases.token_features import Likeness, _bins, _edged, _rule_columns, _shifted
from cepts.phrases.words import FUNCTION, PUNCTUATION, PairWords, SentenceWords

__all__ = ["span_columns"]


class _Spans:
    """All spans of up to `longest` words of a sentence, as arrays words x lengths (at [start, length - 1])."""

    def __init__(self, words: SentenceWords, longest: int) -> None:
        count = len(words)
        self.starts = np.arange(count)[:, None] + np.zeros(longest, dtype=np.int64)
        self.lengths = np.arange(1, longest + 1)[None, :] + np.zeros((count, 1), dtype=np.int64)
        self.last = np.minimum(self.starts + self.lengths, count) - 1
        self.inside = self.starts + self.lengths <= count
        # 0: crosses a chunk's edge, 1: inside of a chunk, 2: one whole chunk, 3: several whole chunks.
        first, last = words.chunk_starts[self.starts], words.chunk_stops[self.last]
        same = words.chunk_starts[self.last] == first
        whole = (first == self.starts) & (last == self.last + 1)
        self.chunked = np.where(same, np.where(whole, 2, 1), np.where(whole, 3, 0))
        self.type = np.where(same, words.chunks[self.starts], 0)
        content = (words.kinds != FUNCTION) & (words.kinds != PUNCTUATION)
        sums = np.concatenate([[0], np.cumsum(content)])
        self.content = sums[self.last + 1] - sums[self.starts]
        punctuation = np.concatenate([[0], np.cumsum(words.kinds == PUNCTUATION)])
        self.punctuation = punctuation[self.last + 1] > punctuation[self.starts]


def _both(source: NDArray, target: NDArray) -> tuple[NDArray, NDArray]:
    return source[:, :, None, None], target[None, None, :, :]


def _corner(matrix: NDArray, i: NDArray, j: NDArray) -> NDArray:
    """matrix[i, j] for source spans' and target spans' indices."""
    return matrix[i[:, :, None, None], j[None, None, :, :]]


def span_columns(
    words: PairWords,
    like: Likeness,
    lexical: Lexical,
    inventory: Inventory,
    longest: int,
    widest: int,
    upweight: bool,
    columns: Columns,
) -> None:
    """Add the columns of every pair of spans (I x Ls x J x Lt)."""
    from cepts.kernels.likeness import span_coverage

    source, target = _Spans(words.source, longest), _Spans(words.target, widest)
    shape = (len(words.source), longest, len(words.target), widest)
    length, width = shape[0], shape[2]

    def covered(matrix: NDArray) -> tuple[NDArray, NDArray]:
        first, second = np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.float32)
        span_coverage(np.ascontiguousarray(matrix, dtype=np.float32), first, second)
        return first, second

    ls, lt = _both(source.lengths, target.lengths)
    size = (ls - 1) * widest + (lt - 1)
    sizes = longest * widest
    # Section 3.4: a value for the whole phrase competes with those of its words, each on their own.
    scale = np.maximum(ls, lt).astype(np.float32) if upweight else np.ones((1, 1, 1, 1), dtype=np.float32)
    columns.category("string", "size", size, sizes)

    exact_source, exact_target = covered(like.lemma)
    strength_source, strength_target = covered(like.strength)
    both = np.minimum(exact_source, exact_target)
    columns.value("string", "words found, source", scale * exact_source)
    columns.value("string", "words found, target", scale * exact_target)
    columns.value("string", "words matched, source", scale * strength_source)
    columns.value("string", "words matched, target", scale * strength_target)
    columns.category("string", "found, size", _bins(both, [0.01, 0.34, 0.6, 0.99]) * sizes + size, 5 * sizes)
    matched = np.minimum(strength_source, strength_target)
    columns.category(
        "string", "matched, size", _bins(matched, [0.01, 0.2, 0.4, 0.6, 0.8, 0.94]) * sizes + size, 7 * sizes
    )
    diagonal = _diagonal(like.lemma, longest, widest)
    columns.category("string", "word for word, size", diagonal * sizes + size, 2 * sizes)
    spelling_source, spelling_target = covered(like.spelling[:, :, 0])
    columns.value("string", "spelling, source", scale * spelling_source)
    columns.value("string", "spelling, target", scale * spelling_target)

    # Words of the one span that are found outside of the other.
    outside_source = _elsewhere(like.lemma, longest, widest)
    outside_target = _elsewhere(like.lemma.T, widest, longest).transpose(2, 3, 0, 1)
    columns.category("string", "found elsewhere", np.minimum(outside_source, 2) * 3 + np.minimum(outside_target, 2), 9)
    content_source, content_target = _both(np.minimum(source.content, 3), np.minimum(target.content, 3))
    columns.category("string", "content words", (content_source * 4 + content_target) * 2 + (both > 0), 32)
    punctuated_source, punctuated_target = _both(source.punctuation, target.punctuation)
    columns.category("string", "punctuation", punctuated_source * 2 + punctuated_target, 4)

    middle = (source.starts + source.lengths / 2) / length, (target.starts + target.lengths / 2) / width
    position = np.abs(np.subtract(*_both(*middle)))
    columns.category("position", "distance", _bins(position, [0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45]), 8)

    tags = len(inventory.tags) + 1
    if columns.wants("pos"):
        first = _both(words.source.tags[source.starts], words.target.tags[target.starts])
        last = _both(words.source.tags[source.last], words.target.tags[target.last])
        columns.category("pos", "first tags", first[0] * tags + first[1], tags * tags)
        columns.category("pos", "last tags", last[0] * tags + last[1], tags * tags)

    if columns.wants("chunk"):
        chunked_source, chunked_target = _both(source.chunked, target.chunked)
        chunked = chunked_source * 4 + chunked_target
        columns.category("chunk", "chunks, size", chunked * sizes + size, 16 * sizes)
        columns.category(
            "chunk", "chunks, found", (chunked * 5 + _bins(both, [0.01, 0.34, 0.6, 0.99])) * 2 + diagonal, 160
        )
        columns.category(
            "chunk", "chunks, matched", chunked * 7 + _bins(matched, [0.01, 0.2, 0.4, 0.6, 0.8, 0.94]), 112
        )
        types = len(inventory.chunks) + 1
        kind_source, kind_target = _both(source.type, target.type)
        whole = (chunked == 10).astype(np.int64)
        columns.category("chunk", "types", (kind_source * types + kind_target) * 2 + whole, 2 * types * types)
        same = (kind_source == kind_target) & (kind_source > 0)
        columns.category("chunk", "same type, whole", same * 2 + whole, 4)

    if columns.wants("paraphrase") and lexical.paraphrases is not None:
        columns.category("paraphrase", "kinds", like.kinds & 15, 16)
        _rule_columns(columns, like.rules, lexical)
    if columns.wants("relatedness") and lexical.relatedness is not None:
        cosine = _mean_cosine(words, lexical, longest, widest)
        columns.value("relatedness", "cosine", scale * np.maximum(cosine, 0.0))
        columns.category(
            "relatedness", "cosine, size", _bins(cosine, np.arange(0.2, 1.0, 0.1)) * sizes + size, 9 * sizes
        )
    if columns.wants("name") and lexical.names is not None:
        names_source, names_target = covered(np.maximum(like.names, like.nicknames))
        columns.value("name", "edits", scale * (names_source + names_target) / 2)

    sure = (like.match <= 2).astype(np.int8)
    weak = ((like.match > 2) & (like.strength > 0)).astype(np.int8)
    left = np.minimum(_edged(sure, -1, -1) * 2 + _shifted(weak, -1, -1), 2)
    right = np.minimum(_edged(sure, 1, 1) * 2 + _shifted(weak, 1, 1), 2)
    neighbours = _corner(left, source.starts, target.starts) * 3 + _corner(right, source.last, target.last)
    columns.category("context", "neighbours, found", neighbours * 5 + _bins(both, [0.01, 0.34, 0.6, 0.99]), 45)
    if columns.wants("lexical"):
        from_span, to_span = _both(
            np.where(source.content == 0, words.source.frequent[source.starts], 0),
            np.where(target.content == 0, words.target.frequent[target.starts], 0),
        )
        frequent = len(inventory.words) + 1
        columns.category("lexical", "function words of source", from_span, frequent)
        columns.category("lexical", "function words of target", to_span, frequent)


def _diagonal(same: NDArray[np.bool_], longest: int, widest: int) -> NDArray[np.int64]:
    """Whether two spans of one length have the same words in the same order."""
    length, width = same.shape
    out = np.zeros((length, longest, width, widest), dtype=np.int64)
    run = np.ones_like(same)
    for size in range(min(longest, widest)):
        run = run & _shifted(same, size, size)
        out[:, size, :, size] = run
    return out


def _elsewhere(same: NDArray[np.bool_], longest: int, widest: int) -> NDArray[np.int64]:
    """How many words of the source span are found in the target sentence, though not in the target span."""
    length, width = same.shape
    anywhere = same.any(axis=1)
    out = np.zeros((length, longest, width, widest), dtype=np.int64)
    inside = np.zeros_like(same)
    for wide in range(widest):
        inside = inside | _shifted(same, 0, wide)
        lost = anywhere[:, None] & ~inside
        total = np.zeros((length, width), dtype=np.int64)
        for span in range(longest):
            total = total + _shifted(lost, span, 0)
            out[:, span, :, wide] = total
    return out


def _mean_cosine(words: PairWords, lexical: Lexical, longest: int, widest: int) -> NDArray[np.float32]:
    """Cosine of the mean vectors of two spans."""
    assert lexical.relatedness is not None

    def means(tokens: tuple[str, ...], most: int) -> NDArray[np.float32]:
        rows = lexical.relatedness.rows(tokens)  # type: ignore[union-attr]
        sums = np.zeros((len(tokens) + most, rows.shape[1]), dtype=np.float32)
        np.cumsum(rows, axis=0, out=sums[1 : len(tokens) + 1])
        sums[len(tokens) + 1 :] = sums[len(tokens)]
        starts = np.arange(len(tokens))
        found = np.stack([sums[starts + size] - sums[starts] for size in range(1, most + 1)], axis=1)
        norms = np.sqrt((found * found).sum(axis=2, keepdims=True))
        return found / np.maximum(norms, 1e-6)

    source, target = means(words.source.tokens, longest), means(words.target.tokens, widest)
    flat = source.reshape(-1, source.shape[2]) @ target.reshape(-1, target.shape[2]).T
    return flat.reshape(*source.shape[:2], *target.shape[:2])
