"""`cepts spaces score`: a space on the tasks of word vectors."""

from __future__ import annotations

from cepts.cli.groups import LazyGroup

__all__ = ["command"]

command = LazyGroup(
    "score",
    {
        "translation": ("cepts.cli.spaces.score.translation", "Word translation against a test dictionary."),
        "similarity": ("cepts.cli.spaces.score.similarity", "Word similarity against human judgements."),
        "sts": ("cepts.cli.spaces.score.sts", "Sentence similarity against human judgements."),
        "retrieval": ("cepts.cli.spaces.score.retrieval", "Finding the translations of sentences."),
    },
    help="""Score a space on a task.

Beside each score is the share of the task that the vocabularies cover; the signature says what produced it.""",
    examples="""\
  cepts spaces score translation en-fr test.txt --both
  cepts spaces score similarity en-fr WS353.txt""",
)
