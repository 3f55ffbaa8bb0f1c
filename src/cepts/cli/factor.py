"""`cepts factor`: links out of association matrices that the user brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cepts.cli import link_options, option
from cepts.cli.console import ProgressBars, figure_notes, say
from cepts.cli.groups import Command
from cepts.errors import UsageError
from cepts.progress import Stopwatch

if TYPE_CHECKING:
    from cepts.pipeline import MatrixFile, Summary


@click.command(
    "factor",
    cls=Command,
    epilog="""\b
Examples:
  cepts factor matrices.jsonl -o links.txt
  cepts factor posteriors.npz --source en.txt --target fr.txt --format json
  cepts factor matrices.jsonl -o links.txt --pair 3 --plot pair3.png""",
)
@click.argument("matrices")
@option.section(
    "Input",
    option.text("--source", "FILE", "Source sentences of the matrices, one per line; giza and json show them."),
    option.text("--target", "FILE", "Target sentences of the matrices, one per line."),
    option.flag("--allow-empty", "Accept matrices without words or with zeros only; they get a line without links."),
)
@option.section(
    "Links",
    link_options.combine_option(default="onmf"),
    link_options.threshold_option(),
    link_options.factoring_options(),
    option.real(
        "--scale",
        "Count that an entry of 1 stands for; a higher count gives more cepts.  [default: 200 if no entry exceeds 1, "
        "otherwise 1]",
        above=0,
    ),
    option.flag("--noise/--no-noise", "Let a uniform noise component explain a part of the matrix.  [default: yes]"),
)
@option.section(
    "Output",
    option.output("File for the links."),
    link_options.format_option("--format", "File format of the links; json also has the cepts.", default="pharaoh"),
    option.base(),
    option.text("--plot", "FILE", "Draw the matrix, its two factors and the alignment of one pair (.png .svg .pdf)."),
    option.flag("--orthogonal", "For --plot: draw the orthogonal factors, where each word has one cept."),
    option.text("--plot-criterion", "FILE", "Draw AIC, BIC and ICL of that pair against the number of cepts."),
    option.whole("--pair", "Number of the pair to draw, from 1.  [default: 1]"),
    option.text("--gold", "FILE", "Gold links to show in --plot."),
)
@option.running
def command(matrices: str, **options: Any) -> None:
    """Align words by factorising association matrices into cepts.

    MATRICES has one matrix of non-negative numbers for each sentence pair, with a row for each source word: JSON lines
    with {"matrix": [[...], ...]}, .npz or .npy. JSON lines may also have "source_null" and "target_null" (one mass for
    each word) and "source" and "target" (the words). Each word is assigned to one cept or to null, and each cept has
    words on both sides.
    """
    _check(matrices, options)
    stopwatch = Stopwatch()
    with ProgressBars(quiet=options["quiet"]) as bars:
        file, summary = _align(matrices, options, bars)
    say(*file.lines(summary, stopwatch.seconds), quiet=options["quiet"])


def _check(matrices: str, options: dict[str, Any]) -> None:
    """Refuse options that do not go together, before anything is read."""
    from cepts.io.files import check_stdin

    if (options["source"] is None) != (options["target"] is None):
        raise UsageError("`source` and `target` go together: give both files of sentences, or neither.")
    check_stdin(matrices, options["source"], options["target"])
    link_options.check_extraction(options)
    _check_plots(matrices, options)


def _check_plots(matrices: str, options: dict[str, Any]) -> None:
    """Refuse what does not go together with figures, or without them."""
    plots = {"--plot": options["plot"], "--plot-criterion": options["plot_criterion"]}
    wanted = {name: path for name, path in plots.items() if path is not None}
    if options["gold"] is not None and options["plot"] is None:
        raise UsageError("--gold is shown in a figure; name its file with --plot.")
    if options["orthogonal"] and options["plot"] is None:
        raise UsageError("--orthogonal chooses what a figure shows; name its file with --plot.")
    if options["pair"] is not None and not wanted:
        raise UsageError(
            "--pair chooses the pair to draw; name the file of the figure with --plot or --plot-criterion."
        )
    if not wanted:
        return
    if matrices == "-":
        raise UsageError(
            f"{next(iter(wanted))} reads the matrices a second time, which is not possible with stdin; name a file."
        )
    option.check_plot(*wanted.values())
    option.check_apart({**wanted, "the links": options["output"]})


def _align(matrices: str, options: dict[str, Any], progress: ProgressBars) -> tuple[MatrixFile, Summary]:
    from cepts.pipeline import BitextFiles, MatrixFile, align_matrices, matrix_to_draw

    texts = None if options["source"] is None else BitextFiles(source=options["source"], target=options["target"])
    extraction = link_options.extraction_of(options)
    drawn = None
    if options["plot"] is not None or options["plot_criterion"] is not None:
        drawn = matrix_to_draw(
            matrices, (options["pair"] or 1) - 1, allow_empty=options["allow_empty"], gold=options["gold"]
        )
    file = MatrixFile(
        matrices,
        bitext=None if texts is None else texts.read(progress.notices, progress),
        cepts=extraction.factoring.cepts,
        **option.given(options, ("scale", "allow_empty", "threads")),
    )
    written = option.given(options, ("format", "base"))
    summary = align_matrices(file, options["output"], extraction, **written, progress=progress)
    progress.close()
    if drawn is not None:
        from cepts.plot import plot_pair_factors

        found, gold = drawn
        with figure_notes(quiet=options["quiet"]):
            plot_pair_factors(
                found,
                0,
                scale=file.scale_used,
                words=None if file.bitext is None else file.bitext[found.first],
                gold=gold,
                factors=options["plot"],
                criterion=options["plot_criterion"],
                orthogonal=options["orthogonal"],
                **extraction.factoring.of_onmf(),
            )
    return file, summary
