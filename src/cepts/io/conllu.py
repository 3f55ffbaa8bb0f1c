"""Sentences of CoNLL-U files: forms, lemmas, tags, and chunks where a column tells of them."""

from __future__ import annotations

from collections.abc import Iterator

from cepts.errors import DataError
from cepts.io.files import InputFile
from cepts.io.lines import shown
from cepts.io.link_records import _lines
from cepts.sentences import Sentence

__all__ = ["conllu_sentences"]

FIELDS = 10
FORM, LEMMA, UPOS, XPOS, MISC = 1, 2, 3, 4, 9


def conllu_sentences(file: InputFile) -> Iterator[tuple[str, str, Sentence]]:
    """Yield where each sentence of `file` starts, its ``sent_id`` and the sentence.

    `pos` is XPOS where every word has one, else UPOS; `chunk` is ``Chunk=B-NP`` in MISC. A column that a word lacks
    (``_``) is missing for the sentence. Multiword tokens (``1-2``) and empty nodes (``1.1``) are passed over.
    """
    words: list[list[str]] = []
    start, name, seen = 1, "", False
    number = 0
    for number, line in enumerate(_lines(file), start=1):
        where = f"{file.name}, line {number:,}"
        try:
            text = line.removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{where}: byte {error.start + 1:,} is not valid UTF-8; convert the file to UTF-8."
            ) from error
        if not text.strip():
            if seen:
                yield f"{file.name}, line {start:,}", name, _sentence(words)
            words, name, seen = [], "", False
            continue
        if not seen:
            start, seen = number, True
        if text.startswith("#"):
            key, _, value = text[1:].partition("=")
            name = value.strip() if key.strip() == "sent_id" else name
            continue
        fields = text.split("\t")
        if len(fields) != FIELDS:
            raise DataError(
                f"{where}: found {len(fields)} field{'s' * (len(fields) != 1)} in {shown(text)}, wanted the {FIELDS} "
                f"of CoNLL-U with tabs between them and _ for what is missing."
            )
        if "-" in fields[0] or "." in fields[0]:
            continue
        if fields[0] != str(len(words) + 1):
            raise DataError(
                f"{where}: found word number {shown(fields[0])}, wanted {len(words) + 1}; words count from 1, with an "
                f"empty line between sentences."
            )
        words.append(fields)
    if seen:
        yield f"{file.name}, line {start:,}", name, _sentence(words)


def _sentence(words: list[list[str]]) -> Sentence:
    chunks = [_chunk(fields[MISC]) for fields in words]
    return Sentence(
        tuple(fields[FORM] for fields in words),
        pos=_column([fields[XPOS] for fields in words]) or _column([fields[UPOS] for fields in words]),
        chunk=_column(chunks),
        lemma=_column([fields[LEMMA] for fields in words], [fields[FORM] for fields in words]),
    )


def _chunk(misc: str) -> str:
    for feature in misc.split("|"):
        key, _, value = feature.partition("=")
        if key == "Chunk":
            return value
    return "_"


def _column(values: list[str], forms: list[str] | None = None) -> tuple[str, ...] | None:
    """The column, unless an entry is missing; the lemma of an underscore is an underscore."""
    missing = any(value == "_" and (forms is None or forms[n] != "_") for n, value in enumerate(values))
    return None if missing or not values else tuple(values)
