"""Reading and writing n-best lists of speech recognisers, one utterance at a time: TSV, JSON lines, Kaldi archives."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from cepts.data import Hypothesis, Utterance, words_of
from cepts.errors import DataError, UsageError, check_choice, listed
from cepts.io.documents import listed_paths
from cepts.io.files import COMPRESSED, InputFile, PathLike, last_suffix, name_of
from cepts.io.lines import (
    check_characters,
    finite_number,
    json_objects,
    located_lines,
    plain_json,
    shown,
    shown_json,
    words_in,
)
from cepts.io.writer import Writer
from cepts.names import HYPOTHESIS_FORMATS, WRITABLE_HYPOTHESIS_FORMATS

BY_SUFFIX = {".tsv": "tsv", ".jsonl": "jsonl", ".json": "jsonl"}
COLUMNS = ("id", "score", "lm_score", "text", "reference")
WITHOUT_HEADER = {3: ("id", "score", "text"), 4: ("id", "score", "lm_score", "text")}
AN_UTTERANCE = '{"id": "a", "hypotheses": [{"text": "the cell", "score": -12.5}]}'
# Names that Kaldi's steps/rnnlmrescore.sh and rnnlm/lmrescore_nbest.sh give to the archives, and plainer ones.
WORD_FILES = ("words_text", "text")
ACOUSTIC_FILES = ("acwt", "ac_cost", "acoustic_cost")
LM_FILES = ("lmwt.lmonly", "lm_cost")
GRAPH_FILES = ("lmwt.withlm", "graph_cost")
OTHER_FILES = ("lmwt.nolm",)
NUMBERED = re.compile(r"(.+)-([0-9]{1,9})", re.DOTALL)


class _Entry(NamedTuple):
    """A hypothesis, its utterance, its place in the file, and its rank if the file has ranks.

    `list` is the place of the list that it is in, if the file has lists.
    """

    where: str
    id: str
    hypothesis: Hypothesis
    reference: tuple[str, ...] | None = None
    rank: int | None = None
    list: str = ""


def read_hypotheses(
    paths: PathLike | Sequence[PathLike], *, format: str = "auto", acoustic_scale: float = 0.1
) -> Iterator[Utterance]:
    """Read the n-best lists of a speech recogniser, one utterance at a time.

    Parameters
    ----------
    paths
        Files, plain or compressed; `-` is standard input. For Kaldi, a directory with the archives, or the common
        beginning of their names.
    format
        ``tsv`` (columns id, score and text, or those named in a header), ``jsonl`` (one utterance or one hypothesis per
        line) or ``kaldi`` (the archives `words_text`, `acwt` and, if they exist, `lmwt.nolm` and `lmwt.lmonly` or
        `lmwt.withlm`). ``auto`` decides by the suffix, then by the first line; a directory is read as Kaldi's.
    acoustic_scale
        Kaldi's acoustic costs are multiplied by this before they are added to its graph costs.

    Returns
    -------
    iterator of Utterance
        Utterances in the order of the files. Kaldi's costs are negated: the score of a hypothesis is
        ``-(acoustic_scale * acwt + lmwt.nolm)``, and its `lm_score` is ``-lmwt.lmonly`` or
        ``-(lmwt.withlm - lmwt.nolm)``.
    """
    check_choice("format", format, ("auto", *HYPOTHESIS_FORMATS))
    if not (math.isfinite(acoustic_scale) and acoustic_scale > 0):
        raise UsageError(f"`acoustic_scale` must be above 0. Got {acoustic_scale} instead.")
    return _utterances(listed_paths(paths), format, acoustic_scale)


def _utterances(paths: list[PathLike], format: str, acoustic_scale: float) -> Iterator[Utterance]:
    seen: set[str] = set()
    for path in paths:
        found = False
        for where, utterance in _of_path(path, format, acoustic_scale):
            if utterance.id in seen:
                raise DataError(
                    f"{where}: found the utterance {shown(utterance.id)} again, wanted all its hypotheses together; "
                    f"sort the list by utterance."
                )
            seen.add(utterance.id)
            found = True
            yield utterance
        if not found:
            raise DataError(
                f"{name_of(path)}: found no hypotheses, wanted an n-best list, such as id, score and text per line."
            )


def _of_path(path: PathLike, format: str, acoustic_scale: float) -> Iterator[tuple[str, Utterance]]:
    if format == "kaldi" or (format == "auto" and path != "-" and _is_kaldi(path)):
        yield from _grouped(_kaldi_entries(path, acoustic_scale))
        return
    with InputFile(path) as file:
        chosen = _guess_format(file) if format == "auto" else format
        yield from _grouped(_tsv_entries(file) if chosen == "tsv" else _json_entries(file))


def _guess_format(file: InputFile) -> str:
    suffix, line = last_suffix(file.path), file.first_line()
    if suffix in BY_SUFFIX:
        return BY_SUFFIX[suffix]
    if line.lstrip().startswith(b"{"):
        return "jsonl"
    if b"\t" in line or not line:
        return "tsv"
    raise DataError(
        f"{file.name}, line 1: found neither a tab nor a JSON object, so this is not a known n-best format; "
        f"write id, score and text with tabs between them, or name the format."
    )


def _grouped(entries: Iterator[_Entry]) -> Iterator[tuple[str, Utterance]]:
    """Utterances, made of successive hypotheses with the same id and list, each with the place where it starts."""
    for _, group in groupby(entries, key=lambda entry: (entry.id, entry.list)):
        own = list(group)
        yield own[0].list or own[0].where, _joined(own)


def _joined(own: list[_Entry]) -> Utterance:
    ranks = [entry.rank for entry in own if entry.rank is not None]
    if ranks and sorted(ranks) != list(range(1, len(ranks) + 1)):
        twice = next((rank for rank in ranks if ranks.count(rank) > 1), None)
        found = f"the rank {twice} twice" if twice is not None else f"ranks up to {max(ranks)}"
        raise DataError(
            f"{own[0].where}: found {found} among the {len(ranks)} hypotheses of {shown(own[0].id)}, wanted each of 1 "
            f"to {len(ranks)} once."
        )
    reference = None
    for entry in own:
        if entry.reference is not None and reference not in {None, entry.reference}:
            raise DataError(
                f"{entry.where}: found a second, different reference for {shown(entry.id)}, wanted the same one on "
                f"each of its lines, or none."
            )
        reference = entry.reference if reference is None else reference
    by_rank = sorted(own, key=lambda entry: entry.rank or 0)
    return Utterance(own[0].id, tuple(entry.hypothesis for entry in by_rank), reference)


def _tsv_entries(file: InputFile) -> Iterator[_Entry]:
    header: tuple[str, ...] | None = None
    for _, where, line in located_lines(file):
        if not line.strip(" \t\r"):
            continue
        fields = [field.strip(" ") for field in line.removesuffix("\r").split("\t")]
        if header is None:
            names = tuple(field.lower() for field in fields)
            if {"id", "text"} <= set(names):
                if "score" not in names:
                    raise DataError(
                        f"{where}: found a header without `score`, wanted {', '.join(COLUMNS)} or some of them."
                    )
                if twice := [name for name in COLUMNS if names.count(name) > 1]:
                    raise DataError(f"{where}: found the column `{twice[0]}` twice, wanted it once.")
                header = names
                continue
            if len(fields) not in WITHOUT_HEADER:
                raise DataError(
                    f"{where}: found {len(fields)} column{'s' * (len(fields) > 1)}, wanted 3 (id, score, text) or 4 "
                    f"(id, score, lm score, text) with tabs between them, or a header with {', '.join(COLUMNS)}."
                )
            header = WITHOUT_HEADER[len(fields)]
        if len(fields) != len(header):
            raise DataError(
                f"{where}: found {len(fields)} column{'s' * (len(fields) > 1)}, wanted {len(header)} "
                f"({listed(header)}) as above, with tabs between them."
            )
        record = dict(zip(header, fields, strict=True))
        if not record["id"]:
            raise DataError(f"{where}: found no id, wanted the name of the utterance.")
        lm_score = record.get("lm_score")
        yield _Entry(
            where,
            record["id"],
            Hypothesis(
                tuple(words_of(record["text"])),
                _score(where, record["score"], "score"),
                _score(where, lm_score, "lm_score") if lm_score else None,
            ),
            tuple(words_of(record["reference"])) if record.get("reference") else None,
        )


def _score(where: str, found: Any, name: str) -> float:
    """A finite number, given as text or in JSON."""
    number = finite_number(found) if type(found) in {int, float, str} else None
    if number is None:
        what = shown(found) if isinstance(found, str) else plain_json(found)
        raise DataError(
            f"{where}: found {what or 'nothing'} as {name}, wanted a finite number: a logarithm; higher is better."
        )
    return number


def _json_entries(file: InputFile) -> Iterator[_Entry]:
    """Hypotheses from lines that hold a list of them, and from lines that hold one each."""
    for _, where, record in json_objects(file, f"one object per line, such as {AN_UTTERANCE}", skip_blank=True):
        name = record.get("id")
        if type(name) not in {str, int} or name == "":
            raise DataError(f"{where}: found {plain_json(name)} as `id`, wanted the name of the utterance.")
        check_characters(where, str(name))
        reference = record.get("reference")
        known = None if reference is None else _json_tokens(where, reference, "reference")
        lists = [key for key in ("hypotheses", "nbest") if key in record]
        if not lists:
            yield _Entry(where, str(name), _json_hypothesis(where, record), known)
            continue
        entries = record[lists[0]]
        if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
            raise DataError(
                f"{where}: found {shown_json(entries)} as `{lists[0]}`, wanted a list of at least one object, "
                f"such as {AN_UTTERANCE}."
            )
        for rank, entry in enumerate(entries, start=1):
            place = f"{where}, hypothesis {rank:,}"
            yield _Entry(place, str(name), _json_hypothesis(place, entry), known, list=where)


def _json_hypothesis(where: str, record: dict[str, Any]) -> Hypothesis:
    text = next((key for key in ("tokens", "text") if key in record), None)
    if text is None:
        raise DataError(f"{where}: found neither `text` nor `tokens`, wanted the words, such as {AN_UTTERANCE}.")
    score = next((key for key in ("score", "am_score", "acoustic_score") if key in record), None)
    if score is None:
        raise DataError(f"{where}: found no `score`, wanted a finite number, such as {AN_UTTERANCE}.")
    lm_score = None if record.get("lm_score") is None else _json_score(where, record, "lm_score")
    return Hypothesis(_json_tokens(where, record[text], text), _json_score(where, record, score), lm_score)


def _json_score(where: str, record: dict[str, Any], key: str) -> float:
    # A number in quotes is a mistake of the program that wrote the file; an error is better than a guess.
    if isinstance(record[key], str):
        raise DataError(f"{where}: found {plain_json(record[key])} as {key}, wanted a number, without quotes.")
    return _score(where, record[key], key)


def _json_tokens(where: str, found: Any, key: str) -> tuple[str, ...]:
    tokens = words_in(found)
    text = " ".join(tokens or ())
    if tokens is None or tuple(words_of(text)) != tokens:
        raise DataError(
            f"{where}: found {shown_json(found)} as `{key}`, wanted a text, or a list of tokens that are not empty and "
            f"contain no white space."
        )
    check_characters(where, text)
    return tokens


def _archive(path: PathLike, names: Sequence[str]) -> Path | None:
    """The first archive among `names` in the directory `path`, or the first whose name starts with `path`."""
    starts = [f"{path}/"] if Path(path).is_dir() else [f"{path}", f"{path}.", f"{path}_"]
    for name in names:
        for start in starts:
            for suffix in ("", *COMPRESSED):
                found = Path(f"{start}{name}{suffix}")
                if found.is_file():
                    return found
    return None


def _is_kaldi(path: PathLike) -> bool:
    return Path(path).is_dir() or (not Path(path).exists() and _archive(path, WORD_FILES) is not None)


def _kaldi_entries(path: PathLike, acoustic_scale: float) -> Iterator[_Entry]:
    """Each hypothesis of the archives, which are read in parallel, with its rank."""
    words, acoustic = _archive(path, WORD_FILES), _archive(path, ACOUSTIC_FILES)
    if words is None:
        hint = "; map the numbers of `words` with utils/int2sym.pl -f 2-" if _archive(path, ["words"]) else ""
        raise DataError(f"{path}: found no `words_text`, wanted Kaldi's hypotheses as `utterance-1 word word`{hint}.")
    if acoustic is None:
        raise DataError(
            f"{path}: found no `acwt`, wanted Kaldi's acoustic costs; nbest-to-linear writes them with the words."
        )
    other, lm = _archive(path, OTHER_FILES), _archive(path, LM_FILES)
    graph = _archive(path, GRAPH_FILES) if lm is None else None
    known = {"acoustic": acoustic, "other": other, "lm": lm, "graph": graph}
    costs = {name: archive for name, archive in known.items() if archive is not None}
    with ExitStack() as stack:
        archives = [stack.enter_context(InputFile(archive)) for archive in (words, *costs.values())]
        for row in zip_longest(*map(_keyed_lines, archives)):
            if row[0] is None:
                where, key, _ = next(line for line in row if line is not None)
                raise DataError(
                    f"{where}: found {shown(key)}, which {words} does not have; wanted archives of the same list."
                )
            where, key, text = row[0]
            cost = {"other": 0.0}
            for (name, archive), line in zip(costs.items(), row[1:], strict=True):
                if line is None:
                    raise DataError(
                        f"{archive}: found no cost for {shown(key)} ({where}), wanted one for each hypothesis."
                    )
                if line[1] != key:
                    raise DataError(
                        f"{line[0]}: found {shown(line[1])}, wanted {shown(key)}, as in {where}; the archives of a "
                        f"list have the same keys in the same order."
                    )
                cost[name] = _score(line[0], line[2], "cost")
            match = NUMBERED.fullmatch(key)
            if match is None:
                raise DataError(
                    f"{where}: found {shown(key)}, wanted an utterance, a hyphen and a rank, such as `a-1`."
                )
            lm_score = -cost["lm"] if "lm" in cost else cost["other"] - cost["graph"] if "graph" in cost else None
            score = -(acoustic_scale * cost["acoustic"] + cost["other"])
            hypothesis = Hypothesis(tuple(words_of(text)), score, lm_score)
            yield _Entry(where, match[1], hypothesis, rank=int(match[2]))


def _keyed_lines(file: InputFile) -> Iterator[tuple[str, str, str]]:
    """Place, key and rest of each line that is not blank."""
    for _, where, line in located_lines(file):
        key, _, rest = line.replace("\t", " ").strip(" \r").partition(" ")
        if key:
            yield where, key, rest.strip(" ")


def read_transcripts(path: PathLike) -> dict[str, tuple[str, ...]]:
    """Read transcripts in the form of Kaldi's `text` files: on each line an utterance id and its words."""
    found: dict[str, tuple[str, ...]] = {}
    with InputFile(path) as file:
        for where, key, text in _keyed_lines(file):
            if key in found:
                raise DataError(f"{where}: found {shown(key)} a second time, wanted one line per utterance.")
            found[key] = tuple(words_of(text))
        if not found:
            raise DataError(f"{file.name} is empty; wanted an utterance and its words per line.")
    return found


