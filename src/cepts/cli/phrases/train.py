"""`cepts phrases train`: from sentence pairs with gold links to an aligner."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import finite, moderate
from cepts.cli.choices import PHRASE_COSTS, PHRASE_FAMILIES
from cepts.cli.console import ProgressBars, print_table, say
from cepts.cli.lengths import refuse_stdin_twice
from cepts.cli.link_options import base_option
from cepts.cli.phrases.common import (
    check_input,
    input_format_option,
    max_length_option,
    name_of,
    quiet_option,
    threads_option,
)
from cepts.errors import DataError, UsageError

if TYPE_CHECKING:
    from cepts.data import SentencePair
    from cepts.phrases.aligner import PhraseAligner
    from cepts.phrases.lexical import Lexical

__all__ = ["PAPER", "command"]

# Options that go to the aligner as they are.
OF_ALIGNER = (
    "longest",
    "widest",
    "cost",
    "wrong_cost",
    "missed_cost",
    "penalty",
    "iterations",
    "max_length",
    "threads",
)
# How semicrf trained: one null state, Hamming cost of states, next to no penalty, and no features of single words.
PAPER = {"memory": False, "cost": "states", "penalty": 0.01, "iterations": 300}
NOT_IN_PAPER = ("lexical",)
# Of costs and the penalty: what is far more than any use, and far less than what overflows.
LARGEST = 1e6


@click.command(
    "train",
    epilog="""\b
Examples:
  cepts phrases train gold.jsonl --save model
  cepts phrases train gold.jsonl --dev dev.jsonl --without wordnet --without paraphrase --save model
  cepts phrases train gold.jsonl --model token --paper --save model
  cepts phrases train gold.jsonl --language none --vectors vectors.vec --save model
  cepts phrases train old.conllu new.conllu --gold-links gold.wa --language none --save model""",
)
@click.argument("files", metavar="PAIRS", nargs=-1, required=True)
@click.option(
    "--gold-links",
    metavar="FILE",
    help="Gold links (NAACL, Pharaoh, ...) of PAIRS, which then are one file of any kind, or two of text or CoNLL-U.",
)
@base_option
@click.option("--save", metavar="DIR", required=True, help="Where the aligner goes.")
@click.option(
    "--model",
    type=click.Choice(["phrase", "token"]),
    default="phrase",
    show_default=True,
    help="Semi-Markov CRFs of phrases, or CRFs of words.",
)
@click.option(
    "--longest",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="Words of a source phrase at most.  [default: 3]",
)
@click.option(
    "--widest",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="Words of a target phrase at most.  [default: 3]",
)
@click.option(
    "--families",
    type=click.Choice(PHRASE_FAMILIES),
    multiple=True,
    help="Use this family of features; may be given again.  [default: all]",
)
@click.option(
    "--without",
    type=click.Choice(PHRASE_FAMILIES),
    multiple=True,
    help="Leave this family of features out; may be given again.",
)
@click.option(
    "--language",
    type=click.Choice(["english", "none"]),
    default="english",
    show_default=True,
    help="english tags, chunks and looks words up with what comes with cepts; none uses the columns of the input.",
)
@click.option("--vectors", metavar="FILE", help="Word vectors for relatedness, in place of the language's.")
@click.option(
    "--paraphrases",
    metavar="FILE",
    multiple=True,
    help="Paraphrases, in place of the language's: pairs with a tab between them, PPDB's rules, or a table; may be "
    "given again.",
)
@click.option(
    "--cost",
    type=click.Choice(PHRASE_COSTS),
    help="What training counts as mistakes: links, words in a wrong state, or none (likelihood).  [default: links]",
)
@click.option(
    "--wrong-cost",
    type=click.FloatRange(0, LARGEST),
    metavar="X",
    callback=finite,
    help="Cost of a wrong link or state; higher gives fewer links.  [default: 1]",
)
@click.option(
    "--missed-cost",
    type=click.FloatRange(0, LARGEST),
    metavar="X",
    callback=finite,
    help="Cost of a missed link; higher gives more links.  [default: 1]",
)
@click.option(
    "--penalty",
    type=click.FloatRange(0, LARGEST),
    metavar="X",
    callback=finite,
    help="How strongly weights are kept near 0 (L2).  [default: 1]",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    metavar="N",
    callback=moderate,
    help="Iterations of L-BFGS at most.  [default: 120]",
)
@click.option(
    "--paper",
    is_flag=True,
    help="Train as Yao et al. (2013): one null state, Hamming cost, penalty 0.01, 300 iterations, no lexical features.",
)
@click.option(
    "--synthesise", is_flag=True, help="First make phrase links of word links inside chunks (their section 4.1)."
)
@click.option(
    "--dev", metavar="FILE", help="Sentence pairs with gold links, on which the aligner is scored at the end."
)
@max_length_option
@threads_option
@input_format_option
@quiet_option
def command(files: tuple[str, ...], **options: Any) -> None:
    """Train an aligner on sentence pairs with gold links.

    PAIRS are files of JSON lines or jacana's JSON, whose sure links are learnt; possible ones cost nothing. Both
    directions are trained. 'cepts phrases align --model DIR' then uses the aligner.
    """
    refuse_stdin_twice(*files, options["gold_links"], options["dev"])
    if options["gold_links"] is not None and len(files) > 2:
        raise UsageError(f"--gold-links goes with one file of pairs, or with two, source and target. Got {len(files)}.")
    made = _options(options)
    from cepts.store import check_destination

    check_destination(options["save"])
    started = time.perf_counter()
    with ProgressBars(quiet=options["quiet"]) as bars:
        _train(files, options, made, bars, started)


def _options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of the aligner; what does not go together is refused."""
    if options["model"] == "token":
        for name in ("longest", "widest"):
            if (options[name] or 1) > 1:
                raise UsageError(f"--{name} goes with --model phrase; a token aligner has no phrases.")
    if options["cost"] == "none" and not options["wrong_cost"] is options["missed_cost"] is None:
        raise UsageError("--wrong-cost and --missed-cost go with a cost, not with --cost none.")
    left_out = {*options["without"], *(NOT_IN_PAPER if options["paper"] else ())} - set(options["families"])
    both = set(options["without"]) & set(options["families"])
    if both:
        raise UsageError(
            f"--families {min(both)} and --without {min(both)} contradict each other; leave one of them out."
        )
    families = [name for name in options["families"] or PHRASE_FAMILIES if name not in left_out]
    if not families:
        raise UsageError("--without leaves no family of features; leave one in.")
    given = {name: options[name] for name in OF_ALIGNER if options[name] is not None}
    return {
        **(PAPER if options["paper"] else {}),
        **given,
        "families": families,
        "language": None if options["language"] == "none" else options["language"],
    }


