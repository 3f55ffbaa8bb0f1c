"""Reading and writing links in any of the link formats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Bitext, Lengths
from cepts.errors import DataError, UsageError, check_choice
from cepts.io.files import BLOCK_BYTES, InputFile, PathLike, bare_suffixes
from cepts.io.link_format import FileLinks, LinkFormat, LinkOptions
from cepts.io.writer import PairWriter, Sentences
from cepts.names import LINK_FORMATS, resolve


def read_links(
    path: PathLike,
    *,
    format: str = "auto",
    base: int = 0,
    sentences: int | None = None,
    source_lengths: Lengths | None = None,
    target_lengths: Lengths | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> Alignments:
    """Read the alignments of sentence pairs from a file of links.

    Parameters
    ----------
    path
        The file, plain or compressed; `-` is standard input.
    format
        ``pharaoh`` (``i-j``, or ``i?j`` for a possible link) or ``scored`` (``i-j:0.87``), each of which also reads the
        other; ``naacl`` (``sentence source target [S|P] [confidence]``); ``giza`` (A3 files); ``json`` (JSON lines).
        ``auto`` decides by the suffix, then by the first line.
    base
        The number of a sentence's first word in Pharaoh files, 0 or 1. It is fixed in the other formats.
    sentences
        How many sentence pairs there must be. A NAACL file does not show pairs without links at its end; if `sentences`
        is None, the last pair is the one with the highest number in the file.
    source_lengths, target_lengths
        The number of words of each sentence. If they are given, each link must lie within its sentences.
    block_bytes
        How many bytes to read at a time; affects only the speed.

    Returns
    -------
    Alignments
        Each link occurs once: a repeated link is sure if any of its copies is, and has the highest confidence of them.
        Links to null (position 0 of NAACL, NULL of GIZA, null of JSON) are in `nulls`.
    """
    check_choice("format", format, ("auto", *LINK_FORMATS))
    options = LinkOptions(base=base)
    for lengths in (source_lengths, target_lengths):
        if lengths is not None:
            if sentences is not None and sentences != len(lengths):
                raise UsageError(f"`sentences` is {sentences:,}, but lengths are given for {len(lengths):,} sentences.")
            sentences = len(lengths)

    with InputFile(path, block_bytes=block_bytes) as file:
        if format == "auto":
            format = _guess_format(file)
        found: LinkFormat = resolve(LINK_FORMATS[format])
        links = found.read(file, replace(options, sentences=sentences))
        name = file.name
    if not links.pairs and not sentences:
        raise DataError(f"{name} is empty; wanted links of sentence pairs.")
    if sentences is not None and links.pairs != sentences:
        raise DataError(
            f"{name} holds the links of {links.pairs:,} sentence pairs but the bitext has {sentences:,}; "
            f"give the links of the same sentences, with an empty line for a pair without links."
        )
    first = base if found.base is None else found.base
    for side, lengths in (("source", source_lengths), ("target", target_lengths)):
        if lengths is not None:
            _check_range(name, links, side, np.asarray(lengths)[links.pair], first)
    columns = links.pair, links.source, links.target, links.confidence, links.sure
    return Alignments.from_columns(links.pairs, *columns)


def swap_sides(alignments: Alignments) -> Alignments:
    """The same links with source and target exchanged."""
    pair, source, target, *rest = alignments.columns()
    return Alignments.from_columns(len(alignments), pair, target, source, *rest)


def _guess_format(file: InputFile) -> str:
    formats = {name: resolve(home) for name, home in LINK_FORMATS.items()}
    suffixes = "".join(bare_suffixes(file.path))
    for name, format in formats.items():
        if format.suffixes is not None and format.suffixes.search(suffixes):
            return name
    line = file.first_line().strip()
    for name, format in formats.items():
        if format.first_line is not None and format.first_line.match(line):
            return name
    return "pharaoh"


def _check_range(name: str, links: FileLinks, side: str, limit: NDArray[np.integer], first: int) -> None:
    positions = getattr(links, side)
    outside = positions >= limit
    if outside.any():
        link = int(np.argmax(outside))
        raise DataError(
            f"{name}, line {links.line[link]:,}: found a link to {side} word {positions[link] + first}, but that "
            f"sentence has {limit[link]} words (numbered from {first}); check that the links belong to these sentences."
        )


class LinkWriter(PairWriter):
    """Writes the alignments of successive sentence pairs to one file.

    Confidences have four decimals, so the same links always give the same bytes.

    Parameters
    ----------
    path
        The file; see `cepts.io`.
    format
        One of `cepts.names.LINK_FORMATS`.
    base
        The number of a sentence's first word in Pharaoh files, 0 or 1. It is fixed in the other formats.
    bitext
        The sentences of all pairs: GIZA files need them, JSON lines show them. They can also be given to each call of
        `write` instead.
    """

    def __init__(
        self,
        path: PathLike,
        *,
        format: str = "pharaoh",
        base: int = 0,
        bitext: Sentences | None = None,
    ) -> None:
        check_choice("format", format, LINK_FORMATS)
        super().__init__(path, bitext)
        self.format = format
        self.options = LinkOptions(base=base)

    def write(self, alignments: Alignments, bitext_part: Bitext | None = None) -> None:
        """Write the `alignments` of the next pairs; `bitext_part` has their sentences."""
        options = replace(self.options, first=self.next_sentence)
        bitext_part = self._sentences(len(alignments), bitext_part)
        self._put(link_pieces(self.format, alignments, bitext_part, options))


def link_pieces(
    format: str, alignments: Alignments, bitext: Bitext | None, options: LinkOptions
) -> Iterator[bytes | memoryview]:
    """The bytes of `alignments` in one of `LINK_FORMATS`, after a check that they fit their sentences."""
    layout: LinkFormat = resolve(LINK_FORMATS[format])
    if bitext is None and layout.needs_sentences:
        raise UsageError(f"the format {format} shows the sentences; give them with the links.")
    if bitext is not None:
        links = np.diff(alignments.offsets)
        for positions, text in ((alignments.source, bitext.source), (alignments.target, bitext.target)):
            if np.any(positions >= np.repeat(text.lengths, links)):
                raise ValueError("links must lie within their sentences.")
    return layout.write(alignments, bitext, options)


def write_links(
    path: PathLike, alignments: Alignments, *, format: str = "pharaoh", base: int = 0, bitext: Bitext | None = None
) -> None:
    """Write `alignments` to `path`; the parameters are those of `LinkWriter`."""
    with LinkWriter(path, format=format, base=base, bitext=bitext) as writer:
        writer.write(alignments)
