"""`cepts spaces fit`: from vectors and a dictionary to a shared space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import finite, moderate
from cepts.cli.console import ProgressBars, say, say_notes
from cepts.cli.spaces.common import threads_option
from cepts.errors import UsageError
from cepts.names import SPACE_METHODS, STARTS, STEPS, VECTOR_FORMATS
from cepts.progress import Stopwatch

if TYPE_CHECKING:
    from cepts.pipeline.space_fitting import SpaceFiles
    from cepts.spaces import SpaceModel

__all__ = ["command"]

# Options that only some methods have, by the names of their parameters.
OF_METHODS = {
    "factors": "factors",
    "exponent": "exponent",
    "shrinkage": "shrinkage",
    "pivot": "pivot",
    "iterations": "iterations",
    "tolerance": "tolerance",
    "start": "start",
    "plain_em": "accelerate",
}
FILES = ("dictionaries", "identical", "languages", "lowercase", "max_vocabulary", "vector_format")
DRAWN = ("ibfa", "mbfa", "cca")  # methods with something to plot


def _number_or_auto(ctx: click.Context, option: click.Parameter, value: str | None) -> float | str | None:
    if value is None or value == "auto":
        return value
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0.0 <= number < float("inf"):
        raise click.BadParameter(f"wants auto or a number from 0. Got {value!r}.")
    return number


def _steps(ctx: click.Context, option: click.Parameter, value: str) -> tuple[str, ...]:
    if value == "none":
        return ()
    steps = tuple(step.strip() for step in value.split(","))
    if any(step not in STEPS for step in steps):
        raise click.BadParameter(f"wants {' and '.join(STEPS)} with commas between them, or none. Got {value!r}.")
    return steps


@click.command(
    "fit",
    epilog="""\b