def _train(
    files: tuple[str, ...], options: dict[str, Any], made: dict[str, Any], bars: ProgressBars, started: float
) -> None:
    from cepts.phrases.aligner import PhraseAligner, TokenAligner
    from cepts.phrases.annotate import shared_columns
    from cepts.phrases.synthesis import synthesise

    if options["gold_links"] is None:
        pairs = [pair for path in files for pair in _gold(path, options["input_format"])]
    else:
        from cepts.io import read_sentence_pairs

        links, base = options["gold_links"], int(options["base"])
        pairs = read_sentence_pairs(*files, format=options["input_format"], links=links, base=base)
    dev = None if options["dev"] is None else _gold(options["dev"], "auto")
    aligner = (TokenAligner if options["model"] == "token" else PhraseAligner)(**made)
    columns = shared_columns([pair for pair in pairs if aligner.fits(pair)])
    if options["synthesise"] and aligner.language is None and "chunk" not in columns:
        raise DataError(
            f"{name_of(files[0])}: found sentences without chunks, which --synthesise needs of all; give "
            f"`source_chunk` and `target_chunk` in JSON lines, or Chunk=... in the MISC field of CoNLL-U."
        )
    if dev is not None:
        check_input(aligner, columns, dev, options["dev"])
    tables = _tables(aligner, options, bars)
    if tables is not None:
        aligner.lexical = tables
    links = sum(len(pair.sure or ()) for pair in pairs)
    if options["synthesise"]:
        pairs = [synthesise(pair) for pair in aligner.annotator.annotate(pairs, ["chunk"])]
    aligner.fit(pairs, progress=bars)
    aligner.save(options["save"])
    scores = None if dev is None else _scores(aligner, dev, bars)
    bars.close()
    _report(aligner, scores)
    quiet = options["quiet"]
    now = sum(len(pair.sure or ()) for pair in pairs)
    more = f" ({now - links:,} of them synthesised)" if now != links else ""
    used = sum(aligner.fits(pair) for pair in pairs)
    say(f"trained  on {used:,} pairs with {now:,} links{more}, in {time.perf_counter() - started:,.1f} s", quiet=quiet)
    if used < len(pairs):
        say(
            f"skipped  {len(pairs) - used:,} pairs with an empty side or a sentence of more than "
            f"{aligner.max_length:,} words",
            quiet=quiet,
        )
    if aligner.language is None:
        say(f"columns  {_columns(columns, pairs)}", quiet=quiet)
    say(f"model    {options['save']}  (use it: cepts phrases align PAIRS --model {options['save']})", quiet=quiet)


