"""Writing links."""

from __future__ import annotations

import numpy as np

from cepts.data import Alignments, Bitext
from cepts.errors import UsageError, check_choice
from cepts.io.files import PathLike
from cepts.io.link_format import LinkFormat, WriteOptions
from cepts.io.writer import Writer
from cepts.names import LINK_FORMATS, resolve

__all__ = ["LinkWriter", "write_links"]


class LinkWriter(Writer):
    """Writes the alignments of successive sentence pairs to one file.

    The file appears, complete, only after a clean end of the ``with`` statement. Confidences have four
    decimals, so the same links are always the same bytes.

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
        check_choice("format", format, LINK_FORMATS)
        if base not in {0, 1}:
            raise UsageError(f"`base` must be 0 or 1. Got {base!r} instead.")
        super().__init__(path)
        self.format = format
        self._layout: LinkFormat = resolve(LINK_FORMATS[format])
        self.base = base
        self.bitext = bitext
        self.next_sentence = first_sentence

    def write(self, alignments: Alignments, bitext_part: Bitext | None = None) -> None:
        """Write the `alignments` of the next pairs, whose sentences are `bitext_part`."""
        file = self._open()
        pairs = len(alignments)
        if bitext_part is None and self.bitext is not None:
            bitext_part = self.bitext.part(self.next_sentence, self.next_sentence + pairs)
        if bitext_part is None and self._layout.needs_sentences:
            raise UsageError(f"the format {self.format} shows the sentences; give them with the links.")
        if bitext_part is not None:
            _check(alignments, bitext_part)
        options = WriteOptions(base=self.base, first=self.next_sentence)
        for piece in self._layout.write(alignments, bitext_part, options):
            file.write(piece)
        self.next_sentence += pairs


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
            f"alignments and sentences must have the same number of pairs. Got {len(alignments):,} and {len(bitext):,} "
            f"instead."
        )
    links = np.diff(alignments.offsets)
    for positions, text in ((alignments.source, bitext.source), (alignments.target, bitext.target)):
        if np.any(positions >= np.repeat(text.lengths, links)):
            raise ValueError("links must lie within their sentences.")
