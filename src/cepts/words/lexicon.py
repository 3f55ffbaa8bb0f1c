"""The lexicon of both directions: three ways to compute t(target | source) and t(source | target) from expected counts.

Maximum likelihood is eq. (25) of ibm12. A sparse Dirichlet prior turns this into variational Bayes. Back-off smooths
each word's distribution towards that of its stem, which has more evidence, with a strength that is found by
leave-one-out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vocabulary, lazy_property, offsets_of
from cepts.words.index import Pairs
from cepts.words.leave_one_out import LeaveOneOut
from cepts.words.levels import Level, Words, build_levels, words_by_level

if TYPE_CHECKING:
    from cepts.kernels.lookup import Spellings

Counts = NDArray[np.float32]
# Relative to a prior count: more than sums in float32 are off.
ROUNDING = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One side's forms: their vocabulary and how often each occurs."""

    vocabulary: Vocabulary
    frequencies: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.vocabulary)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """New sentence pairs: the forms of their words, and which of them a lexicon knows.

    `pairs` has numbers of words in `source_forms` and `target_forms`; `source_known` and `target_known` give the number
    of each of these in the lexicon, or -1. `places` is what a lexicon has looked up for all of these forms at once, for
    use with every part of the pairs.
    """

    pairs: Pairs
    source_forms: Vocabulary
    target_forms: Vocabulary
    source_known: NDArray[np.int32]
    target_known: NDArray[np.int32]
    places: dict[str, tuple[NDArray[np.int32], NDArray[np.float32]]] = field(default_factory=dict)

    def part(self, start: int, stop: int) -> Tokens:
        """Pairs `start` to `stop` (exclusive), of the same forms."""
        return replace(self, pairs=self.pairs.part(start, stop))


