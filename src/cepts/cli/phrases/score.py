"""`cepts phrases score`: links of sentences and their paraphrases against gold links."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.names import ONE_FILE_PAIR_FORMATS, PROTOCOLS, WRITABLE_PAIR_FORMATS


@click.command("score")
@click.argument("gold")
@click.argument("predicted", nargs=-1, required=True)
@option.choice(
    "--protocol",
    PROTOCOLS,
    "How pairs are averaged: their mean, their sum, as jacana's scorer did, or as papers on MultiMWA do.",
    default="macro",
)
@option.flag("--possible", "Gold's possible links are not wrong; with multimwa they are gold.")
@option.text("--gold-links", "FILE", "Gold links of GOLD, for one that has none: NAACL, Pharaoh, ...")
@option.choice("--gold-format", ("auto", *ONE_FILE_PAIR_FORMATS), "Format of GOLD.", default="auto")
@option.choice(
    "--format",
    ("auto", *WRITABLE_PAIR_FORMATS),
    "Format of PREDICTED; auto goes by the suffix, then by the first line.",
    default="auto",
)
@option.base()
@option.intervals
@option.json
def command(gold: str, predicted: tuple[str, ...], **options: Any) -> None:
    """Score the links of sentences and their paraphrases.

    GOLD holds sentence pairs with gold links: JSON lines, jacana's JSON, or text with --gold-links. Each PREDICTED
    holds links of the same pairs: the same formats, or Pharaoh, NAACL, GIZA; all of its links count, sure or possible.
    Precision, recall, F1 and exact match are printed in %, also of links between identical and other words, and of
    rectangles of links. With --intervals, each PREDICTED is also compared with the first, by approximate
    randomisation.

    \b
    Examples:
      cepts phrases score gold.jsonl predicted.jsonl
      cepts phrases score gold.jsonl one.links other.links --protocol jacana --intervals 1000
      cepts phrases score pairs.txt predicted.wa --gold-links gold.wa --possible --json
    """  # noqa: D301
    from cepts.io.files import check_stdin
    from cepts.pipeline.scoring import report_phrases, score_phrase_files

    check_stdin(gold, options["gold_links"], *predicted)
    found = score_phrase_files(gold, predicted, **option.given(options, score_phrase_files))
    show(report_phrases(predicted, found), as_json=options["as_json"])
