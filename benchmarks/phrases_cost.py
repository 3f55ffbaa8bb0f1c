"""The tables of `phrases.py` on cost: pairs a second, how that grows with length, training."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

import report
from cepts.data import Sentence, SentencePair
from cepts.phrases import PhraseAligner, TokenAligner
from phrases_data import PhrasesData
from report import Table

__all__ = ["growth", "speed", "training"]

REPEAT = 5
# Words of source and target: of the paper's pairs (29 x 11), and of longer ones.
SIZES = ((29, 11), (11, 11), (22, 22), (44, 22), (44, 44), (88, 88))
PHRASES = ((1, 1), (2, 2), (3, 3), (3, 6), (6, 3), (6, 6))
PAIRS = 40


def _of_size(pairs: Sequence[SentencePair], length: int, width: int, count: int) -> list[SentencePair]:
    """Pairs cut, or joined and cut, to one size: words of real sentences in their order."""

    def joined(side: str, size: int) -> list[Sentence]:
        words = [token for pair in pairs for token in getattr(pair, side).tokens]
        while len(words) < size * count:
            words += words
        return [Sentence(tuple(words[start * size : (start + 1) * size])) for start in range(count)]

    return [SentencePair(*both) for both in zip(joined("source", length), joined("target", width), strict=True)]


def _milliseconds(aligner: PhraseAligner, pairs: Sequence[SentencePair]) -> list[float]:
    """Time a pair of `align`, one pair at a time as a user of the library may ask, in each of several runs."""
    aligner.align(pairs[:2])
    found = []
    for _ in range(REPEAT):
        started = time.perf_counter()
        for pair in pairs:
            aligner.align([pair])
        found.append(1000 * (time.perf_counter() - started) / len(pairs))
    return found


def speed(data: PhrasesData) -> Table:
    """Milliseconds a real pair of about 29 x 11 words, one thread: tagging, features, both directions, links."""
    pairs = [
        pair for pair in data.pairs("msr06", "test") if 27 <= len(pair.source) <= 31 and 10 <= len(pair.target) <= 12
    ]
    rows, records = [], []
    for name in ("token", "phrase"):
        aligner = PhraseAligner.load(name, threads=1)
        alone = _milliseconds(aligner, pairs)
        batch = []
        for _ in range(REPEAT):
            started = time.perf_counter()
            aligner.align(pairs)
            batch.append(1000 * (time.perf_counter() - started) / len(pairs))
        rows.append(
            [name, f"{len(pairs)}", report.spread(alone, 2), report.spread(batch, 2), f"{1000 / median(batch):,.0f}"]
        )
        records.append({"model": name, "pairs": len(pairs), "ms_alone": alone, "ms_batch": batch})
    columns = ["model", "pairs", "ms a pair, one by one", "ms a pair, together", "pairs a second"]
    return Table(report.markdown(columns, rows), records, REPEAT)


def growth(data: PhrasesData) -> Table:
    """Milliseconds a pair by length of the sentences, and by the longest phrases."""
    rows, records = [], []
    aligner = PhraseAligner.load("phrase", threads=1)
    text = data.pairs("edinburghpp", "train")
    for length, width in SIZES:
        times = _milliseconds(aligner, _of_size(text, length, width, PAIRS))
        longest = f"{aligner.longest} x {aligner.widest}"
        cell = f"{1000 * median(times) / (length * width):.1f}"
        rows.append([f"{length} x {width}", longest, report.spread(times, 2), cell])
        records.append({"length": length, "width": width, "longest": longest, "ms": times})
    for longest, widest in PHRASES:
        small = PhraseAligner(longest=longest, widest=widest, iterations=2, threads=1).fit(text[:40])
        times = _milliseconds(small, _of_size(text, 29, 11, PAIRS))
        rows.append(["29 x 11", f"{longest} x {widest}", report.spread(times, 2), f"{1000 * median(times) / 319:.1f}"])
        records.append({"length": 29, "width": 11, "longest": longest, "widest": widest, "ms": times})
    columns = ["words", "longest phrases", "ms a pair", "microseconds a cell"]
    return Table(report.markdown(columns, rows, text_columns=2), records, REPEAT)


def training(data: PhrasesData) -> Table:
    """Seconds of training both directions on all training pairs."""
    rows, records = [], []
    for corpus, title, aligner in (
        ("msr06", "MSR06", TokenAligner()),
        ("msr06_phrasal", "MSR06P", PhraseAligner()),
        ("edinburghpp_phrasal", "EDB++P", PhraseAligner()),
    ):
        pairs = data.pairs(corpus, "train")
        started = time.perf_counter()
        aligner.fit(pairs)
        seconds = time.perf_counter() - started
        steps = " + ".join(str(len(steps)) for steps in aligner.objectives_)
        weights = f"{aligner.weights_.shape[1]:,}"
        rows.append([title, aligner.name, f"{len(pairs)}", weights, steps, f"{seconds:.0f}"])
        records.append({"corpus": corpus, "model": aligner.name, "pairs": len(pairs), "seconds": seconds})
    columns = ["corpus", "model", "pairs", "weights a direction", "iterations", "seconds"]
    return Table(report.markdown(columns, rows, text_columns=2), records)
