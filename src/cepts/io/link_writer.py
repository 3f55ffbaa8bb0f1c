"""Writing links."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from cepts.data import Alignments, Bitext, Cepts
from cepts.errors import UsageError
from cepts.io.files import PathLike
from cepts.io.links import LINK_FORMATS
from cepts.io.writer import Writer

__all__ = ["LinkWriter", "write_links"]

LINKS_AT_A_TIME = 1 << 18


class LinkWriter(Writer):
    """Writes the alignments of successive sentence pairs to one file.

    The file is in its place, whole, only after a clean end of the ``with`` statement. Confidences have four
    decimals, so the same links are always the same bytes.

    Parameters
    ----------
    path
        The file, compressed by its suffix; `-` is standard output.
    format
        ``pharaoh``, ``scored``, ``naacl``, ``giza`` or ``json``.
    base
        The number of a sentence's first word in Pharaoh files, 0 or 1. The other formats have their own.
    bitext
        The sentences, which GIZA needs and JSON shows. `write` can be given them bit by bit instead.
    first_sentence
        The place (from 0) of the first pair that is written, in the numbers that NAACL and GIZA files show
        and in `bitext`.
    """

    def __init__(
        self,
        path: PathLike,
        *,
        format: str = "pharaoh",
        base: int = 0,
        bitext: Bitext | None = None,
        first_sentence: int = 0,
    ) -> None:
        if format not in LINK_FORMATS:
            raise UsageError(f"format must be one of {', '.join(LINK_FORMATS)}. Got {format!r} instead.")
        if base not in {0, 1}:
            raise UsageError(f"base must be 0 or 1. Got {base!r} instead.")
        super().__init__(path)
        self.format = format
        self.base = base
        self.bitext = bitext
        self.next_sentence = first_sentence

    def write(self, alignments: Alignments, bitext_part: Bitext | None = None) -> None:
        """Write the `alignments` of the next pairs, whose sentences are `bitext_part`."""
        file = self._open()
        pairs = len(alignments)
        if bitext_part is None and self.bitext is not None:
            bitext_part = self.bitext.part(self.next_sentence, self.next_sentence + pairs)
        if bitext_part is None and self.format == "giza":
            raise UsageError("the format giza shows the sentences; give them with the links.")
        if bitext_part is not None:
            _check(alignments, bitext_part)
        pieces: Iterator[bytes | memoryview]
        if self.format == "giza":
            assert bitext_part is not None
            pieces = _giza_records(alignments, bitext_part, self.next_sentence)
        elif self.format == "json":
            pieces = _json_records(alignments, bitext_part)
        else:
            pieces = self._lines(alignments)
        for piece in pieces:
            file.write(piece)
        self.next_sentence += pairs

    def _lines(self, alignments: Alignments) -> Iterator[memoryview]:
        from cepts.kernels.links import format_naacl, format_pharaoh

        scored = self.format == "scored"
        offsets = np.ascontiguousarray(alignments.offsets)
        confidence = np.ascontiguousarray(alignments.confidence, dtype=np.float32)
        if self.format != "pharaoh" and not np.all((confidence >= 0) & (confidence <= 1)):
            raise ValueError("confidences must lie in [0, 1].")
        columns = (
            np.ascontiguousarray(alignments.source, dtype=np.int32),
            np.ascontiguousarray(alignments.target, dtype=np.int32),
            confidence,
            np.ascontiguousarray(alignments.sure, dtype=np.bool_),
        )
        start = 0
        while start < len(alignments):
            # At least one pair, and as many as fit: an alignment is never cut.
            stop = int(np.searchsorted(offsets, offsets[start] + LINKS_AT_A_TIME, side="right")) - 1
            stop = min(max(stop, start + 1), start + LINKS_AT_A_TIME, len(alignments))
            run = offsets[start : stop + 1]
            out = np.empty(50 * int(run[-1] - run[0]) + len(run), dtype=np.uint8)
            if self.format == "naacl":
                length = format_naacl(run, *columns, self.next_sentence + start + 1, out)
            else:
                length = format_pharaoh(run, *columns, self.base, scored, out)
            yield out[:length].data
            start = stop


def write_links(
    path: PathLike,
    alignments: Alignments,
    *,
    format: str = "pharaoh",
    base: int = 0,
    bitext: Bitext | None = None,
    first_sentence: int = 0,
) -> None:
    """Write `alignments` to `path`; the parameters are those of `LinkWriter`."""
    with LinkWriter(path, format=format, base=base, bitext=bitext, first_sentence=first_sentence) as writer:
        writer.write(alignments)


def _check(alignments: Alignments, bitext: Bitext) -> None:
    if len(alignments) != len(bitext):
        raise ValueError(
            f"alignments and sentences must be of as many pairs. Got {len(alignments)} and {len(bitext)} instead."
        )
    links = np.diff(alignments.offsets)
    for positions, text in ((alignments.source, bitext.source), (alignments.target, bitext.target)):
        if np.any(positions >= np.repeat(text.lengths, links)):
            raise ValueError("links must lie within their sentences.")


def _giza_records(alignments: Alignments, bitext: Bitext, first: int) -> Iterator[bytes]:
    """Three lines a pair; target words without a link are null's."""
    for n, alignment in enumerate(alignments):
        source, target = bitext[n]
        positions: list[list[int]] = [[] for _ in source]
        unlinked = dict.fromkeys(range(1, len(target) + 1))
        for i, j in alignment.links:
            positions[i].append(j + 1)
            unlinked.pop(j + 1, None)
        words = [
            f"{word} ({{ {''.join(f'{j} ' for j in places)}}})"
            for word, places in zip(["NULL", *source], [list(unlinked), *positions], strict=True)
        ]
        yield (
            f"# Sentence pair ({first + n + 1}) source length {len(source)} target length {len(target)} "
            f"alignment score : 1\n{' '.join(target)}\n{' '.join(words)}\n"
        ).encode("utf-8", "surrogateescape")


