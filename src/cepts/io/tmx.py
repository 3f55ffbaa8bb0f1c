"""Reading TMX (translation memory exchange) as a stream."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepts.errors import DataError, listed, reason_of
from cepts.io.files import InputFile
from cepts.io.languages import find_language, normal_language, taken_notice
from cepts.io.text_tables import sentence_block

XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
# Elements of TMX 1.4 whose content is the formatting code of another program, not text of the sentence.
CODES = frozenset({"bpt", "ept", "it", "ph", "ut"})

Unit = dict[str, str]  # text by language


def tmx_sides(
    file: InputFile, languages: Sequence[str] | None, notices: list[str] | None = None, *, replace: bool
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.uint8]]]:
    """Yield both sides of the units in blocks with a newline after each sentence.

    A unit that lacks a language keeps its line, with an empty side. Without `languages`, the first two in the file are
    used, in its order, and a note appended to `notices` says which.
    """
    units = _units(_Repaired(file) if replace and _is_utf8(file) else file, file.name)
    waiting: list[Unit] = []
    seen: dict[str, None] = {}
    chosen = tuple(languages) if languages else None
    missing = set(chosen or ())
    sides: tuple[list[str], list[str]] = ([], [])
    # Most units of a file have the same languages, so source and target are found once for each set of languages.
    choices: dict[tuple[str, ...], tuple[str | None, ...]] = {}
    characters = 0
    for unit in units:
        waiting.append(unit)
        if not languages and tuple(unit) not in choices:
            seen.update(dict.fromkeys(normal_language(tag) for tag in unit))
        if chosen is None:
            if len(seen) < 2:
                continue
            first, second, *_ = seen
            chosen = first, second
        elif missing:
            seen.update(dict.fromkeys(unit))
        for ready in waiting:
            tags = tuple(ready)
            if tags not in choices:
                choices[tags] = tuple(find_language(language, tags) for language in chosen)
                missing -= {language for language, tag in zip(chosen, choices[tags], strict=True) if tag}
            for tag, sentences in zip(choices[tags], sides, strict=True):
                text = "" if tag is None else ready[tag]
                sentences.append(text.replace("\n", " "))
                characters += len(text)
        waiting.clear()
        if characters >= file.block_bytes:
            yield sentence_block(sides[0]), sentence_block(sides[1])
            characters = 0
    if not seen and not sides[0] and not waiting:
        return
    if chosen is None:
        raise DataError(
            f"{file.name}: found text in {_listed(seen)} only, wanted two languages, because a bitext has two sides."
        )
    if missing:
        raise DataError(
            f"{file.name}: found no text in {_listed(missing)}, only in {_listed(seen)}; choose two of those languages."
        )
    if notices is not None and not languages:
        others = [tag for tag in seen if find_language(tag, chosen) is None]
        notices.append(taken_notice(file.name, "languages", chosen, others))
    if sides[0]:
        yield sentence_block(sides[0]), sentence_block(sides[1])


def _listed(tags: Any) -> str:
    return listed(sorted(tags), most=20) or "no language"


def _units(stream: Any, name: str) -> Iterator[Unit]:
    from lxml import etree

    try:
        # No entity is expanded and nothing is fetched: files may come from anywhere.
        events = etree.iterparse(
            stream, events=("end",), tag="{*}tu", resolve_entities=False, no_network=True, load_dtd=False,
            remove_comments=True, remove_pis=True, huge_tree=False, collect_ids=False,
        )  # fmt: skip
        for _, element in events:
            yield _unit(element)
            # The units read so far would otherwise stay in memory as children of the body.
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError as error:
        line = f", line {error.lineno:,}" if error.lineno else ""
        raise DataError(
            f"{name}{line}: not well-formed TMX ({reason_of(error)}); correct the file or export it again."
        ) from error


def _unit(element: Any) -> Unit:
    texts: Unit = {}
    for variant in element.iterchildren("{*}tuv"):
        tag = variant.get(XML_LANG) or variant.get("lang")
        if tag is not None and tag not in texts:
            segment = next(variant.iterchildren("{*}seg"), None)
            texts[tag] = "" if segment is None else _text(segment)
    return texts


def _text(element: Any) -> str:
    """Text in `element`, without formatting codes and entities."""
    parts = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str) and child.tag.rpartition("}")[2] not in CODES:
            parts.append(_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _is_utf8(file: InputFile) -> bool:
    head = file.peek(200)
    declared = re.search(rb"encoding\s*=\s*[\"']([^\"']+)", head)
    if declared:
        return declared[1].lower() in {b"utf-8", b"utf8"}
    return not head.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE))


class _Repaired:
    """The bytes of a UTF-8 file, with U+FFFD in place of invalid ones."""

    def __init__(self, file: InputFile) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def read(self, count: int = 1 << 16) -> bytes:
        """About `count` bytes; none only at the end."""
        while True:
            data = self._file.read(count) or b""
            text = self._decoder.decode(data, final=not data)
            if text or not data:
                return text.encode("utf-8")
