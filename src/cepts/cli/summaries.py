"""What commands say of a finished alignment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepts.pipeline import CeptCounts, Summary


def describe(summary: Summary, seconds: float, *, listed: str = "alignments") -> list[str]:
    """The summary of a run as lines for people; `listed` says what its lists are of."""
    lines = [
        f"aligned  {_pairs(summary.pairs)}, {summary.source_words:,} + {summary.target_words:,} words, "
        f"in {seconds:,.1f} s"
    ]
    lists = {"forward": summary.forward_listed, "reverse": summary.reverse_listed}
    if summary.listed is not None:
        counts = [f"{count:,} {name}" for name, count in lists.items() if summary.listed in {name, "both"}]
        lines.append(f"lists    {' and '.join(counts)} {listed}")
    else:
        lines.append(
            f"links    {summary.links:,}; covered {_share(summary.source_covered, summary.source_words)} of the source "
            f"and {_share(summary.target_covered, summary.target_words)} of the target words"
        )
    if summary.cepts is not None:
        lines += [f"sure     {_share(summary.sure, summary.links)} of the links", describe_cepts(summary.cepts)]
    if summary.empty:
        lines.append(f"empty    {_pairs(summary.empty)} with an empty side and so no links")
    if summary.too_long:
        lines.append(
            f"skipped  {_pairs(summary.too_long)} with a sentence of more than {summary.max_length:,} words and so no "
            f"links (--max-length)"
        )
    return lines


def describe_cepts(counts: CeptCounts) -> str:
    """One line on the cepts of a run."""
    if not counts.pairs:
        return "cepts    none"
    return (
        f"cepts    {counts.cepts:,} ({counts.cepts / counts.pairs:.1f} a pair); null has "
        f"{counts.source_null / max(counts.source_words, 1):.1%} of the source and "
        f"{counts.target_null / max(counts.target_words, 1):.1%} of the target words; noise "
        f"{counts.noise / counts.pairs:.2%}"
    )


def _pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count:,} pairs"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"
