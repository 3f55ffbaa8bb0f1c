"""Links as JSON lines: ``{"links": [{"source": 0, "target": 1, "confidence": 0.9, "tier": "sure"}]}``.

Confidence and tier may be left out. A link to null has null in place of a position. If a record has tokens
(``"source"``, ``"target"``), positions must lie within them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from cepts.data import Alignments, Bitext, Cepts
from cepts.errors import DataError
from cepts.io.files import InputFile
from cepts.io.lines import json_line, json_objects, plain_json
from cepts.io.link_format import FileLinks, LinkFormat, LinkOptions

TIERS = {"sure": True, "possible": False}
WANTED = 'an object with `links`, such as {"links": []}'


def _read(file: InputFile, options: LinkOptions) -> FileLinks:
    rows = []
    pairs = 0
    for number, where, record in json_objects(file, WANTED):
        if not isinstance(record.get("links"), list):
            raise DataError(f"{where}: found no list `links`, wanted {WANTED}.")
        rows += [(pairs, *json_link(where, record, link), number) for link in record["links"]]
        pairs += 1
    return FileLinks.from_rows(rows, pairs)


def json_link(where: str, record: dict[str, Any], link: object) -> tuple[int, int, float, bool]:
    """Source, target and confidence of one of a record's links, and whether it is sure; null has the position -1."""
    if not isinstance(link, dict):
        raise DataError(
            f'{where}: found the link {plain_json(link)}, wanted an object such as {{"source": 0, "target": 1}}.'
        )
    positions = []
    for side, other in (("source", "target"), ("target", "source")):
        position, tokens = link.get(side), record.get(side)
        if position is None and side in link and link.get(other) is not None:
            positions.append(-1)
            continue
        if type(position) is not int or not 0 <= position < 2**31:
            raise DataError(f"{where}: found {side} {plain_json(position)} in a link, wanted a word number from 0.")
        if isinstance(tokens, list) and position >= len(tokens):
            raise DataError(
                f"{where}: found a link to {side} word {position}, but that sentence has {len(tokens)} words "
                f"(numbered from 0)."
            )
        positions.append(position)
    confidence, tier = link.get("confidence", 1.0), link.get("tier", "sure")
    if type(confidence) not in {int, float} or not 0 <= confidence <= 1:
        raise DataError(f"{where}: found the confidence {plain_json(confidence)}, wanted a number between 0 and 1.")
    if tier not in ("sure", "possible"):
        raise DataError(f"{where}: found the tier {plain_json(tier)}, wanted sure or possible.")
    return positions[0], positions[1], float(confidence), TIERS[tier]


def _write(alignments: Alignments, bitext: Bitext | None, options: LinkOptions) -> Iterator[bytes]:
    for n, record in enumerate(link_objects(alignments)):
        sides = {} if bitext is None else dict(zip(("source", "target"), bitext[n], strict=True))
        yield json_line({**sides, **record})


def link_objects(alignments: Alignments) -> Iterator[dict[str, object]]:
    """The links of each pair as JSON objects, with cepts if they are known."""
    for n, alignment in enumerate(alignments):
        rows = zip(alignment.links, alignment.confidence.tolist(), alignment.sure.tolist(), strict=True)
        links: list[dict[str, object]] = [
            {"source": i, "target": j, "confidence": round(confidence, 4), "tier": "sure" if sure else "possible"}
            for (i, j), confidence, sure in rows
        ]
        if alignments.nulls is not None:
            for side, position, confidence, sure in alignments.nulls[n]:
                places = {"source": None, "target": position} if side else {"source": position, "target": None}
                links.append({**places, "confidence": round(confidence, 4), "tier": "sure" if sure else "possible"})
        yield {"links": links, **({} if alignments.cepts is None else _cept_object(alignments.cepts, n))}


def _cept_object(cepts: Cepts, pair: int) -> dict[str, object]:
    """The cepts of a pair, the words that belong to null, P(cept | word) for all words, and P(noise)."""
    null, confidence = {}, {}
    for side, numbers, confidences, offsets in (
        ("source", cepts.source, cepts.source_confidence, cepts.source_offsets),
        ("target", cepts.target, cepts.target_confidence, cepts.target_offsets),
    ):
        run = slice(offsets[pair], offsets[pair + 1])
        null[side] = np.flatnonzero(numbers[run] < 0).tolist()
        confidence[side] = [round(value, 4) for value in confidences[run].tolist()]
    groups = [cept._asdict() for cept in cepts[pair]]
    return {"cepts": groups, "null": null, "cept_confidence": confidence, "noise": round(float(cepts.noise[pair]), 6)}


JSON = LinkFormat(
    read=_read,
    write=_write,
    base=0,
    shows_sentences=True,
    suffixes=re.compile(r"\.jsonl?$"),
    first_line=re.compile(rb"\{"),
)
