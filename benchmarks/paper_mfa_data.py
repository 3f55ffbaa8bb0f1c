"""What the tables of mfa share: the data, whose figures a row has, and notes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from paper_run import PaperRun
from spaces_data import SpacesData

__all__ = ["DEFAULT", "EUROPARL_VECTORS", "OURS", "PAPER", "PUBLISHED", "coverage", "data_of", "sourced"]

QUICK_WORDS = 6000
OURS, PAPER, DEFAULT, PUBLISHED = "ours", "ours, `--paper`", "ours, default", "published"
EUROPARL_VECTORS = "vectors trained on Europarl (15,000 words of width 200)"


@cache
def data_of(run: PaperRun) -> SpacesData:
    """The vectors, dictionaries and tasks; in quick runs only the first words."""
    return SpacesData(run.data, QUICK_WORDS if run.quick else None)


def sourced(table: str, *sentences: str) -> str:
    """A table with what must be known about it below."""
    return "\n\n".join([table, " ".join(sentences)])


def coverage(covered: Iterable[str]) -> str:
    """A sentence about how many test words count."""
    return f"Test words that both vocabularies have: {', '.join(covered)}."
