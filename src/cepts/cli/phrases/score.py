"""`cepts phrases score`: links of sentences and their paraphrases against gold links."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.groups import Command
from cepts.names import ONE_FILE_PAIR_FORMATS, PHRASE_LINKS, PROTOCOLS, WRITABLE_PAIR_FORMATS


@click.command("score", cls=Command)
@click.argument("gold")
@click.argument("predicted", nargs=-1, required=True)
@option.section(
    "Input",
    option.choice("--gold-format", ("auto", *ONE_FILE_PAIR_FORMATS), "Format of GOLD.", default="auto"),
    option.text("--gold-links", "FILE", "File with the gold links, if GOLD has none: NAACL, Pharaoh, ..."),
    option.choice(
        "--format",
        ("auto", *WRITABLE_PAIR_FORMATS),
        "Format of PREDICTED; auto tells it from the suffix, or from the first line.",
        default="auto",
    ),
    option.base(),
)
@option.section(
    "Scores",
    option.choice(
        "--links",
        PHRASE_LINKS,
        "What is judged in PREDICTED: its links, or all links between the words of its phrases (segments in JSON; a "
        "file without phrases is judged by its links).",
        default="words",
    ),
    option.choice(
        "--protocol",
        PROTOCOLS,
        "How pairs are averaged: macro is the mean over pairs, micro pools all links, jacana does as the scorer of "
        "jacana, and multimwa as papers on MultiMWA.",
        default="macro",
    ),
    option.flag("--possible", "Do not count possible gold links as wrong; with multimwa, count them as gold."),
    option.intervals,
)
@option.section("Output", option.json, option.whole_signature)
def command(gold: str, predicted: tuple[str, ...], **options: Any) -> None:
    """Score links of paraphrases against gold links.

    GOLD has sentence pairs with gold links: JSON lines, jacana's JSON, or text with --gold-links. Each PREDICTED has
    links for the same pairs, in one of these formats or as Pharaoh, NAACL or GIZA; all its links count, sure or
    possible. The table has precision, recall, F1 and exact match in %, for all links, for links between identical words
    and between other words, and for rectangles of links. With --intervals, each PREDICTED is also compared with the
    first one by approximate randomisation.

    \b
    Examples:
      cepts phrases score gold.jsonl predicted.jsonl
      cepts phrases score gold.jsonl predicted.jsonl --links phrases
      cepts phrases score gold.jsonl one.links other.links --intervals 1000
      cepts phrases score pairs.txt predicted.wa --gold-links gold.wa --json
    """  # noqa: D301
    from cepts.io.files import check_stdin
    from cepts.pipeline.scoring import report_phrases, score_phrase_files

    check_stdin(gold, options["gold_links"], *predicted)
    found = score_phrase_files(gold, predicted, **option.given(options, score_phrase_files))
    show(report_phrases(predicted, found), as_json=options["as_json"], signature=options["signature"])
