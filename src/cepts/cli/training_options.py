"""The options of commands that train word models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from cepts.cli import option
from cepts.errors import UsageError
from cepts.names import DEFAULT_WORD_MODEL, LEXICONS, WORD_MODELS

if TYPE_CHECKING:
    from cepts.words import Aligner, Prior


def _stems(ctx: click.Context, option: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    wrong = click.BadParameter(
        f"must be numbers of letters, each smaller than the one before it, such as 6,4. Got {value!r}."
    )
    try:
        stems = tuple(int(part) for part in value.split(",") if part.strip())
    except ValueError:
        raise wrong from None
    if any(stem < 1 for stem in stems) or any(later >= stem for stem, later in pairwise(stems)):
        raise wrong
    return stems


model = option.choice(
    "--model",
    option.TableChoice("cepts.names:WORD_MODELS"),
    f"Alignment model.  [default: {DEFAULT_WORD_MODEL}, the HMM and Model 4 together]",
)

section = option.section(
    "Training",
    option.whole("--iterations", "EM iterations of the model.", least=0),
    option.whole("--start-iterations", "EM iterations of Model 1, which is trained first.", least=0),
    option.whole("--hmm-iterations", "EM iterations of the HMM before mixed, ibm3 and ibm4.", least=0),
    option.whole("--classes", "Number of word classes of each language, for mixed and ibm4."),
    option.real("--share", "Weight of Model 4 in the posteriors of mixed; the HMM has the rest.", least=0, most=1),
    option.choice(
        "--lexicon",
        LEXICONS,
        "How translation probabilities are estimated: by maximum likelihood, with a sparse Dirichlet prior, or with "
        "back-off from words to stems.",
    ),
    option.flag("--agreement/--no-agreement", "Train the two directions to agree with each other."),
    option.real("--null-prob", "Probability that a word has no link.", above=0, below=1, metavar="P"),
    option.flag("--lowercase/--no-lowercase", "Ignore case when counting words.  [default: yes]"),
    option.whole("--prefix", "Count words with the same first N letters as one word."),
    option.text("--stems", "N,...", "Lengths of the stems for --lexicon backoff, such as 6,4.", callback=_stems),
    option.whole("--min-count", "Words that occur less often share symbols by their stems.  [default: 1]"),
    option.whole(
        "--max-vocabulary",
        "Only the N most frequent words of each side are counted; the others share symbols. While a text is read, no "
        "more than 4 N words of a side are held, or 131,072 if that is more; in a text with more words, frequencies "
        "are approximate.",
    ),
    option.real("--spelling", "Prior count for words spelt the same, such as names and numbers.", least=0),
)

prune = option.real(
    "--prune",
    "Leave out of the saved model what has a lower expected count, so that it is smaller.  [default: 0]",
    least=0,
    metavar="X",
)

memory = option.size(
    "--memory",
    "How much memory training may use, such as 4G. The text is cut into parts that fit, so that some doubtful links "
    "may differ.  [default: about 500M and what the words need]",
)


def engine_for(work: str) -> option.Decorator:
    """The option that says what runs tasks."""
    return option.text(
        "--engine",
        "NAME",
        f"What runs the tasks of {work}: threads of this process (local), a Dask cluster on this machine (dask), or a "
        f"cluster that is running (dask:tcp://HOST:PORT).  [default: local]",
    )


engine = engine_for("training")


begin = option.flag(
    "--begin",
    "Only put the text into --checkpoint, for 'cepts train' and 'cepts reduce'. Then run the same command without it.",
)


@contextmanager
def resumable(options: Mapping[str, Any]) -> Iterator[None]:
    """After Ctrl-C, say how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(how_to_go_on(options["checkpoint"])) from None


def how_to_go_on(directory: str | None) -> str:
    """What to do after Ctrl-C, if a directory keeps what was done, or not."""
    if directory is not None:
        return f"run the same command again to continue from {directory}"
    return "run the command again to start over (with --checkpoint DIR, it could continue)"


shard = option.text("--shard", "I/N", "Work on share I of N of the shards, such as 2/8.")


update = option.flag(
    "--update",
    "Go on training the model of --load, a word model, on this text: the expected counts of its earlier text are added "
    "to those of this one. Several models are merged.",
)

priors = option.text(
    "--priors",
    "FILE",
    "Add counts of links, jumps (hmm) and fertilities (ibm3, ibm4) to those of the text: a file of priors, as eflomal "
    "has them, or a table of 'cepts lexicon'.",
)

dictionary = option.text(
    "--dictionary",
    "FILE",
    "Words and their translations, one pair per line, separated by a tab: counts of links that are added to those of "
    "the text. They help on small texts.",
)

# Options that may differ from those of a model that is updated.
CHANGEABLE = ("iterations", "max_length", "threads")


def check_update(options: Mapping[str, Any]) -> None:
    """Refuse options that do not go with --update, or that need it."""
    from cepts.pipeline import model_parameters

    if not options["update"]:
        return
    if not options["load"]:
        raise UsageError("`update` goes on training a model; say which one with `load`.")
    fixed = ("model", *sorted(model_parameters() - {*CHANGEABLE}), "source_language", "target_language")
    if wrong := option.given(options, fixed):
        names = ", ".join(f"`{name}`" for name in wrong)
        raise UsageError(f"{names}: a model that is updated keeps its options, but for `iterations`; omit this.")


def prior_of(options: Mapping[str, Any]) -> Callable[[], Prior] | None:
    """What was learnt before, if the options say so."""
    from cepts.pipeline.priors import prior_of

    models = options["load"] if options["update"] else ()
    return prior_of(models, options["weights"] if models else (), options["priors"])


def new_aligner(options: Mapping[str, Any]) -> Aligner:
    """The untrained aligner that the options describe, or that is like a model which is updated."""
    from cepts.pipeline import model_parameters, new_model

    if options["update"]:
        from cepts.words import untrained_like

        return untrained_like(options["load"][0], **option.given(options, CHANGEABLE))
    aligner: Aligner = new_model(
        WORD_MODELS, options["model"] or DEFAULT_WORD_MODEL, option.given(options, sorted(model_parameters()))
    )
    return aligner
