"""`cepts factor`: links out of association matrices that the user brings."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import check_apart, finite, moderate
from cepts.cli.choices import FORMATS, SELECTIONS
from cepts.cli.console import ProgressBars, say
from cepts.cli.link_options import base_option, links_option
from cepts.errors import UsageError

if TYPE_CHECKING:
    from cepts.data import Alignment
    from cepts.io import Matrices

__all__ = ["check_restarts", "command", "describe_cepts", "factoring_options", "parse_cepts"]


def parse_cepts(ctx: click.Context, option: click.Parameter, value: str | None) -> str | int | None:
    """How the number of cepts is chosen: by name, or that number."""
    if value is None or value in SELECTIONS:
        return value
    if value.isdecimal() and len(value) < 10 and int(value) > 0:
        return int(value)
    raise click.BadParameter(f"wants {', '.join(SELECTIONS)} or a number from 1 to 999,999,999. Got {value!r}.")


def factoring_options(when: str = "") -> Callable[[Any], Any]:
    """Add the options of `cepts.factor.onmf` to a command; `when` stands before what each of them is."""

    def said(text: str) -> str:
        return when + (text[0].lower() + text[1:] if when else text)

    options = (
        click.option(
            "--cepts",
            metavar="HOW",
            callback=parse_cepts,
            help=said(
                "How many cepts a pair has: anneal chooses by AIC in one annealing pass, anneal-bic by BIC; aic and "
                "bic try every number from random starts, which is slow; a number is that many, fewer in shorter "
                "pairs.  [default: anneal]"
            ),
        ),
        click.option(
            "--sure",
            type=click.FloatRange(0, 1),
            metavar="P",
            callback=finite,
            help=said("The least confidence of a sure link; the others are possible ones.  [default: 0.5]"),
        ),
        click.option(
            "--restarts",
            type=click.IntRange(1),
            metavar="N",
            callback=moderate,
            help=said("Random starts for each number of cepts, with --cepts aic or bic.  [default: 10]"),
        ),
        click.option(
            "--seed",
            type=click.IntRange(0),
            metavar="N",
            callback=moderate,
            help=said("Seed of the random starts.  [default: 0]"),
        ),
    )

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def check_restarts(options: dict[str, Any]) -> None:
    """Refuse random starts where nothing starts at random."""
    if options["restarts"] is not None and options["cepts"] not in {"aic", "bic"}:
        raise UsageError(f"--restarts goes with --cepts aic or bic, not with {options['cepts'] or 'anneal'}.")


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
  cepts factor matrices.jsonl -o links.txt --pair 3 --plot pair3.png""",
)
@click.argument("matrices")
@links_option
@click.option(
    "--source", metavar="FILE", help="Source sentences, which the matrices must fit; giza and json show them."
)
@click.option("--target", metavar="FILE", help="Target sentences, likewise.")
@click.option(
    "--allow-empty", is_flag=True, help="Give matrices without words, or of zeros only, a line without links."
)
@click.option(
    "--scale",
    type=click.FloatRange(0, min_open=True),
    metavar="X",
    callback=finite,
    help="What an entry of 1 is worth in counts; more evidence gives more cepts.  [default: 200 where no entry is "
    "above 1, else 1]",
)
@factoring_options()
@click.option("--noise/--no-noise", default=True, help="Let uniform noise explain a part.  [default: yes]")
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="pharaoh",
    show_default=True,
    help="Format of the links; json also lists the cepts.",
)
@base_option
@click.option(
    "--plot", metavar="FILE", help="Draw the matrix, the two factors and the alignment of one pair (.png .svg .pdf)."
)
@click.option("--plot-criterion", metavar="FILE", help="Draw its AIC and BIC against the number of cepts.")
@click.option("--pair", type=click.IntRange(1), metavar="N", help="For the plots: which pair, from 1.  [default: 1]")
@click.option("--gold", metavar="FILE", help="For --plot: gold links, to be shown too.")
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads.  [default: all processors]")
@click.option("-q", "--quiet", is_flag=True, help="No progress bars and no summary.")
def command(matrices: str, **options: Any) -> None:
    """Align words by factorising association matrices into cepts.

    MATRICES has one matrix of non-negative numbers for each sentence pair: JSON lines with {"matrix": [[...], ...]}, a
    row a source word, and if wanted "source_null", "target_null" (a mass for each word) and "source", "target" (the
    words); or .npz or .npy. Each word comes to belong to one cept, or to null, and each cept has words on both sides.
    """
    if (options["source"] is None) != (options["target"] is None):
        raise UsageError("--source and --target go together: give both files of sentences, or neither.")
    if matrices == "-" and "-" in {options["source"], options["target"]}:
        raise UsageError("the matrices and the sentences cannot both come from standard input; name a file for one.")
    check_restarts(options)
    _check_plots(matrices, options)
    started = time.perf_counter()
    with ProgressBars(quiet=options["quiet"]) as bars:
        _factor(matrices, options, bars, started)


