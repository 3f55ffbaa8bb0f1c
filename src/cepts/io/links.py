"""Reading links: Pharaoh, with and without confidences, NAACL, GIZA and JSON lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cepts.data import Alignments, offsets_of
from cepts.errors import DataError, UsageError
from cepts.io.files import BLOCK_BYTES, InputFile, PathLike, bare_suffixes, read_blocks
from cepts.io.link_records import Links, giza_links, json_links

__all__ = ["LINK_FORMATS", "read_links", "swap_sides"]

LINK_FORMATS = ("pharaoh", "scored", "naacl", "giza", "json")

Lengths = NDArray[np.integer] | Sequence[int]

PHARAOH_LINK = re.compile(rb"([0-9]+)([-?])([0-9]+)(?:[:-](.*))?", re.DOTALL)


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
    block_bytes
        How much is read at a time; it changes the speed and nothing else.

    Returns
    -------
    Alignments
        Each link once: where a file has it twice, it is sure if either is, with the higher confidence. The
        null word of NAACL (position 0) and GIZA is no word, and links to it are left out.

    Raises
    ------
    DataError
        With file, line and remedy.
    """
    if format not in {"auto", *LINK_FORMATS}:
        raise UsageError(f"format must be one of auto, {', '.join(LINK_FORMATS)}. Got {format!r} instead.")
    if base not in {0, 1}:
        raise UsageError(f"base must be 0 or 1. Got {base!r} instead.")
    for lengths in (source_lengths, target_lengths):
        if lengths is not None:
            if sentences is not None and sentences != len(lengths):
                raise UsageError(f"got lengths of {len(lengths):,} sentences, but sentences is {sentences:,}.")
            sentences = len(lengths)

    with InputFile(path) as file:
        if format == "auto":
            format = _guess_format(file)
        if format == "naacl":
            links = _read_naacl(file, sentences, block_bytes)
        elif format == "giza":
            links = giza_links(file)
        elif format == "json":
            links = json_links(file)
        else:
            links = _read_pharaoh(file, base, block_bytes)
        name = file.name
    if not links.pairs and not sentences:
        raise DataError(f"{name} is empty; wanted links of sentence pairs.")
    if sentences is not None and links.pairs != sentences:
        raise DataError(
            f"{name} holds the links of {links.pairs:,} sentence pairs but the bitext has {sentences:,}; "
            f"give the links of the same sentences, with an empty line for a pair without links."
        )
    first = 1 if format in {"naacl", "giza"} else base if format != "json" else 0
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
    suffixes = [] if file.path == "-" else bare_suffixes(file.path)
    if ".wa" in suffixes:
        return "naacl"
    if ".a3" in suffixes:
        return "giza"
    if suffixes[-1:] in ([".json"], [".jsonl"]):
        return "json"
    line = file.first_line().strip()
    if line.startswith(b"{"):
        return "json"
    if line.startswith(b"#"):
        return "giza"
    if re.match(rb"[0-9]+\s+[0-9]+\s+[0-9]+(\s|$)", line):
        return "naacl"
    return "pharaoh"


def _read_pharaoh(file: InputFile, base: int, block_bytes: int) -> Links:
    from cepts.kernels.links import parse_pharaoh

    parts = []
    lines_before = 0
    counts = np.zeros(2, dtype=np.int64)
    file.skip_bom()
    for block in read_blocks(file, block_bytes):
        links, lines = len(block) // 4 + 1, int(np.count_nonzero(block == ord("\n"))) + 1
        part = Links.empty(links)
        ends = np.empty(lines, dtype=np.int64)
        failed = parse_pharaoh(block, base, ends, part.source, part.target, part.confidence, part.sure, counts)
        links, lines = counts.tolist()
        if failed >= 0:
            raise _pharaoh_error(file.name, lines_before + lines + 1, block[failed:], base)
        if block[-1] != ord("\n"):
            ends[lines] = links
            lines += 1
        pair = np.repeat(np.arange(lines_before, lines_before + lines), np.diff(ends[:lines], prepend=0))
        parts.append(part.first(links, pair, pair + 1))
        lines_before += lines
    return Links.concatenate(parts, lines_before)


