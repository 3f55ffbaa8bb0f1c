"""What saved spaces are used for: translations, senses, samples, links and aligned vectors, from files to files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from cepts.data import Dictionary, Vectors
from cepts.errors import DataError, UsageError
from cepts.io import (
    check_output,
    open_output,
    read_vectors,
    write_dictionary,
    write_vectors,
)
from cepts.io.languages import split_named
from cepts.io.lines import read_lines
from cepts.pipeline.space_fitting import read_named_dictionaries
from cepts.progress import Progress
from cepts.spaces import (
    Neighbours,
    Sample,
    SpaceModel,
    WordSense,
    WordTranslation,
)
from cepts.spaces.mixture import COMPONENTS
from cepts.spaces.model import SOURCES
from cepts.spaces.senses import LEAST_NEARNESS

Answer = TypeVar("Answer", WordTranslation, WordSense)

SHOWN = 10  # largest number of unknown words that a message names


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSpaceFiles:
    """A model directory, and how it is opened.

    Attributes
    ----------
    directory
        What `SpaceModel.save` wrote.
    vectors
        Files of vectors as ``LANGUAGE:FILE``, for a space that was saved without.
    threads
        Threads to use; None is one for each processor.
    notices
        Gets a line for each thing that is no error but that a user should know.
    progress
        Told of each step.
    """

    directory: str
    vectors: tuple[str, ...] = ()
    threads: int | None = None
    notices: list[str] = field(default_factory=list)
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WordLookup:
    """How words are translated: between which languages, and as `cepts.spaces.SpaceModel.neighbours` does it."""

    source: str | None = None
    target: str | None = None
    measure: str = "csls"
    count: int = 5
    sources: int | None = SOURCES


@dataclass(frozen=True, slots=True, kw_only=True)
class WordAnswers(Generic[Answer]):
    """Words with their translations or senses, and those of them that have no vector, in words for a message."""

    languages: tuple[str, str]
    words: list[str]
    answers: list[list[Answer]]
    unknown: str


def open_space(files: SavedSpaceFiles) -> SpaceModel:
    """Load a space; files of vectors are read as those that it was fitted on."""
    model = SpaceModel.load(files.directory, threads=files.threads)
    names = model.space_.languages
    for value in files.vectors:
        languages, path = split_named("vectors", value, names)
        if len(languages) != 1:
            raise UsageError(f"`vectors` {value}: wanted LANGUAGE:FILE, such as {names[0]}:{path}.")
        reading = model.record_.reading[model.space_.view(languages[0])]
        model.attach(
            read_vectors(
                path,
                name=languages[0],
                lowercase=reading.lowercase,
                max_vocabulary=reading.max_vocabulary,
                notices=files.notices,
                progress=files.progress,
            )
        )
    return model


def translate_queries(
    files: SavedSpaceFiles,
    lookup: WordLookup,
    words: Sequence[str] = (),
    *,
    path: str | None = None,
    some: bool = False,
) -> WordAnswers[WordTranslation]:
    """Translate `words`, or those of the file `path`, one a line.

    With `some`, at least one of them must have a vector.
    """
    model = open_space(files)
    asked = list(words) if path is None else _read_words(path)
    source, target, unknown = _looked_up(model, lookup.source, lookup.target, asked, some=some)
    found = model.translate(
        asked,
        source=source,
        target=target,
        measure=lookup.measure,
        count=lookup.count,
        sources=lookup.sources,
        progress=files.progress,
    )
    return WordAnswers(languages=(source, target), words=asked, answers=found, unknown=unknown)


def write_translations(path: str, found: WordAnswers[WordTranslation], *, format: str) -> None:
    """Write a line for each word: as ``tsv`` with tabs between translations and scores, or as ``json``."""
    with open_output(path) as file:
        for word, translations in zip(found.words, found.answers, strict=True):
            if format == "tsv":
                line = "\t".join([word, *(part for other, score in translations for part in (other, f"{score:.4f}"))])
            else:
                pairs = [{"word": other, "score": round(score, 6)} for other, score in translations]
                line = json.dumps({"word": word, "translations": pairs}, ensure_ascii=False)
            file.write(line.encode("utf-8", "surrogateescape") + b"\n")


def translate_all(files: SavedSpaceFiles, lookup: WordLookup, output: str, *, mutual: bool = False) -> tuple[int, int]:
    """Write a dictionary with the best translation of every word; the number of entries, and of words.

    With `mutual`, only of words that are each other's best translation.
    """
    check_output(output)
    model = open_space(files)
    direction = model.space_.direction(lookup.source, lookup.target)
    source, target = (model.vectors(view) for view in direction)
    search: Callable[..., Neighbours] = model.mutual_neighbours if mutual else partial(model.neighbours, count=1)
    found = search(source=direction[0], target=direction[1], measure=lookup.measure, progress=files.progress)
    entries, scores = [], []
    for word, answers in zip(source.words, found.listed(target.words), strict=True):
        for other, score in answers:
            entries.append((word, other))
            scores.append(score)
    if not entries:
        raise DataError(f"{files.directory}: no word of {source.name} has a translation, so there is no dictionary.")
    write_dictionary(output, Dictionary((source.name, target.name), tuple(entries)), scores=scores)
    return len(entries), len(source)


def senses_of_words(
    files: SavedSpaceFiles,
    words: Sequence[str],
    *,
    source: str | None = None,
    target: str | None = None,
    most: int = 4,
    count: int = 5,
    least: float = LEAST_NEARNESS,
    components: int | None = COMPONENTS,
    dictionaries: Sequence[str] = (),
    seed: int = 0,
) -> WordAnswers[WordSense]:
    """The senses of words; `dictionaries` are files, for the rest see `SpaceModel.senses`."""
    model = open_space(files)
    if model.space_.model is None:
        raise UsageError(f"{files.directory} was fitted by {model.method}, which has no factors; use ibfa or mbfa.")
    asked = list(words)
    first, second, unknown = _looked_up(model, source, target, asked, some=True)
    found = model.senses(
        asked,
        source=first,
        target=second,
        most=most,
        count=count,
        least=least,
        components=components,
        dictionaries=read_named_dictionaries(dictionaries, model.space_.languages, files.notices),
        seed=seed,
        progress=files.progress,
    )
    return WordAnswers(languages=(first, second), words=asked, answers=found, unknown=unknown)


def sample_space(
    files: SavedSpaceFiles, *, count: int = 28, draws: int = 2000, noise: float = 1.0, seed: int = 0
) -> tuple[tuple[str, ...], list[Sample]]:
    """The languages of a space, and random words with about the same meaning; see `SpaceModel.sample`."""
    model = open_space(files)
    samples = model.sample(count, draws=draws, noise=noise, seed=seed, progress=files.progress)
    return model.space_.languages, samples


def export_vectors(
    files: SavedSpaceFiles,
    language: str,
    output: str,
    *,
    format: str | None = None,
    max_vocabulary: int | None = None,
) -> Vectors:
    """Write the vectors of a language in the shared space, and return them."""
    check_output(output)
    placed = open_space(files).aligned(language, max_vocabulary=max_vocabulary)
    write_vectors(output, placed, format=format)
    return placed


def _looked_up(
    model: SpaceModel, source: str | None, target: str | None, words: Sequence[str], *, some: bool
) -> tuple[str, str, str]:
    """The two languages, and the words that have no vector; with `some`, one of them must have a vector."""
    first, second = (model.vectors(view) for view in model.space_.direction(source, target))
    rows = first.vocabulary.find(words)
    unknown = list(dict.fromkeys(word for word, row in zip(words, rows, strict=True) if row < 0 and word))
    listed = ", ".join(unknown[:SHOWN]) + (f" and {len(unknown) - SHOWN:,} more" if len(unknown) > SHOWN else "")
    if some and (rows < 0).all():
        raise DataError(
            f"{first.name} has no vector for {listed or 'the empty word'} among its {len(first):,} words; check the "
            f"spelling, or name the language of the words."
        )
    return first.name, second.name, listed


def _read_words(path: str) -> list[str]:
    words = [line.strip(" \t") for line in read_lines(path)]
    if not any(words):
        raise DataError(f"{'standard input' if path == '-' else path}: found no word, wanted one a line.")
    return words
