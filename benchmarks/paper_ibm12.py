"""The curves of ibm12: exact EM of Models 1 and 2 (Aziz, 2016), which has no tables or figures of its own."""

from __future__ import annotations

from functools import cache

import hansards
import report
from cepts.data import Bitext
from cepts.io import read_bitext
from cepts.names import ALIGNMENT_PAPERS, DEFAULT_WORD_MODEL, WORD_MODELS, resolve
from cepts.plot import plot_iterations
from cepts.words import Aligner
from onmf_accuracy import score
from paper_run import PaperRun, PaperTables
from report import Table
from trained import gold_pairs

QUICK_PAIRS = 3000
NAMES = ("ibm1", "ibm2")
ITERATIONS = (1, 2, 3, 5, 10, 20)


@cache
def text(run: PaperRun) -> Bitext:
    """The small text of the Hansards, which includes the gold pairs."""
    made = hansards.make_text("small", run.data, run.work / "texts", pairs=QUICK_PAIRS if run.quick else None)
    return read_bitext(made.source, made.target)


@cache
def trained(run: PaperRun, name: str, iterations: int) -> Aligner:
    """A model with the settings of the paper after some iterations."""
    settings = {**resolve(ALIGNMENT_PAPERS[name]).training, "iterations": iterations}
    report.say(f"{name}: {iterations} iterations")
    model: Aligner = resolve(WORD_MODELS[settings.pop("model")])(**settings)
    return model.fit(text(run))


def curves(run: PaperRun) -> Table:
    """The log-likelihood before each iteration, which never falls, and the error rate on the trial pairs."""
    bitext, trial = text(run), gold_pairs(text(run), hansards.TRIAL)
    gold = hansards.gold(run.data, hansards.TRIAL)
    words = len(bitext.source.ids) + len(bitext.target.ids)
    columns = ["model", "iterations", "log-likelihood, nats per word", "AER forward", "AER agreement"]
    rows, records, drawn, starts = [], [], {}, {}
    for name in NAMES:
        whole = trained(run, name, ITERATIONS[-1])
        drawn[name] = [value / words for value in whole.stage_objectives_[name]]
        # Model 2 goes on from some iterations of Model 1.
        starts[name] = 1 + whole.start_iterations
        for iterations in ITERATIONS:
            model = trained(run, name, iterations)
            errors = [score(gold, model.align(trial, combine=how), trial).aer for how in ("forward", "agreement")]
            value = drawn[name][iterations - 1]
            rows.append([name, str(iterations), f"{value:.4f}", *(f"{100 * error:.2f}" for error in errors)])
            found = dict(zip(("aer_forward", "aer_agreement"), errors, strict=True))
            records.append({"model": name, "iterations": iterations, "log_likelihood": value, **found})
    for name in (*NAMES, DEFAULT_WORD_MODEL):
        report.say(f"{name}: by default")
        model = resolve(WORD_MODELS[name])().fit(bitext)
        error = score(gold, model.align(trial), trial).aer
        command = "`cepts align`, our default" if name == DEFAULT_WORD_MODEL else f"`cepts align --model {name}`"
        rows.append([command, str(model.iterations), "-", "-", f"{100 * error:.2f}"])
        records.append({"model": name, "default": True, "iterations": model.iterations, "aer_agreement": error})
    what = "log-likelihood, nats per word"
    plot_iterations(run.figures / "ibm12-curves.svg", drawn, what, starts=starts, title="exact EM")
    note = (
        "The notes have no figures of their own. Text: the Hansards of the HLT-NAACL 2003 shared task, "
        f"{len(bitext):,} pairs; error rates on its 37 trial pairs."
    )
    return Table(f"{report.markdown(columns, rows)}\n\n{note}", records)


TABLES: PaperTables = {"curves": curves}
