"""`cepts demo`: a first result, without any file."""

from __future__ import annotations

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, print_table, say, width_of

SHOWN = 3


@click.command(
    "demo",
    epilog="""\b
Example:
  cepts demo""",
)
@option.quiet
def command(quiet: bool) -> None:
    """Align a small sample and show what comes out.

    The sample is 3,000 English-French sentence pairs of LibreOffice's help, of which 40 have gold links.
    """
    from cepts.pipeline.demo import align_sample
    from cepts.pipeline.reports import Table

    with ProgressBars(quiet=quiet) as bars:
        done = align_sample(bars)
    shortest = sorted(range(done.checked), key=lambda pair: (len(done.bitext.source[pair]), pair))
    for pair in shortest[3 : 3 + SHOWN]:
        _show_pair(*done.bitext[pair], done.links[pair].links, done.links[pair].confidence.tolist())
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
        f"{aligned} Now with your own text, a sentence a line:",
        "  cepts align source.txt target.txt -o links.txt --save model",
        "  cepts align source.txt target.txt --load model --combine onmf   every word in its group",
        "  cepts lexicon model --top 3        what the model has learnt",
        "  cepts score gold.wa links.txt      if you have gold links",
        "  cepts phrases align pairs.txt      sentences and their paraphrases, a ||| b a line",
        "  cepts lm fit text.txt --save DIR   a language model that adapts to a topic",
        "  cepts --help                       all commands",
        quiet=quiet,
    )


def _show_pair(source: list[str], target: list[str], links: list[tuple[int, int]], confidence: list[float]) -> None:
    """A pair as a picture: a row a source word, a column a target word, a mark where they are linked."""
    width = max(map(width_of, source))
    strong = dict(zip(links, confidence, strict=True))
    click.echo(" " * width + "  " + " ".join(target))
    for i, word in enumerate(source):
        marks = []
        for j, other in enumerate(target):
            share = strong.get((i, j))
            mark = "·" if share is None else "■" if share >= 0.75 else "□"
            left = (width_of(other) - 1) // 2
            marks.append(" " * left + mark + " " * (width_of(other) - 1 - left))
        click.echo(word + " " * (width - width_of(word)) + "  " + " ".join(marks).rstrip())
    click.echo()
