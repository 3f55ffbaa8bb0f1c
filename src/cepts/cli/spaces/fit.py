"""`cepts spaces fit`: from vectors and a dictionary to a shared space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cepts.cli import option
from cepts.cli.console import ProgressBars, say, show
from cepts.errors import UsageError
from cepts.names import SPACE_METHODS, STARTS, STEPS, VECTOR_FORMATS

if TYPE_CHECKING:
    from cepts.pipeline.spaces import SpaceFiles
    from cepts.spaces import SpaceModel

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
@option.flag("--identical", "Also use words that are spelt the same as entries.")
@option.text("--save", "DIR", "Directory to save the space in.")
@option.flag("--vectors/--no-vectors", "Save the vectors with it.  [default: yes]", dest="keep_vectors", default=True)
@click.option(
    "-l", "--languages", metavar="A,B,...", help="Names of the languages.  [default: by the names of the files]"
)
@option.flag("--lowercase", "Put the words of the vectors in lower case.")
@option.whole("--max-vocabulary", "Use only the first N words of each language.")
@option.choice("--vector-format", VECTOR_FORMATS, "Format of the vectors.  [default: as found]")
@option.choice("--method", SPACE_METHODS, "Method to fit by.  [default: ibfa for two languages, mbfa for more]")
@option.text(
    "--prepare",
    "STEPS",
    "How to prepare the vectors: unit (length 1), centre (mean subtracted), with commas between them; or none.",
    default="unit,centre,unit",
    callback=_steps,
)
@option.whole("--factors", "Dimensions of the space.  [default: those of the narrowest vectors]")
@option.text(
    "--exponent",
    "X",
    "Power of the correlations: higher favours dimensions that the languages share; 0.5 is the posterior mean.  "
    "[default: chosen on held-out entries]",
    callback=_number_or_auto,
)
@option.text(
    "--shrinkage",
    "X",
    "Ridge on the covariances, as a share of the mean variance.  [default: chosen on held-out entries, and "
    "lower as --induce adds entries]",
    callback=_number_or_auto,
)
@option.text("--pivot", "LANGUAGE", "For direct maps: the language whose vectors stay as they are.")
@option.whole(
    "--induce",
    "Grow the dictionary by words that are each other's nearest in the space, for at most this many rounds.",
    least=0,
    metavar="ROUNDS",
    default=0,
)
@option.whole(
    "--induce-vocabulary", "How many words of each language, the most frequent, may be added.  [default: 10000]"
)
@option.real(
    "--induce-keep",
    "Probability that a candidate is considered in the first round; less than 1 helps a poor dictionary.  [default: 1]",
    above=0,
    most=1,
    metavar="P",
)
@option.whole("--iterations", "For mbfa: largest number of EM iterations.")
@option.real("--tolerance", "For mbfa: EM ends when a step gains less than this share of the gain so far.", least=0)
@option.choice("--start", STARTS, "For mbfa: where EM starts.  [default: joreskog]")
@click.option(
    "--plain-em", "accelerate", flag_value=False, default=None, type=bool, help="For mbfa: do not accelerate EM."
)
@option.seed("Seed for held-out entries and for --induce-keep.")
@option.text("--plot", "FILE", "Draw the likelihood of mbfa's iterations, or the correlations (.png .svg .pdf).")
@option.threads
@option.quiet
def command(vectors: tuple[str, ...], **options: Any) -> None:
    """Fit a shared space to the word vectors of languages.

    VECTORS are two or more files, one for each language: word2vec text or binary, fastText .vec or .bin, GloVe, or .npy
    with a list of words beside it. In the space, words with the same meaning lie near each other. It is learnt by
    inter-battery factor analysis or another --method, from a dictionary, from words that are spelt the same, or from
    both. Languages without a dictionary between them are joined through others.
    """
    from cepts.pipeline.spaces import SpaceFiles, fit_space_files

    if options["save"] is None and options["plot"] is None:
        raise UsageError("the space would be lost; give a directory to save it in (--save), or draw it (--plot FILE).")
    files = SpaceFiles(vectors=vectors, **option.given(options, SpaceFiles))
    model = _model(files, options)
    with ProgressBars(quiet=options["quiet"]) as bars:
        chosen = {name: options[name] for name in ("save", "keep_vectors")}
        report = fit_space_files(files, model, **chosen, notices=bars.notices, progress=bars)
        _draw(model, options["plot"])
    show(report, quiet=options["quiet"])
    if options["save"] is not None:
        use = f"cepts spaces translate {options['save']} WORD"
        say(f"space    {options['save']}  (try: {use})", quiet=options["quiet"])


def _model(files: SpaceFiles, options: dict[str, Any]) -> SpaceModel:
    """The model that the options ask for; options that its method does not have are refused."""
    from cepts.pipeline import new_model
    from cepts.spaces import METHODS, Induction

    method = options["method"] or ("ibfa" if len(files.vectors) == 2 else "mbfa")
    chosen = option.given(options, sorted({name for kind in METHODS.values() for name in kind.parameters()}))
    for name in [name for name, value in chosen.items() if value == "auto"]:
        parameter = METHODS[method].parameters().get(name)
        if parameter is not None and parameter.default is not None:
            raise UsageError(f"`{name}` auto goes with `method` ibfa or mbfa, not with {method}; give a number.")
        chosen[name] = None
    if options["plot"] is not None and method not in DRAWN:
        raise UsageError(f"--plot goes with {' or '.join(DRAWN)}, not with {method}.")
    option.check_plot(options["plot"])
    for name in ("induce_vocabulary", "induce_keep"):
        if options[name] is not None and not options["induce"]:
            raise UsageError(f"`{name}` goes with `induce` ROUNDS, which is not given.")
    limits = option.given({"vocabulary": options["induce_vocabulary"], "keep": options["induce_keep"]}, Induction)
    chosen["induction"] = Induction(rounds=options["induce"], **limits) if options["induce"] else None
    model: SpaceModel = new_model(SPACE_METHODS, method, chosen, choice="method")
    return model


def _draw(model: SpaceModel, path: str | None) -> None:
    if path is not None:
        from cepts.plot import plot_space

        plot_space(path, model.space_)
