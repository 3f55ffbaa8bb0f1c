"""`cepts spaces`: the word-vector spaces of two or more languages."""

from __future__ import annotations

from cepts.cli.groups import LazyGroup

__all__ = ["command"]

command = LazyGroup(
    "spaces",
    {
        "fit": ("cepts.cli.spaces.fit", "Fit a shared space to the word vectors of languages."),
        "translate": ("cepts.cli.spaces.translate", "Translate words by their places in a space."),
        "senses": ("cepts.cli.spaces.senses", "Show the senses of words, and translations of each."),
        "align": ("cepts.cli.spaces.align", "Align the words of sentences by their places in a space."),
        "score": ("cepts.cli.spaces.score", "Score a space on a task."),
        "sample": ("cepts.cli.spaces.sample", "Draw random words with the same meaning from a space."),
        "export": ("cepts.cli.spaces.export", "Write a language's vectors in the shared space."),
    },
    help="""Join the word vectors of languages in one space.

In a space, words of two or more languages lie near each other when they have the same meaning. It is fitted to the
vectors of each language and a dictionary, and then translates words that the dictionary does not have.""",
    examples="""\
  cepts spaces fit en.vec fr.vec --dictionary en-fr.txt --save en-fr
  cepts spaces translate en-fr house river""",
)
