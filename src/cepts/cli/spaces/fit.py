"""`cepts spaces fit`: from vectors and a dictionary to a shared space."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import finite, moderate
from cepts.cli.choices import SPACE_METHODS, STARTS, STEPS, VECTOR_FORMATS
from cepts.cli.console import ProgressBars, say
from cepts.cli.spaces.common import language_names, say_notes, split_named, threads_option
from cepts.errors import UsageError

if TYPE_CHECKING:
    from cepts.data import Dictionary, Vectors
    from cepts.spaces import FitReport, Options, Space

__all__ = ["command"]

# Options that only some methods have.
OF_METHODS = {
    "factors": ("ibfa", "mbfa", "cca"),
    "exponent": ("ibfa", "mbfa", "cca"),
    "shrinkage": ("ibfa", "mbfa", "cca", "ridge"),
    "pivot": ("procrustes", "least-squares", "ridge"),
    "iterations": ("mbfa",),
    "tolerance": ("mbfa",),
    "start": ("mbfa",),
    "plain_em": ("mbfa",),
    "plot": ("ibfa", "mbfa", "cca"),
}


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
    help="Words that mean the same, a language a column; may be given again. Of some of the languages: en-fr:FILE, or "
    "a file whose first line names its columns.",
)
@click.option("--identical", is_flag=True, help="Take words that are written alike for entries, too.")
@click.option("--save", metavar="DIR", help="Where the space goes.")
@click.option("--vectors/--no-vectors", "keep_vectors", default=True, help="Keep the vectors with it.  [default: yes]")
@click.option(
    "-l", "--languages", metavar="A,B,...", help="Names of the languages.  [default: by the names of the files]"
)
@click.option("--lowercase", is_flag=True, help="Put the words of the vectors in lower case.")
@click.option(
    "--max-vocabulary",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="Take the first N words of each language only.",
)
@click.option("--vector-format", type=click.Choice(VECTOR_FORMATS), help="Format of the vectors.  [default: as found]")
@click.option(
    "--method", type=click.Choice(SPACE_METHODS), help="How to fit.  [default: ibfa for two languages, mbfa for more]"
)
@click.option(
    "--prepare",
    metavar="STEPS",
    default="unit,centre,unit",
    show_default=True,
    callback=_steps,
    help="What to do to the vectors first: unit length, mean taken away; or none.",
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
    help="How much strongly shared dimensions count for more; 0.5 is the posterior mean.  [default: chosen on held-out "
    "entries]",
)
@click.option(
    "--shrinkage",
    metavar="X",
    callback=_number_or_auto,
    help="Ridge on the covariances, as a share of the mean variance.  [default: chosen on held-out entries, and less "
    "as --induce adds entries]",
)
@click.option("--pivot", metavar="LANGUAGE", help="For direct maps: the language whose vectors stay as they are.")
@click.option(
    "--induce",
    type=click.IntRange(0),
    metavar="ROUNDS",
    default=0,
    show_default=True,
    callback=moderate,
    help="Grow the dictionary by words that find each other in the space, at most so many times.",
)
@click.option(
    "--induce-vocabulary",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="How many of the most frequent words may be found.  [default: 10000]",
)
@click.option(
    "--induce-keep",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="P",
    callback=finite,
    help="Chance of a candidate to be looked at in the first round; less than 1 helps a poor dictionary.  [default: 1]",
)
@click.option(
    "--iterations", type=click.IntRange(1), metavar="N", callback=moderate, help="EM iterations of mbfa at most."
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    metavar="X",
    callback=finite,
    help="For mbfa: EM ends when the likelihood grows by less.",
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
    help="Of what is held out, and of --induce-keep.",
)
@click.option(
    "--plot", metavar="FILE", help="Draw the likelihood of mbfa's iterations, or the correlations (.png .svg .pdf)."
)
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No progress bars and no summary.")
def command(vectors: tuple[str, ...], **options: Any) -> None:
    """Fit a shared space to the word vectors of languages.

    VECTORS are two or more files, one a language: word2vec text or binary, fastText .vec or .bin, GloVe, or .npy with a
    list of words beside it. Words that mean the same come to lie near each other, by inter-battery factor analysis or
    another --method, learnt from a dictionary, from words that are written alike, or both. Languages for which there
    is no dictionary between them are joined through others.
    """
    names = _check(vectors, options)
    started = time.perf_counter()
    with ProgressBars(quiet=options["quiet"]) as bars:
        _fit(vectors, names, options, bars, started)


def _check(paths: tuple[str, ...], options: dict[str, Any]) -> list[str]:
    """Refuse what cannot work before anything is read; give the languages' names."""
    if len(paths) < 2:
        raise UsageError(f"found {len(paths)} file of vectors, wanted two or more, one for each language.")
    places = [path if path == "-" else os.path.realpath(path) for path in paths]
    twice = next((path for path, place in zip(paths, places, strict=True) if places.count(place) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} is given twice; give the vectors of another language.")
    names = language_names(paths, options["languages"])
    if not options["dictionaries"] and not options["identical"]:
        raise UsageError(
            "there is nothing that tells which words mean the same; give a dictionary by --dictionary FILE, or take "
            "words that are written alike by --identical."
        )
    if options["save"] is None and options["plot"] is None:
        raise UsageError("the space would be lost; say by --save DIR where it goes (or draw it by --plot FILE).")
    method = options["method"] or ("ibfa" if len(paths) == 2 else "mbfa")
    for name, methods in OF_METHODS.items():
        if options[name] not in (None, False) and method not in methods:
            raise UsageError(f"--{name.replace('_', '-')} goes with {' or '.join(methods)}, not with {method}.")
    for name in ("exponent", "shrinkage"):
        if options[name] == "auto" and method not in ("ibfa", "mbfa"):
            raise UsageError(f"--{name} auto goes with ibfa or mbfa, not with {method}; give a number.")
    if options["pivot"] is not None and options["pivot"] not in names:
        raise UsageError(f"--pivot: found the language {options['pivot']!r}, wanted one of {', '.join(names)}.")
    for name in ("induce_vocabulary", "induce_keep"):
        if options[name] is not None and not options["induce"]:
            raise UsageError(f"--{name.replace('_', '-')} goes with --induce ROUNDS, which is not there.")
    if options["save"] is not None:
        from cepts.store import check_destination

        check_destination(options["save"])
    if options["plot"] is not None:
        from cepts.plot.figure import drawing, suffix_of

        suffix_of(options["plot"])
        with drawing():  # refuses where matplotlib is missing
            pass
    return names


def _fit(paths: tuple[str, ...], names: list[str], options: dict[str, Any], bars: ProgressBars, started: float) -> None:
    from cepts.spaces import Induction, fit_space, save_space

    notices: list[str] = []
    asked = [split_named("--dictionary", value, names) for value in options["dictionaries"]]
    if [*paths, *(path for _, path in asked)].count("-") > 1:
        raise UsageError("only one of the files can come from standard input; name the others.")
    dictionaries = [_read_dictionary(languages, path, names, notices) for languages, path in asked]
    views = _read_views(paths, names, options, bars, notices)
    if options["identical"]:
        from cepts.spaces import identical_strings

        dictionaries.append(identical_strings(views))
    induction = None
    if options["induce"]:
        given = {"vocabulary": options["induce_vocabulary"], "keep": options["induce_keep"]}
        induction = Induction(
            rounds=options["induce"], **{name: value for name, value in given.items() if value is not None}
        )
    space, report = fit_space(
        views,
        dictionaries,
        _options(options, names),
        induction=induction,
        seed=options["seed"],
        threads=options["threads"],
        progress=bars,
    )
    reading = {name: options[name] for name in ("lowercase", "max_vocabulary") if options[name]}
    space = replace(space, settings={**space.settings, "reading": reading})
    if options["save"] is not None:
        save_space(
            space,
            options["save"],
            views=views if options["keep_vectors"] else None,
            entries=report.entries.rows if options["keep_vectors"] else None,
        )
    if options["plot"] is not None:
        from cepts.plot import plot_space

        plot_space(options["plot"], space)
    bars.close()
    say_notes(notices, quiet=options["quiet"])
    for line in _describe(space, report, views, time.perf_counter() - started):
        say(line, quiet=options["quiet"])
    if options["save"] is not None:
        say(f"space    {options['save']}  (try: cepts spaces translate {options['save']} WORD)", quiet=options["quiet"])


def _options(options: dict[str, Any], names: list[str]) -> Options:
    from cepts.spaces import Options

    given = {name: options[name] for name in ("method", "factors", "start", "iterations", "tolerance")}
    for name in ("exponent", "shrinkage"):
        given[name] = None if options[name] == "auto" else options[name]
    if options["pivot"] is not None:
        given["pivot"] = names.index(options["pivot"])
    return Options(
        steps=options["prepare"],
        accelerate=not options["plain_em"],
        **{name: value for name, value in given.items() if value is not None},
    )


def _read_views(
    paths: tuple[str, ...], names: list[str], options: dict[str, Any], bars: ProgressBars, notices: list[str]
) -> list[Vectors]:
    from cepts.io import read_vectors

    return [
        read_vectors(
            path,
            name=name,
            format=options["vector_format"],
            max_vocabulary=options["max_vocabulary"],
            lowercase=options["lowercase"],
            notices=notices,
            progress=bars,
        )
        for path, name in zip(paths, names, strict=True)
    ]


def _read_dictionary(languages: list[str], path: str, names: list[str], notices: list[str]) -> Dictionary:
    from cepts.io import read_dictionary

    if len(languages) == 1:
        raise UsageError(f"--dictionary {languages[0]}:{path}: found one language, wanted two or more, such as en-fr:.")
    found = read_dictionary(path, languages=languages or None, notices=notices)
    if not languages and len(found.languages) != len(names) and not set(found.languages) <= set(names):
        remedy = (
            "name the languages of its columns, in a first line that starts with # or as in en-fr:FILE"
            if len(found.languages) < len(names)
            else "leave columns out, or give the vectors of their languages too"
        )
        raise UsageError(
            f"{path}: found {len(found.languages)} columns ({', '.join(found.languages)}), wanted one for each of the "
            f"languages {', '.join(names)}; {remedy}."
        )
    return found


def _describe(space: Space, report: FitReport, views: list[Vectors], seconds: float) -> list[str]:
    """The summary as lines for people."""
    entries = report.entries
    lines = ["vectors  " + ", ".join(f"{view.name} {len(view):,} words of width {view.width}" for view in views)]
    used = f"entries  {len(entries):,} distinct; found {entries.asked - entries.unknown:,} of {entries.asked:,} "
    lines.append(
        used + f"({entries.coverage:.1%})" + (f"; {entries.complete:,} in all languages" if len(views) > 2 else "")
    )
    if report.choice is not None and report.choice.tried:
        lines.append(
            f"chosen   exponent {report.choice.exponent:g}, shrinkage {report.choice.shrinkage:g} on held-out entries"
        )
    for number, found in enumerate(report.rounds, start=1):
        lines.append(f"round {number:<2} {found.entries:,} entries found, mean similarity {found.similarity:.3f}")
    steps = f" after {len(space.objectives):,} iterations" if space.objectives else ""
    unit = "factors" if space.correlations is not None else "dimensions"
    lines.append(f"fitted   {space.method}, {space.width:,} {unit}{steps}, in {seconds:,.1f} s")
    return lines
