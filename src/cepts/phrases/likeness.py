"""Everything that the tables and the spelling say of each source word with each target word."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepts.phrases.inventory import Inventory
from cepts.phrases.lexical import Lexical
from cepts.phrases.wordnet import RELATIONS, WordNet
from cepts.phrases.words import SentenceWords

__all__ = ["MATCHES", "SYNONYM", "Likeness", "compare_words", "related_expressions"]

# How two words match, the best first: a cell has the first that holds (kernels.phrase_features.match_words).
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
SYNONYM = 1 << RELATIONS.index("synonym")
DERIVED = 1 << RELATIONS.index("derivation")


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """Matrices I x J, but for `relations`, `kinds` and `rules`, which are I x Ls x J x Lt.

    Attributes
    ----------
    match, strength
        How two words match (`MATCHES`), and what that counts for.
    spelling
        The five measures of `kernels.likeness.spelling_likeness`.
    relations
        Bits of WordNet's relations, of words and phrases: I x Ls x J x Lt.
    expressions
        Whether a verb and its particle, which may stand apart, are together related (1) or synonymous (2) with a word
        of the other side: the verb's cells with that word; 3 and 4 are the particle's.
    kinds, rules
        Of each pair of spans, where paraphrase tables have it, and the row of its rule.
    cosine
        Of the word vectors; `source_known` and `target_known` tell which words have one, `source_rows` and
        `target_rows` are the vectors.
    names, nicknames
        How near two names are, and whether one is a known short form of the other.
    linked
        How often training links two words.
    """

    match: NDArray[np.int32]
    strength: NDArray[np.float32]
    spelling: NDArray[np.float32]
    relations: NDArray[np.uint16]
    expressions: NDArray[np.uint8]
    kinds: NDArray[np.uint8]
    rules: NDArray[np.int32]
    rule_scores: NDArray[np.float32]
    cosine: NDArray[np.float32]
    source_known: NDArray[np.bool_]
    target_known: NDArray[np.bool_]
    source_rows: NDArray[np.float32]
    target_rows: NDArray[np.float32]
    names: NDArray[np.float32]
    nicknames: NDArray[np.bool_]
    linked: NDArray[np.int32]


def compare_words(
    source: SentenceWords,
    target: SentenceWords,
    lexical: Lexical,
    inventory: Inventory,
    longest: int,
    widest: int,
    own: Collection[tuple[str, str]] | None = None,
) -> Likeness:
    """Compare all words; spans up to `longest` x `widest` are looked up in the tables.

    `own` are the words that a pair of training links itself (`Inventory.linked_category`).
    """
    from cepts.kernels.likeness import spelling_likeness
    from cepts.kernels.phrase_features import match_words

    shape = len(source), len(target)
    spelling = np.empty((*shape, 5), dtype=np.float32)
    spelling_likeness(
        source.characters, source.character_offsets, target.characters, target.character_offsets, spelling
    )
    relations, expressions = _relations(source, target, lexical, longest, widest)
    kinds, rules, rule_scores = _paraphrases(source, target, lexical, longest, widest)
    source_rows, target_rows = (_vectors(side, lexical) for side in (source, target))
    cosine = source_rows @ target_rows.T
    names, nicknames = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.bool_)
    if lexical.names is not None and source.names.any() and target.names.any():
        names = lexical.names.scores(source.tokens, target.tokens, source.names, target.names)
        nicknames = lexical.names.nicknames(source.tokens, target.tokens) & source.names[:, None] & target.names
    match, strength = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.float32)
    match_words(
        source.numbers,
        target.numbers,
        spelling,
        relations,
        SYNONYM,
        DERIVED,
        kinds,
        cosine,
        nicknames,
        match,
        strength,
    )
    return Likeness(
        match,
        strength,
        spelling,
        relations,
        expressions,
        kinds,
        rules,
        rule_scores,
        cosine,
        (source_rows != 0.0).any(axis=1),
        (target_rows != 0.0).any(axis=1),
        source_rows,
        target_rows,
        names,
        nicknames,
        _linked(source, target, inventory, own),
    )


def _relations(
    source: SentenceWords, target: SentenceWords, lexical: Lexical, longest: int, widest: int
) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """WordNet's relations of all spans, and those of verbs with their particles."""
    shape = len(source), longest, len(target), widest
    expressions = np.zeros((len(source), len(target)), dtype=np.uint8)
    table = lexical.wordnet
    if table is None:
        return np.zeros(shape, dtype=np.uint16), expressions
    numbers = table.span_numbers(source.lemmas, longest), table.span_numbers(target.lemmas, widest)
    relations = table.relations(numbers[0].reshape(-1), numbers[1].reshape(-1)).reshape(shape)
    for words, others, marks in (
        (source, numbers[1], expressions),
        (target, numbers[0], expressions.T),
    ):
        for verb, particle, levels in related_expressions(words, np.ascontiguousarray(others[:, 0]), table):
            np.maximum(marks[verb], levels, out=marks[verb])
            # A particle says nothing of the other word but for its verb, so its cells are marked apart.
            np.maximum(marks[particle], levels + np.uint8(2) * (levels > 0), out=marks[particle])
    return relations, expressions


def related_expressions(
    words: SentenceWords, others: NDArray[np.int32], table: WordNet
) -> list[tuple[int, int, NDArray[np.uint8]]]:
    """Verbs and particles of a sentence that are one entry of WordNet, which may stand apart.

    With each come its relations with the words of the other sentence, whose numbers are `others`: 1 related, 2 synonym.
    """
    found = table.numbers([f"{words.lemmas[verb]} {words.lemmas[place]}" for verb, place in words.expressions])
    known = np.flatnonzero(found >= 0)
    if not len(known):
        return []
    related = table.relations(found[known], others)
    levels = (related > 0).astype(np.uint8) + (related & SYNONYM > 0)
    return [(*words.expressions[place], row) for place, row in zip(known, levels, strict=True)]


def _paraphrases(
    source: SentenceWords, target: SentenceWords, lexical: Lexical, longest: int, widest: int
) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.float32]]:
    if lexical.paraphrases is not None:
        found = lexical.paraphrases.lookup(source.tokens, target.tokens, longest, widest)
        return *found, lexical.paraphrases.rule_scores
    shape = len(source), longest, len(target), widest
    return np.zeros(shape, dtype=np.uint8), np.full(shape, -1, dtype=np.int32), np.empty((0, 8), dtype=np.float32)


def _vectors(words: SentenceWords, lexical: Lexical) -> NDArray[np.float32]:
    if lexical.relatedness is None:
        return np.zeros((len(words), 1), dtype=np.float32)
    return lexical.relatedness.rows(words.tokens)


def _linked(
    source: SentenceWords, target: SentenceWords, inventory: Inventory, own: Collection[tuple[str, str]] | None
) -> NDArray[np.int32]:
    """How often training links each two words (`Inventory.linked_category`)."""
    found = np.zeros((len(source), len(target)), dtype=np.int32)
    rows = [i for i, word in enumerate(source.lowered) if word in inventory.linked_sources]
    columns = [j for j, word in enumerate(target.lowered) if word in inventory.linked_targets]
    for i in rows:
        for j in columns:
            found[i, j] = inventory.linked_category(source.lowered[i], target.lowered[j], own)
    return found
