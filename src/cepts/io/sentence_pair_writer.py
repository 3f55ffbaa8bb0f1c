"""Writing sentence pairs with their gold links, or with the links and segments of a prediction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO

from cepts.data import COLUMNS, Alignments, Bitext, Segments, SentencePair, gold_alignments, words_of
from cepts.errors import DataError, check_choice
from cepts.io.files import PathLike
from cepts.io.json_lines import json_line
from cepts.io.json_links import link_objects
from cepts.io.lines import shown
from cepts.io.link_format import LinkOptions
from cepts.io.link_writer import link_pieces
from cepts.io.writer import Writer
from cepts.names import WRITABLE_PAIR_FORMATS


class SentencePairWriter(Writer):
    """Writes successive sentence pairs to one file, which appears, complete, only after a clean end.

    Parameters
    ----------
    path
        The file, compressed by its suffix; `-` is standard output.
    format
        ``json`` (lines, with columns, label and group), ``jacana`` (one JSON array), or a format of links alone:
        ``pharaoh``, ``scored``, ``naacl``, ``giza``.
    base
        The number of a sentence's first word in Pharaoh files, 0 or 1.
    """

    def __init__(self, path: PathLike, *, format: str = "json", base: int = 0) -> None:
        check_choice("format", format, WRITABLE_PAIR_FORMATS)
        super().__init__(path)
        self.format = format
        self._written = 0
        self._options = LinkOptions(base=base)

    def write(
        self, pairs: Sequence[SentencePair], links: Alignments | None = None, segments: Segments | None = None
    ) -> None:
        """Write the next `pairs`: with `links` and `segments`, a prediction, in place of their gold links.

        With `segments` alone, every source word of a segment is linked to every target word of it.
        """
        if links is None and segments is not None:
            links = segments.alignments()
        for name, given in (("links", links), ("segments", segments)):
            if given is not None and len(given) != len(pairs):
                raise ValueError(f"{name} must have the same number of pairs, {len(pairs)}. Got {len(given)} instead.")
        if self.format in {"jacana", "giza"}:
            self._check_words(pairs)
        file = self._open()
        first = self._written
        self._written += len(pairs)
        if self.format == "json":
            for found in _gold_records(pairs) if links is None else _predicted_records(pairs, links, segments):
                file.write(json_line(found))
            return
        links = gold_alignments(pairs) if links is None else links
        if self.format == "jacana":
            for number, record in enumerate(_jacana_records(pairs, links), first):
                file.write((b",\n" if number else b"[\n") + record)
            return
        for piece in link_pieces(self.format, links, Bitext.from_tokens(pairs), replace(self._options, first=first)):
            file.write(piece)

    def _check_words(self, pairs: Sequence[SentencePair]) -> None:
        """Refuse words that would be read back as two."""
        for number, pair in enumerate(pairs, self._written + 1):
            for word in (*pair.source.tokens, *pair.target.tokens):
                if words_of(word) != [word]:
                    name = f"pair {number:,}" + (f" ({pair.id})" if pair.id else "")
                    raise DataError(
                        f"{name}: found the token {shown(word)}, wanted tokens without blanks, because the "
                        f"format {self.format} puts blanks between them; write JSON lines."
                    )

    def _finish(self, file: BinaryIO) -> None:
        if self.format == "jacana":
            file.write(b"\n]\n" if self._written else b"[]\n")


def write_sentence_pairs(
    path: PathLike,
    pairs: Sequence[SentencePair],
    *,
    links: Alignments | None = None,
    segments: Segments | None = None,
    format: str = "json",
    base: int = 0,
) -> None:
    """Write `pairs` to `path`; the parameters are those of `SentencePairWriter` and its `write`."""
    with SentencePairWriter(path, format=format, base=base) as writer:
        writer.write(pairs, links, segments)


def _known(pair: SentencePair) -> dict[str, object]:
    """What is known about a pair, except its links."""
    record: dict[str, object] = {"id": pair.id} if pair.id else {}
    if pair.group:
        record["qid"] = pair.group
    record["source"], record["target"] = pair.source.tokens, pair.target.tokens
    for side, sentence in (("source", pair.source), ("target", pair.target)):
        for name in COLUMNS:
            if getattr(sentence, name) is not None:
                record[f"{side}_{name}"] = getattr(sentence, name)
    if pair.label is not None:
        record["label"] = int(pair.label) if pair.label == int(pair.label) else pair.label
    return record


def _gold_records(pairs: Sequence[SentencePair]) -> Iterator[dict[str, object]]:
    for pair in pairs:
        record = _known(pair)
        if pair.sure is not None or pair.possible is not None:
            record["sure"], record["possible"] = pair.sure or (), pair.possible or ()
        yield record


def _predicted_records(
    pairs: Sequence[SentencePair], links: Alignments, segments: Segments | None
) -> Iterator[dict[str, object]]:
    """What is known about each pair, `links` with confidences, then `segments`: `read_links` reads them too."""
    for number, (pair, record) in enumerate(zip(pairs, link_objects(links), strict=True)):
        found = {**_known(pair), **record}
        if segments is not None:
            found["segments"] = [
                [source, target, round(confidence, 4)] for source, target, confidence in segments[number]
            ]
        yield found


def _jacana_records(pairs: Sequence[SentencePair], links: Alignments) -> Iterator[bytes]:
    for pair, alignment in zip(pairs, links, strict=True):
        tiers: dict[bool, list[str]] = {True: [], False: []}
        for (i, j), sure in zip(alignment.links, alignment.sure.tolist(), strict=True):
            tiers[sure].append(f"{i}-{j}")
        record = {
            "id": pair.id,
            "name": pair.id,
            "source": " ".join(pair.source.tokens),
            "target": " ".join(pair.target.tokens),
            "sureAlign": " ".join(tiers[True]),
            "possibleAlign": " ".join(tiers[False]),
        }
        yield json.dumps(record, ensure_ascii=False, indent=4).encode("utf-8", "surrogateescape")