HEADER = ("id", "total", "score", "lm_score", "text", "reference")


class HypothesisWriter(Writer):
    """Writes rescored n-best lists to one file, utterance by utterance.

    Parameters
    ----------
    path
        The file; see `cepts.io`.
    format
        ``tsv`` and ``jsonl`` hold whole lists, the best hypothesis first, and can be read with `read_hypotheses`.
        ``kaldi`` holds the costs of the language model in the order of the list (`utterance-1 12.5`), as in Kaldi's
        `lmwt` archives. ``text`` (`utterance word word`) and ``trn`` (`word word (utterance)`) hold only the best
        hypotheses.
    """

    def __init__(self, path: PathLike, *, format: str = "tsv") -> None:
        check_choice("format", format, WRITABLE_HYPOTHESIS_FORMATS)
        super().__init__(path)
        self.format = format
        self._started = False

    def write(self, utterance: Utterance, lm_scores: Sequence[float], totals: Sequence[float]) -> None:
        """Write the next `utterance`, with the language model's score and the total score of each hypothesis.

        Hypotheses with equal totals keep their order.
        """
        count = len(utterance.hypotheses)
        for name, given in (("lm_scores", lm_scores), ("totals", totals)):
            if len(given) != count:
                raise ValueError(f"`{name}` must have one for each of {count} hypotheses. Got {len(given)} instead.")
            if not all(math.isfinite(number) for number in given):
                raise ValueError(f"`{name}` must be finite. Got {list(given)} instead.")
        self._check(utterance)
        order = sorted(range(count), key=lambda rank: -totals[rank])
        lines = list(_lines(self.format, utterance, lm_scores, totals, order))
        if self.format == "tsv" and not self._started:
            lines.insert(0, "\t".join(HEADER))
        self._put(f"{line}\n".encode("utf-8", "surrogateescape") for line in lines)
        self._started = True

    def _check(self, utterance: Utterance) -> None:
        """Refuse utterances that could not be read back."""
        name = utterance.id
        good = words_of(name) == [name]
        if self.format == "jsonl":
            good = name != ""
        elif self.format == "tsv":
            good = name.strip(" ") == name != "" and not set(name) & set("\t\n\r")
        if not good:
            raise DataError(
                f"found the utterance {shown(name)}, wanted a name without white space for the format {self.format}; "
                f"write JSON lines."
            )
        for tokens in (*(hypothesis.tokens for hypothesis in utterance.hypotheses), utterance.reference or ()):
            if words_of(" ".join(tokens)) != list(tokens):
                raise DataError(
                    f"utterance {shown(name)}: found the tokens {shown(repr(tokens))}, wanted tokens that are not "
                    f"empty and contain no white space."
                )


