"""`cepts score`: links against gold links."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.link_options import format_option


@click.command("score")
@click.argument("gold")
@click.argument("links")
@click.argument("links2", required=False)
@option.sides
@format_option("--gold-format", "Format of GOLD.")
@format_option("--format", "Format of LINKS and LINKS2; auto goes by the suffix, then by the first line.")
@option.base("--gold-base", "As --base, for GOLD.  [default: that of --base]", default=None)
@option.base()
@option.flag("--reverse-gold", "GOLD has target-source links.")
@option.whole("--sentences", "How many sentence pairs there are.")
@option.flag("--null", "Count a word without links as linked to null; needs the sentences.")
@option.flag("--per-sentence", "Also score each sentence pair.")
@option.whole(
    "--bootstrap", "Samples for intervals and for the comparison of two systems; 0 for none.", least=0, default=1000
)
@option.seed()
@option.flag("--json", "Print JSON, with ratios from 0 to 1.", dest="as_json")
def command(gold: str, links: str, links2: str | None, **options: Any) -> None:
    """Score links against gold links.

    GOLD, LINKS and LINKS2 are link files of the same sentence pairs. In GOLD a link is sure (`i-j`, or S)
    or only possible (`i?j`, or P). Precision, recall and F1 on sure and on possible links and the alignment
    error rate are printed in %, with 95 % bootstrap intervals; with LINKS2 also the difference (second
    minus first) and the p-value of approximate randomisation. The shares of covered words need the
    sentences: --source and --target, or --bitext.

    \b
    Examples:
      cepts score gold.wa test.links --source test.en --target test.fr
      head -n 40 all.links | cepts score gold.wa -
      cepts score gold.wa one.links other.links --json
    """  # noqa: D301
    from cepts.io.files import check_stdin
    from cepts.pipeline.inputs import LinkFile, read_sides
    from cepts.pipeline.scoring import report_links, score_links

    sides = options["source"], options["target"], options["bitext"]
    check_stdin(gold, links, links2, *sides)
    names = [links] if links2 is None else [links, links2]
    base, gold_base = options["base"], options["gold_base"]
    found = score_links(
        LinkFile(gold, options["gold_format"], base if gold_base is None else gold_base),
        [LinkFile(name, options["format"], base) for name in names],
        sides=read_sides(*sides),
        **option.given(options, score_links),
    )
    show(report_links(names, found, per_sentence=options["per_sentence"]), as_json=options["as_json"])
