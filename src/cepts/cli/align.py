"""`cepts align`: from two files of sentences to a file of links."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import check_apart, finite, moderate
from cepts.cli.console import ProgressBars, say
from cepts.cli.link_options import (
    base_option,
    check_extraction,
    combine_option,
    extraction_of,
    factoring_options,
    given,
    links_option,
    matrices_option,
    threshold_option,
)
from cepts.cli.summaries import describe
from cepts.cli.tables import TableChoice
from cepts.errors import UsageError
from cepts.names import BITEXT_FORMATS, DECODING_ERRORS, LEXICONS, LINK_FORMATS, NBEST_FORMATS
from cepts.progress import Stopwatch

if TYPE_CHECKING:
    from cepts.pipeline import AlignReport, SavedScorers, WordTraining
    from cepts.progress import Progress

__all__ = ["command"]


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
  cepts align new.en new.fr --load model --load en-fr-space --weight 3 --weight 1
  cepts align en.txt fr.txt --combine onmf --format json
  cepts align en.txt fr.txt --model ibm4 --combine onmf --association nbest
  paste -d'\\t' en.txt fr.txt | cepts align - --input-format tsv""",
)
@click.argument("source")
@click.argument("target", required=False)
@links_option
@click.option("--model", type=TableChoice("cepts.names:WORD_MODELS"), help="The alignment model.  [default: hmm]")
@combine_option()
@threshold_option()
@click.option(
    "--association",
    type=TableChoice("cepts.extract:ASSOCIATIONS"),
    help="For onmf and --matrices: what the matrix holds: posteriors of both directions or of one, links counted in "
    "lists of best alignments, lexicon x position, or co-occurrence in the text.  [default: agreement]",
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
    type=click.Choice(tuple(LINK_FORMATS)),
    help="Format of the links; json also lists the cepts of onmf.  [default: pharaoh; json with --nbest]",
)
@base_option
@click.option("--scores", metavar="FILE", help="Also write each pair's log-probability in both directions.")
@click.option("--save", metavar="DIR", help="Keep the trained model.")
@click.option(
    "--load",
    multiple=True,
    metavar="DIR",
    help="Use a trained model instead of training one: a word model, a space, a phrase model, or a file of association "
    "matrices. More than once for a mixture.",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    type=click.FloatRange(0, min_open=True),
    metavar="X",
    help="Weight of each --load in a mixture, in the same order.  [default: all the same]",
)
@click.option("--from", "source_language", metavar="LANGUAGE", help="For spaces: language of SOURCE.")
@click.option("--to", "target_language", metavar="LANGUAGE", help="For spaces: language of TARGET.")
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
    type=click.Choice(LEXICONS),
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
    type=click.Choice(BITEXT_FORMATS),
    default="auto",
    help="Format of the input, where its name does not say it.",
)
@click.option(
    "--errors",
    type=click.Choice(DECODING_ERRORS),
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
    _check(options)
    stopwatch = Stopwatch()
    with ProgressBars(quiet=options["quiet"]) as bars:
        report = _run(source, target, options, bars)
    for line in describe(report.summary, stopwatch.seconds):
        say(line, quiet=options["quiet"])
    if report.not_saved is not None:
        raise report.not_saved
    if options["save"] is not None:
        say(f"model    {options['save']}  (use it again with --load)", quiet=options["quiet"])


def _check(options: dict[str, Any]) -> None:
    """Refuse options that do not go together, before anything is read."""
    from cepts.pipeline import model_parameters

    learning = model_parameters() - {"max_length", "threads"}
    trained = given(options, ("model", *(name for name in options if name in learning), "save", "checkpoint"))
    if options["load"] and trained:
        names = ", ".join(f"`{name}`" for name in trained)
        raise UsageError(f"{names}: the model of `load` is already trained; leave this out, or `load`.")
    if options["weights"] and len(options["weights"]) != len(options["load"]):
        raise UsageError(
            f"`weights` must be as many as `load`, {len(options['load'])}. Got {len(options['weights'])} instead."
        )
    check_extraction(options)
    check_apart({"--scores": options["scores"], "--matrices": options["matrices"], "the links": options["output"]})
    if options["nbest"] is not None and options["combine"] != "onmf":
        _check_lists(options)


def _check_lists(options: dict[str, Any]) -> None:
    """Refuse what goes with links and not with lists of alignments."""
    for name in ("threshold", "scores", "matrices"):
        if options[name] is not None:
            raise UsageError(f"`{name}` goes with links, and `nbest` lists alignments instead; leave one of them out.")
    combine, format_ = options["combine"], options["format_"]
    if combine not in {"agreement", "forward", "reverse"}:
        raise UsageError(
            f"`nbest` lists the alignments of single directions, not of `combine` {combine}; `combine` forward or "
            "reverse chooses one, without it both are listed."
        )
    if format_ not in {None, *NBEST_FORMATS}:
        raise UsageError(f"`nbest` is written in the format {' or '.join(NBEST_FORMATS)}, not {format_}.")
    if format_ == "giza" and combine == "agreement":
        raise UsageError("`format` giza shows one direction; choose it by `combine` forward or `combine` reverse.")


def _run(source: str, target: str | None, options: dict[str, Any], progress: Progress) -> AlignReport:
    from cepts.pipeline import AlignJob, AlignOutputs, BitextFiles, align_files

    lists = options["nbest"] is not None and options["combine"] != "onmf"
    job = AlignJob(
        texts=BitextFiles(
            source=source,
            target=target,
            format=options["input_format"],
            errors=options["errors"],
            languages=_two(options["languages"], "--languages"),
            columns=_two(options["columns"], "--columns"),
        ),
        scorer=_scorer(options),
        extraction=extraction_of(options),
        outputs=AlignOutputs(
            links=options["output"],
            format=options["format_"] or ("json" if lists else "pharaoh"),
            base=int(options["base"]),
            scores=options["scores"],
            matrices=options["matrices"],
            lists=options["nbest"] if lists else None,
            direction="both" if options["combine"] == "agreement" else options["combine"],
        ),
    )
    return align_files(job, progress=progress)


def _scorer(options: dict[str, Any]) -> WordTraining | SavedScorers:
    from cepts.pipeline import SavedScorers, WordTraining, model_parameters, new_aligner

    if options["load"]:
        return SavedScorers(
            places=options["load"],
            weights=options["weights"],
            source_language=options["source_language"],
            target_language=options["target_language"],
            max_length=options["max_length"],
            threads=options["threads"],
        )
    aligner = new_aligner(options["model"] or "hmm", given(options, sorted(model_parameters())))
    return WordTraining(aligner=aligner, save=options["save"], checkpoint=options["checkpoint"])


def _two(value: str | None, option: str) -> tuple[str, str] | None:
    if value is None:
        return None
    parts = [part.strip() for part in value.split(",")]
    if len(parts) != 2 or not all(parts):
        raise click.BadParameter(f"wants two names with a comma between them. Got {value!r}.", param_hint=option)
    return parts[0], parts[1]
