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
from cepts.spaces.space import Preparation, Space
from cepts.store import load_model, save_model

KIND = "space"
OF_MODEL = "loadings", "noise", "mean"  # arrays of a factor model, in the order of its fields


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceRecord:
    """What a space was fitted with and on, in addition to the options that the user gave.

    Attributes
    ----------
    exponent, shrinkage
        The values that were used, whether given or chosen; None for methods that do not have them.
    factors
        Number of dimensions of the shared space.
    entries
        Number of distinct dictionary entries with words in at least two views.
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
    """The content of a model directory: the `options` of the method, and what `SpaceModel` learns."""

    space: Space
    options: dict[str, Any]
    record: SpaceRecord
    views: Sequence[Vectors] | None
    entries: NDArray[np.int64] | None


def write_space(directory: str | Path, saved: SavedSpace) -> None:
    """Write a space to `directory`, completely or not at all; vectors keep their type."""
    space = saved.space
    arrays: dict[str, NDArray[Any]] = {"objectives": np.array(space.objectives, dtype=np.float64)}
    if space.correlations is not None:
        arrays["correlations"] = space.correlations
    if saved.entries is not None:
        arrays["entries"] = saved.entries
    of_views: dict[str, Sequence[NDArray[Any]]] = {"centre": space.centres, "map": space.maps}
    for place in range(len(space.preparations[0].centres)):
        of_views[f"preparation.{place}"] = [preparation.centres[place] for preparation in space.preparations]
    if space.model is not None:
        of_views |= dict(zip(OF_MODEL, (space.model.loadings, space.model.noises, space.model.means), strict=True))
    if saved.views is not None:
        vocabularies = [view.vocabulary for view in saved.views]
        # A vocabulary may be the beginning of a longer buffer.
        of_views["words"] = [words.buffer[words.offsets[0] : words.offsets[-1]] for words in vocabularies]
        of_views["offsets"] = [words.offsets - words.offsets[0] for words in vocabularies]
        of_views["vectors"] = [view.matrix for view in saved.views]
    for number in range(len(space)):
        arrays |= {f"view.{number}.{name}": parts[number] for name, parts in of_views.items()}
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
            f"{directory} is not damaged, but it holds no space that this version of cepts understands ({error}); "
            f"fit it and save it again."
        ) from None


def _saved(settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> SavedSpace:
    languages = tuple(settings["languages"])

    def of_views(name: str) -> tuple[NDArray[Any], ...]:
        return tuple(arrays[f"view.{number}.{name}"] for number in range(len(languages)))

    space = Space(
        method=settings["method"],
        languages=languages,
        preparations=tuple(
            Preparation(
                tuple(steps), tuple(arrays[f"view.{view}.preparation.{n}"] for n in range(steps.count("centre")))
            )
            for view, steps in enumerate(settings["preparations"])
        ),
        centres=of_views("centre"),
        maps=of_views("map"),
        model=FactorModel(*map(of_views, OF_MODEL)) if settings["model"] else None,
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
        vocabularies = map(Vocabulary, of_views("words"), of_views("offsets"))
        views = list(map(Vectors, vocabularies, of_views("vectors"), languages, reading))
    return SavedSpace(space, options, record, views, arrays.get("entries"))
