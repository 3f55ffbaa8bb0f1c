"""`cepts lm show`: what hidden documents are about."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from cepts.cli import option
from cepts.cli.checks import check_plot
from cepts.cli.console import ProgressBars, print_json, print_table, say, width_of
from cepts.cli.lm.common import counted, reading_of, reading_options

if TYPE_CHECKING:
    from cepts.pipeline.hidden_documents import HiddenSummary, HiddenView

PLAIN_WIDTH = 80  # where stdout is no terminal


@click.command(
    "show",
    epilog="""\b
Examples:
  cepts lm show biology
  cepts lm show biology --words cell --words mendel
  cepts lm show biology --text textbook.txt --plot hidden.png""",
)
@click.argument("directory")
@click.option(
    "--hidden-document",
    "-n",
    type=int,
    multiple=True,
    metavar="N",
    help="Show the hidden document with this number; may be given again.  [default: those with the largest P(d)]",
)
@option.whole("--count", "How many to show.", least=None, default=20)
@option.whole("--top", "Words of each.", least=None, default=10)
@click.option(
    "--words", "-w", multiple=True, metavar="WORD", help="Show the hidden documents of this word; may be given again."
)
@option.text(
    "--text",
    "FILE",
    "Also estimate P(d) from the histories of this text; may be given again.",
    dest="texts",
    multiple=True,
)
@reading_options
@option.text("--plot", "FILE", "Draw P(word | d) of some hidden documents and P(d) of all (.png .svg .pdf).")
@option.json
@option.quiet
def command(directory: str, **options: Any) -> None:
    """Show the hidden documents of a model.

    DIRECTORY is what 'cepts lm fit --save' wrote. Each column is a hidden document d: its number, P(d), how many words
    have 50, 90 and 99 % of its probability, and the words with the highest P(word | d).
    """
    from cepts.pipeline.hidden_documents import show_files

    check_plot(options["plot"])
    wanted = {name: options[name] for name in ("texts", "hidden_document", "count", "top", "words")}
    with ProgressBars(quiet=options["quiet"]) as bars:
        found = show_files(directory, **wanted, reading=reading_of(options), progress=bars)
    if options["plot"] is not None:
        from cepts.plot import plot_hidden_documents

        plot_hidden_documents(options["plot"], found.drawn, found.hidden.priors, estimated=found.estimated)
    if options["as_json"]:
        print_json(found.as_dict())
    elif found.of_words:
        _print_words(found.of_words)
    else:
        _print_documents(found)
    if options["plot"] is not None:
        say(f"figure   {options['plot']}", quiet=options["quiet"])


def _print_documents(found: HiddenSummary) -> None:
    from cepts.pipeline.hidden_documents import SHARES

    half, most, nearly = found.medians
    click.echo(f"{counted(len(found.hidden), 'hidden document')} of {counted(len(found.hidden.numbers), 'word')}")
    click.echo(
        f"half of their probability is in {half:,.0f} words, 90 % in {most:,.0f}, 99 % in {nearly:,.0f} (medians)"
    )
    if found.correlation is not None:
        click.echo(f"P(d) and its estimates from the text, eq. (18), correlate by {found.correlation:.3f}")
    labels = ["P(d)", *(["estimated"] if found.estimated is not None else [])]
    longest = max(len(view.words) for view in found.shown)
    labels += [*(f"{100 * share:.0f} %" for share in SHARES), "words", *[""] * (longest - 1)]
    columns = []
    for view in found.shown:
        cells = [f"{prior:.4f}" for prior in (view.prior, view.estimated) if prior is not None]
        cells += [f"{count:,}" for count in view.needed]
        cells += [word for word, _ in view.words] + [""] * (longest - len(view.words))
        columns.append((str(view.number), cells))
    for group in _groups(columns, max(map(width_of, ["d", *labels]))):
        click.echo()
        rows = list(zip(labels, *(cells for _, cells in group), strict=True))
        print_table(("d", *(name for name, _ in group)), rows, left=1 + len(group))


def _groups(columns: Sequence[tuple[str, list[str]]], first: int) -> list[list[tuple[str, list[str]]]]:
    """Columns that fit side by side, after one of the width `first`."""
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else PLAIN_WIDTH
    groups: list[list[tuple[str, list[str]]]] = []
    left = 0
    for name, cells in columns:
        width = 3 + max(map(width_of, [name, *cells]))
        if not groups or width > left:
            groups.append([])
            left = room - first - 3
        groups[-1].append((name, cells))
        left -= width
    return groups


def _print_words(of_words: Mapping[str, Sequence[HiddenView]]) -> None:
    table = [
        (
            word if not place else "",
            str(view.number),
            f"{view.given_word:.3f}",
            f"{view.word_given_document:.4f}",
            " ".join(other for other, _ in view.words),
        )
        for word, views in of_words.items()
        for place, view in enumerate(views)
    ]
    heads = ("word", "d", "P(d | word)", "P(word | d)", "words of d")
    widths = [max(map(width_of, column)) for column in list(zip(heads, *table, strict=True))[:4]]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else PLAIN_WIDTH + 20
    left = max(room - sum(widths) - 3 * len(heads), 20)
    # The words come last, because there may be any number of them.
    print_table(heads, [(*row[:4], _cut(row[4], left)) for row in table], left=len(heads))


def _cut(text: str, width: int) -> str:
    """As many whole words of `text` as fit."""
    while width_of(text) > width and " " in text:
        text = text.rpartition(" ")[0]
    return text
