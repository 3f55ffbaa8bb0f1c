"""Language models from files to files: fitting, perplexity, export; and what signatures say of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import END, KENLM_MAGIC, UNKNOWN, Documents, NGrams
from cepts.errors import DataError, UsageError
from cepts.evaluate import Perplexities, perplexities
from cepts.io import check_output, read_arpa, read_documents, read_stop_list, write_arpa
from cepts.io.files import InputFile, PathLike, bare_suffixes
from cepts.lm import AdaptedModel, BackgroundSource, KenLMModel, Memory, Scored
from cepts.progress import Progress
from cepts.store import check_destination

ARPA_START = b"\\data\\"
HEAD_BYTES = 1 << 12
FACTORISATION = ("segmentation", "window", "iterations", "seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReading:
    """How texts are read: the parameters of `read_documents` that do not depend on the model."""

    format: str = "auto"
    errors: str = "strict"

    def read(
        self,
        paths: Sequence[PathLike],
        *,
        lowercase: bool = False,
        notices: list[str] | None = None,
        several_wanted: bool = False,
        progress: Progress | None = None,
    ) -> Documents:
        """Read documents; that there is only one is noted where `several_wanted`."""
        own: list[str] = []
        found = read_documents(
            paths, format=self.format, lowercase=lowercase, errors=self.errors, notices=own, progress=progress
        )
        if notices is not None:
            notices += own if several_wanted or len(found) > 1 else own[:-1]
        return found


AS_FOUND = TextReading()


def read_background(
    path: PathLike,
    *,
    reading: TextReading = AS_FOUND,
    lowercase: bool = False,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> BackgroundSource:
    """Read a background: an ARPA model, a KenLM binary, or documents, as its first bytes and its name tell."""
    if path == "-":
        raise UsageError("a background cannot come from standard input; name its file.")
    if not Path(path).is_dir():
        with InputFile(path) as file:
            head = file.read_fully(HEAD_BYTES)
            plain = file.plain
        if head.startswith(KENLM_MAGIC) or b"\0" in head:
            if not plain:
                raise DataError(f"{path}: found a compressed binary, wanted a plain one; decompress it first.")
            return KenLMModel(str(path))
        if head.lstrip().startswith(ARPA_START) or bare_suffixes(path)[-1:] == [".arpa"]:
            return read_arpa(path, notices=notices, progress=progress)
    return reading.read([path], lowercase=lowercase, notices=notices, several_wanted=True, progress=progress)


def check_inputs(paths: Sequence[PathLike | None]) -> None:
    """Refuse standard input for more than one of some files."""
    if paths.count("-") > 1:
        raise UsageError("only one of the files can come from standard input; name the others.")


# -- fitting -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FitFiles:
    """The files of a fit.

    Attributes
    ----------
    texts
        Files or directories of documents.
    save
        The model directory that is written.
    dev, background
        Files of development text; texts and n-gram models to interpolate with.
    stop
        A list of function words; ``auto`` finds them in the texts, ``none`` is an empty list.
    lowercase
        Put all texts in lower case.
    reading
        How texts are read.
    """

    texts: Sequence[PathLike]
    save: PathLike
    dev: Sequence[PathLike] = ()
    background: Sequence[PathLike] = ()
    stop: PathLike = "auto"
    lowercase: bool = False
    reading: TextReading = AS_FOUND


def fit_files(
    model: AdaptedModel, files: FitFiles, *, notices: list[str] | None = None, progress: Progress | None = None
) -> AdaptedModel:
    """Fit a model to files and save it. Its parameter `stop` becomes the words of the file `stop`."""
    check_destination(files.save)
    check_inputs([*files.texts, *files.background, *files.dev])
    if files.stop != "auto":
        model.set_params(stop=[] if files.stop == "none" else read_stop_list(files.stop))
    reading, lowercase = files.reading, files.lowercase
    documents = reading.read(files.texts, lowercase=lowercase, notices=notices, several_wanted=True, progress=progress)
    sources = [
        read_background(path, reading=reading, lowercase=lowercase, notices=notices, progress=progress)
        for path in files.background
    ]
    dev = reading.read(files.dev, lowercase=lowercase, progress=progress) if files.dev else None
    model.fit(documents, dev=dev, background=sources, notices=notices, progress=progress)
    model.save(files.save)
    return model


def entry_counts(ngrams: NGrams) -> list[int]:
    """How many n-grams of each order there are."""
    return np.diff(ngrams.levels).tolist()


def describe_model(model: AdaptedModel) -> dict[str, Any]:
    """What a fitted model is, as JSON values."""
    model.check_fitted()
    predictor, record = model.predictor_, asdict(model.record_)
    background = predictor.background
    sizes = {name: record.pop(name) for name in ("words", "documents")}
    ngrams = [
        {
            "name": name,
            "order": part.order,
            "entries": entry_counts(part) if isinstance(part, NGrams) else None,
            "weight": float(weight),
        }
        for name, part, weight in zip(record.pop("ngrams"), background.models, background.weights, strict=True)
    ]
    return {
        **sizes,
        "vocabulary": len(predictor.vocabulary),
        "content": int(predictor.content.sum()),
        **{name: getattr(model, name) for name in ("order", *FACTORISATION)},
        **record,
        "ngrams": ngrams,
        "hidden": 0 if predictor.hidden is None else len(predictor.hidden),
        "weights": dict(zip(predictor.components, predictor.weights.tolist(), strict=True)),
        "mixture": predictor.mixture,
        "exponent": predictor.exponent,
    }


def model_facts(model: AdaptedModel) -> dict[str, object]:
    """What a signature says of a model."""
    predictor = model.predictor_
    facts: dict[str, object] = {"ngrams": len(predictor.background), "order": model.order}
    facts["vocabulary"] = len(predictor.vocabulary)
    if predictor.hidden is not None:
        facts["hidden"] = len(predictor.hidden)
        facts |= {name: getattr(model, name) for name in FACTORISATION}
        last, steps, decay = predictor.history.history, predictor.history.fold_in, predictor.history.decay
        facts["history"] = f"last-{last}-steps-{steps}" if last else f"running-{decay:g}"
    if predictor.caches:
        facts["caches"] = "+".join(map(str, predictor.caches))
    facts["mixture"] = predictor.mixture
    if predictor.exponent:
        facts["exponent"] = f"{predictor.exponent:g}"
    return facts


# -- perplexity --------------------------------------------------------------------------------------------------------


def variants(model: AdaptedModel) -> dict[str, NDArray[np.float64]]:
    """Weights of the components for the whole mixture, for the n-gram with one other component, and for all but that.

    The weight of components that are left out goes to the n-gram; nothing is tuned.
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
    """Perplexity of documents under the background, each of its models, the mixture, and the `variants` of that.

    Parameters
    ----------
    reset, memory
        As for `AdaptedModel.score_documents`.
    count_ends
        Whether sentence ends count as words.

    Returns
    -------
    Perplexities
        Of `background`, of `ngram 1` and so on where it has several models, and of the names of `variants`.
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
        documents.word_offsets + documents.offsets,  # each sentence has its end after it
        documents.names,
        count_ends=count_ends,
        facts={"reset": "document" if reset else "never", **model_facts(model)},
    )


class PerplexityReport(NamedTuple):
    """The perplexities of a text, and the model that gave them."""

    model: AdaptedModel
    found: Perplexities

    def document_rows(self) -> list[dict[str, Any]]:
        """Size and perplexity of each document, by the background and by all."""
        found, values = self.found, self.found.of_documents()
        places = {name: found.models.index(name) for name in ("background", "all")}
        return [
            {
                "document": name,
                "sentences": int(found.sentences[number]),
                "words": int(found.words[number]),
                "unknown": int(found.unknown[number]),
                **{model: float(values[number, place]) for model, place in places.items()},
            }
            for number, name in enumerate(found.documents)
        ]

    def as_dict(self, *, by_document: bool = False) -> dict[str, Any]:
        """Everything as JSON values; None for an infinite perplexity."""
        predictor = self.model.predictor_
        whole = self.found.as_dict()
        whole["weights"] = dict(zip(predictor.components, predictor.weights.tolist(), strict=True))
        whole["interpolation"] = predictor.background.weights.tolist()
        if by_document:
            whole["by_document"] = [
                {
                    name: None if isinstance(cell, float) and not np.isfinite(cell) else cell
                    for name, cell in row.items()
                }
                for row in self.document_rows()
            ]
        return {**whole, "signature": self.found.signature}


def perplexity_files(
    directory: PathLike,
    texts: Sequence[PathLike],
    *,
    reset: bool = False,
    count_ends: bool = True,
    reading: TextReading = AS_FOUND,
    threads: int | None = None,
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> PerplexityReport:
    """Perplexity of text files under the model of a directory; see `document_perplexities`."""
    model = AdaptedModel.load(directory, threads=threads)
    # One document is as good as several, unless the model forgets at their ends.
    documents = reading.read(texts, notices=notices, several_wanted=reset, progress=progress)
    return PerplexityReport(
        model, document_perplexities(model, documents, reset=reset, count_ends=count_ends, progress=progress)
    )


# -- export ------------------------------------------------------------------------------------------------------------


def export_files(
    directory: PathLike,
    texts: Sequence[PathLike],
    output: PathLike,
    *,
    reading: TextReading = AS_FOUND,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[NGrams, int | None]:
    """Adapt the model of a directory to text files and write it as an ARPA file.

    Returns the static model, and how many words were read; None for no text.
    """
    check_output(output)
    model = AdaptedModel.load(directory, threads=threads)
    documents = reading.read(texts, progress=progress) if texts else None
    ngrams = model.static_ngrams(model.memory(documents))
    write_arpa(ngrams, output)
    return ngrams, None if documents is None else len(documents.text.ids)
