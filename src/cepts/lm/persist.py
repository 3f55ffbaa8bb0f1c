"""Adapted models in model directories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from cepts.data import NGrams, Vocabulary
from cepts.errors import DataError, ModelError, UsageError
from cepts.lm.background import Background
from cepts.lm.backoff import ARRAYS
from cepts.lm.binary import KenLMModel
from cepts.lm.caches import Cache
from cepts.lm.hidden import HiddenDocuments, HistoryOptions
from cepts.lm.predictor import Predictor

ADAPTED_KIND = "lm"


def predictor_parts(predictor: Predictor) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The settings of a predictor as JSON values, and its arrays by name. Of a KenLM binary it keeps path and size."""
    arrays: dict[str, NDArray[Any]] = {
        "vocabulary.words": predictor.vocabulary.buffer,
        "vocabulary.offsets": predictor.vocabulary.offsets,
        "content": predictor.content,
        "weights": predictor.weights,
        "interpolation": predictor.background.weights,
    }
    binaries: list[dict[str, Any] | None] = []
    for number, ngrams in enumerate(predictor.background.models):
        if isinstance(ngrams, KenLMModel):
            path = Path(ngrams.path).resolve()
            binaries.append({"path": str(path), "bytes": path.stat().st_size})
        else:
            binaries.append(None)
            arrays |= {f"ngrams{number}.{name}": getattr(ngrams, name) for name in ARRAYS}
    if predictor.hidden is not None:
        arrays |= {f"hidden.{name}": getattr(predictor.hidden, name) for name in ("words", "priors", "numbers")}
    settings = {
        "history": asdict(predictor.history),
        "caches": [str(cache) for cache in predictor.caches],
        "mixture": predictor.mixture,
        "exponent": predictor.exponent,
        "hidden": predictor.hidden is not None,
        "binaries": binaries,
    }
    return settings, arrays


def predictor_from(directory: str | PathLike[str], settings: Mapping[str, Any], arrays: Mapping[str, Any]) -> Predictor:
    """The predictor of these settings and arrays; messages name the directory."""
    vocabulary = Vocabulary(arrays["vocabulary.words"], arrays["vocabulary.offsets"])
    models: list[NGrams | KenLMModel] = []
    for number, binary in enumerate(settings["binaries"]):
        if binary:
            models.append(_binary(directory, binary))
        else:
            models.append(NGrams(vocabulary, *(arrays[f"ngrams{number}.{name}"] for name in ARRAYS)))
    content = arrays["content"]
    hidden = None
    if settings["hidden"]:
        hidden = HiddenDocuments(arrays["hidden.words"], arrays["hidden.priors"], arrays["hidden.numbers"])
    return Predictor(
        Background(models, vocabulary, content, arrays["interpolation"]),
        content,
        hidden,
        arrays["weights"],
        HistoryOptions(**settings["history"]),
        tuple(Cache.from_text(text) for text in settings["caches"]),
        settings["mixture"],
        settings["exponent"],
    )


def _binary(directory: str | PathLike[str], kept: dict[str, Any]) -> KenLMModel:
    path, size = Path(kept["path"]), kept["bytes"]
    try:
        model = KenLMModel(path)
    except (DataError, UsageError) as error:
        raise ModelError(f"{directory} needs a file that it does not contain: {error}") from error
    if path.stat().st_size != size:
        raise ModelError(
            f"{directory} was fitted with a {path} of {size:,} bytes; found {path.stat().st_size:,}. Fit it again."
        )
    return model
