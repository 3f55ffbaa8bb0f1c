"""The sentences that links belong to: options that tell a command how long they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cepts.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cepts.data import Bitext

__all__ = ["Sides", "can_reread", "read_sides", "refuse_stdin_twice", "sides_options"]

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Sides:
    """What is known of the sentences: all, one side's lengths, or nothing."""

    bitext: Bitext | None = None
    source_lengths: NDArray[np.int64] | None = None
    target_lengths: NDArray[np.int64] | None = None

    @property
    def pairs(self) -> int | None:
        """Number of sentence pairs, where it is known."""
        for lengths in (self.source_lengths, self.target_lengths):
            if lengths is not None:
                return len(lengths)
        return None

    def lengths(self, *, swapped: bool = False) -> dict[str, Any]:
        """The lengths as arguments of `read_links`; `swapped` for a file that has target-source links."""
        sides = (self.source_lengths, self.target_lengths)
        return dict(zip(("source_lengths", "target_lengths"), sides[::-1] if swapped else sides, strict=True))


def sides_options(command: Function) -> Function:
    """Give `command` the options `--source`, `--target` and `--bitext`."""
    for decorate in (
        click.option("--bitext", metavar="FILE", help="Both sides in one file, instead of --source and --target."),
        click.option("--target", metavar="FILE", help="The target sentences, one a line."),
        click.option("--source", metavar="FILE", help="The source sentences, one a line."),
    ):
        command = decorate(command)
    return command


def read_sides(source: str | None, target: str | None, bitext: str | None) -> Sides:
    """Read what the options of `sides_options` name."""
    from cepts.io import read_bitext, read_text

    if bitext is not None and (source is not None or target is not None):
        raise UsageError("give either --bitext or --source and --target, not both.")
    both = None
    if bitext is not None:
        both = read_bitext(bitext)
    elif source is not None and target is not None:
        both = read_bitext(source, target)
    if both is not None:
        return Sides(both, both.source.lengths, both.target.lengths)
    return Sides(
        source_lengths=None if source is None else read_text(source).lengths,
        target_lengths=None if target is None else read_text(target).lengths,
    )


def refuse_stdin_twice(*paths: str | None) -> None:
    """Standard input can be read only once."""
    if sum(path == "-" for path in paths) > 1:
        raise UsageError("only one input can be -, standard input.")


def can_reread(path: str) -> bool:
    """Whether `path` can be read a second time, unlike a pipe."""
    return Path(path).is_file()
