"""Keeping trained aligners in model directories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cepts.data import Vocabulary, offsets_of
from cepts.errors import ModelError
from cepts.names import WORD_MODELS, resolve
from cepts.store import load_model, save_model
from cepts.words.cohesion import Cohesion
from cepts.words.forms import Forms
from cepts.words.lexicon import Side
from cepts.words.null import NullWords
from cepts.words.training import owned_by

if TYPE_CHECKING:
    from cepts.words.aligner import Aligner

KIND = "words"


def save_aligner(aligner: Aligner, directory: str | Path) -> None:
    """Write a trained aligner to `directory`: its counts, from which loading computes the same lexicon."""
    aligner.check_fitted()
    lexicon = aligner.lexicon_
    kept = lexicon.kept()
    rows = offsets_of(np.add.reduceat(np.append(kept, False), lexicon.rows[:-1]) * (np.diff(lexicon.rows) > 0))
    arrays = {
        "lexicon.rows": rows,
        "lexicon.targets": lexicon.targets[kept],
        **{f"lexicon.{name}": array for name, array in {**lexicon.state(), "counts": lexicon.counts[kept]}.items()},
        "null.source": aligner.null_.source,
        "null.target": aligner.null_.target,
        **{f"positions.{name}": array for name, array in aligner.positions_.state().items()},
    }
    for name, cohesion in zip(("source", "target"), aligner.cohesion(), strict=True):
        arrays[f"{name}.followers"] = cohesion.followers
        arrays[f"{name}.follower_offsets"] = cohesion.offsets
        arrays[f"{name}.follower_times"] = cohesion.times
    for name, side in (("source", aligner.source_), ("target", aligner.target_)):
        arrays[f"{name}.words"] = side.vocabulary.buffer
        arrays[f"{name}.offsets"] = side.vocabulary.offsets
        arrays[f"{name}.frequencies"] = side.frequencies
    settings = {
        "model": aligner.name,
        "options": {name: value for name, value in aligner.get_params().items() if name != "threads"},
        "objectives": aligner.objectives_,
    }
    save_model(directory, kind=KIND, settings=settings, arrays=arrays)


def load_aligner(directory: str | Path, *, threads: int | None = None) -> Aligner:
    """Aligner that `save_aligner` wrote to `directory`."""
    model = load_model(directory, kind=KIND)
    try:
        name = model.settings["model"]
        if name not in WORD_MODELS:
            raise ModelError(
                f"{directory} holds a model of kind {name!r}, which this version of cepts does not know; "
                f"it knows {', '.join(WORD_MODELS)}."
            )
        # JSON has lists for tuples.
        options = {
            key: tuple(value) if isinstance(value, list) else value for key, value in model.settings["options"].items()
        }
        aligner: Aligner = resolve(WORD_MODELS[name])(**options, threads=threads)
        aligner.forms_ = Forms(aligner.lowercase, aligner.prefix)
        arrays = model.arrays
        aligner.source_, aligner.target_ = (
            Side(Vocabulary(arrays[f"{side}.words"], arrays[f"{side}.offsets"]), arrays[f"{side}.frequencies"])
            for side in ("source", "target")
        )
        aligner.restore_cohesion(
            *(
                Cohesion(
                    side.frequencies,
                    arrays[f"{name}.follower_offsets"],
                    arrays[f"{name}.followers"],
                    arrays[f"{name}.follower_times"],
                )
                for name, side in (("source", aligner.source_), ("target", aligner.target_))
            )
        )
        aligner.lexicon_ = aligner.new_lexicon(arrays["lexicon.rows"], arrays["lexicon.targets"])
        aligner.lexicon_.restore(owned_by("lexicon", arrays))
        aligner.lexicon_.settle()
        aligner.null_ = NullWords(aligner.source_.frequencies, aligner.target_.frequencies)
        aligner.null_.source, aligner.null_.target = arrays["null.source"], arrays["null.target"]
        aligner.positions_ = aligner.new_positions()
        aligner.positions_.restore(owned_by("positions", arrays))
        aligner.objectives_ = model.settings["objectives"]
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(
            f"{directory} is whole but does not hold a word aligner that this version of cepts understands "
            f"({error}); train it again."
        ) from None
    return aligner
