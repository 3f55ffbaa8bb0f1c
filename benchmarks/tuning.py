"""Word models that learn from gold links: accuracy, calibration, and how few gold pairs are enough.

Options were chosen on the trial pairs of the Hansards and on the other languages, by cross-validation. The general
model from which tuning starts is always learnt without the language that is tested.

    tuning.py --data DIR [--tables NAME ...] [--write PAGES]
    tuning.py --data DIR --general FILE     writes the general model of the package, learnt from all languages
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

import hansards
import report
from cepts.data import Alignments, Bitext
from cepts.evaluate import compare, reliability
from cepts.extract import ScorerMixture
from cepts.pipeline.tuned import tuned_scorer
from cepts.tuning import General, TunedScorer
from gold_texts import LANGUAGES, GoldText, general_model, gold_text

# The aligners without tuning.
UNTUNED = ("default", "HMM", "Model 4", "mixture")
TEN = 10
# Which pairs: seeds of draws by which nothing was chosen.
DRAWS = range(1000, 1060)
# AER by which tuning on ten pairs should never be worse than the default.
MARGIN = 0.001
FOLDS = 5
THRESHOLDS = (0.05, 0.2, 0.4, 0.6, 0.8, 0.9)
NOISY_SHARE = 0.2
NOISY_PAIRS = 10_000
# The constants of `--quality` were chosen on the pairs before.
NOISY_START = 10_000


class Data:
    """The texts, each read and trained on when it is first needed."""

    def __init__(self, data: Path, work: Path) -> None:
        self._data, self._work = data, work
        self._texts: dict[str, GoldText] = {}
        self._generals: dict[str, General] = {}

    def text(self, name: str) -> GoldText:
        """The text of a language."""
        if name not in self._texts:
            self._texts[name] = gold_text(name, self._data, self._work)
        return self._texts[name]

    def general(self, without: str) -> General:
        """The general model of all languages but one."""
        without = without.removesuffix("-large")
        if without not in self._generals:
            others = [self.text(name) for name in LANGUAGES if name != without]
            self._generals[without] = general_model(others)
        return self._generals[without]


def percent(value: float) -> str:
    """A share in %."""
    return f"{100 * value:.2f}"


def tuned(data: Data, name: str, gold_pairs: Sequence[int]) -> TunedScorer:
    """The models of a language, tuned on some of its gold pairs."""
    return tuned_on(data.text(name), data.general(name), gold_pairs)


def tuned_on(text: GoldText, general: General, gold_pairs: Sequence[int]) -> TunedScorer:
    """What `cepts align --gold` uses: the models of a text, tuned on some of its gold pairs, or the default model."""
    gold, default = text.only(gold_pairs), partial(getattr, text, "default")
    return tuned_scorer(text.members, text.pairs, gold, default=default, general=general, threads=1)


def untuned(text: GoldText) -> dict[str, Alignments]:
    """The links of each of the aligners without tuning, for the gold pairs."""
    scorers = (text.default, *text.members[:2], ScorerMixture(text.members, threads=1))
    return {label: scorer.align(text.pairs) for label, scorer in zip(UNTUNED, scorers, strict=True)}


def aer(text: GoldText, links: Alignments, pairs: Sequence[int]) -> float:
    """AER of some pairs."""
    places = np.asarray(pairs)
    return compare(text.gold.take(places), links.take(places)).scores.aer


def hansards_table(data: Data) -> report.Table:
    """AER on the test pairs, tuned on the trial pairs or on these and 100 test pairs."""
    trial = list(range(hansards.TRIAL.start, hansards.TRIAL.stop))
    splits = (
        ("37 trial pairs", trial, range(447)),
        ("trial + first 100 test pairs", [*range(100), *trial], range(100, 447)),
    )
    rows, records = [], []
    for name in ("fr", "fr-large"):
        text = data.text(name)
        every = untuned(text)
        for label, gold_pairs, test in splits:
            start = time.process_time()
            scorer = tuned(data, name, gold_pairs)
            seconds = time.process_time() - start
            links = scorer.align(text.pairs)
            places = np.asarray(test)
            scores = compare(text.gold.take(places), links.take(places)).scores
            error = reliability(text.gold.take(places), links.take(places)).error
            before = [aer(text, each, test) for each in every.values()]
            cells = [*map(percent, before), percent(scores.aer), *map(percent, (scores.precision, scores.recall))]
            rows.append([f"{len(text.bitext):,}", label, f"{len(test)}", *cells, f"{error:.4f}", f"{seconds:.1f}"])
            records.append({"text": name, "gold": label, "aer": scores.aer, "before": before, "ece": error})
    columns = [
        "text, pairs",
        "gold",
        "test",
        *UNTUNED,
        "tuned",
        "P",
        "R",
        "calibration error",
        "CPU s",
    ]
    return report.Table(report.markdown(columns, rows, text_columns=2), records)


def languages_table(data: Data) -> report.Table:
    """AER by cross-validation over the gold pairs of languages with little text."""
    rows, records = [], []
    for name in ("ro", "sv", "pt", "zh"):
        text, number = data.text(name), len(data.text(name).gold)
        before = [aer(text, each, range(number)) for each in untuned(text).values()]
        for size in (25, 100, None):
            parts = []
            for fold in range(FOLDS):
                test = list(range(fold, number, FOLDS))
                rest = [pair for pair in range(number) if pair % FOLDS != fold]
                if size is not None and size >= len(rest):
                    break
                chosen = rest if size is None else np.random.default_rng(fold).permutation(rest)[:size].tolist()
                links = tuned(data, name, chosen).align(text.pairs).take(np.asarray(test))
                parts.append((text.gold.take(np.asarray(test)), links))
            if not parts:
                continue
            gold, links = (Alignments.concatenate([part[n] for part in parts]) for n in (0, 1))
            error = reliability(gold, links).error
            after = compare(gold, links).scores.aer
            gold_pairs = f"{size or number * (FOLDS - 1) // FOLDS:,}"
            rows.append([name, gold_pairs, *map(percent, (*before, after)), f"{error:.4f}"])
            records.append({"language": name, "gold": gold_pairs, "before": before, "aer": after, "ece": error})
    columns = ["language", "gold pairs", *UNTUNED, "tuned", "calibration error"]
    return report.Table(report.markdown(columns, rows), records)


def ten_table(data: Data) -> report.Table:
    """What ten gold pairs do, drawn several times."""
    rows, records = [], []
    for name in LANGUAGES:
        text = data.text(name)
        pool = range(hansards.TRIAL.start, hansards.TRIAL.stop) if name == "fr" else range(len(text.gold))
        every = untuned(text)
        gains: dict[str, list[float]] = {label: [] for label in ("default", "mixture", "HMM")}
        kept = 0
        for draw in DRAWS:
            chosen = sorted(np.random.default_rng(draw).permutation(np.asarray(pool))[:TEN].tolist())
            test = range(447) if name == "fr" else [pair for pair in pool if pair not in chosen]
            scorer = tuned(data, name, chosen)
            kept += scorer.tuning_ is not None and scorer.tuning_.strength is None
            found = aer(text, scorer.align(text.pairs), test)
            for label, own in gains.items():
                own.append(found - aer(text, every[label], test))
        cells = [each for own in gains.values() for each in (np.mean(own), max(own))]
        worse = sum(gain > MARGIN for gain in gains["default"])
        rows.append([name, *(f"{100 * cell:+.2f}" for cell in cells), f"{worse}", f"{kept}"])
        records.append({"language": name, **gains, "worse": worse, "default_kept": kept})
    changes = [column for label in gains for column in (f"mean, to the {label}", "worst")]
    columns = ["language", *changes, "worse by 0.1", "default kept"]
    return report.Table(report.markdown(columns, rows), records)


def general_table(data: Data) -> report.Table:
    """The general model alone, on languages that it has not seen."""
    rows, records = [], []
    for name in LANGUAGES:
        text, general = data.text(name), data.general(name)
        test = range(447) if name == "fr" else range(len(text.gold))
        scorer = TunedScorer(text.members, threads=1)
        runs = scorer.scored(text.pairs)
        links = scorer.use(general.model(tuple(runs[0].features))).align(text.pairs)
        found = [aer(text, each, test) for each in (*untuned(text).values(), links)]
        rows.append([name, *map(percent, found)])
        records.append({"language": name, "aer": found})
    columns = ["language left out", *UNTUNED, "general"]
    return report.Table(report.markdown(columns, rows), records)


def reliability_table(data: Data) -> report.Table:
    """Confidences on the test pairs of the Hansards, of the default and tuned on the trial pairs."""
    text = data.text("fr")
    test = np.arange(447)
    scorer = tuned(data, "fr", range(hansards.TRIAL.start, hansards.TRIAL.stop))
    every = {"default": text.default.align(text.pairs), "tuned": scorer.align(text.pairs)}
    found = {label: reliability(text.gold.take(test), links.take(test)) for label, links in every.items()}
    rows = []
    for place, start in enumerate(found["tuned"].bounds[:-1]):
        row = [f"{start:.1f} to {start + 0.1:.1f}"]
        for each in found.values():
            known = each.counts[place] > 0
            row += [
                f"{each.counts[place]:,}",
                *(f"{100 * v[place]:.1f}" if known else "" for v in (each.confidence, each.right)),
            ]
        rows.append(row)
    rows.append(
        ["expected calibration error", *(cell for each in found.values() for cell in ("", "", f"{each.error:.4f}"))]
    )
    columns = ["confidence", *(f"{label}: {what}" for label in found for what in ("links", "mean, %", "right, %"))]
    records = [{"system": label, "ece": each.error} for label, each in found.items()]
    return report.Table(report.markdown(columns, rows), records)


def thresholds_table(data: Data) -> report.Table:
    """Precision and recall of the default at several thresholds, and how far its confidences are right."""
    rows, records = [], []
    for name in LANGUAGES:
        text = data.text(name)
        places = np.arange(447 if name == "fr" else len(text.gold))
        gold = text.gold.take(places)
        links = text.default.align(text.pairs, threshold=min(THRESHOLDS)).take(places)
        default = text.default.align(text.pairs).take(places)
        above = (links.only(links.confidence >= np.float32(threshold)) for threshold in THRESHOLDS)
        scores = [compare(gold, each).scores for each in (default, *above)]
        found = [(each.precision, each.recall) for each in scores]
        error = reliability(gold, default).error
        rows.append([name, f"{error:.4f}", *(f"{100 * p:.1f} / {100 * r:.1f}" for p, r in found)])
        labels = ("default", *THRESHOLDS)
        records.append({"language": name, "ece": error, "precision_recall": dict(zip(labels, found, strict=True))})
    columns = ["language", "calibration error", "P / R by default"]
    columns += [f"P / R at {threshold}" for threshold in THRESHOLDS]
    return report.Table(report.markdown(columns, rows), records)


def noise_table(data: Data) -> report.Table:
    """How well the score of a pair tells true pairs from noisy ones, by models of good and of noisy text."""
    text = data.text("fr")
    trial = range(hansards.TRIAL.start, hansards.TRIAL.stop)
    rows, records = [], []
    for label, noise in NOISES.items():
        bitext, changed, same = noisy_text(text.bitext, noise)
        there = bitext.part(NOISY_START, NOISY_START + NOISY_PAIRS)
        wrong, judged = (each[NOISY_START : NOISY_START + NOISY_PAIRS] for each in (changed, ~same))
        found: dict[str, list[float]] = {}
        for learnt in (text, GoldText("noisy fr", bitext, text.gold)):
            default, hmm = learnt.default, learnt.members[0]
            scorer = tuned_on(learnt, data.general("fr"), trial)
            every = {
                "default, `--quality`": default.quality(there),
                "HMM, `--quality`": hmm.quality(there),
                "tuned, `--quality`": scorer.quality(there),
                "default, `--scores` per word": per_word(there, default.score(there)),
            }
            for name, scores in every.items():
                found.setdefault(name, []).append(auc(scores[judged], wrong[judged]))
        unchanged = int(np.count_nonzero(~judged))
        for name, areas in found.items():
            rows.append([label, name, *(f"{each:.4f}" for each in areas), f"{unchanged}"])
            record = dict(zip(("auc_of_good", "auc_of_noisy"), areas, strict=True))
            records.append({"noise": label, "score": name, **record, "unchanged": unchanged})
    columns = ["20 % of the pairs have", "score", "trained on good text", "on the noisy text", "unchanged"]
    return report.Table(report.markdown(columns, rows, text_columns=2), records)


Words = Sequence[str]


def noisy_text(bitext: Bitext, noise: Callable[[Words, Words], list[str]]) -> tuple[Bitext, np.ndarray, np.ndarray]:
    """The text with some targets changed, which pairs these are, and those that would be but are as they were.

    The pairs with gold links remain as they are. `noise` makes a target from that of the pair and that of another
    noisy pair.
    """
    first = hansards.TRIAL.stop
    number = len(bitext) - first
    drawn = first + np.random.default_rng(0).permutation(number)[: int(NOISY_SHARE * number)]
    pairs = [bitext[pair] for pair in range(len(bitext))]
    changed, same = np.zeros((2, len(bitext)), dtype=np.bool_)
    for pair, other in zip(drawn.tolist(), np.roll(drawn, 1).tolist(), strict=True):
        target = noise(bitext.target[pair], bitext.target[other])
        changed[pair] = target != list(bitext.target[pair])
        same[pair] = not changed[pair]
        pairs[pair] = bitext.source[pair], target
    return Bitext.from_tokens(pairs), changed, same


def another_target(_own: Words, other: Words) -> list[str]:
    """The target of another pair."""
    return list(other)


def swapped_halves(own: Words, _other: Words) -> list[str]:
    """The second half of the target, then the first."""
    return [*own[len(own) // 2 :], *own[: len(own) // 2]]


def another_half(own: Words, other: Words) -> list[str]:
    """The first half of the target, then the second half of another one."""
    return [*own[: len(own) // 2], *other[len(other) // 2 :]]


NOISES = {
    "the target of another pair": another_target,
    "the halves of the target swapped": swapped_halves,
    "the second half of another target": another_half,
}


def auc(scores: np.ndarray, wrong: np.ndarray) -> float:
    """Probability that a right pair has a higher score than a wrong one; equal scores count half."""
    from scipy.stats import rankdata

    ranks, right = rankdata(scores)[~wrong], int((~wrong).sum())
    return float((ranks.sum() - right * (right + 1) / 2) / (right * int(wrong.sum())))


def per_word(bitext: Bitext, scores: np.ndarray) -> np.ndarray:
    """Mean log-probability of the words of both sides."""
    lengths = np.column_stack([bitext.target.lengths, bitext.source.lengths])
    return (scores / np.maximum(lengths, 1)).sum(axis=1)


def main() -> None:
    """Make the tables that are asked for, or write the general model."""
    if "--general" in sys.argv:
        write_general()
        return
    with tempfile.TemporaryDirectory(prefix="cepts-bench-") as work:
        tables = {
            "hansards": hansards_table,
            "languages": languages_table,
            "ten": ten_table,
            "general": general_table,
            "reliability": reliability_table,
            "thresholds": thresholds_table,
            "noise": noise_table,
        }
        report.make_tables("tuning", "bitext", lambda data: Data(data, Path(work)), tables)


def write_general() -> None:
    """Write the general model of all languages, from the trial pairs of the Hansards only."""
    parser = argparse.ArgumentParser(description="Write the general model of the package.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), metavar="DIR", help="has bitext/")
    parser.add_argument("--general", type=Path, required=True, metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cepts-bench-") as work:
        texts = [gold_text(name, options.data, Path(work)) for name in LANGUAGES]
        models = [general_model(texts).as_dict()]
    options.general.write_text(json.dumps({"models": models}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
