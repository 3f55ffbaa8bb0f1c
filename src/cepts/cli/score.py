"""`cepts score`: links against gold links."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.choices import FORMATS
from cepts.cli.console import print_json, print_table
from cepts.cli.lengths import Sides, can_reread, read_sides, refuse_stdin_twice, sides_options
from cepts.errors import DataError, UsageError

if TYPE_CHECKING:
    from cepts.data import Alignments
    from cepts.evaluate import Comparison, Difference, Interval

__all__ = ["command"]

LEVEL = 0.95
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
@sides_options
@click.option(
    "--gold-format", type=click.Choice(("auto", *FORMATS)), default="auto", show_default=True, help="Format of GOLD."
)
@click.option(
    "--format",
    "format",
    type=click.Choice(("auto", *FORMATS)),
    default="auto",
    show_default=True,
    help="Format of LINKS and LINKS2; auto goes by the suffix, then by the first line.",
)
@click.option("--gold-base", type=click.Choice(["0", "1"]), help="As --base, for GOLD.  [default: that of --base]")
@click.option(
    "--base",
    type=click.Choice(["0", "1"]),
    default="0",
    show_default=True,
    help="The number of a sentence's first word in Pharaoh files.",
)
@click.option("--reverse-gold", is_flag=True, help="GOLD has target-source links.")
@click.option("--sentences", type=click.IntRange(1), metavar="N", help="How many sentence pairs there are.")
@click.option("--null", is_flag=True, help="Count a word without links as linked to null; needs the sentences.")
@click.option("--per-sentence", is_flag=True, help="Also score each sentence pair.")
@click.option(
    "--bootstrap",
    type=click.IntRange(0),
    metavar="N",
    default=1000,
    show_default=True,
    help="Samples for intervals and for the comparison of two systems; 0 leaves them out.",
)
@click.option("--seed", type=click.IntRange(0), metavar="N", default=0, show_default=True, help="For these samples.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with ratios from 0 to 1.")
def command(
    gold: str,
    links: str,
    links2: str | None,
    source: str | None,
    target: str | None,
    bitext: str | None,
    gold_format: str,
    format: str,
    gold_base: str | None,
    base: str,
    reverse_gold: bool,
    sentences: int | None,
    null: bool,
    per_sentence: bool,
    bootstrap: int,
    seed: int,
    as_json: bool,
) -> None:
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
    from cepts.evaluate import compare, differences, intervals
    from cepts.signature import signature

    refuse_stdin_twice(gold, links, links2, source, target, bitext)
    sides = read_sides(source, target, bitext)
    if null and (sides.source_lengths is None or sides.target_lengths is None):
        raise UsageError("--null needs the sentences of both sides; add --source and --target, or --bitext.")
    if sentences is not None and sides.pairs not in (None, sentences):
        raise UsageError(f"--sentences is {sentences:,} but the sentence files have {sides.pairs:,} lines.")
    names = [links] if links2 is None else [links, links2]
    gold_links, systems = _read_all(
        gold,
        names,
        sides,
        sentences,
        reverse_gold,
        {"format": gold_format, "base": int(gold_base or base)},
        {"format": format, "base": int(base)},
    )
    facts = {"gold-base": gold_base or base, "base": base}
    results = [compare(gold_links, system, null=null, facts=facts, **sides.lengths()) for system in systems]
    ranges: list[dict[str, Interval]] = []
    gaps: dict[str, Difference] = {}
    drawn = {}
    if bootstrap:
        ranges = [intervals(result, samples=bootstrap, seed=seed, level=LEVEL) for result in results]
        drawn = {"bootstrap": bootstrap, "seed": seed, "level": f"{LEVEL:g}"}
    if bootstrap and links2 is not None:
        gaps = differences(*results, samples=bootstrap, seed=seed, level=LEVEL)
        drawn["test"] = "approximate-randomisation"
    line = signature({**results[0].facts, **drawn})

    if as_json:
        print_json(_as_json(names, results, ranges, gaps, per_sentence, line))
        return
    shown = _short_names(names)
    if per_sentence:
        _print_sentences(shown, results)
        click.echo()
    _print_scores(shown, results, ranges, gaps)
    click.echo(f"\nsignature  {line}")


def _read_all(
    gold: str,
    names: list[str],
    sides: Sides,
    sentences: int | None,
    reverse_gold: bool,
    gold_options: dict[str, Any],
    options: dict[str, Any],
) -> tuple[Alignments, list[Alignments]]:
    """The gold and the systems' links, of as many sentence pairs.

    NAACL files do not say how many pairs there are. Links may therefore end before the gold does, but a
    gold that ends before the links is taken for the gold of a part of the sentences, unless the user gave
    their number.
    """
    from cepts.io import read_links, swap_sides

    found = read_links(gold, sentences=sentences, **gold_options)
    pairs = sides.pairs or sentences
    systems = []
    for name in names:
        system = read_links(name, sentences=pairs, **sides.lengths(), **options)
        if len(system) < len(found) and pairs is None and can_reread(name):
            system = _reread(name, len(system), gold, len(found), options)
        if len(system) != len(found):
            raise _unequal(gold, len(found), name, len(system))
        systems.append(system)
    if sides.pairs is not None and can_reread(gold):
        # Once more, now that the numbers of pairs agree: links out of range are named by file and line.
        found = read_links(gold, **sides.lengths(swapped=reverse_gold), **gold_options)
    return swap_sides(found) if reverse_gold else found, systems


def _reread(name: str, pairs: int, gold: str, wanted: int, options: dict[str, Any]) -> Alignments:
    from cepts.io import read_links

    try:
        return read_links(name, sentences=wanted, **options)
    except DataError:
        raise _unequal(gold, wanted, name, pairs) from None


def _unequal(gold: str, gold_pairs: int, name: str, pairs: int) -> DataError:
    if gold_pairs > pairs:
        remedy = "there is gold for sentences that do not exist; give the links of all of the gold's pairs."
    else:
        remedy = f"give the links of the gold's pairs only, or --sentences {pairs} if the gold has no more links."
    return DataError(f"{gold} has gold links of {gold_pairs:,} sentence pairs but {name} has {pairs:,}; {remedy}")


def _short_names(names: list[str]) -> list[str]:
    """File names without their folders, unless these tell them apart."""
    short = [Path(name).name if name != "-" else "stdin" for name in names]
    return short if len(set(short)) == len(short) else names


def _percent(value: float | None, sign: str = "") -> str:
    return "" if value is None else f"{100 * value:{sign}.2f}"


def _range(interval: Interval, sign: str = "") -> str:
    return f"{_percent(interval.low, sign)} to {_percent(interval.high, sign)}"


def _print_scores(
    names: list[str],
    results: list[Comparison],
    ranges: list[dict[str, Interval]],
    gaps: dict[str, Difference],
) -> None:
    columns = [""]
    for name in names:
        columns += [name, "95 % interval"] if ranges else [name]
    if gaps:
        columns += ["difference", "95 % interval", "p"]
    scores = [result.scores for result in results]
    rows = []
    for metric, title in MEASURES.items():
        row = [f"{title}, %"]
        for system, score in enumerate(scores):
            row.append(_percent(getattr(score, metric)))
            if ranges:
                row.append(_range(ranges[system][metric]))
        if gaps:
            gap = gaps[metric]
            row += [_percent(gap.value, "+"), _range(gap.interval, "+"), f"{gap.p_value:.4f}"]
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
            add(f"{side} words covered, %", [_percent(getattr(score, f"{side}_coverage")) for score in scores])
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
            row += [scores[0].links, *(_percent(getattr(scores[0], metric)) for metric in MEASURES)]
        else:
            for score in scores:
                row += [score.links, _percent(score.aer)]
            row.append(_percent(scores[1].aer - scores[0].aer, "+"))
        rows.append(row)
    print_table(columns, rows, left=0)


def _as_json(
    names: list[str],
    results: list[Comparison],
    ranges: list[dict[str, Interval]],
    gaps: dict[str, Difference],
    per_sentence: bool,
    line: str,
) -> dict[str, Any]:
    systems: list[dict[str, Any]] = []
    for place, (name, result) in enumerate(zip(names, results, strict=True)):
        system: dict[str, Any] = {"links_file": name, **result.scores.as_dict()}
        if ranges:
            system["intervals"] = {metric: [r.low, r.high] for metric, r in ranges[place].items()}
        if per_sentence:
            system["per_sentence"] = [scores.as_dict() for scores in result.per_sentence()]
        systems.append(system)
    whole: dict[str, Any] = {"systems": systems}
    if gaps:
        whole["differences"] = {
            metric: {
                "value": gap.value,
                "interval": list(asdict(gap.interval).values()),
                "p_value": gap.p_value,
            }
            for metric, gap in gaps.items()
        }
    return {**whole, "signature": line}
