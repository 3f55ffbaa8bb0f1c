"""Text -> model -> lists of alignments -> file."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cepts.data import Bitext
from cepts.io import NBestWriter
from cepts.progress import Progress
from cepts.words import Aligner

__all__ = ["ListSummary", "list_bitext"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSummary:
    """What a run that listed alignments did; of a direction that was not asked for there are none."""

    pairs: int
    source_words: int
    target_words: int
    forward: int
    reverse: int
    empty: int
    too_long: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return asdict(self)


def list_bitext(
    aligner: Aligner,
    bitext: Bitext,
    output: str | Path,
    *,
    count: int,
    direction: str = "both",
    format: str = "json",
    progress: Progress | None = None,
) -> ListSummary:
    """Write the `count` most probable alignments of each pair of `bitext` as a trained aligner finds them."""
    started = time.perf_counter()
    found = {"forward": 0, "reverse": 0}
    with NBestWriter(output, format=format, direction=direction, bitext=bitext) as writer:
        for forward, reverse in aligner.nbest_blocks(bitext, count, progress=progress):
            writer.write(forward, reverse)
            for name, lists in (("forward", forward), ("reverse", reverse)):
                if direction in {name, "both"}:
                    found[name] += len(lists.log_probabilities)
    return ListSummary(
        pairs=len(bitext),
        source_words=len(bitext.source.ids),
        target_words=len(bitext.target.ids),
        **found,
        empty=int(((bitext.source.lengths == 0) | (bitext.target.lengths == 0)).sum()),
        too_long=aligner.skipped(bitext),
        seconds=time.perf_counter() - started,
    )
