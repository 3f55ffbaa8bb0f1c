"""`cepts lm fit`: from texts and n-gram models to a model that adapts."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cepts.cli.checks import finite, moderate
from cepts.cli.choices import MIXTURES, SEGMENTATIONS
from cepts.cli.console import ProgressBars, print_json, say
from cepts.cli.lm.common import (
    counted,
    documents_option,
    entry_counts,
    errors_option,
    json_option,
    percent_less,
    quiet_option,
    say_notes,
    shown_perplexity,
    threads_option,
)
from cepts.errors import UsageError

if TYPE_CHECKING:
    from cepts.data import Documents
    from cepts.lm import AdaptedModel, FitOptions
    from cepts.lm.fit import Source

__all__ = ["command"]

# What --paper means, where an option does not say otherwise.
PAPER: dict[str, Any] = {
    "history": 20,
    "fold_in": 1,
    "rescaling": False,
    "caches": ("none",),
    "mixture": "literal",
    "window": 21,
    "hidden": 500,
}
OF_RUNNING = ("decay",)
OF_WINDOWS = ("fold_in",)
FEW_KNOWN = 0.5  # of the words of the text: a background that has fewer is not of its kind


@click.command(
    "fit",
    epilog="""\b
Examples:
  cepts lm fit textbook.txt --save biology
  cepts lm fit textbook.txt --background news.arpa --dev lecture1.txt --save biology
  cepts lm fit chapters/ --documents file --segmentation explicit --hidden 100 --save biology""",
)
@click.argument("text", nargs=-1, required=True)
@click.option("--save", metavar="DIR", required=True, help="Where the model goes.")
@click.option(
    "-b",
    "--background",
    "backgrounds",
    multiple=True,
    metavar="FILE",
    help="An n-gram model (ARPA, KenLM binary) or another text, to be interpolated with the n-grams of the text; may "
    "be given again.",
)
@click.option(
    "--dev",
    multiple=True,
    metavar="FILE",
    help="Text on which weights are set; may be given again.  [default: every 20th document of the text]",
)
@documents_option
@errors_option
@click.option("--lowercase", is_flag=True, help="Put all texts in lower case, also those that the model is used on.")
@click.option(
    "--min-count",
    type=click.IntRange(1),
    metavar="N",
    default=2,
    show_default=True,
    callback=moderate,
    help="Words that the text has less often are unknown words.",
)
@click.option(
    "--background-min-count",
    type=click.IntRange(1),
    metavar="N",
    default=3,
    show_default=True,
    callback=moderate,
    help="The same for each background text.",
)
@click.option(
    "--stop",
    metavar="auto|none|FILE",
    default="auto",
    show_default=True,
    help="Function words, which are left to the n-gram: as found in the texts, none, or a list, a word a line. Numbers "
    "and punctuation always are.",
)
@click.option(
    "--order",
    type=click.IntRange(1, 10),
    metavar="N",
    default=3,
    show_default=True,
    help="Words of the longest n-grams.",
)
@click.option(
    "--hidden",
    type=click.IntRange(0),
    metavar="N",
    default=500,
    callback=moderate,
    help="Hidden documents; 0 is none.  [default: 500, or one for every 16 content words if these are few]",
)
@click.option(
    "--segmentation",
    type=click.Choice(SEGMENTATIONS),
    default="implicit",
    show_default=True,
    help="Find hidden documents in what words stand near each other, or in what words the given documents have.",
)
@click.option(
    "--window",
    type=click.IntRange(3),
    metavar="N",
    default=21,
    show_default=True,
    callback=moderate,
    help="For implicit: content words that are near each other; an odd number.",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    metavar="N",
    default=50,
    show_default=True,
    callback=moderate,
    help="Of the factorisation.",
)
@click.option(
    "--background-worth",
    type=click.FloatRange(0),
    metavar="X",
    default=0.3,
    show_default=True,
    callback=finite,
    help="What a word of a background text counts for beside one of the text, when hidden documents are made.",
)
@click.option(
    "--history",
    type=click.IntRange(0),
    metavar="N",
    default=0,
    show_default=True,
    callback=moderate,
    help="The last N content words say which hidden documents are near, all with equal weight; 0: all of them, the "
    "older the less.",
)
@click.option(
    "--fold-in",
    type=click.IntRange(1),
    metavar="STEPS",
    callback=moderate,
    help="With --history N: EM steps for each history; 1 is the paper's.  [default: 5]",
)
@click.option(
    "--decay",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="X",
    callback=finite,
    help="With --history 0: what a word's say shrinks to with each word that follows.  [default: 0.95]",
)
@click.option(
    "--mixture",
    type=click.Choice(MIXTURES),
    default="class",
    show_default=True,
    help="Content words share what the n-gram gives to content words; or every component has its share of every word, "
    "as in the paper.",
)
@click.option(
    "--rescaling/--no-rescaling",
    default=None,
    help="Let hidden documents also rescale the n-gram's probabilities.  [default: yes, but not with literal]",
)
@click.option(
    "--exponent",
    type=click.FloatRange(0, min_open=True),
    metavar="X",
    callback=finite,
    help="Of rescaling.  [default: the best on held-out text]",
)
@click.option(
    "--cache",
    "caches",
    multiple=True,
    metavar="SPEC",
    help="A cache of content words: 500 remembers so many, 0.99 forgets slowly, 500:0.99 does both, none is none; may "
    "be given again.  [default: 0.98 and 0.999]",
)
@click.option(
    "--paper",
    is_flag=True,
    help="As the paper has it: --history 20 --fold-in 1 --no-rescaling --cache none --mixture literal --window 21 "
    "--hidden 500, and no word of the history is held to be background. Other options change that.",
)
@click.option(
    "--seed", type=click.IntRange(0), metavar="N", default=0, show_default=True, callback=moderate, help="Of the start."
)
@threads_option
@json_option
@quiet_option
@click.pass_context
def command(ctx: click.Context, text: tuple[str, ...], **options: Any) -> None:
    """Fit a language model to a text.

    TEXTs are files or directories of documents in your domain, a sentence a line, tokens with white space between them.
    N-grams are trained on them (modified Kneser-Ney) and interpolated with those of each --background; hidden documents
    are found by non-negative matrix factorisation; and weights are set on held-out text.
    """
    given = {name for name in options if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT}
    options = _settled(options, given)
    started = time.perf_counter()
    with ProgressBars(quiet=options["quiet"]) as bars:
        _fit(text, options, given, bars, started)


def _settled(options: dict[str, Any], given: set[str]) -> dict[str, Any]:
    """The options with those of the paper, where it is asked for; what does not go together is refused."""
    from cepts.store import check_destination

    if options["paper"]:
        options = {**options, **{name: value for name, value in PAPER.items() if name not in given}}
    if options["rescaling"] and options["mixture"] == "literal":
        raise UsageError("--rescaling works among content words; leave it out, or add --mixture class.")
    if options["rescaling"] and not options["hidden"]:
        raise UsageError("--rescaling is done by hidden documents, and --hidden 0 has none; leave one of them out.")
    if options["rescaling"] is None:
        options["rescaling"] = options["mixture"] != "literal" and options["hidden"] > 0
    if options["window"] % 2 == 0:
        raise UsageError(f"--window must be an odd number, a word and as many on either side. Got {options['window']}.")
    for names, wrong, wanted in ((OF_RUNNING, options["history"] > 0, "0"), (OF_WINDOWS, not options["history"], "N")):
        for name in names:
            if name in given and wrong:
                raise UsageError(f"--{name.replace('_', '-')} goes with --history {wanted}; leave one of them out.")
    if options["exponent"] is not None and not options["rescaling"]:
        raise UsageError("--exponent is that of rescaling, which is off; leave it out, or let there be rescaling.")
    if "none" in options["caches"] and len(options["caches"]) > 1:
        raise UsageError("--cache none does not go with other caches; leave one of them out.")
    check_destination(options["save"])
    return options


def _fit(texts: tuple[str, ...], options: dict[str, Any], given: set[str], bars: ProgressBars, started: float) -> None:
    from cepts.io import read_documents
    from cepts.lm import fit_adapted, save_adapted
    from cepts.pipeline.lm import default_hidden, known_share, read_background

    notices: list[str] = []
    reading: dict[str, Any] = {
        "format": options["format_"],
        "lowercase": options["lowercase"],
        "errors": options["errors"],
        "notices": notices,
        "progress": bars,
    }
    if [*texts, *options["backgrounds"], *options["dev"]].count("-") > 1:
        raise UsageError("only one of the files can come from standard input; name the others.")
    chosen = _fit_options(options)
    documents = read_documents(texts, **reading)
    sources = [read_background(path, **reading) for path in options["backgrounds"]]
    for path, source in zip(options["backgrounds"], sources, strict=True):
        share = known_share(documents, source)
        if share < FEW_KNOWN:
            notices.append(
                f"{path} has {share:.0%} of the words of the text; check that both write words alike: case, tokens."
            )
    # Weights are set on a text as a whole, so that it may well be one document.
    dev = read_documents(options["dev"], **{**reading, "notices": None}) if options["dev"] else None
    if "hidden" not in given:
        most = default_hidden(documents, chosen)
        if most < chosen.hidden:
            notices.append(f"{counted(most, 'hidden document')} instead of {chosen.hidden:,}, as the text is small.")
            chosen = replace(chosen, hidden=most)
    model = fit_adapted(
        documents,
        backgrounds=sources,
        held_out=dev,
        options=chosen,
        seed=options["seed"],
        threads=options["threads"],
        notices=notices,
        progress=lambda step: bars(replace(step, stage="hidden documents")),
    )
    facts = {**model.facts, "lowercase": options["lowercase"], "ngrams": _names(texts, options["backgrounds"])}
    model = replace(model, facts=facts)
    save_adapted(model, options["save"])
    bars.close()
    say_notes(list(dict.fromkeys(notices)), quiet=options["quiet"])
    if options["as_json"]:
        print_json({**_as_json(model), "seconds": round(time.perf_counter() - started, 1)})
        return
    for line in _describe(model, documents, sources, time.perf_counter() - started):
        say(line, quiet=options["quiet"])
    say(f"model    {options['save']}  (try: cepts lm perplexity {options['save']} TEXT)", quiet=options["quiet"])


def _names(texts: tuple[str, ...], backgrounds: tuple[str, ...]) -> list[str]:
    """What each n-gram model is called: its file, with the directory where several have one name."""
    paths = [Path(path) for path in (texts[0], *backgrounds)]
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        names = [f"{path.parent.name}/{path.name}" for path in paths]
    if len(texts) > 1:
        names[0] = f"{len(texts)} texts"
    return ["stdin" if name == "-" else name for name in names]


def _fit_options(options: dict[str, Any]) -> FitOptions:
    from cepts.io import read_stop_list
    from cepts.lm import CACHES, Cache, FitOptions, HistoryOptions

    stop: list[str] | None = None
    if options["stop"] == "none":
        stop = []
    elif options["stop"] != "auto":
        stop = read_stop_list(options["stop"])
        if options["lowercase"]:
            stop = sorted({word.lower() for word in stop})
    caches: tuple[Cache, ...] = CACHES
    if options["caches"]:
        caches = () if options["caches"] == ("none",) else tuple(map(Cache.from_text, options["caches"]))
    if len(set(caches)) < len(caches):
        raise UsageError("--cache: found the same cache twice, wanted different ones; leave one of them out.")
    history: dict[str, Any] = {"size": options["history"]}
    history |= {
        name: options[key] for name, key in (("steps", "fold_in"), ("decay", "decay")) if options[key] is not None
    }
    if options["paper"]:
        history["background"] = 0.0
    names = ("order", "min_count", "background_min_count", "hidden", "segmentation", "window", "iterations")
    return FitOptions(
        stop=stop,
        history=HistoryOptions(**history),
        caches=caches,
        **{name: options[name] for name in (*names, "background_worth", "mixture", "rescaling", "exponent")},
    )


def _describe(model: AdaptedModel, documents: Documents, sources: list[Source], seconds: float) -> list[str]:
    """The summary as lines for people."""
    from cepts.data import NGrams

    facts = model.facts
    lines = [
        f"text     {counted(facts['documents'], 'document')}, {counted(facts['words'], 'word')}",
        f"words    {facts['vocabulary']:,} known; {facts['content']:,} content words",
    ]
    for name, ngrams, weight in zip(facts["ngrams"], model.background.models, model.background.weights, strict=True):
        sizes = "KenLM binary"
        if isinstance(ngrams, NGrams):
            sizes = " + ".join(f"{size:,}" for size in entry_counts(ngrams))
        lines.append(f"n-grams  {name}: {sizes}" + (f"; weight {weight:.3f}" if len(model.background) > 1 else ""))
    if model.hidden is not None:
        how = f"{facts['segmentation']}" + (
            f", window {facts['window']}" if facts["segmentation"] == "implicit" else ""
        )
        words = counted(len(model.hidden.numbers), "word")
        lines.append(f"hidden   {counted(len(model.hidden), 'document')} of {words}; {how}")
    shown = ", ".join(f"{name} = {weight:.3f}" for name, weight in zip(model.components, model.weights, strict=True))
    exponent = f"; exponent {model.exponent:g}" if model.exponent else ""
    lines.append(f"weights  {shown}{exponent}")
    held_out = f"{facts['held_out']}, {facts['held_out_words']:,} words"
    before, after = facts["held_out_perplexity"]
    change = percent_less(after, before)
    held_out += f"; perplexity {shown_perplexity(before)} -> {shown_perplexity(after)} ({change} %)"
    lines.append(f"set on   {held_out}")
    lines.append(f"fitted   in {seconds:,.1f} s")
    return lines


def _as_json(model: AdaptedModel) -> dict[str, Any]:
    from cepts.data import NGrams

    backgrounds = [
        {
            "name": name,
            "order": ngrams.order,
            "entries": entry_counts(ngrams) if isinstance(ngrams, NGrams) else None,
            "weight": float(weight),
        }
        for name, ngrams, weight in zip(
            model.facts["ngrams"], model.background.models, model.background.weights, strict=True
        )
    ]
    return {
        **{name: value for name, value in model.facts.items() if name != "ngrams"},
        "ngrams": backgrounds,
        "hidden": 0 if model.hidden is None else len(model.hidden),
        "weights": dict(zip(model.components, model.weights.tolist(), strict=True)),
        "mixture": model.mixture,
        "exponent": model.exponent,
    }
