"""Link files and the sentences that they belong to: reading them together, converting them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Bitext
from cepts.errors import UsageError, check_choice
from cepts.extract import Extraction, LinkScorer
from cepts.io import LinkWriter, read_bitext, read_links, read_text, swap_sides, write_links
from cepts.io.files import PathLike
from cepts.io.link_format import LinkFormat
from cepts.names import LINK_FORMATS, resolve
from cepts.pipeline.align import Summary, align


@dataclass(frozen=True, slots=True)
class Sides:
    """What is known of the sentences: all, one side's lengths, or nothing."""

    bitext: Bitext | None = None
    source_lengths: NDArray[np.int64] | None = None
    target_lengths: NDArray[np.int64] | None = None

    @property
    def pairs(self) -> int | None:
        """Number of sentence pairs, where it is known."""
        for lengths in (self.source_lengths, self.target_lengths):
            if lengths is not None:
                return len(lengths)
        return None


@dataclass(frozen=True, slots=True)
class LinkFile:
    """A file of links and how to read it.

    Attributes
    ----------
    path
        The file; `-` is standard input.
    format
        One of `cepts.names.LINK_FORMATS`, or ``auto``.
    base
        The number of a sentence's first word in Pharaoh files, 0 or 1.
    """

    path: PathLike
    format: str = "auto"
    base: int = 0

    def read(
        self, sides: Sides | None = None, *, sentences: int | None = None, target_source: bool = False
    ) -> Alignments:
        """The links, which must lie within the sentences of `sides`, where these are known.

        `sentences` is the number of sentence pairs, and with `target_source` the file has target-source links.
        """
        lengths = (None, None) if sides is None else (sides.source_lengths, sides.target_lengths)
        source_lengths, target_lengths = lengths[::-1] if target_source else lengths
        return read_links(
            self.path,
            format=self.format,
            base=self.base,
            sentences=sentences,
            source_lengths=source_lengths,
            target_lengths=target_lengths,
        )

    @property
    def can_reread(self) -> bool:
        """Whether the file can be read a second time, unlike a pipe."""
        return Path(self.path).is_file()


def read_sides(
    source: PathLike | None, target: PathLike | None, bitext: PathLike | None = None, *, errors: str = "strict"
) -> Sides:
    """Read the sentences of either side, of both, or of none; `bitext` is one file with both sides.

    `errors` is that of `read_bitext`.
    """
    if bitext is not None and (source is not None or target is not None):
        raise UsageError("give either `bitext` or `source` and `target`, not both.")
    both = None
    if bitext is not None:
        both = read_bitext(bitext, errors=errors)
    elif source is not None and target is not None:
        both = read_bitext(source, target, errors=errors)
    if both is not None:
        return Sides(both, both.source.lengths, both.target.lengths)
    return Sides(
        source_lengths=None if source is None else read_text(source, errors=errors).lengths,
        target_lengths=None if target is None else read_text(target, errors=errors).lengths,
    )


def read_directions(
    forward: LinkFile, reverse: LinkFile, sides: Sides | None = None, *, transpose_reverse: bool = False
) -> tuple[Alignments, Alignments]:
    """Read the links of two directions, of the same number of sentence pairs.

    Parameters
    ----------
    forward, reverse
        The files, both with source-target links.
    sides
        The sentences; with them, links are checked.
    transpose_reverse
        The file `reverse` has target-source links.
    """
    first = forward.read(sides)
    second = reverse.read(sides, target_source=transpose_reverse)
    # NAACL files do not say how many pairs there are; any other file that is too short is refused by name.
    if len(first) < len(second) and forward.can_reread:
        first = forward.read(sentences=len(second))
    elif len(second) < len(first) and reverse.can_reread:
        second = reverse.read(sentences=len(first))
    return first, swap_sides(second) if transpose_reverse else second


def combine_links(
    forward: LinkFile,
    reverse: LinkFile,
    output: PathLike,
    extraction: Extraction,
    *,
    sides: tuple[PathLike | None, PathLike | None, PathLike | None] = (None, None, None),
    transpose_reverse: bool = False,
    format: str = "pharaoh",
    base: int = 0,
) -> Summary:
    """Write one alignment made of the links of two directions, whose confidences count as probabilities.

    `forward`, `reverse` and `transpose_reverse` are as in `read_directions`; `output`, `format` and `base` are of the
    links, as in `cepts.io.LinkWriter`; `sides` are files of the sentences: source, target, or one with both.
    """
    known = read_sides(*sides)
    links = read_directions(forward, reverse, known, transpose_reverse=transpose_reverse)
    return align(
        LinkScorer(*links, known.source_lengths, known.target_lengths),
        known.bitext,
        LinkWriter(output, format=format, base=base, bitext=known.bitext),
        extraction,
    )


def convert_links(
    links: LinkFile,
    output: PathLike,
    *,
    format: str,
    base: int = 0,
    source: PathLike | None = None,
    target: PathLike | None = None,
    sentences: int | None = None,
    sure: bool = False,
    reverse: bool = False,
    errors: str = "strict",
) -> None:
    """Write links in another format.

    Parameters
    ----------
    links
        What to convert.
    output
        Where to write; `-` is standard output.
    format, base
        The format to write, and the number of a sentence's first word in Pharaoh files.
    source, target
        The sentences. With them, links are checked; some formats show them.
    sentences
        How many sentence pairs there are, which NAACL files do not say.
    sure
        Leave out links that are only possible.
    reverse
        Swap the sides: write target-source links.
    errors
        Bytes of the sentences that are not UTF-8: ``strict`` raises, ``replace`` puts U+FFFD in their place.
    """
    check_choice("format", format, LINK_FORMATS)
    layout: LinkFormat = resolve(LINK_FORMATS[format])
    if (source is None) != (target is None):
        raise UsageError("`source` and `target` go together; give both files of sentences, or neither.")
    if source is None and layout.shows_sentences:
        raise UsageError(f"the format {format} shows the sentences; give them with `source` and `target`.")
    if "-" in (source, target) and links.path == "-":
        raise UsageError("links and sentences cannot both be standard input.")
    sides = read_sides(source, target, errors=errors)
    bitext = sides.bitext
    alignments = links.read(sides, sentences=sentences)
    if sure:
        alignments = alignments.only(alignments.sure)
    if reverse:
        alignments = swap_sides(alignments)
        bitext = None if bitext is None else Bitext(bitext.target, bitext.source)
    write_links(output, alignments, format=format, base=base, bitext=bitext)
