"""`cepts spaces fit`: from vectors and a dictionary to a shared space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cepts.cli import option, training_options
from cepts.cli.console import ProgressBars, figure_notes, say, show
from cepts.cli.groups import Command
from cepts.errors import UsageError
from cepts.names import SPACE_METHODS, STARTS, STEPS, VECTOR_FORMATS

if TYPE_CHECKING:
    from cepts.pipeline.spaces import SpaceFiles
    from cepts.spaces import SpaceModel

ALIASES = {"svd": "procrustes"}  # another name of a method -> the method
DRAWN = ("ibfa", "mbfa", "cca")  # methods with something to plot


def _number_or_auto(ctx: click.Context, option: click.Parameter, value: str | None) -> float | str | None:
    if value is None or value == "auto":
        return value
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0.0 <= number < float("inf"):
        raise click.BadParameter(f"must be auto or a number of 0 or more. Got {value!r}.")
    return number


def _steps(ctx: click.Context, option: click.Parameter, value: str) -> tuple[str, ...]:
    if value == "none":
        return ()
    steps = tuple(step.strip() for step in value.split(","))
    if any(step not in STEPS for step in steps):
        raise click.BadParameter(f"must be {' and '.join(STEPS)} separated by commas, or none. Got {value!r}.")
    return steps


@click.command(
    "fit",
    cls=Command,
    epilog="""\b
