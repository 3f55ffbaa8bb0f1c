"""Sentence pairs from JSON objects, with the keys of cepts or of jacana, and sentences from CoNLL-U."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from cepts.data import COLUMNS, Link, Sentence, SentencePair, Span, words_of
from cepts.errors import DataError, clipped, reason_of
from cepts.io.files import InputFile
from cepts.io.json_links import TIERS, json_link
from cepts.io.lines import (
    check_characters,
    json_objects,
    located_lines,
    plain_json,
    shown,
    shown_json,
    utf8_text,
    words_in,
)

DASHED = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
CHUNK = re.compile(r"(?:^|\|)Chunk=([^|]*)")
FIELDS = 10
FORM, LEMMA, UPOS, XPOS, MISC = 1, 2, 3, 4, 9
AN_OBJECT = "an object with `source` and `target`"
SEGMENT = "[[0, 2], [1, 3]], source words 0 and 1 with target words 1 and 2"

Gold = tuple[tuple[Link, ...] | None, tuple[Link, ...] | None]


def line_pairs(file: InputFile, *, phrases: bool = False) -> Iterator[tuple[str, SentencePair]]:
    """Sentence pairs of JSON lines, one object per line, each with the place where it stands.

    With `phrases`, the links of a pair that has `segments` are those between all words of these.
    """
    for _, where, record in json_objects(file, AN_OBJECT):
        yield where, _pair(where, record, phrases=phrases)


def array_pairs(file: InputFile) -> Iterator[tuple[str, SentencePair]]:
    """Sentence pairs of jacana's JSON, one array of objects, each with the place where it stands."""
    file.skip_bom()
    text = utf8_text(file.name, file.readall())
    try:
        records = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{file.name}, line {error.lineno:,}: found no JSON ({error.msg}), wanted one array of objects; "
            f"name the format json if each line holds an object."
        ) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file.name}: found no JSON ({reason_of(error)}), wanted one array of objects.") from error
    if not isinstance(records, list):
        raise DataError(f"{file.name}: found no array, wanted [ and objects; name the format json for JSON lines.")
    for number, record in enumerate(records, start=1):
        name = f" ({clipped(str(record['id']))})" if isinstance(record, dict) and "id" in record else ""
        where = f"{file.name}, pair {number:,}{name}"
        if not isinstance(record, dict):
            raise DataError(f"{where}: found {shown_json(record)}, wanted {AN_OBJECT}.")
        yield where, _pair(where, record)


def _pair(where: str, record: dict[str, Any], *, phrases: bool = False) -> SentencePair:
    source, target = _sentence(where, record, "source"), _sentence(where, record, "target")
    sure, possible = _gold(where, record, len(source), len(target), phrases=phrases)
    names = [str(record[key]) for key in ("id", "name", "qid") if record.get(key) is not None]
    columns = [getattr(sentence, name) or () for sentence in (source, target) for name in ("tokens", *COLUMNS)]
    for text in (*names, *chain.from_iterable(columns)):
        check_characters(where, text)
    label = record.get("label")
    if label is not None and (type(label) not in {bool, int, float} or not math.isfinite(label)):
        raise DataError(
            f"{where}: found the label {plain_json(label)}, wanted a number, such as 1 for a paraphrase and 0 for none."
        )
    group = record.get("qid")
    return SentencePair(
        source,
        target,
        str(record.get("id", record.get("name", ""))),
        sure,
        possible,
        None if label is None else float(label),
        "" if group is None else str(group),
    )


def _sentence(where: str, record: dict[str, Any], side: str) -> Sentence:
    if side not in record:
        raise DataError(
            f"{where}: found no `{side}`, wanted its tokens, as a list or as text with blanks between them."
        )
    tokens = _words(where, record[side], side)
    if "" in tokens:
        raise DataError(f"{where}: found an empty token in `{side}`; leave it out, and count links without it.")
    columns: dict[str, tuple[str, ...]] = {}
    for name in COLUMNS:
        found = record.get(f"{side}_{name}")
        if found is None:
            continue
        columns[name] = _words(where, found, f"{side}_{name}")
        if len(columns[name]) != len(tokens):
            raise DataError(
                f"{where}: found {len(columns[name])} entries in `{side}_{name}` but {len(tokens)} tokens in `{side}`; "
                f"wanted one entry per token, or no such column."
            )
    return Sentence(tokens, **columns, running=isinstance(record[side], str) and not columns)


def _words(where: str, found: Any, key: str) -> tuple[str, ...]:
    words = words_in(found)
    if words is None:
        raise DataError(
            f"{where}: found {shown_json(found)} in `{key}`, wanted a list of texts, or one text with blanks between "
            f"tokens."
        )
    return words


