"""`cepts spaces sample`: random words with about the same meaning, drawn from the model."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.spaces import opening, vectors_option


@click.command(
    "sample",
    epilog="""\b
Examples:
  cepts spaces sample en-fr --noise 0.2
  cepts spaces sample en-fr --draws 10000 --count 50 --seed 7 --json""",
)
@click.argument("directory")
@option.whole("--count", "How many to show, the most probable first.", default=28)
@option.whole("--draws", "How many to draw.", default=2000)
@option.real(
    "--noise",
    "How much of each language's noise to draw with; less gives words nearer to each other.",
    least=0,
    most=1,
    default=1.0,
)
@option.seed()
@option.json
@vectors_option
@option.threads
@option.quiet
def command(directory: str, **options: Any) -> None:
    """Draw random words with the same meaning from a space.

    A meaning is drawn, and from it a vector of each language. The table shows the word nearest to each vector, the
    logarithm of the joint density, and how the space translates the other languages' words into the first. The words
    are related rather than translations, as each language adds its own noise. Needs a factor model (ibfa or mbfa).
    """
    from cepts.pipeline.spaces import sample_space

    with opening(directory, options) as space:
        report = sample_space(space, **option.given(options, sample_space))
    show(report, as_json=options["as_json"])
