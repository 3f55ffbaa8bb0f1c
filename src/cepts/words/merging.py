"""Merging trained models: one model of all texts that they were trained on."""

from __future__ import annotations

from collections.abc import Sequence

from cepts.data import Bitext
from cepts.errors import UsageError
from cepts.words.aligner import Aligner
from cepts.words.options import aligner_of, options_of
from cepts.words.prior import Prior


def merge_aligners(models: Sequence[Aligner], weights: Sequence[float] = (), *, threads: int | None = None) -> Aligner:
    """Merge trained models of the same kind and with the same options, by adding their expected counts.

    Each model keeps the links that it expected in its own text. The order of the models matters only for the numbers of
    words.

    Parameters
    ----------
    models
        Two or more trained aligners.
    weights
        How often the counts of each model are added; by default once.
    threads
        Number of threads that the result uses; None uses one for each processor.
    """
    if len(models) < 2:
        raise UsageError(f"`models` must be two or more. Got {len(models)} instead.")
    for model in models:
        model.check_fitted()
    merged = aligner_of(models[0].name, options_of(models[0]), threads)
    return merged.fit(Bitext.from_tokens([]), prior=Prior(models, weights))