Examples:
  cepts spaces fit cc.en.300.vec.gz cc.fr.300.vec.gz --dictionary en-fr.txt --save en-fr
  cepts spaces fit en.vec fr.vec --identical --induce 10 --save en-fr
  cepts spaces fit en.vec fr.vec ru.vec --dictionary en-fr:a.txt --dictionary en-ru:b.txt --save three""",
)
@click.argument("vectors", nargs=-1, required=True)
@click.option(
    "-d",
    "--dictionary",
    "dictionaries",
    multiple=True,
    metavar="FILE",
    help="Translations, a column for each language; may be given again. For some of the languages: en-fr:FILE, or "
    "a file whose first line names its columns.",
)
@click.option("--identical", is_flag=True, help="Also use words that are spelt the same as entries.")
@click.option("--save", metavar="DIR", help="Directory to save the space in.")
@click.option("--vectors/--no-vectors", "keep_vectors", default=True, help="Save the vectors with it.  [default: yes]")
@click.option(
    "-l", "--languages", metavar="A,B,...", help="Names of the languages.  [default: by the names of the files]"
)
@click.option("--lowercase", is_flag=True, help="Put the words of the vectors in lower case.")
@click.option(
    "--max-vocabulary",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="Use only the first N words of each language.",
)
@click.option("--vector-format", type=click.Choice(VECTOR_FORMATS), help="Format of the vectors.  [default: as found]")
@click.option(
    "--method",
    type=click.Choice(tuple(SPACE_METHODS)),
    help="Method to fit by.  [default: ibfa for two languages, mbfa for more]",
)
@click.option(
    "--prepare",
    metavar="STEPS",
    default="unit,centre,unit",
    show_default=True,
    callback=_steps,
    help="How to prepare the vectors: unit (length 1), centre (mean subtracted), with commas between them; or none.",
)
@click.option(
    "--factors",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="Dimensions of the space.  [default: those of the narrowest vectors]",
)
@click.option(
    "--exponent",
    metavar="X",
    callback=_number_or_auto,
    help="Power of the correlations: higher favours dimensions that the languages share; 0.5 is the posterior mean.  "
    "[default: chosen on held-out entries]",
)
@click.option(
    "--shrinkage",
    metavar="X",
    callback=_number_or_auto,
    help="Ridge on the covariances, as a share of the mean variance.  [default: chosen on held-out entries, and "
    "lower as --induce adds entries]",
)
@click.option("--pivot", metavar="LANGUAGE", help="For direct maps: the language whose vectors stay as they are.")
@click.option(
    "--induce",
    type=click.IntRange(0),
    metavar="ROUNDS",
    default=0,
    show_default=True,
    callback=moderate,
    help="Grow the dictionary by words that are each other's nearest in the space, for at most this many rounds.",
)
@click.option(
    "--induce-vocabulary",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="How many words of each language, the most frequent, may be added.  [default: 10000]",
)
@click.option(
    "--induce-keep",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="P",
    callback=finite,
    help="Probability that a candidate is considered in the first round; less than 1 helps a poor dictionary.  "
    "[default: 1]",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="For mbfa: largest number of EM iterations.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    metavar="X",
    callback=finite,
    help="For mbfa: EM ends when a step gains less than this share of the gain so far.",
)
@click.option("--start", type=click.Choice(STARTS), help="For mbfa: where EM starts.  [default: joreskog]")
@click.option("--plain-em", is_flag=True, help="For mbfa: do not accelerate EM.")
@click.option(
    "--seed",
    type=click.IntRange(0),
    metavar="N",
    default=0,
    show_default=True,
    callback=moderate,
    help="Seed for held-out entries and for --induce-keep.",
)
@click.option(
    "--plot", metavar="FILE", help="Draw the likelihood of mbfa's iterations, or the correlations (.png .svg .pdf)."
)
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No progress bars and no summary.")
def command(vectors: tuple[str, ...], **options: Any) -> None:
    """Fit a shared space to the word vectors of languages.

    VECTORS are two or more files, one for each language: word2vec text or binary, fastText .vec or .bin, GloVe, or .npy
    with a list of words beside it. In the space, words with the same meaning lie near each other. It is learnt by
    inter-battery factor analysis or another --method, from a dictionary, from words that are spelt the same, or from
    both. Languages without a dictionary between them are joined through others.
    """
    from cepts.pipeline.space_fitting import SpaceFiles, fit_space_files

    if options["save"] is None and options["plot"] is None:
        raise UsageError("the space would be lost; give a directory to save it in (--save), or draw it (--plot FILE).")
    stopwatch = Stopwatch()
    files = SpaceFiles(vectors=vectors, **{name: options[name] for name in FILES})
    model = _model(files, options)
    notices: list[str] = []
    with ProgressBars(quiet=options["quiet"]) as bars:
        fit_space_files(
            files,
            model,
            save=options["save"],
            keep_vectors=options["keep_vectors"],
            notices=notices,
            progress=bars,
        )
        _draw(model, options["plot"])
    say_notes(notices, quiet=options["quiet"])
    for line in _describe(model, options["save"], stopwatch.seconds):
        say(line, quiet=options["quiet"])


def _model(files: SpaceFiles, options: dict[str, Any]) -> SpaceModel:
    """The model that the options ask for; options that its method does not have are refused."""
    from cepts.pipeline.space_fitting import method_for
    from cepts.spaces import METHODS, Induction

    method = options["method"] or method_for(files)
    given = {name: options[name] for name in OF_METHODS if options[name] is not None and options[name] is not False}
    for name, value in given.items():
        methods = [one for one, kind in METHODS.items() if OF_METHODS[name] in kind.parameters()]
        if method not in methods:
            raise UsageError(f"--{name.replace('_', '-')} goes with {' or '.join(methods)}, not with {method}.")
        if value == "auto" and METHODS[method].parameters()[name].default is not None:
            raise UsageError(f"--{name} auto goes with ibfa or mbfa, not with {method}; give a number.")
    _check_plot(options["plot"], method)
    for name in ("induce_vocabulary", "induce_keep"):
        if options[name] is not None and not options["induce"]:
            raise UsageError(f"--{name.replace('_', '-')} goes with --induce ROUNDS, which is not given.")
    chosen = {name: None if value == "auto" else value for name, value in given.items() if name != "plain_em"}
    if options["plain_em"]:
        chosen["accelerate"] = False
    induction = None
    if options["induce"]:
        limits = {"vocabulary": options["induce_vocabulary"], "keep": options["induce_keep"]}
        induction = Induction(
            rounds=options["induce"], **{name: value for name, value in limits.items() if value is not None}
        )
    return METHODS[method](
        **chosen, prepare=options["prepare"], induction=induction, seed=options["seed"], threads=options["threads"]
    )


def _check_plot(path: str | None, method: str) -> None:
    """Refuse a figure that cannot be drawn, before any work."""
    if path is None:
        return
    from cepts.plot.figure import drawing, suffix_of

    if method not in DRAWN:
        raise UsageError(f"--plot goes with {' or '.join(DRAWN)}, not with {method}.")
    suffix_of(path)
    with drawing():  # refuses where matplotlib is missing
        pass


def _draw(model: SpaceModel, path: str | None) -> None:
    if path is not None:
        from cepts.plot import plot_space

        plot_space(path, model.space_)


def _describe(model: SpaceModel, save: str | None, seconds: float) -> Iterator[str]:
    """The summary as lines for people."""
    space, report = model.space_, model.report_
    assert report is not None
    entries, views = report.entries, [model.vectors(language) for language in space.languages]
    yield "vectors  " + ", ".join(f"{view.name} {len(view):,} words of width {view.width}" for view in views)
    known = f"found {entries.asked - entries.unknown:,} of {entries.asked:,} ({entries.coverage:.1%})"
    complete = f"; {entries.complete:,} in all languages" if len(views) > 2 else ""
    yield f"entries  {len(entries):,} distinct; {known}{complete}"
    if report.choice.tried:
        yield f"chosen   exponent {report.choice.exponent:g}, shrinkage {report.choice.shrinkage:g} on held-out entries"
    for number, found in enumerate(report.rounds, start=1):
        yield f"round {number:<2} {found.entries:,} entries found, mean similarity {found.similarity:.3f}"
    steps = f" after {len(space.objectives):,} iterations" if space.objectives else ""
    unit = "factors" if space.correlations is not None else "dimensions"
    yield f"fitted   {space.method}, {space.width:,} {unit}{steps}, in {seconds:,.1f} s"
    if save is not None:
        yield f"space    {save}  (try: cepts spaces translate {save} WORD)"