def _gold(path: str, format_: str) -> list[SentencePair]:
    from cepts.io import read_sentence_pairs
    from cepts.io.files import bare_suffixes

    if format_ in {"text", "conllu"} or bare_suffixes(path)[-1:] == [".conllu"]:
        raise DataError(f"{name_of(path)}: text and CoNLL-U have no gold links; give them with --gold-links.")
    pairs = read_sentence_pairs(path, format=format_)
    for number, pair in enumerate(pairs, start=1):
        if pair.sure is None:
            raise DataError(
                f"{name_of(path)}, pair {number:,}: found no gold links, wanted `sure`, or [] where there are none, in "
                f"every pair; or give them with --gold-links."
            )
    return pairs


def _columns(columns: Sequence[str], pairs: Sequence[SentencePair]) -> str:
    """The columns that were used, and those that were not because a sentence lacks them."""
    from cepts.data import COLUMNS

    partly = []
    for name in COLUMNS:
        lacking = [
            number
            for number, pair in enumerate(pairs, start=1)
            if any(len(side) and getattr(side, name) is None for side in (pair.source, pair.target))
        ]
        if 0 < len(lacking) < len(pairs):
            partly.append(
                f"{name} is left out, for {len(lacking):,} of {len(pairs):,} pairs lack it (first {lacking[0]:,})"
            )
    return "; ".join([", ".join(columns) or "none", *partly])


def _tables(aligner: PhraseAligner, options: dict[str, Any], bars: ProgressBars) -> Lexical | None:
    """The language's tables with those that the user brings in their place; None where there are none."""
    changed: dict[str, Any] = {}
    if options["vectors"] is not None:
        from cepts.cli.spaces.common import say_notes
        from cepts.io import read_vectors
        from cepts.phrases.relatedness import Relatedness

        notices: list[str] = []
        changed["relatedness"] = Relatedness.from_vectors(
            read_vectors(options["vectors"], notices=notices, progress=bars)
        )
        say_notes(notices, quiet=options["quiet"])
    if options["paraphrases"]:
        from cepts.cli.phrases.tables import read_paraphrases

        changed["paraphrases"] = read_paraphrases(options["paraphrases"])
    return replace(aligner.lexical, **changed) if changed else None


def _scores(aligner: PhraseAligner, pairs: list[SentencePair], bars: ProgressBars) -> list[str]:
    from cepts.data import Alignments
    from cepts.evaluate import score_phrases
    from cepts.pipeline.phrases import aligned_runs

    links = Alignments.concatenate([run.links for run in aligned_runs(aligner, pairs, progress=bars)])
    found = score_phrases(pairs, links)
    return [f"{100 * value:.2f}" for value in (found.precision, found.recall, found.f1, found.exact)]


def _report(aligner: PhraseAligner, scores: list[str] | None) -> None:
    rows = [
        (name, f"{len(objectives):,}", f"{objectives[-1]:,.2f}" if objectives else "", f"{len(weights):,}")
        for name, objectives, weights in zip(("forward", "reverse"), aligner.objectives_, aligner.weights_, strict=True)
    ]
    print_table(("direction", "iterations", "objective", "weights"), rows)
    if scores is not None:
        click.echo()
        print_table(("", "P, %", "R, %", "F1, %", "exact, %"), [("dev", *scores)])
