"""How similar the words and spans of a sentence pair are, by tables and by spelling."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.phrases.acronyms import Acronym, acronyms
from cepts.phrases.inventory import Inventory
from cepts.phrases.lexical import Lexical
from cepts.phrases.numbers import SameNumbers, same_numbers
from cepts.phrases.wordnet import WordNet
from cepts.phrases.words import SentenceWords

if TYPE_CHECKING:
    from cepts.kernels.phrase_features import Likeness
    from cepts.kernels.span_features import SpanLikeness


# From the item [i, l - 1, j, w - 1] of an array to (i, l, j, w).
ONE_WORD_MORE = np.array([0, 1, 0, 1])


@dataclass(frozen=True, slots=True, eq=False)
class Lookups:
    """What the tables know about a sentence pair.

    Attributes
    ----------
    relations
        The relations of each pair of spans in WordNet, as bits (`kernels.wordnet.RELATIONS`): I x Ls x J x Lt.
    expressions
        As in `kernels.phrase_features.Likeness`: I x J.
    lists, rules, rule_scores
        Which paraphrase lists have each pair of spans (or numbers of equal value, see `mark_numbers`), and the row of
        its rule (-1 for none), both I x Ls x J x Lt; and the scores of all rules.
    source_vectors, target_vectors
        The vector of each word; zeros for an unknown word.
    names, nicknames
        How similar two names are, and whether one is a known short form of the other: I x J.
    numbers
        Numbers of equal value.
    """

    relations: NDArray[np.uint16]
    expressions: NDArray[np.uint8]
    lists: NDArray[np.uint8]
    rules: NDArray[np.int32]
    rule_scores: NDArray[np.float32]
    source_vectors: NDArray[np.float32]
    target_vectors: NDArray[np.float32]
    names: NDArray[np.float32]
    nicknames: NDArray[np.bool_]
    numbers: list[SameNumbers]


class Anchors(NamedTuple):
    """Links that are right wherever their words stand, and phrases that a table knows.

    Attributes
    ----------
    links, pull
        Rows (i, j), and the share of the bonus that each link gets, from 0 to 1. It grows with the distance between the
        two words; numbers that are written differently, and names and their short forms, get 1.
    phrases
        Pairs of spans, at least one of several words, that mean the same: acronyms and the words that they stand for,
        synonyms in WordNet, paraphrases in lists, equal numbers. Rows (i, l, j, w) for the spans [i, i + l) and
        [j, j + w); each gets the whole bonus times the larger length.
    """

    links: NDArray[np.int64]
    pull: NDArray[np.float64]
    phrases: NDArray[np.int64]


def look_up(source: SentenceWords, target: SentenceWords, lexical: Lexical, longest: int, widest: int) -> Lookups:
    """Look up all words in the tables, and all spans of up to `longest` source or `widest` target words."""
    shape = len(source), len(target)
    names, nicknames = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.bool_)
    if lexical.names is not None and source.names.any() and target.names.any():
        asked = np.ix_(source.names, target.names)
        written = [[side.tokens[place] for place in np.flatnonzero(side.names)] for side in (source, target)]
        names[asked], nicknames[asked] = lexical.names.scores(*written), lexical.names.nicknames(*written)
    relations, expressions = _relations(source, target, lexical, longest, widest)
    rules, numbers = _paraphrases(source, target, lexical, longest, widest), list[SameNumbers]()
    if lexical.paraphrases is not None:
        numbers = same_numbers(source.lowered, target.lowered)
        mark_numbers(source.lowered, target.lowered, numbers, rules[0])
    if lexical.names is not None:
        mark_acronyms(acronyms(source.tokens, target.tokens), rules[0])
    vectors = _vectors(source, lexical), _vectors(target, lexical)
    return Lookups(relations, expressions, *rules, *vectors, names, nicknames, numbers)


def compare_words(
    source: SentenceWords,
    target: SentenceWords,
    found: Lookups,
    inventory: Inventory,
    own: Collection[tuple[str, str]] | None = None,
) -> Likeness:
    """Compare all words; `own` are the words that a training pair links itself (`Inventory.linked_category`)."""
    from cepts.kernels.likeness import MEASURES, spelling_likeness
    from cepts.kernels.phrase_features import Likeness, match_words

    shape = len(source), len(target)
    spelling = np.empty((*shape, MEASURES), dtype=np.float32)
    characters, others = source.characters, target.characters
    room = max(len(characters), len(others)) + 1
    buffers = np.empty((2, room), dtype=np.bool_), np.empty(room, dtype=np.int64)
    spelling_likeness(characters, source.character_offsets, others, target.character_offsets, *buffers, spelling)
    like = Likeness(
        match=np.empty(shape, dtype=np.int32),
        strength=np.empty(shape, dtype=np.float32),
        spelling=spelling,
        relations=np.ascontiguousarray(found.relations[:, 0, :, 0]),
        expressions=found.expressions,
        lists=np.ascontiguousarray(found.lists[:, 0, :, 0]),
        rules=np.ascontiguousarray(found.rules[:, 0, :, 0]),
        rule_scores=found.rule_scores,
        cosine=found.source_vectors @ found.target_vectors.T,
        source_known=(found.source_vectors != 0.0).any(axis=1),
        target_known=(found.target_vectors != 0.0).any(axis=1),
        names=found.names,
        nicknames=found.nicknames,
        linked=_linked(source, target, inventory, own),
    )
    match_words(source.numbers, target.numbers, like)
    return like


def anchors_of(source: SentenceWords, target: SentenceWords, match: NDArray[np.int32], found: Lookups) -> Anchors:
    """The links and phrases of a pair that are right wherever their words stand.

    Links join telling words that are the same on both sides and the only ones there with their lemma; annotators link
    97 to 99 % of these, however far apart they stand. They also join numbers of equal value that occur once on each
    side, and a name with its only known short form. Phrases are what `known_phrases` finds.
    """
    from cepts.kernels.anchors import find_twins
    from cepts.kernels.phrase_features import IDENTICAL

    most = min(match.shape)
    links, pull = np.empty((most, 2), dtype=np.int64), np.empty(most)
    count = find_twins(match, source.telling, target.telling, links, pull)
    links, pull = links[:count], pull[:count]
    same = [one for one in found.numbers if one.alone]
    cells = [cell for one in same for cell in number_cells(source.lowered, target.lowered, one)]
    short = found.nicknames & (match > IDENTICAL)
    alone = short & (short.sum(axis=0) == 1) & (short.sum(axis=1, keepdims=True) == 1)
    cells += [(int(i), int(j)) for i, j in np.argwhere(alone)]
    if cells:
        links, pull = np.concatenate([links, np.array(cells)]), np.concatenate([pull, np.ones(len(cells))])
    return Anchors(links, pull, known_phrases(source, target, match, found))


def known_phrases(
    source: SentenceWords, target: SentenceWords, match: NDArray[np.int32], found: Lookups
) -> NDArray[np.int64]:
    """Pairs of spans of which a table says that they mean the same, as rows (i, l, j, w).

    At least one span has several words. A span that has all lemmas of the other needs no table and is left out, such as
    *closed up* with *closed*; unless its other words are names that have no match elsewhere, such as *New York City*
    with *New York*.
    """
    from cepts.kernels.phrase_features import ACRONYM, FIRST_LIST, SECOND_LIST, STRONG, SURE
    from cepts.kernels.wordnet import SYNONYM

    known = (found.relations & SYNONYM > 0) | (found.lists & (FIRST_LIST | SECOND_LIST | ACRONYM) > 0)
    known[:, 0, :, 0] = False
    rows = np.argwhere(known) + ONE_WORD_MORE
    kept = []
    for i, size, j, wide in rows.tolist():
        same = match[i : i + size, j : j + wide] <= SURE
        rest = i + np.flatnonzero(~same.any(axis=1)), j + np.flatnonzero(~same.any(axis=0))
        if len(rest[0]) and len(rest[1]):
            kept.append(True)
            continue
        named = source.names[rest[0]].all() and target.names[rest[1]].all()
        matched = (match[rest[0]] <= STRONG).any() or (match[:, rest[1]] <= STRONG).any()
        kept.append(bool(named and not matched and (len(rest[0]) or len(rest[1]))))
    return np.ascontiguousarray(rows[np.array(kept, dtype=np.bool_)])


def compare_spans(like: Likeness, found: Lookups) -> SpanLikeness:
    """Compare all spans that were looked up."""
    from cepts.kernels.likeness import span_coverage
    from cepts.kernels.phrase_features import SURE
    from cepts.kernels.span_features import SpanLikeness

    shape = found.relations.shape

    lemma = like.match <= SURE
    matrices = lemma, like.strength, like.spelling[:, :, 0], np.maximum(like.names, like.nicknames)
    covered, room = np.zeros((len(matrices), 2, *shape), dtype=np.float32), np.empty(shape[3])
    for matrix, both in zip(matrices, covered, strict=True):
        span_coverage(np.ascontiguousarray(matrix, dtype=np.float32), room, both)
    sums = np.zeros((shape[0] + 1, shape[2] + 1))
    np.cumsum(np.cumsum(like.cosine, axis=0, dtype=np.float64), axis=1, out=sums[1:, 1:])
    return SpanLikeness(
        covered=covered.reshape(len(matrices), 2, -1),
        cosine_sums=sums,
        source_norms=_span_norms(found.source_vectors, shape[1]),
        target_norms=_span_norms(found.target_vectors, shape[3]),
        relations=found.relations.reshape(-1),
        lists=found.lists.reshape(-1),
        rules=found.rules.reshape(-1),
        rule_scores=found.rule_scores,
        lemma_before=_counts(lemma),
        lemma_after=_counts(lemma.T),
    )


def _relations(
    source: SentenceWords, target: SentenceWords, lexical: Lexical, longest: int, widest: int
) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """The relations of all spans in WordNet, and those of verbs together with their particles."""
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
            # A particle is related to the other word only through its verb, so its cells are marked differently.
            np.maximum(marks[particle], levels + np.uint8(2) * (levels > 0), out=marks[particle])
    return relations, expressions


def related_expressions(
    words: SentenceWords, others: NDArray[np.int32], table: WordNet
) -> list[tuple[int, int, NDArray[np.uint8]]]:
    """Verbs and particles of a sentence that together are one entry of WordNet; the two may stand apart.

    Each comes with its relations to the words of the other sentence, whose numbers are `others`: 0 for none, 1 for
    related, 2 for synonym.
    """
    from cepts.kernels.wordnet import SYNONYM

    if not words.expressions:
        return []
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


def number_cells(source: Sequence[str], target: Sequence[str], same: SameNumbers) -> list[tuple[int, int]]:
    """The pairs of words of two numbers of equal value, without words that both numbers have."""
    one, other, _ = same
    shared = set(source[one.start : one.stop]) & set(target[other.start : other.stop])
    return [
        (i, j)
        for i in range(one.start, one.stop)
        for j in range(other.start, other.stop)
        if source[i] not in shared and target[j] not in shared
    ]


def mark_numbers(
    source: Sequence[str], target: Sequence[str], numbers: Sequence[SameNumbers], lists: NDArray[np.uint8]
) -> None:
    """Mark numbers of equal value, such as *twice* and *two times*, as if both paraphrase lists had them.

    This marks the pair of spans and the pairs of their words (`number_cells`).
    """
    from cepts.kernels.phrase_features import FIRST_LIST, SECOND_LIST

    _, longest, _, widest = lists.shape
    both = np.uint8(FIRST_LIST | SECOND_LIST)
    for same in numbers:
        one, other, _ = same
        size, wide = one.stop - one.start, other.stop - other.start
        if size <= longest and wide <= widest:
            lists[one.start, size - 1, other.start, wide - 1] |= both
        for i, j in number_cells(source, target, same):
            lists[i, 0, j, 0] |= both


def mark_acronyms(found: Sequence[Acronym], lists: NDArray[np.uint8]) -> None:
    """Mark acronyms with the spans that they stand for, and with each word of these."""
    from cepts.kernels.phrase_features import ACRONYM

    _, longest, _, widest = lists.shape
    for (start, stop), (other, end), _ in found:
        if stop - start <= longest and end - other <= widest:
            lists[start, stop - start - 1, other, end - other - 1] |= ACRONYM
        lists[start:stop, 0, other:end, 0] |= np.uint8(ACRONYM)


def _vectors(words: SentenceWords, lexical: Lexical) -> NDArray[np.float32]:
    if lexical.relatedness is None:
        return np.zeros((len(words), 1), dtype=np.float32)
    return lexical.relatedness.rows(words.tokens)


def _linked(
    source: SentenceWords, target: SentenceWords, inventory: Inventory, own: Collection[tuple[str, str]] | None
) -> NDArray[np.int32]:
    """How often training links each pair of words (`Inventory.linked_category`)."""
    found = np.zeros((len(source), len(target)), dtype=np.int32)
    for i, word in enumerate(source.lowered):
        partners = inventory.partners.get(word)
        if partners is None or partners.isdisjoint(target.lowered):
            continue
        for j, other in enumerate(target.lowered):
            if other in partners:
                found[i, j] = inventory.linked_category(word, other, own)
    return found


def _counts(same: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many of the first n words of each row are true, for each n."""
    counts = np.zeros((same.shape[0], same.shape[1] + 1), dtype=np.int64)
    np.cumsum(same, axis=1, out=counts[:, 1:])
    return counts


def _span_norms(rows: NDArray[np.float32], longest: int) -> NDArray[np.float64]:
    """The length of the sum of the vectors of each span (words x lengths); never 0."""
    count = len(rows)
    sums = np.zeros((count + longest, rows.shape[1]))
    np.cumsum(rows, axis=0, out=sums[1 : count + 1])
    sums[count + 1 :] = sums[count]
    starts = np.arange(count)
    norms = [np.linalg.norm(sums[starts + size] - sums[starts], axis=1) for size in range(1, longest + 1)]
    return np.maximum(np.stack(norms, axis=1), 1e-6)