Examples:
  cepts spaces fit cc.en.300.vec.gz cc.fr.300.vec.gz -d en-fr.txt --save en-fr
  cepts spaces fit en.vec fr.vec --identical --induce 10 --save en-fr
  cepts spaces fit en.vec fr.vec ru.vec -d en-fr:a.txt -d en-ru:b.txt --save x""",
)
@click.argument("vectors", nargs=-1, required=True)
@option.section(
    "Input",
    option.text(
        "--dictionary",
        "FILE",
        option.again(
            "Translations, with a column for each language. For some of the languages: en-fr:FILE, or a file whose "
            "first line names the languages."
        ),
        dest="dictionaries",
        multiple=True,
        short="-d",
    ),
    option.flag("--identical", "Also use words that are spelt the same as dictionary entries."),
    option.text("--languages", "A,B,...", "Names of the languages.  [default: from the file names]", short="-l"),
    option.flag("--lowercase", "Convert the words of the vectors to lower case."),
    option.whole("--max-vocabulary", "Use only the first N words of each language."),
    option.choice("--vector-format", VECTOR_FORMATS, "Format of the vectors.  [default: detected]", metavar="FORMAT"),
)
@option.section(
    "Model",
    option.choice(
        "--method",
        (*SPACE_METHODS, *ALIASES),
        "Method of fitting; svd is procrustes.  [default: ibfa for two languages, mbfa for more]",
        metavar="METHOD",
    ),
    option.text(
        "--prepare",
        "STEPS",
        "Preparation of the vectors: unit (scale to length 1) and centre (subtract the mean), separated by commas; or "
        "none.",
        default="unit,centre,unit",
        callback=_steps,
    ),
    option.whole("--factors", "Dimensions of the space.  [default: those of the narrowest vectors]"),
    option.text(
        "--exponent",
        "X",
        "Power of the correlations: a higher power favours dimensions that the languages share; 0.5 is the posterior "
        "mean, for mbfa with --balance 0.  [default: the best on held-out entries]",
        callback=_number_or_auto,
    ),
    option.real(
        "--balance",
        "For mbfa: how much of the difference between languages is removed where some predict a dimension better than "
        "others.  [default: 0.5]",
        least=0,
        most=1,
    ),
    option.flag(
        "--complete/--incomplete",
        "For mbfa: use only entries with a word of each language, or all.  [default: all]",
        dest="complete",
    ),
    option.text(
        "--shrinkage",
        "X",
        "Ridge on the covariances, relative to the mean variance.  [default: the best on held-out entries, and lower "
        "as --induce adds entries]",
        callback=_number_or_auto,
    ),
    option.text("--pivot", "LANGUAGE", "Language whose vectors stay as they are, for direct maps."),
    option.flag(
        "--paper",
        "Fit as Vargas et al. (2019): all entries count the same, --shrinkage 0 --exponent 0.5; for mbfa also "
        "--balance 0 --complete --start canonical --plain-em --iterations 20000 --tolerance 0. Other options change "
        "that.",
    ),
    option.seed("Seed for held-out entries, for --start random and for --induce-keep."),
)
@option.section(
    "Dictionary induction",
    option.whole(
        "--induce",
        "Extend the dictionary with words that are each other's nearest neighbours in the space, for at most this many "
        "rounds, as long as it helps to translate held-out words.",
        least=0,
        metavar="ROUNDS",
        default=0,
    ),
    option.whole("--induce-vocabulary", "Consider only the N most frequent words of each language.  [default: 10000]"),
    option.real(
        "--induce-keep",
        "Probability that a candidate is considered in the first round; less than 1 helps with a poor dictionary.  "
        "[default: 1]",
        above=0,
        most=1,
        metavar="P",
    ),
)
@option.section(
    "EM of mbfa",
    option.whole("--iterations", "Largest number of EM iterations."),
    option.real("--tolerance", "Stop when an iteration gains less than this share of the gain so far.", least=0),
    option.choice("--start", STARTS, "Where EM starts.  [default: joreskog]"),
    option.constant("--plain-em", "Do not accelerate EM.", dest="accelerate", value=False),
)
@option.section(
    "Large dictionaries",
    option.text(
        "--checkpoint",
        "DIR",
        "Keep the sums over each part of the dictionary entries in this directory. If DIR already has some, they are "
        "not made again.",
    ),
    training_options.engine_for("adding up entries"),
    training_options.begin,
)
@option.section(
    "Output",
    option.text("--save", "DIR", "Directory for the space."),
    option.flag(
        "--vectors/--no-vectors", "Save the vectors with the space.  [default: yes]", dest="keep_vectors", default=True
    ),
    option.text(
        "--plot", "FILE", "Draw the likelihood of the iterations of mbfa, or the correlations (.png .svg .pdf)."
    ),
)
@option.running
def command(vectors: tuple[str, ...], **options: Any) -> None:
    """Fit a shared space to the word vectors of several languages.

    VECTORS are two or more files, one for each language: word2vec text or binary, fastText .vec or .bin, GloVe, or .npy
    with a list of words beside it. In the space, words with the same meaning are near each other. The space is learnt
    by inter-battery factor analysis or another --method, from a dictionary, from words that are spelt the same, or from
    both. Languages without a dictionary between them are joined through other languages.
    """
    from cepts.pipeline.spaces import SpaceFiles, fit_space_files

    if options["save"] is None and options["plot"] is None:
        raise UsageError("the space would be lost; save it with --save DIR, or draw it with --plot FILE.")
    files = SpaceFiles(vectors=vectors, **option.given(options, SpaceFiles))
    model = _model(files, options)
    with training_options.resumable(options), ProgressBars(quiet=options["quiet"]) as bars:
        chosen = {name: options[name] for name in ("save", "keep_vectors", "checkpoint")}
        chosen |= option.given(options, ("engine", "begin"))
        report = fit_space_files(files, model, **chosen, notices=bars.notices, progress=bars)
        if not options["begin"]:
            _draw(model, options["plot"])
    show(report, quiet=options["quiet"])
    if options["save"] is not None and not options["begin"]:
        use = f"cepts spaces translate {options['save']} WORD"
        say(f"space    {options['save']}  (try: {use})", quiet=options["quiet"])


def _model(files: SpaceFiles, options: dict[str, Any]) -> SpaceModel:
    """The model that the options ask for; options that its method does not have are refused."""
    from cepts.pipeline import new_model
    from cepts.spaces import METHODS, Induction

    method = options["method"] or ("ibfa" if len(files.vectors) == 2 else "mbfa")
    method = ALIASES.get(method, method)
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
            raise UsageError(f"`{name}` goes with `induce` ROUNDS, which is missing.")
    limits = option.given({"vocabulary": options["induce_vocabulary"], "keep": options["induce_keep"]}, Induction)
    chosen["induction"] = Induction(rounds=options["induce"], **limits) if options["induce"] else None
    if options["paper"]:
        chosen = {**METHODS[method].paper_options(), **chosen}
    model: SpaceModel = new_model(SPACE_METHODS, method, chosen, choice="method")
    return model


def _draw(model: SpaceModel, path: str | None) -> None:
    if path is not None:
        from cepts.plot import plot_space

        with figure_notes():
            plot_space(path, model.space_)
