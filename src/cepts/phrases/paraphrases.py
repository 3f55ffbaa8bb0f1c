"""Tables of paraphrases, words and phrases, such as PPDB gives (section 3.3 of semicrf).

Both sides of a pair are stored as 64-bit codes of their lower-case text, so a table needs no strings and can be used as
soon as its file is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cepts.data import offsets_of
from cepts.phrases.tables import StoredTable, codes_of, numbers_of

# Meaning of the bits of `kinds`, from the lowest. The two lists are whatever the table was made from; in the English
# table "first" is the pruned lexical list of PPDB XXXL and "second" its lexical synonyms.
KINDS = ("first list", "second list", "rule", "only [X]", "reversed")

# Columns of `Paraphrases.rule_scores`: f is the source side, e the target side, lhs the symbol that yields both.
RULE_SCORES = (
    "p(lhs|e)",
    "p(lhs|f)",
    "p(e|lhs)",
    "p(e|f)",
    "p(e|f,lhs)",
    "p(f|lhs)",
    "p(f|e)",
    "p(f|e,lhs)",
)
SWAPPED = (1, 0, 5, 6, 7, 2, 3, 4)


class Rule(NamedTuple):
    """A scored pair: the sides, the symbol that yields both, and the minus log probabilities of `RULE_SCORES`."""

    source: str
    target: str
    symbol: str
    scores: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Paraphrases(StoredTable):
    """Which words and phrases paraphrase which.

    Make one with `from_rules`, or `load` the English one.

    Attributes
    ----------
    codes
        The code of each side, sorted (uint64).
    offsets, others, marks
        The pairs of side `a` with sides of higher number, `others[offsets[a]:offsets[a + 1]]`, sorted, and how each
        stands: bits 0 to 3 are those of `KINDS` as (lower, higher), bits 4 to 7 as (higher, lower).
    rule_entries, rule_rows
        Entries of `others` that have scores, and their rows in `rule_scores` for each way round.
    rule_scores
        Minus log probabilities, columns as in `RULE_SCORES` (float32). Row `n + r` is row `r` seen the other way round,
        where `n` is half the number of rows.
    """

    kind: ClassVar[str] = "paraphrases"

    codes: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    others: NDArray[np.int32]
    marks: NDArray[np.uint8]
    rule_entries: NDArray[np.int32]
    rule_rows: NDArray[np.int32]
    rule_scores: NDArray[np.float32]

    @classmethod
    def from_rules(
        cls,
        rules: Iterable[Rule] = (),
        first: Iterable[tuple[str, str]] = (),
        second: Iterable[tuple[str, str]] = (),
    ) -> Paraphrases:
        """A table of scored rules and of up to two lists of plain pairs.

        Text is lower-cased. Pairs with equal sides are dropped, and so are pairs in which neither side has a letter. Of
        several rules for one pair, one with a symbol other than [X] wins, then the one with the highest
        p(e|f,lhs) p(f|e,lhs).
        """
        best: dict[tuple[str, str], Rule] = {}
        for rule in rules:
            sides = _sides(rule.source, rule.target)
            if sides and (sides not in best or _rank(rule) < _rank(best[sides])):
                best[sides] = rule
        marks: dict[tuple[str, str], int] = {}
        for bit, pairs in ((1, first), (2, second)):
            for one, other in pairs:
                if sides := _sides(one, other):
                    marks[sides] = marks.get(sides, 0) | bit
        for sides, rule in best.items():
            marks[sides] = marks.get(sides, 0) | 4 | (8 if _is_plain(rule.symbol) else 0)
        words = list(dict.fromkeys(side for sides in marks for side in sides))
        codes = codes_of(words)
        order = np.argsort(codes)
        rank = np.empty(len(codes), dtype=np.int64)
        rank[order] = np.arange(len(codes))
        numbers = dict(zip(words, rank.tolist(), strict=True))
        entries: dict[tuple[int, int], int] = {}
        for (one, other), mark in marks.items():
            a, b = numbers[one], numbers[other]
            pair, shift = ((a, b), 0) if a < b else ((b, a), 4)
            entries[pair] = entries.get(pair, 0) | mark << shift
        ordered = sorted(entries)
        place = {pair: number for number, pair in enumerate(ordered)}
        n = len(best)
        rule_rows: dict[int, list[int]] = {}
        for row, (one, other) in enumerate(best):
            a, b = numbers[one], numbers[other]
            found = rule_rows.setdefault(place[min(a, b), max(a, b)], [-1, -1])
            found[int(a > b)] = row
        for found in rule_rows.values():
            # A rule that exists in one direction only is reversed for the other.
            ahead, back = found
            found[:] = [ahead if ahead >= 0 else n + back, back if back >= 0 else n + ahead]
        ruled = sorted(rule_rows)
        scores = np.array([rule.scores for rule in best.values()], dtype=np.float32).reshape(n, len(RULE_SCORES))
        lower = np.array([pair[0] for pair in ordered], dtype=np.int64)
        return cls(
            codes[order],
            offsets_of(np.bincount(lower, minlength=len(codes))),
            np.array([pair[1] for pair in ordered], dtype=np.int32),
            np.array([entries[pair] for pair in ordered], dtype=np.uint8),
            np.array(ruled, dtype=np.int32),
            np.array([rule_rows[entry] for entry in ruled], dtype=np.int32).reshape(-1, 2),
            _both_ways(scores),
        )

    def __len__(self) -> int:
        return len(self.others)

    def __repr__(self) -> str:
        return f"Paraphrases({len(self):,} pairs, {len(self.rule_entries):,} of them with scores)"

    def lookup(
        self,
        source_tokens: Sequence[str],
        target_tokens: Sequence[str],
        source_length: int = 3,
        target_length: int = 3,
    ) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Look up every source span of up to `source_length` words and every target span.

        Returns
        -------
        kinds
            Shape (I, source_length, J, target_length); `kinds[i, l - 1, j, m - 1]` holds the bits of `KINDS` for the
            spans [i, i + l) and [j, j + m), 0 where a span leaves its sentence.
        rows
            An array of the same shape: the row of `rule_scores`, -1 where there is none.
        """
        from cepts.kernels.paraphrases import look_up_spans

        shape = (len(source_tokens), source_length, len(target_tokens), target_length)
        numbers = [
            numbers_of(map(str.lower, tokens), self.codes, longest).reshape(-1)
            for tokens, longest in ((source_tokens, source_length), (target_tokens, target_length))
        ]
        kinds = np.empty((len(numbers[0]), len(numbers[1])), dtype=np.uint8)
        rows = np.empty(kinds.shape, dtype=np.int32)
        look_up_spans(*numbers, self.offsets, self.others, self.marks, self.rule_entries, self.rule_rows, kinds, rows)
        return kinds.reshape(shape), rows.reshape(shape)

    def stored(self) -> dict[str, NDArray[Any]]:
        """The arrays of the fields, with counts of two bytes in place of offsets, and each score once."""
        counts = np.diff(self.offsets)
        if counts.max(initial=0) > np.iinfo(np.uint16).max:
            raise ValueError(f"a side must stand in at most 65,535 pairs. Got {counts.max():,} instead.")
        scores = self.rule_scores[: len(self.rule_scores) // 2]
        return {**super().stored(), "counts": counts.astype(np.uint16), "rule_scores": scores}

    @classmethod
    def restored(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The inverse of `stored`."""
        return super().restored({**arrays, "rule_scores": _both_ways(arrays["rule_scores"])})


def _sides(one: str, other: str) -> tuple[str, str] | None:
    """Both sides in lower case with single blanks, unless there is nothing to learn from them."""
    sides = " ".join(one.lower().split()), " ".join(other.lower().split())
    useful = all(sides) and sides[0] != sides[1] and any(character.isalpha() for side in sides for character in side)
    return sides if useful else None


def _is_plain(symbol: str) -> bool:
    return symbol.upper() == "[X]"


def _rank(rule: Rule) -> tuple[bool, float]:
    """Sorts better rules first."""
    return _is_plain(rule.symbol), rule.scores[4] + rule.scores[7]


def _both_ways(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.concatenate((scores, scores[:, SWAPPED]))
