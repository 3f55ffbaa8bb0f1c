"""Model directories of fitted spaces, with the words and vectors of their views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import VectorReading, Vectors, Vocabulary
from cepts.errors import ModelError
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.induce import Induction
from cepts.spaces.prepare import Preparation
from cepts.spaces.space import Space
from cepts.store import load_model, save_model

KIND = "space"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceRecord:
    """What a space was fitted with and on, beside the options that the user gave.

    Attributes
    ----------
    exponent, shrinkage
        As they were used, given or chosen; None for methods that have none.
    factors
        Number of dimensions of the shared space.
    entries
        Number of distinct dictionary entries with words in two views or more.
    asked
        Number of entries of the dictionaries.
    induced
        Number of entries that induction added.
    reading
        How the vectors of each view were read.
    """

    exponent: float | None
    shrinkage: float | None
    factors: int
    entries: int
    asked: int
    induced: int
    reading: tuple[VectorReading, ...]


class SavedSpace(NamedTuple):
    """What a model directory holds; `options` are those of the method, and the rest is as `SpaceModel` learns it."""

    space: Space
    options: dict[str, Any]
    record: SpaceRecord
    views: Sequence[Vectors] | None
    entries: NDArray[np.int64] | None


def write_space(directory: str | Path, saved: SavedSpace) -> None:
    """Write a space to `directory`, whole or not at all; vectors keep their type."""
    space = saved.space
    arrays: dict[str, NDArray[Any]] = {"objectives": np.array(space.objectives, dtype=np.float64)}
    if space.correlations is not None:
        arrays["correlations"] = space.correlations
    if saved.entries is not None:
        arrays["entries"] = saved.entries
    for number in range(len(space)):
        name = f"view.{number}"
        arrays[f"{name}.centre"] = space.centres[number]
        arrays[f"{name}.map"] = space.maps[number]
        for place, centre in enumerate(space.preparations[number].centres):
            arrays[f"{name}.preparation.{place}"] = centre
        if space.model is not None:
            arrays[f"{name}.loadings"] = space.model.loadings[number]
            arrays[f"{name}.noise"] = space.model.noises[number]
            arrays[f"{name}.mean"] = space.model.means[number]
        if saved.views is not None:
            vocabulary = saved.views[number].vocabulary
            # A vocabulary may be the head of a longer buffer.
            arrays[f"{name}.words"] = vocabulary.buffer[vocabulary.offsets[0] : vocabulary.offsets[-1]]
            arrays[f"{name}.offsets"] = vocabulary.offsets - vocabulary.offsets[0]
            arrays[f"{name}.vectors"] = saved.views[number].matrix
    induction = saved.options["induction"]
    settings = {
        "method": space.method,
        "options": {**saved.options, "induction": None if induction is None else asdict(induction)},
        "record": asdict(saved.record),
        "languages": list(space.languages),
        "preparations": [list(preparation.steps) for preparation in space.preparations],
        "model": space.model is not None,
        "vectors": saved.views is not None,
    }
    save_model(directory, kind=KIND, settings=settings, arrays=arrays)


def read_space(directory: str | Path) -> SavedSpace:
    """Read what `write_space` wrote to `directory`."""
    found = load_model(directory, kind=KIND)
    try:
        return _saved(found.settings, found.arrays)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"{directory} is whole but does not hold a space that this version of cepts understands ({error}); "
            f"fit it and save it again."
        ) from None


def _saved(settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> SavedSpace:
    languages = tuple(settings["languages"])
    names = [f"view.{number}" for number in range(len(languages))]
    model = None
    if settings["model"]:
        model = FactorModel(
            *(tuple(arrays[f"{name}.{part}"] for name in names) for part in ("loadings", "noise", "mean"))
        )
    space = Space(
        method=settings["method"],
        languages=languages,
        preparations=tuple(
            Preparation(
                tuple(steps),
                tuple(arrays[f"{name}.preparation.{place}"] for place in range(steps.count("centre"))),
            )
            for name, steps in zip(names, settings["preparations"], strict=True)
        ),
        centres=tuple(arrays[f"{name}.centre"] for name in names),
        maps=tuple(arrays[f"{name}.map"] for name in names),
        model=model,
        correlations=arrays.get("correlations"),
        objectives=tuple(arrays["objectives"].tolist()),
    )
    options = dict(settings["options"])
    options["prepare"] = tuple(options["prepare"])
    options["induction"] = None if options["induction"] is None else Induction(**options["induction"])
    reading = tuple(VectorReading(**how) for how in settings["record"]["reading"])
    record = SpaceRecord(**{**settings["record"], "reading": reading})
    views = None
    if settings["vectors"]:
        views = [
            Vectors(
                Vocabulary(arrays[f"{name}.words"], arrays[f"{name}.offsets"]), arrays[f"{name}.vectors"], language, how
            )
            for name, language, how in zip(names, languages, reading, strict=True)
        ]
    return SavedSpace(space, options, record, views, arrays.get("entries"))
