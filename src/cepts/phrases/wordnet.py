"""Relations between words that WordNet knows, as bits of a matrix for each sentence pair (section 3.3 of semicrf)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.data import offsets_of
from cepts.phrases.tables import StoredTable, codes_of, numbers_of

PARTS = ("noun", "verb", "adjective", "adverb")

SYNSET_ROLES = ("hypernym", "similar", "meronym", "entailment", "verb_group")
LEXICAL_ROLES = ("derivation", "antonym")


@dataclass(frozen=True, eq=False)
class WordNet(StoredTable):
    """Words, their senses, and the pointers between senses and between words.

    Make one with `from_synsets`, or `load` the English one.

    Attributes
    ----------
    codes
        The code of each word in lower case, sorted (uint64); a word's number is its place.
    sense_offsets, senses
        The synsets of each word.
    part_starts
        Synsets are numbered by part of speech: those of `PARTS[p]` from `part_starts[p]` to `part_starts[p + 1]`.
    pointer_offsets, pointers
        From each synset: the other's number and, above the 20th bit, the role (a place in `SYNSET_ROLES`).
    lexical_offsets, lexical_pointers
        The same from word to word, with the roles of `LEXICAL_ROLES`.
    """

    kind: ClassVar[str] = "wordnet"

    codes: NDArray[np.uint64]
    sense_offsets: NDArray[np.int64]
    senses: NDArray[np.int32]
    part_starts: NDArray[np.int32]
    pointer_offsets: NDArray[np.int64]
    pointers: NDArray[np.int32]
    lexical_offsets: NDArray[np.int64]
    lexical_pointers: NDArray[np.int32]

    @classmethod
    def from_synsets(
        cls,
        synsets: Sequence[tuple[str, Sequence[str]]],
        pointers: Iterable[tuple[int, int, str]] = (),
        lexical: Iterable[tuple[str, str, str]] = (),
        *,
        longest: int = 3,
    ) -> WordNet:
        """A WordNet of `synsets`: each its part of speech (one of `PARTS`) and its words.

        Words are lower-cased. A word may be a phrase, with blanks or underscores; phrases of more than `longest` words
        are dropped, but their synsets still connect others. `pointers` are (synset, other synset, role),
        numbers being places in `synsets`, and say that the other is the synset's hypernym, meronym and so on; `lexical`
        are (word, other word, role).
        """
        from cepts.kernels.wordnet import NUMBER_BITS

        order = sorted(range(len(synsets)), key=lambda synset: PARTS.index(synsets[synset][0]))
        renumbered = {synset: number for number, synset in enumerate(order)}
        senses: dict[str, set[int]] = {}
        for synset, (_, words) in enumerate(synsets):
            for word in map(_plain, words):
                if 0 < len(word.split()) <= longest:
                    senses.setdefault(word, set()).add(renumbered[synset])
        words = list(senses)
        codes = codes_of(words)
        by_code = np.argsort(codes)
        numbers = {words[place]: number for number, place in enumerate(by_code.tolist())}
        if max(len(synsets), len(words)) >> NUMBER_BITS:
            raise ValueError(f"there must be fewer than {1 << NUMBER_BITS:,} synsets and words.")
        runs = [sorted(senses[words[place]]) for place in by_code.tolist()]
        parts = np.array([PARTS.index(part) for part, _ in synsets], dtype=np.int64)
        return cls(
            codes[by_code],
            offsets_of([len(run) for run in runs]),
            np.array([synset for run in runs for synset in run], dtype=np.int32),
            offsets_of(np.bincount(parts, minlength=len(PARTS))).astype(np.int32),
            *_runs(
                ((renumbered[one], renumbered[other], SYNSET_ROLES.index(role)) for one, other, role in pointers),
                len(synsets),
            ),
            *_runs(
                (
                    (numbers[_plain(one)], numbers[_plain(other)], LEXICAL_ROLES.index(role))
                    for one, other, role in lexical
                    if _plain(one) in numbers and _plain(other) in numbers
                ),
                len(words),
            ),
        )

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"WordNet({len(self):,} words, {len(self.pointer_offsets) - 1:,} synsets)"

    def numbers(self, lemmas: Sequence[str]) -> NDArray[np.int32]:
        """The number of each lemma in lower case; -1 where it is not known."""
        return self.span_numbers(lemmas, 1).reshape(-1)

    def span_numbers(self, lemmas: Sequence[str], longest: int = 3) -> NDArray[np.int32]:
        """Numbers of phrases such as "give up": `[i, l - 1]` is that of the span [i, i + l), -1 where it is not known.

        Taken flat, they are words to `relations` like any others.
        """
        return numbers_of(map(str.lower, lemmas), self.codes, longest)

    def relations(
        self,
        source_numbers: NDArray[np.int32],
        target_numbers: NDArray[np.int32],
        source_parts: NDArray[np.uint8] | None = None,
        target_parts: NDArray[np.uint8] | None = None,
    ) -> NDArray[np.uint16]:
        """Bits of `kernels.wordnet.RELATIONS` for each source and target word, shape (I, J).

        Parameters
        ----------
        source_numbers, target_numbers
            What `numbers` gave, or `span_numbers` taken flat.
        source_parts, target_parts
            For each word, bits of the parts of speech (in the order of `PARTS`) whose senses count; all where not
            given. Derivation and antonymy are between words and know no parts of speech.
        """
        from cepts.kernels.wordnet import mark_relations

        relations = np.zeros((len(source_numbers), len(target_numbers)), dtype=np.uint16)
        if relations.size:
            mark_relations(
                self._reached(source_numbers, source_parts),
                self._reached(target_numbers, target_parts),
                *(source_numbers, target_numbers, self.lexical_offsets, self.lexical_pointers, relations),
            )
        return relations

    def _reached(self, numbers: NDArray[np.int32], parts: NDArray[np.uint8] | None) -> NDArray[np.int64]:
        from cepts.kernels.wordnet import gather

        if parts is None:
            parts = np.full(len(numbers), 15, dtype=np.uint8)
        senses = self.sense_offsets, self.senses, self.part_starts
        entries = np.empty(2048, dtype=np.int64)
        while True:
            count = gather(numbers, parts, *senses, self.pointer_offsets, self.pointers, entries)
            if count <= len(entries):
                found = entries[:count]
                found.sort()
                return found
            entries = np.empty(count, dtype=np.int64)


def _plain(word: str) -> str:
    return " ".join(word.lower().replace("_", " ").split())


def _runs(pointers: Iterable[tuple[int, int, int]], count: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Offsets and packed pointers, those of each of `count` items sorted and without repetition."""
    from cepts.kernels.wordnet import NUMBER_BITS

    edges = np.array(sorted({(one, role << NUMBER_BITS | other) for one, other, role in pointers}), dtype=np.int64)
    edges = edges.reshape(-1, 2)
    return offsets_of(np.bincount(edges[:, 0], minlength=count)), edges[:, 1].astype(np.int32)
