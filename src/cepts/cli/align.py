"""`cepts align`: from two files of sentences to a file of links."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import click

from cepts.cli.checks import check_apart, finite, moderate
from cepts.cli.choices import ASSOCIATIONS, FORMATS, LIST_FORMATS, MODELS
from cepts.cli.console import ProgressBars, say
from cepts.cli.factor import check_restarts, describe_cepts, factoring_options
from cepts.cli.link_options import (
    base_option,
    check_combination,
    check_matrices,
    combine_option,
    links_option,
    matrices_option,
    threshold_option,
)

__all__ = ["command", "describe", "found_links"]

# Options that say how cepts are found.
FACTORING = ("association", "spread", "cepts", "sure", "restarts", "seed")
# Associations that are statistics of the training text.
STATISTICS = ("counts", "dice", "pmi", "llr")
# Options that only some models have.
OF_MODELS = {"hmm_iterations": ("ibm3", "ibm4"), "classes": ("ibm4",)}
# Options that say how a model is trained, which a loaded one already is.
TRAINING = (
    "model",
    "iterations",
    "start_iterations",
    "hmm_iterations",
    "classes",
    "lexicon",
    "agreement",
    "null_prob",
    "lowercase",
    "prefix",
    "stems",
    "spelling",
    "save",
    "checkpoint",
)


def _stems(ctx: click.Context, option: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    wrong = click.BadParameter(
        f"wants falling numbers of letters with commas between them, such as 6,4. Got {value!r}."
    )
    try:
        stems = tuple(int(part) for part in value.split(",") if part.strip())
    except ValueError:
        raise wrong from None
    if any(stem < 1 for stem in stems) or any(later >= stem for stem, later in pairwise(stems)):
        raise wrong
    return stems


@click.command(
    "align",
    epilog="""\b
