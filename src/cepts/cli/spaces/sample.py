"""`cepts spaces sample`: random words with about the same meaning, drawn from the model."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.groups import Command
from cepts.cli.spaces import opening, vectors_option


@click.command(
    "sample",
    cls=Command,
    epilog="""\b
Examples:
  cepts spaces sample en-fr --noise 0.2
  cepts spaces sample en-fr --draws 10000 --count 50 --seed 7 --json""",
)
@click.argument("directory")
@option.whole("--count", "Number of samples to show, the most probable first.", default=28)
@option.whole("--draws", "Number of samples to draw.", default=2000)
@option.real(
    "--noise",
    "Share of the noise of each language; less noise gives words of more similar meaning.",
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
    """Draw random words of similar meaning from a space.

    DIRECTORY is what 'cepts spaces fit --save' wrote, with a factor model (ibfa or mbfa). Each sample draws a meaning,
    and from it a vector of each language. The table has the word nearest to each vector, translations of the other
    languages' words into the first language, and the logarithm of the joint density of these words. The words are
    related rather than translations of each other, because each language adds its own noise.
    """
    from cepts.pipeline.spaces import sample_space

    with opening(directory, options) as space:
        report = sample_space(space, **option.given(options, sample_space))
    show(report, as_json=options["as_json"])
