"""Reading texts and bitexts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from cepts.data import Bitext, Text
from cepts.errors import DataError, UsageError, check_choice
from cepts.io.files import BLOCK_BYTES, InputFile, PathLike, last_suffix
from cepts.io.lines import separator_error, separator_of, uneven_error
from cepts.io.text_tables import is_csv_header, table_sides
from cepts.io.tokens import TextBuilder, text_blocks, utf8_error
from cepts.names import BITEXT_FORMATS, DECODING_ERRORS
from cepts.progress import Progress

BY_SUFFIX = {
    ".tsv": "tsv",
    ".tmx": "tmx",
    ".parquet": "parquet",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}

SidesBlock = tuple[NDArray[np.uint8], NDArray[np.uint8]]


def read_bitext(
    source: PathLike,
    target: PathLike | None = None,
    *,
    format: str = "auto",
    errors: str = "strict",
    languages: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    notices: list[str] | None = None,
    progress: Progress | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> Bitext:
    """Read sentence pairs from two files of sentences, or from one file that holds both sides.

    Tokens are split on ASCII white space only and sentences end at newlines only, so a no-break space stays
    inside its token. An empty line, or an empty side, is an empty sentence, so there are as many pairs as
    lines.

    Parameters
    ----------
    source, target
        Two files, or one file and None; plain or compressed (.gz .bz2 .xz .zst). `-` is standard input.
    format
        Format of a single file: ``pipes`` (``a ||| b``), ``tsv`` (two columns), ``tmx``, ``parquet``, ``jsonl`` or
        ``csv``. ``auto`` decides by the suffix, then by the first line. Two files are always ``text``: one sentence
        per line.
    errors
        What to do with bytes that are not UTF-8: ``strict`` raises `DataError`, ``replace`` puts U+FFFD in their place.
    languages
        The source and the target language of a TMX file or of a table. In a table they are fields of the column
        ``translation``, or columns that are named after languages.
    columns
        The source and the target column of a table (Parquet, CSV, or the keys of JSON lines). The default is
        ``source`` and ``target``, or two fields of ``translation``, or two columns that are named after languages, or
        the first two columns of text, whichever is found first.
    notices
        A list to which a note is appended if the file has more languages or columns and none were chosen; it says
        which ones are used.
    progress
        Called after each block with a `Step` that counts bytes on disk.
    block_bytes
        How many bytes to read at a time; affects only the speed.
    """
    check_choice("format", format, BITEXT_FORMATS)
    check_choice("errors", errors, DECODING_ERRORS)
    for name, chosen in (("languages", languages), ("columns", columns)):
        if chosen is not None and (isinstance(chosen, str) or len(chosen) != 2):
            raise UsageError(f"`{name}` must be two names. Got {chosen!r} instead.")
    if target is None and format == "text":
        raise UsageError("the format text needs two files, `source` and `target`. Got one file instead.")
    if target is not None and format not in {"auto", "text"}:
        raise UsageError(f"the format {format} has both sides in one file. Got two files instead.")
    if source == "-" and target == "-":
        raise UsageError("`source` and `target` cannot both be standard input.")
    if target is not None:
        # Both are opened first: a missing second file should be reported before minutes of reading.
        with (
            InputFile(source, progress=progress, block_bytes=block_bytes) as first,
            InputFile(target, progress=progress, before=first.size, block_bytes=block_bytes) as second,
        ):
            first.after = second.size
            left, right = _read_lines(first, errors), _read_lines(second, errors)
        if len(left) != len(right):
            raise uneven_error(first.name, len(left), second.name, len(right))
        return Bitext(left, right)

    builders = TextBuilder(), TextBuilder()
    with InputFile(source, progress=progress, block_bytes=block_bytes) as file:
        if not file.peek(1):
            raise _empty(file)
        if format == "auto":
            format = _guess_format(file)
        blocks: Iterator[SidesBlock]
        if format == "tmx":
            from cepts.io.tmx import tmx_sides

            blocks = tmx_sides(file, languages, notices, replace=errors == "replace")
        elif format == "parquet":
            from cepts.io.parquet import parquet_sides

            blocks = parquet_sides(file, columns, languages, notices, replace=errors == "replace")
        elif format in {"jsonl", "csv"}:
            blocks = table_sides(file, format, columns, languages, notices, errors=errors)
        else:
            blocks = _separated_sides(file, format, errors)
        for sides in blocks:
            for builder, block in zip(builders, sides, strict=True):
                # Text formats check their own lines, so an error here is in a row of a table.
                builder.feed_file(file.name, block, unit="row")
            file.report()
        if not builders[0].lines:
            raise _empty(file)
    return Bitext(builders[0].finish(), builders[1].finish())


def read_text(
    path: PathLike,
    *,
    errors: str = "strict",
    progress: Progress | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> Text:
    """Read a file with one sentence per line; the parameters are those of `read_bitext`."""
    check_choice("errors", errors, DECODING_ERRORS)
    with InputFile(path, progress=progress, block_bytes=block_bytes) as file:
        return _read_lines(file, errors)


def _read_lines(file: InputFile, errors: str) -> Text:
    builder = TextBuilder()
    for block in text_blocks(file, errors):
        builder.feed_file(file.name, block)
        file.report()
    if not builder.lines:
        raise _empty(file)
    return builder.finish()


def _separated_sides(file: InputFile, format: str, errors: str) -> Iterator[SidesBlock]:
    """Both sides of lines with a separator, in blocks with a newline after each sentence."""
    from cepts.kernels.text import split_sides

    lines_before = 0
    counts = np.zeros(3, dtype=np.int64)
    for block in text_blocks(file, errors):
        source = np.empty(len(block) + 1, dtype=np.uint8)
        target = np.empty(len(block) + 1, dtype=np.uint8)
        failed = split_sides(block, format == "tsv", source, target, counts)
        if failed >= 0:
            line, _, _ = block[failed:].tobytes().partition(b"\n")
            raise separator_error(file.name, format, line, lines_before + int(counts[2]) + 1)
        # Checked here, where the line is still as it is in the file.
        if errors == "strict":
            try:
                block.tobytes().decode("utf-8")
            except UnicodeDecodeError:
                raise utf8_error(file.name, block, lines_before) from None
        yield source[: counts[0]], target[: counts[1]]
        lines_before += int(counts[2])


def _guess_format(file: InputFile) -> str:
    suffix, line = last_suffix(file.path), file.first_line()
    if suffix in BY_SUFFIX:
        return BY_SUFFIX[suffix]
    if line.startswith(b"PAR1"):
        return "parquet"
    if line.lstrip().startswith((b"<?xml", b"<tmx", b"<!DOCTYPE tmx")):
        return "tmx"
    if line.lstrip().startswith(b"{"):
        return "jsonl"
    format = separator_of(line)
    if format is None and is_csv_header(line):
        return "csv"
    if format is None:
        raise DataError(
            f"{file.name}, line 1: found neither ` ||| ` nor one tab, so this is not a bitext in one file; "
            f"give a second file with the target sentences, or name the format (pipes, tsv, tmx, parquet, jsonl, csv)."
        )
    return format


def _empty(file: InputFile) -> DataError:
    return DataError(f"{file.name} is empty; wanted one sentence per line.")