def _pharaoh_error(name: str, line: int, rest: NDArray[np.uint8], base: int) -> DataError:
    token = rest[:200].tobytes().split()[0]
    where = f"{name}, line {line:,}: found {_shown(token)}"
    match = PHARAOH_LINK.fullmatch(token)
    if match and match[4] is not None and not _is_confidence(match[4]):
        return DataError(f"{where}, wanted a confidence between 0 and 1 after the link, as in 0-1:0.87.")
    if match and base == 1 and 0 in (int(match[1]), int(match[3])):
        return DataError(f"{where}, wanted word numbers from 1; read a file that counts from 0 with base 0.")
    if match:
        return DataError(f"{where}, wanted word numbers below 2,147,483,648.")
    return DataError(f"{where}, wanted a link such as 0-1 (sure), 0?1 (possible) or 0-1:0.87 (scored).")


def _read_naacl(file: InputFile, sentences: int | None, block_bytes: int) -> Links:
    from cepts.kernels.links import parse_naacl

    parts = []
    lines_before = 0
    counts = np.zeros(2, dtype=np.int64)
    file.skip_bom()
    for block in read_blocks(file, block_bytes):
        part = Links.empty(int(np.count_nonzero(block == ord("\n"))) + 1)
        line = np.empty(len(part.pair), dtype=np.int64)
        failed = parse_naacl(block, line, part.pair, part.source, part.target, part.confidence, part.sure, counts)
        links, lines = counts.tolist()
        if failed >= 0:
            raise _naacl_error(file.name, lines_before + lines + 1, block[failed:])
        part = part.first(links, part.pair, lines_before + line[:links] + 1)
        lines_before += lines
        parts.append(part)
    found = Links.concatenate(parts, 0)
    if sentences is not None and found.pair.max(initial=-1) >= sentences:
        link = int(np.argmax(found.pair >= sentences))
        raise DataError(
            f"{file.name}, line {found.line[link]:,}: found a link of sentence {found.pair[link] + 1:,}, "
            f"but there are only {sentences:,} sentences; give the links of the same sentences."
        )
    found.pairs = sentences if sentences is not None else int(found.pair.max(initial=-1)) + 1
    return found


def _naacl_error(name: str, line: int, rest: NDArray[np.uint8]) -> DataError:
    text, _, _ = rest[:200].tobytes().partition(b"\n")
    fields = text.split()
    where = f"{name}, line {line:,}: found {_shown(text.strip())}"
    if len(fields) >= 3 and all(re.fullmatch(rb"[0-9]{1,9}", field) for field in fields[:3]) and not int(fields[0]):
        return DataError(f"{where}, wanted sentence numbers from 1, which is what NAACL files count from.")
    return DataError(f"{where}, wanted `sentence source target [S|P] [confidence between 0 and 1]`, as in 1 4 5 S.")


def _is_confidence(text: bytes) -> bool:
    return bool(re.fullmatch(rb"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", text)) and float(text) <= 1


def _shown(token: bytes) -> str:
    text = token.decode("utf-8", "replace")
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _check_range(
    name: str, links: Links, side: str, positions: NDArray[np.int32], lengths: Lengths | None, first: int
) -> None:
    if lengths is None or not len(positions):
        return
    limit = np.asarray(lengths)[links.pair]
    outside = positions >= limit
    if outside.any():
        link = int(np.argmax(outside))
        line = f"line {links.line[link]:,}" if links.line is not None else f"sentence {links.pair[link] + 1:,}"
        raise DataError(
            f"{name}, {line}: found a link to {side} word {positions[link] + first}, but that sentence has "
            f"{limit[link]} words (numbered from {first}); check that the links belong to these sentences."
        )


def _alignments(links: Links) -> Alignments:
    """Sort the links and drop those that stand twice."""
    pair = links.pair.astype(np.int64)
    rows = int(links.source.max(initial=0)) + 1
    columns = int(links.target.max(initial=0)) + 1
    columns_array = (links.source, links.target, links.confidence, links.sure)
    if links.pairs * rows * columns < 2**63:
        # One number a link, in the order wanted: faster to sort than three columns.
        key = (pair * rows + links.source) * columns + links.target
        same = key[1:] == key[:-1]
        order = None if bool(np.all(key[1:] >= key[:-1])) else np.argsort(key, kind="stable")
        if order is not None:
            key = key[order]
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
