"""Saving trained aligners in model directories, and loading them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cepts.data import Vocabulary
from cepts.errors import ModelError, UsageError
from cepts.names import WORD_MODELS
from cepts.store import load_model, save_model, settings_of
from cepts.words.cohesion import Cohesion
from cepts.words.index import kept_rows
from cepts.words.lexicon import Bayes, Side
from cepts.words.null import NullWords
from cepts.words.options import aligner_of, options_of
from cepts.words.training import owned_by

if TYPE_CHECKING:
    from cepts.words.aligner import Aligner

KIND = "words"
# The arrays of a side: its words, and those that follow each.
WORDS = ("words", "offsets", "frequencies")
FOLLOWERS = ("followers", "follower_offsets", "follower_times")


def save_aligner(aligner: Aligner, directory: str | Path, *, prune: float = 0.0) -> None:
    """Save a trained aligner in `directory`, without expected counts below `prune`.

    The counts are saved, from which `load_aligner` computes the same lexicon.
    """
    aligner.check_fitted()
    lexicon = aligner.lexicon_
    state = lexicon.state()
    if prune > 0.0:
        if isinstance(lexicon, Bayes):
            raise UsageError("`prune` does not go with `lexicon` bayes, whose prior gives all pairs of words a share.")
        # Totals are then counted again.
        del state["target_totals"]
        state["counts"] = np.where(state["counts"] < prune, np.float32(0.0), state["counts"])
    kept = lexicon.kept(state["counts"])
    arrays = {
        "lexicon.rows": kept_rows(lexicon.rows, kept),
        "lexicon.targets": lexicon.targets[kept],
        **{f"lexicon.{name}": array for name, array in {**state, "counts": state["counts"][kept]}.items()},
        "null.source": aligner.null_.source,
        "null.target": aligner.null_.target,
        **aligner.null_.evidence(),
        **{f"positions.{name}": array for name, array in aligner.positions_.state().items()},
    }
    for name, cohesion in zip(("source", "target"), aligner.cohesion(), strict=True):
        followers = cohesion.followers, cohesion.offsets, cohesion.times
        arrays |= {f"{name}.{part}": array for part, array in zip(FOLLOWERS, followers, strict=True)}
    for name, side in (("source", aligner.source_), ("target", aligner.target_)):
        words = side.vocabulary.buffer, side.vocabulary.offsets, side.frequencies
        arrays |= {f"{name}.{part}": array for part, array in zip(WORDS, words, strict=True)}
    settings = {
        "model": aligner.name,
        "options": options_of(aligner),
        "objectives": aligner.objectives_,
        "stages": [(stage, len(values)) for stage, values in aligner.stage_objectives_.items()],
    }
    save_model(directory, kind=KIND, settings=settings, arrays=arrays)


def untrained_like(directory: str | Path, *, threads: int | None = None, **changes: Any) -> Aligner:
    """An untrained aligner with the options of a saved one, except for some `changes`."""
    settings = settings_of(directory, kind=KIND)
    _check_known(directory, settings)
    try:
        return aligner_of(settings["model"], {**settings["options"], **changes}, threads)
    except (KeyError, TypeError) as error:
        raise _not_understood(directory, error) from None


def _check_known(directory: str | Path, settings: Mapping[str, Any]) -> None:
    if settings.get("model") not in WORD_MODELS:
        raise ModelError(
            f"{directory} holds a model of kind {settings.get('model')!r}, which this version of cepts does not know; "
            f"it knows {', '.join(WORD_MODELS)}."
        )


def _not_understood(directory: str | Path, error: Exception) -> ModelError:
    return ModelError(
        f"{directory} is complete, but this version of cepts does not understand the word aligner in it ({error}); "
        f"train it again."
    )


def load_aligner(directory: str | Path, *, threads: int | None = None) -> Aligner:
    """Load the aligner that `save_aligner` wrote to `directory`, to be used with this number of `threads`."""
    model = load_model(directory, kind=KIND)
    try:
        _check_known(directory, model.settings)
        aligner = aligner_of(model.settings["model"], model.settings["options"], threads)
        arrays = model.arrays
        known = []
        for name in ("source", "target"):
            buffer, offsets, frequencies = (arrays[f"{name}.{part}"] for part in WORDS)
            followers, starts, times = (arrays[f"{name}.{part}"] for part in FOLLOWERS)
            cohesion = Cohesion(frequencies, starts, followers, times)
            known.append((Side(Vocabulary(buffer, offsets), frequencies), cohesion))
        (aligner.source_, aligner.target_), cohesions = zip(*known, strict=True)
        aligner.restore_cohesion(*cohesions)
        aligner.lexicon_ = aligner.new_lexicon(
            arrays["lexicon.rows"], arrays["lexicon.targets"], aligner.source_, aligner.target_
        )
        aligner.lexicon_.restore(owned_by("lexicon", arrays))
        aligner.lexicon_.settle()
        aligner.null_ = NullWords(aligner.source_.frequencies, aligner.target_.frequencies)
        aligner.null_.source, aligner.null_.target = arrays["null.source"], arrays["null.target"]
        aligner.null_.remember(arrays)
        aligner.positions_ = aligner.new_positions()
        aligner.positions_.restore(owned_by("positions", arrays))
        objectives = iter(model.settings["objectives"])
        # Models that were saved by the first versions do not tell their stages.
        stages = model.settings.get("stages", [(aligner.name, len(model.settings["objectives"]))])
        aligner.stage_objectives_ = {stage: list(islice(objectives, count)) for stage, count in stages}
    except (KeyError, TypeError, ValueError) as error:
        raise _not_understood(directory, error) from None
    return aligner
