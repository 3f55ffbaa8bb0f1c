"""Keeping fitted spaces in model directories, with the words and vectors of their views."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepts.data import Vectors, Vocabulary
from cepts.errors import ModelError
from cepts.spaces.gaussian import FactorModel
from cepts.spaces.prepare import Preparation
from cepts.spaces.space import Space
from cepts.store import load_model, save_model

__all__ = ["KIND", "SavedSpace", "load_space", "save_space"]

KIND = "space"


class SavedSpace(NamedTuple):
    """What a directory holds of a space.

    Attributes
    ----------
    space
        The fitted space.
    views
        The vectors that it was fitted on; None where they were not kept.
    entries
        The dictionary entries that it was fitted on, as rows of the views (-1: no word); None where they were not kept.
    """

    space: Space
    views: tuple[Vectors, ...] | None
    entries: NDArray[np.int64] | None


def save_space(
    space: Space,
    directory: str | Path,
    *,
    views: Sequence[Vectors] | None = None,
    entries: NDArray[np.int64] | None = None,
) -> None:
    """Write a space to `directory`, whole or not at all.

    Parameters
    ----------
    views
        The vectors to keep beside it, in their own type, so that the space can be asked without any other file.
    entries
        The entries to keep: rows of the views.
    """
    if views is not None and len(views) != len(space):
        raise ValueError(f"there must be a view for each of {len(space)} languages. Got {len(views)} instead.")
    arrays: dict[str, NDArray[Any]] = {"objectives": np.array(space.objectives, dtype=np.float64)}
    if space.correlations is not None:
        arrays["correlations"] = space.correlations
    if entries is not None:
        arrays["entries"] = entries
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
        if views is not None:
            vocabulary = views[number].vocabulary
            # A vocabulary may be the head of a longer buffer.
            arrays[f"{name}.words"] = vocabulary.buffer[vocabulary.offsets[0] : vocabulary.offsets[-1]]
            arrays[f"{name}.offsets"] = vocabulary.offsets - vocabulary.offsets[0]
            arrays[f"{name}.vectors"] = views[number].matrix
    settings = {
        "method": space.method,
        "languages": list(space.languages),
        "preparations": [list(preparation.steps) for preparation in space.preparations],
        "model": space.model is not None,
        "vectors": views is not None,
        "settings": space.settings,
    }
    save_model(directory, kind=KIND, settings=settings, arrays=arrays)


def load_space(directory: str | Path) -> SavedSpace:
    """The space that `save_space` wrote to `directory`, and what was kept with it.

    Examples
    --------
    >>> space, views, entries = load_space("en-fr")  # doctest: +SKIP
    """
    saved = load_model(directory, kind=KIND)
    settings, arrays = saved.settings, saved.arrays
    try:
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
            settings=dict(settings["settings"]),
            correlations=arrays.get("correlations"),
            objectives=tuple(arrays["objectives"].tolist()),
        )
        views = None
        if settings["vectors"]:
            views = tuple(
                Vectors(
                    Vocabulary(arrays[f"{name}.words"], arrays[f"{name}.offsets"]), arrays[f"{name}.vectors"], language
                )
                for name, language in zip(names, languages, strict=True)
            )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"{directory} is whole but does not hold a space that this version of cepts understands ({error}); "
            f"fit it again with --save."
        ) from None
    return SavedSpace(space, views, arrays.get("entries"))
