"""`cepts score`: links against gold links."""

from __future__ import annotations

from typing import Any

import click

from cepts.cli import option
from cepts.cli.console import show
from cepts.cli.groups import Command
from cepts.cli.link_options import format_option
from cepts.names import NULL_TIERS


@click.command("score", cls=Command)
@click.argument("gold")
@click.argument("links")
@click.argument("links2", required=False)
@option.section(
    "Input",
    format_option("--gold-format", "Format of GOLD."),
    format_option("--format", "Format of LINKS and LINKS2; auto tells it from the suffix, or from the first line."),
    option.base(),
    option.base("--gold-base", "The same for GOLD.  [default: that of --base]", default=None),
    option.flag("--reverse-gold", "GOLD has target-source links."),
    option.sides,
    option.whole("--sentences", "Number of sentence pairs, which a naacl file does not tell."),
)
@option.section(
    "Scores",
    option.choice(
        "--null",
        NULL_TIERS,
        "How links to null are scored; all but no need the sentences. sure and possible: a gold word without links has "
        "a sure or possible link to null, unless GOLD states one. gold: only the links to null that GOLD states.",
        default="no",
    ),
    option.flag(
        "--closure",
        "Score against the transitive closure of the gold links: if words share a link, all their links are shared.",
    ),
    option.flag("--per-sentence", "Also score each sentence pair."),
    option.whole(
        "--bootstrap",
        "Number of samples for confidence intervals and for the comparison of two systems; 0 for neither.",
        least=0,
        default=1000,
    ),
    option.seed("Seed of the bootstrap."),
)
@option.section(
    "Output",
    option.flag("--json", "Print JSON instead of a table, with ratios from 0 to 1.", dest="as_json"),
    option.whole_signature,
)
def command(gold: str, links: str, links2: str | None, **options: Any) -> None:
    """Score links against gold links.

    GOLD, LINKS and LINKS2 are files of links for the same sentence pairs. A gold link is sure (i-j, or S) or possible
    (i?j, or P). The table has precision, recall and F1 on sure and on possible links and the alignment error rate
    (AER), in %, with 95 % bootstrap intervals. With LINKS2 it also has the difference (second minus first) and the
    p-value of approximate randomisation. The percentage of covered words needs the sentences: --source and --target,
    or --bitext.

    \b
    Examples:
      cepts score gold.wa test.links --source test.en --target test.fr
      head -n 40 all.links | cepts score gold.wa -
      cepts score gold.wa one.links other.links --json
      cepts score gold.wa test.links --closure
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
    show(
        report_links(names, found, per_sentence=options["per_sentence"]),
        as_json=options["as_json"],
        signature=options["signature"],
    )
