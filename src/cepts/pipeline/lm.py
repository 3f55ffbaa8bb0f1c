"""Language models from files to files: fitting, perplexity, export; and what signatures say about a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import END, UNKNOWN, Documents, NGrams
from cepts.evaluate import Perplexities, perplexities
from cepts.io import check_output, read_stop_list, write_arpa
from cepts.io.files import PathLike, check_stdin, name_of
from cepts.lm import ENGLISH_FUNCTION_WORDS, AdaptedModel, Memory, Scored
from cepts.pipeline.inputs import AS_FOUND, TextReading, read_background
from cepts.pipeline.notices import unknown_notice
from cepts.pipeline.piece_jobs import begun, check_begin, workplace_on
from cepts.pipeline.reports import Report, Table, counted
from cepts.progress import Progress, Stopwatch
from cepts.store import check_destination

STOP_LISTS: dict[PathLike, Sequence[str] | None] = {"auto": None, "none": (), "english": ENGLISH_FUNCTION_WORDS}
# Options of the factorisation that reports and signatures name: always, and only if they are not the usual ones.
FACTORISATION = ("segmentation", "window", "iterations", "seed")
VARIANTS = ("factorisation", "places", "borders", "start", "blocks", "long_steps", "priors")


# -- fitting -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FitFiles:
    """The files of a fit.

    Attributes
    ----------
    texts
        Files or directories of documents.
    save
        The directory for the model.
    dev, background
        Files of development text, and texts and n-gram models to interpolate with.
    stop
        A file with a list of function words, or a name of `STOP_LISTS`: ``auto`` finds them in the texts, ``none`` is
        an empty list, and ``english`` a list of 70 words. None leaves them as the model has them.
    lowercase
        Put all texts in lower case.
    reading
        How texts are read.
    """

    texts: Sequence[PathLike]
    save: PathLike
    dev: Sequence[PathLike] = ()
    background: Sequence[PathLike] = ()
    stop: PathLike | None = None
    lowercase: bool = False
    reading: TextReading = AS_FOUND


def fit_files(
    model: AdaptedModel,
    files: FitFiles,
    *,
    engine: str = "local",
    checkpoint: PathLike | None = None,
    begin: bool = False,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Fit a model to files and save it; its parameter `stop` is set to the words of the file `stop`.

    Parameters
    ----------
    model, files
        The model, and the files.
    engine
        Who counts n-grams and words: ``local``, ``dask`` or ``dask:ADDRESS``.
    checkpoint
        Directory that keeps the counts, so that the same call continues after an interruption.
    begin
        Only put the texts into the checkpoint, where others can count (see `cepts.pipeline.jobs.train`).
    notices, progress
        As for `AdaptedModel.fit`.
    """
    stopwatch = Stopwatch()
    check_destination(files.save)
    check_stdin(*files.texts, *files.background, *files.dev)
    if files.stop is not None:
        model.set_params(stop=STOP_LISTS[files.stop] if files.stop in STOP_LISTS else read_stop_list(files.stop))
    reading, lowercase = files.reading, files.lowercase
    documents = reading.read(files.texts, lowercase=lowercase, notices=notices, several_wanted=True, progress=progress)
    sources = [
        read_background(path, reading=reading, lowercase=lowercase, notices=notices, progress=progress)
        for path in files.background
    ]
    dev = reading.read(files.dev, lowercase=lowercase, progress=progress) if files.dev else None
    with workplace_on(checkpoint, "lm fit", engine, model.threads) as workplace:
        if begin:
            check_begin(workplace)
            model.begin(documents, dev=dev, background=sources, workplace=workplace)
            return begun(workplace, stopwatch)
        model.fit(documents, dev=dev, background=sources, notices=notices, progress=progress, workplace=workplace)
    model.save(files.save)
    return _fit_report(model, stopwatch)


def _entries(counts: Sequence[int]) -> str:
    """The numbers of n-grams of each order."""
    return " + ".join(f"{count:,}" for count in counts)


def _shown(perplexity: float | None) -> str:
    return "" if perplexity is None else f"{perplexity:,.1f}"


def _percent_less(value: float, before: float) -> str:
    """The change from `before` to `value` in %; empty if it is not defined."""
    change = 100 * (value / before - 1) if 0 < before < np.inf else np.nan
    return f"{change:+.1f}" if np.isfinite(change) else ""


