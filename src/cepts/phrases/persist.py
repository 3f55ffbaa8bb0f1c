"""Trained phrase aligners in model directories."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError, ModelError, UsageError
from cepts.phrases.columns import FeatureBlock
from cepts.phrases.features import Layout
from cepts.phrases.inventory import Inventory
from cepts.phrases.languages import lexical_of
from cepts.phrases.lexical import TABLES, Lexical
from cepts.phrases.steps import STEP_WEIGHTS
from cepts.store import load_model, save_model

if TYPE_CHECKING:
    from cepts.phrases.aligner import PhraseAligner

KIND = "phrases"


def write_aligner(aligner: PhraseAligner, directory: str | Path) -> None:
    """Write a trained aligner to `directory`, whole or not at all; with it tables that are not the language's own."""
    aligner.check_fitted()
    lexical = aligner.lexical_
    own = own_tables(lexical, aligner.language)
    arrays: dict[str, NDArray[Any]] = {"weights": aligner.weights_.astype(np.float32)}
    for name in own:
        arrays |= {f"{name}.{part}": array for part, array in getattr(lexical, name).stored().items()}
    settings = {
        "model": aligner.name,
        "options": aligner.options(),
        "columns": list(aligner.columns_),
        "inventory": aligner.inventory_.columns(),
        "layout": [[list(block) for block in part] for part in aligner.layout_.parts],
        "tables": lexical.names_of_tables(),
        "own_tables": own,
    }
    save_model(directory, kind=KIND, settings=settings, arrays=arrays)


def own_tables(lexical: Lexical, language: str | None) -> list[str]:
    """The names of the tables that do not come with the package."""
    shipped = lexical_of(language)
    return [name for name in lexical.names_of_tables() if getattr(lexical, name) is not getattr(shipped, name)]


def read_aligner(
    place: Path, name: str, kinds: Mapping[str, type[PhraseAligner]], threads: int | None
) -> PhraseAligner:
    """The aligner that `write_aligner` wrote to `place`, of one of `kinds`; messages call the directory `name`."""
    saved = load_model(place, kind=KIND)
    settings, arrays = saved.settings, saved.arrays
    try:
        lexical = _tables(settings, arrays)
        aligner = kinds[settings["model"]](**settings["options"], lexical=lexical, threads=threads)
        aligner.columns_ = tuple(settings["columns"])
        aligner.inventory_ = Inventory.from_columns(settings["inventory"])
        parts = [tuple(FeatureBlock(*block) for block in part) for part in settings["layout"]]
        aligner.layout_ = Layout.of_parts(parts)
        aligner.weights_ = arrays["weights"].astype(np.float64)
        wanted = 2, STEP_WEIGHTS + sum(aligner.layout_.sizes)
        if aligner.weights_.shape != wanted:
            raise ValueError(f"weights of shape {aligner.weights_.shape}, not {wanted}")
    except (KeyError, TypeError, ValueError, AttributeError, DataError, UsageError) as error:
        raise ModelError(
            f"{name} is whole but does not hold an aligner that this version of cepts understands ({error}); "
            f"train it again."
        ) from None
    return aligner


def _tables(settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Lexical | None:
    """The tables of a saved aligner; None for those of its language."""
    shipped = lexical_of(settings["options"]["language"])
    if not settings["own_tables"] and settings["tables"] == shipped.names_of_tables():
        return None
    found = {name: getattr(shipped, name) for name in settings["tables"]}
    for name in settings["own_tables"]:
        prefix = f"{name}."
        parts = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
        found[name] = TABLES[name].restored(parts)
    return Lexical(**found)
