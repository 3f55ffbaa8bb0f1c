"""`cepts lm`: language models that adapt to a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepts.cli import option
from cepts.cli.groups import LazyGroup
from cepts.names import DOCUMENT_FORMATS

if TYPE_CHECKING:
    from cepts.pipeline.inputs import TextReading

__all__ = ["command", "reading_of", "reading_options"]

command = LazyGroup(
    "lm",
    {
        "fit": ("cepts.cli.lm.fit", "Fit a language model to a text."),
        "perplexity": ("cepts.cli.lm.perplexity", "Measure how well a model predicts a text."),
        "rescore": ("cepts.cli.lm.rescore", "Rescore the hypotheses of a speech recogniser."),
        "show": ("cepts.cli.lm.show", "Show the hidden documents of a model."),
        "export": ("cepts.cli.lm.export", "Adapt a model to a document and write an ARPA file."),
    },
    help="""Adapt language models to a topic.

A model combines n-grams with hidden documents, which are distributions over words that occur together, and with
caches of recent words. The history, which is all content words so far, weights the hidden documents and so predicts
the next words. In dictation, lectures and meetings this gives a lower perplexity and fewer recognition errors.""",
    examples="""\
  cepts lm fit textbook.txt --background news.arpa --save biology
  cepts lm perplexity biology lecture.txt
  cepts lm rescore biology nbest.tsv -o best.tsv""",
)

reading_options = option.section(
    "Input",
    option.choice(
        "--documents",
        DOCUMENT_FORMATS,
        "What a document is: a whole file, the text between blank lines, or a JSON object per line. auto tells it from "
        "the name, or from blank lines.",
        default="auto",
    ),
    option.errors,
)


def reading_of(options: dict[str, Any]) -> TextReading:
    """How texts are read, by these options."""
    from cepts.pipeline.inputs import TextReading

    return TextReading(format=options["documents"], errors=options["errors"])