def _fit_report(model: AdaptedModel, stopwatch: Stopwatch) -> Report:
    """A description of a fitted model, and how long fitting took."""
    predictor, record = model.predictor_, asdict(model.record_)
    background = predictor.background
    sizes = {name: record.pop(name) for name in ("words", "documents")}
    ngrams = [
        {
            "name": name,
            "order": part.order,
            "entries": np.diff(part.levels).tolist() if isinstance(part, NGrams) else None,
            "weight": float(weight),
        }
        for name, part, weight in zip(record.pop("ngrams"), background.models, background.weights, strict=True)
    ]
    hidden = predictor.hidden
    variants = {} if hidden is None else unusual(model)
    about: dict[str, Any] = {
        **sizes,
        "vocabulary": len(predictor.vocabulary),
        "content": int(predictor.content.sum()),
        **{name: getattr(model, name) for name in ("order", *FACTORISATION)},
        **variants,
        **record,
        "ngrams": ngrams,
        "hidden": 0 if hidden is None else len(hidden),
        "weights": dict(zip(predictor.components, predictor.weights.tolist(), strict=True)),
        "mixture": predictor.mixture,
        "exponent": predictor.exponent,
    }
    lines = [
        f"text     {counted(about['documents'], 'document')}, {counted(about['words'], 'word')}",
        f"words    {about['vocabulary']:,} known; {about['content']:,} content words",
    ]
    for part in about["ngrams"]:
        counts = "KenLM binary" if part["entries"] is None else _entries(part["entries"])
        weight = f"; weight {part['weight']:.3f}" if len(ngrams) > 1 else ""
        lines.append(f"n-grams  {part['name']}: {counts}{weight}")
    if hidden is not None:
        how = f", window {about['window']}" if about["segmentation"] == "implicit" else ""
        what = "singular vector" if model.factorisation == "svd" else "document"
        found = f"{counted(len(hidden), what)} of {counted(len(hidden.numbers), 'word')}"
        others = "".join(f", {name} {shown}" for name, shown in variants.items())
        lines.append(f"hidden   {found}; {about['segmentation']}{how}{others}")
    weights = ", ".join(f"{name} = {weight:.3f}" for name, weight in about["weights"].items())
    exponent = f"; exponent {about['exponent']:g}" if about["exponent"] else ""
    before, after = about["held_out_perplexity"]
    change = f"{_shown(before)} -> {_shown(after)} ({_percent_less(after, before)} %)"
    lines += [
        f"weights  {weights}{exponent}",
        f"set on   {about['held_out']}, {about['held_out_words']:,} words; perplexity {change}",
        f"fitted   in {stopwatch.seconds:,.1f} s",
    ]
    return Report(values={**about, "seconds": round(stopwatch.seconds, 1)}, said=lines)


def unusual(model: AdaptedModel) -> dict[str, str]:
    """The `VARIANTS` of the factorisation that are not the usual ones, in words."""
    usual = {name: parameter.default for name, parameter in model.parameters().items()}
    changed = {name: getattr(model, name) for name in VARIANTS if getattr(model, name) != usual[name]}
    return {name: "no" if value is False else str(value) for name, value in changed.items()}


def model_facts(model: AdaptedModel) -> dict[str, object]:
    """What a signature says about a model."""
    predictor = model.predictor_
    facts: dict[str, object] = {"ngrams": len(predictor.background), "order": model.order}
    facts["vocabulary"] = len(predictor.vocabulary)
    if predictor.hidden is not None:
        facts["hidden"] = len(predictor.hidden)
        facts |= {name: getattr(model, name) for name in FACTORISATION} | unusual(model)
        last, steps, decay = predictor.history.history, predictor.history.fold_in, predictor.history.decay
        how = "product" if predictor.history.posterior == "product" else f"steps-{steps}"
        facts["history"] = f"last-{last}-{how}" if last else f"running-{decay:g}"
    if predictor.caches:
        facts["caches"] = "+".join(map(str, predictor.caches))
    facts["mixture"] = predictor.mixture
    if predictor.exponent:
        facts["exponent"] = f"{predictor.exponent:g}"
    return facts


# -- perplexity --------------------------------------------------------------------------------------------------------


def variants(model: AdaptedModel) -> dict[str, NDArray[np.float64]]:
    """Weights for the whole mixture, for the n-gram with each other component, and for all but each component.

    The weight of components that are left out goes to the n-gram; nothing is tuned again.
    """
    weights = model.predictor_.weights
    found = {"all": weights}
    for number, name in enumerate(model.predictor_.components[1:], start=1):
        alone, without = np.zeros_like(weights), weights.copy()
        alone[number], alone[0] = weights[number], 1 - weights[number]
        without[number], without[0] = 0, weights[0] + weights[number]
        found[f"with {name}"] = alone
        found[f"without {name}"] = without
    return found


