"""Trained phrase aligners in model directories."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

KIND = "phrases"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrainedAligner:
    """What a model directory holds.

    Attributes
    ----------
    name
        The class of the aligner: its `name`.
    options
        Parameters of the aligner, as JSON holds them, without tables and threads.
    columns, inventory, layout, weights
        What `fit` learnt.
    lexical
        The tables; None for those of the language.
    """

    name: str
    options: dict[str, Any]
    columns: tuple[str, ...]
    inventory: Inventory
    layout: Layout
    weights: NDArray[np.float64]
    lexical: Lexical | None


def write_aligner(directory: str | Path, trained: TrainedAligner) -> None:
    """Write a trained aligner to `directory`, whole or not at all.

    Tables that are not the language's own are kept with it.
    """
    language = trained.options["language"]
    lexical = lexical_of(language) if trained.lexical is None else trained.lexical
    own = own_tables(lexical, language)
    arrays: dict[str, NDArray[Any]] = {"weights": trained.weights.astype(np.float32)}
    for name in own:
        arrays |= {f"{name}.{part}": array for part, array in getattr(lexical, name).stored().items()}
    settings = {
        "model": trained.name,
        "options": trained.options,
        "columns": list(trained.columns),
        "inventory": trained.inventory.columns(),
        "layout": [[list(block) for block in part] for part in trained.layout.parts],
        "tables": lexical.names_of_tables(),
        "own_tables": own,
    }
    save_model(directory, kind=KIND, settings=settings, arrays=arrays)


def own_tables(lexical: Lexical, language: str | None) -> list[str]:
    """The names of the tables that do not come with the package."""
    shipped = lexical_of(language)
    return [name for name in lexical.names_of_tables() if getattr(lexical, name) is not getattr(shipped, name)]


def read_aligner(directory: str | Path) -> TrainedAligner:
    """What `write_aligner` wrote."""
    saved = load_model(directory, kind=KIND)
    settings, arrays = saved.settings, saved.arrays
    layout = Layout.of_parts([tuple(FeatureBlock(*block) for block in part) for part in settings["layout"]])
    weights = arrays["weights"].astype(np.float64)
    wanted = 2, STEP_WEIGHTS + sum(layout.sizes)
    if weights.shape != wanted:
        raise ValueError(f"weights of shape {weights.shape}, not {wanted}")
    shipped = lexical_of(settings["options"]["language"])
    lexical = None
    if settings["own_tables"] or settings["tables"] != shipped.names_of_tables():
        found = {name: getattr(shipped, name) for name in settings["tables"]}
        for name in settings["own_tables"]:
            prefix = f"{name}."
            parts = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
            found[name] = TABLES[name].restored(parts)
        lexical = Lexical(**found)
    return TrainedAligner(
        name=settings["model"],
        options=settings["options"],
        columns=tuple(settings["columns"]),
        inventory=Inventory.from_columns(settings["inventory"]),
        layout=layout,
        weights=weights,
        lexical=lexical,
    )


@contextmanager
def refusing_other_versions(directory: str | Path) -> Iterator[None]:
    """Turn what goes wrong with an intact directory into one message."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, DataError, UsageError) as error:
        raise ModelError(
            f"{directory} is whole but does not hold an aligner that this version of cepts understands ({error}); "
            f"train it again."
        ) from None
