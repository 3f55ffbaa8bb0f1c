"""`cepts spaces score`: a space on the tasks of word vectors."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.groups import LazyGroup
from cepts.cli.spaces import direction_options, measure_option, opening, sources_option, vectors_option
from cepts.names import SIMILARITY_MEASURES

HOME = "cepts.cli.spaces.score"
command = LazyGroup(
    "score",
    {
        "translation": (f"{HOME}:translation", "Word translation against a test dictionary."),
        "similarity": (f"{HOME}:similarity", "Word similarity against human judgements."),
        "sts": (f"{HOME}:sts", "Sentence similarity against human judgements."),
        "retrieval": (f"{HOME}:retrieval", "Finding the translations of sentences."),
    },
    help="""Score a space on a task.

Beside each score is the share of the task that the vocabularies cover; the signature says what produced it.""",
    examples="""\
  cepts spaces score translation en-fr test.txt --both
  cepts spaces score similarity en-fr WS353.txt""",
)


def _at(ctx: click.Context, option_: click.Parameter, value: str) -> tuple[int, ...]:
    parts = option.listed(value)
    if not all(part.isdecimal() and 0 < int(part) <= 1000 for part in parts) or len(set(parts)) < len(parts):
        raise click.BadParameter(f"wants numbers from 1 to 1000 with commas between them. Got {value!r}.")
    return tuple(sorted(map(int, parts)))


at_option = option.text("--at", "N,...", "Precision at these numbers of answers.", default="1,5,10", callback=_at)
similarity_options = option.stacked(
    option.text("--language", "LANGUAGE", "Language of the words.  [default: the first]"),
    option.json,
    vectors_option,
    option.quiet,
)
common_options = option.stacked(option.intervals, option.json, vectors_option, option.threads, option.quiet)


@click.command(
    "translation",
    epilog="""\b
Examples:
  cepts spaces score translation en-fr en-fr.test.txt
  cepts spaces score translation en-fr en-fr.test.txt --both --measure cosine --measure csls --intervals 1000""",
)
@click.argument("directory")
@click.argument("dictionary")
@direction_options
@option.flag("--both", "Also score the other direction, with the same dictionary.")
@measure_option(multiple=True)
@at_option
@sources_option
@common_options
def translation(directory: str, dictionary: str, **options: Any) -> None:
    """Word translation against a test dictionary.

    DICTIONARY has words of the language to translate from in its first column, unless its first line names the
    languages. A word with several translations is one question, and each of them is a right answer (the protocol of
    MUSE). Words without a vector are left out of the precision, so the share that is covered is shown beside it.
    """
    from cepts.pipeline.space_scores import PrecisionTask, score_translation_file

    task = PrecisionTask(measures=options["measure"], **option.given(options, PrecisionTask))
    with opening(directory, options) as space:
        report = score_translation_file(space, dictionary, task)
    show(report, as_json=options["as_json"])


@click.command(
    "retrieval",
    epilog="""\b
Example:
  cepts spaces score retrieval en-it europarl.en europarl.it --measure cosine --measure csls""",
)
@click.argument("directory")
@click.argument("source_file", metavar="SOURCE")
@click.argument("target_file", metavar="TARGET")
@direction_options
@option.whole("--queries", "How many sentences are looked up, drawn at random.", default=2000)
@option.flag(
    "--tokenized", "The sentences are tokenised, with blanks between tokens; otherwise they are tokenised here."
)
@option.choice(
    "--measure",
    SIMILARITY_MEASURES,
    "How near sentences are. May be given again.  [default: csls]",
    default=("csls",),
    show_default=False,
    multiple=True,
)
@at_option
@common_options
def retrieval(directory: str, source_file: str, target_file: str, **options: Any) -> None:
    """Finding the translations of sentences.

    SOURCE and TARGET have a sentence per line; line n of one is the translation of line n of the other. Each query
    is looked up among all sentences of the other side, in both directions. Sentence vectors are means of the words'
    vectors, weighted by inverse document frequency.
    """
    from cepts.pipeline.space_scores import PrecisionTask, score_retrieval_files

    task = PrecisionTask(measures=options["measure"], **option.given(options, PrecisionTask))
    with opening(directory, options) as space:
        report = score_retrieval_files(space, (source_file, target_file), task)
    show(report, as_json=options["as_json"])


@click.command(
    "similarity",
    epilog="""\b
Example:
  cepts spaces score similarity en-fr EN-WS-353.txt EN-SIMLEX-999.txt""",
)
@click.argument("directory")
@click.argument("tasks", nargs=-1, required=True)
@similarity_options
def similarity(directory: str, tasks: tuple[str, ...], **options: Any) -> None:
    """Word similarity against human judgements.

    TASKS are files with two words of one language and a score per line. The table shows Spearman's correlation of the
    scores with the cosines of the vectors alone, and with the cosines in the space, which knows the other languages.
    """
    _score_similarity(directory, tasks, options)


@click.command(
    "sts",
    epilog="""\b
Example:
  cepts spaces score sts en-fr STS2016/*.tsv --counts enwiki_vocab_min200.txt""",
)
@click.argument("directory")
@click.argument("tasks", nargs=-1, required=True)
@option.text("--counts", "FILE", "Word counts of a large text: a word and a number per line.", required=True)
@similarity_options
def sts(directory: str, tasks: tuple[str, ...], **options: Any) -> None:
    """Sentence similarity against human judgements.

    TASKS are files with a score and two sentences of one language per line, with tabs between them (STS). Sentences are
    tokenised here; their vectors are means of the words' vectors, weighted by smooth inverse frequency, without what
    all sentences of a task share (SIF). The table shows Spearman's correlation with the vectors alone and in the space.
    """
    _score_similarity(directory, tasks, options)


def _score_similarity(directory: str, tasks: tuple[str, ...], options: dict[str, Any]) -> None:
    from cepts.pipeline.space_scores import score_similarity_files

    with opening(directory, options) as space:
        report = score_similarity_files(space, tasks, **option.given(options, score_similarity_files))
    show(report, as_json=options["as_json"])
