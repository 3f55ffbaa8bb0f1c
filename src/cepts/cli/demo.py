"""`cepts demo`: a first result, without any file."""

from __future__ import annotations

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, line_width, print_table, say, show
from cepts.cli.grid import legend, pair_lines
from cepts.cli.groups import Command

SHOWN = 3


@click.command(
    "demo",
    cls=Command,
    epilog="""\b
Example:
  cepts demo""",
)
@option.json
@option.quiet
def command(as_json: bool, quiet: bool) -> None:
    """Align a small sample and show the result.

    The sample has 3,000 English-French sentence pairs from the help pages of LibreOffice; 40 of them have gold links.
    """
    from cepts.pipeline.demo import align_sample
    from cepts.pipeline.reports import Report, Table, bounds

    with ProgressBars(quiet=quiet) as bars:
        done = align_sample(bars)
    if as_json:
        values = {
            method: {**scores.as_dict(), "intervals": bounds({"aer": interval})}
            for method, (scores, interval) in done.scores.items()
        }
        show(Report(values={"pairs": len(done.bitext), "gold_pairs": done.checked, "scores": values}), as_json=True)
        return
    shortest = sorted(range(done.checked), key=lambda pair: (len(done.bitext.source[pair]), pair))
    shown = shortest[3 : 3 + SHOWN]
    for pair in shown:
        click.echo("\n".join([*pair_lines(*done.bitext[pair], done.links[pair], width=line_width()), ""]))
    click.echo("\n".join([*legend([done.links[pair] for pair in shown]), ""]))
    columns = ("--combine", "precision", "recall", "AER", "95 % interval", "links")
    rows = [
        (
            method,
            *(f"{100 * ratio:.1f}" for ratio in (scores.precision, scores.recall, scores.aer)),
            f"{100 * interval.low:.1f}-{100 * interval.high:.1f}",
            f"{scores.links:,}",
        )
        for method, (scores, interval) in done.scores.items()
    ]
    print_table(Table(columns, rows, title=f"Against the {done.checked} pairs with gold links, in %:"))
    click.echo()
    aligned = f"Aligned {len(done.bitext):,} sentence pairs in {done.seconds:.1f} s."
    say(
        f"{aligned} Now try your own text, with one sentence per line:",
        "  cepts align source.txt target.txt -o links.txt --save model",
        "  cepts align source.txt target.txt --load model --combine onmf   words in groups",
        "  cepts lexicon model --top 3        word translations that the model has learnt",
        "  cepts score gold.wa links.txt      scores, if you have gold links",
        "  cepts phrases align pairs.txt      paraphrases, as lines of 'a ||| b'",
        "  cepts lm fit text.txt --save DIR   a language model that adapts to a topic",
        "  cepts --help                       all commands",
        quiet=quiet,
    )
