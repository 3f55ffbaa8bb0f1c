"""Reading sentence pairs and the annotation of their words: JSON, jacana's JSON, CoNLL-U, plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from cepts.data import COLUMNS, Alignments, Bitext, Segments, Sentence, SentencePair, gold_alignments, words_of
from cepts.errors import DataError, UsageError, check_choice
from cepts.io.files import InputFile, PathLike, check_stdin, last_suffix, name_of
from cepts.io.json_links import link_objects
from cepts.io.lines import check_even, json_line, located_lines, separator_error, separator_of, shown, uneven_error
from cepts.io.link_format import LinkOptions
from cepts.io.links import link_pieces, read_links
from cepts.io.sentence_pair_records import array_pairs, conllu_sentences, line_pairs
from cepts.io.writer import Writer
from cepts.names import SENTENCE_PAIR_FORMATS, TWO_FILE_PAIR_FORMATS, WRITABLE_PAIR_FORMATS
from cepts.progress import Progress

BY_SUFFIX = {".jsonl": "json", ".tsv": "tsv"}
PAIRS_IN_REPORT = 256
PIPES = re.compile(r"(?<![^ \t\v\f\r])\|\|\|(?![^ \t\v\f\r])")  # the token; in a longer token it is part of a word

Located = tuple[str, SentencePair]  # with the place for messages


def read_sentence_pairs(
    source: PathLike,
    target: PathLike | None = None,
    *,
    format: str = "auto",
    links: PathLike | None = None,
    links_format: str = "auto",
    base: int = 0,
    columns: Sequence[str] = (),
) -> list[SentencePair]:
    """Read sentence pairs, with their columns, gold links, labels and groups where a file has them.

    Every pair of the file is kept; a side may be empty.

    Parameters
    ----------
    source, target
        One file that holds both sides, or two with the same number of sentences; plain or compressed. `-` is
        standard input.
    format
        ``json`` (lines), ``jacana`` (one JSON array), ``pipes`` (``a ||| b``) or ``tsv`` of one file; ``text`` or
        ``conllu`` of two. ``auto`` goes by the suffix, then by the first line.
    links
        A file of gold links, in place of those that the pairs themselves have: NAACL, Pharaoh or another of
        `read_links`; `links_format` and `base` are its format and base.
    columns
        What every sentence must have, of ``pos``, ``chunk`` and ``lemma``.

    Returns
    -------
    list of SentencePair
        A repeated link counts once; a link that is both sure and possible is sure. `segments` are links of
        all their words, sure. Sentences of running text are cut at blanks and marked (`Sentence.running`).
    """
    check_stdin(source, target, links)
    found = list(each_sentence_pair(source, target, format=format, columns=columns))
    return found if links is None else _with_links(found, links, links_format, base)


def each_sentence_pair(
    source: PathLike,
    target: PathLike | None = None,
    *,
    format: str = "auto",
    columns: Sequence[str] = (),
    progress: Progress | None = None,
) -> Iterator[SentencePair]:
    """Read the sentence pairs of `read_sentence_pairs` one by one; those of jacana's JSON are read at once.

    `progress` is told now and then how many bytes have been read.
    """
    check_choice("format", format, ("auto", *SENTENCE_PAIR_FORMATS))
    if unknown := set(columns) - set(COLUMNS):
        raise UsageError(f"`columns` must be among {', '.join(COLUMNS)}. Got {sorted(unknown)} instead.")
    check_stdin(source, target)
    if target is None:
        pairs = _of_one_file(source, format, progress)
    else:
        pairs = _of_two_files(source, target, format, progress)
    found = False
    for where, pair in pairs:
        for name in columns:
            _check_column(where, pair, name)
        found = True
        yield pair
    if not found:
        raise DataError(f"{name_of(source)} is empty; wanted sentence pairs.")


def read_predicted_links(
    path: PathLike,
    pairs: Sequence[SentencePair],
    *,
    format: str = "auto",
    base: int = 0,
    phrases: bool = False,
) -> Alignments:
    """Read predicted links of `pairs`, sure and possible alike, from sentence pairs or from links alone.

    `format` is ``json`` or ``jacana``, or one of `read_links`, which checks the rest. Sentence pairs must have the
    tokens of `pairs`. With `phrases`, JSON lines that have `segments` are read as all links between their words,
    whatever other links there are.
    """
    if format in {"auto", "json", "jacana"}:
        with InputFile(path) as file:
            line = file.first_line().strip()
            if format == "jacana" or (format == "auto" and line.startswith(b"[")):
                return _predicted(file.name, array_pairs(file), pairs)
            if line.startswith(b"{") and _has_sentences(line):
                return _predicted(file.name, line_pairs(file, phrases=phrases), pairs)
            if path == "-":
                raise DataError(
                    "standard input: found no JSON with sentences, wanted it; name the format of links alone, such as "
                    "pharaoh."
                )
    return _links_of(pairs, path, format, base)


def _links_of(pairs: Sequence[SentencePair], path: PathLike, format: str, base: int) -> Alignments:
    source, target = ([len(getattr(pair, side)) for pair in pairs] for side in ("source", "target"))
    return read_links(path, format=format, base=base, source_lengths=source, target_lengths=target)


def _has_sentences(line: bytes) -> bool:
    try:
        return "source" in json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return True  # not links either; the reader of pairs says what is wrong


def _predicted(name: str, predicted: Iterator[tuple[str, SentencePair]], pairs: Sequence[SentencePair]) -> Alignments:
    found = list(predicted)
    if len(found) != len(pairs):
        raise DataError(
            f"{name} has {len(found):,} sentence pairs but the gold has {len(pairs):,}; give the links of the gold's "
            f"pairs, in their order."
        )
    for (where, pair), gold in zip(found, pairs, strict=True):
        for side in ("source", "target"):
            if getattr(pair, side).tokens != getattr(gold, side).tokens:
                raise DataError(
                    f"{where}: found other tokens in the {side} than the gold has; give the links of the gold's pairs, "
                    f"in their order and tokens."
                )
        if pair.sure is None:
            raise DataError(f"{where}: found no links, wanted `links`, `sure` or `segments`; [] for none.")
    return gold_alignments([pair for _, pair in found])


def _of_one_file(path: PathLike, format: str, progress: Progress | None) -> Iterator[Located]:
    if format in TWO_FILE_PAIR_FORMATS:
        raise UsageError(f"the format {format} needs two files, `source` and `target`. Got one file instead.")
    with InputFile(path, progress=progress) as file:
        if format == "auto" and file.peek(1):
            format = _guess_format(file)
        if format == "json":
            pairs = line_pairs(file)
        elif format == "jacana":
            pairs = array_pairs(file)
        else:
            pairs = _separated_pairs(file, format)
        yield from _reported(pairs, file.report)


def _reported(pairs: Iterator[Located], report: Callable[[], None]) -> Iterator[Located]:
    """The pairs, with a report now and then and at the end."""
    for number, pair in enumerate(pairs):
        yield pair
        if number % PAIRS_IN_REPORT == 0:
            report()
    report()


def _guess_format(file: InputFile) -> str:
    line = file.first_line().strip()
    if line.startswith(b"["):
        return "jacana"
    if line.startswith(b"{"):
        return "json"
    format = BY_SUFFIX.get(last_suffix(file.path)) or separator_of(line)
    if format is None:
        raise DataError(
            f"{file.name}, line 1: found neither a JSON object or array nor ` ||| ` nor one tab, so these are not "
            f"sentence pairs in one file; give a second file with the target sentences, or name the format."
        )
    return format


def _separated_pairs(file: InputFile, format: str) -> Iterator[Located]:
    for number, where, line in located_lines(file):
        sides = line.split("\t") if format == "tsv" else PIPES.split(line)
        if len(sides) != 2:
            raise separator_error(file.name, format, line.encode(), number)
        yield where, _plain_pair(*sides)


def _plain_pair(source: str, target: str) -> SentencePair:
    return SentencePair(_running(source), _running(target))


def _running(text: str) -> Sentence:
    return Sentence(tuple(words_of(text)), running=True)


def _of_two_files(source: PathLike, target: PathLike, format: str, progress: Progress | None) -> Iterator[Located]:
    if format not in {"auto", *TWO_FILE_PAIR_FORMATS}:
        raise UsageError(f"the format {format} has both sides in one file. Got two files instead.")
    if format == "auto":
        format = _guess_format_of_two(source, target)
    with InputFile(source, progress=progress) as first, InputFile(target) as second:
        pairs = (_conllu_pairs if format == "conllu" else _text_pairs)(first, second)
        yield from _reported(pairs, lambda: first.report(second))


def _guess_format_of_two(source: PathLike, target: PathLike) -> str:
    """By the suffixes, which must not say that a file holds both sides, or differ."""
    suffixes = {path: last_suffix(path) for path in (source, target) if path != "-"}
    for path, suffix in suffixes.items():
        if suffix in BY_SUFFIX:
            raise UsageError(f"{path} holds both sides, by its suffix; give it alone, or name the format text.")
    found = {suffix == ".conllu" for suffix in suffixes.values()}
    if len(found) > 1:
        raise UsageError(f"one of {source} and {target} is CoNLL-U by its suffix; give two, or name the format.")
    return "conllu" if found == {True} else "text"


def _text_pairs(first: InputFile, second: InputFile) -> Iterator[Located]:
    check_even(first.path, second.path)
    source, target = located_lines(first), located_lines(second)
    for lines, (one, other) in enumerate(zip_longest(source, target), start=1):
        if one is None or other is None:
            longer = lines + sum(1 for _ in (target if one is None else source))
            counts = (lines - 1, longer) if one is None else (longer, lines - 1)
            raise uneven_error(first.name, counts[0], second.name, counts[1])
        yield one[1], _plain_pair(one[2], other[2])


def _conllu_pairs(first: InputFile, second: InputFile) -> Iterator[Located]:
    for number, (one, other) in enumerate(zip_longest(conllu_sentences(first), conllu_sentences(second))):
        if one is None or other is None:
            longer, place = (first, one[0]) if one is not None else (second, other[0])
            shorter = second if longer is first else first
            raise DataError(
                f"{place}: found sentence {number + 1:,} of {longer.name}, but {shorter.name} has only {number:,}; "
                f"give as many target as source sentences, in the same order."
            )
        (where, name, source), (_, other_name, target) = one, other
        yield where, SentencePair(source, target, name or other_name)


def _check_column(where: str, pair: SentencePair, name: str) -> None:
    for side in ("source", "target"):
        sentence: Sentence = getattr(pair, side)
        if len(sentence) and getattr(sentence, name) is None:
            raise DataError(
                f"{where}: found no column {name} of the {side} sentence, wanted one; give `{side}_{name}` in JSON, or "
                f"{'Chunk=... in the MISC field' if name == 'chunk' else 'the field'} of CoNLL-U."
            )


def _with_links(pairs: list[SentencePair], path: PathLike, format: str, base: int) -> list[SentencePair]:
    alignments = _links_of(pairs, path, format, base)
    found = []
    for pair, alignment in zip(pairs, alignments, strict=True):
        tiers: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
        for link, sure in zip(alignment.links, alignment.sure.tolist(), strict=True):
            tiers[not sure].append(link)
        found.append(replace(pair, sure=tuple(tiers[0]), possible=tuple(tiers[1])))
    return found


class SentencePairWriter(Writer):
    """Writes successive sentence pairs to one file, which appears, complete, only after a clean end.

    Parameters
    ----------
    path
        The file; see `cepts.io`.
    format
        ``json`` (lines, with columns, label and group), ``jacana`` (one JSON array), or a format of links alone:
        ``pharaoh``, ``scored``, ``naacl``, ``giza``.
    base
        The number of a sentence's first word in Pharaoh files, 0 or 1.
    """

    def __init__(self, path: PathLike, *, format: str = "json", base: int = 0) -> None:
        check_choice("format", format, WRITABLE_PAIR_FORMATS)
        super().__init__(path)
        self.format = format
        self._written = 0
        self._options = LinkOptions(base=base)

    def write(
        self, pairs: Sequence[SentencePair], links: Alignments | None = None, segments: Segments | None = None
    ) -> None:
        """Write the next `pairs`: with `links` and `segments`, a prediction, in place of their gold links.

        With `segments` alone, every source word of a segment is linked to every target word of it.
        """
        if links is None and segments is not None:
            links = segments.alignments()
        for name, given in (("links", links), ("segments", segments)):
            if given is not None and len(given) != len(pairs):
                raise ValueError(f"{name} must have the same number of pairs, {len(pairs)}. Got {len(given)} instead.")
        if self.format in {"jacana", "giza"}:
            self._check_words(pairs)
        first = self._written
        self._written += len(pairs)
        if self.format == "json":
            self._put(map(json_line, _json_records(pairs, links, segments)))
            return
        links = gold_alignments(pairs) if links is None else links
        if self.format == "jacana":
            self._put(_jacana_records(pairs, links, first))
        else:
            options = replace(self._options, first=first)
            self._put(link_pieces(self.format, links, Bitext.from_tokens(pairs), options))

    def _check_words(self, pairs: Sequence[SentencePair]) -> None:
        """Refuse words that would be read back as two."""
        for number, pair in enumerate(pairs, self._written + 1):
            for word in (*pair.source.tokens, *pair.target.tokens):
                if words_of(word) != [word]:
                    name = f"pair {number:,}" + (f" ({pair.id})" if pair.id else "")
                    raise DataError(
                        f"{name}: found the token {shown(word)}, wanted tokens without blanks, because the "
                        f"format {self.format} puts blanks between them; write JSON lines."
                    )

    def _finish(self) -> None:
        if self.format == "jacana":
            self._put([b"\n]\n" if self._written else b"[]\n"])


def write_sentence_pairs(
    path: PathLike,
    pairs: Sequence[SentencePair],
    *,
    links: Alignments | None = None,
    segments: Segments | None = None,
    format: str = "json",
    base: int = 0,
) -> None:
    """Write `pairs` to `path`; the parameters are those of `SentencePairWriter` and its `write`."""
    with SentencePairWriter(path, format=format, base=base) as writer:
        writer.write(pairs, links, segments)


def _known(pair: SentencePair) -> dict[str, object]:
    """What is known about a pair, except its links."""
    record: dict[str, object] = {"id": pair.id} if pair.id else {}
    if pair.group:
        record["qid"] = pair.group
    record["source"], record["target"] = pair.source.tokens, pair.target.tokens
    for side, sentence in (("source", pair.source), ("target", pair.target)):
        for name in COLUMNS:
            if getattr(sentence, name) is not None:
                record[f"{side}_{name}"] = getattr(sentence, name)
    if pair.label is not None:
        record["label"] = int(pair.label) if pair.label == int(pair.label) else pair.label
    return record


def _json_records(
    pairs: Sequence[SentencePair], links: Alignments | None, segments: Segments | None
) -> Iterator[dict[str, object]]:
    """What is known about each pair, then its gold links, or `links` with confidences, which `read_links` reads too."""
    predicted = None if links is None else link_objects(links)
    for number, pair in enumerate(pairs):
        record = _known(pair)
        if predicted is not None:
            record.update(next(predicted))
        elif pair.sure is not None or pair.possible is not None:
            record["sure"], record["possible"] = pair.sure or (), pair.possible or ()
        if segments is not None:
            record["segments"] = [[*spans, round(confidence, 4)] for *spans, confidence in segments[number]]
        yield record


def _jacana_records(pairs: Sequence[SentencePair], links: Alignments, first: int) -> Iterator[bytes]:
    for number, (pair, alignment) in enumerate(zip(pairs, links, strict=True), first):
        tiers: dict[bool, list[str]] = {True: [], False: []}
        for (i, j), sure in zip(alignment.links, alignment.sure.tolist(), strict=True):
            tiers[sure].append(f"{i}-{j}")
        record = {
            "id": pair.id,
            "name": pair.id,
            "source": " ".join(pair.source.tokens),
            "target": " ".join(pair.target.tokens),
            "sureAlign": " ".join(tiers[True]),
            "possibleAlign": " ".join(tiers[False]),
        }
        text = json.dumps(record, ensure_ascii=False, indent=4)
        yield f"{',' if number else '['}\n{text}".encode("utf-8", "surrogateescape")
