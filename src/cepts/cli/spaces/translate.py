"""`cepts spaces translate`: words of one language in, words of another out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import moderate
from cepts.cli.console import ProgressBars, print_table, say
from cepts.cli.spaces.common import (
    OpenSpace,
    check_measure,
    direction_of,
    direction_options,
    measure_option,
    read_lines,
    sources_option,
    threads_option,
    vectors_option,
)
from cepts.errors import DataError, UsageError

if TYPE_CHECKING:
    from cepts.data import Vectors
    from cepts.spaces import Neighbours

__all__ = ["command"]

SHOWN = 10  # unknown words that are named


@click.command(
    "translate",
    epilog="""\b
Examples:
  cepts spaces translate en-fr house river
  cepts spaces translate en-fr maison --from fr
  cepts spaces translate en-fr --input words.txt --format tsv -o found.tsv
  cepts spaces translate en-fr --all --mutual -o dictionary.tsv""",
)
@click.argument("directory")
@click.argument("words", nargs=-1)
@direction_options
@click.option("--input", "input_", metavar="FILE", help="Translate the words of a file, one a line; - is stdin.")
@click.option("--all", "all_", is_flag=True, help="Write a dictionary: the best translation of every word.")
@click.option("--mutual", is_flag=True, help="With --all: only words that are each other's best translation.")
@click.option(
    "--count",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="How many translations of each word.  [default: 5]",
)
@measure_option()
@sources_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "tsv", "json"]),
    help="A table for people; a line a word with tabs between translations and scores; or JSON, a line a word.  "
    "[default: table]",
)
@click.option("-o", "--output", default="-", metavar="FILE", help="Where the translations go.  [default: stdout]")
@vectors_option
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No progress bars, and no word on unknown words.")
def command(directory: str, words: tuple[str, ...], **options: Any) -> None:
    """Translate words by their places in a space.

    DIRECTORY is what 'cepts spaces fit --save' wrote. A word that has no vector is looked up in lower case, too. Words
    without any vector are named on stderr; in tsv and json they have a line without translations, so that there are as
    many lines as words.
    """
    ways = {"WORDS": bool(words), "--input": options["input_"] is not None, "--all": options["all_"]}
    given = [way for way, there in ways.items() if there]
    if len(given) != 1:
        raise UsageError(
            f"found {' and '.join(given) or 'nothing'} to translate, wanted either WORDS, --input FILE or --all."
        )
    if options["mutual"] and not options["all_"]:
        raise UsageError("--mutual goes with --all, which is not there.")
    for name, value in (("--count", options["count"]), ("--format", options["format_"])):
        if options["all_"] and value is not None:
            raise UsageError(f"{name} does not go with --all, which writes a dictionary; leave it out.")
    if options["format_"] in (None, "table") and options["output"] != "-" and not options["all_"]:
        raise UsageError("a table goes to stdout; choose --format tsv or json for --output.")
    from cepts.io import check_output

    check_output(options["output"])
    with ProgressBars(quiet=options["quiet"]) as bars:
        opened = OpenSpace(directory, options["vectors"], bars)
        check_measure(opened.space, options["measure"])
        languages = direction_of(opened.space, options["source"], options["target"])
        queries = list(words) if options["input_"] is None else _read_words(options["input_"])
        source, target = (opened.view(number) for number in languages)
        if options["all_"]:
            _write_dictionary(opened, source, target, languages, options, bars)
            return
        rows, found = _translate(opened, source, target, languages, queries, options, bars)
    unknown = list(dict.fromkeys(word for word, row in zip(queries, rows, strict=True) if row < 0 and word))
    if (rows < 0).all() and options["format_"] in (None, "table"):
        raise DataError(
            f"{source.name} has no vector for {_listed(unknown) or 'the empty word'} among its {len(source):,} words; "
            f"check the spelling, or choose the language of the words by --from."
        )
    if unknown:
        say(f"cepts: {source.name} has no vector for {_listed(unknown)}.", quiet=options["quiet"])
    _show(queries, rows.tolist(), found, source, target, options)


def _read_words(path: str) -> list[str]:
    words = [line.strip(" \t") for line in read_lines(path)]
    if not any(words):
        raise DataError(f"{'standard input' if path == '-' else path}: found no word, wanted one a line.")
    return words


def _translate(
    opened: OpenSpace,
    source: Vectors,
    target: Vectors,
    languages: tuple[int, int],
    queries: Sequence[str],
    options: dict[str, Any],
    bars: ProgressBars,
) -> tuple[Any, Neighbours]:
    """The row of each query (-1: unknown), and what was found for those that are known."""
    from cepts.spaces import translate_words

    rows = source.vocabulary.find(queries)
    found = translate_words(
        opened.space,
        source,
        target,
        rows[rows >= 0],
        languages=languages,
        measure=options["measure"],
        count=min(options["count"] or 5, len(target)),
        sources=options["sources"],
        threads=options["threads"],
        progress=bars,
    )
    return rows, found


def _answers(found: Neighbours, target: Vectors) -> Iterator[list[tuple[str, float]]]:
    """The translations of each known query with their scores."""
    words = target.words
    for rows, scores in zip(found.rows.tolist(), found.scores.tolist(), strict=True):
        yield [(words[row], score) for row, score in zip(rows, scores, strict=True) if row >= 0]


def _show(
    queries: Sequence[str],
    rows: Sequence[int],
    found: Neighbours,
    source: Vectors,
    target: Vectors,
    options: dict[str, Any],
) -> None:
    known = _answers(found, target)
    answers = [next(known) if row >= 0 else [] for row in rows]
    if options["format_"] in (None, "table"):
        table: list[tuple[object, ...]] = []
        for query, translations in zip(queries, answers, strict=True):
            if not query:
                continue
            for place, (word, score) in enumerate(translations or [("", None)]):
                table.append((query if not place else "", word, "" if score is None else f"{score:.3f}"))
        print_table((source.name, target.name, options["measure"]), table, left=2)
        return
    from cepts.io import open_output

    with open_output(options["output"]) as file:
        for query, translations in zip(queries, answers, strict=True):
            if options["format_"] == "tsv":
                line = "\t".join([query, *(part for word, score in translations for part in (word, f"{score:.4f}"))])
            else:
                pairs = [{"word": word, "score": round(score, 6)} for word, score in translations]
                line = json.dumps({"word": query, "translations": pairs}, ensure_ascii=False)
            file.write(line.encode("utf-8", "surrogateescape") + b"\n")


def _write_dictionary(
    opened: OpenSpace,
    source: Vectors,
    target: Vectors,
    languages: tuple[int, int],
    options: dict[str, Any],
    bars: ProgressBars,
) -> None:
    from cepts.data import Dictionary
    from cepts.io import write_dictionary
    from cepts.spaces import mutual_translations, translate_words

    chosen: dict[str, Any] = {
        "languages": languages,
        "measure": options["measure"],
        "threads": options["threads"],
        "progress": bars,
    }
    if options["mutual"]:
        found = mutual_translations(opened.space, source, target, **chosen)
    else:
        found = translate_words(opened.space, source, target, count=1, **chosen)
    entries, scores = [], []
    for word, answers in zip(source.words, _answers(found, target), strict=True):
        for other, score in answers:
            entries.append((word, other))
            scores.append(score)
    if not entries:
        raise DataError(f"{opened.directory}: no word of {source.name} has a translation, so there is no dictionary.")
    bars.close()
    write_dictionary(options["output"], Dictionary((source.name, target.name), tuple(entries)), scores=scores)
    say(f"entries  {len(entries):,} of {len(source):,} words", quiet=options["quiet"])


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - SHOWN:,} more" if len(words) > SHOWN else ""
    return ", ".join(words[:SHOWN]) + more
