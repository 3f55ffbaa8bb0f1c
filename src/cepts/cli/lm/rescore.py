"""`cepts lm rescore`: lists of readings in, the same by the model's judgement out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cepts.cli.checks import finite
from cepts.cli.choices import HYPOTHESIS_FORMATS, RESETS, WRITABLE_HYPOTHESIS_FORMATS
from cepts.cli.console import ProgressBars, print_json, print_table, say
from cepts.cli.lm.common import (
    counted,
    documents_option,
    errors_option,
    json_option,
    quiet_option,
    read_for,
    say_notes,
    threads_option,
)
from cepts.errors import UsageError

if TYPE_CHECKING:
    from cepts.data import Utterance
    from cepts.lm import AdaptedModel
    from cepts.pipeline.rescoring import ListErrors, Rescored

__all__ = ["command"]

BY_SUFFIX = {".tsv": "tsv", ".jsonl": "jsonl", ".json": "jsonl", ".trn": "trn"}
ROWS = {"before": "before", "after": "rescored", "oracle": "best in the lists"}


@click.command(
    "rescore",
    epilog="""\b
Examples:
  cepts lm rescore biology dev.tsv --tune
  cepts lm rescore biology nbest.tsv --weight 0.4 --word-bonus 0.8 -o rescored.tsv
  cepts lm rescore biology kaldi/nbest.1 --adapt slides.txt --reset talk -o text --output-format text""",
)
@click.argument("directory")
@click.argument("nbest", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="Where the readings go; - is stdout.")
@click.option(
    "--format",
    "list_format",
    type=click.Choice(("auto", *HYPOTHESIS_FORMATS)),
    default="auto",
    show_default=True,
    help="Format of the lists; kaldi is a directory with Kaldi's archives.",
)
@click.option(
    "--output-format",
    type=click.Choice(WRITABLE_HYPOTHESIS_FORMATS),
    help="Whole lists, the best reading first (tsv, jsonl), the model's costs for Kaldi (kaldi), or the best readings "
    "alone (text, trn).  [default: by the name of the file, else tsv]",
)
@click.option(
    "--weight",
    type=click.FloatRange(0),
    metavar="W",
    default=1.0,
    show_default=True,
    callback=finite,
    help="Of the model: total = score + W x log P(reading) + B x words.",
)
@click.option(
    "--word-bonus", type=float, metavar="B", default=0.0, show_default=True, callback=finite, help="For each word."
)
@click.option(
    "--own-weight",
    type=click.FloatRange(0),
    metavar="X",
    default=0.0,
    show_default=True,
    callback=finite,
    help="Of the score that the recogniser's own language model gave, where the lists have it.",
)
@click.option(
    "--acoustic-scale",
    type=click.FloatRange(0, min_open=True),
    metavar="X",
    default=0.1,
    show_default=True,
    callback=finite,
    help="Of Kaldi's acoustic costs.",
)
@click.option(
    "--unknown-penalty",
    type=float,
    metavar="X",
    callback=finite,
    help="Taken off log P for each word that the model does not know, as <unk> stands for many of them.  [default: log "
    "of the number of known words]",
)
@click.option(
    "--reset",
    type=click.Choice(RESETS),
    default="never",
    show_default=True,
    help="When the history starts anew: never, with each talk (where the utterances' names change before their last - "
    "or _), or with each utterance.",
)
@click.option("--adapt", multiple=True, metavar="FILE", help="A text that the history starts with; may be given again.")
@documents_option
@errors_option
@click.option(
    "--references",
    metavar="FILE",
    help="Reference transcripts, an utterance and its words a line, where the lists do not have them.",
)
@click.option(
    "--tune",
    is_flag=True,
    help="Find the W and B with the fewest errors on these lists, and write nothing. Errors on lists that chose W and "
    "B say little: report those on others.",
)
@threads_option
@json_option
@quiet_option
def command(directory: str, nbest: tuple[str, ...], **options: Any) -> None:
    """Choose among the readings of a recogniser.

    DIRECTORY is what 'cepts lm fit --save' wrote. NBEST are lists of readings with scores, in the order in which they
    were said: TSV, JSON lines or Kaldi's. The best reading of each utterance is part of the history of the next. Where
    there are references, word error rates before and after are shown, and the lowest that the lists allow.
    """
    from cepts.io import check_output

    if options["tune"] and options["output"] is not None:
        raise UsageError("--tune writes no readings; leave out --output, and rescore with the W and B that it finds.")
    if options["output"] is not None:
        check_output(options["output"])
    if options["as_json"] and options["output"] == "-":
        raise UsageError("--json and the readings would both go to stdout; name a file by --output FILE.")
    if [*nbest, *options["adapt"], options["references"]].count("-") > 1:
        raise UsageError("only one of the files can come from standard input; name the others.")
    started = time.perf_counter()
    with ProgressBars(quiet=options["quiet"]) as bars:
        _rescore(directory, nbest, options, bars, started)


def _rescore(directory: str, lists: Sequence[str], options: dict[str, Any], bars: ProgressBars, started: float) -> None:
    from cepts.io import read_hypotheses, read_transcripts
    from cepts.lm import load_adapted
    from cepts.pipeline.lm import memory_of, model_facts
    from cepts.pipeline.rescoring import list_errors, references_of, rescore, tune_weights
    from cepts.signature import signature

    model = load_adapted(directory)
    notices: list[str] = []
    adapted = read_for(model, options["adapt"], options, bars, notices) if options["adapt"] else None
    settings: dict[str, Any] = {
        "reset": options["reset"],
        "unknown_penalty": options["unknown_penalty"],
        "own_weight": options["own_weight"],
        "memory": memory_of(model, adapted, threads=options["threads"]),
        "lowercase": bool(model.facts.get("lowercase")),
    }
    references = read_transcripts(options["references"]) if options["references"] is not None else None
    utterances = list(read_hypotheses(lists, format=options["list_format"], acoustic_scale=options["acoustic_scale"]))
    if references_of(utterances, references) is None and options["output"] is None and not options["tune"]:
        raise UsageError("there is nothing to show without references; say by --output FILE where the readings go.")
    weight, bonus = options["weight"], options["word_bonus"]
    if options["tune"]:
        tuned = tune_weights(model, utterances, references, progress=bars, **settings)
        weight, bonus, found = tuned.weight, tuned.word_bonus, tuned.rescored
    else:
        shown = _watched(utterances, bars)
        found = list(rescore(model, shown, weight=weight, word_bonus=bonus, **settings))
    errors = list_errors(found, references, name=_task(lists))
    bars.close()
    if options["output"] is not None:
        _write(found, options)
    say_notes(notices, quiet=options["quiet"])
    changed = sum(one.best != _first_choice(one) for one in found)
    readings = sum(len(one.totals) for one in found)
    seconds = time.perf_counter() - started
    chosen = (
        f"rescored {counted(len(found), 'utterance')}, {counted(readings, 'reading')}; "
        f"{counted(changed, 'choice')} changed, in {seconds:,.1f} s"
    )
    facts: dict[str, object] = {"weight": f"{weight:g}", "word-bonus": f"{bonus:g}"}
    if options["own_weight"]:
        facts["own-weight"] = f"{options['own_weight']:g}"
    if options["list_format"] == "kaldi" or any(Path(path).is_dir() for path in lists):
        facts["acoustic-scale"] = f"{options['acoustic_scale']:g}"
    facts["reset"] = options["reset"]
    if options["unknown_penalty"] is not None:
        facts["unknown-penalty"] = f"{options['unknown_penalty']:g}"
    if adapted is not None:
        facts["adapted-to"] = f"{len(adapted.text.ids)}-words"
    if options["tune"]:
        facts["tuned"] = "on-these-lists"
    facts = {**(errors.after.facts if errors else {}), **facts, **model_facts(model)}
    if options["as_json"]:
        print_json(_as_json(model, found, errors, weight, bonus, changed, signature(facts)))
        return
    say(chosen, quiet=options["quiet"])
    # The readings may be on stdout, where nothing else belongs then.
    if errors is not None and options["output"] != "-":
        _print(errors, signature(facts))
    elif errors is not None:
        say(f"WER      {errors.before.wer:.2f} -> {errors.after.wer:.2f} %", quiet=options["quiet"])
    if options["tune"]:
        click.echo(f"tuned    --weight {weight:g} --word-bonus {bonus:g}  (report errors on other lists)")


def _watched(utterances: Sequence[Utterance], bars: ProgressBars) -> Iterator[Utterance]:
    from cepts.progress import Step

    for done, utterance in enumerate(utterances):
        bars(Step(stage="rescoring", done=done, total=len(utterances)))
        yield utterance


def _task(lists: Sequence[str]) -> str:
    from pathlib import Path

    return "stdin" if lists[0] == "-" else Path(lists[0]).name + ("+" if len(lists) > 1 else "")


def _first_choice(found: Rescored) -> int:
    from cepts.pipeline.rescoring import own_choice

    return own_choice(found.utterance)


def _write(found: Iterable[Rescored], options: dict[str, Any]) -> None:
    from cepts.io import write_hypotheses
    from cepts.io.files import bare_suffixes

    format_ = options["output_format"]
    if format_ is None:
        suffixes = bare_suffixes(options["output"])
        format_ = BY_SUFFIX.get(suffixes[-1] if suffixes else "", "tsv")
    write_hypotheses(options["output"], found, format=format_)


def _print(errors: ListErrors, line: str) -> None:
    rows = []
    for name, title in ROWS.items():
        scored = getattr(errors, name).as_dict()
        counts = [f"{scored[kind]:,}" for kind in ("substitutions", "insertions", "deletions")]
        rows.append((title, f"{scored['wer']:.2f}", *counts, f"{scored['utterance_error_rate']:.1f}"))
    print_table(("readings", "WER, %", "replaced", "put in", "left out", "with errors, %"), rows)
    click.echo(f"\nsignature  {line}")


def _as_json(
    model: AdaptedModel,
    found: Sequence[Rescored],
    errors: ListErrors | None,
    weight: float,
    bonus: float,
    changed: int,
    line: str,
) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "utterances": len(found),
        "readings": sum(len(one.totals) for one in found),
        "changed": changed,
        "weight": weight,
        "word_bonus": bonus,
    }
    if errors is not None:
        whole["errors"] = {name: getattr(errors, name).as_dict() for name in ROWS}
    return {**whole, "signature": line}
