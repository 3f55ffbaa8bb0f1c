"""Features of one source word with one target word, and of a word with null (section 3.3 of semicrf)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.phrases.columns import Columns
from cepts.phrases.inventory import Inventory
from cepts.phrases.lexical import Lexical
from cepts.phrases.words import CONTENT, FUNCTION, KINDS, NUMBER, PUNCTUATION, PairWords, SentenceWords

__all__ = ["Likeness", "compare_words", "null_columns", "token_columns"]

Matrix = NDArray[np.float32]

# How two words match, best first; a cell has the first that holds.
MATCHES = (
    "identical",
    "lower",
    "lemma",
    "nickname",
    "synonym",
    "paraphrases",
    "paraphrase",
    "derived",
    "related",
    "near",
    "alike",
    "loose",
    "none",
)
# What each kind of match counts for where one number must stand for it.
STRENGTHS = np.array([1.0, 1.0, 0.95, 0.9, 0.85, 0.8, 0.7, 0.7, 0.55, 0.6, 0.55, 0.35, 0.0], dtype=np.float32)
RULE_SCALE = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """Everything that is known of each source word with each target word; matrices are I x J."""

    spelling: NDArray[np.float32]
    identical: NDArray[np.bool_]
    lower: NDArray[np.bool_]
    lemma: NDArray[np.bool_]
    relations: NDArray[np.uint16]
    kinds: NDArray[np.uint8]
    rules: NDArray[np.int32]
    cosine: Matrix
    cosine_known: NDArray[np.bool_]
    names: Matrix
    nicknames: NDArray[np.bool_]
    match: NDArray[np.int32]
    strength: Matrix


def _spelling(source: SentenceWords, target: SentenceWords) -> NDArray[np.float32]:
    from cepts.kernels.likeness import spelling_likeness

    out = np.empty((len(source), len(target), 5), dtype=np.float32)
    spelling_likeness(source.characters, source.character_offsets, target.characters, target.character_offsets, out)
    return out


def compare_words(words: PairWords, lexical: Lexical, longest: int, widest: int) -> Likeness:
    """Compare all words of a pair; spans up to `longest` x `widest` are looked up in the paraphrases."""
    source, target = words.source, words.target
    shape = len(source), len(target)
    spelling = _spelling(source, target)
    identical = source.forms[:, None] == target.forms
    lower = source.lower[:, None] == target.lower
    lemma = (source.lemmas[:, None] == target.lemmas) | lower
    relations = np.zeros(shape, dtype=np.uint16)
    if lexical.wordnet is not None:
        relations = lexical.wordnet.relations(
            lexical.wordnet.numbers(source.lemma_forms), lexical.wordnet.numbers(target.lemma_forms)
        )
    kinds = np.zeros((shape[0], longest, shape[1], widest), dtype=np.uint8)
    rules = np.full(kinds.shape, -1, dtype=np.int32)
    if lexical.paraphrases is not None:
        kinds, rules = lexical.paraphrases.lookup(source.tokens, target.tokens, longest, widest)
    cosine = np.zeros(shape, dtype=np.float32)
    known = np.zeros(shape, dtype=np.bool_)
    if lexical.relatedness is not None:
        cosine = lexical.relatedness.similarity(source.tokens, target.tokens)
        known = lexical.relatedness.known(source.tokens)[:, None] & lexical.relatedness.known(target.tokens)
    names = np.zeros(shape, dtype=np.float32)
    nicknames = np.zeros(shape, dtype=np.bool_)
    if lexical.names is not None:
        capital = source.capital & (source.kinds == CONTENT), target.capital & (target.kinds == CONTENT)
        names = lexical.names.scores(source.tokens, target.tokens, *capital)
        nicknames = lexical.names.nicknames(source.tokens, target.tokens) & capital[0][:, None] & capital[1]
    words_kinds = kinds[:, 0, :, 0]
    bits = _bits(relations, lexical)
    conditions = [
        identical,
        lower,
        lemma,
        nicknames,
        bits["synonym"],
        (words_kinds & 3) == 3,
        (words_kinds & 7) > 0,
        bits["derived"],
        bits["related"],
        cosine >= 0.65,
        spelling[:, :, 0] >= 0.85,
        cosine >= 0.45,
    ]
    match = np.full(shape, len(MATCHES) - 1, dtype=np.int32)
    for number in range(len(conditions) - 1, -1, -1):
        match[conditions[number]] = number
    return Likeness(
        spelling,
        identical,
        lower,
        lemma,
        relations,
        kinds,
        rules,
        cosine,
        known,
        names,
        nicknames,
        match,
        STRENGTHS[match],
    )


def _bits(relations: NDArray[np.uint16], lexical: Lexical) -> dict[str, NDArray[np.bool_]]:
    """Groups of WordNet's relations."""
    if lexical.wordnet is None:
        none = np.zeros(relations.shape, dtype=np.bool_)
        return {"synonym": none, "derived": none, "related": none}
    from cepts.phrases.wordnet import RELATIONS as names

    group = {"synonym": ("synonym",), "derived": ("derivation",)}
    found = {name: (relations & sum(1 << names.index(relation) for relation in group[name])) > 0 for name in group}
    found["related"] = relations > 0
    return found


