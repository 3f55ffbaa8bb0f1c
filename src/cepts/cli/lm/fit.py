"""`cepts lm fit`: from texts and n-gram models to a model that adapts."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from cepts.cli import option, training_options
from cepts.cli.console import ProgressBars, say, show
from cepts.cli.groups import Command
from cepts.cli.lm import reading_of, reading_options
from cepts.errors import UsageError
from cepts.names import (
    FACTOR_BLOCKS,
    FACTOR_STARTS,
    FACTORISATIONS,
    MIXTURES,
    PLACES,
    POSTERIORS,
    PRIORS,
    SEGMENTATIONS,
)


@click.command(
    "fit",
    cls=Command,
    epilog="""\b
Examples:
  cepts lm fit textbook.txt --save biology
  cepts lm fit textbook.txt -b news.arpa --dev lecture1.txt --save biology
  cepts lm fit chapters/ --segmentation explicit --hidden 100 --save biology""",
)
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@reading_options
@option.section(
    "Input",
    option.text(
        "--background",
        "FILE",
        option.again(
            "Background model (ARPA, KenLM binary) or background text, whose n-grams are interpolated with those of "
            "TEXT."
        ),
        multiple=True,
        short="-b",
    ),
    option.text(
        "--dev",
        "FILE",
        option.again("Text on which weights are set.", "  [default: every 20th document of TEXT]"),
        multiple=True,
    ),
    option.flag("--lowercase", "Convert all texts to lower case, also those on which the model is used."),
    option.whole("--min-count", "Words that occur less often in TEXT become unknown words.", least=None, default=2),
    option.whole("--background-min-count", "The same for each background text.", least=None, default=3),
    option.text(
        "--stop",
        "auto|none|english|FILE",
        "Function words, which only the n-grams predict: found in the texts, none, 70 words of English, or a file with "
        "one word per line. Numbers and punctuation are always treated so.  [default: auto]",
    ),
)
@option.section("N-grams", option.whole("--order", "Length of the longest n-grams.", most=10, default=3))
@option.section(
    "Counting",
    option.text(
        "--checkpoint",
        "DIR",
        "Keep the counts of n-grams and words in this directory. If DIR already has some, they are not made again.",
    ),
    training_options.engine_for("counting"),
    training_options.begin,
)
@option.section(
    "Hidden documents",
    option.whole(
        "--hidden",
        "Number of hidden documents; 0 for none.  [default: 500, or fewer: one for every 16 content words]",
        least=None,
    ),
    option.choice(
        "--segmentation",
        SEGMENTATIONS,
        "Find hidden documents from words near each other (implicit), or from the given documents (explicit).",
        default="implicit",
    ),
    option.whole(
        "--window",
        "For implicit: number of words that count as near each other, an odd number.",
        least=None,
        default=21,
    ),
    option.whole("--iterations", "Iterations of the factorisation.", least=None, default=50),
    option.real(
        "--background-worth",
        "Weight of a word of a background text relative to a word of TEXT, for finding hidden documents.",
        default=0.3,
    ),
    option.whole("--seed", "Seed of the random start.", least=None, default=0),
)
@option.section(
    "Adaptation",
    option.whole(
        "--history",
        "Weight hidden documents by the last N words, all with equal weight. 0: by all content words, with older words "
        "weighing less.",
        least=None,
        default=0,
    ),
    option.whole(
        "--fold-in",
        "With --history N: EM steps for each history; Novak and Mammone (2001) use 1.  [default: 5]",
        least=None,
        metavar="STEPS",
    ),
    option.real(
        "--decay",
        "With --history 0: factor by which the weight of a word shrinks with each word after it.  [default: 0.95]",
    ),
    option.choice(
        "--mixture",
        MIXTURES,
        "class mixes the components among content words only and keeps the total probability that the n-grams give "
        "them; literal mixes them for all words, as Novak and Mammone (2001).",
        default="class",
    ),
    option.flag(
        "--rescaling/--no-rescaling",
        "Let hidden documents also rescale the n-gram probabilities.  [default: yes, but not with literal]",
    ),
    option.real("--exponent", "Exponent of the rescaling.  [default: the best on held-out text]"),
    option.text(
        "--cache",
        "SPEC",
        option.again(
            "A cache of content words: 500 remembers 500 words, 0.99 decays by that factor, 500:0.99 does both, none "
            "is no cache.",
            "  [default: 0.98 and 0.999]",
        ),
        dest="caches",
        multiple=True,
    ),
)
@option.section(
    "Paper and baselines",
    option.flag(
        "--paper",
        "The model of Novak and Mammone (2001): --stop english --hidden 500 --window 21 --places all --no-borders "
        "--start random --blocks sequential --no-long-steps --iterations 100 --priors documents --background-worth 0 "
        "--history 25 --fold-in 1 --mixture literal --no-rescaling --cache none, and all words of the history are "
        "informative. Other options change that.",
    ),
    option.choice(
        "--factorisation",
        FACTORISATIONS,
        "Find hidden documents by non-negative matrix factorisation, or project the history by singular vectors (LSA).",
        default="nmf",
    ),
    option.choice(
        "--places",
        PLACES,
        "Words that take up places in --window and --history: content words only, or all words, of which function "
        "words are not counted.",
        default="content",
    ),
    option.flag("--borders/--no-borders", "Let windows end where a document does.  [default: yes]", default=True),
    option.choice(
        "--start",
        FACTOR_STARTS,
        "Start the factorisation from columns of the matrix that are drawn at random, from random numbers, or from "
        "anchor words.",
        default="columns",
    ),
    option.choice(
        "--blocks",
        FACTOR_BLOCKS,
        "For explicit: update W and then H, which is rescaled with it (two); both from the same product (joint); or W "
        "and then H, not rescaled (sequential).",
        default="two",
    ),
    option.flag("--long-steps/--no-long-steps", "Take longer steps than EM.  [default: yes]", default=True),
    option.choice(
        "--priors",
        PRIORS,
        "For implicit: P(d) as the share of the counts that d explains, or that share divided by the square of the "
        "number of words in a window of d.",
        default="shares",
    ),
    option.choice(
        "--posterior",
        POSTERIORS,
        "With --history N: divide each word of the history among the hidden documents, or let one of them explain all "
        "words.",
        default="mixture",
    ),
)
@option.section("Output", option.text("--save", "DIR", "Directory for the model.", required=True), option.json)
@option.running
@click.pass_context
def command(ctx: click.Context, **options: Any) -> None:
    """Fit a language model to a text.

    TEXTs are files of documents in your domain, with one sentence per line and tokens separated by spaces, or
    directories of text files, each of them a document. N-grams are trained on them (modified Kneser-Ney) and
    interpolated with those of each --background; hidden documents are found by non-negative matrix factorisation;
    weights are set on held-out text.
    """
    from cepts.lm import AdaptedModel
    from cepts.pipeline.lm import FitFiles, fit_files

    typed = {name: options[name] for name in options if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT}
    parameters = {name: value for name, value in option.given(typed, AdaptedModel).items() if name != "stop"}
    if "none" in options["caches"] and len(options["caches"]) > 1:
        raise UsageError("--cache none contradicts the other --cache; omit one of them.")
    if options["caches"] == ("none",):
        parameters["caches"] = ()
    files = FitFiles(reading=reading_of(options), **option.given(options, FitFiles))
    how = option.given(options, ("engine", "checkpoint", "begin"))
    with training_options.resumable(options), ProgressBars(quiet=options["quiet"]) as bars:
        model = AdaptedModel.of_paper(**parameters) if options["paper"] else AdaptedModel(**parameters)
        report = fit_files(model, files, **how, notices=bars.notices, progress=bars)
    show(report, as_json=options["as_json"], quiet=options["quiet"] or options["as_json"])
    if options["begin"]:
        return
    use = f"cepts lm perplexity {options['save']} TEXT"
    say(f"model    {options['save']}  (try: {use})", quiet=options["quiet"] or options["as_json"])