def document_perplexities(
    model: AdaptedModel,
    documents: Documents,
    *,
    reset: bool = False,
    count_ends: bool = True,
    memory: Memory | None = None,
    progress: Progress | None = None,
) -> Perplexities:
    """Perplexity of documents under the background, each of its models, the mixture, and its `variants`.

    Parameters
    ----------
    model, documents
        The fitted model, and the documents.
    reset, memory
        As for `AdaptedModel.score_documents`.
    count_ends
        Whether sentence ends count as words.

    Returns
    -------
    Perplexities
        Perplexities of `background`, of `ngram 1` and so on if it has several models, and of the names of `variants`.
    """
    chosen = variants(model)

    def probs_of(scored: Scored) -> dict[str, NDArray[np.float64]]:
        members = scored.members.T if scored.members.shape[1] > 1 else ()
        mixed = {name: scored.mixed(weights, model.predictor_.mixture) for name, weights in chosen.items()}
        return {"background": scored.probs, **{f"ngram {n}": probs for n, probs in enumerate(members, 1)}, **mixed}

    scores = model.score_documents(documents, memory=memory, reset=reset, progress=progress)
    parts = [(scored.ids, probs_of(scored)) for scored in scores]
    words = np.concatenate([ids for ids, _ in parts])
    return perplexities(
        {name: np.concatenate([probs[name] for _, probs in parts]) for name in parts[0][1]},
        words != UNKNOWN,
        words == END,
        documents.word_offsets + documents.offsets,  # each sentence is followed by its end
        documents.names,
        count_ends=count_ends,
        facts={"reset": "document" if reset else "never", **model_facts(model)},
    )


def report_perplexities(model: AdaptedModel, found: Perplexities, *, by_document: bool = False) -> Report:
    """The perplexities of a text by each part of a model; with `by_document`, also those of each document."""
    about, predictor, values = found.as_dict(), model.predictor_, found.values

    def row(title: str, name: str, weight: float | None = None) -> tuple[str, ...]:
        adapted = name == "all" or name.startswith("with ")
        change = _percent_less(values[name], values["background"]) if adapted else ""
        without = values.get(f"without {name.removeprefix('with ')}")
        return title, "" if weight is None else f"{weight:.3f}", _shown(values[name]), change, _shown(without)

    interpolation = predictor.background.weights.tolist()
    weights = dict(zip(predictor.components, predictor.weights.tolist(), strict=True))
    named = enumerate(zip(model.record_.ngrams, interpolation, strict=True), start=1)
    rows = [row(f"n-grams {name}", f"ngram {n}", weight) for n, (name, weight) in named if len(interpolation) > 1]
    rows.append(row("background", "background", predictor.weights[0]))
    rows += [row(f"+ {name}", f"with {name}", weights[name]) for name in predictor.components[1:]]
    sizes = ", ".join(counted(about[f"{name}s"], name) for name in ("document", "sentence", "word"))
    shown: list[str | Table] = [
        f"{sizes}; {about['unknown']:,} unknown ({about['unknown_rate']:.1%})",
        Table(("model", "weight", "perplexity", "change, %", "all without it"), [*rows, row("all", "all")]),
    ]
    about |= {"weights": weights, "interpolation": interpolation}
    if by_document:
        places = [found.models.index(name) for name in ("background", "all")]
        counts = zip(
            found.documents, *(part.tolist() for part in (found.sentences, found.words, found.unknown)), strict=True
        )
        documents = list(zip(counts, found.of_documents()[:, places].tolist(), strict=True))
        cells = [
            (name, f"{words:,}", f"{unknown:,}", _shown(before), _shown(after), _percent_less(after, before))
            for (name, _, words, unknown), (before, after) in documents
        ]
        shown += ["", Table(("document", "words", "unknown", "background", "all", "change, %"), cells)]
        names = ("document", "sentences", "words", "unknown", "background", "all")
        finite = [(*sizes, *(x if np.isfinite(x) else None for x in both)) for sizes, both in documents]
        about["by_document"] = [dict(zip(names, one, strict=True)) for one in finite]
    about["signature"] = found.signature
    return Report(values=about, shown=shown, signature=found.signature)


def perplexity_files(
    directory: PathLike,
    texts: Sequence[PathLike],
    *,
    reset: bool = False,
    count_ends: bool = True,
    by_document: bool = False,
    reading: TextReading = AS_FOUND,
    threads: int | None = None,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Perplexity of text files under a saved model; see `document_perplexities`."""
    model = AdaptedModel.load(directory, threads=threads)
    # One document is as good as several, unless the model forgets at the end of each.
    documents = reading.read(texts, notices=notices, several_wanted=reset, progress=progress)
    if notices is not None:
        name = name_of(texts[0]) if len(texts) == 1 else f"{len(texts)} texts"
        notice = unknown_notice(name, documents.text, model.knows)
        notices += [] if notice is None else [notice]
    found = document_perplexities(model, documents, reset=reset, count_ends=count_ends, progress=progress)
    return report_perplexities(model, found, by_document=by_document)


# -- export ------------------------------------------------------------------------------------------------------------


def export_files(
    directory: PathLike,
    texts: Sequence[PathLike],
    output: PathLike,
    *,
    reading: TextReading = AS_FOUND,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Adapt a saved model to text files and write it as an ARPA file."""
    check_output(output)
    model = AdaptedModel.load(directory, threads=threads)
    documents = reading.read(texts, progress=progress) if texts else None
    ngrams = model.static_ngrams(model.memory(documents))
    write_arpa(ngrams, output)
    read = "nothing" if documents is None else f"{len(documents.text.ids):,} words"
    return Report(said=[f"n-grams  {_entries(np.diff(ngrams.levels).tolist())}, after {read}"])
