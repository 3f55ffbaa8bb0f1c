"""`cepts spaces`: the word-vector spaces of two or more languages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cepts.cli import option
from cepts.cli.console import ProgressBars
from cepts.cli.groups import LazyGroup
from cepts.names import TRANSLATION_MEASURES

if TYPE_CHECKING:
    from cepts.pipeline.inputs import SavedSpace

__all__ = ["command", "direction_options", "measure_option", "opening", "sources_option", "vectors_option"]

command = LazyGroup(
    "spaces",
    {
        "fit": ("cepts.cli.spaces.fit", "Fit a shared space to the word vectors of several languages."),
        "translate": ("cepts.cli.spaces.translate", "Translate words by their vectors in a space."),
        "senses": ("cepts.cli.spaces.senses", "Show the senses of words, with translations of each."),
        "align": ("cepts.cli.spaces.align", "Align the words of sentences by their vectors in a space."),
        "score": ("cepts.cli.spaces.score", "Score a space on a task."),
        "sample": ("cepts.cli.spaces.sample", "Draw random words of similar meaning from a space."),
        "export": ("cepts.cli.spaces.export", "Write the vectors of a language in the shared space."),
    },
    help="""Join the word vectors of several languages in one space.

In a space, words of two or more languages are near each other when they have the same meaning. A space is fitted to
the vectors of each language and a dictionary. It then translates words that the dictionary does not have.""",
    examples="""\
  cepts spaces fit en.vec fr.vec --dictionary en-fr.txt --save en-fr
  cepts spaces translate en-fr house river""",
)

vectors_option = option.text(
    "--vectors",
    "LANGUAGE:FILE",
    option.again("Vectors of a language, for a space that was saved without them."),
    multiple=True,
)
sources_option = option.whole(
    "--sources",
    "For csls and inverted-softmax: number of source words, the most frequent ones, from which hubs among the target "
    "words are recognised.",
    default=20_000,
)
direction_options = option.stacked(
    option.text("--from", "LANGUAGE", "Language to translate from.  [default: the first]", dest="source"),
    option.text("--to", "LANGUAGE", "Language to translate into.  [default: the other]", dest="target"),
)


def measure_option(*, multiple: bool = False) -> Callable[[Any], Any]:
    """How words are compared; a tuple if there may be several."""
    help = "How similarity is measured: by cosine, cosine corrected for hubs, or the likelihood of the factor model."
    return option.choice(
        "--measure",
        TRANSLATION_MEASURES,
        f"{option.again(help) if multiple else help}  [default: csls]",
        default=("csls",) if multiple else "csls",
        multiple=multiple,
        metavar="MEASURE",
    )


@contextmanager
def opening(directory: str, options: dict[str, Any]) -> Iterator[SavedSpace]:
    """A saved space and its options, with progress bars while it is asked, and notes at the end."""
    from cepts.pipeline.inputs import SavedSpace

    with ProgressBars(quiet=options["quiet"]) as bars:
        yield SavedSpace(
            directory=directory,
            vectors=options["vectors"],
            threads=options.get("threads"),
            notices=bars.notices,
            progress=bars,
        )