def _gold(where: str, record: dict[str, Any], rows: int, columns: int, *, phrases: bool = False) -> Gold:
    """Sure and possible links, each once; of a link that is both, sure wins. None where no key tells of links.

    With `phrases`, `segments` win over all other links, and may overlap.
    """
    tiers: dict[str, set[Link]] = {}

    def add(tier: str, key: str, links: Iterable[Link]) -> None:
        for i, j in sorted(links):
            if not (0 <= i < rows and 0 <= j < columns):
                side, position, words = ("source", i, rows) if not 0 <= i < rows else ("target", j, columns)
                raise DataError(
                    f"{where}: found the link {i}-{j} in `{key}`, but the {side} has {words} words (numbered from 0) "
                    f"and no word {position}; check that links count from 0, source word first."
                )
        tiers.setdefault(tier, set()).update(links)

    whole = phrases and record.get("segments") is not None
    for tier in () if whole else TIERS:
        if record.get(tier) is not None:
            add(tier, tier, _links(where, tier, record[tier]))
        elif record.get(f"{tier}Align") is not None:
            add(tier, f"{tier}Align", _dashed_links(where, f"{tier}Align", record[f"{tier}Align"]))
    if record.get("links") is not None and not whole:
        add("sure", "links", ())
        if not isinstance(record["links"], list):
            raise DataError(f'{where}: found no list in `links`, wanted objects such as {{"source": 0, "target": 1}}.')
        for link in record["links"]:
            i, j, _, is_sure = json_link(where, record, link)
            if i >= 0 and j >= 0:  # words without a link belong to null anyway
                add("sure" if is_sure else "possible", "links", [(i, j)])
    elif record.get("segments") is not None:
        # Where there are `links` too, segments are a prediction that repeats them, and may overlap.
        add("sure", "segments", ())
        for (i0, i1), (j0, j1) in _segments(where, record["segments"], apart=not whole):
            add("sure", "segments", [(i1 - 1, j1 - 1)])  # first, because a wrong number may be huge
            add("sure", "segments", [(i, j) for i in range(i0, i1) for j in range(j0, j1)])
    if not tiers:
        return None, None
    sure = tiers.get("sure", set())
    return tuple(sorted(sure)), tuple(sorted(tiers.get("possible", set()) - sure))


def _links(where: str, key: str, found: Any) -> set[Link]:
    try:
        links = {(i, j) for i, j in found}
        good = all(type(i) is int and type(j) is int for i, j in links)
    except (TypeError, ValueError):
        good = False
    if not good:
        raise DataError(
            f"{where}: found {shown_json(found)} in `{key}`, wanted a list of links such as [[0, 0], [1, 2]], "
            f"source word first, numbered from 0."
        )
    return links


def _dashed_links(where: str, key: str, found: Any) -> set[Link]:
    """Links of jacana: ``0-0 1-2``."""
    if not isinstance(found, str):
        raise DataError(f'{where}: found {shown_json(found)} in `{key}`, wanted text such as "0-0 1-2".')
    links = set()
    for token in words_of(found):
        match = DASHED.fullmatch(token)
        if match is None:
            raise DataError(f"{where}: found {shown(token)} in `{key}`, wanted links such as 0-0 1-2.")
        links.add((int(match[1]), int(match[2])))
    return links


def _segments(where: str, found: Any, *, apart: bool) -> Iterator[tuple[Span, Span]]:
    """The half-open spans of segments ``[[i0, i1], [j0, j1]]``; if `apart`, no two may share a source word."""
    if not isinstance(found, list):
        raise DataError(f"{where}: found no list in `segments`, wanted a list of segments such as {SEGMENT}.")
    owner: dict[int, Any] = {}
    for segment in found:
        try:
            (i0, i1), (j0, j1) = segment[:2]
            good = all(type(bound) is int for bound in (i0, i1, j0, j1)) and 0 <= i0 < i1 and 0 <= j0 < j1
        except (TypeError, ValueError):
            good = False
        if not good:
            raise DataError(
                f"{where}: found the segment {shown_json(segment)}, wanted two spans that are not empty, such "
                f"as {SEGMENT}."
            )
        yield (i0, i1), (j0, j1)
        for i in range(i0, i1) if apart else ():
            if i in owner:
                raise DataError(
                    f"{where}: found the segments {plain_json(owner[i])} and {plain_json(segment)}, which share source "
                    f"word {i}; wanted segments that do not overlap. Make them one, or give their links in `sure`."
                )
            owner[i] = segment


def conllu_sentences(file: InputFile) -> Iterator[tuple[str, str, Sentence]]:
    """Yield where each sentence of `file` starts, its ``sent_id`` and the sentence.

    `pos` is XPOS where every word has one, else UPOS; `chunk` is ``Chunk=B-NP`` in MISC. A column that a word lacks
    (``_``) is missing for the sentence. Multiword tokens (``1-2``) and empty nodes (``1.1``) are skipped.
    """
    words: list[list[str]] = []
    start = name = ""
    for _, where, line in located_lines(file):
        text = line.removesuffix("\r")
        if not text.strip():
            if start:
                yield start, name, _conllu_sentence(words)
            words, start, name = [], "", ""
            continue
        start = start or where
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
    if start:
        yield start, name, _conllu_sentence(words)


def _conllu_sentence(words: list[list[str]]) -> Sentence:
    return Sentence(
        tuple(fields[FORM] for fields in words),
        pos=_column([fields[XPOS] for fields in words]) or _column([fields[UPOS] for fields in words]),
        chunk=_column([found[1] if (found := CHUNK.search(fields[MISC])) else "_" for fields in words]),
        lemma=_column([fields[LEMMA] for fields in words], [fields[FORM] for fields in words]),
    )


def _column(values: list[str], forms: list[str] | None = None) -> tuple[str, ...] | None:
    """The column, unless an entry is missing; the lemma of an underscore is an underscore."""
    missing = any(value == "_" and (forms is None or forms[n] != "_") for n, value in enumerate(values))
    return None if missing or not values else tuple(values)
