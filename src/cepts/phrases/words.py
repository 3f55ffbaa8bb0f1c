"""The words of one sentence pair as numbers: what all features are computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cepts.data import Sentence, SentencePair, offsets_of
from cepts.phrases.emoji import is_emoji, plain_forms
from cepts.phrases.inventory import Inventory, chunk_type
from cepts.phrases.synthesis import chunk_spans

CONTENT, FUNCTION, PUNCTUATION, NUMBER = range(4)
KINDS = ("content", "function", "punctuation", "number")
SAYING = (CONTENT, NUMBER)

# Tags of closed classes in the Penn and the universal tag sets.
CLOSED = frozenset(
    "DT IN TO CC MD PRP PRP$ WDT WP WP$ WRB EX POS RP PDT ADP AUX CCONJ DET PART PRON SCONJ".split()  # noqa: SIM905
)
NAMING = ("N", "V", "CD", "PROPN")  # how tags of nouns, verbs and numbers start
PARTICLES = frozenset({"RP", "IN", "RB", "ADP", "ADV", "PART"})
LONGEST_AUXILIARY = 4
# How far behind its verb a particle may stand: "put the whole thing off".
REACH = 4


@dataclass(frozen=True, slots=True, eq=False)
class SentenceWords:
    """One sentence.

    Attributes
    ----------
    tokens, lowered, lemmas
        The words in their plain forms (`plain_form`), lower-cased, and their lemmas.
    numbers
        A row a word, with the columns of kernels.phrase_features: form, lower-cased form and lemma (numbered the same
        in both sentences of a pair), tag, chunk type and frequent word (of the inventory, 0 for what it does not have),
        kind, whether it begins with a capital, where its chunk starts and stops (a word outside of all is its own), and
        how often its lower-cased form occurs, in all and before it.
    names
        Whether the word may be a name: a content word with a capital.
    telling
        Whether the word says so much that its twin in the other sentence may stand anywhere: content words, numbers and
        emoji, but no frequent adjectives and adverbs (*not*, *more*).
    expressions
        Places of a verb and of a particle not far behind it, which together may mean one thing.
    characters, character_offsets
        The lower-cased characters of all words, end to end.
    """

    tokens: tuple[str, ...]
    lowered: tuple[str, ...]
    lemmas: tuple[str, ...]
    numbers: NDArray[np.int32]
    names: NDArray[np.bool_]
    telling: NDArray[np.bool_]
    expressions: list[tuple[int, int]]
    characters: NDArray[np.uint32]
    character_offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.tokens)


def words_of(pair: SentencePair, inventory: Inventory, *, tagged: bool = True) -> tuple[SentenceWords, SentenceWords]:
    """The words of both sentences, with one numbering of their forms; tags are not looked at unless `tagged`."""
    numbers: dict[str, int] = {}
    sides = (pair.source, pair.target) if tagged else (replace(pair.source, pos=None), replace(pair.target, pos=None))
    source, target = (_words(sentence, inventory, numbers) for sentence in sides)
    return source, target


def kinds_of(sentence: Sentence, inventory: Inventory) -> list[int]:
    """The kind of each word: content word (or emoji), function word, punctuation or number."""
    numbers = inventory.numbers["words"]
    return _kinds(sentence.tokens, sentence.pos, [numbers.get(token.lower(), 0) for token in sentence.tokens])


def _words(sentence: Sentence, inventory: Inventory, numbers: dict[str, int]) -> SentenceWords:
    tokens = plain_forms(sentence.tokens)
    lowered = tuple(token.lower() for token in tokens)
    lemmas = lowered if sentence.lemma is None else tuple(lemma.lower() for lemma in sentence.lemma)
    found = inventory.numbers
    frequent = [found["words"].get(word, 0) for word in lowered]
    labels = sentence.chunk or ("O",) * len(tokens)
    kinds = _kinds(tokens, sentence.pos, frequent)
    capital = [token[:1].isupper() for token in tokens]
    columns = (
        [numbers.setdefault(word, len(numbers)) for word in tokens],
        [numbers.setdefault(word, len(numbers)) for word in lowered],
        [numbers.setdefault(word, len(numbers)) for word in lemmas],
        [found["tags"].get(tag, 0) for tag in sentence.pos or ("",) * len(tokens)],
        [found["chunks"].get(chunk_type(label), 0) for label in labels],
        frequent,
        kinds,
        capital,
        *_chunks(labels),
        *_repetitions(lowered),
    )
    return SentenceWords(
        tokens,
        lowered,
        lemmas,
        np.ascontiguousarray(np.array(columns, dtype=np.int32).T),
        np.array([big and kind == CONTENT for big, kind in zip(capital, kinds, strict=True)], dtype=np.bool_),
        _telling(kinds, sentence.pos, frequent),
        _expressions(sentence.pos),
        np.frombuffer("".join(lowered).encode("utf-32-le", "surrogatepass"), dtype=np.uint32),
        offsets_of([len(word) for word in lowered]),
    )


def _kinds(tokens: Sequence[str], tags: Sequence[str] | None, frequent: Sequence[int]) -> list[int]:
    kinds = []
    for place, token in enumerate(tokens):
        if any(map(str.isdigit, token)):
            kinds.append(NUMBER)
        elif not any(map(str.isalnum, token)):
            kinds.append(CONTENT if is_emoji(token) else PUNCTUATION)
        else:
            tag = None if tags is None else tags[place]
            kinds.append(FUNCTION if _is_function(token, tag, frequent[place]) else CONTENT)
    return kinds


def _is_function(token: str, tag: str | None, frequent: int) -> bool:
    """Whether a word is of a closed class or an auxiliary; without tags, whether it is frequent."""
    if tag is None:
        return frequent > 0
    return tag in CLOSED or (frequent > 0 and tag.startswith("V") and len(token) <= LONGEST_AUXILIARY)


def _telling(kinds: Sequence[int], tags: Sequence[str] | None, frequent: Sequence[int]) -> NDArray[np.bool_]:
    found = [
        kind in SAYING and (not common or tag.startswith(NAMING))
        for kind, common, tag in zip(kinds, frequent, tags or NAMING[:1] * len(kinds), strict=True)
    ]
    return np.array(found, dtype=np.bool_)


def _expressions(tags: Sequence[str] | None) -> list[tuple[int, int]]:
    """Places of verbs, each with those of the particles, prepositions and adverbs in reach behind it."""
    if tags is None:
        return []
    places = [place for place, tag in enumerate(tags) if tag in PARTICLES]
    return [
        (verb, place)
        for verb, tag in enumerate(tags)
        if tag.startswith("V")
        for place in places
        if 0 < place - verb <= REACH
    ]


def _chunks(labels: tuple[str, ...]) -> tuple[list[int], list[int]]:
    """Where the chunk of each word starts and stops; a word outside of all chunks is its own."""
    starts, stops = list(range(len(labels))), list(range(1, len(labels) + 1))
    for start, stop in chunk_spans(labels):
        for place in range(start, stop):
            starts[place], stops[place] = start, stop
    return starts, stops


def _repetitions(words: Sequence[str]) -> tuple[list[int], list[int]]:
    """How often each word occurs, in all and before it."""
    counts: dict[str, int] = {}
    before = []
    for word in words:
        before.append(counts.get(word, 0))
        counts[word] = before[-1] + 1
    return [counts[word] for word in words], before
