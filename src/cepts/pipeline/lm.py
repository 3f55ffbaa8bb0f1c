"""Adapted language models and texts: reading backgrounds, scoring documents, remembering them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cepts.data import END, KENLM_MAGIC, UNKNOWN, Documents
from cepts.errors import DataError, UsageError
from cepts.evaluate import Perplexities, perplexities
from cepts.io import read_arpa, read_documents
from cepts.io.files import InputFile, PathLike, bare_suffixes
from cepts.lm import AdaptedModel, FitOptions, KenLMModel, Memory, function_words
from cepts.lm.fit import Source, in_vocabulary
from cepts.lm.stop import marked_words
from cepts.progress import Progress, Step, silent

__all__ = [
    "default_hidden",
    "estimated_priors",
    "known_share",
    "memory_of",
    "model_facts",
    "read_background",
    "score_documents",
    "variants",
]

BLOCK_WORDS = 20_000  # scored at a time
CONTENT_PER_HIDDEN = 16  # content words for each hidden document, where nobody says how many there shall be
FEW_HIDDEN = 20  # that even a small text has, if it has four times as many content words
ARPA_START = b"\\data\\"
HEAD_BYTES = 1 << 12


def read_background(
    path: PathLike,
    *,
    format: str = "auto",
    lowercase: bool = False,
    errors: str = "strict",
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> Source:
    """What a background file holds: an ARPA model, a KenLM binary, or documents, by its first bytes and its name."""
    if path == "-":
        raise UsageError("a background cannot come from standard input; give its file.")
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
    return read_documents(path, format=format, lowercase=lowercase, errors=errors, notices=notices, progress=progress)


def known_share(documents: Documents, source: Source) -> float:
    """The share of the words of a text, as often as it uses them, that another text or an n-gram model has."""
    text = documents.text
    other = source.text.vocabulary if isinstance(source, Documents) else source.vocabulary
    return float((other.numbers(text.vocabulary.words) >= 0)[text.ids].mean())


def default_hidden(documents: Documents, options: FitOptions) -> int:
    """How many hidden documents a text can be asked for, where nobody says: at most as many as `options` have."""
    text = documents.text
    counts = np.bincount(text.ids, minlength=len(text.vocabulary))
    plain = function_words(text) if options.stop is None else marked_words(text.vocabulary, options.stop)
    content = int(((counts >= options.min_count) & ~plain).sum())
    most = max(content // CONTENT_PER_HIDDEN, min(content // 4, FEW_HIDDEN))
    if options.segmentation == "explicit":
        most = min(most, len(documents) // 2)
    # Where there is next to nothing, the fit itself says so best.
    return min(options.hidden, most) if most else options.hidden


def model_facts(model: AdaptedModel) -> dict[str, object]:
    """What a signature says of a model."""
    facts: dict[str, object] = {"ngrams": len(model.background)}
    for name in ("order", "vocabulary"):
        if name in model.facts:
            facts[name] = model.facts[name]
    if model.hidden is not None:
        facts["hidden"] = len(model.hidden)
        for name in ("segmentation", "window", "iterations", "seed"):
            if name in model.facts:
                facts[name] = model.facts[name]
        history = model.history
        facts["history"] = (
            f"last-{history.size}-steps-{history.steps}" if history.size else f"running-{history.decay:g}"
        )
    if model.caches:
        facts["caches"] = "+".join(map(str, model.caches))
    facts["mixture"] = model.mixture
    if model.exponent:
        facts["exponent"] = f"{model.exponent:g}"
    return facts


def variants(model: AdaptedModel) -> dict[str, NDArray[np.float64]]:
    """Weights of the components for the mix, for the n-gram with one other component, and for all but that one.

    What components that are left out would have goes to the n-gram; nothing is tuned.
    """
    weights = model.weights
    found = {"all": weights}
    for number, name in enumerate(model.components[1:], start=1):
        alone, without = np.zeros_like(weights), weights.copy()
        alone[number], alone[0] = weights[number], 1 - weights[number]
        without[number], without[0] = 0, weights[0] + weights[number]
        found[f"with {name}"] = alone
        found[f"without {name}"] = without
    return found


def score_documents(
    model: AdaptedModel,
    documents: Documents,
    *,
    reset: bool = False,
    count_ends: bool = True,
    memory: Memory | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Perplexities:
    """Perplexity of documents under the background, each of its models, the mix, and the mix with fewer components.

    Parameters
    ----------
    reset
        Forget everything at the end of each document; otherwise all that was read is remembered.
    memory
        What is remembered at the start; by default nothing.

    Returns
    -------
    Perplexities
        Of `background`, of `ngram 1` and so on where it has several models, and of the names of `variants`.
    """
    chosen = variants(model)
    names = [f"ngram {number + 1}" for number in range(len(model.background))] if len(model.background) > 1 else []
    columns: dict[str, list[NDArray[np.float64]]] = {name: [] for name in ("background", *names, *chosen)}
    ids: list[NDArray[np.int32]] = []
    start = memory or model.memory()
    now = start.copy()
    documents = in_vocabulary(documents, model.vocabulary)
    for first, last in _blocks(documents, alone=reset):
        if reset:
            now = start.copy()
        text = documents.text.part(int(documents.offsets[first]), int(documents.offsets[last]))
        scored = model.score(text, now, threads=threads)
        ids.append(scored.ids)
        columns["background"].append(scored.probs)
        for number, name in enumerate(names):
            columns[name].append(scored.members[:, number])
        for name, weights in chosen.items():
            columns[name].append(scored.mixed(weights, model.mixture))
        (progress or silent)(Step(stage="scoring", done=last, total=len(documents)))
    words = np.concatenate(ids)
    places = documents.word_offsets + documents.offsets  # each sentence has its end after it
    return perplexities(
        {name: np.concatenate(parts) for name, parts in columns.items()},
        words != UNKNOWN,
        words == END,
        places,
        documents.names,
        count_ends=count_ends,
        facts={"reset": "document" if reset else "never", **model_facts(model)},
    )


def _blocks(documents: Documents, *, alone: bool) -> Iterator[tuple[int, int]]:
    """Runs of documents, each by itself or of some `BLOCK_WORDS` words together."""
    bounds = documents.word_offsets
    first = 0
    while first < len(documents):
        last = first + 1
        if not alone:
            last = max(last, int(np.searchsorted(bounds, bounds[first] + BLOCK_WORDS, side="right")) - 1)
        yield first, last
        first = last


def memory_of(model: AdaptedModel, documents: Documents | None, *, threads: int | None = None) -> Memory:
    """Memory of documents, read one after the other; of nothing where there are none."""
    memory = model.memory()
    if documents is not None:
        documents = in_vocabulary(documents, model.vocabulary)
        for first, last in _blocks(documents, alone=False):
            text = documents.text.part(int(documents.offsets[first]), int(documents.offsets[last]))
            model.score(text, memory, threads=threads)
    return memory


def estimated_priors(model: AdaptedModel, documents: Documents) -> NDArray[np.float64]:
    """P(d) as the mean of P(d | h) over the histories of documents, read one after the other, eq. (18) of nmf_lm."""
    if model.hidden is None:
        raise ValueError("the model must have hidden documents. Got one without instead.")
    ids = in_vocabulary(documents, model.vocabulary).text.ids
    rows = model.rows[ids[model.content[ids]]]
    if not (rows >= 0).any():
        raise DataError("the text has no word that hidden documents have, so it says nothing of them; give another.")
    return model.hidden.estimated_priors(rows, model.history)
