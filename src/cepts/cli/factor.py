"""`cepts factor`: links out of association matrices that the user brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import check_apart, finite
from cepts.cli.console import ProgressBars, say
from cepts.cli.link_options import (
    base_option,
    check_extraction,
    combine_option,
    extraction_of,
    factoring_options,
    links_option,
    threshold_option,
)
from cepts.cli.summaries import describe_cepts
from cepts.errors import UsageError
from cepts.names import LINK_FORMATS
from cepts.progress import Stopwatch

if TYPE_CHECKING:
    from cepts.pipeline import MatrixFile, Summary

__all__ = ["command"]


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
@combine_option(default="onmf")
@threshold_option()
@factoring_options()
@click.option("--noise/--no-noise", default=None, help="Let uniform noise explain a part.  [default: yes]")
@click.option(
    "--format",
    "format_",
    type=click.Choice(tuple(LINK_FORMATS)),
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
    _check(matrices, options)
    stopwatch = Stopwatch()
    with ProgressBars(quiet=options["quiet"]) as bars:
        file, summary = _align(matrices, options, bars)
    quiet = options["quiet"]
    counted = "1 matrix" if summary.pairs == 1 else f"{summary.pairs:,} matrices"
    seconds = stopwatch.seconds
    say(f"aligned  {counted}, scale {file.scale_used:g}, in {seconds:,.1f} s", quiet=quiet)
    say(f"links    {summary.sure:,} sure, {summary.links - summary.sure:,} possible", quiet=quiet)
    if summary.cepts is not None:
        say(describe_cepts(summary.cepts), quiet=quiet)


def _check(matrices: str, options: dict[str, Any]) -> None:
    """Refuse options that do not go together, before anything is read."""
    if (options["source"] is None) != (options["target"] is None):
        raise UsageError("`source` and `target` go together: give both files of sentences, or neither.")
    if matrices == "-" and "-" in {options["source"], options["target"]}:
        raise UsageError("the matrices and the sentences cannot both come from standard input; name a file for one.")
    check_extraction(options)
    _check_plots(matrices, options)


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


def _align(matrices: str, options: dict[str, Any], progress: ProgressBars) -> tuple[MatrixFile, Summary]:
    from cepts.pipeline import BitextFiles, MatrixFile, align_matrices, matrix_to_draw

    texts = None if options["source"] is None else BitextFiles(source=options["source"], target=options["target"])
    extraction = extraction_of(options)
    drawn = None
    if options["plot"] is not None or options["plot_criterion"] is not None:
        drawn = matrix_to_draw(
            matrices, (options["pair"] or 1) - 1, allow_empty=options["allow_empty"], gold=options["gold"]
        )
    file = MatrixFile(
        matrices,
        bitext=None if texts is None else texts.read(progress),
        scale=options["scale"],
        allow_empty=options["allow_empty"],
        cepts=extraction.factoring.cepts,
        threads=options["threads"],
    )
    summary = align_matrices(
        file,
        options["output"],
        extraction,
        format=options["format_"],
        base=int(options["base"]),
        progress=progress,
    )
    progress.close()
    if drawn is not None:
        from cepts.plot import draw_pair

        found, gold = drawn
        draw_pair(
            found,
            0,
            scale=file.scale_used,
            words=None if file.bitext is None else file.bitext[found.first],
            gold=gold,
            factors=options["plot"],
            criterion=options["plot_criterion"],
            **extraction.factoring.of_onmf(),
        )
    return file, summary
