"""`cepts factor`: links out of association matrices that the user brings."""

from __future__ import annotations

import time
from typing import Any

import click

from cepts.cli.choices import FORMATS
from cepts.cli.console import ProgressBars, say

__all__ = ["command", "describe_cepts", "factoring_options", "parse_cepts"]


def parse_cepts(ctx: click.Context, option: click.Parameter, value: str | None) -> str | int | None:
    """How the number of cepts is chosen: by name, or that number."""
    from cepts.cli.choices import SELECTIONS

    if value is None or value in SELECTIONS:
        return value
    if value.isdecimal() and int(value) > 0:
        return int(value)
    raise click.BadParameter(f"wants {', '.join(SELECTIONS)} or a number from 1 on. Got {value!r}.")


def factoring_options(function: Any) -> Any:
    """Add the options of `cepts.factor.onmf` to a command."""
    for option in reversed(
        (
            click.option(
                "--cepts",
                metavar="HOW",
                callback=parse_cepts,
                help="Number of cepts: anneal (AIC in one annealing pass; the default), anneal-bic, aic or bic "
                "(every number from random starts: slow), or a number.",
            ),
            click.option(
                "--sure",
                type=click.FloatRange(0, 1),
                metavar="P",
                help="Least confidence of a sure link; others are possible ones.  [default: 0.5]",
            ),
            click.option("--restarts", type=click.IntRange(1), metavar="N", help="Random starts of aic and bic."),
            click.option("--seed", type=click.IntRange(0), metavar="N", help="Of the random starts.  [default: 0]"),
        )
    ):
        function = option(function)
    return function


def describe_cepts(counts: Any) -> str:
    """One line on the cepts of a run."""
    if not counts.pairs:
        return "cepts    none"
    return (
        f"cepts    {counts.cepts:,} ({counts.cepts / counts.pairs:.1f} a pair); null has "
        f"{counts.source_null / max(counts.source_words, 1):.1%} of the source and "
        f"{counts.target_null / max(counts.target_words, 1):.1%} of the target words; noise "
        f"{counts.noise / counts.pairs:.2%}"
    )


@click.command(
    "factor",
    epilog="""\b
Examples:
  cepts factor matrices.jsonl -o links.txt
  cepts factor posteriors.npz --source en.txt --target fr.txt --format json
  cepts factor matrices.jsonl --pair 3 --plot pair3.png""",
)
@click.argument("matrices")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where the links go.  [default: stdout]")
@click.option(
    "--source", metavar="FILE", help="Source sentences, which the matrices must fit; giza and json show them."
)
@click.option("--target", metavar="FILE", help="Target sentences, likewise.")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="pharaoh", show_default=True, help="Format.")
@click.option("--base", type=click.Choice(["0", "1"]), default="0", help="Number of the first word in Pharaoh links.")
@factoring_options
@click.option(
    "--scale",
    type=click.FloatRange(0, min_open=True),
    metavar="X",
    help="What an entry of 1 is worth in counts; more evidence gives more cepts.  [default: 200 where no entry is "
    "above 1, else 1]",
)
@click.option("--noise/--no-noise", default=True, help="Let uniform noise explain a part.  [default: yes]")
@click.option("--plot", metavar="FILE", help="Draw the matrix, factors and alignment of --pair (.png .svg .pdf).")
@click.option("--plot-criterion", metavar="FILE", help="Draw AIC and BIC of --pair against the number of cepts.")
@click.option("--gold", metavar="FILE", help="Gold links, to be shown on the plot.")
@click.option("--pair", type=click.IntRange(1), default=1, metavar="N", help="The pair to draw, from 1.  [default: 1]")
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads.  [default: all processors]")
@click.option("-q", "--quiet", is_flag=True, help="No progress bars and no summary.")
def command(matrices: str, **options: Any) -> None:
    """Align words by factorising association matrices into cepts.

    MATRICES has one matrix of non-negative numbers for each sentence pair: JSON lines with {"matrix": [[...], ...]}, a
    row a source word, and if wanted "source_null", "target_null" (a mass for each word) and "source", "target" (the
    words); or .npz or .npy. Each word comes to belong to one cept, or to null, and each cept has words on both sides.
    """
    from cepts.errors import UsageError

    if (options["source"] is None) != (options["target"] is None):
        raise UsageError("--source and --target go together: give both files of sentences, or neither.")
    plots = options["plot"], options["plot_criterion"]
    started = time.perf_counter()
    with ProgressBars(quiet=options["quiet"]) as bars:
        if any(plot is not None for plot in plots):
            if matrices == "-":
                raise UsageError("--plot reads the matrices a second time, which standard input does not allow.")
            from cepts.plot.figure import suffix_of

            for plot in plots:
                if plot is not None:
                    suffix_of(plot)
        _factor(matrices, options, bars, started)


def _factor(matrices: str, options: dict[str, Any], bars: ProgressBars, started: float) -> None:
    from cepts.io import check_output, read_bitext
    from cepts.pipeline import factor_matrices

    check_output(options["output"])
    bitext = None
    if options["source"] is not None:
        bitext = read_bitext(options["source"], options["target"], progress=bars)
    chosen = {name: options[name] for name in ("cepts", "sure", "restarts", "seed") if options[name] is not None}
    summary = factor_matrices(
        matrices,
        options["output"],
        bitext=bitext,
        scale=options["scale"],
        format=options["format_"],
        base=int(options["base"]),
        noise=options["noise"],
        threads=options["threads"],
        progress=bars,
        **chosen,
    )
    bars.close()
    _draw(matrices, options, chosen, summary.scale, bitext)
    quiet = options["quiet"]
    seconds = time.perf_counter() - started
    say(f"aligned  {summary.pairs:,} matrices, scale {summary.scale:g}, in {seconds:,.1f} s", quiet=quiet)
    say(f"links    {summary.sure:,} sure, {summary.links - summary.sure:,} possible", quiet=quiet)
    say(describe_cepts(summary.counts), quiet=quiet)


def _draw(matrices: str, options: dict[str, Any], chosen: dict[str, Any], scale: float, bitext: Any) -> None:
    """The figures of one pair, if they are wanted."""
    if options["plot"] is None and options["plot_criterion"] is None:
        return
    from cepts.errors import UsageError
    from cepts.io import read_association, read_links
    from cepts.plot import draw_pair

    found = read_association(matrices)
    pair = options["pair"] - 1
    if pair >= len(found):
        raise UsageError(f"--pair {options['pair']:,}: {found.name} has {len(found):,} matrices.")
    draw_pair(
        found,
        pair,
        scale=scale,
        words=None if bitext is None else bitext[pair],
        gold=None
        if options["gold"] is None
        else read_links(
            options["gold"],
            sentences=len(found),
            source_lengths=found.association.source_lengths,
            target_lengths=found.association.target_lengths,
        )[pair],
        factors=options["plot"],
        criterion=options["plot_criterion"],
        noise=options["noise"],
        **chosen,
    )
