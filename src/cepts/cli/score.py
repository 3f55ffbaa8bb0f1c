"""`cepts score`: links against gold links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cepts.cli import option
from cepts.cli.cells import RANGE, bounds, compared, gap_cells, percent, percent_range, short_names
from cepts.cli.checks import refuse_stdin_twice
from cepts.cli.console import print_json, print_table
from cepts.cli.link_options import link_format_option

if TYPE_CHECKING:
    from cepts.evaluate import Comparison
    from cepts.pipeline.scoring import SystemScores

MEASURES = {
    "aer": "AER",
    "sure_precision": "precision on sure",
    "sure_recall": "recall on sure",
    "sure_f1": "F1 on sure",
    "possible_precision": "precision on possible",
    "possible_recall": "recall on possible",
    "possible_f1": "F1 on possible",
}
SHORT_MEASURES = ("AER", "P sure", "R sure", "F1 sure", "P possible", "R possible", "F1 possible")


@click.command("score")
@click.argument("gold")
@click.argument("links")
@click.argument("links2", required=False)
@option.sides
@link_format_option("--gold-format", "Format of GOLD.")
@link_format_option("--format", "Format of LINKS and LINKS2; auto goes by the suffix, then by the first line.")
@option.base("--gold-base", "As --base, for GOLD.  [default: that of --base]", default=None)
@option.base()
@option.flag("--reverse-gold", "GOLD has target-source links.")
@option.whole("--sentences", "How many sentence pairs there are.")
@option.flag("--null", "Count a word without links as linked to null; needs the sentences.")
@option.flag("--per-sentence", "Also score each sentence pair.")
@option.whole(
    "--bootstrap", "Samples for intervals and for the comparison of two systems; 0 for none.", least=0, default=1000
)
@option.seed()
@option.flag("--json", "Print JSON, with ratios from 0 to 1.", dest="as_json")
def command(gold: str, links: str, links2: str | None, **options: Any) -> None:
    """Score links against gold links.

    GOLD, LINKS and LINKS2 are link files of the same sentence pairs. In GOLD a link is sure (`i-j`, or S)
    or only possible (`i?j`, or P). Precision, recall and F1 on sure and on possible links and the alignment
    error rate are printed in %, with 95 % bootstrap intervals; with LINKS2 also the difference (second
    minus first) and the p-value of approximate randomisation. The shares of covered words need the
    sentences: --source and --target, or --bitext.

    \b
    Examples:
      cepts score gold.wa test.links --source test.en --target test.fr
      head -n 40 all.links | cepts score gold.wa -
      cepts score gold.wa one.links other.links --json
    """  # noqa: D301
    from cepts.pipeline.link_files import LinkFile, read_sides
    from cepts.pipeline.scoring import score_links

    sides = options["source"], options["target"], options["bitext"]
    refuse_stdin_twice(gold, links, links2, *sides)
    names = [links] if links2 is None else [links, links2]
    base, gold_base = options["base"], options["gold_base"]
    found = score_links(
        LinkFile(gold, options["gold_format"], base if gold_base is None else gold_base),
        [LinkFile(name, options["format"], base) for name in names],
        sides=read_sides(*sides),
        **option.given(options, ("sentences", "reverse_gold", "null", "bootstrap", "seed")),
    )
    if options["as_json"]:
        print_json(_as_json(names, found, options["per_sentence"]))
        return
    shown = short_names(names)
    if options["per_sentence"]:
        _print_sentences(shown, found.comparisons)
        click.echo()
    _print_scores(shown, found)
    click.echo(f"\nsignature  {found.signature}")


def _print_scores(names: list[str], found: SystemScores[Comparison]) -> None:
    ranges = found.resampled.intervals
    gaps = found.resampled.differences[0] if found.resampled.differences else {}
    columns = [""]
    for name in names:
        columns += [name, RANGE] if ranges else [name]
    if gaps:
        columns += ["difference", RANGE, "p"]
    scores = [result.scores for result in found.comparisons]
    rows = []
    for metric, title in MEASURES.items():
        row = [f"{title}, %"]
        for system, score in enumerate(scores):
            row.append(percent(getattr(score, metric)))
            if ranges:
                row.append(percent_range(ranges[system][metric]))
        if gaps:
            row += gap_cells(gaps[metric])
        rows.append(row)

    def add(title: str, cells: list[str]) -> None:
        row = [title]
        for cell in cells:
            row += [cell, ""] if ranges else [cell]
        rows.append(row + [""] * (len(columns) - len(row)))

    add("links", [f"{score.links:,}" for score in scores])
    for side in ("source", "target"):
        if getattr(scores[0], f"{side}_words") is not None:
            add(f"{side} words covered", [f"{getattr(score, f'{side}_covered'):,}" for score in scores])
            add(f"{side} words covered, %", [percent(getattr(score, f"{side}_coverage")) for score in scores])
    first = scores[0]
    click.echo(
        f"{first.sentences:,} sentence pairs, {first.sure:,} sure and "
        f"{first.possible - first.sure:,} only possible gold links"
    )
    print_table(columns, rows)


def _print_sentences(names: list[str], results: list[Comparison]) -> None:
    """A line for each sentence pair: of one system all measures, of two the links and AER of each."""
    one_by_one = [result.per_sentence() for result in results]
    columns = ["pair", "sure", "possible"]
    if len(results) == 1:
        columns += ["links", *SHORT_MEASURES]
    else:
        columns += [f"{what}, {name}" for name in names for what in ("links", "AER")] + ["difference"]
    rows = []
    for number, scores in enumerate(zip(*one_by_one, strict=True), start=1):
        row: list[object] = [number, scores[0].sure, scores[0].possible]
        if len(results) == 1:
            row += [scores[0].links, *(percent(getattr(scores[0], metric)) for metric in MEASURES)]
        else:
            for score in scores:
                row += [score.links, percent(score.aer)]
            row.append(percent(scores[1].aer - scores[0].aer, "+"))
        rows.append(row)
    print_table(columns, rows, left=0)


def _as_json(names: list[str], found: SystemScores[Comparison], per_sentence: bool) -> dict[str, Any]:
    ranges = found.resampled.intervals
    systems: list[dict[str, Any]] = []
    for place, (name, result) in enumerate(zip(names, found.comparisons, strict=True)):
        system: dict[str, Any] = {"links_file": name, **result.scores.as_dict()}
        if ranges:
            system["intervals"] = bounds(ranges[place])
        if per_sentence:
            system["per_sentence"] = [scores.as_dict() for scores in result.per_sentence()]
        systems.append(system)
    whole: dict[str, Any] = {"systems": systems}
    for gaps in found.resampled.differences:
        whole["differences"] = compared(gaps)
    return {**whole, "signature": found.signature}
