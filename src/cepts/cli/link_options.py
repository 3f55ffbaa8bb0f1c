"""The options and checks that all commands which make links share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import finite, moderate
from cepts.cli.tables import TableChoice
from cepts.errors import UsageError
from cepts.names import SELECTIONS

if TYPE_CHECKING:
    from cepts.extract import Extraction

__all__ = [
    "EXTRACTORS",
    "base_option",
    "check_extraction",
    "combine_option",
    "extraction_of",
    "factoring_options",
    "given",
    "links_option",
    "matrices_option",
    "threshold_option",
]

EXTRACTORS = TableChoice("cepts.extract:EXTRACTORS")

links_option = click.option(
    "-o", "--output", default="-", metavar="FILE", help="Where the links go.  [default: stdout]"
)
matrices_option = click.option(
    "--matrices", metavar="FILE", help="Also write the association matrices, as JSON lines or .npz."
)
base_option = click.option(
    "--base", type=click.Choice(["0", "1"]), default="0", help="Number of the first word in Pharaoh links."
)


def combine_option(name: str = "--combine", default: str = "agreement") -> Callable[[Any], Any]:
    """The option that chooses an extractor."""
    return click.option(
        name,
        "combine",
        type=EXTRACTORS,
        default=default,
        show_default=True,
        help="How the two directions make one alignment.",
    )


def threshold_option(default: str = "") -> Callable[[Any], Any]:
    """The option --threshold; `default` is what the help tells of it."""
    return click.option(
        "--threshold",
        type=click.FloatRange(0, 1),
        metavar="P",
        callback=finite,
        help="For agreement: the least confidence of a link; lower gives more links. For onmf: how much a word must "
        f"have in common with its cept to stay in it.{default}",
    )


def parse_cepts(ctx: click.Context, option: click.Parameter, value: str | None) -> str | int | None:
    """How the number of cepts is chosen: by name, or that number."""
    if value is None or value in SELECTIONS:
        return value
    if value.isdecimal() and len(value) < 10 and int(value) > 0:
        return int(value)
    raise click.BadParameter(f"wants {', '.join(SELECTIONS)} or a number from 1 to 999,999,999. Got {value!r}.")


def factoring_options(when: str = "") -> Callable[[Any], Any]:
    """Add the options of `cepts.factor.Factoring` to a command; `when` stands before what each of them is."""

    def said(text: str) -> str:
        return when + (text[0].lower() + text[1:] if when else text)

    options = (
        click.option(
            "--cepts",
            metavar="HOW",
            callback=parse_cepts,
            help=said(
                "How many cepts a pair has: anneal chooses by AIC in one annealing pass, anneal-bic by BIC; aic and "
                "bic try every number from random starts, which is slow; a number is that many, fewer in shorter "
                "pairs.  [default: anneal]"
            ),
        ),
        click.option(
            "--sure",
            type=click.FloatRange(0, 1),
            metavar="P",
            callback=finite,
            help=said("The least confidence of a sure link; the others are possible ones.  [default: 0.5]"),
        ),
        click.option(
            "--restarts",
            type=click.IntRange(1),
            metavar="N",
            callback=moderate,
            help=said("Random starts for each number of cepts, with --cepts aic or bic.  [default: 10]"),
        ),
        click.option(
            "--seed",
            type=click.IntRange(0),
            metavar="N",
            callback=moderate,
            help=said("Seed for random starts.  [default: 0]"),
        ),
    )

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def given(options: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The options among `names` that the user gave."""
    return {name: options[name] for name in names if options.get(name) is not None}


def extraction_of(options: dict[str, Any]) -> Extraction:
    """How links are made, by the options of a command."""
    from cepts.extract import Extraction
    from cepts.factor import Factoring

    chosen = given(options, ("combine", "threshold", "association"))
    lists = given(options, ("nbest",)) if options["combine"] == "onmf" else {}
    return Extraction(**chosen, **lists, factoring=Factoring(**given(options, _factoring())))


def _factoring() -> list[str]:
    """Options that say how cepts are found."""
    from cepts.factor import Factoring

    return [option.name for option in fields(Factoring)]


def check_extraction(options: dict[str, Any]) -> None:
    """Refuse options that do not go with --combine, or with one another."""
    combine = options["combine"]
    if options["threshold"] is not None and combine not in {"agreement", "onmf"}:
        raise UsageError(f"`threshold` goes with `combine` agreement or onmf, not with {combine}.")
    factoring = [f"`{name}`" for name in given(options, _factoring())]
    if combine != "onmf" and factoring:
        goes = "goes" if len(factoring) == 1 else "go"
        raise UsageError(f"{', '.join(factoring)} {goes} with `combine` onmf, not with {combine}.")
    if options.get("association") is not None and combine != "onmf" and options["matrices"] is None:
        raise UsageError(f"`association` goes with `combine` onmf or with `matrices`, not with {combine} alone.")
    if options["restarts"] is not None and options["cepts"] not in {"aic", "bic"}:
        raise UsageError(f"`restarts` goes with `cepts` aic or bic, not with {options['cepts'] or 'anneal'}.")
    matrices = options.get("matrices")
    if matrices is not None and Path(matrices).suffix.lower() == ".npy":
        raise UsageError(f"`matrices` {matrices}: a .npy file holds a single matrix; name it .npz or .jsonl.")
