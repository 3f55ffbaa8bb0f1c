"""`cepts phrases score`: links of sentences and their paraphrases against gold links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cepts.cli import option
from cepts.cli.cells import RANGE, bounds, compared, gap_cells, percent, percent_range, short_names
from cepts.cli.checks import refuse_stdin_twice
from cepts.cli.console import print_json, print_table
from cepts.names import ONE_FILE_PAIR_FORMATS, PROTOCOLS, WRITABLE_PAIR_FORMATS

if TYPE_CHECKING:
    from cepts.evaluate import Difference, PhraseComparison
    from cepts.pipeline.scoring import SystemScores

KINDS = {
    "all": "all links",
    "identical": "identical words",
    "other": "other words",
    "token": "1x1 rectangles",
    "phrase": "larger rectangles",
}


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
    from cepts.pipeline.phrase_scoring import score_phrase_files

    refuse_stdin_twice(gold, options["gold_links"], *predicted)
    chosen = option.given(options, ("gold_format", "gold_links", "base", "format", "protocol", "possible", "seed"))
    found = score_phrase_files(gold, predicted, samples=options["intervals"], **chosen)
    if options["as_json"]:
        print_json(_as_json(predicted, found))
        return
    names, first = short_names(predicted), found.comparisons[0]
    click.echo(f"{len(first.exact_pairs):,} sentence pairs, {first.parts['all'].gold:,} gold links")
    _print_scores(names, found)
    for name, gap in zip(names[1:], found.resampled.differences, strict=False):
        click.echo()
        _print_gap(f"{name} minus {names[0]}", gap)
    click.echo(f"\nsignature  {found.signature}")


def _metric(part: str, ratio: str) -> str:
    return f"{part}_{ratio}".removeprefix("all_")


def _print_scores(names: list[str], found: SystemScores[PhraseComparison]) -> None:
    ranges = found.resampled.intervals
    columns = ["", "", "P, %", "R, %", "F1, %", *([RANGE] if ranges else [])]
    columns += ["exact, %", *([RANGE] if ranges else []), "predicted", "gold"]
    rows = []
    for place, (name, result) in enumerate(zip(names, found.comparisons, strict=True)):
        for part, scores in result.parts.items():
            whole = part == "all"
            row = [name if whole else "", KINDS[part], *map(percent, (scores.precision, scores.recall, scores.f1))]
            if ranges:
                interval = ranges[place].get(_metric(part, "f1"))
                row.append("" if interval is None else percent_range(interval))
            row.append(percent(result.exact) if whole else "")
            if ranges:
                row.append(percent_range(ranges[place]["exact"]) if whole else "")
            rows.append([*row, f"{scores.predicted:,}", f"{scores.gold:,}"])
    print_table(columns, rows, left=2)


def _print_gap(title: str, gaps: dict[str, Difference]) -> None:
    titles = {"exact": "exact match", **{_metric(part, "f1"): f"F1, {kind}" for part, kind in KINDS.items()}}
    rows = [[kind, *gap_cells(gaps[metric])] for metric, kind in titles.items() if metric in gaps]
    print_table([title, "difference, %", RANGE, "p"], rows)


def _as_json(paths: tuple[str, ...], found: SystemScores[PhraseComparison]) -> dict[str, Any]:
    systems: list[dict[str, Any]] = []
    for place, (path, result) in enumerate(zip(paths, found.comparisons, strict=True)):
        system: dict[str, Any] = {"file": path, **result.as_dict()}
        for ranges in found.resampled.intervals[place : place + 1]:
            system["intervals"] = bounds(ranges)
        for gaps in found.resampled.differences[place - 1 : place]:
            system["minus_first"] = compared(gaps)
        systems.append(system)
    return {"systems": systems, "signature": found.signature}
