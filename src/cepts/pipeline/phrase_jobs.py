"""Paraphrases aligned as a job: shards of sentence pairs on a shelf, whose links and scores are made by any engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import (
    COLUMNS,
    Alignments,
    Association,
    Cepts,
    Flat,
    NullLinks,
    Segments,
    Sentence,
    SentencePair,
)
from cepts.engine import JOB, PieceStep, Workplace, keep_terms, piece_name, run_steps
from cepts.extract import AlignedRun, Extraction, LaterPairs, aligned_runs
from cepts.factor import Factoring
from cepts.phrases import PhraseAligner
from cepts.pipeline.inputs import load_phrase_aligner
from cepts.progress import Progress
from cepts.store import Piece, Shelf, checksum

SHARD_PAIRS = 512
PAIRS, LINKS = "pairs", "links"  # where the pieces are
# The fields of alignments that are themselves flat.
PARTS: dict[str, type[Flat]] = {"cepts": Cepts, "segments": Segments, "nulls": NullLinks}


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseWork:
    """What is done with each sentence pair, in words that can be written down.

    Attributes
    ----------
    model
        A model directory, or the name of an English model.
    links, max_length
        As in `cepts.PhraseAligner`; None is what the model says.
    extraction
        How links are made.
    matrices, scores
        Whether association matrices and scores of pairs are made, too.
    """

    model: str
    links: str | None = None
    max_length: int | None = None
    extraction: Extraction
    matrices: bool = False
    scores: bool = False


@contextmanager
def aligned_on(
    workplace: Workplace, work: PhraseWork, pairs: Sequence[SentencePair], progress: Progress | None = None
) -> Iterator[Iterator[AlignedRun]]:
    """The links of `pairs`, shard by shard and in order, as `cepts.extract.aligned_runs` makes them.

    They are all made, and kept, before the first is returned.
    """
    with workplace.shelf() as shelf:
        begin_aligning(shelf, work, pairs)
        (aligning,) = run_steps(phrase_steps(shelf), shelf, workplace.engine, progress)
        yield map(_run_of, aligning.pieces(shelf))


def begin_aligning(shelf: Shelf, work: PhraseWork, pairs: Sequence[SentencePair]) -> None:
    """Put on a shelf what aligning needs."""
    begin_pairs(shelf, "phrases", work.model, pairs, work={**asdict(work), "model": None})


def begin_pairs(shelf: Shelf, kind: str, model: str, pairs: Sequence[SentencePair], **terms: Any) -> None:
    """Put on a shelf the pairs of a job of this kind, its model, and what else it must know."""
    place = Path(model)
    # Workers have other working directories, and a model may be replaced before an interrupted job continues.
    terms["model"] = str(place.resolve()) if place.exists() else model
    terms["digest"] = _digest(place / "model.json") if place.exists() else None
    keep_terms(shelf, JOB, {}, kind=kind, pairs=len(pairs), shard=SHARD_PAIRS, **terms)
    for number, start in enumerate(range(0, len(pairs), SHARD_PAIRS)):
        keep_terms(shelf, piece_name(PAIRS, number), {"pairs": encoded(pairs[start : start + SHARD_PAIRS])})


def phrase_steps(shelf: Shelf) -> Iterator[PieceStep]:
    """The only step of a job that has its pairs and terms on a shelf."""
    yield PieceStep("aligning", LINKS, f"{__name__}:align_shard", shards_of(shelf))


def shards_of(shelf: Shelf) -> int:
    """The number of shards of pairs on a shelf."""
    terms = shelf.get(JOB).settings
    return -int(-terms["pairs"] // terms["shard"])


def align_shard(shelf: Shelf, number: int) -> dict[str, NDArray[Any]]:
    """The links, and what else is wanted, of a shard."""
    terms = shelf.get(JOB).settings
    work = terms["work"]
    factoring = Factoring(**work["extraction"]["factoring"])
    extraction = Extraction(**work["extraction"] | {"factoring": factoring})
    scorer = LaterPairs(aligner_of(terms["model"], work["links"], work["max_length"]), number * terms["shard"])
    pairs = decoded(shelf.get(piece_name(PAIRS, number))["pairs"])
    runs = list(aligned_runs(scorer, pairs, extraction, matrices=work["matrices"], scores=work["scores"]))
    arrays = _arrays_of(LINKS, Alignments.concatenate([run.links for run in runs]))
    matrices = [run.matrix for run in runs if run.matrix is not None]
    scores = [run.scores for run in runs if run.scores is not None]
    if matrices:
        arrays |= _arrays_of("matrix", Association.concatenate(matrices))
    return arrays | ({"scores": np.concatenate(scores)} if scores else {})


@lru_cache(maxsize=2)
def aligner_of(model: str, links: str | None, max_length: int | None) -> PhraseAligner:
    """The aligner of a job, which each process loads once."""
    aligner = load_phrase_aligner(model, threads=1, max_length=max_length)
    return aligner if links is None else aligner.set_params(links=links)


# -- as arrays ---------------------------------------------------------------------------------------------------------


def encoded(pairs: Sequence[SentencePair]) -> NDArray[np.uint8]:
    """Sentence pairs as bytes: JSON, without judgements of annotators."""
    records = [[pair.id, *(_columns(side) for side in (pair.source, pair.target))] for pair in pairs]
    return np.frombuffer(json.dumps(records).encode("ascii"), dtype=np.uint8)


def decoded(found: NDArray[np.uint8]) -> list[SentencePair]:
    """The sentence pairs that `encoded` made bytes of."""
    return [
        SentencePair(_sentence(source), _sentence(target), id=identifier)
        for identifier, source, target in json.loads(found.tobytes())
    ]


def _columns(sentence: Sentence) -> list[Any]:
    return [getattr(sentence, name) for name in ("tokens", *COLUMNS)]


def _sentence(columns: Sequence[Any]) -> Sentence:
    values: list[Any] = [tuple(column) if isinstance(column, list) else column for column in columns]
    return Sentence(*values)


def _arrays_of(name: str, flat: Flat) -> dict[str, NDArray[Any]]:
    """The arrays of a flat dataclass and of its parts."""
    arrays: dict[str, NDArray[Any]] = {}
    for field in fields(flat):  # type: ignore[arg-type]
        value = getattr(flat, field.name)
        if isinstance(value, Flat):
            arrays |= _arrays_of(f"{name}.{field.name}", value)
        elif value is not None:
            arrays[f"{name}.{field.name}"] = value
    return arrays


def _flat_of(kind: type[Any], name: str, piece: Piece) -> Any:
    """The flat dataclass whose arrays a piece has; None if it has none."""
    values = {
        field.name: _flat_of(PARTS[field.name], f"{name}.{field.name}", piece)
        if field.name in PARTS
        else piece.get(f"{name}.{field.name}")
        for field in fields(kind)
    }
    return None if all(value is None for value in values.values()) else kind(**values)


def _run_of(piece: Piece) -> AlignedRun:
    return AlignedRun(_flat_of(Alignments, LINKS, piece), _flat_of(Association, "matrix", piece), piece.get("scores"))


def _digest(path: Path) -> str | None:
    """A digest of a file, if there is one."""
    try:
        return f"{checksum(np.frombuffer(path.read_bytes(), dtype=np.uint8)):016x}"
    except OSError:
        return None
