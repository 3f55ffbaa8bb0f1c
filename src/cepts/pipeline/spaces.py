"""Spaces from files to files: fitting, translations, senses, samples and aligned vectors."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from cepts.data import Dictionary
from cepts.errors import DataError, UsageError
from cepts.io import check_output, open_output, read_vectors, write_dictionary, write_vectors
from cepts.io.files import name_of
from cepts.io.languages import language_names
from cepts.io.lines import read_lines
from cepts.pipeline.inputs import SavedSpace, read_dictionaries
from cepts.pipeline.piece_jobs import begun, check_begin, workplace_on
from cepts.pipeline.reports import Report, Table
from cepts.progress import Progress, Stopwatch
from cepts.spaces import Neighbours, SpaceModel, identical_strings
from cepts.spaces.mixture import COMPONENTS
from cepts.spaces.model import SOURCES
from cepts.spaces.senses import LEAST_NEARNESS
from cepts.store import check_destination

SHOWN = 10  # maximum number of unknown words that a message names
FEW_ENTRIES = 4  # fewer entries for each dimension than this give correlations that are far too high


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceFiles:
    """The files that a space is fitted on, and how they are read.

    Attributes
    ----------
    vectors
        A vector file for each language.
    dictionaries
        Files of translations; ``en-fr:FILE`` names the languages of the columns.
    identical
        Whether words that are spelt the same in several languages are also used as entries.
    languages
        Names of the languages, separated by commas; None takes them from the names of the files.
    lowercase, max_vocabulary, vector_format
        As in `cepts.io.read_vectors`.
    """

    vectors: tuple[str, ...]
    dictionaries: tuple[str, ...] = ()
    identical: bool = False
    languages: str | None = None
    lowercase: bool = False
    max_vocabulary: int | None = None
    vector_format: str | None = None

    def __post_init__(self) -> None:
        paths = self.vectors
        if len(paths) < 2:
            raise UsageError(f"found {len(paths)} vector file, wanted two or more, one for each language.")
        places = [path if path == "-" else os.path.realpath(path) for path in paths]
        twice = next((path for path, place in zip(paths, places, strict=True) if places.count(place) > 1), None)
        if twice is not None:
            raise UsageError(f"{twice} is given twice; give the vectors of another language.")
        language_names(paths, self.languages)
        if not self.dictionaries and not self.identical:
            raise UsageError(
                "found no translations to fit the space on; give a dictionary (`dictionaries`), or use words that are "
                "spelt the same (`identical`)."
            )


def fit_space_files(
    files: SpaceFiles,
    model: SpaceModel,
    *,
    save: str | Path | None = None,
    keep_vectors: bool = True,
    engine: str = "local",
    checkpoint: str | Path | None = None,
    begin: bool = False,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Read the files, fit `model` and save it.

    Parameters
    ----------
    save
        The directory for the model, which is checked before anything is read; None does not save it.
    keep_vectors
        Whether the vectors and the dictionary entries are saved with it.
    engine
        Who gathers means and covariances, if there is a checkpoint: ``local``, ``dask`` or ``dask:ADDRESS``.
    checkpoint
        Directory that keeps them, so that the same call continues after an interruption.
    begin
        Only put the entries into the checkpoint, where others can gather them (see `cepts.pipeline.jobs.train`).
    notices
        A list to which notes for the user are appended.
    """
    stopwatch = Stopwatch()
    if save is not None:
        check_destination(save)
    names = language_names(files.vectors, files.languages)
    model.check_languages(names)
    dictionaries = read_dictionaries(files.dictionaries, names, notices, beside=files.vectors)
    read = partial(
        read_vectors,
        format=files.vector_format,
        max_vocabulary=files.max_vocabulary,
        lowercase=files.lowercase,
        notices=notices,
        progress=progress,
    )
    views = [read(path, name=name) for path, name in zip(files.vectors, names, strict=True)]
    if files.identical:
        dictionaries.append(identical_strings(views))
    with workplace_on(checkpoint, "spaces fit", engine, model.threads) as workplace:
        if begin:
            check_begin(workplace)
            model.begin(views, dictionaries, notices=notices, progress=progress, workplace=workplace)
            return begun(workplace, stopwatch)
        model.fit(views, dictionaries, notices=notices, progress=progress, workplace=workplace)
    if save is not None:
        model.save(save, vectors=keep_vectors)
    return Report(said=_described(model, stopwatch.seconds))


