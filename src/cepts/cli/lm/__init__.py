"""`cepts lm`: language models that adapt to a topic."""

from __future__ import annotations

from cepts.cli.groups import LazyGroup

__all__ = ["command"]

command = LazyGroup(
    "lm",
    {
        "fit": ("cepts.cli.lm.fit", "Fit a language model to a text."),
        "perplexity": ("cepts.cli.lm.perplexity", "How well a model predicts a text."),
        "rescore": ("cepts.cli.lm.rescore", "Choose among the hypotheses of a recogniser."),
        "show": ("cepts.cli.lm.show", "Show the hidden documents of a model."),
        "export": ("cepts.cli.lm.export", "Adapt to a document and write an ARPA file."),
    },
    help="""Adapt language models to a topic.

A model combines n-grams with hidden documents, which are distributions of words that occur together, and with
caches of earlier words. The history, all content words so far, weights the hidden documents, and so predicts which
words come next. For dictation, lectures and meetings: lower perplexity, and fewer errors of a recogniser.""",
    examples="""\
  cepts lm fit textbook.txt --background news.arpa --save biology
  cepts lm perplexity biology lecture.txt
  cepts lm rescore biology nbest.tsv -o best.tsv""",
)
