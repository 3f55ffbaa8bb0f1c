"""Reading documents (one per file, between blank lines, or as JSON lines), and lists of stop words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.data import SPECIAL, Documents, Text, offsets_of, words_of
from cepts.errors import DataError, UsageError, check_choice
from cepts.io.files import BLOCK_BYTES, InputFile, PathLike, check_stdin, last_suffix, name_of, unreadable
from cepts.io.lines import check_characters, json_objects, located_lines, short_name, shown, shown_json, words_in
from cepts.io.tokens import TextBuilder, text_blocks
from cepts.names import DECODING_ERRORS, DOCUMENT_FORMATS
from cepts.progress import Progress

JSON_SUFFIXES = {".jsonl", ".json"}
SMALLEST_BLOCK = 1 << 16
HEAD_BYTES = 1 << 12
SHOWN = 4  # files of a directory that a notice names
AN_OBJECT = '{"text": "a sentence\\nanother one"} or {"sentences": ["a sentence", "another one"]}'


@dataclass(slots=True)
class _Piece:
    """Lines `first` to `stop` of all that was read: one document, or maybe several if `boundaries` is ``blank``."""

    name: str
    first: int
    stop: int
    boundaries: str


def read_documents(
    paths: PathLike | Sequence[PathLike],
    *,
    format: str = "auto",
    lowercase: bool = False,
    errors: str = "strict",
    notices: list[str] | None = None,
    progress: Progress | None = None,
) -> Documents:
    """Read documents, one sentence per line, into one text with one vocabulary.

    Tokens are split on ASCII white space only. Blank lines are not sentences.

    Parameters
    ----------
    paths
        Files, plain or compressed, in the order in which they are read. A directory stands for all text files below
        it, sorted by name, except hidden ones. `-` is standard input.
    format
        ``file`` (each file is a document), ``blank`` (blank lines separate documents) or ``jsonl`` (one object per
        line, with `text` or `sentences`, and optionally an `id`). ``auto`` recognises JSON lines by the suffix. It
        reads other files as ``file`` if they are in a directory with several files, or if they have no blank line
        between sentences, and otherwise as ``blank``.
    lowercase
        Put words in lower case; `Documents.lowercase` is then true.
    errors
        What to do with bytes that are not UTF-8: ``strict`` raises `DataError`, ``replace`` puts U+FFFD in their place.
    notices
        A list to which notes for the user are appended: the files of a directory that are read, those that are left
        out because they are not text, how many documents have no words and are left out, and that there is only one
        document.
    progress
        Called after each block with a `Step` that counts bytes on disk.
    """
    check_choice("format", format, DOCUMENT_FORMATS)
    check_choice("errors", errors, DECODING_ERRORS)
    own: list[str] = []
    files = [found for path in listed_paths(paths) for found in _files_of(path, own)]
    total = sum(Path(path).stat().st_size for path, *_ in files if path != "-" and Path(path).is_file())
    builder = TextBuilder()
    pieces: list[_Piece] = []
    done = 0
    for path, name, alone in files:
        with InputFile(path, progress=progress, before=done) as file:
            file.after = total - done - file.size
            # A small file needs only a small buffer, and a directory may have thousands of them.
            file.block_bytes = min(BLOCK_BYTES, max(file.size + 1, SMALLEST_BLOCK))
            named = name or short_name(file)
            chosen = _format_of(file) if format == "auto" else format
            if chosen == "jsonl":
                blocks = _json_blocks(file, named, errors, pieces, builder)
            else:
                boundaries = "file" if chosen == "file" or (format == "auto" and not alone) else "blank"
                pieces.append(_Piece(named, builder.lines, builder.lines, boundaries))
                blocks = text_blocks(file, errors)
            start = builder.lines
            for block in blocks:
                builder.feed_file(file.name, block, start=start)
                file.report()
            if chosen != "jsonl":
                pieces[-1].stop = builder.lines
            done += file.size
    documents, empty = _cut(builder.finish(), pieces)
    documents = replace(documents, sources=tuple(str(path) for path in listed_paths(paths)))
    if not len(documents):
        what = name_of(files[0][0]) if len(files) == 1 else f"{len(files):,} files"
        raise DataError(f"{what}: found no words, wanted documents with one sentence per line.")
    _check_marks(documents)
    if notices is not None:
        notices += own
    if notices is not None and empty:
        notices.append(f"{empty:,} of {empty + len(documents):,} documents have no words and are left out.")
    if notices is not None and len(documents) == 1:
        notices.append(
            f"{documents.names[0]} is read as a single document; if it has several, put blank lines between them, or "
            f"give several files."
        )
    return documents.lowercased() if lowercase else documents


def _check_marks(documents: Documents) -> None:
    """Refuse marks of sentence starts and ends, which models add; only here can the message name the document."""
    text = documents.text
    for mark, number in zip(SPECIAL[1:], text.vocabulary.numbers(SPECIAL[1:]).tolist(), strict=True):
        if number >= 0:
            sentence = int(np.searchsorted(text.offsets, np.argmax(text.ids == number), side="right")) - 1
            place = int(np.searchsorted(documents.offsets, sentence, side="right")) - 1
            raise DataError(
                f"{documents.names[place]}, sentence {sentence - int(documents.offsets[place]) + 1:,}: found the word "
                f"{mark}, wanted sentences without marks of start and end, because models add them; remove it."
            )


def listed_paths(paths: PathLike | Sequence[PathLike]) -> list[PathLike]:
    """One path or several as a list; at most one may be standard input."""
    given = [paths] if isinstance(paths, str) or not isinstance(paths, Sequence) else list(paths)
    if not given:
        raise UsageError("there is no file to read; name at least one.")
    check_stdin(*given)
    return given


def _files_of(path: PathLike, notices: list[str]) -> list[tuple[PathLike, str, bool]]:
    """The files of `path`, each with its name relative to the directory, and whether it is the only one."""
    if path == "-" or not Path(path).is_dir():
        if path != "-" and not Path(path).exists():
            raise unreadable(name_of(path), FileNotFoundError())
        return [(path, "", True)]
    root = Path(path)
    found = [(file, file.relative_to(root)) for file in root.rglob("*") if file.is_file()]
    visible = sorted((name.parts, file) for file, name in found if not any(part.startswith(".") for part in name.parts))
    if not visible:
        raise DataError(f"{path} holds no files; wanted a directory of documents.")
    named = [("/".join(parts), file) for parts, file in visible]
    binary = [name for name, file in named if _is_binary(file)]
    texts = [(name, file) for name, file in named if name not in set(binary)]
    if not texts:
        raise DataError(f"{path} holds no text files ({_listed(binary)}); wanted a directory of documents.")
    notices.append(f"{path}: read {_listed([name for name, _ in texts])}.")
    if binary:
        notices.append(f"{path}: left out {_listed(binary)}, which {'is' if len(binary) == 1 else 'are'} not text.")
    return [(file, name, len(texts) == 1) for name, file in texts]


def _listed(names: Sequence[str]) -> str:
    """The names of a few files, or the number of many."""
    if len(names) <= SHOWN:
        return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), names[-1]])
    return f"{len(names):,} files, {', '.join(names[: SHOWN - 1])} ... {names[-1]}"


def _is_binary(path: Path) -> bool:
    """Whether the file has a zero byte near its start, which no text has."""
    with InputFile(path) as file:
        return b"\0" in file.peek(HEAD_BYTES)


def _format_of(file: InputFile) -> str:
    """``jsonl`` or ``text``; the blank lines of a text decide later."""
    is_json = file.path == "-" and file.first_line().lstrip().startswith(b'{"')
    return "jsonl" if is_json or last_suffix(file.path) in JSON_SUFFIXES else "text"


def _json_blocks(
    file: InputFile, name: str, errors: str, pieces: list[_Piece], builder: TextBuilder
) -> Iterator[NDArray[np.uint8]]:
    """The sentences of JSON documents, in blocks; `pieces` gets one for each document."""
    parts: list[bytes] = []
    size, lines = 0, builder.lines
    for number, where, record in json_objects(
        file, f"one object per line, such as {AN_OBJECT}", errors=errors, skip_blank=True
    ):
        sentences = _sentences(where, record)
        known = record.get("id")
        if known is not None and type(known) not in {str, int, float}:
            raise DataError(f"{where}: found {shown_json(known)} as `id`, wanted a text or a number.")
        data = "".join(f"{sentence}\n" for sentence in sentences).encode()
        named = f"{name}:{number}" if known is None else str(known)
        pieces.append(_Piece(named, lines, lines + len(sentences), "jsonl"))
        lines += len(sentences)
        parts.append(data)
        size += len(data)
        if size >= BLOCK_BYTES:
            yield np.frombuffer(bytearray(b"".join(parts)), dtype=np.uint8)
            parts, size = [], 0
    if size:
        yield np.frombuffer(bytearray(b"".join(parts)), dtype=np.uint8)


def _sentences(where: str, record: dict[str, Any]) -> list[str]:
    """The sentences of one document, without newlines."""
    if ("text" in record) == ("sentences" in record):
        found = "both `text` and `sentences`" if "text" in record else "neither `text` nor `sentences`"
        raise DataError(f"{where}: found {found}, wanted one of them: {AN_OBJECT}.")
    if "text" in record:
        if not isinstance(record["text"], str):
            raise DataError(f"{where}: found {shown_json(record['text'])} as `text`, wanted a text.")
        check_characters(where, record["text"])
        return record["text"].split("\n")
    if not isinstance(record["sentences"], list):
        raise DataError(f"{where}: found {shown_json(record['sentences'])} as `sentences`, wanted a list.")
    sentences = []
    for sentence in record["sentences"]:
        tokens = words_in(sentence)
        if tokens is None:
            raise DataError(f"{where}: found the sentence {shown_json(sentence)}, wanted a text or a list of tokens.")
        joined = " ".join(tokens)
        if tuple(words_of(joined)) != tokens:
            raise DataError(
                f"{where}: found the tokens {shown_json(sentence)}, wanted tokens that are not empty and contain no "
                f"white space."
            )
        check_characters(where, joined)
        sentences.append(joined)
    return sentences


def _cut(text: Text, pieces: Sequence[_Piece]) -> tuple[Documents, int]:
    """The documents of `pieces`, without blank lines, and how many documents had no words."""
    lengths = text.lengths
    filled = np.flatnonzero(lengths)
    starts: list[int] = []  # in sentences, that is in places of `filled`
    names: list[str] = []
    empty = 0
    boundaries: set[str] = set()
    bounds = np.searchsorted(filled, [(piece.first, piece.stop) for piece in pieces]).reshape(-1, 2)
    for piece, (start, stop) in zip(pieces, bounds.tolist(), strict=True):
        if start == stop:
            empty += 1
            continue
        gaps = np.flatnonzero(np.diff(filled[start:stop]) > 1) + 1
        if piece.boundaries == "blank" and len(gaps):
            boundaries.add("blank")
            own = [start, *(start + gaps).tolist()]
            names += [f"{piece.name}:{line}" for line in (filled[own] - piece.first + 1).tolist()]
            starts += own
        else:
            boundaries.add("jsonl" if piece.boundaries == "jsonl" else "file")
            names.append(piece.name)
            starts.append(start)
    sentences = Text(text.ids, offsets_of(lengths[filled]), text.vocabulary)
    offsets = np.array([*starts, len(filled)] if starts else [0], dtype=np.int64)
    return Documents(sentences, offsets, tuple(names), boundaries="+".join(sorted(boundaries))), empty


def read_stop_list(path: PathLike) -> list[str]:
    """Read a list of words, one per line; `#` starts a comment, and blank lines and repeated words are skipped."""
    words: dict[str, None] = {}
    with InputFile(path) as file:
        for _, where, line in located_lines(file):
            found = words_of(line)
            comment = next((place for place, word in enumerate(found) if word.startswith("#")), len(found))
            if comment > 1:
                raise DataError(
                    f"{where}: found {shown(' '.join(found[:comment]))}, wanted one word per line; put each on its "
                    f"own line, and # before a comment."
                )
            words.update(dict.fromkeys(found[:comment]))
        if not words:
            raise DataError(f"{file.name} has no words; wanted one per line.")
    return list(words)
