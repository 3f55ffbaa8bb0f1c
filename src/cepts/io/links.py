"""Reading links in any of the link formats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, Lengths, offsets_of
from cepts.errors import DataError, UsageError, check_choice
from cepts.io.files import BLOCK_BYTES, InputFile, PathLike, bare_suffixes
from cepts.io.link_format import FileLinks, LinkFormat, LinkOptions
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
    """Read the alignments of sentence pairs.

    Parameters
    ----------
    path
        The file, plain or compressed; `-` is standard input.
    format
        ``pharaoh`` (``i-j``, possible ``i?j``) or ``scored`` (``i-j:0.87``), which read each other; ``naacl``
        (``sentence source target [S|P] [confidence]``); ``giza`` (A3); ``json`` (lines). ``auto`` goes by the
        suffix, then by the first line.
    base
        The number of a sentence's first word in Pharaoh files, 0 or 1. The other formats have their own.
    sentences
        How many sentence pairs there must be. NAACL files leave out pairs without links; without `sentences`
        the highest number seen is taken to be the last.
    source_lengths, target_lengths
        Words of each sentence. Where they are given, each link must lie within them.

    Returns
    -------
    Alignments
        Each link once: a repeated link is sure if any of its copies is, with the highest confidence. Links to the
        null word of NAACL (position 0) and GIZA are left out.
    """
    check_choice("format", format, ("auto", *LINK_FORMATS))
    options = LinkOptions(base=base)
    for lengths in (source_lengths, target_lengths):
        if lengths is not None:
            if sentences is not None and sentences != len(lengths):
                raise UsageError(f"`sentences` is {sentences:,}, but there are lengths of {len(lengths):,} sentences.")
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
    _check_range(name, links, "source", links.source, source_lengths, first)
    _check_range(name, links, "target", links.target, target_lengths, first)
    return _alignments(links)


def swap_sides(alignments: Alignments) -> Alignments:
    """The same links with source and target exchanged."""
    pair = np.repeat(np.arange(len(alignments)), np.diff(alignments.offsets))
    order = np.lexsort((alignments.source, alignments.target, pair))
    return Alignments(
        alignments.offsets,
        alignments.target[order],
        alignments.source[order],
        alignments.confidence[order],
        alignments.sure[order],
    )


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


def _check_range(
    name: str, links: FileLinks, side: str, positions: NDArray[np.int32], lengths: Lengths | None, first: int
) -> None:
    if lengths is None or not len(positions):
        return
    limit = np.asarray(lengths)[links.pair]
    outside = positions >= limit
    if outside.any():
        link = int(np.argmax(outside))
        raise DataError(
            f"{name}, line {links.line[link]:,}: found a link to {side} word {positions[link] + first}, but that "
            f"sentence has {limit[link]} words (numbered from {first}); check that the links belong to these sentences."
        )


def _alignments(links: FileLinks) -> Alignments:
    """Sort the links and drop repeated ones."""
    pair = links.pair.astype(np.int64)
    rows = int(links.source.max(initial=0)) + 1
    columns = int(links.target.max(initial=0)) + 1
    columns_array = (links.source, links.target, links.confidence, links.sure)
    if links.pairs * rows * columns < 2**63:
        # One number a link, in the order wanted: faster to sort than three columns.
        key = (pair * rows + links.source) * columns + links.target
        order = None if bool(np.all(key[1:] >= key[:-1])) else np.argsort(key, kind="stable")
        key = key if order is None else key[order]
        same = key[1:] == key[:-1]
    else:
        order = np.lexsort((links.target, links.source, pair))
        same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
        for column in (pair, links.source, links.target):
            same &= column[order][1:] == column[order][:-1]
    if order is not None:
        pair = pair[order]
        columns_array = tuple(column[order] for column in columns_array)  # type: ignore[assignment]
    source, target, confidence, sure = columns_array
    if same.any():
        starts = np.concatenate([[0], np.flatnonzero(~same) + 1])
        pair, source, target = pair[starts], source[starts], target[starts]
        confidence = np.maximum.reduceat(confidence, starts)
        sure = np.logical_or.reduceat(sure, starts)
    offsets = offsets_of(np.bincount(pair, minlength=links.pairs))
    return Alignments(offsets, source, target, confidence, sure)