def _json_records(alignments: Alignments, bitext: Bitext | None) -> Iterator[bytes]:
    for n, alignment in enumerate(alignments):
        record: dict[str, object] = {}
        if bitext is not None:
            record["source"], record["target"] = bitext[n]
        record["links"] = [
            {
                "source": i,
                "target": j,
                "confidence": round(confidence, 4),
                "tier": "sure" if sure else "possible",
            }
            for (i, j), confidence, sure in zip(
                alignment.links, alignment.confidence.tolist(), alignment.sure.tolist(), strict=True
            )
        ]
        if alignments.cepts is not None:
            record.update(_json_cepts(alignments.cepts, n))
        yield json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"


def _json_cepts(cepts: Cepts, pair: int) -> dict[str, object]:
    """The cepts of a pair with P(cept | word) of their words, the words of null, and P(noise)."""
    sides = []
    for numbers, confidences, offsets in (
        (cepts.source, cepts.source_confidence, cepts.source_offsets),
        (cepts.target, cepts.target_confidence, cepts.target_offsets),
    ):
        run = slice(offsets[pair], offsets[pair + 1])
        sides.append((numbers[run].tolist(), [round(value, 4) for value in confidences[run].tolist()]))
    groups = [
        {
            side: [word for word, number in enumerate(numbers) if number == cept]
            for side, (numbers, _) in zip(("source", "target"), sides, strict=True)
        }
        for cept in range(max((number for numbers, _ in sides for number in numbers), default=-1) + 1)
    ]
    return {
        "cepts": groups,
        "null": {
            side: [word for word, number in enumerate(numbers) if number < 0]
            for side, (numbers, _) in zip(("source", "target"), sides, strict=True)
        },
        "cept_confidence": {
            side: confidences for side, (_, confidences) in zip(("source", "target"), sides, strict=True)
        },
        "noise": round(float(cepts.noise[pair]), 6),
    }
