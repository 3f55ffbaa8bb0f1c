"""`cepts lm perplexity`: how well a model predicts a text, and what each of its parts does for that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cepts.cli.console import ProgressBars, print_json, print_table
from cepts.cli.lm.common import (
    counted,
    documents_option,
    errors_option,
    json_option,
    percent_less,
    quiet_option,
    read_for,
    say_notes,
    shown_perplexity,
    threads_option,
)

if TYPE_CHECKING:
    from cepts.evaluate import Perplexities
    from cepts.lm import AdaptedModel

__all__ = ["command"]


@click.command(
    "perplexity",
    epilog="""\b
Examples:
  cepts lm perplexity biology lecture.txt
  cepts lm perplexity biology lectures/ --reset document --by-document""",
)
@click.argument("directory")
@click.argument("text", nargs=-1, required=True)
@documents_option
@errors_option
@click.option(
    "--reset",
    type=click.Choice(["document", "never"]),
    default="never",
    show_default=True,
    help="When the model forgets what it has read: with each document, or never.",
)
@click.option("--ends/--no-ends", default=True, help="Count the ends of sentences as words.  [default: yes]")
@click.option("--by-document", is_flag=True, help="List each document, too.")
@threads_option
@json_option
@quiet_option
def command(directory: str, text: tuple[str, ...], **options: Any) -> None:
    """How well a model predicts a text.

    DIRECTORY is what 'cepts lm fit --save' wrote; TEXTs are files or directories of documents. The table has the
    perplexity of each n-gram model, of their interpolation, of that and one other component, and of all together; and
    of all without that component. Weights are those of the model, and what a part that is left out would have goes to
    the n-gram: nothing is tuned on TEXT. Unknown words are left out and counted.
    """
    from cepts.lm import load_adapted
    from cepts.pipeline.lm import score_documents

    notices: list[str] = []
    with ProgressBars(quiet=options["quiet"]) as bars:
        model = load_adapted(directory)
        # One document is as good as many, unless the model is to forget at their ends.
        documents = read_for(model, text, options, bars, notices, one_will_do=options["reset"] == "never")
        found = score_documents(
            model,
            documents,
            reset=options["reset"] == "document",
            count_ends=options["ends"],
            threads=options["threads"],
            progress=bars,
        )
    say_notes(notices, quiet=options["quiet"])
    if options["as_json"]:
        print_json(_as_json(model, found, by_document=options["by_document"]))
        return
    _print(model, found, by_document=options["by_document"])


def _print(model: AdaptedModel, found: Perplexities, *, by_document: bool) -> None:
    counts = found.as_dict()
    click.echo(
        ", ".join(counted(counts[f"{name}s"], name) for name in ("document", "sentence", "word"))
        + f"; {counts['unknown']:,} unknown ({counts['unknown_rate']:.1%})"
    )
    values = found.values
    base = values["background"]
    rows: list[tuple[str, ...]] = []
    names = model.facts.get("ngrams", [])
    if len(model.background) > 1:
        for number, weight in enumerate(model.background.weights.tolist()):
            name = f"n-grams {names[number] if number < len(names) else number + 1}"
            rows.append((name, f"{weight:.3f}", shown_perplexity(values[f"ngram {number + 1}"]), "", ""))
    rows.append(("background", f"{model.weights[0]:.3f}", shown_perplexity(base), "", ""))
    for name, weight in zip(model.components[1:], model.weights[1:].tolist(), strict=True):
        alone, without = values[f"with {name}"], values[f"without {name}"]
        cells = shown_perplexity(alone), percent_less(alone, base), shown_perplexity(without)
        rows.append((f"+ {name}", f"{weight:.3f}", *cells))
    rows.append(("all", "", shown_perplexity(values["all"]), percent_less(values["all"], base), ""))
    print_table(("model", "weight", "perplexity", "change, %", "all without it"), rows)
    if by_document:
        click.echo()
        _print_documents(found)
    click.echo(f"\nsignature  {found.signature}")


def _print_documents(found: Perplexities) -> None:
    values = found.of_documents()
    places = [found.models.index(name) for name in ("background", "all")]
    rows = []
    for number, name in enumerate(found.documents):
        before, after = values[number, places].tolist()
        counts = f"{found.words[number]:,}", f"{found.unknown[number]:,}"
        rows.append((name, *counts, shown_perplexity(before), shown_perplexity(after), percent_less(after, before)))
    print_table(("document", "words", "unknown", "background", "all", "change, %"), rows)


def _as_json(model: AdaptedModel, found: Perplexities, *, by_document: bool) -> dict[str, Any]:
    whole = found.as_dict()
    whole["weights"] = dict(zip(model.components, model.weights.tolist(), strict=True))
    whole["interpolation"] = model.background.weights.tolist()
    if by_document:
        values = found.of_documents()
        places = {name: found.models.index(name) for name in ("background", "all")}
        whole["by_document"] = [
            {
                "document": name,
                "sentences": int(found.sentences[number]),
                "words": int(found.words[number]),
                "unknown": int(found.unknown[number]),
                **{model: _number(values[number, place]) for model, place in places.items()},
            }
            for number, name in enumerate(found.documents)
        ]
    return {**whole, "signature": found.signature}


def _number(value: float) -> float | None:
    return float(value) if abs(value) < float("inf") else None