class Lexicon(ABC):
    """t(target | source) in column 0 and t(source | target) in column 1 of `table`, with one row for each cell.

    Parameters
    ----------
    rows, targets
        The cells, as in an `Index`.
    source, target
        The forms of each side.
    floor
        The lowest probability of a pair of words.
    spelling
        Prior count of identical words; words spelt alike get a share of it.
    """

    name = ""
    LIKENESS = 0.6

    def __init__(
        self,
        rows: NDArray[np.int64],
        targets: NDArray[np.int32],
        source: Side,
        target: Side,
        *,
        floor: float = 1e-9,
        spelling: float = 0.0,
    ) -> None:
        self.spelling = spelling
        # The counts of a saved model already include the prior.
        self.learning = True
        self.rows = rows
        self.targets = targets
        self.source = source
        self.target = target
        # In all ranges, if this is one of several.
        self.source_words = len(source)
        self.floor = np.float32(floor)
        self.counts: Counts = np.zeros((0, 1), dtype=np.float32)
        # Sums of the forward counts of each source word, and of the reverse counts of each target word.
        self.source_totals, self.target_totals = np.zeros(len(source)), np.zeros(len(target))
        self._sorted: tuple[NDArray[np.int32], NDArray[np.float32]] | None = None

    @property
    def exact(self) -> bool:
        """Whether `estimate` is the maximum-likelihood M-step."""
        return False

    @lazy_property
    def table(self) -> NDArray[np.float32]:
        """The probabilities, which are uniform until they are estimated."""
        table = np.empty((len(self.targets), 2), dtype=np.float32)
        table[:, 0] = 1.0 / max(len(self.target), 1)
        table[:, 1] = 1.0 / max(len(self.source), 1)
        return table

    def estimate(self, counts: Counts) -> None:
        """Set the table from expected counts: one column for both directions, or one for each."""
        self.take(counts)
        self.normalise()

    def take(self, counts: Counts) -> None:
        """Take expected counts, add prior counts to them, and sum them for each word."""
        from cepts.kernels.lexicon import spelling_counts, totals

        if self.learning and self.spelling > 0.0:
            # Prior counts of words that are spelt alike.
            spellings = _spellings(self.source.vocabulary, self.target.vocabulary)
            spelling_counts(self.rows, self.targets, spellings, self.LIKENESS, self.spelling, counts)
        self.counts = counts
        self._sorted = None
        totals(self.rows, self.targets, counts, self.source_totals, self.target_totals)

    def observed(self) -> Counts:
        """The expected counts as the E-step made them, without prior counts."""
        from cepts.kernels.lexicon import spelling_counts

        counts = self.counts.copy()
        if self.spelling > 0.0:
            spellings = _spellings(self.source.vocabulary, self.target.vocabulary)
            spelling_counts(self.rows, self.targets, spellings, self.LIKENESS, -self.spelling, counts)
            # What is left of a count that was all prior is a rounding error.
            counts[counts < self.spelling * ROUNDING] = 0.0
        return counts

    def spread(self) -> None:
        """Give all pairs of words some probability, if training starts from earlier counts, which lack some pairs."""

    @abstractmethod
    def normalise(self) -> None:
        """Set the table from `counts` and from the totals, which may be those of a lexicon of which this is a range."""

    def settle(self) -> None:
        """End training: give every pair of words at least the lowest probability."""
        np.maximum(self.table, self.floor, out=self.table)

    def state(self) -> dict[str, NDArray]:
        """The arrays from which the table is computed."""
        return {"counts": self.counts, "target_totals": self.target_totals}

    def restore(self, state: dict[str, NDArray]) -> None:
        """Compute the table from a saved state."""
        learning, self.learning = self.learning, False
        self.take(state["counts"])
        # Sums depend on their order in the last digit, so those of the training are used. The first versions of cepts
        # did not save them.
        self.target_totals = state.get("target_totals", self.target_totals)
        self.normalise()
        self.learning = learning

    @staticmethod
    def kept(counts: Counts) -> NDArray[np.bool_]:
        """The cells that a trained model needs; dropping the others does not change the lexicon."""
        return np.asarray(counts.any(axis=1))

    def place(self, tokens: Tokens) -> None:
        """Prepare to look up `tokens` or any part of them."""
        if self._sorted is None:
            self._sorted = by_target(self.rows, self.targets, self.table)

    def look_up(self, tokens: Tokens) -> NDArray[np.float32]:
        """Entries of every token pair of new sentences, laid out as their cells are."""
        out = np.empty((int(tokens.pairs.cell_offsets[-1]), 2), dtype=np.float32)
        self.place(tokens)
        self.fill(tokens, out)
        return out

    def fill(self, tokens: Tokens, out: NDArray[np.float32]) -> None:
        """Write the entries of placed tokens to `out`."""
        from cepts.kernels.lookup import look_up_flat

        assert self._sorted is not None
        pairs = tokens.pairs
        words = pairs.tokens(tokens.source_known[pairs.source_ids], tokens.target_known[pairs.target_ids])
        look_up_flat(words, self.rows, *self._sorted, self.floor, out)


class MaximumLikelihood(Lexicon):
    """Expected counts over their totals, eq. (25) of ibm12."""

    name = "ml"

    @property
    def exact(self) -> bool:
        """Whether no counts are added to those of the text."""
        return self.spelling == 0

    def normalise(self) -> None:
        """Set the table by eq. (25) of ibm12."""
        from cepts.kernels.lexicon import normalise

        normalise(self.rows, self.targets, self.counts, self.source_totals, self.target_totals, self.table)

    def spread(self) -> None:
        """Add one link of each word, with no other word more likely than another."""
        totals = np.repeat(self.source_totals, np.diff(self.rows)), self.target_totals[self.targets]
        for column, (total, others) in enumerate(zip(totals, (self.target, self.source), strict=True)):
            # A range of the lexicon has only some source words, but all of them are needed here.
            size = max(len(others) if column == 0 else self.source_words, 1)
            counts = self.counts[:, min(column, self.counts.shape[1] - 1)]
            self.table[:, column] = (counts + 1.0 / size) / (total + 1.0)


