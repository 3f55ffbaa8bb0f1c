"""Keeping adapted models in model directories."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from cepts.data import NGrams, Vocabulary
from cepts.errors import DataError, ModelError, UsageError
from cepts.lm.adapted import AdaptedModel
from cepts.lm.background import Background
from cepts.lm.backoff import from_arrays, to_arrays
from cepts.lm.binary import KenLMModel
from cepts.lm.caches import Cache
from cepts.lm.hidden import HiddenDocuments, HistoryOptions
from cepts.store import load_model, save_model

__all__ = ["KIND", "load_adapted", "save_adapted"]

KIND = "lm"


def save_adapted(model: AdaptedModel, directory: str | Path) -> None:
    """Write an adapted model to `directory`, whole or not at all. Of a KenLM binary it keeps path and size."""
    arrays: dict[str, NDArray[Any]] = {
        "vocabulary.words": model.vocabulary.buffer,
        "vocabulary.offsets": model.vocabulary.offsets,
        "content": model.content,
        "weights": model.weights,
        "interpolation": model.background.weights,
    }
    binaries: list[dict[str, Any] | None] = []
    for number, ngrams in enumerate(model.background.models):
        if isinstance(ngrams, KenLMModel):
            path = Path(ngrams.path).resolve()
            binaries.append({"path": str(path), "bytes": path.stat().st_size})
            continue
        binaries.append(None)
        kept = to_arrays(ngrams)
        arrays |= {f"ngrams{number}.{name}": kept[name] for name in kept if not name.startswith("vocabulary")}
    if model.hidden is not None:
        arrays |= {f"hidden.{name}": getattr(model.hidden, name) for name in ("words", "priors", "numbers")}
    settings = {
        "history": asdict(model.history),
        "caches": [str(cache) for cache in model.caches],
        "mixture": model.mixture,
        "exponent": model.exponent,
        "hidden": model.hidden is not None,
        "binaries": binaries,
        "facts": model.facts,
    }
    save_model(directory, kind=KIND, settings=settings, arrays=arrays)


def load_adapted(directory: str | Path) -> AdaptedModel:
    """The adapted model of a directory."""
    saved = load_model(directory, kind=KIND)
    settings, arrays = saved.settings, saved.arrays
    try:
        shared = {name: arrays[name] for name in ("vocabulary.words", "vocabulary.offsets")}
        vocabulary = Vocabulary(*shared.values())
        models: list[NGrams | KenLMModel] = []
        for number, binary in enumerate(settings["binaries"]):
            if binary:
                models.append(_binary(directory, binary))
                continue
            start = f"ngrams{number}."
            own = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
            models.append(from_arrays({**own, **shared}))
        content = arrays["content"]
        hidden = None
        if settings["hidden"]:
            hidden = HiddenDocuments(arrays["hidden.words"], arrays["hidden.priors"], arrays["hidden.numbers"])
        return AdaptedModel(
            Background(models, vocabulary, content, arrays["interpolation"]),
            content,
            hidden,
            arrays["weights"],
            HistoryOptions(**settings["history"]),
            tuple(Cache.from_text(text) for text in settings["caches"]),
            settings["mixture"],
            settings["exponent"],
            settings["facts"],
        )
    except (KeyError, TypeError, ValueError, UsageError) as error:
        raise ModelError(f"{directory} is no model of this version of cepts ({error}); fit it again.") from error


def _binary(directory: str | Path, kept: dict[str, Any]) -> KenLMModel:
    path, size = Path(kept["path"]), kept["bytes"]
    try:
        model = KenLMModel(path)
    except (DataError, UsageError) as error:
        raise ModelError(f"{directory} needs a file that it does not hold: {error}") from error
    if path.stat().st_size != size:
        raise ModelError(
            f"{directory} was fitted with a {path} of {size:,} bytes; found {path.stat().st_size:,}. Fit it again."
        )
    return model