def write_hypotheses(
    path: PathLike, rescored: Iterable[tuple[Utterance, Sequence[float], Sequence[float]]], *, format: str = "tsv"
) -> None:
    """Write rescored n-best lists to `path`.

    `rescored` has utterances with their `lm_scores` and `totals`, which `HypothesisWriter.write` describes; the other
    parameters are those of `HypothesisWriter`.
    """
    with HypothesisWriter(path, format=format) as writer:
        for utterance, lm_scores, totals in rescored:
            writer.write(utterance, lm_scores, totals)


def _lines(
    format: str, utterance: Utterance, lm_scores: Sequence[float], totals: Sequence[float], order: list[int]
) -> Iterator[str]:
    """The lines of `utterance`; `order` has the numbers of its hypotheses, the best first."""
    texts = [" ".join(hypothesis.tokens) for hypothesis in utterance.hypotheses]
    scores = [float(hypothesis.score) for hypothesis in utterance.hypotheses]
    reference = None if utterance.reference is None else " ".join(utterance.reference)
    if format == "tsv":
        for rank in order:
            numbers = f"{totals[rank]:.6f}\t{scores[rank]!r}\t{lm_scores[rank]:.6f}"
            yield f"{utterance.id}\t{numbers}\t{texts[rank]}\t{reference or ''}"
    elif format == "jsonl":
        hypotheses = [
            {
                "text": texts[rank],
                "score": scores[rank],
                "lm_score": round(float(lm_scores[rank]), 6),
                "total": round(float(totals[rank]), 6),
            }
            for rank in order
        ]
        known = {} if reference is None else {"reference": reference}
        yield json.dumps({"id": utterance.id, "hypotheses": hypotheses, **known}, ensure_ascii=False)
    elif format == "kaldi":
        for rank, lm_score in enumerate(lm_scores, start=1):
            yield f"{utterance.id}-{rank} {-lm_score:.6f}"
    elif format == "text":
        yield f"{utterance.id} {texts[order[0]]}".rstrip(" ")
    else:
        yield f"{texts[order[0]]} ({utterance.id})".lstrip(" ")
