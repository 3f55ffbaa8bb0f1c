"""What the scores of spaces share: options, tables, signatures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from cepts.cli import option
from cepts.cli.cells import LEVEL, RANGE, bounds
from cepts.cli.console import print_json, print_table
from cepts.cli.option import listed

if TYPE_CHECKING:
    from cepts.evaluate import Interval, TranslationScore
    from cepts.pipeline.spaces import SimilarityScores


def _at(ctx: click.Context, option: click.Parameter, value: str) -> tuple[int, ...]:
    parts = listed(value)
    if not all(part.isdecimal() and 0 < int(part) <= 1000 for part in parts) or len(set(parts)) < len(parts):
        raise click.BadParameter(f"wants numbers from 1 to 1000 with commas between them. Got {value!r}.")
    return tuple(sorted(map(int, parts)))


at_option = option.text("--at", "N,...", "Precision at these numbers of answers.", default="1,5,10", callback=_at)


def joint_signature(facts: Sequence[Mapping[str, object]]) -> str:
    """One signature of several scores; values that differ between them are joined by +, in their order."""
    from cepts.signature import signature

    names = dict.fromkeys(name for each in facts for name in each)
    found: dict[str, object] = {}
    for name in names:
        values = dict.fromkeys(str(each[name]) for each in facts if name in each)
        found[name] = "+".join(values)
    return signature(found)


def report_precision(
    scores: Sequence[TranslationScore],
    *,
    unit: str,
    samples: int,
    seed: int,
    as_json: bool,
) -> None:
    """Print precisions with their coverage: a line a direction and measure."""
    from cepts.evaluate import intervals

    drawn = {"bootstrap": samples, "bootstrap-seed": seed, "level": f"{LEVEL:g}"} if samples else {}
    ranges: list[dict[str, Interval]] = [
        intervals(score, samples=samples, seed=seed, level=LEVEL) if samples else {} for score in scores
    ]
    facts = [{**score.facts, **drawn} for score in scores]
    if as_json:
        print_json(
            [
                {
                    "direction": score.facts["direction"],
                    "measure": score.facts["measure"],
                    **score.as_dict(),
                    **({"intervals": bounds(found)} if found else {}),
                    "signature": joint_signature([fact]),
                }
                for score, found, fact in zip(scores, ranges, facts, strict=True)
            ]
        )
        return
    columns = ["direction", "measure"]
    for k in scores[0].at:
        columns += [f"P@{k}, %", *([RANGE] if samples else [])]
    columns += ["MRR, %", unit, "covered", "covered, %"]
    rows = []
    for score, found in zip(scores, ranges, strict=True):
        row = [score.facts["direction"], score.facts["measure"]]
        for k, precision in score.precision.items():
            row.append(f"{precision:.2f}")
            if samples:
                interval = found[f"precision_at_{k}"]
                row.append(f"{interval.low:.2f} to {interval.high:.2f}")
        row += [f"{score.mean_reciprocal_rank:.2f}", f"{score.asked:,}", f"{score.covered:,}", f"{score.coverage:.1f}"]
        rows.append(row)
    print_table(columns, rows, left=2)
    click.echo(f"\nsignature  {joint_signature(facts)}")


def report_similarity(scores: Sequence[SimilarityScores], *, as_json: bool) -> None:
    """Print correlations of the vectors alone and in the space, with their coverage: a line per task, and the means."""
    facts = [{**score.space.facts, **score.about} for score in scores]
    if as_json:
        print_json(
            [
                {
                    "task": score.space.name,
                    "pairs": score.space.pairs,
                    "covered": score.space.covered,
                    "coverage": score.space.coverage,
                    "alone": score.alone.spearman,
                    "space": score.space.spearman,
                    "signature": joint_signature([fact]),
                }
                for score, fact in zip(scores, facts, strict=True)
            ]
        )
        return
    rows = [
        (
            score.space.name,
            f"{score.alone.spearman:.2f}",
            f"{score.space.spearman:.2f}",
            f"{score.space.spearman - score.alone.spearman:+.2f}",
            f"{score.space.pairs:,}",
            f"{score.space.covered:,}",
            f"{score.space.coverage:.1f}",
        )
        for score in scores
    ]
    if len(scores) > 1:
        alone = sum(score.alone.spearman for score in scores) / len(scores)
        space = sum(score.space.spearman for score in scores) / len(scores)
        pairs, covered = (sum(getattr(score.space, name) for score in scores) for name in ("pairs", "covered"))
        rows.append(
            (
                "mean",
                f"{alone:.2f}",
                f"{space:.2f}",
                f"{space - alone:+.2f}",
                f"{pairs:,}",
                f"{covered:,}",
                f"{100 * covered / pairs:.1f}",
            )
        )
    columns = ("Spearman, %", "vectors alone", "in the space", "difference", "pairs", "covered", "covered, %")
    print_table(columns, rows)
    click.echo(f"\nsignature  {joint_signature(facts)}")
