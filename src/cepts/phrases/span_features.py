"""Features of a source span with a target span, at least one of them longer than a word (sections 3.3 and 3.4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepts.phrases.columns import Block, Selection, Table
from cepts.phrases.inventory import Inventory
from cepts.phrases.likeness import SYNONYM, Likeness
from cepts.phrases.token_features import RULE_COLUMNS
from cepts.phrases.words import SentenceWords

__all__ = ["span_blocks", "span_table"]

SURE = 2  # of `MATCHES`, the last that is as good as identical


def span_blocks(inventory: Inventory, longest: int, widest: int) -> tuple[list[Block], list[Block]]:
    """The columns that kernels.phrase_features.fill_spans fills: values, categories."""
    values = [
        ("string", "words found, source"),
        ("string", "words found, target"),
        ("string", "words matched, source"),
        ("string", "words matched, target"),
        ("string", "spelling, source"),
        ("string", "spelling, target"),
        *(("paraphrase", name) for name in RULE_COLUMNS),
        ("relatedness", "cosine"),
        ("name", "edits"),
    ]
    sizes = longest * widest
    tags, chunks, words = len(inventory.tags) + 1, len(inventory.chunks) + 1, len(inventory.words) + 1
    categories = [
        ("string", "size", sizes),
        ("string", "found, size", 5 * sizes),
        ("string", "matched, size", 7 * sizes),
        ("string", "word for word, size", 2 * sizes),
        ("string", "found elsewhere", 9),
        ("string", "content words, found", 32),
        ("string", "punctuation", 4),
        ("position", "distance", 8),
        ("pos", "first tags", tags * tags),
        ("pos", "last tags", tags * tags),
        ("chunk", "chunks, size", 16 * sizes),
        ("chunk", "chunks, found, word for word", 160),
        ("chunk", "chunks, matched", 112),
        ("chunk", "types, whole", 2 * chunks * chunks),
        ("chunk", "same type, whole", 4),
        ("paraphrase", "lists", 16),
        ("relatedness", "cosine, size", 9 * sizes),
        ("context", "neighbours, found", 45),
        ("lexical", "function words of source", words),
        ("lexical", "function words of target", words),
        ("wordnet", "related, synonymous", 3),
    ]
    return [Block(family, name, 1) for family, name in values], [Block(*column) for column in categories]


def span_table(
    source: SentenceWords,
    target: SentenceWords,
    like: Likeness,
    inventory: Inventory,
    longest: int,
    widest: int,
    upweight: bool,
    selection: Selection,
) -> Table:
    """The features of every pair of spans (I x Ls x J x Lt); `upweight` multiplies values by the longer length."""
    from cepts.kernels.likeness import span_coverage
    from cepts.kernels.phrase_features import fill_spans

    shape = len(source), longest, len(target), widest

    def covered(matrix: NDArray) -> NDArray[np.float32]:
        both = np.empty((2, *shape), dtype=np.float32)
        span_coverage(np.ascontiguousarray(matrix, dtype=np.float32), both[0], both[1])
        return both

    lemma = like.match <= SURE

    def fill(values: NDArray[np.float32], categories: NDArray[np.int32]) -> None:
        fill_spans(
            source.numbers,
            target.numbers,
            like.match,
            _counts(lemma),
            _counts(lemma.T),
            covered(lemma),
            covered(like.strength),
            covered(like.spelling[:, :, 0]),
            covered(np.maximum(like.names, like.nicknames)),
            _mean_cosine(like, longest, widest),
            like.relations,
            SYNONYM,
            like.kinds,
            like.rules,
            like.rule_scores,
            upweight,
            len(inventory.tags) + 1,
            len(inventory.chunks) + 1,
            values,
            categories,
        )

    return selection.table(int(np.prod(shape)), fill)


def _counts(same: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many of the first words of each row are true."""
    counts = np.zeros((same.shape[0], same.shape[1] + 1), dtype=np.int64)
    np.cumsum(same, axis=1, out=counts[:, 1:])
    return counts


def _mean_cosine(like: Likeness, longest: int, widest: int) -> NDArray[np.float32]:
    """Cosine of the mean vectors of two spans."""
    source, target = _span_vectors(like.source_rows, longest), _span_vectors(like.target_rows, widest)
    flat = source.reshape(-1, source.shape[2]) @ target.reshape(-1, target.shape[2]).T
    return flat.reshape(*source.shape[:2], *target.shape[:2])


def _span_vectors(rows: NDArray[np.float32], longest: int) -> NDArray[np.float32]:
    """The direction of the sum of the vectors of each span (words x lengths x dimensions)."""
    count = len(rows)
    sums = np.zeros((count + longest, rows.shape[1]), dtype=np.float32)
    np.cumsum(rows, axis=0, out=sums[1 : count + 1])
    sums[count + 1 :] = sums[count]
    starts = np.arange(count)
    found = np.stack([sums[starts + size] - sums[starts] for size in range(1, longest + 1)], axis=1)
    norms = np.sqrt(np.einsum("nld,nld->nl", found, found))
    return found / np.maximum(norms, 1e-6)[:, :, None]
