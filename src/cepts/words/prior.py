"""What was learnt before: expected counts of earlier texts, which training adds to those of the text at hand.

A trained model keeps not only probabilities but the expected counts behind them: of links (the lexicon), of words
without a link (null), and the statistics of its position model. Training on a new text B after an old text A keeps the
counts of A as they were in the last E-step on A, and runs EM on B with

    counts = weight x counts(A) + counts(B),

in every M-step. This is incremental EM (Neal and Hinton, 1998): it maximises the same bound as training on A and B
together, except that the posteriors of A stay as they are. With no text B, the result is the model of all earlier texts
together, which is how models are merged. Counts of earlier texts may also come from a table, such as a file of priors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepts.data import NULL_WORD, PriorEntries, Vocabulary, offsets_of
from cepts.engine import piece_name
from cepts.errors import ModelError, UsageError
from cepts.store import Piece, Shelf, checksum
from cepts.words.adjacent import AdjacentWords
from cepts.words.fertility import FERTILITIES, class_shares
from cepts.words.forms import distinct
from cepts.words.lexicon import BackOff, Lexicon, Side
from cepts.words.options import options_of
from cepts.words.positions import EarlierPositions, Positions
from cepts.words.text import SIDES, ShelvedText, TextFacts

if TYPE_CHECKING:
    from cepts.words.aligner import Aligner

# Cells in one piece of the shelf: 16 bytes each.
CELLS_IN_PIECE = 1 << 21
# Options that say how long training takes; they may differ when a training is continued.
TIMES = ("iterations", "start_iterations", "hmm_iterations", "tolerance")
# Options that two models may have different and still be joined.
FREE_OPTIONS = (*TIMES, "threads", "max_length")


@dataclass(frozen=True, slots=True, eq=False)
class CountTable:
    """Counts that a user brings: of links, of jumps and of fertilities.

    Attributes
    ----------
    entries
        Gives the table, part by part; it is never in memory as a whole.
    fingerprint
        Differs if the table does.
    """

    entries: Callable[[], Iterator[PriorEntries]]
    fingerprint: str


@dataclass(frozen=True, eq=False)
class Prior:
    """What was learnt before: trained models, each with a weight, and perhaps a table of counts.

    Parameters
    ----------
    models
        Trained aligners, of the kind and with the options of the one that is to be trained.
    weights
        How often the counts of each model are added; 1 counts the earlier text as much as the new one.
    table
        Counts from elsewhere.
    """

    models: Sequence[Aligner] = ()
    weights: Sequence[float] = ()
    table: CountTable | None = None

    def __post_init__(self) -> None:
        if self.weights and len(self.weights) != len(self.models):
            raise UsageError(
                f"`weights` must be given once for each model, {len(self.models)} times. Got {len(self.weights)}."
            )
        if any(not 0 < weight < np.inf for weight in self.weights):
            raise UsageError(f"`weights` must be above 0. Got {min(self.weights)} instead.")

    @cached_property
    def fingerprint(self) -> str:
        """Differs if what was learnt does."""
        sums = [checksum(np.asarray(self._weights, dtype=np.float64))]
        for model in self.models:
            sums += [checksum(model.lexicon_.counts), checksum(model.lexicon_.targets)]
            sums += [checksum(side.vocabulary.buffer) for side in (model.source_, model.target_)]
        table = "" if self.table is None else f"-{self.table.fingerprint}"
        return f"{checksum(np.array(sums, dtype=np.uint64)):016x}{table}"

    @property
    def _weights(self) -> list[float]:
        return [float(weight) for weight in self.weights] or [1.0] * len(self.models)

    def check(self, aligner: Aligner) -> None:
        """Refuse models of which the aligner cannot take the counts."""
        for model in self.models:
            model.check_fitted()
            check_alike(aligner, model)
            if model.null_.counts is None:
                raise ModelError("the model was saved by a version of cepts that kept no counts; train it again.")

    def put(self, text: ShelvedText, aligner: Aligner) -> None:
        """Put what was learnt on the shelf of a text, unless it is there already."""
        shelf = text.shelf
        if shelf.has("prior"):
            return
        self.check(aligner)
        for number, (model, weight) in enumerate(zip(self.models, self._weights, strict=True)):
            _put_model(shelf, f"prior/{number}", model, weight)
        if self.table is not None:
            _put_table(text, f"prior/{len(self.models)}", aligner, self.table)
        # Written last: a prior is either whole or not there.
        shelf.flush("prior")
        shelf.commit("prior", {}, parts=len(self.models) + (self.table is not None), models=len(self.models))


def check_alike(first: Aligner, second: Aligner) -> None:
    """Refuse two models whose counts cannot be added."""
    if first.name != second.name:
        raise ModelError(
            f"one model is {first.name} and another one is {second.name}; only models of the same kind can be joined."
        )
    mine, other = options_of(first), options_of(second)
    for name in mine:
        if name not in FREE_OPTIONS and mine[name] != other[name]:
            raise ModelError(
                f"`{name}` is {mine[name]} in one model and {other[name]} in another one; only models that were "
                f"trained with the same options can be joined."
            )


# -- putting counts on a shelf -----------------------------------------------------------------------------------------


def _put_model(shelf: Shelf, name: str, model: Aligner, weight: float) -> None:
    lexicon = model.lexicon_
    counts = lexicon.observed()
    source = np.repeat(np.arange(len(model.source_), dtype=np.int32), np.diff(lexicon.rows))
    starts = range(0, len(source), CELLS_IN_PIECE)
    for number, start in enumerate(starts):
        part = slice(start, start + CELLS_IN_PIECE)
        cells = {"source": source[part], "target": lexicon.targets[part], "counts": counts[part]}
        shelf.put(piece_name(f"{name}/cells", number), cells)
    assert model.null_.counts is not None
    arrays = {
        **_words_arrays(model.source_, model.target_),
        **{f"{side}.free": array for side, array in zip(SIDES, model.null_.counts, strict=True)},
        **{f"positions.{part}": array for part, array in model.positions_.state().items()},
    }
    if isinstance(lexicon, BackOff):
        arrays |= {"strengths": lexicon.strengths, "estimates": np.array([lexicon.estimates])}
    for side, cohesion in zip(SIDES, model.cohesion(), strict=True):
        first = np.repeat(np.arange(len(cohesion.counts), dtype=np.int32), np.diff(cohesion.offsets))
        arrays |= {f"{side}.first": first, f"{side}.second": cohesion.followers, f"{side}.times": cohesion.times}
    shelf.put(name, arrays, weight=weight, pieces=len(starts))


def _put_table(text: ShelvedText, name: str, aligner: Aligner, table: CountTable) -> None:
    """Put those counts of a table on the shelf whose words occur in the text."""
    sides = [_TextWords(aligner.forms_.of, vocabulary) for vocabulary in text.vocabularies]
    jumps: list[dict[int, float]] = [{}, {}]
    fertilities: list[dict[tuple[int, int], float]] = [{}, {}]
    waiting = _Cells(text.shelf, name, 1 if aligner.agreement else 2)
    used = total = 0
    for part in table.entries():
        source, target = (side.numbers(words) for side, words in zip(sides, (part.source, part.target), strict=True))
        # Null explains a word, but not itself.
        kept = (source > _UNKNOWN) & (target > _UNKNOWN) & ~((source == _NULL) & (target == _NULL))
        waiting.add(source[kept], target[kept], part.counts[kept])
        used, total = used + int(kept.sum()), total + len(kept)
        for direction, jump, count in part.jumps:
            jumps[direction][jump] = jumps[direction].get(jump, 0.0) + count
        for direction, word, fertility, count in part.fertilities:
            number = sides[direction].number(word)
            if number >= 0:
                key = number, min(fertility, FERTILITIES - 1)
                fertilities[direction][key] = fertilities[direction].get(key, 0.0) + count
    pieces = waiting.end()
    known = [Side(side.vocabulary(), np.zeros(len(side), dtype=np.int64)) for side in sides]
    arrays = {
        **_words_arrays(*known),
        **{f"{side}.free": waiting.free(place, len(known[place])) for place, side in enumerate(SIDES)},
        **_jump_arrays(jumps),
    }
    for place, counted in enumerate(fertilities):
        # The last row is that of unknown words.
        arrays[f"positions.seen.{place}"] = found = np.zeros((len(known[place]) + 1, FERTILITIES))
        for cell, count in counted.items():
            found[cell] = count
    text.shelf.put(name, arrays, weight=1.0, pieces=pieces, used=used, total=total)


_NULL, _UNKNOWN = -1, -2


class _TextWords:
    """Numbers those words of a table that occur in a text, in the order in which the table has them."""

    def __init__(self, forms: Callable[[Sequence[str]], list[str]], vocabulary: Vocabulary) -> None:
        self.forms = forms
        self.wanted = set(forms(vocabulary.words))
        self.known: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.known)

    def number(self, word: str) -> int:
        return int(self.numbers([word])[0])

    def numbers(self, words: Sequence[str]) -> NDArray[np.int32]:
        names, places = distinct(words)
        found = [
            _NULL if name == NULL_WORD else self._number_of(form)
            for name, form in zip(names, self.forms(names), strict=True)
        ]
        return np.array(found, dtype=np.int32)[places] if len(places) else np.empty(0, dtype=np.int32)

    def _number_of(self, form: str) -> int:
        return self.known.setdefault(form, len(self.known)) if form in self.wanted else _UNKNOWN

    def vocabulary(self) -> Vocabulary:
        return Vocabulary.from_words(self.known)


class _Cells:
    """Collects cells, and puts them on a shelf whenever there are enough for a piece."""

    def __init__(self, shelf: Shelf, name: str, columns: int) -> None:
        self.shelf, self.name, self.columns = shelf, name, columns
        self.parts: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]] = []
        self.pieces = 0
        self._free: list[dict[int, float]] = [{}, {}]

    def add(self, source: NDArray[np.int32], target: NDArray[np.int32], counts: NDArray[np.float64]) -> None:
        linked = (source != _NULL) & (target != _NULL)
        for place, (own, other) in enumerate(((source, target), (target, source))):
            for word, count in zip(own[other == _NULL].tolist(), counts[other == _NULL].tolist(), strict=True):
                self._free[place][word] = self._free[place].get(word, 0.0) + count
        self.parts.append((source[linked], target[linked], counts[linked]))
        if sum(len(part[0]) for part in self.parts) >= CELLS_IN_PIECE:
            self._put()

    def _put(self) -> None:
        source, target, counts = (np.concatenate(arrays) for arrays in zip(*self.parts, strict=True))
        table = np.repeat(counts.astype(np.float32)[:, None], self.columns, axis=1)
        self.shelf.put(
            piece_name(f"{self.name}/cells", self.pieces), {"source": source, "target": target, "counts": table}
        )
        self.pieces, self.parts = self.pieces + 1, []

    def end(self) -> int:
        """Put what is left; returns the number of pieces."""
        if self.parts:
            self._put()
        return self.pieces

    def free(self, place: int, words: int) -> NDArray[np.float64]:
        """The counts of null, by word of a side."""
        found = np.zeros(words)
        for word, count in self._free[place].items():
            found[word] = count
        return found


def _jump_arrays(jumps: Sequence[Mapping[int, float]]) -> dict[str, NDArray]:
    """Counts of jumps by direction and distance, from -reach to reach."""
    if not any(jumps):
        return {}
    reach = max(abs(jump) for counted in jumps for jump in counted)
    found = np.zeros((2, 2 * reach + 1))
    for direction, counted in enumerate(jumps):
        for jump, count in counted.items():
            found[direction, reach + jump] = count
    return {"positions.jumped": found}


def _words_arrays(source: Side, target: Side) -> dict[str, NDArray]:
    arrays: dict[str, NDArray] = {}
    for name, side in zip(SIDES, (source, target), strict=True):
        arrays |= {f"{name}.buffer": side.vocabulary.buffer, f"{name}.offsets": side.vocabulary.offsets}
        arrays[f"{name}.frequencies"] = side.frequencies
    return arrays


# -- using what is on a shelf ------------------------------------------------------------------------------------------


class ShelvedPrior:
    """What was learnt before, on the shelf of a text."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        head = shelf.get("prior").settings
        self.parts: list[Piece] = [shelf.get(f"prior/{number}") for number in range(head["parts"])]
        self.models: int = head["models"]

    @property
    def trained(self) -> bool:
        """Whether there is a trained model to go on from, rather than only a table."""
        return self.models > 0

    @property
    def used(self) -> tuple[int, int] | None:
        """How many entries of the table have words of the text, and how many it has; None if there is no table."""
        if len(self.parts) == self.models:
            return None
        settings = self.parts[-1].settings
        return settings["used"], settings["total"]

    def _weighted(self, part: Piece, name: str) -> NDArray[np.int64]:
        """How often something occurred, times the weight; what occurred at all still did."""
        times = np.asarray(part[name], dtype=np.int64)
        weighted = np.rint(part.settings["weight"] * times).astype(np.int64)
        return np.where(times > 0, np.maximum(weighted, 1), 0)

    def words(self, name: str) -> set[str]:
        """The words of a side that trained models know."""
        found: set[str] = set()
        for part in self.parts[: self.models]:
            found.update(Vocabulary(part[f"{name}.buffer"], part[f"{name}.offsets"]).words)
        return found

    def extended(self, name: str, own: Side) -> tuple[Side, dict[str, NDArray[np.int32]]]:
        """The words of a side of the text and then the other words that are known, with how often they occur.

        Also the number of each known word of each part among these.
        """
        words = own.vocabulary.words
        numbers = {word: number for number, word in enumerate(words)}
        frequencies = [own.frequencies.astype(np.int64)]
        maps: dict[str, NDArray[np.int32]] = {}
        for number, part in enumerate(self.parts):
            known = Vocabulary(part[f"{name}.buffer"], part[f"{name}.offsets"]).words
            if number < self.models:
                found = [numbers.setdefault(word, len(numbers)) for word in known]
            else:
                found = [numbers.get(word, -1) for word in known]
            maps[f"prior.{number}.{name}"] = places = np.array(found, dtype=np.int32)
            kept = places >= 0
            times = self._weighted(part, f"{name}.frequencies")
            frequencies.append(np.bincount(places[kept], times[kept], len(numbers)).astype(np.int64))
        total = np.zeros(len(numbers), dtype=np.int64)
        for counted in frequencies:
            total[: len(counted)] += counted
        return Side(Vocabulary.from_words(numbers), total), maps

    def cut(self, words: Mapping[str, NDArray], ranks: NDArray[np.int32], bounds: NDArray[np.int64]) -> None:
        """Sort the cells of each piece into the ranges of the lexicon, and number them as the text does."""
        for number, part in enumerate(self.parts):
            source, target = (words[f"prior.{number}.{name}"] for name in SIDES)
            for place in range(part.settings["pieces"]):
                cells = self.shelf.get(piece_name(f"prior/{number}/cells", place))
                own = source[cells["source"]], target[cells["target"]]
                kept = np.flatnonzero((own[0] >= 0) & (own[1] >= 0))
                rows = ranks[own[0][kept]].astype(np.int64)
                order = np.argsort(rows, kind="stable")
                starts = np.searchsorted(rows[order], bounds)
                arrays = {
                    "rows": rows[order],
                    "targets": own[1][kept][order],
                    "counts": np.float32(part.settings["weight"]) * cells["counts"][kept][order],
                    "starts": starts,
                }
                self.shelf.put(piece_name(f"prior/{number}/ranges", place), arrays)

    def cells(
        self, number: int, bounds: NDArray[np.int64], columns: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
        """The cells of a range: where the rows of its words start, target words, and counts."""
        first, last = bounds[number : number + 2].tolist()
        rows, targets, counts = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty((0, columns), np.float32)]
        for place, part in enumerate(self.parts):
            for piece in range(part.settings["pieces"]):
                found = self.shelf.get(piece_name(f"prior/{place}/ranges", piece))
                start, stop = found["starts"][number : number + 2].tolist()
                rows.append(found.part("rows", start, stop) - first)
                targets.append(found.part("targets", start, stop))
                counts.append(found.part("counts", start, stop))
        keys = (np.concatenate(rows) << 32) | np.concatenate(targets)
        cells, places = np.unique(keys, return_inverse=True)
        summed = [np.bincount(places, column, len(cells)) for column in np.concatenate(counts).T]
        starts = offsets_of(np.bincount(cells >> 32, minlength=last - first))
        targets_of = (cells & 0xFFFFFFFF).astype(np.int32)
        return starts, targets_of, np.stack(summed, axis=1).astype(np.float32)

    def free(self, words: Mapping[str, NDArray], sizes: Sequence[int]) -> list[NDArray[np.float64]]:
        """The counts of null, for all source words and all target words."""
        found = [np.zeros(size) for size in sizes]
        for number, part in enumerate(self.parts):
            for total, name in zip(found, SIDES, strict=True):
                places, counts = words[f"prior.{number}.{name}"], part.settings["weight"] * part[f"{name}.free"]
                total += np.bincount(places[places >= 0], counts[places >= 0], len(total))
        return found

    def facts(self, facts: TextFacts) -> TextFacts:
        """The facts of all texts together, as far as position models need them."""
        states = [owned_positions(part) for part in self.parts[: self.models]]
        keys = [(facts.source_lengths << 32) | facts.target_lengths]
        keys += [(state["sizes"] << 32) | state["lengths"] for state in states if "sizes" in state]
        shapes = np.unique(np.concatenate(keys))
        reaches = [int(state[name][0]) for state in states for name in ("longest", "jumps.longest") if name in state]
        longest = max([facts.longest, *reaches])
        return replace(facts, longest=longest, source_lengths=shapes >> 32, target_lengths=shapes & 0xFFFFFFFF)

    def give(self, positions: Positions, words: Mapping[str, NDArray]) -> None:
        """Give a position model the statistics of the earlier texts."""
        for number, part in enumerate(self.parts):
            source, target = (words[f"prior.{number}.{name}"] for name in SIDES)
            state = owned_positions(part)
            positions.add_earlier(EarlierPositions(state, part.settings["weight"], source, target))

    def give_strengths(self, lexicon: Lexicon) -> None:
        """Let a lexicon that backs off begin with the strengths of the models: their geometric mean."""
        if isinstance(lexicon, BackOff) and self.trained:
            found = [part["strengths"] for part in self.parts[: self.models]]
            lexicon.strengths[:] = np.exp(np.mean(np.log(found), axis=0))
            lexicon.estimates = max(int(part["estimates"][0]) for part in self.parts[: self.models])

    def adjacent(self, words: Mapping[str, NDArray], place: int, size: int) -> list[AdjacentWords]:
        """The adjacent words of the earlier texts, on one side."""
        name, found = SIDES[place], []
        for number, part in enumerate(self.parts[: self.models]):
            places = words[f"prior.{number}.{name}"]
            counts = np.bincount(places, self._weighted(part, f"{name}.frequencies"), size).astype(np.int64)
            first, second = (places[part[f"{name}.{which}"]] for which in ("first", "second"))
            found.append(AdjacentWords(size, counts, first, second, self._weighted(part, f"{name}.times")))
        return found

    def classes(self, words: Mapping[str, NDArray], place: int, size: int) -> NDArray[np.int32] | None:
        """The classes of words that were known before, -1 for new ones; None if the models have no classes.

        The first model decides. A word that only a later one knows gets the class that most words of its class have.
        """
        found = np.full(size, -1, dtype=np.int32)
        for number, part in enumerate(self.parts[: self.models]):
            name = f"positions.{SIDES[place]}_classes"
            if name not in part:
                return None
            places, own = words[f"prior.{number}.{SIDES[place]}"], part[name]
            before = found[places]
            frequencies = part[f"{SIDES[place]}.frequencies"].astype(np.float64)
            best = class_shares(own, before, frequencies, int(own.max(initial=0)) + 1).argmax(axis=1)
            found[places] = np.where(before >= 0, before, best[own])
        return found if self.trained else None


def owned_positions(part: Mapping[str, NDArray]) -> dict[str, NDArray]:
    """The state of the position model of a part."""
    prefix = "positions."
    return {name.removeprefix(prefix): part[name] for name in part if name.startswith(prefix)}