def _described(model: SpaceModel, seconds: float) -> list[str]:
    space, report = model.space_, model.report_
    assert report is not None
    entries, views = report.entries, [model.vectors(language) for language in space.languages]
    known = f"found {entries.asked - entries.unknown:,} of {entries.asked:,} ({entries.coverage:.1%})"
    complete = f"; {entries.complete:,} in all languages" if len(views) > 2 else ""
    lines = [
        "vectors  " + ", ".join(f"{view.name} {len(view):,} words of width {view.width}" for view in views),
        f"entries  {len(entries):,} distinct; {known}{complete}",
    ]
    if report.choice.tried:
        chosen = f"exponent {report.choice.exponent:g}, shrinkage {report.choice.shrinkage:g}"
        lines.append(f"chosen   {chosen} on held-out entries")
    induced = report.induction
    if induced.held_out:
        ranks = ", ".join(f"{100 * rank:.1f}" for rank in induced.held_out)
        lines.append(f"held out MRR in % without induction and after each round: {ranks}")
    for number, found in enumerate(induced.rounds, start=1):
        sure = f", {found.sure:.0%} of them expected to be right" if found.sure < 1 else ""
        lines.append(f"round {number:<2} {found.entries:,} entries found{sure}")
    if induced.held_out and not induced.rounds:
        lines.append("induced  nothing, because it does not help to translate held-out words")
    used = len(entries) + (induced.rounds[-1].entries if induced.rounds else 0)
    width = max(view.width for view in views)
    if space.correlations is not None and not report.choice.shrinkage and used < FEW_ENTRIES * width:
        lines.append(
            f"note     {used:,} entries are few for vectors of width {width} without --shrinkage, so words are "
            "translated poorly"
        )
    steps = f" after {len(space.objectives):,} iterations" if space.objectives else ""
    unit = "factors" if space.correlations is not None else "dimensions"
    return [*lines, f"fitted   {space.method}, {space.width:,} {unit}{steps}, in {seconds:,.1f} s"]


# -- saved spaces ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class WordLookup:
    """How words are translated; the fields are parameters of `cepts.spaces.SpaceModel.neighbours`."""

    source: str | int | None = None
    target: str | int | None = None
    measure: str = "csls"
    count: int = 5
    sources: int | None = SOURCES


@dataclass(frozen=True, slots=True, kw_only=True)
class SenseLookup:
    """How senses are found; the fields are parameters of `cepts.spaces.SpaceModel.senses`, `dictionaries` are files."""

    source: str | None = None
    target: str | None = None
    most: int = 4
    count: int = 5
    least: float = LEAST_NEARNESS
    components: int | None = COMPONENTS
    dictionaries: Sequence[str] = ()
    seed: int = 0


def translate_words(
    space: SavedSpace,
    lookup: WordLookup,
    words: Sequence[str] = (),
    *,
    path: str | None = None,
    output: str = "-",
    format: str | None = None,
) -> Report:
    """Translate `words`, or those of the file `path`, which has one per line.

    With a `format`, the translations are written to the file `output`, one line for each word: ``tsv``, with tabs
    between translations and scores, or ``jsonl``. Without a `format`, they are in the report, and at least one word
    must have a vector.
    """
    check_output(output)
    model = space.open()
    asked = list(words) if path is None else _read_words(path)
    source, target, said = _looked_up(model, lookup, asked, some=format is None)
    found = model.translate(asked, **{**asdict(lookup), "source": source, "target": target}, progress=space.progress)
    answered = list(zip(asked, found, strict=True))
    values = [
        {"word": word, "translations": [{"word": other, "score": round(score, 6)} for other, score in translations]}
        for word, translations in answered
    ]
    if format is None:
        rows = [
            (word if not place else "", other, score if isinstance(score, str) else f"{score:.3f}")
            for word, translations in answered
            for place, (other, score) in enumerate(translations or [("", "")])
            if word
        ]
        return Report(values=values, shown=[Table((source, target, lookup.measure), rows, left=2)], said=said)
    with open_output(output) as file:
        for (word, translations), value in zip(answered, values, strict=True):
            if format == "tsv":
                line = "\t".join([word, *(part for other, score in translations for part in (other, f"{score:.4f}"))])
            else:
                line = json.dumps(value, ensure_ascii=False)
            file.write(line.encode("utf-8", "surrogateescape") + b"\n")
    return Report(said=said)


