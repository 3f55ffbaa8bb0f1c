"""`cepts lm perplexity`: how well a model predicts a text, and what each component contributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, print_json, print_table
from cepts.cli.lm.common import counted, percent_less, reading_of, reading_options, shown_perplexity
from cepts.names import DOCUMENT_RESETS

if TYPE_CHECKING:
    from cepts.pipeline.lm import PerplexityReport


@click.command(
    "perplexity",
    epilog="""\b
Examples:
  cepts lm perplexity biology lecture.txt
  cepts lm perplexity biology lectures/ --reset document --by-document""",
)
@click.argument("directory")
@click.argument("text", nargs=-1, required=True)
@reading_options
@option.choice(
    "--reset",
    DOCUMENT_RESETS,
    "When the model forgets what it has read: at the end of each document, or never.",
    default="never",
)
@option.flag("--ends/--no-ends", "Count the ends of sentences as words.  [default: yes]", default=True)
@option.flag("--by-document", "Also list each document.")
@option.threads
@option.json
@option.quiet
def command(directory: str, text: tuple[str, ...], **options: Any) -> None:
    """How well a model predicts a text.

    DIRECTORY is what 'cepts lm fit --save' wrote; TEXTs are files or directories of documents. The table has the
    perplexity of each n-gram model, of their interpolation, of that with one other component, of all together, and of
    all without that component. The weights are those of the model, and the weight of a component that is left out goes
    to the n-gram: nothing is tuned on TEXT. Unknown words are counted but not scored.
    """
    from cepts.pipeline.lm import perplexity_files

    with ProgressBars(quiet=options["quiet"]) as bars:
        report = perplexity_files(
            directory,
            text,
            reset=options["reset"] == "document",
            count_ends=options["ends"],
            reading=reading_of(options),
            threads=options["threads"],
            notices=bars.notices,
            progress=bars,
        )
    if options["as_json"]:
        print_json(report.as_dict(by_document=options["by_document"]))
    else:
        _print(report, by_document=options["by_document"])


def _print(report: PerplexityReport, *, by_document: bool) -> None:
    counts = report.found.as_dict()
    click.echo(
        ", ".join(counted(counts[f"{name}s"], name) for name in ("document", "sentence", "word"))
        + f"; {counts['unknown']:,} unknown ({counts['unknown_rate']:.1%})"
    )
    predictor, values = report.model.predictor_, report.found.values

    def row(title: str, name: str, weight: float | None = None) -> tuple[str, ...]:
        adapted = name == "all" or name.startswith("with ")
        change = percent_less(values[name], values["background"]) if adapted else ""
        without = values.get(f"without {name.removeprefix('with ')}")
        shown = "" if weight is None else f"{weight:.3f}"
        return title, shown, shown_perplexity(values[name]), change, shown_perplexity(without)

    weights = predictor.background.weights.tolist()
    named = enumerate(zip(report.model.record_.ngrams, weights, strict=True), start=1)
    rows = [row(f"n-grams {name}", f"ngram {n}", weight) for n, (name, weight) in named if len(weights) > 1]
    rows.append(row("background", "background", predictor.weights[0]))
    components = zip(predictor.components[1:], predictor.weights[1:].tolist(), strict=True)
    rows += [row(f"+ {name}", f"with {name}", weight) for name, weight in components]
    rows.append(row("all", "all"))
    print_table(("model", "weight", "perplexity", "change, %", "all without it"), rows)
    if by_document:
        click.echo()
        _print_documents(report)
    click.echo(f"\nsignature  {report.found.signature}")


def _print_documents(report: PerplexityReport) -> None:
    rows = []
    for row in report.document_rows():
        before, after = row["background"], row["all"]
        counts = f"{row['words']:,}", f"{row['unknown']:,}"
        change = percent_less(after, before)
        rows.append((row["document"], *counts, shown_perplexity(before), shown_perplexity(after), change))
    print_table(("document", "words", "unknown", "background", "all", "change, %"), rows)
