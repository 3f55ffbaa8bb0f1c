"""`cepts align`: from two files of sentences to a file of links."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cepts.cli import link_options, option, training_options
from cepts.cli.console import ProgressBars, figure_notes, say
from cepts.cli.groups import Command
from cepts.errors import UsageError
from cepts.names import ALIGNMENT_PAPERS, ENCODER_METHODS, LINK_FORMATS, NBEST_FORMATS, resolve
from cepts.progress import Stopwatch

if TYPE_CHECKING:
    from cepts.data import Scorer
    from cepts.encoders import EncoderScorer
    from cepts.pipeline import Summary, WordTraining
    from cepts.pipeline.papers import AlignmentPaper
    from cepts.pipeline.tuned import GoldTraining

SCORERS = ("weights", "source_language", "target_language", "max_length", "threads")  # options of load_scorer
ENCODERS = ("source_language", "target_language", "max_length", "threads")  # options of encoder_scorer
FAR = 1_000


@click.command(
    "align",
    cls=Command,
    epilog="""\b
Examples:
  cepts align en.txt fr.txt -o links.txt
  cepts align corpus.tmx --save model -o links.txt
  cepts align new.en new.fr --load model --format scored
  cepts align new.en new.fr --load model --load space --weight 3 --weight 1
  cepts align new.en new.fr --load model --update --save newer
  cepts align new.en new.fr --priors en-fr.priors
  cepts align en.txt fr.txt --dictionary en-fr.tsv
  cepts align en.txt fr.txt --encoder use
  cepts align en.txt fr.txt --encoder use --model hmm
  cepts align en.txt fr.txt --gold gold.wa --save tuned
  cepts align en.txt fr.txt --combine onmf --format json
  cepts align en.txt fr.txt --model ibm4 --combine onmf --association nbest
  cepts align en.txt fr.txt --paper onmf --cepts bic
  cepts align en.txt fr.txt --paper ibm1 --plot likelihood.svg
  paste -d'\\t' en.txt fr.txt | cepts align - --input-format tsv""",
)
@click.argument("source")
@click.argument("target", required=False)
@option.section(
    "Input",
    option.bitext_input,
    option.max_length(),
    training_options.shard,
)
@option.section(
    "Model",
    option.choice(
        "--paper",
        ALIGNMENT_PAPERS,
        "Take the settings of a paper: exact EM of ibm1 or ibm2 (Aziz, 2016), or onmf as Goutte et al. (2004) did it, "
        "which is slow. Options that you give take precedence.",
    ),
    training_options.model,
    option.text(
        "--load",
        "DIR",
        option.again(
            "Use a trained model instead of training one: a word model, a space, a phrase model, or a file of "
            "association matrices. Several are mixed."
        ),
        multiple=True,
    ),
    option.real(
        "--weight",
        "Weight of a model in a mixture, or of its counts with --update: one --weight for each --load, in the same "
        "order.  [default: equal weights; with --update, 1]",
        above=0,
        dest="weights",
        multiple=True,
    ),
    option.text("--from", "LANGUAGE", "Language of SOURCE, if --load is a space.", dest="source_language"),
    option.text("--to", "LANGUAGE", "Language of TARGET, if --load is a space.", dest="target_language"),
    training_options.update,
    training_options.priors,
    training_options.dictionary,
    option.text(
        "--encoder",
        "NAME",
        "Align by the vectors of an encoder, without training: use (Universal Sentence Encoder, 16 languages), hf:DIR "
        "(a model of transformers), onnx:DIR or space:DIR. With --model, train on a small text with its help; with "
        "--load, mix the two.",
    ),
    option.whole(
        "--encoder-layer", "Layer of an hf: encoder; -1 is the last one.  [default: 8, or the last one]", least=-FAR
    ),
    option.choice("--encoder-method", ENCODER_METHODS, "How similarities of words become links.  [default: softmax]"),
    option.text(
        "--gold",
        "FILE",
        "Gold links of some of the pairs, such as links that you have corrected: learn from them which links are "
        "right. Without --model, several word models are trained for this.",
    ),
    option.text("--save", "DIR", "Save the trained model in this directory."),
    training_options.prune,
    option.text(
        "--checkpoint",
        "DIR",
        "Save the state of training here after every iteration. If DIR already has one, training continues from it.",
    ),
    training_options.engine,
    training_options.memory,
)
@training_options.section
@option.section(
    "Links",
    link_options.combine_option(),
    link_options.threshold_option(),
    option.choice(
        "--association",
        option.TableChoice("cepts.extract:ASSOCIATIONS"),
        "Association matrix for onmf and --matrices: posteriors of both directions or of one, link counts in n-best "
        "alignments, lexicon times position, or co-occurrence statistics.  [default: agreement]",
    ),
    option.real(
        "--spread",
        "For onmf: share of the mass of null that goes to neighbouring words; 0 leaves more words unlinked.  "
        "[default: 0.6 for nbest, otherwise 0.75]",
        least=0,
        below=1,
        metavar="P",
    ),
    link_options.factoring_options("For onmf: "),
    option.whole(
        "--nbest",
        "Write the N most probable alignments of each direction instead of links, as json. With --combine forward or "
        "reverse, those of that direction, as json or giza. With --association nbest: number of alignments to count.  "
        "[default: 100 with --association nbest]",
    ),
)
@option.section(
    "Output",
    option.output("File for the links."),
    option.choice(
        "--format",
        LINK_FORMATS,
        "File format of the links; json also has the cepts of onmf.  [default: pharaoh; json with --nbest]",
    ),
    option.base(),
    option.text("--plot", "FILE", "Draw the log-likelihood before each iteration of training, as .svg, .pdf or .png."),
    option.text("--scores", "FILE", "Also write the log-probability of each pair in both directions."),
    option.text(
        "--quality",
        "FILE",
        "Also write a number from 0 to 1 for each pair: low if its sentences do not translate each other well.",
    ),
    link_options.matrices_option,
)
@option.running
def command(source: str, target: str | None, **options: Any) -> None:
    """Align the words of sentences and their translations.

    SOURCE and TARGET are text files with one sentence per line and tokens separated by spaces. Or SOURCE alone is a
    file with both sides: lines of 'source ||| target', two-column TSV, TMX, Parquet, JSON lines or CSV. Files may be
    compressed (.gz .bz2 .xz .zst), and - is stdin. The output has one line of links for each sentence pair. If SOURCE
    is the directory of a training job that is finished (see 'cepts shard'), its text is aligned, or a share of it.
    """
    if target is None and Path(source).is_dir():
        _align_job(source, options)
        return
    if options["shard"] is not None:
        raise UsageError("`shard` goes with the directory of a training job in place of SOURCE and TARGET.")
    options = _with_paper(options)
    _check(options)
    stopwatch = Stopwatch()
    try:
        with ProgressBars(quiet=options["quiet"]) as bars, figure_notes(quiet=options["quiet"]):
            summary = _run(source, target, options, bars)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_how_to_go_on(options)) from None
    say(*summary.lines(stopwatch.seconds), quiet=options["quiet"])
    if options["paper"] is not None:
        say(f"paper    {options['paper']}: {_said(options['paper_options'])}", quiet=options["quiet"])
    if summary.not_saved is not None:
        raise summary.not_saved
    if options["save"] is not None:
        say(f"model    {options['save']}  (use it with --load)", quiet=options["quiet"])


def _align_job(directory: str, options: dict[str, Any]) -> None:
    """Align the text of a training job, or a share of it."""
    from cepts.pipeline.jobs import Share, align_shards

    used = {"shard", "combine", "threshold", "association", "spread", "cepts", "seed", "output", "format", "base"}
    used |= {"scores", "threads", "quiet", "restarts", "criterion", "looseness"}
    wrong = [name for name in option.chosen(options) if name not in used]
    if wrong:
        raise UsageError(f"`{wrong[0]}` does not go with {directory}, a training job, which has its text and model.")
    link_options.check_extraction(options)
    stopwatch = Stopwatch()
    with ProgressBars(quiet=options["quiet"]) as bars:
        summary = align_shards(
            directory,
            None if options["shard"] is None else Share.of(options["shard"]),
            extraction=link_options.extraction_of(options),
            links=options["output"],
            format=options["format"] or "pharaoh",
            **option.given(options, ("base", "scores", "threads")),
            progress=bars,
        )
    say(*summary.lines(stopwatch.seconds), quiet=options["quiet"])


def _with_paper(options: dict[str, Any]) -> dict[str, Any]:
    """The options with the settings of --paper in place of defaults; those settings are under ``paper_options``."""
    if options["paper"] is None:
        return options
    paper: AlignmentPaper = resolve(ALIGNMENT_PAPERS[options["paper"]])
    given = option.chosen(options)
    wanted = paper.options(given, without=["training"] if options["load"] else [])
    return {**options, **wanted, "paper_options": {name: wanted[name] for name in wanted if name not in given}}


def _said(settings: dict[str, Any]) -> str:
    """Settings as options."""
    words = []
    for name, value in settings.items():
        word = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{word}")
        else:
            words.append(f"--{word} {value:g}" if isinstance(value, float) else f"--{word} {value}")
    return " ".join(words) or "all of its settings were given otherwise"


def _how_to_go_on(options: dict[str, Any]) -> str:
    """What to do after Ctrl-C."""
    if options["load"] and not options["update"]:
        return "run the command again to start over"
    return training_options.how_to_go_on(options["checkpoint"])


def _check(options: dict[str, Any]) -> None:
    """Refuse options that do not go together, before anything is read."""
    from cepts.pipeline import model_parameters

    learning = model_parameters() - {"max_length", "threads"}
    training = "model", *(name for name in options if name in learning), "save", "checkpoint", "priors", "dictionary"
    training += "engine", "memory"
    trained = option.given(options, training)
    training_options.check_update(options)
    if options["load"] and trained and not options["update"]:
        names = ", ".join(f"`{name}`" for name in trained)
        raise UsageError(
            f"{names}: `load` uses a model that is already trained; omit one or the other, or train it further with "
            f"`update`."
        )
    _check_gold(options)
    if options["prune"] is not None and options["save"] is None:
        raise UsageError("`prune` is about the saved model; give `save` too.")
    mixed = options["encoder"] is not None and not options["update"]
    members = len(options["load"]) + mixed
    if options["weights"] and len(options["weights"]) != members:
        raise UsageError(
            f"`weights` must be given once for each `load`{' and once for `encoder`' * mixed}, {members} times. "
            f"Got {len(options['weights'])} instead."
        )
    if options["encoder"] is None and (wrong := option.given(options, ("encoder_layer", "encoder_method"))):
        raise UsageError(f"`{next(iter(wrong))}` goes with `encoder`.")
    if options["encoder"] is not None and trained and not _trains(options):
        raise UsageError(f"`{next(iter(trained))}` is about training, but `encoder` needs none; give `model` too.")
    if options["load"] and options["plot"] is not None and not options["update"]:
        raise UsageError("`plot` draws the likelihood of training, but `load` uses a model that is already trained.")
    link_options.check_extraction(options)
    option.check_apart(
        {
            "--plot": options["plot"],
            "--scores": options["scores"],
            "--quality": options["quality"],
            "--matrices": options["matrices"],
            "the links": options["output"],
        }
    )
    option.check_plot(options["plot"])
    if options["nbest"] is not None and options["combine"] != "onmf":
        link_options.check_lists(options, "alignments", NBEST_FORMATS)
        if options["format"] == "giza" and options["combine"] == "agreement":
            raise UsageError("`format` giza shows one direction; choose `combine` forward or `combine` reverse.")


def _check_gold(options: dict[str, Any]) -> None:
    """Refuse what does not go with gold links."""
    if options["gold"] is None:
        return
    if options["load"]:
        raise UsageError("`gold` trains models on the text and tunes them; tune a trained model with 'cepts tune'.")
    wrong = [
        name for name in ("priors", "dictionary", "encoder", "checkpoint", "engine", "memory", "plot") if options[name]
    ]
    if wrong:
        raise UsageError(f"`{wrong[0]}` does not go with `gold`; train and save a model first, then use 'cepts tune'.")


def _run(source: str, target: str | None, options: dict[str, Any], bars: ProgressBars) -> Summary:
    from cepts.pipeline import AlignJob, AlignOutputs, WordTraining, align_files

    lists = options["nbest"] is not None and options["combine"] != "onmf"
    job = AlignJob(
        texts=option.bitext_files(options, source, target),
        scorer=_scorer(options),
        extraction=link_options.extraction_of(options),
        outputs=AlignOutputs(
            links=options["output"],
            format=options["format"] or ("json" if lists else "pharaoh"),
            lists=options["nbest"] if lists else None,
            direction=link_options.listed_direction(options),
            **option.given(options, ("base", "scores", "quality", "matrices")),
        ),
    )
    summary = align_files(job, notices=bars.notices, progress=bars)
    if options["plot"] is not None:
        from cepts.plot import plot_training

        assert isinstance(job.scorer, WordTraining)
        plot_training(options["plot"], job.scorer.aligner)
    return summary


def _trains(options: dict[str, Any]) -> bool:
    """Whether a word model is trained, rather than a scorer loaded."""
    if options["update"] or options["model"] is not None:
        return True
    return not options["load"] and options["encoder"] is None


def _scorer(options: dict[str, Any]) -> WordTraining | GoldTraining | Callable[[], Scorer]:
    from cepts.pipeline import LinkFile, WordTraining, load_scorer, model_parameters

    if options["gold"] is not None:
        from cepts.pipeline.tuned import GoldTraining, default_for_tuning, members_for_tuning

        how = option.given(options, sorted(model_parameters()))
        return GoldTraining(
            aligners=members_for_tuning(options["model"], how),
            gold=LinkFile(options["gold"]),
            default=default_for_tuning(options["model"], how),
            **option.given(options, ("save", "prune")),
        )
    encoder = _encoder(options)
    if not _trains(options):
        return partial(load_scorer, options["load"], encoder=encoder, **option.given(options, SCORERS))
    aligner, prior = training_options.new_aligner(options), training_options.prior_of(options)
    given = option.given(options, ("save", "prune", "checkpoint", "engine", "memory", "dictionary"))
    return WordTraining(aligner=aligner, prior=prior, encoder=encoder, **given)


def _encoder(options: dict[str, Any]) -> Callable[[], EncoderScorer] | None:
    if options["encoder"] is None:
        return None
    from cepts.pipeline.encoders import encoder_scorer

    chosen = {"layer": options["encoder_layer"], "method": options["encoder_method"]}
    return partial(encoder_scorer, options["encoder"], **chosen, **option.given(options, ENCODERS))
