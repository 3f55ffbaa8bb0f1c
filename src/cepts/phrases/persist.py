"""Keeping trained phrase aligners in model directories."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError, ModelError, UsageError
from cepts.phrases.aligner import PhraseAligner, TokenAligner
from cepts.phrases.columns import Block
from cepts.phrases.features import Layout
from cepts.phrases.inventory import Inventory
from cepts.phrases.lexical import TABLES, Lexical
from cepts.phrases.steps import STEP_WEIGHTS
from cepts.store import load_model, save_model

__all__ = ["KIND", "load_phrase_aligner", "save_phrase_aligner"]

KIND = "phrases"


def save_phrase_aligner(aligner: PhraseAligner, directory: str | Path) -> None:
    """Write a trained aligner to `directory`, whole or not at all.

    Tables that are not the language's own are kept with it.
    """
    aligner.check_fitted()
    arrays: dict[str, NDArray[Any]] = {"weights": aligner.weights_.astype(np.float32)}
    own = own_tables(aligner)
    for name in own:
        arrays[f"table.{name}"] = _packed(getattr(aligner.lexical, name))
    settings = {
        "model": aligner.name,
        "options": aligner.options(),
        "columns": list(aligner.columns_),
        "inventory": aligner.inventory_.columns(),
        "layout": [[list(block) for block in part] for part in aligner.layout_.parts],
        "tables": [name for name in TABLES if getattr(aligner.lexical, name) is not None],
        "own_tables": own,
    }
    save_model(directory, kind=KIND, settings=settings, arrays=arrays)


def own_tables(aligner: PhraseAligner) -> list[str]:
    """The names of the aligner's tables that do not come with the package."""
    shipped = Lexical()
    if aligner.language == "english":
        from cepts.phrases import english

        shipped = english.lexical()
    return [
        name
        for name in TABLES
        if getattr(aligner.lexical, name) is not None and getattr(aligner.lexical, name) is not getattr(shipped, name)
    ]


def load_phrase_aligner(directory: str | Path, *, threads: int | None = None) -> PhraseAligner:
    """The aligner of a directory, or, by the name `phrase` or `token`, an English one that comes with the package."""
    from cepts.phrases import english

    place = Path(directory)
    if str(directory) in english.MODELS and not place.exists():
        place = english.model_directory(str(directory))
    saved = load_model(place, kind=KIND)
    settings, arrays = saved.settings, saved.arrays
    try:
        kind = TokenAligner if settings["model"] == TokenAligner.name else PhraseAligner
        aligner = kind(**settings["options"], threads=threads)
        aligner.columns_ = tuple(settings["columns"])
        aligner.inventory_ = Inventory.from_columns(settings["inventory"])
        aligner.layout_ = Layout.of_parts([tuple(Block(*block) for block in part) for part in settings["layout"]])
        aligner.weights_ = arrays["weights"].astype(np.float64)
        wanted = 2, STEP_WEIGHTS + sum(aligner.layout_.sizes)
        if aligner.weights_.shape != wanted:
            raise ValueError(f"weights of shape {aligner.weights_.shape}, not {wanted}")
        tables = aligner.lexical
        found = {name: getattr(tables, name) for name in TABLES if name in settings["tables"]}
        for name in settings["own_tables"]:
            found[name] = _unpacked(name, arrays[f"table.{name}"])
        aligner.lexical = Lexical(**found)
    except (KeyError, TypeError, ValueError, AttributeError, DataError, UsageError) as error:
        raise ModelError(
            f"{directory} is whole but does not hold an aligner that this version of cepts understands ({error}); "
            f"train it again with --save."
        ) from None
    aligner.check_layout(str(directory))
    return aligner


def _packed(table: Any) -> NDArray[np.uint8]:
    """The bytes of a table's file."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "table"
        table.save(path)
        return np.frombuffer(path.read_bytes(), dtype=np.uint8)


def _unpacked(name: str, data: NDArray[np.uint8]) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "table"
        path.write_bytes(data.tobytes())
        return TABLES[name].load(path)