def translate_all(space: SavedSpace, lookup: WordLookup, output: str, *, mutual: bool = False) -> Report:
    """Write a dictionary with the best translation of every word.

    With `mutual`, it has only words that are each other's best translation.
    """
    check_output(output)
    model = space.open()
    direction = model.space_.direction(lookup.source, lookup.target)
    source, target = (model.vectors(view) for view in direction)
    search: Callable[..., Neighbours] = model.mutual_neighbours if mutual else partial(model.neighbours, count=1)
    found = search(source=direction[0], target=direction[1], measure=lookup.measure, progress=space.progress)
    listed = zip(source.words, found.listed(target.words), strict=True)
    entries = [(word, *answer) for word, answers in listed for answer in answers]
    if not entries:
        raise DataError(f"{space.directory}: no word of {source.name} has a translation, so there is no dictionary.")
    pairs, scores = tuple((word, other) for word, other, _ in entries), [score for *_, score in entries]
    write_dictionary(output, Dictionary((source.name, target.name), pairs), scores=scores)
    return Report(said=[f"entries  {len(entries):,} of {len(source):,} words"])


def senses_of_words(space: SavedSpace, words: Sequence[str], lookup: SenseLookup) -> Report:
    """The senses of words."""
    model = space.open()
    source, target, said = _looked_up(model, lookup, words, some=True)
    dictionaries = read_dictionaries(lookup.dictionaries, model.space_.languages, space.notices)
    how = {**asdict(lookup), "source": source, "target": target, "dictionaries": dictionaries}
    found = list(zip(words, model.senses(words, **how, progress=space.progress), strict=True))
    values = [
        {
            "word": word,
            "senses": [
                {**sense._asdict(), "weight": round(sense.weight, 4), "nearness": round(sense.nearness, 4)}
                for sense in senses
            ],
        }
        for word, senses in found
    ]
    rows = [
        (word if not n else "", f"{sense.weight:.2f}", " ".join(sense.translations), " ".join(sense.neighbours))
        for word, senses in found
        for n, sense in enumerate(senses)
    ]
    return Report(
        values=values, shown=[Table((source, "weight", target, "neighbours"), rows, left=4, fit="wrap")], said=said
    )


def sample_space(space: SavedSpace, *, count: int = 28, draws: int = 2000, noise: float = 1.0, seed: int = 0) -> Report:
    """Random words with about the same meaning; see `SpaceModel.sample`."""
    model = space.open()
    samples = model.sample(count, draws=draws, noise=noise, seed=seed, progress=space.progress)
    first, *others = model.space_.languages
    columns = [first, *others, *(f"{other} -> {first}" for other in others), "log p"]
    rows = [[*sample.words, *sample.back, f"{sample.log_density:.1f}"] for sample in samples]
    return Report(
        values=[{"languages": [first, *others], **asdict(sample)} for sample in samples],
        shown=[Table(columns, rows, left=len(columns) - 1)],
    )


def export_vectors(
    space: SavedSpace, language: str, output: str, *, format: str | None = None, max_vocabulary: int | None = None
) -> Report:
    """Write the vectors of a language in the shared space."""
    check_output(output)
    placed = space.open().aligned(language, max_vocabulary=max_vocabulary)
    write_vectors(output, placed, format=format)
    return Report(said=[f"vectors  {len(placed):,} words of {language}, width {placed.width}"])


def _looked_up(
    model: SpaceModel, lookup: WordLookup | SenseLookup, words: Sequence[str], *, some: bool
) -> tuple[str, str, list[str]]:
    """The two languages, and a line about words without a vector; with `some`, at least one word must have one."""
    first, second = (model.vectors(view) for view in model.space_.direction(lookup.source, lookup.target))
    rows = first.vocabulary.find(words)
    unknown = list(dict.fromkeys(word for word, row in zip(words, rows, strict=True) if row < 0 and word))
    listed = ", ".join(unknown[:SHOWN]) + (f" and {len(unknown) - SHOWN:,} more" if len(unknown) > SHOWN else "")
    if some and (rows < 0).all():
        raise DataError(
            f"{first.name} has no vector for {listed or 'the empty word'} among its {len(first):,} words; check the "
            f"spelling, or name the language of the words."
        )
    return first.name, second.name, [f"cepts: {first.name} has no vector for {listed}."] if listed else []


def _read_words(path: str) -> list[str]:
    words = [line.strip(" \t") for line in read_lines(path)]
    if not any(words):
        raise DataError(f"{name_of(path)}: found no word, wanted one per line.")
    return words
