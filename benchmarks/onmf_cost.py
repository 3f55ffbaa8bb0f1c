"""Cost of alignment through cepts: the tables of `onmf.py` that time it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

import hansards
import peers
import report
from cepts import factor
from cepts.data import Alignments, Association, Bitext
from cepts.engine import default_threads, map_shards
from cepts.extract import Extraction, aligned_runs
from jobs import align_command
from onmf_accuracy import Setting
from report import Table
from trained import DEFAULT

__all__ = ["annealing", "by_length", "cept_counts", "pairs_per_second", "same_links", "whole_job"]

MATRICES = ((DEFAULT, "agreement"), ("Model 4", "nbest"))
WORDS = (18, 22)
MOST_PAIRS = 2000
LENGTHS = (10, 20, 40, 80)
PAIRS_OF_A_LENGTH = 200
LEAST_SECONDS = 1.0
THREADS = 2
WARM_PAIRS = 1000


# -- annealing against exhaustive search ---------------------------------------------------------------------


def annealing(setting: Setting, repeat: int) -> Table:
    """How often one annealing pass finds what a search over all numbers of cepts finds, and what either costs."""
    columns = ["matrices", "same number of cepts", "two searches", "same links", "two searches"]
    columns += ["AIC - that of the search", "annealing, CPU s", "search, CPU s", "search / annealing"]
    rows, records = [], []
    for model, association in MATRICES:
        report.say(f"annealing against exhaustive search: {model}, {association}")
        matrices = matrices_of(setting, model, association, setting.gold)
        factor.onmf(matrices.part(0, 8), threads=1)
        factor.onmf(matrices.part(0, 8), cepts="aic", threads=1)
        passes, searches, seconds = [], [], {"annealing": [], "search": []}
        # A search depends on its seed; two of them show how much agreement there can be.
        for seed in range(max(repeat, 2)):
            for kind, selection, found in (("annealing", "anneal", passes), ("search", "aic", searches)):
                started = time.process_time()
                found.append(factor.onmf(matrices, cepts=selection, seed=seed, threads=1))
                seconds[kind].append(time.process_time() - started)
        best = passes[0], searches[0], searches[1]
        counts = [cept_counts(found) for found in best]
        numbers = [float((counts[one] == counts[two]).mean()) for one, two in ((0, 1), (2, 1))]
        links = [float(same_links(best[one], best[two]).mean()) for one, two in ((0, 1), (2, 1))]
        difference = fmean(aic(matrices, "anneal") - aic(matrices, "aic"))
        ratio = median(seconds["search"]) / median(seconds["annealing"])
        shares = [f"{100 * share:.1f}" for pair in (numbers, links) for share in pair]
        costs = [report.spread(seconds[kind], 2) for kind in ("annealing", "search")]
        rows.append([f"{model}, {association}", *shares, f"{difference:+.3f}", *costs, f"{ratio:.1f}"])
        about = {"table": "annealing", **setting.about(), "model": model, "association": association}
        shared = {"same_cepts": numbers[0], "same_cepts_of_searches": numbers[1]}
        shared |= {"same_links": links[0], "same_links_of_searches": links[1]}
        cpu = {f"{kind}_cpu_seconds": [round(each, 3) for each in runs] for kind, runs in seconds.items()}
        records.append({**about, **shared, "aic_difference": difference, **cpu, "ratio": round(ratio, 3)})
    return Table(report.markdown(columns, rows), records, max(repeat, 2))


def cept_counts(links: Alignments) -> NDArray[np.int64]:
    """How many cepts each pair has."""
    assert links.cepts is not None
    return np.array([len(links.cepts[pair]) for pair in range(len(links))])


def same_links(one: Alignments, other: Alignments) -> NDArray[np.bool_]:
    """Which pairs have the same links in both."""
    return np.array([left.links == right.links for left, right in zip(one, other, strict=True)])


def aic(matrices: Association, selection: factor.Selection) -> NDArray[np.float64]:
    """The best AIC that is found for each matrix."""
    source, target = matrices.source_offsets, matrices.target_offsets
    source_null, target_null = matrices.source_null, matrices.target_null
    assert source_null is not None
    assert target_null is not None

    def best(pair: int) -> float:
        found = factor.factorise(
            matrices[pair],
            source_null=source_null[source[pair] : source[pair + 1]],
            target_null=target_null[target[pair] : target[pair + 1]],
            cepts=selection,
        )
        return float(np.nanmax(found.aic))

    full = [pair for pair in range(len(matrices)) if matrices[pair].any()]
    return np.array(list(map_shards(best, full, threads=default_threads())))


def matrices_of(setting: Setting, model: str, association: str, bitext: Bitext) -> Association:
    """The matrices that `cepts align` would factorise."""
    how = Extraction(combine="onmf", association=association)
    runs = aligned_runs(setting.models[model], bitext, how, matrices=True)
    return Association.concatenate([run.matrix for run in runs if run.matrix is not None])


# -- speed ---------------------------------------------------------------------------------------------------


def pairs_per_second(setting: Setting, repeat: int) -> Table:
    """Sentence pairs of about 20 words a second, annealed on `THREADS` threads."""
    bitext = of_length(setting.models.bitext, *WORDS, most=MOST_PAIRS)
    if not len(bitext):
        return Table(f"No pair of the text has {WORDS[0]} to {WORDS[1]} words on both sides.", [])
    aligner = setting.models["HMM"]
    before, aligner.threads = aligner.threads, THREADS
    try:
        matrices = matrices_of(setting, "HMM", "agreement", bitext)
        cepts = fmean(cept_counts(factor.onmf(matrices, threads=THREADS)))
        jobs: dict[str, Callable[[], object]] = {
            "factorising": lambda: factor.onmf(matrices, threads=THREADS),
            "posteriors and factorising": lambda: aligner.align(bitext, combine="onmf"),
        }
        rates = {job: [len(bitext) / seconds(run) for _ in range(repeat)] for job, run in jobs.items()}
    finally:
        aligner.threads = before
    columns = ["job", "pairs", "words a side", "cepts", "pairs/s"]
    words = (len(bitext.source.ids) + len(bitext.target.ids)) / 2 / len(bitext)
    rows = [[job, f"{len(bitext):,}", f"{words:.1f}", f"{cepts:.1f}", report.spread(rates[job], 0)] for job in jobs]
    about = {"table": "speed", **setting.about(), "aligned_pairs": len(bitext), "threads": THREADS}
    records = [{**about, "job": job, "pairs_per_second": [round(each, 1) for each in rates[job]]} for job in jobs]
    return Table(report.markdown(columns, rows), records, repeat)


def by_length(setting: Setting, repeat: int) -> Table:
    """Milliseconds a pair on one thread, by sentence length, beside I x J x K."""
    columns = ["words", "pairs", "I x J", "cepts K", "I x J x K", "ms a pair", "ns / (I x J x K)"]
    rows, records = [], []
    for length in LENGTHS:
        bitext = of_length(setting.models.bitext, round(0.9 * length), round(1.1 * length), most=PAIRS_OF_A_LENGTH)
        if not len(bitext):
            continue
        matrices = matrices_of(setting, "HMM", "agreement", bitext)
        counts = cept_counts(factor.onmf(matrices, threads=1))
        cells = matrices.source_lengths * matrices.target_lengths
        times = max(1, round(LEAST_SECONDS / seconds(lambda job=matrices: factor.onmf(job, threads=1))))

        def run(job: Association = matrices, times: int = times) -> None:
            for _ in range(times):
                factor.onmf(job, threads=1)

        per_pair = [seconds(run) / times / len(bitext) for _ in range(repeat)]
        work = fmean(cells * counts)
        per_unit = 1e9 * median(per_pair) / work
        rows.append(
            [
                f"{round(0.9 * length)}-{round(1.1 * length)}",
                f"{len(bitext):,}",
                f"{fmean(cells):,.0f}",
                f"{fmean(counts):.1f}",
                f"{work:,.0f}",
                report.spread([1000 * each for each in per_pair], 2),
                f"{per_unit:,.0f}",
            ]
        )
        about = {"table": "length", **setting.about(), "words": length, "aligned_pairs": len(bitext)}
        found = {"cells": fmean(cells), "mean_cepts": fmean(counts), "cells_times_cepts": work}
        records.append({**about, **found, "seconds_per_pair": per_pair, "nanoseconds_per_unit": per_unit})
    return Table(report.markdown(columns, rows), records, repeat)


def of_length(bitext: Bitext, least: int, most_words: int, *, most: int) -> Bitext:
    """The first distinct pairs of a text, up to `most`, with from `least` to `most_words` words on either side."""
    lengths = bitext.source.lengths, bitext.target.lengths
    fits = np.logical_and(*((least <= words) & (words <= most_words) for words in lengths))
    pairs = ((tuple(source), tuple(target)) for source, target in (bitext[int(pair)] for pair in np.flatnonzero(fits)))
    # `cepts align` looks at a pair that is repeated only once, which would flatter it.
    return Bitext.from_tokens(islice(dict.fromkeys(pairs), most))


def seconds(run: Callable[[], object]) -> float:
    """Wall time of a job."""
    gc.collect()
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


# -- the whole text ------------------------------------------------------------------------------------------


def whole_job(setting: Setting, work: Path) -> Table:
    """`cepts align --load MODEL` of the whole training text, by agreement and through cepts; one run each."""
    text, model = setting.models.text, str(setting.models.directory("HMM").resolve())
    few = hansards.make_text(text.name, setting.data, work, pairs=WARM_PAIRS)
    options = {combine: ["--load", model, "--combine", combine] for combine in ("agreement", "onmf")}
    costs: dict[str, peers.Cost] = {}
    for combine, chosen in options.items():
        name = f"job.{combine}"
        warm = align_command(few.source, few.target, work / f"{name}.links", *chosen)
        peers.measure(warm, workdir=work, name=name)
        report.say(f"{text.name} text: cepts align --load MODEL --combine {combine}")
        command = align_command(text.source, text.target, work / f"{name}.links", *chosen)
        costs[combine] = peers.measure(command, workdir=work, name=name)
    columns = ["job", "pairs", "user CPU s", "wall s", "pairs/s", "peak MiB", "MiB above agreement"]
    rows, records = [], []
    least = costs["agreement"]["peak_rss_mib"]
    for combine, cost in costs.items():
        rows.append(
            [
                f"`cepts align --load MODEL --combine {combine}`",
                f"{text.pairs:,}",
                f"{cost['user_seconds']:,.1f}",
                f"{cost['wall_seconds']:,.1f}",
                f"{text.pairs / cost['wall_seconds']:,.0f}",
                f"{cost['peak_rss_mib']:,.0f}",
                f"{cost['peak_rss_mib'] - least:,.0f}",
            ]
        )
        used = {name: round(cost[name], 3) for name in peers.Cost.__annotations__}  # type: ignore[literal-required]
        records.append({"table": "job", **setting.about(), "combine": combine, **used})
    return Table(report.markdown(columns, rows), records)
