"""`cepts phrases score`: links of sentences and their paraphrases against gold links."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.cells import percent, percent_range, short_names
from cepts.cli.console import print_json, print_table
from cepts.cli.lengths import refuse_stdin_twice
from cepts.cli.link_options import base_option
from cepts.cli.spaces.score.report import interval_options, json_option
from cepts.names import ONE_FILE_PAIR_FORMATS, PROTOCOLS, WRITABLE_PAIR_FORMATS

if TYPE_CHECKING:
    from cepts.evaluate import Difference
    from cepts.pipeline.phrase_scoring import PhraseScores

__all__ = ["command"]

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
@click.option(
    "--protocol",
    type=click.Choice(PROTOCOLS),
    default="macro",
    show_default=True,
    help="How pairs are averaged: their mean, their sum, as jacana's scorer did, or as papers on MultiMWA do.",
)
@click.option("--possible", is_flag=True, help="Gold's possible links are not wrong; with multimwa they are gold.")
@click.option("--gold-links", metavar="FILE", help="Gold links of GOLD, for one that has none: NAACL, Pharaoh, ...")
@click.option(
    "--gold-format",
    type=click.Choice(("auto", *ONE_FILE_PAIR_FORMATS)),
    default="auto",
    show_default=True,
    help="Format of GOLD.",
)
@click.option(
    "--format",
    "format",
    type=click.Choice(("auto", *WRITABLE_PAIR_FORMATS)),
    default="auto",
    show_default=True,
    help="Format of PREDICTED; auto goes by the suffix, then by the first line.",
)
@base_option
@interval_options
@json_option
def command(
    gold: str,
    predicted: tuple[str, ...],
    protocol: Any,
    possible: bool,
    gold_links: str | None,
    gold_format: str,
    format: str,
    base: str,
    intervals: int,
    seed: int,
    as_json: bool,
) -> None:
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
    from cepts.pipeline.phrase_scoring import GoldPairs, score_phrase_files

    refuse_stdin_twice(gold, gold_links, *predicted)
    found = score_phrase_files(
        GoldPairs(path=gold, format=gold_format, links=gold_links, base=int(base)),
        predicted,
        format=format,
        protocol=protocol,
        possible=possible,
        samples=intervals,
        seed=seed,
    )
    if as_json:
        print_json(_as_json(predicted, found))
        return
    names = short_names(predicted)
    click.echo(f"{found.pairs:,} sentence pairs, {found.comparisons[0].parts['all'].gold:,} gold links")
    _print_scores(names, found)
    for name, gap in zip(names[1:], found.resampled.differences, strict=False):
        click.echo()
        _print_gap(f"{name} minus {names[0]}", gap)
    click.echo(f"\nsignature  {found.signature}")


def _metric(part: str, ratio: str) -> str:
    return f"{part}_{ratio}".removeprefix("all_")


def _print_scores(names: list[str], found: PhraseScores) -> None:
    ranges = found.resampled.intervals
    columns = ["", "", "P, %", "R, %", "F1, %", *(["95 % interval"] if ranges else [])]
    columns += ["exact, %", *(["95 % interval"] if ranges else []), "predicted", "gold"]
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
    rows = []
    for metric, kind in [("exact", "exact match"), *((_metric(part, "f1"), f"F1, {KINDS[part]}") for part in KINDS)]:
        if metric in gaps:
            gap = gaps[metric]
            rows.append([kind, percent(gap.value, "+"), percent_range(gap.interval, "+"), f"{gap.p_value:.4f}"])
    print_table([title, "difference, %", "95 % interval", "p"], rows)


def _as_json(paths: tuple[str, ...], found: PhraseScores) -> dict[str, Any]:
    systems: list[dict[str, Any]] = []
    for place, (path, result) in enumerate(zip(paths, found.comparisons, strict=True)):
        system: dict[str, Any] = {"file": path, **result.as_dict()}
        for ranges in found.resampled.intervals[place : place + 1]:
            system["intervals"] = {metric: [r.low, r.high] for metric, r in ranges.items()}
        for gaps in found.resampled.differences[place - 1 : place]:
            system["minus_first"] = {
                metric: {"value": gap.value, "interval": list(asdict(gap.interval).values()), "p_value": gap.p_value}
                for metric, gap in gaps.items()
            }
        systems.append(system)
    return {"systems": systems, "signature": found.signature}
