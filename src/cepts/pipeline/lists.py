"""Writing lists of the most probable alignments of each pair."""

from __future__ import annotations

from pathlib import Path

from cepts.data import Bitext
from cepts.io import NBestWriter
from cepts.pipeline.loop import Summary, parts_of
from cepts.pipeline.passing import PassingText
from cepts.progress import Progress
from cepts.words import Aligner
from cepts.words.text import ShelvedText


def list_alignments(
    aligner: Aligner,
    bitext: Bitext | ShelvedText | PassingText,
    output: str | Path,
    *,
    count: int,
    direction: str = "both",
    format: str = "json",
    progress: Progress | None = None,
) -> Summary:
    """Write the most probable alignments of each sentence pair, as a trained aligner finds them.

    Parameters
    ----------
    aligner
        A trained word aligner.
    bitext
        The sentence pairs.
    output, direction, format
        The file, and what it has; see `cepts.io.NBestWriter`.
    count
        How many alignments of each pair and direction to write.
    progress
        Called after each run of pairs.
    """
    summary = Summary(listed=direction)
    report = bitext.counting(progress) if isinstance(bitext, PassingText) else progress
    with NBestWriter(output, format=format, direction=direction, bitext=bitext) as writer:
        for part in parts_of(bitext):
            summary.pairs += len(part)
            summary.of_part(part, aligner.max_length)
            for forward, reverse in aligner.nbest_runs(part, count, progress=report):
                writer.write(forward, reverse)
                count_listed(summary, direction, len(forward.log_probabilities), len(reverse.log_probabilities))
    return summary


def count_listed(summary: Summary, direction: str, forward: int, reverse: int) -> None:
    """Add the alignments that were listed in each direction."""
    summary.forward_listed += forward if direction in {"forward", "both"} else 0
    summary.reverse_listed += reverse if direction in {"reverse", "both"} else 0