def _bins(values: NDArray, edges: NDArray | list[float]) -> NDArray[np.int64]:
    return np.searchsorted(np.asarray(edges), values, side="right")


def _shifted(matrix: NDArray, down: int, right: int) -> NDArray:
    """out[i, j] = matrix[i + down, j + right], 0 outside."""
    out = np.zeros_like(matrix)
    rows, columns = matrix.shape
    i0, i1 = max(0, -down), min(rows, rows - down)
    j0, j1 = max(0, -right), min(columns, columns - right)
    if i0 < i1 and j0 < j1:
        out[i0:i1, j0:j1] = matrix[i0 + down : i1 + down, j0 + right : j1 + right]
    return out


def _edged(matrix: NDArray, down: int, right: int) -> NDArray:
    """As `_shifted`; but where both neighbours lie beyond the sentences' ends, they match."""
    out = _shifted(matrix, down, right)
    rows, columns = matrix.shape
    if down < 0:
        out[0, 0] = 1
    else:
        out[rows - 1, columns - 1] = 1
    return out


def _window(strength: NDArray, reach: int) -> NDArray:
    """Sum of `strength` over the window of `reach` words to either side of both words, without their row and column."""
    rows, columns = strength.shape
    sums = np.zeros((rows + 1, columns + 1))
    np.cumsum(np.cumsum(strength, axis=0), axis=1, out=sums[1:, 1:])
    i, j = np.arange(rows), np.arange(columns)
    i0, i1 = np.maximum(i - reach, 0), np.minimum(i + reach + 1, rows)
    j0, j1 = np.maximum(j - reach, 0), np.minimum(j + reach + 1, columns)

    def box(a0: NDArray, a1: NDArray, b0: NDArray, b1: NDArray) -> NDArray:
        return sums[a1][:, b1] - sums[a0][:, b1] - sums[a1][:, b0] + sums[a0][:, b0]

    return box(i0, i1, j0, j1) - box(i, i + 1, j0, j1) - box(i0, i1, j, j + 1) + strength


