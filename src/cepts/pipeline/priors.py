"""What was learnt from earlier texts: models to update and to merge, and files of priors in the format of eflomal."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Bitext, PriorEntries
from cepts.errors import DataError, ModelError, UsageError
from cepts.io import read_dictionary, read_priors, write_priors
from cepts.io.files import PathLike, name_of, unreadable
from cepts.names import DIRECTIONS
from cepts.store import check_destination
from cepts.words import Aligner, CountTable, Prior, load_aligner, merge_aligners
from cepts.words.fertility import Fertility
from cepts.words.forms import is_symbol
from cepts.words.jumps import Jumps
from cepts.words.prior import check_alike

# Lower counts are not written to a file of priors.
LEAST_COUNT = 0.005


# A dictionary gives this count, divided by the number of pairs, to each word, and its translations share it. Set on the
# trial pairs of the Hansards with texts of 300 to 5,000 pairs (benchmarks/encoders.py).
DICTIONARY_COUNT = 1.0


def prior_of(
    models: Sequence[str | Path] = (), weights: Sequence[float] = (), priors: PathLike | None = None
) -> Callable[[], Prior] | None:
    """A function that loads what was learnt before; None if there is nothing.

    Parameters
    ----------
    models
        Directories of trained models.
    weights
        How often the counts of each model are added; by default once.
    priors
        A file of priors; see `cepts.io.read_priors`.
    """
    if not models and priors is None:
        return None
    return partial(_prior_of, models, weights, priors)


def _prior_of(models: Sequence[str | Path], weights: Sequence[float], priors: PathLike | None) -> Prior:
    table = None if priors is None else CountTable(partial(read_priors, priors), _digest("priors", priors))
    return Prior([load_aligner(model) for model in models], weights, table)


def _digest(parameter: str, path: PathLike) -> str:
    if path == "-":
        raise UsageError(f"`{parameter}` is read twice, so it cannot be standard input; give the name of a file.")
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()[:32]
    except OSError as error:
        raise unreadable(name_of(path), error) from error


def with_table(prior: Prior | None, table: CountTable) -> Prior:
    """A prior that has the counts of one more table."""
    known = prior or Prior()
    if known.table is None:
        return replace(known, table=table)
    tables = known.table.entries, table.entries
    both = CountTable(
        lambda: chain.from_iterable(entries() for entries in tables), f"{known.table.fingerprint}-{table.fingerprint}"
    )
    return replace(known, table=both)


def with_dictionary(prior: Prior | None, dictionary: PathLike, pairs: int) -> Prior:
    """A prior that also has the entries of a dictionary, as counts of links.

    Parameters
    ----------
    prior
        What was learnt before; None if nothing was.
    dictionary
        A file of words and their translations; see `cepts.io.read_dictionary`.
    pairs
        Number of sentence pairs of the text. Counts fall with it, because a large text knows better.
    """
    count = DICTIONARY_COUNT / max(pairs, 1)
    table = CountTable(partial(_dictionary_entries, dictionary, count), _digest("dictionary", dictionary))
    return with_table(prior, table)


def _dictionary_entries(path: PathLike, count: float) -> Iterator[PriorEntries]:
    """The entries of a dictionary as counts of links: each word has the same count, which its translations share."""
    dictionary = read_dictionary(path)
    if len(dictionary.languages) != 2:
        raise DataError(
            f"{name_of(path)}: found {len(dictionary.languages)} columns, wanted two: source words and target words."
        )
    # An expression of several words is no entry of a lexicon.
    found = [entry for entry in dictionary if all(word is not None and len(word.split()) == 1 for word in entry)]
    source, target = ([str(entry[side]) for entry in found] for side in (0, 1))
    shared = Counter(source), Counter(target)
    counts = [count / sqrt(shared[0][one] * shared[1][other]) for one, other in zip(source, target, strict=True)]
    yield PriorEntries(source, target, np.array(counts))


def merge_models(
    models: Sequence[str | Path], save: str | Path, weights: Sequence[float] = (), *, threads: int | None = None
) -> Aligner:
    """Merge saved models of the same kind, and save the result.

    Parameters
    ----------
    models
        Directories of two or more trained models.
    save
        Directory for the result.
    weights
        How often the counts of each model are added; by default once.
    threads
        Number of threads; None uses one for each processor.
    """
    check_destination(save)
    loaded = [load_aligner(model, threads=threads) for model in models]
    for place, other in zip(models[1:], loaded[1:], strict=True):
        try:
            check_alike(loaded[0], other)
        except ModelError as error:
            raise ModelError(f"{models[0]} and {place}: {error}") from None
    merged = merge_aligners(loaded, weights, threads=threads)
    merged.save(save)
    return merged


# -- writing priors ----------------------------------------------------------------------------------------------------


def write_model_priors(model: str | Path, output: PathLike, *, least: float = 0.01) -> None:
    """Write the expected counts of a trained model as a file of priors.

    Links come from the lexicon, if their probability is at least `least` in one of the directions; jumps are those of
    the HMM, and fertilities those of Models 3 and 4. Other models have no jumps or fertilities. Symbols that rare words
    share are left out.
    """
    aligner = load_aligner(model)
    positions = aligner.positions_
    jumps = positions.jumps if isinstance(positions, Fertility) else positions
    found = dict(zip(DIRECTIONS, _jumps_of(jumps), strict=True)) if isinstance(jumps, Jumps) and jumps.seen else {}
    fertilities = {}
    if isinstance(positions, Fertility) and positions.seen:
        sides = aligner.source_, aligner.target_
        for direction, side, counts in zip(DIRECTIONS, sides, positions.seen, strict=False):
            fertilities[direction] = _fertilities_of(side.vocabulary.words, counts[:-1])
    write_priors(output, _links_of(aligner, least), found, fertilities)


def _fertilities_of(words: Sequence[str], counts: NDArray[np.float64]) -> list[tuple[str, int, float]]:
    cells = np.argwhere(counts >= LEAST_COUNT).tolist()
    return [(words[word], size, float(counts[word, size])) for word, size in cells if not is_symbol(words[word])]


def _links_of(aligner: Aligner, least: float) -> Iterator[tuple[str, str, float]]:
    lexicon = aligner.lexicon_
    counts = lexicon.observed().mean(axis=1)
    shown = np.flatnonzero((counts >= LEAST_COUNT) & (lexicon.table.max(axis=1) >= least))
    source = np.searchsorted(lexicon.rows, shown, side="right") - 1
    words, others = aligner.source_.vocabulary.words, aligner.target_.vocabulary.words
    columns = source.tolist(), lexicon.targets[shown].tolist(), counts[shown].tolist()
    for word, other, count in zip(*columns, strict=True):
        if not is_symbol(words[word]) and not is_symbol(others[other]):
            yield words[word], others[other], count


def _jumps_of(jumps: Jumps) -> list[dict[int, float]]:
    """Expected jumps of both directions; the first link of a sentence jumps from the place before its first word."""
    jumped, _, started, _ = jumps.seen
    reach = (jumped.shape[1] - 1) // 2
    found = []
    for of_jumps, of_starts in zip(jumped, started, strict=True):
        counts = of_jumps.copy()
        length = min(len(of_starts), reach)
        counts[reach + 1 : reach + 1 + length] += of_starts[:length]
        found.append({int(place) - reach: float(counts[place]) for place in np.flatnonzero(counts >= LEAST_COUNT)})
    return found


def write_link_priors(bitext: Bitext, links: Alignments, output: PathLike) -> None:
    """Write the counts of links, jumps and fertilities in a text with links as a file of priors.

    These are the counts of `eflomal-makepriors` if it is given the same links for both directions.
    """
    source, target = bitext.source, bitext.target
    pair = np.repeat(np.arange(len(bitext)), np.diff(links.offsets))
    tokens = source.offsets[pair] + links.source, target.offsets[pair] + links.target
    words = source.ids[tokens[0]].astype(np.int64), target.ids[tokens[1]].astype(np.int64)
    keys, times = np.unique((words[0] << 32) | words[1], return_counts=True)
    names = source.vocabulary.words, target.vocabulary.words
    pairs = sorted(
        (names[0][key >> 32], names[1][key & 0xFFFFFFFF], float(count))
        for key, count in zip(keys.tolist(), times.tolist(), strict=True)
    )
    jumps, fertilities = {}, {}
    order = np.lexsort((links.source, links.target, pair))
    for direction, own, (mine, others), lengths, place in (
        ("forward", order, (links.source, links.target), source.lengths, 0),
        ("reverse", np.arange(len(pair)), (links.target, links.source), target.lengths, 1),
    ):
        jumps[direction] = _link_jumps(pair[own], mine[own], others[own], lengths)
        fertilities[direction] = _link_fertilities(tokens[place], (source, target)[place].ids, names[place])
    write_priors(output, pairs, jumps, fertilities)


def _link_jumps(
    pair: NDArray[np.int64], mine: NDArray[np.int32], others: NDArray[np.int32], lengths: NDArray[np.integer]
) -> dict[int, float]:
    """How far the links of each word are from those of the linked word before, in links sorted by these words.

    The first jump of a sentence is from the place before it, the last one to the place after it.
    """
    first = np.ones(len(pair), dtype=np.bool_)
    first[1:] = (pair[1:] != pair[:-1]) | (others[1:] != others[:-1])
    opening = np.ones(len(pair), dtype=np.bool_)
    opening[1:] = pair[1:] != pair[:-1]
    before = np.where(opening, -1, np.append(-1, mine[:-1])) if len(pair) else mine
    last = np.full(len(lengths), -1, dtype=np.int64)
    last[pair] = mine  # The last link of each pair stays.
    jumps, counts = np.unique(np.concatenate([(mine - before)[first], lengths - last]), return_counts=True)
    return {int(jump): float(count) for jump, count in zip(jumps, counts, strict=True)}


def _link_fertilities(
    linked: NDArray[np.int64], ids: NDArray[np.int32], words: Sequence[str]
) -> list[tuple[str, int, float]]:
    """How often each word has so many links, where it has any."""
    tokens, fertilities = np.unique(linked, return_counts=True)
    keys, counts = np.unique((ids[tokens].astype(np.int64) << 32) | fertilities, return_counts=True)
    return sorted(
        (words[key >> 32], key & 0xFFFFFFFF, float(count))
        for key, count in zip(keys.tolist(), counts.tolist(), strict=True)
    )
