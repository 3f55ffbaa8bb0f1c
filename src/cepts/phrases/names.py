"""How one name turns into another: a stochastic edit distance (after Ristad and Yianilos, 1998), and nicknames.

It takes the place of the name phylogeny in section 3.3 of semicrf. The model reads one name and writes the other by
copying, changing, inserting and deleting characters. The next edit depends on the last one, so a run of deletions
(William, Will) costs less than the same number of scattered ones.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cepts.data import offsets_of
from cepts.engine import ROUNDING, run_em
from cepts.phrases.tables import LARGEST, StoredTable, code_of
from cepts.progress import Progress

LONGEST = 40  # only so many characters of a name are read, so that no probability becomes 0
EDITS = 5  # values of the last edit: start, copy, change, insert, delete
PAIR_FACTOR = 0x9E3779B97F4A7C15
SYMBOLS = 27  # a to z, and any other character
SYMBOL_ROOM = 32
FOREIGN = 0.1  # share of the uniform distribution in the spelling model, so that every character has some probability


@dataclass(frozen=True, eq=False)
class NameModel(StoredTable):
    """Probabilities of edits, and known pairs of names and nicknames.

    Attributes
    ----------
    steps
        P(copy, change, insert, delete | last edit) while there are characters to read; shape (5, 4). The last edit is
        none, copy, change, insert or delete.
    ends
        P(insert, stop | last edit) when everything has been read, shape (5, 2).
    changes
        P(new character | old character, change), shape (27, 27): a to z, and any other character.
    inserts
        P(character | insertion).
    spelling
        P(character) for names written from scratch and, at the end, the probability that a name ends; 28 values.
    pairs
        Codes of the known pairs of names, sorted.
    """

    kind: ClassVar[str] = "names"

    steps: NDArray[np.float64]
    ends: NDArray[np.float64]
    changes: NDArray[np.float64]
    inserts: NDArray[np.float64]
    spelling: NDArray[np.float64]
    pairs: NDArray[np.uint64]

    @cached_property
    def _known(self) -> frozenset[int]:
        return frozenset(self.pairs.tolist())

    @classmethod
    def train(
        cls,
        pairs: Iterable[tuple[str, str]],
        *,
        iterations: int = 30,
        prior: float = 0.5,
        progress: Progress | None = None,
    ) -> NameModel:
        """Learn from names and their variants by EM.

        Each pair is read both ways, and each name also as a variant of itself, so that copying is learnt.

        Parameters
        ----------
        prior
            Count that each edit has before any data is seen; the objective is the likelihood times this Dirichlet
            prior.
        """
        listed = sorted({(one.lower(), other.lower()) for one, other in pairs})
        if not listed:
            raise ValueError("there must be at least one pair of names.")
        names = sorted({name for pair in listed for name in pair})
        training = [*listed, *((other, one) for one, other in listed), *((name, name) for name in names)]
        problem = _Training(training, prior)
        run_em(problem, iterations=iterations, stage="names", progress=progress)
        characters, _ = _characters(names)
        counts = np.bincount(characters % SYMBOL_ROOM, minlength=SYMBOLS)
        lasting = len(characters) / (len(characters) + len(names))
        shares = (1 - FOREIGN) * counts / counts.sum() + FOREIGN / SYMBOLS
        spelling = np.append(lasting * shares, 1 - lasting)
        codes = np.array([_pair_code(code_of(one), code_of(other)) for one, other in listed], dtype=np.uint64)
        return cls(problem.steps, problem.ends, problem.changes, problem.inserts, spelling, np.unique(codes))

    def log_probabilities(self, source_tokens: Sequence[str], target_tokens: Sequence[str]) -> NDArray[np.float64]:
        """Logarithm of P(target | source name), shape (I, J)."""
        from cepts.kernels.names import fill_forward

        parameters = self.steps, self.ends, self.changes, self.inserts
        room = np.empty((LONGEST + 1, LONGEST + 1, EDITS))
        sides = [[_code_points(_plain(token)) for token in tokens] for tokens in (source_tokens, target_tokens)]
        return _compared(sides, lambda one, other: _log(fill_forward(one, other, *parameters, room)), np.float64)

    def scores(self, source_tokens: Sequence[str], target_tokens: Sequence[str]) -> NDArray[np.float32]:
        """The share of the target name's information that the source name holds, in [0, 1], shape (I, J).

        That is 1 - log P(target | source) / log P(target from scratch), and 0 where this would be negative. Dividing by
        what the target costs from scratch makes long and short names comparable.
        """
        found = self.log_probabilities(source_tokens, target_tokens)
        characters, offsets = _characters(target_tokens)
        costs = np.concatenate(([0.0], np.cumsum(np.log(self.spelling)[characters % SYMBOL_ROOM])))
        scratch = np.diff(costs[offsets]) + np.log(self.spelling[-1])
        return np.clip(1.0 - found / scratch, 0.0, 1.0).astype(np.float32)

    def nicknames(self, source_tokens: Sequence[str], target_tokens: Sequence[str]) -> NDArray[np.bool_]:
        """Whether each source token and target token are a known pair, in either order; shape (I, J)."""
        sides = [[code_of(token.lower()) for token in tokens] for tokens in (source_tokens, target_tokens)]
        return _compared(sides, lambda one, other: _pair_code(one, other) in self._known, np.bool_)


def _compared(sides: Sequence[Sequence[Any]], compare: Callable[[Any, Any], Any], kind: type) -> NDArray[Any]:
    found = [[compare(one, other) for other in sides[1]] for one in sides[0]]
    return np.array(found, dtype=kind).reshape([len(side) for side in sides])


def _log(probability: float) -> float:
    return math.log(probability) if probability > 0 else -math.inf


def _pair_code(one: int, other: int) -> int:
    """A code of two codes, which does not depend on their order."""
    return (min(one, other) * PAIR_FACTOR + max(one, other)) & LARGEST


class _Training:
    """Parameters and expected counts, for `run_em`."""

    def __init__(self, pairs: Sequence[tuple[str, str]], prior: float) -> None:
        self.sides = (*_characters([pair[0] for pair in pairs]), *_characters([pair[1] for pair in pairs]))
        self.allowed_fall = ROUNDING * len(self.sides[0])
        self.prior = prior
        self.steps = np.tile([0.7, 0.1, 0.1, 0.1], (EDITS, 1))
        self.ends = np.tile([0.5, 0.5], (EDITS, 1))
        self.changes = np.ones((SYMBOLS, SYMBOLS))
        # A letter changes into a different letter; the last symbol stands for many characters, and may follow itself.
        np.fill_diagonal(self.changes[:-1, :-1], 0.0)
        self.changes /= self.changes.sum(axis=1, keepdims=True)
        self.inserts = np.full(SYMBOLS, 1 / SYMBOLS)
        self.work = [np.empty((LONGEST + 1, LONGEST + 1, EDITS)) for _ in range(2)]
        self.counts: list[NDArray[np.float64]] = []

    def e_step(self, tick: object) -> float:
        from cepts.kernels.names import EditTables, name_expected_counts

        parameters = EditTables(self.steps, self.ends, self.changes, self.inserts)
        self.counts = [np.zeros_like(parameter) for parameter in parameters]
        likelihood = name_expected_counts(*self.sides, parameters, *self.work, EditTables(*self.counts))
        logs = sum(float(np.log(parameter[parameter > 0]).sum()) for parameter in parameters)
        return float(likelihood) + self.prior * logs

    def m_step(self) -> None:
        self.steps, self.ends, self.changes, self.inserts = (
            _shares(np.where(parameter > 0, counts + self.prior, 0.0))
            for parameter, counts in zip((self.steps, self.ends, self.changes, self.inserts), self.counts, strict=True)
        )


def _shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return counts / counts.sum(axis=-1, keepdims=True)


def _characters(names: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The characters of all names, one after another, in lower case and without accents, and where each name starts."""
    texts = [_plain(name) for name in names]
    return _code_points("".join(texts)), offsets_of([len(text) for text in texts])


def _code_points(text: str) -> NDArray[np.int64]:
    """Characters in the form that `kernels.names` takes: code points, with the symbol in the low bits."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    letters = points - ord("a")
    return points * SYMBOL_ROOM + np.where((letters >= 0) & (letters < SYMBOLS - 1), letters, SYMBOLS - 1)


def _plain(name: str) -> str:
    lower = name.lower()
    if not lower.isascii():
        lower = "".join(c for c in unicodedata.normalize("NFKD", lower) if not unicodedata.combining(c))
    return lower[:LONGEST]