def _check_plots(matrices: str, options: dict[str, Any]) -> None:
    """Refuse what does not go together with figures, or without them."""
    plots = {"--plot": options["plot"], "--plot-criterion": options["plot_criterion"]}
    wanted = {name: path for name, path in plots.items() if path is not None}
    if options["gold"] is not None and options["plot"] is None:
        raise UsageError("--gold is shown on a figure; say by --plot where that goes.")
    if options["pair"] is not None and not wanted:
        raise UsageError("--pair says which pair is drawn; say by --plot or --plot-criterion where the figure goes.")
    if not wanted:
        return
    if matrices == "-":
        raise UsageError(
            f"{next(iter(wanted))} reads the matrices a second time, which standard input does not allow; name a file."
        )
    from cepts.plot.figure import drawing, suffix_of

    for path in wanted.values():
        suffix_of(path)
    check_apart({**wanted, "the links": options["output"]})
    with drawing():  # refuses where matplotlib is missing
        pass


def _factor(matrices: str, options: dict[str, Any], bars: ProgressBars, started: float) -> None:
    from cepts.io import check_output, read_bitext
    from cepts.pipeline import factor_matrices

    check_output(options["output"])
    bitext = None
    if options["source"] is not None:
        bitext = read_bitext(options["source"], options["target"], progress=bars)
    drawn = None
    if options["plot"] is not None or options["plot_criterion"] is not None:
        drawn = _pair_to_draw(matrices, options)
    chosen = {name: options[name] for name in ("cepts", "sure", "restarts", "seed") if options[name] is not None}
    chosen["noise"] = options["noise"]
    summary = factor_matrices(
        matrices,
        options["output"],
        bitext=bitext,
        scale=options["scale"],
        format=options["format_"],
        base=int(options["base"]),
        allow_empty=options["allow_empty"],
        threads=options["threads"],
        progress=bars,
        **chosen,
    )
    bars.close()
    if drawn is not None:
        from cepts.plot import draw_pair

        found, gold = drawn
        draw_pair(
            found,
            0,
            scale=summary.scale,
            words=None if bitext is None else bitext[found.first],
            gold=gold,
            factors=options["plot"],
            criterion=options["plot_criterion"],
            **chosen,
        )
    quiet = options["quiet"]
    counted = "1 matrix" if summary.pairs == 1 else f"{summary.pairs:,} matrices"
    seconds = time.perf_counter() - started
    say(f"aligned  {counted}, scale {summary.scale:g}, in {seconds:,.1f} s", quiet=quiet)
    say(f"links    {summary.sure:,} sure, {summary.links - summary.sure:,} possible", quiet=quiet)
    say(describe_cepts(summary.counts), quiet=quiet)


def _pair_to_draw(matrices: str, options: dict[str, Any]) -> tuple[Matrices, Alignment | None]:
    """The matrix that is to be drawn and its gold links, read before anything is written."""
    import numpy as np

    from cepts.errors import DataError
    from cepts.io import association_blocks, read_links

    pair = (options["pair"] or 1) - 1
    found: Matrices | None = None
    lengths = []
    count = 0
    name = matrices
    for block in association_blocks(matrices, allow_empty=options["allow_empty"]):
        name = block.name
        lengths.append((block.association.source_lengths, block.association.target_lengths))
        if count <= pair < count + len(block):
            found = block.only(pair - count)
        count += len(block)
    if found is None:
        has = "1 matrix" if count == 1 else f"{count:,} matrices"
        raise UsageError(f"--pair must be at most {count:,}, since {name} has {has}. Got {pair + 1:,} instead.")
    if not found.association.values.any():
        raise DataError(
            f"{found.where(0)}: found a matrix of zeros only, wanted at least one value above 0 to draw; choose "
            f"another --pair."
        )
    if options["gold"] is None:
        return found, None
    gold = read_links(
        options["gold"],
        sentences=count,
        source_lengths=np.concatenate([source for source, _ in lengths]),
        target_lengths=np.concatenate([target for _, target in lengths]),
    )
    return found, gold[pair]
