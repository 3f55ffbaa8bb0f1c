"""The options of aligners as JSON has them, and aligners made from these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cepts.names import WORD_MODELS, resolve

if TYPE_CHECKING:
    from cepts.words.aligner import Aligner


def options_of(aligner: Aligner) -> dict[str, Any]:
    """The options of an aligner as JSON has them, without the number of threads."""
    given = {name: value for name, value in aligner.get_params().items() if name != "threads"}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def aligner_of(model: str, options: Mapping[str, Any], threads: int | None = None) -> Aligner:
    """The untrained aligner whose options `options_of` returned."""
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    aligner: Aligner = resolve(WORD_MODELS[model])(**given, threads=threads)
    return aligner
