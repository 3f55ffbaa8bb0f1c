"""`cepts demo`: a first result, without any file."""

from __future__ import annotations

import time

import click

from cepts.cli.console import ProgressBars, print_table, say, width_of

__all__ = ["command"]

SHOWN = 3
COMPARED = ("agreement", "grow-diag-final-and", "intersection")


@click.command(
    "demo",
    epilog="""\b
Example:
  cepts demo""",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress bars.")
def command(quiet: bool) -> None:
    """Align a small sample and show what comes out.

    The sample is 3,000 English-French sentence pairs of LibreOffice's help, of which 40 have gold links.
    """
    from importlib.resources import as_file, files

    from cepts.evaluate import compare, intervals
    from cepts.io import read_bitext, read_links
    from cepts.words import HMM

    started = time.perf_counter()
    with ProgressBars(quiet=quiet) as bars, as_file(files("cepts") / "sample") as sample:
        bitext = read_bitext(sample / "sample.en", sample / "sample.fr", progress=bars)
        gold = read_links(sample / "sample.gold.wa", format="naacl")
        aligner = HMM().fit(bitext, progress=bars)
        results = {method: aligner.align(bitext, combine=method) for method in COMPARED}
        bars.close()
        seconds = time.perf_counter() - started
        links = results["agreement"]
        checked = bitext.part(0, len(gold))
        shortest = sorted(range(len(gold)), key=lambda pair: (len(checked.source[pair]), pair))[3 : 3 + SHOWN]
        for pair in shortest:
            source, target = bitext[pair]
            _show_pair(source, target, links[pair].links, links[pair].confidence.tolist())
        rows = []
        for method, found in results.items():
            part = found.part(0, len(gold))
            comparison = compare(
                gold, part, source_lengths=checked.source.lengths, target_lengths=checked.target.lengths
            )
            scores = comparison.scores
            interval = intervals(comparison)["aer"]
            rows.append(
                (
                    method,
                    f"{100 * scores.precision:.1f}",
                    f"{100 * scores.recall:.1f}",
                    f"{100 * scores.aer:.1f}",
                    f"{100 * interval.low:.1f}-{100 * interval.high:.1f}",
                    f"{scores.links:,}",
                )
            )
        print_table(
            ("--combine", "precision", "recall", "AER", "95 % interval", "links"),
            rows,
            title=f"Against the {len(gold)} pairs with gold links, in %:",
        )
    click.echo()
    say(f"Aligned {len(bitext):,} sentence pairs in {seconds:.1f} s. Now with your own text, a sentence a line:")
    say("  cepts align source.txt target.txt -o links.txt --save model")
    say("  cepts align source.txt target.txt --load model --combine onmf   every word in its group")
    say("  cepts lexicon model --top 3        what the model has learnt")
    say("  cepts score gold.wa links.txt      if you have gold links")
    say("  cepts phrases align pairs.txt      sentences and their rewordings, a ||| b a line")
    say("  cepts lm fit text.txt --save DIR   a language model that adapts to what a text is on")
    say("  cepts --help                       all commands")


def _show_pair(source: list[str], target: list[str], links: list[tuple[int, int]], confidence: list[float]) -> None:
    """A pair as a picture: a row a source word, a column a target word, a mark where they are linked."""
    width = max(map(width_of, source))
    strong = dict(zip(links, confidence, strict=True))
    click.echo(" " * width + "  " + " ".join(target))
    for i, word in enumerate(source):
        marks = []
        for j, other in enumerate(target):
            share = strong.get((i, j))
            mark = "·" if share is None else "■" if share >= 0.75 else "□"
            left = (width_of(other) - 1) // 2
            marks.append(" " * left + mark + " " * (width_of(other) - 1 - left))
        click.echo(word + " " * (width - width_of(word)) + "  " + " ".join(marks).rstrip())
    click.echo()
