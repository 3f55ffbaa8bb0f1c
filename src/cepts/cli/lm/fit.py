"""`cepts lm fit`: from texts and n-gram models to a model that adapts."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from cepts.cli import option
from cepts.cli.console import ProgressBars, say, show
from cepts.cli.lm import reading_of, reading_options
from cepts.errors import UsageError
from cepts.names import MIXTURES, SEGMENTATIONS


@click.command(
    "fit",
    epilog="""\b
Examples:
  cepts lm fit textbook.txt --save biology
  cepts lm fit textbook.txt --background news.arpa --dev lecture1.txt --save biology
  cepts lm fit chapters/ --documents file --segmentation explicit --hidden 100 --save biology""",
)
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@option.text("--save", "DIR", "Where the model goes.", required=True)
@click.option(
    "--background",
    "-b",
    multiple=True,
    metavar="FILE",
    help="An n-gram model (ARPA, KenLM binary) or another text, to be interpolated with the n-grams of the text; may "
    "be given again.",
)
@option.text(
    "--dev",
    "FILE",
    "Text on which weights are set; may be given again.  [default: every 20th document of the text]",
    multiple=True,
)
@reading_options
@option.flag("--lowercase", "Put all texts in lower case, also those on which the model is used.")
@option.whole("--min-count", "Words that are rarer in the text become unknown words.", least=None, default=2)
@option.whole("--background-min-count", "The same for each background text.", least=None, default=3)
@option.text(
    "--stop",
    "auto|none|FILE",
    "Function words, which are left to the n-gram: found in the texts, none, or a file with a word a line. "
    "Numbers and punctuation are always left to it.",
    default="auto",
)
@option.whole("--order", "Words of the longest n-grams.", most=10, default=3)
@option.whole(
    "--hidden",
    "Hidden documents; 0 is none.  [default: 500, or one for every 16 content words if these are few]",
    least=None,
)
@option.choice(
    "--segmentation",
    SEGMENTATIONS,
    "Find hidden documents from words near each other, or from the words of the given documents.",
    default="implicit",
)
@option.whole(
    "--window", "For implicit: content words that count as near each other, an odd number.", least=None, default=21
)
@option.whole("--iterations", "Iterations of the factorisation.", least=None, default=50)
@option.real(
    "--background-worth",
    "Weight of a word of a background text relative to one of the text, for finding hidden documents.",
    default=0.3,
)
@option.whole(
    "--history",
    "Weight hidden documents by the last N content words, all with equal weight; 0: by all of them, where older "
    "ones count less.",
    least=None,
    default=0,
)
@option.whole(
    "--fold-in",
    "With --history N: EM steps for each history; 1 as in the paper.  [default: 5]",
    least=None,
    metavar="STEPS",
)
@option.real(
    "--decay", "With --history 0: the weight of a word is multiplied by X with each word that follows.  [default: 0.95]"
)
@option.choice(
    "--mixture",
    MIXTURES,
    "Mix the components among content words only, within the n-gram's probability of content words; or mix them "
    "for all words, as in the paper.",
    default="class",
)
@option.flag(
    "--rescaling/--no-rescaling",
    "Let hidden documents also rescale the n-gram's probabilities.  [default: yes, but not with literal]",
)
@option.real("--exponent", "Exponent of rescaling.  [default: the best on held-out text]")
@option.text(
    "--cache",
    "SPEC",
    "A cache of content words: 500 remembers 500 words, 0.99 decays by that factor, 500:0.99 does both, none is "
    "none; may be given again.  [default: 0.98 and 0.999]",
    dest="caches",
    multiple=True,
)
@option.flag(
    "--paper",
    "As in the paper: --history 20 --fold-in 1 --no-rescaling --cache none --mixture literal --window 21, and all "
    "words of the history count as informative. Other options change that.",
)
@option.whole("--seed", "Seed of the random start.", least=None, default=0)
@option.threads
@option.json
@option.quiet
@click.pass_context
def command(ctx: click.Context, **options: Any) -> None:
    """Fit a language model to a text.

    TEXTs are files or directories of documents in your domain, a sentence a line, tokens separated by white space.
    N-grams are trained on them (modified Kneser-Ney) and interpolated with those of each --background; hidden documents
    are found by non-negative matrix factorisation; and weights are set on held-out text.
    """
    from cepts.lm import AdaptedModel
    from cepts.pipeline.lm import FitFiles, fit_files

    typed = {name: options[name] for name in options if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT}
    parameters = {name: value for name, value in option.given(typed, AdaptedModel).items() if name != "stop"}
    if "none" in options["caches"] and len(options["caches"]) > 1:
        raise UsageError("--cache none does not go with other caches; leave one of them out.")
    if options["caches"] == ("none",):
        parameters["caches"] = ()
    files = FitFiles(reading=reading_of(options), **option.given(options, FitFiles))
    with ProgressBars(quiet=options["quiet"]) as bars:
        model = AdaptedModel.of_paper(**parameters) if options["paper"] else AdaptedModel(**parameters)
        report = fit_files(model, files, notices=bars.notices, progress=bars)
    show(report, as_json=options["as_json"], quiet=options["quiet"] or options["as_json"])
    use = f"cepts lm perplexity {options['save']} TEXT"
    say(f"model    {options['save']}  (try: {use})", quiet=options["quiet"] or options["as_json"])