def _ordinals(numbers: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each word, how many times it occurs, and which of these times this is."""
    same = numbers[:, None] == numbers
    return same.sum(axis=1), np.tril(same, -1).sum(axis=1)


def token_columns(words: PairWords, like: Likeness, lexical: Lexical, inventory: Inventory, columns: Columns) -> None:
    """Add the columns of every cell (I x J)."""
    source, target = words.source, words.target
    length, width = len(source), len(target)
    match, strength = like.match, like.strength
    matches = len(MATCHES)
    kind = source.kinds[:, None] * len(KINDS) + target.kinds
    # Three groups of cells behave differently: content words and numbers, function words, punctuation.
    group_of = np.array([0, 1, 2, 0])
    group = np.maximum(group_of[source.kinds][:, None], group_of[target.kinds])
    position = np.abs((np.arange(length)[:, None] + 0.5) / length - (np.arange(width) + 0.5) / width)

    columns.category("string", "match, kinds", match * 16 + kind, matches * 16)
    columns.value("string", "identical", like.identical)
    columns.value("string", "lower", like.lower)
    columns.value("string", "lemma", like.lemma)
    for place, name in enumerate(("jaro-winkler", "bigrams", "trigrams", "prefix", "suffix")):
        columns.value("string", name, like.spelling[:, :, place])
    columns.category(
        "string", "jaro-winkler, group", _bins(like.spelling[:, :, 0], np.arange(0.5, 1.0, 0.06)) * 3 + group, 30
    )

    source_count, source_ordinal = _ordinals(source.lower)
    target_count, target_ordinal = _ordinals(target.lower)
    repeats = (
        np.minimum(source_count, 3)[:, None] * 12
        + np.minimum(target_count, 3) * 3
        + np.sign(source_ordinal[:, None] - target_ordinal)
        + 1
    )
    columns.category("string", "repeats", np.where(like.lower, repeats * 3 + group, 0), 48 * 3)

    # How many words of the other side match better: a cell that is best both ways is another thing than one that is not.
    better_target = (strength[:, None, :] > strength[:, :, None]).sum(axis=2)
    better_source = (strength[None, :, :] > strength[:, None, :]).sum(axis=1)
    equal_target = (strength[:, None, :] == strength[:, :, None]).sum(axis=2) > 1
    rank = np.minimum(better_target, 2) * 6 + np.minimum(better_source, 2) * 2 + equal_target
    columns.category("string", "rank, match", (rank * matches + match) * 3 + group, 18 * matches * 3)

    columns.category(
        "position", "distance, group", _bins(position, [0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45]) * 3 + group, 24
    )
    columns.category(
        "position",
        "distance, match",
        _bins(position, [0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45]) * matches + match,
        8 * matches,
    )
    columns.value("position", "distance", position)
    columns.value("position", "ends", np.outer(np.arange(length) == length - 1, np.arange(width) == width - 1))

    tags = len(inventory.tags) + 1
    columns.category("pos", "tags", source.tags[:, None] * tags + target.tags, tags * tags)
    same = (source.tags[:, None] == target.tags) & (source.tags[:, None] > 0)
    columns.category("pos", "same tag, match, group", (match * 2 + same) * 3 + group, matches * 6)

    if columns.wants("wordnet") and lexical.wordnet is not None:
        from cepts.phrases.wordnet import RELATIONS

        for bit, name in enumerate(RELATIONS):
            columns.value("wordnet", name, (like.relations >> bit) & 1)
    if columns.wants("paraphrase") and lexical.paraphrases is not None:
        kinds = like.kinds[:, 0, :, 0]
        columns.category("paraphrase", "kinds", kinds & 7, 8)
        _rule_columns(columns, like.rules[:, 0, :, 0], lexical)
    if columns.wants("relatedness") and lexical.relatedness is not None:
        cosine = _bins(like.cosine, np.arange(0.05, 0.95, 0.075)) + 1
        cosine = np.where(like.cosine_known, cosine, 0)
        columns.category("relatedness", "cosine, same tag", (cosine * 2 + same) * 3 + group, 14 * 6)
        columns.value("relatedness", "cosine", np.maximum(like.cosine, 0.0))
    if columns.wants("name") and lexical.names is not None:
        columns.value("name", "edits", like.names)
        columns.value("name", "nickname", like.nicknames)

    sure = (match <= 2).astype(np.int8)
    weak = ((match > 2) & (match < matches - 1)).astype(np.int8)
    left = _edged(sure, -1, -1) * 2 + _shifted(weak, -1, -1)
    right = _edged(sure, 1, 1) * 2 + _shifted(weak, 1, 1)
    left, right = np.minimum(left, 2), np.minimum(right, 2)
    columns.category(
        "context", "neighbours, match", ((left * 3 + right) * matches + match) * 3 + group, 9 * matches * 3
    )
    further = _shifted(strength, -2, -2) + _shifted(strength, 2, 2)
    columns.value("context", "second neighbours", further)
    columns.value("context", "neighbours", _edged(strength, -1, -1) + _edged(strength, 1, 1))
    content = strength * ((source.kinds != FUNCTION) & (source.kinds != PUNCTUATION))[:, None]
    window = _window(content, 3)
    columns.category(
        "context",
        "window, match",
        (_bins(window, [0.3, 0.6, 1.0, 1.6, 2.2, 3.0]) * matches + match) * 3 + group,
        7 * matches * 3,
    )
    columns.value("context", "window", np.minimum(window, 4.0))

    if columns.wants("chunk"):
        types = len(inventory.chunks) + 1
        columns.category("chunk", "types", source.chunks[:, None] * types + target.chunks, types * types)
        chunk = _chunk_context(words, strength)
        columns.category(
            "chunk",
            "chunk's other words, match",
            (_bins(chunk, [0.01, 0.3, 0.6, 0.9]) * matches + match) * 3 + group,
            5 * matches * 3,
        )
    frequent = len(inventory.words) + 1
    if columns.wants("lexical"):
        columns.category("lexical", "linked", _linked(source, target, inventory), len(inventory.linked) + 1)
        both = np.where(like.lower, source.frequent[:, None] + np.zeros(width, dtype=np.int32), 0)
        columns.category("lexical", "frequent word", both, frequent)
        other = np.where(like.lower, 0, source.frequent[:, None])
        columns.category("lexical", "frequent source", other, frequent)
        other = np.where(like.lower, 0, target.frequent[None, :])
        columns.category("lexical", "frequent target", other, frequent)


def _rule_columns(columns: Columns, rules: NDArray[np.int32], lexical: Lexical) -> None:
    """The scores of the paraphrase rule of each item; probabilities' minus logs are turned so that more is better."""
    assert lexical.paraphrases is not None
    table = lexical.paraphrases.rule_scores
    found = rules >= 0
    columns.value("paraphrase", "rule", found)
    scores = np.zeros((*rules.shape, 8), dtype=np.float32)
    if found.any():
        scores[found] = np.maximum(0.0, 1.0 - table[rules[found]] / RULE_SCALE)
    for place in range(8):
        columns.value("paraphrase", f"rule {place}", scores[..., place])


def _chunk_context(words: PairWords, strength: Matrix) -> NDArray:
    """How well the other words of the source word's chunk are found in the target word's chunk."""
    source, target = words.source, words.target
    length, width = strength.shape
    same_source = (source.chunk_starts[:, None] == source.chunk_starts) & ~np.eye(length, dtype=np.bool_)
    same_target = (target.chunk_starts[:, None] == target.chunk_starts) & ~np.eye(width, dtype=np.bool_)
    # best[i', j]: the best likeness of i' to another word of j's chunk.
    best = np.zeros_like(strength)
    starts, place = np.unique(target.chunk_starts, return_inverse=True)
    for chunk in range(len(starts)):
        members = np.flatnonzero(place == chunk)
        if len(members) > 1:
            for j in members:
                others = members[members != j]
                best[:, j] = strength[:, others].max(axis=1)
    counts = np.maximum(same_source.sum(axis=1), 1)
    del same_target
    return (same_source @ best) / counts[:, None]


def _linked(source: SentenceWords, target: SentenceWords, inventory: Inventory) -> NDArray[np.int32]:
    get = inventory.numbers["linked"].get
    return np.array([[get((a, b), 0) for b in target.lowered] for a in source.lowered], dtype=np.int32).reshape(
        len(source), len(target)
    )


def null_columns(
    words: SentenceWords, strength: Matrix, cosine: Matrix, inventory: Inventory, columns: Columns
) -> None:
    """Add the columns of a word's link with null; `strength` and `cosine` have a row a word."""
    best = strength.max(axis=1, initial=0.0)
    second = np.sort(strength, axis=1)[:, -2] if strength.shape[1] > 1 else np.zeros(len(words))
    level = _bins(best, [0.3, 0.5, 0.65, 0.75, 0.9, 0.99])
    columns.category("string", "kind", words.kinds, 4)
    columns.category("string", "best match, kind", (level * 2 + (second == best)) * 4 + words.kinds, 7 * 8)
    columns.category("pos", "tag", words.tags, len(inventory.tags) + 1)
    columns.category("pos", "tag, matched", words.tags * 2 + (best > 0.9), 2 * len(inventory.tags) + 2)
    near = _bins(cosine.max(axis=1, initial=-1.0), np.arange(0.05, 0.95, 0.15))
    columns.category("relatedness", "nearest, kind", near * 4 + words.kinds, 28)
    columns.category("chunk", "chunk", words.chunks, len(inventory.chunks) + 1)
    columns.category("lexical", "word", words.frequent, len(inventory.words) + 1)
    columns.category("lexical", "word, matched", words.frequent * 2 + (best > 0.9), 2 * len(inventory.words) + 2)
    number_or_name = (words.kinds == NUMBER) | words.capital
    columns.category("string", "capital or number, matched", number_or_name * 2 + (best > 0.5), 4)
