"""The options and checks that all commands which make links share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cepts.cli import option
from cepts.errors import UsageError
from cepts.names import ASSIGNMENTS, LINK_FORMATS, ORPHANS, SELECTIONS

if TYPE_CHECKING:
    from cepts.extract import Extraction

EXTRACTORS = option.TableChoice("cepts.extract:EXTRACTORS")

matrices_option = option.text(
    "--matrices", "FILE", "Also write the association matrices, as JSON lines or .npz, for cepts factor."
)


def format_option(name: str, help: str, *, dest: str | None = None, default: str = "auto") -> Callable[[Any], Any]:
    """An option for the format of links; ``auto`` is among the formats of files that are read."""
    choices = ("auto", *LINK_FORMATS) if default == "auto" else LINK_FORMATS
    return option.choice(name, choices, help, dest=dest, default=default)


def combine_option(default: str = "agreement") -> Callable[[Any], Any]:
    """The option that chooses an extractor."""
    return option.choice(
        "--combine", EXTRACTORS, "How links are made from the two directions.", default=default, metavar="METHOD"
    )


def threshold_option(default: str = "") -> Callable[[Any], Any]:
    """The option --threshold; `default` is what the help says of it."""
    return option.real(
        "--threshold",
        "For agreement: lowest confidence of a link; a lower value gives more links. For onmf: how much a word must "
        f"share with its cept to stay in it; a lower value leaves fewer words unlinked.{default}",
        least=0,
        most=1,
        metavar="P",
    )


def _cepts(ctx: click.Context, option: click.Parameter, value: str | None) -> str | int | None:
    """How the number of cepts is chosen: by name, or that number."""
    if value is None or value in SELECTIONS:
        return value
    if value.isdecimal() and len(value) < 10 and int(value) > 0:
        return int(value)
    raise click.BadParameter(f"must be {', '.join(SELECTIONS)} or a number from 1 to 999,999,999. Got {value!r}.")


def factoring_options(when: str = "") -> Callable[[Any], Any]:
    """Add the options of `cepts.factor.Factoring` to a command; `when` stands before what each of them is."""

    def said(text: str) -> str:
        return when + (text[0].lower() + text[1:] if when else text)

    how_many = said(
        "Number of cepts in a pair. anneal chooses it by AIC while annealing, anneal-bic by BIC, anneal-icl by ICL; "
        "aic, bic and icl try every number with random starts, which is slow; N takes N cepts, or fewer in shorter "
        "pairs.  [default: anneal]"
    )
    sure = said("Lowest confidence of a sure link; links below it are possible links.  [default: 0.5]")
    restarts = said("Number of random starts for each number of cepts, with --cepts aic, bic or icl.  [default: 10]")
    assign = said(
        "How words are assigned to cepts: each to its most probable one, or from there on by classification EM, which "
        "has fewer links and more of them right.  [default: map]"
    )
    orphans = said(
        "What happens to words whose cept is removed, because it has no words on the other side: the other cepts are "
        "trained again, or the words go to them directly.  [default: retrain]"
    )
    return option.stacked(
        option.text("--cepts", "anneal|...|N", how_many, callback=_cepts),
        option.real("--sure", sure, least=0, most=1, metavar="P"),
        option.choice("--assign", ASSIGNMENTS, assign),
        option.choice("--orphans", ORPHANS, orphans),
        option.whole("--restarts", restarts),
        option.seed(said("Seed of the random starts.  [default: 0]"), default=None),
    )


def extraction_of(options: dict[str, Any]) -> Extraction:
    """How links are made, by the options of a command."""
    from cepts.extract import Extraction
    from cepts.factor import Factoring

    names = ("combine", "threshold", "association", *(["nbest"] if options["combine"] == "onmf" else []))
    return Extraction(**option.given(options, names), factoring=Factoring(**option.given(options, Factoring)))


def check_extraction(options: dict[str, Any]) -> None:
    """Refuse options that do not go with --combine, or with one another."""
    from cepts.factor import EXHAUSTIVE, Factoring

    combine = options["combine"]
    if options["threshold"] is not None and combine not in {"agreement", "onmf"}:
        raise UsageError(f"`threshold` goes with `combine` agreement or onmf, not with {combine}.")
    factoring = [f"`{name}`" for name in option.given(options, Factoring)]
    if combine != "onmf" and factoring:
        goes = "goes" if len(factoring) == 1 else "go"
        raise UsageError(f"{', '.join(factoring)} {goes} with `combine` onmf, not with {combine}.")
    if options.get("association") is not None and combine != "onmf" and options["matrices"] is None:
        raise UsageError(f"`association` goes with `combine` onmf or with `matrices`, not with {combine} alone.")
    if options["restarts"] is not None and options["cepts"] not in EXHAUSTIVE:
        names = f"{', '.join(EXHAUSTIVE[:-1])} or {EXHAUSTIVE[-1]}"
        raise UsageError(f"`restarts` goes with `cepts` {names}, not with {options['cepts'] or 'anneal'}.")
    matrices = options.get("matrices")
    if matrices is not None and Path(matrices).suffix.lower() == ".npy":
        raise UsageError(f"`matrices` {matrices}: a .npy file holds a single matrix; name it .npz or .jsonl.")


def check_lists(options: dict[str, Any], what: str, formats: Sequence[str]) -> None:
    """Refuse what goes with links and not with the lists of --nbest, which are of `what`."""
    for name in ("threshold", "scores", "matrices"):
        if options[name] is not None:
            raise UsageError(f"`{name}` goes with links, and `nbest` lists {what} instead; leave one of them out.")
    combine, format_ = options["combine"], options["format"]
    if combine not in {"agreement", "forward", "reverse"}:
        raise UsageError(
            f"`nbest` lists the {what} of single directions, not of `combine` {combine}; `combine` forward or reverse "
            "chooses one, without it both are listed."
        )
    if format_ not in {None, *formats}:
        raise UsageError(f"`nbest` is written in the format {' or '.join(formats)}, not {format_}.")


def listed_direction(options: dict[str, Any]) -> str:
    """Which directions --nbest lists."""
    return "both" if options["combine"] == "agreement" else str(options["combine"])