Examples:
  cepts align en.txt fr.txt -o links.txt
  cepts align corpus.tmx --save model -o links.txt
  cepts align new.en new.fr --load model --format scored
  cepts align en.txt fr.txt --combine onmf --format json
  cepts align en.txt fr.txt --model ibm4 --combine onmf --association nbest
  paste -d'\\t' en.txt fr.txt | cepts align - --input-format tsv""",
)
@click.argument("source")
@click.argument("target", required=False)
@links_option
@click.option("--model", type=click.Choice(MODELS), help="The alignment model.  [default: hmm]")
@combine_option
@threshold_option()
@click.option(
    "--association",
    type=click.Choice(ASSOCIATIONS),
    help="For onmf: what the matrix holds: posteriors of both directions or of one, links counted in lists of best "
    "alignments, lexicon x position, or co-occurrence in the text.  [default: agreement]",
)
@click.option(
    "--spread",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="P",
    callback=finite,
    help="For onmf: how much of null's mass goes to the words beside; 0 leaves more words to null.  [default: 0.6 "
    "for nbest, else 0.75]",
)
@factoring_options("For onmf: ")
@matrices_option
@click.option(
    "--nbest",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="List each direction's N most probable alignments instead of links, as json; with --combine forward or "
    "reverse that one's, as json or giza. For onmf: the length of the lists of --association nbest.  [default "
    "there: 100]",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="Format of the links; json also lists the cepts of onmf.  [default: pharaoh; json with --nbest]",
)
@base_option
@click.option("--scores", metavar="FILE", help="Also write each pair's log-probability in both directions.")
@click.option("--save", metavar="DIR", help="Keep the trained model.")
@click.option("--load", metavar="DIR", help="Use a trained model instead of training one.")
@click.option("--checkpoint", metavar="DIR", help="Keep the state of training, and go on from it if it is there.")
@click.option("--iterations", type=click.IntRange(0), metavar="N", help="EM iterations of the model.")
@click.option("--start-iterations", type=click.IntRange(0), metavar="N", help="EM iterations of Model 1 before them.")
@click.option(
    "--hmm-iterations",
    type=click.IntRange(0),
    metavar="N",
    help="For ibm3 and ibm4: EM iterations of the HMM between the two.",
)
@click.option(
    "--classes",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="For ibm4: word classes of either language.",
)
@click.option(
    "--lexicon",
    type=click.Choice(["ml", "bayes", "backoff"]),
    help="Maximum likelihood, a sparse Dirichlet prior, or back-off from words to stems.",
)
@click.option("--agreement/--no-agreement", default=None, help="Train the directions to agree.")
@click.option(
    "--null-prob",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="P",
    callback=finite,
    help="Probability that a word has no link.",
)
@click.option("--lowercase/--no-lowercase", default=None, help="Ignore case in the statistics.  [default: yes]")
@click.option("--prefix", type=click.IntRange(1), metavar="N", help="Keep statistics of the first N letters only.")
@click.option("--stems", metavar="N,...", callback=_stems, help="For back-off: letters of the stems, falling.")
@click.option(
    "--spelling",
    type=click.FloatRange(0),
    metavar="X",
    callback=finite,
    help="Prior count of identical words, for names and numbers.",
)
@click.option("--max-length", type=click.IntRange(1), metavar="N", help="Leave pairs with longer sentences unaligned.")
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads.  [default: all processors]")
@click.option(
    "--input-format",
    type=click.Choice(["auto", "text", "pipes", "tsv", "tmx", "parquet"]),
    default="auto",
    help="Format of the input, where its name does not say it.",
)
@click.option(
    "--errors",
    type=click.Choice(["strict", "replace"]),
    default="strict",
    help="What to do about invalid UTF-8.",
)
@click.option("--languages", metavar="A,B", help="For TMX and Parquet: source and target language.")
@click.option("--columns", metavar="A,B", help="For Parquet: source and target column.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bars and no summary.")
def command(source: str, target: str | None, **options: Any) -> None:
    """Align the words of sentences and their translations.

    SOURCE and TARGET are files with a sentence a line, tokens separated by blanks; or SOURCE alone is a file of
    'a ||| b' lines, a two-column TSV, a TMX or a Parquet file. All may be compressed (.gz .bz2 .xz .zst); - is stdin.
    There is one line of links for each sentence pair.
    """
    from cepts.errors import UsageError

    if options["load"] is not None:
        given = [name for name in TRAINING if options[name] is not None]
        if given:
            names = ", ".join("--" + name.replace("_", "-") for name in given)
            raise UsageError(f"{names}: the model of --load is already trained; leave this out, or --load.")
    for name, models in OF_MODELS.items():
        model = options["model"] or "hmm"
        if options[name] is not None and model not in models:
            raise UsageError(f"--{name.replace('_', '-')} goes with --model {' or '.join(models)}, not with {model}.")
    check_combination(options, FACTORING)
    check_apart({"--scores": options["scores"], "--matrices": options["matrices"], "the links": options["output"]})
    if options["combine"] == "onmf":
        _check_factoring(options)
    elif options["nbest"] is not None:
        _check_lists(options)
    started = time.perf_counter()
    with ProgressBars(quiet=options["quiet"]) as bars:
        _align(source, target, options, bars, started)


def _check_factoring(options: dict[str, Any]) -> None:
    """Refuse what does not go together with cepts."""
    from cepts.errors import UsageError

    association = options["association"] or "agreement"
    if options["nbest"] is not None and not association.startswith("nbest"):
        raise UsageError(f"--nbest with --combine onmf goes with --association nbest, not with {association}.")
    if options["load"] is not None and association in STATISTICS:
        raise UsageError(
            f"--association {association} counts the words of the training text, which a model of --load does not "
            "have; train anew, or choose another."
        )
    if options["spread"] is not None and association in STATISTICS:
        raise UsageError(
            f"--spread moves the mass of null, of which --association {association} has none; leave it out."
        )
    check_restarts(options)
    check_matrices(options["matrices"])


def _check_lists(options: dict[str, Any]) -> None:
    """Refuse what goes with links and not with lists of alignments."""
    from cepts.errors import UsageError

    for name in ("threshold", "scores"):
        if options[name] is not None:
            raise UsageError(f"--{name} goes with links, and --nbest lists alignments instead; leave one of them out.")
    combine, format_ = options["combine"], options["format_"]
    if combine not in {"agreement", "forward", "reverse"}:
        raise UsageError(
            f"--nbest lists the alignments of single directions, not of --combine {combine}; "
            "--combine forward or reverse chooses one, without it both are listed."
        )
    if format_ not in {None, *LIST_FORMATS}:
        raise UsageError(f"--nbest is written in the format {' or '.join(LIST_FORMATS)}, not {format_}.")
    if format_ == "giza" and combine == "agreement":
        raise UsageError("--format giza shows one direction; choose it by --combine forward or --combine reverse.")


def _align(source: str, target: str | None, options: dict[str, Any], bars: ProgressBars, started: float) -> None:
    from cepts.errors import ModelError
    from cepts.io import check_output, read_bitext
    from cepts.pipeline import ListSummary, Summary, align_bitext, list_bitext
    from cepts.pipeline.align import check_cepts
    from cepts.store import check_destination
    from cepts.words import MODELS as ALIGNERS
    from cepts.words import THRESHOLD, load_aligner

    # A place that cannot be written to should not show only after the training.
    for path in (options["output"], options["scores"], options["matrices"]):
        if path is not None:
            check_output(path)
    if options["save"] is not None:
        check_destination(options["save"])
    bitext = read_bitext(
        source,
        target,
        format=options["input_format"],
        errors=options["errors"],
        languages=_two(options["languages"], "--languages"),
        columns=_two(options["columns"], "--columns"),
        progress=bars,
    )
    not_saved: ModelError | None = None
    if options["load"] is not None:
        aligner = load_aligner(options["load"], threads=options["threads"])
        if options["max_length"] is not None:
            aligner.max_length = options["max_length"]
        check_cepts(options["cepts"], bitext, aligner.max_length)
    else:
        names = (*TRAINING, "max_length", "threads")
        chosen = {
            name: options[name]
            for name in names
            if options[name] is not None and name not in {"model", "save", "checkpoint"}
        }
        aligner = ALIGNERS[options["model"] or "hmm"](**chosen)
        check_cepts(options["cepts"], bitext, aligner.max_length)
        aligner.fit(bitext, progress=bars, checkpoint=options["checkpoint"])
        if options["save"] is not None:
            try:
                aligner.save(options["save"])
            except ModelError as error:
                not_saved = error  # told at the end: the links of a long training should not be lost with it
    summary: Summary | ListSummary
    if options["nbest"] is not None and options["combine"] != "onmf":
        direction = "both" if options["combine"] == "agreement" else options["combine"]
        summary = list_bitext(
            aligner,
            bitext,
            options["output"],
            count=options["nbest"],
            direction=direction,
            format=options["format_"] or "json",
            progress=bars,
        )
        counts = {"forward": f"{summary.forward:,} forward", "reverse": f"{summary.reverse:,} reverse"}
        found = f"lists    {counts.get(direction, ' and '.join(counts.values()))} alignments"
    else:
        summary = align_bitext(
            aligner,
            bitext,
            options["output"],
            combine=options["combine"],
            threshold=THRESHOLD if options["threshold"] is None else options["threshold"],
            format=options["format_"] or "pharaoh",
            base=int(options["base"]),
            scores=options["scores"],
            factoring=_factoring(options) if options["combine"] == "onmf" else None,
            matrices=options["matrices"],
            progress=bars,
        )
        found = found_links(summary)
    bars.close()
    for line in describe(summary, found, aligner.max_length, time.perf_counter() - started):
        say(line, quiet=options["quiet"])
    if not_saved is not None:
        raise not_saved
    if options["save"] is not None:
        say(f"model    {options['save']}  (use it again with --load)", quiet=options["quiet"])


def _factoring(options: dict[str, Any]) -> Any:
    from cepts.words import Factoring

    return Factoring(**{name: options[name] for name in (*FACTORING, "nbest") if options[name] is not None})


def found_links(summary: Any) -> str:
    """The links and cepts of a run, as lines for people."""
    found = (
        f"links    {summary.links:,}; covered {_share(summary.source_covered, summary.source_words)} of the source "
        f"and {_share(summary.target_covered, summary.target_words)} of the target words"
    )
    if summary.cepts is not None:
        found += f"\nsure     {_share(summary.sure, summary.links)} of the links\n{describe_cepts(summary.cepts)}"
    return found


def describe(summary: Any, found: str, max_length: int, seconds: float) -> list[str]:
    """The summary of a run, and the line that says what was `found`, as lines for people."""
    lines = [
        f"aligned  {_pairs(summary.pairs)}, {summary.source_words:,} + {summary.target_words:,} words, "
        f"in {seconds:,.1f} s",
        found,
    ]
    if summary.empty:
        lines.append(f"empty    {_pairs(summary.empty)} with an empty side and so no links")
    if summary.too_long:
        lines.append(
            f"skipped  {_pairs(summary.too_long)} with a sentence of more than {max_length:,} words and so no links "
            f"(--max-length)"
        )
    return lines


def _pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count:,} pairs"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"


def _two(value: str | None, option: str) -> tuple[str, str] | None:
    if value is None:
        return None
    parts = [part.strip() for part in value.split(",")]
    if len(parts) != 2 or not all(parts):
        raise click.BadParameter(f"wants two names with a comma between them. Got {value!r}.", param_hint=option)
    return parts[0], parts[1]
