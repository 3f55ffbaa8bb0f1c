"""`cepts spaces score`: a space on the tasks of word vectors."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.groups import Command, LazyGroup
from cepts.cli.spaces import direction_options, measure_option, opening, sources_option, vectors_option
from cepts.names import SIMILARITY_MEASURES

HOME = "cepts.cli.spaces.score"
command = LazyGroup(
    "score",
    {
        "translation": (f"{HOME}:translation", "Score word translation against a test dictionary."),
        "similarity": (f"{HOME}:similarity", "Score word similarity against human judgements."),
        "sts": (f"{HOME}:sts", "Score sentence similarity against human judgements."),
        "retrieval": (f"{HOME}:retrieval", "Score the retrieval of translated sentences."),
    },
    help="""Score a space on a task.

Each score comes with the percentage of the task that the vocabularies cover, and with a signature that says how it
was produced.""",
    examples="""\
  cepts spaces score translation en-fr test.txt --both
  cepts spaces score similarity en-fr WS353.txt""",
)


def _at(ctx: click.Context, option_: click.Parameter, value: str) -> tuple[int, ...]:
    parts = option.listed(value)
    if not all(part.isdecimal() and 0 < int(part) <= 1000 for part in parts) or len(set(parts)) < len(parts):
        raise click.BadParameter(f"must be numbers from 1 to 1000, separated by commas. Got {value!r}.")
    return tuple(sorted(map(int, parts)))


at_option = option.text("--at", "N,...", "Ranks at which precision is measured.", default="1,5,10", callback=_at)
similarity_options = option.stacked(
    option.section(
        "Input", option.text("--language", "LANGUAGE", "Language of the words.  [default: the first]"), vectors_option
    ),
    option.section("Output", option.json, option.whole_signature),
    option.section("Other", option.quiet),
)
scores_options = option.stacked(
    option.section("Scores", at_option, option.intervals),
    option.section("Output", option.json, option.whole_signature),
    option.running,
)


@click.command(
    "translation",
    cls=Command,
    epilog="""\b
Examples:
  cepts spaces score translation en-fr test.txt
  cepts spaces score translation en-fr test.txt --both --intervals 1000""",
)
@click.argument("directory")
@click.argument("dictionary")
@option.section("Input", direction_options, vectors_option)
@option.section(
    "Scores",
    option.flag("--both", "Also score the other direction, with the same dictionary."),
    measure_option(multiple=True),
    sources_option,
)
@scores_options
def translation(directory: str, dictionary: str, **options: Any) -> None:
    """Score word translation against a test dictionary.

    DIRECTORY is what 'cepts spaces fit --save' wrote. The first column of DICTIONARY is in the language to translate
    from, unless its first line names the languages. A word with several translations is one question, and each of them
    is a right answer, as in MUSE. Words without a vector do not count in the precision; the table shows how many words
    are covered.
    """
    from cepts.pipeline.space_scores import PrecisionTask, score_translation_file

    task = PrecisionTask(measures=options["measure"], **option.given(options, PrecisionTask))
    with opening(directory, options) as space:
        report = score_translation_file(space, dictionary, task)
    show(report, as_json=options["as_json"], signature=options["signature"])


@click.command(
    "retrieval",
    cls=Command,
    epilog="""\b
Example:
  cepts spaces score retrieval en-it europarl.en europarl.it --measure cosine""",
)
@click.argument("directory")
@click.argument("source_file", metavar="SOURCE")
@click.argument("target_file", metavar="TARGET")
@option.section(
    "Input",
    direction_options,
    option.flag("--tokenized", "The sentences are already tokenised, with spaces between tokens."),
    vectors_option,
)
@option.section(
    "Scores",
    option.whole("--queries", "Number of sentences to look up, drawn at random.", default=2000),
    option.flag(
        "--paper",
        "Make sentence vectors as Vargas et al. (2019) with MUSE: word vectors keep their lengths, and a word has at "
        "least the weight 1.",
    ),
    option.choice(
        "--measure",
        SIMILARITY_MEASURES,
        option.again("How similarity of sentences is measured.", "  [default: csls]"),
        default=("csls",),
        show_default=False,
        multiple=True,
    ),
)
@scores_options
def retrieval(directory: str, source_file: str, target_file: str, **options: Any) -> None:
    """Score the retrieval of translated sentences.

    DIRECTORY is what 'cepts spaces fit --save' wrote. SOURCE and TARGET have one sentence per line; line n of one is
    the translation of line n of the other. Each query is looked up among all sentences of the other side, in both
    directions. Sentence vectors are means of word vectors, weighted by inverse document frequency.
    """
    from cepts.pipeline.space_scores import PrecisionTask, score_retrieval_files

    task = PrecisionTask(measures=options["measure"], **option.given(options, PrecisionTask))
    with opening(directory, options) as space:
        report = score_retrieval_files(space, (source_file, target_file), task)
    show(report, as_json=options["as_json"], signature=options["signature"])


@click.command(
    "similarity",
    cls=Command,
    epilog="""\b
Example:
  cepts spaces score similarity en-fr EN-WS-353.txt EN-SIMLEX-999.txt""",
)
@click.argument("directory")
@click.argument("tasks", nargs=-1, required=True)
@similarity_options
def similarity(directory: str, tasks: tuple[str, ...], **options: Any) -> None:
    """Score word similarity against human judgements.

    DIRECTORY is what 'cepts spaces fit --save' wrote. TASKS are files with two words of one language and a score per
    line. The table has Spearman's correlation of the scores with the cosines of the vectors alone, and with the cosines
    in the space, which are informed by the other languages.
    """
    _score_similarity(directory, tasks, options)


@click.command(
    "sts",
    cls=Command,
    epilog="""\b
Example:
  cepts spaces score sts en-fr STS2016/*.tsv --counts enwiki_vocab_min200.txt""",
)
@click.argument("directory")
@click.argument("tasks", nargs=-1, required=True)
@option.section(
    "Input",
    option.text("--counts", "FILE", "Word counts of a large text: a word and a number per line.", required=True),
)
@similarity_options
def sts(directory: str, tasks: tuple[str, ...], **options: Any) -> None:
    """Score sentence similarity against human judgements.

    DIRECTORY is what 'cepts spaces fit --save' wrote. TASKS are files with a score and two sentences of one language
    per line, separated by tabs (STS). The sentences are tokenised. Sentence vectors are means of word vectors, weighted
    by smooth inverse frequency, without the component that all sentences of a task share (SIF). The table has
    Spearman's correlation with the vectors alone and in the space.
    """
    _score_similarity(directory, tasks, options)


def _score_similarity(directory: str, tasks: tuple[str, ...], options: dict[str, Any]) -> None:
    from cepts.pipeline.space_scores import score_similarity_files

    with opening(directory, options) as space:
        report = score_similarity_files(space, tasks, **option.given(options, score_similarity_files))
    show(report, as_json=options["as_json"], signature=options["signature"])
