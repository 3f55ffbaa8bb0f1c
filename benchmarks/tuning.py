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
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import hansards
import report
from cepts.data import Alignments, Bitext
from cepts.evaluate import compare, reliability
from cepts.extract import ScorerMixture
from cepts.tuning import General, TunedScorer
from gold_texts import LANGUAGES, GoldText, general_model, gold_text

SYSTEMS = ("HMM", "Model 4", "mixture", "tuned")
TEN = 10
DRAWS = 10
FOLDS = 5
NOISY_SHARE = 0.2
SHORT = 4  # the halves of shorter sentences can often be swapped without harm
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
    text = data.text(name)
    scorer = TunedScorer(text.members, general=data.general(name), threads=1)
    return scorer.fit(text.pairs, text.only(gold_pairs))


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
        for label, gold_pairs, test in splits:
            untuned = [member.align(text.pairs) for member in text.members[:2]]
            mixture = ScorerMixture(text.members, threads=1).align(text.pairs)
            start = time.process_time()
            scorer = tuned(data, name, gold_pairs)
            seconds = time.process_time() - start
            links = scorer.align(text.pairs)
            places = np.asarray(test)
            scores = compare(text.gold.take(places), links.take(places)).scores
            error = reliability(text.gold.take(places), links.take(places)).error
            before = [aer(text, each, test) for each in (*untuned, mixture)]
            cells = [*map(percent, before), percent(scores.aer), *map(percent, (scores.precision, scores.recall))]
            rows.append([f"{len(text.bitext):,}", label, f"{len(test)}", *cells, f"{error:.4f}", f"{seconds:.1f}"])
            records.append({"text": name, "gold": label, "aer": scores.aer, "before": before, "ece": error})
    columns = [
        "text, pairs",
        "gold",
        "test",
        "HMM",
        "Model 4",
        "mixture",
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
            untuned = [member.align(text.pairs) for member in text.members[:2]]
            before = [
                aer(text, each, range(number))
                for each in (*untuned, ScorerMixture(text.members, threads=1).align(text.pairs))
            ]
            after = compare(gold, links).scores.aer
            gold_pairs = f"{size or number * (FOLDS - 1) // FOLDS:,}"
            rows.append([name, gold_pairs, *map(percent, (*before, after)), f"{error:.4f}"])
            records.append({"language": name, "gold": gold_pairs, "before": before, "aer": after, "ece": error})
    columns = ["language", "gold pairs", "HMM", "Model 4", "mixture", "tuned", "calibration error"]
    return report.Table(report.markdown(columns, rows), records)


def ten_table(data: Data) -> report.Table:
    """What ten gold pairs do, drawn several times."""
    rows, records = [], []
    for name in LANGUAGES:
        text = data.text(name)
        pool = range(hansards.TRIAL.start, hansards.TRIAL.stop) if name == "fr" else range(len(text.gold))
        mixture = ScorerMixture(text.members, threads=1).align(text.pairs)
        default = text.members[0].align(text.pairs)
        gains, beyond = [], []
        for draw in range(DRAWS):
            chosen = sorted(np.random.default_rng(draw).permutation(np.asarray(pool))[:TEN].tolist())
            test = range(447) if name == "fr" else [pair for pair in pool if pair not in chosen]
            links = tuned(data, name, chosen).align(text.pairs)
            gains.append(aer(text, links, test) - aer(text, mixture, test))
            beyond.append(aer(text, links, test) - aer(text, default, test))
        cells = [np.mean(gains), max(gains), np.mean(beyond), max(beyond)]
        rows.append([name, *(f"{100 * cell:+.2f}" for cell in cells)])
        records.append({"language": name, "mixture": gains, "hmm": beyond})
    columns = ["language", "mean, to the mixture", "worst", "mean, to the HMM", "worst"]
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
        untuned = [member.align(text.pairs) for member in text.members[:2]]
        every = [*untuned, ScorerMixture(text.members, threads=1).align(text.pairs), links]
        found = [aer(text, each, test) for each in every]
        rows.append([name, *map(percent, found)])
        records.append({"language": name, "aer": found})
    columns = ["language left out", "HMM", "Model 4", "mixture", "general"]
    return report.Table(report.markdown(columns, rows), records)


def reliability_table(data: Data) -> report.Table:
    """Confidences on the test pairs of the Hansards, tuned on the trial pairs, against the mixture without tuning."""
    text = data.text("fr")
    test = np.arange(447)
    scorer = tuned(data, "fr", range(hansards.TRIAL.start, hansards.TRIAL.stop))
    every = {"tuned": scorer.align(text.pairs), "mixture": ScorerMixture(text.members, threads=1).align(text.pairs)}
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


def noise_table(data: Data) -> report.Table:
    """How well the score of a pair tells true pairs from noisy ones."""
    text = data.text("fr")
    bitext = text.bitext.part(NOISY_START, NOISY_START + NOISY_PAIRS)
    scorer = tuned(data, "fr", range(hansards.TRIAL.start, hansards.TRIAL.stop))
    hmm = text.members[0]
    rows, records = [], []
    for label, noise in (("targets shuffled", shuffled), ("halves of targets swapped", halves_swapped)):
        noisy, wrong = noise(bitext)
        every = {
            "HMM, `--scores` added up": hmm.score(noisy).sum(axis=1),
            "HMM, `--scores` per word": per_word(noisy, hmm.score(noisy)),
            "HMM, `--quality`": hmm.quality(noisy),
            "tuned, `--quality`": scorer.quality(noisy),
        }
        for name, scores in every.items():
            judged = ~wrong | (noisy.target.lengths >= SHORT)
            found = auc(scores, wrong), auc(scores[judged], wrong[judged])
            rows.append([label, name, *(f"{each:.4f}" for each in found)])
            records.append({"noise": label, "score": name, "auc": found[0], "auc_of_long": found[1]})
    columns = [
        "20 % of the pairs have",
        "score",
        "area under the curve",
        f"of noisy targets with {SHORT} words or more",
    ]
    return report.Table(report.markdown(columns, rows, text_columns=2), records)


def shuffled(bitext: Bitext) -> tuple[Bitext, np.ndarray]:
    """The text with the targets of some pairs moved to others of these, and which pairs they are."""
    rng = np.random.default_rng(0)
    wrong = rng.permutation(len(bitext))[: int(NOISY_SHARE * len(bitext))]
    targets = [bitext.target[pair] for pair in range(len(bitext))]
    moved = dict(zip(wrong.tolist(), (targets[pair] for pair in np.roll(wrong, 1).tolist()), strict=True))
    return changed(bitext, moved)


def halves_swapped(bitext: Bitext) -> tuple[Bitext, np.ndarray]:
    """The text with the halves of some targets swapped."""
    moved = {}
    for pair in np.random.default_rng(0).permutation(len(bitext))[: int(NOISY_SHARE * len(bitext))].tolist():
        target = bitext.target[pair]
        moved[pair] = [*target[len(target) // 2 :], *target[: len(target) // 2]]
    return changed(bitext, moved)


def changed(bitext: Bitext, targets: Mapping[int, list[str]]) -> tuple[Bitext, np.ndarray]:
    """The text with other targets for some pairs, and which pairs these are."""
    pairs = [(bitext.source[pair], targets.get(pair, bitext.target[pair])) for pair in range(len(bitext))]
    return Bitext.from_tokens(pairs), np.isin(np.arange(len(bitext)), list(targets))


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