class Bayes(Lexicon):
    """Variational Bayes under a symmetric Dirichlet prior, sparse for a `concentration` below 1."""

    name = "bayes"

    def __init__(self, *cells: Any, concentration: float = 0.01, **options: Any) -> None:
        super().__init__(*cells, **options)
        self.concentration = concentration
        # Numbers of cells of each target word, in all ranges.
        self.target_sizes = np.bincount(self.targets, minlength=len(self.target))

    def normalise(self) -> None:
        """Set the table to the exponential of the expected logarithms."""
        from cepts.kernels.lexicon import normalise_bayes

        totals = self.source_totals, self.target_totals, np.diff(self.rows), self.target_sizes
        normalise_bayes(self.rows, self.targets, self.counts, *totals, self.concentration, self.table)
        np.maximum(self.table, self.floor, out=self.table)

    @staticmethod
    def kept(counts: Counts) -> NDArray[np.bool_]:
        """All cells, because the prior gives each of them some probability."""
        return np.ones(len(counts), dtype=np.bool_)


class BackOff(Lexicon):
    """Smooths each word towards its stem, the stem towards a shorter stem, and the last stem towards unigrams.

    t(f | e) = (c(e, f) + s t'(f' | e') P(f | f')) / (c(e) + s), where e', f' are the stems. The strengths s, one for
    each level and direction, maximise the leave-one-out likelihood of the expected counts; they become small if stems
    say nothing about words. The counts c(e, f) are discounted by (n - 1 + `SEEN_ONCE`) / n, where n is how often the
    rarer one of the two words occurs.

    Parameters
    ----------
    stems
        Lengths of the stems, in letters and in falling order.
    """

    name = "backoff"
    NEGLIGIBLE = np.float32(1e-5)
    GRID = np.array([0.1, 0.2, 0.5, 1, 2, 3, 5, 7, 10, 14, 20, 30, 50, 100])
    SAMPLE = 20_000
    PATIENCE = 2
    # What the count of a word that occurs once is worth. No other sentence supports its links, and each iteration makes
    # them more certain than they are.
    SEEN_ONCE = 0.75
    BEGINNING = 0.5
    # Stems of few letters, and a strength under which they say nothing.
    SHORT, SILENT = 3, 100.0
    # Unseen words have only their spelling; they are mostly names and numbers.
    TRUST = 0.5
    FEW_FORMS = 32  # for which a loop is faster than NumPy

    def __init__(
        self, *cells: Any, stems: Sequence[int] = (6, 4, 3, 2), levels: list[Level] | None = None, **options: Any
    ) -> None:
        super().__init__(*cells, **options)
        self.stems = tuple(stems)
        if levels is None:
            sides = (
                words_by_level(side.vocabulary.words, side.frequencies, self.stems)
                for side in (self.source, self.target)
            )
            levels = build_levels(self.rows, self.targets, *sides)
        self.levels = levels
        self.strengths = np.full((len(self.levels), 2), self.BEGINNING)
        self.estimates = 0
        self._level_counts: list[Counts] = []
        self._level_tables: list[NDArray[np.float32]] = []
        self._lookup: dict[str, Any] | None = None

    def estimate(self, counts: Counts) -> None:
        """Set the tables from expected counts, and learn the strengths."""
        self.take(counts)
        if self.learning:
            self.learn(*([self.sample(direction)] for direction in range(2)))
        self.normalise()

    def take(self, counts: Counts) -> None:
        """Take expected counts, of which the negligible ones become 0, discount them, and sum them at every level."""
        from cepts.kernels.lexicon import add_at

        if self.learning:
            counts[counts < self.NEGLIGIBLE] = 0.0
            counts *= self._discounts()
        super().take(counts)
        self._lookup = None
        self._level_counts = [counts]
        for level, coarser in zip(self.levels, self.levels[1:], strict=False):
            summed = np.zeros((len(coarser.targets), counts.shape[1]), dtype=np.float32)
            add_at(level.coarse_of_cell, self._level_counts[-1], summed)
            self._level_counts.append(summed)

    def observed(self) -> Counts:
        """The expected counts as the E-step made them, without discounts and prior counts."""
        return super().observed() / self._discounts()

    def _discounts(self) -> NDArray[np.float32]:
        """What the counts of each cell are multiplied by."""
        from cepts.kernels.lexicon import fill_discounts

        times = (np.maximum(side.frequencies, 1) for side in (self.source, self.target))
        of_words = (((n - 1 + self.SEEN_ONCE) / n).astype(np.float32) for n in times)
        found = np.empty(len(self.targets), dtype=np.float32)
        fill_discounts(self.rows, self.targets, *of_words, found)
        return found[:, np.newaxis]

    def totals_by_level(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Totals of source words and target words, and of their stems.

        They are summed word by word, not cell by cell, so that a saved model, which drops cells without counts, has the
        same sums to the last bit.
        """
        found = [(self.source_totals, self.target_totals)]
        for level in self.levels[:-1]:
            of_source, of_target = found[-1]
            found.append(
                (
                    np.bincount(level.source.coarse, of_source).astype(np.float64),
                    np.bincount(level.target.coarse, of_target).astype(np.float64),
                )
            )
        return found

    def normalise(self) -> None:
        """Set the table of every level, coarsest first."""
        from cepts.kernels.lexicon import CoarseCells, back_off

        self._level_tables = [
            self.table,
            *(np.empty((len(level.targets), 2), np.float32) for level in self.levels[1:]),
        ]
        level_totals = self.totals_by_level()
        for depth in range(len(self.levels) - 1, -1, -1):
            level = self.levels[depth]
            back_off(
                CoarseCells(level.rows, level.targets, level.coarse_of_cell, level.source.share, level.target.share),
                self._level_counts[depth],
                level_totals[depth],
                self._level_tables[min(depth + 1, len(self.levels) - 1)],
                self.strengths[depth],
                self.floor,
                self._level_tables[depth],
            )

    def spread(self) -> None:
        """Let short stems say nothing if strengths are not learnt yet.

        A dictionary has tiny counts of many words. Their sums for short stems would be larger than what it says of a
        word.
        """
        if self.estimates <= self.PATIENCE:
            before = self.strengths
            short = np.array([False, *(letters <= self.SHORT for letters in self.stems)])
            self.strengths = np.where(short[:, np.newaxis], self.SILENT, before)
            self.normalise()
            self.strengths = before

    def state(self) -> dict[str, NDArray]:
        """Counts and strengths, and how often they were estimated."""
        return {**super().state(), "strengths": self.strengths, "estimates": np.array([self.estimates])}

    def restore(self, state: dict[str, NDArray]) -> None:
        """Compute the table from a saved state."""
        self.strengths = np.array(state["strengths"], dtype=np.float64)
        self.estimates = int(state["estimates"][0])
        super().restore(state)

    # -- strengths ---------------------------------------------------------------------------------------------------

    def sample(self, direction: int, share: float = 1.0) -> LeaveOneOut:
        """A sample of the counts, by which `learn` judges strengths; `share` is the part of it that a range gives."""
        counts = self._level_counts
        column = min(direction, counts[0].shape[1] - 1)
        cells: NDArray[np.integer] = np.flatnonzero(counts[0][:, column] > 0.05)
        cells = cells[:: max(1, len(cells) // max(int(share * self.SAMPLE), 1))]
        weight = counts[0][cells, column].astype(np.float64)
        words, shares, rest = [], [], []
        for level, counted in zip(self.levels, counts, strict=True):
            source = np.searchsorted(level.rows, cells, side="right") - 1
            target = level.targets[cells]
            words.append(target if direction else source)
            shares.append((level.source.share[source] if direction else level.target.share[target]).astype(np.float64))
            rest.append(np.maximum(counted[cells, column] - np.minimum(weight, 1.0), 0.0))
            if len(level.coarse_of_cell):
                cells = level.coarse_of_cell[cells]
        sample = LeaveOneOut(weight, np.array(rest), np.array(shares), np.array(words), np.zeros_like(rest))
        # The totals of target words are known only when those of all ranges are added.
        return sample if direction else sample.with_totals([source for source, _ in self.totals_by_level()])

    def learn(self, forward: Sequence[LeaveOneOut], reverse: Sequence[LeaveOneOut]) -> None:
        """Learn the strengths under which each count is best predicted from all others, from samples of all ranges.

        The totals must be those of all ranges.
        """
        self.estimates += 1
        # The first expected counts are little more than co-occurrence counts, which the prior mostly explains.
        if self.estimates <= self.PATIENCE:
            return
        target_totals = [target for _, target in self.totals_by_level()]
        whole = [LeaveOneOut.concatenate(forward), LeaveOneOut.concatenate(reverse).with_totals(target_totals)]
        for direction, sample in enumerate(whole):
            if len(sample.weight):
                self._climb(sample, self.strengths[:, direction])

    def _climb(self, sample: LeaveOneOut, strengths: NDArray[np.float64]) -> None:
        """Change `strengths` to more likely ones, level by level, until no neighbour on the grid is more likely."""
        for depth in range(len(self.levels)):
            place = int(np.abs(np.log(self.GRID / strengths[depth])).argmin())
            best = sample.likelihood(strengths)
            for step in (1, -1):
                while 0 <= place + step < len(self.GRID):
                    trial = strengths.copy()
                    trial[depth] = self.GRID[place + step]
                    likelihood = sample.likelihood(trial)
                    if likelihood <= best:
                        break
                    best, place = likelihood, place + step
                    strengths[depth] = trial[depth]

    # -- looking up --------------------------------------------------------------------------------------------------

    def place(self, tokens: Tokens) -> None:
        """Find the number and the share of every form at every level, unless this has been done."""
        if self._lookup is None:
            self._lookup = self._make_lookup()
        if not tokens.places:
            tokens.places["source"] = self._place(tokens.source_forms, tokens.source_known, "source")
            tokens.places["target"] = self._place(tokens.target_forms, tokens.target_known, "target")

    def fill(self, tokens: Tokens, out: NDArray[np.float32]) -> None:
        """Write the entries of placed tokens to `out`, backed off where a level does not know a pair."""
        from cepts.kernels.lookup import add_likeness, look_up

        assert self._lookup is not None
        pairs = tokens.pairs
        source_words, source_share = (part[:, pairs.source_ids] for part in tokens.places["source"])
        target_words, target_share = (part[:, pairs.target_ids] for part in tokens.places["target"])
        shares = np.ascontiguousarray(source_share), np.ascontiguousarray(target_share)
        look_up(
            pairs.tokens(source_words, target_words), self._lookup["levels"], shares, self.strengths, self.floor, out
        )
        known = tokens.source_known, tokens.target_known
        if self.spelling > 0.0 and (known[0].min(initial=0) < 0 or known[1].min(initial=0) < 0):
            spellings = _spellings(tokens.source_forms, tokens.target_forms)
            forms = pairs.tokens(pairs.source_ids, pairs.target_ids)
            add_likeness(forms, spellings, *known, self.LIKENESS, self.TRUST, out)

    def _make_lookup(self) -> dict[str, Any]:
        """Cells of all levels, sorted within their rows and laid end to end, and the words of the levels by name."""
        from cepts.kernels.lookup import Levels

        ordered = [
            by_target(level.rows, level.targets, table)
            for level, table in zip(self.levels, self._level_tables, strict=True)
        ]
        level_totals = self.totals_by_level()
        levels = Levels(
            np.concatenate([level.rows for level in self.levels]),
            offsets_of([len(level.rows) for level in self.levels]),
            np.concatenate([targets for targets, _ in ordered]),
            np.concatenate([table for _, table in ordered]),
            offsets_of([len(targets) for targets, _ in ordered]),
            np.concatenate([source for source, _ in level_totals]),
            np.concatenate([target for _, target in level_totals]),
            offsets_of([len(source) for source, _ in level_totals]),
            offsets_of([len(target) for _, target in level_totals]),
        )
        names = {
            side: [
                {name: number for number, name in enumerate(getattr(level, side).names)} for level in self.levels[1:]
            ]
            for side in ("source", "target")
        }
        return {"levels": levels, "names": names}

    def _place(
        self, forms: Vocabulary, known: NDArray[np.int32], side: str
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Number (or -1) and share of each form at each level.

        A loop over words is faster than NumPy over levels for a single sentence, but several times slower for a text.
        """
        assert self._lookup is not None
        levels: list[Words] = [getattr(level, side) for level in self.levels]
        stems = list(zip(self._lookup["names"][side], self.stems, strict=True))
        if len(forms) > self.FEW_FORMS:
            found = [[names.get(form[:letters], -1) for form in forms.words] for names, letters in stems]
            return _with_shares(np.array([known, *found], dtype=np.int32), levels)
        rarest = 1.0 / (levels[-1].frequencies.sum() + 1)
        numbers: list[list[int]] = []
        shares: list[list[float]] = []
        for form, own in zip(forms.words, known.tolist(), strict=True):
            places = [own, *(names.get(form[:letters], -1) for names, letters in stems)]
            numbers.append(places)
            share = []
            for depth, place in enumerate(places):
                if place >= 0:
                    share.append(levels[depth].share[place])
                elif depth + 1 == len(places):
                    share.append(rarest)
                elif places[depth + 1] >= 0:
                    # A new form of a known stem is as likely as a form that was seen once.
                    share.append(1.0 / (levels[depth + 1].frequencies[places[depth + 1]] + 1))
                else:
                    share.append(1.0)
            shares.append(share)
        size = (len(numbers), len(levels))
        return (
            np.array(numbers, dtype=np.int32).reshape(size).T,
            np.array(shares, dtype=np.float32).reshape(size).T,
        )


def _with_shares(numbers: NDArray[np.int32], levels: Sequence[Words]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The `numbers` of forms at each level, and their shares, as in the loop of `BackOff._place`."""
    shares = np.ones(numbers.shape, dtype=np.float32)
    shares[-1] = 1.0 / (levels[-1].frequencies.sum() + 1)
    for depth, (level, own) in enumerate(zip(levels, numbers, strict=True)):
        if depth + 1 < len(levels):
            stem = numbers[depth + 1]
            new = (own < 0) & (stem >= 0)
            shares[depth, new] = 1.0 / (levels[depth + 1].frequencies[stem[new]] + 1)
        shares[depth, own >= 0] = level.share[own[own >= 0]]
    return numbers, shares


def _spellings(source: Vocabulary, target: Vocabulary) -> Spellings:
    from cepts.kernels.lookup import Spellings

    return Spellings(source.buffer, source.offsets, target.buffer, target.offsets)


def by_target(
    rows: NDArray[np.int64], targets: NDArray[np.int32], table: NDArray[np.float32]
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Target words and table with each row's cells in ascending order of the target word."""
    from cepts.kernels.index import sort_rows

    order = np.empty(len(targets), dtype=np.int64)
    sort_rows(rows, targets, order)
    return targets[order], table[order]


LEXICONS: dict[str, type[Lexicon]] = {cls.name: cls for cls in (MaximumLikelihood, Bayes, BackOff)}
