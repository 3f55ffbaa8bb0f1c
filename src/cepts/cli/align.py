"""`cepts align`: from two files of sentences to a file of links."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from cepts.cli import link_options, option
from cepts.cli.console import ProgressBars, say
from cepts.errors import UsageError
from cepts.names import BITEXT_FORMATS, LEXICONS, LINK_FORMATS, NBEST_FORMATS, WORD_MODELS
from cepts.progress import Stopwatch

if TYPE_CHECKING:
    from cepts.data import Scorer
    from cepts.pipeline import Summary, WordTraining
    from cepts.progress import Progress

SCORERS = ("weights", "source_language", "target_language", "max_length", "threads")  # options of load_scorer
TEXTS = ("errors", "languages", "columns")  # options on how sentence pairs are read


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


def _two(ctx: click.Context, option_: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    parts = None if value is None else tuple(option.listed(value))
    if parts is not None and (len(parts) != 2 or not all(parts)):
        raise click.BadParameter(f"wants two names with a comma between them. Got {value!r}.")
    return parts


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
@option.output("the links")
@option.choice("--model", option.TableChoice("cepts.names:WORD_MODELS"), "The alignment model.  [default: hmm]")
@link_options.combine_option()
@link_options.threshold_option()
@option.choice(
    "--association",
    option.TableChoice("cepts.extract:ASSOCIATIONS"),
    "For onmf and --matrices: what the matrix holds: posteriors of both directions or of one, links counted in "
    "lists of best alignments, lexicon x position, or co-occurrence in the text.  [default: agreement]",
)
@option.real(
    "--spread",
    "For onmf: how much of null's mass goes to the words beside; 0 leaves more words to null.  [default: 0.6 "
    "for nbest, else 0.75]",
    least=0,
    below=1,
    metavar="P",
)
@link_options.factoring_options("For onmf: ")
@link_options.matrices_option
@option.whole(
    "--nbest",
    "List each direction's N most probable alignments instead of links, as json; with --combine forward or "
    "reverse that one's, as json or giza. For onmf: the length of the lists of --association nbest.  [default "
    "there: 100]",
)
@option.choice(
    "--format",
    LINK_FORMATS,
    "Format of the links; json also lists the cepts of onmf.  [default: pharaoh; json with --nbest]",
)
@option.base()
@option.text("--scores", "FILE", "Also write each pair's log-probability in both directions.")
@option.text("--save", "DIR", "Keep the trained model.")
@option.text(
    "--load",
    "DIR",
    "Use a trained model instead of training one: a word model, a space, a phrase model, or a file of association "
    "matrices. More than once for a mixture.",
    multiple=True,
)
@option.real(
    "--weight",
    "Weight of each --load in a mixture, in the same order.  [default: all the same]",
    above=0,
    dest="weights",
    multiple=True,
)
@option.text("--from", "LANGUAGE", "For spaces: language of SOURCE.", dest="source_language")
@option.text("--to", "LANGUAGE", "For spaces: language of TARGET.", dest="target_language")
@option.text("--checkpoint", "DIR", "Keep the state of training, and go on from it if it is there.")
@option.whole("--iterations", "EM iterations of the model.", least=0)
@option.whole("--start-iterations", "EM iterations of Model 1 before them.", least=0)
@option.whole("--hmm-iterations", "For ibm3 and ibm4: EM iterations of the HMM between the two.", least=0)
@option.whole("--classes", "For ibm4: word classes of either language.")
@option.choice("--lexicon", LEXICONS, "Maximum likelihood, a sparse Dirichlet prior, or back-off from words to stems.")
@option.flag("--agreement/--no-agreement", "Train the directions to agree.")
@option.real("--null-prob", "Probability that a word has no link.", above=0, below=1, metavar="P")
@option.flag("--lowercase/--no-lowercase", "Ignore case in the statistics.  [default: yes]")
@option.whole("--prefix", "Keep statistics of the first N letters only.")
@option.text("--stems", "N,...", "For back-off: letters of the stems, falling.", callback=_stems)
@option.real("--spelling", "Prior count of identical words, for names and numbers.", least=0)
@option.max_length()
@option.threads
@option.choice("--input-format", BITEXT_FORMATS, "Format of the input, where its name does not say it.", default="auto")
@option.errors
@option.text("--languages", "A,B", "For TMX and Parquet: source and target language.", callback=_two)
@option.text("--columns", "A,B", "For Parquet: source and target column.", callback=_two)
@option.quiet
def command(source: str, target: str | None, **options: Any) -> None:
    """Align the words of sentences and their translations.

    SOURCE and TARGET are files with a sentence a line, tokens separated by blanks; or SOURCE alone is a file of
    'a ||| b' lines, a two-column TSV, a TMX or a Parquet file. All may be compressed (.gz .bz2 .xz .zst); - is stdin.
    There is one line of links for each sentence pair.
    """
    _check(options)
    stopwatch = Stopwatch()
    with ProgressBars(quiet=options["quiet"]) as bars:
        summary = _run(source, target, options, bars)
    say(*summary.lines(stopwatch.seconds), quiet=options["quiet"])
    if summary.not_saved is not None:
        raise summary.not_saved
    if options["save"] is not None:
        say(f"model    {options['save']}  (use it again with --load)", quiet=options["quiet"])


def _check(options: dict[str, Any]) -> None:
    """Refuse options that do not go together, before anything is read."""
    from cepts.pipeline import model_parameters

    learning = model_parameters() - {"max_length", "threads"}
    trained = option.given(options, ("model", *(name for name in options if name in learning), "save", "checkpoint"))
    if options["load"] and trained:
        names = ", ".join(f"`{name}`" for name in trained)
        raise UsageError(f"{names}: the model of `load` is already trained; leave this out, or `load`.")
    if options["weights"] and len(options["weights"]) != len(options["load"]):
        raise UsageError(
            f"`weights` must be as many as `load`, {len(options['load'])}. Got {len(options['weights'])} instead."
        )
    link_options.check_extraction(options)
    option.check_apart(
        {"--scores": options["scores"], "--matrices": options["matrices"], "the links": options["output"]}
    )
    if options["nbest"] is not None and options["combine"] != "onmf":
        link_options.check_lists(options, "alignments", NBEST_FORMATS)
        if options["format"] == "giza" and options["combine"] == "agreement":
            raise UsageError("`format` giza shows one direction; choose it by `combine` forward or `combine` reverse.")


def _run(source: str, target: str | None, options: dict[str, Any], progress: Progress) -> Summary:
    from cepts.pipeline import AlignJob, AlignOutputs, BitextFiles, align_files

    lists = options["nbest"] is not None and options["combine"] != "onmf"
    job = AlignJob(
        texts=BitextFiles(source=source, target=target, format=options["input_format"], **option.given(options, TEXTS)),
        scorer=_scorer(options),
        extraction=link_options.extraction_of(options),
        outputs=AlignOutputs(
            links=options["output"],
            format=options["format"] or ("json" if lists else "pharaoh"),
            lists=options["nbest"] if lists else None,
            direction=link_options.listed_direction(options),
            **option.given(options, ("base", "scores", "matrices")),
        ),
    )
    return align_files(job, progress=progress)


def _scorer(options: dict[str, Any]) -> WordTraining | Callable[[], Scorer]:
    from cepts.pipeline import WordTraining, load_scorer, model_parameters, new_model

    if options["load"]:
        return partial(load_scorer, options["load"], **option.given(options, SCORERS))
    aligner = new_model(WORD_MODELS, options["model"] or "hmm", option.given(options, sorted(model_parameters())))
    return WordTraining(aligner=aligner, save=options["save"], checkpoint=options["checkpoint"])
