"""Writing links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cepts.data import Alignments, Bitext
from cepts.errors import UsageError, check_choice
from cepts.io.files import PathLike
from cepts.io.link_format import LinkFormat, LinkOptions
from cepts.io.writer import PairWriter
from cepts.names import LINK_FORMATS, resolve


class LinkWriter(PairWriter):
    """Writes the alignments of successive sentence pairs to one file.

    Confidences have four decimals, so the same links are always the same bytes.

    Parameters
    ----------
    path
        The file, compressed by its suffix; `-` is standard output.
    format
        One of `cepts.names.LINK_FORMATS`.
    base
        The number of a sentence's first word in Pharaoh files, 0 or 1. The other formats have their own.
    bitext
        The sentences, which GIZA needs and JSON shows. Each call of `write` can be given its own instead.
    """

    def __init__(
        self,
        path: PathLike,
        *,
        format: str = "pharaoh",
        base: int = 0,
        bitext: Bitext | None = None,
    ) -> None:
        check_choice("format", format, LINK_FORMATS)
        super().__init__(path, bitext)
        self.format = format
        self.options = LinkOptions(base=base)

    def write(self, alignments: Alignments, bitext_part: Bitext | None = None) -> None:
        """Write the `alignments` of the next pairs, whose sentences are `bitext_part`."""
        file = self._open()
        options = replace(self.options, first=self.next_sentence)
        bitext_part = self._sentences(len(alignments), bitext_part)
        for piece in link_pieces(self.format, alignments, bitext_part, options):
            file.write(piece)


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
