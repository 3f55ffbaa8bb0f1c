"""Confidences without gold: what posteriors in the training text are worth, by size of text and language.

Parts of a text are left out of training, which shows what the posteriors of their links are without them. From this,
and from no gold links, the constants of `cepts.words.confidence.HeldOut` are fitted. Gold links judge the result: of
the Hansards those of the 37 trial pairs only, because the weight of the mean was chosen by these tables.

    confidence.py --data DIR [--tables NAME ...] [--write PAGES]
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import hansards
import report
from cepts.data import Alignments, Bitext
from cepts.evaluate import reliability
from cepts.extract import threshold
from cepts.io import read_bitext
from cepts.words import Mixed
from cepts.words.confidence import HeldOut, in_sample_confidence
from cepts.words.directions import WordDirections
from gold_texts import gold_text

# Language -> sizes of texts. The first pairs of a text are those that are left out, or judged.
SIZES = {
    "fr": (100, 300, 1_000, 3_000, 10_000, 25_000),
    "ro": (248, 2_248, 19_560),
    "sv": (100, 300, 1_164),
    "zh": (100, 200, 450),
    "pt": (100,),
}
# Texts without gold links: folder, languages, the language that they count as, sizes.
OTHERS = (
    ("europarl-en-de", "en", "de", "de", (100, 300, 1_000, 5_000, 20_000)),
    ("libreoffice-en-fr", "en", "fr", "fr", (300, 3_000)),
    ("libreoffice-en-ro", "en", "ro", "ro", (300, 3_000)),
    ("ddtp-en-fr", "en", "fr", "fr", (300, 3_000)),
)
MOST_LEFT_OUT = 400
FOLDS, FOLDS_OF_LARGE, LARGE = 10, 2, 3_000


@dataclass
class SizedText:
    """A text of some size, whose first pairs are judged or left out; `gold` has links of as many pairs, or is None."""

    language: str
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]]
    gold: Alignments | None = None

    @property
    def judged(self) -> int:
        """Number of the pairs that are judged."""
        return min(len(self.pairs), MOST_LEFT_OUT) if self.gold is None else len(self.gold)

    @cached_property
    def links(self) -> tuple[Alignments, np.ndarray]:
        """Links of the first pairs with their posteriors, and how often the rarer word of each occurs."""
        aligner = Mixed(threads=1).fit(Bitext.from_tokens(self.pairs))
        own = Bitext.from_tokens(self.pairs[: self.judged])
        links = threshold(aligner.associate(own), WordDirections.threshold)
        counts = [part().frequencies for part in aligner.directions(own, in_order=True).makers]
        source, target = (np.concatenate([both[side] for both in counts]) for side in range(2))
        first = own.source.offsets[links.pair] + links.source, own.target.offsets[links.pair] + links.target
        return links, np.minimum(source[first[0]], target[first[1]])

    @cached_property
    def left_out(self) -> tuple[np.ndarray, Alignments]:
        """Posteriors of these links, and the links that are made, under models that have not seen their pairs."""
        links, _ = self.links
        found, made = np.zeros(len(links.source)), {}
        folds = FOLDS if len(self.pairs) <= LARGE else FOLDS_OF_LARGE
        for fold in range(folds):
            own = range(fold, self.judged, folds)
            rest = [pair for place, pair in enumerate(self.pairs) if place >= self.judged or place % folds != fold]
            aligner = Mixed(threads=1).fit(Bitext.from_tokens(rest))
            matrices = aligner.associate(Bitext.from_tokens([self.pairs[place] for place in own]))
            new = threshold(matrices, WordDirections.threshold)
            for number, place in enumerate(own):
                part = slice(links.offsets[place], links.offsets[place + 1])
                found[part] = matrices[number][links.source[part], links.target[part]]
                made[place] = new.part(number, number + 1)
        return np.minimum(found, 1.0), Alignments.concatenate([made[place] for place in range(self.judged)])


class Data:
    """Texts of all sizes."""

    def __init__(self, data: Path, work: Path) -> None:
        self.with_gold = list(_gold_texts(data, work))
        self.every = [*self._alike(), *_other_texts(data)]

    def _alike(self) -> Iterator[SizedText]:
        """The texts with gold links, of which the trial pairs of the Hansards are too few to fit anything."""
        for text in self.with_gold:
            if text.language == "fr":
                yield SizedText("fr", text.pairs[text.judged :])
            else:
                yield text

    def constants(self, without: str | None = None) -> HeldOut:
        """The constants, fitted to texts of all languages but one; all languages weigh the same."""
        from scipy.optimize import minimize

        texts = [text for text in self.every if text.language != without]
        languages = [text.language for text in texts]
        rows, wanted, weights = [], [], []
        for text in texts:
            report.say(f"leaving out pairs of {len(text.pairs):,}, {text.language}")
            links, rarer = text.links
            p = np.clip(links.confidence.astype(np.float64), 0.0, 1.0 - 1e-3)
            rows.append(np.column_stack([np.ones(len(p)), np.log(p / (1.0 - p)), -1.0 / np.sqrt(rarer)]))
            wanted.append(text.left_out[0])
            weights.append(np.full(len(p), 1.0 / (len(p) * languages.count(text.language))))
        columns, q, weight = map(np.concatenate, (rows, wanted, weights))

        def loss(beta: np.ndarray) -> tuple[float, np.ndarray]:
            z = columns @ beta
            errors = weight * (1.0 / (1.0 + np.exp(-z)) - q)
            return float(np.sum(weight * (np.logaddexp(0.0, z) - q * z))), errors @ columns

        return HeldOut(*minimize(loss, np.array([0.0, 1.0, 0.0]), jac=True, method="BFGS").x.tolist())


def _gold_texts(data: Path, work: Path) -> Iterator[SizedText]:
    for name, sizes in SIZES.items():
        text = gold_text(name, data, work)
        pairs = [text.bitext[place] for place in range(len(text.bitext))]
        order = np.random.default_rng(0).permutation(len(pairs))
        for size in sizes:
            if name == "fr":
                chosen = list(range(hansards.TRIAL.start, hansards.TRIAL.stop))
                chosen += [place for place in order.tolist() if place >= hansards.TRIAL.stop][: size - len(chosen)]
                gold = text.gold.take(np.array(chosen[: hansards.TRIAL.stop - hansards.TRIAL.start]))
            elif name == "ro":
                rest = [place for place in order.tolist() if place >= len(text.gold)]
                chosen, gold = [*range(len(text.gold)), *rest[: size - len(text.gold)]], text.gold
            else:
                chosen = order[:size].tolist()
                gold = text.gold.take(np.array(chosen))
            yield SizedText(name, [pairs[place] for place in chosen], gold)


def _other_texts(data: Path) -> Iterator[SizedText]:
    for folder, source, target, language, sizes in OTHERS:
        place = data / "bitext" / folder
        bitext = read_bitext(place / f"train.{source}.gz", place / f"train.{target}.gz")
        order = np.random.default_rng(0).permutation(len(bitext)).tolist()
        for size in sizes:
            yield SizedText(language, [bitext[place] for place in order[:size]])


def sizes_table(data: Data) -> report.Table:
    """Calibration error of posteriors and confidences in the training text, and of posteriors in new text."""
    rows, records = [], []
    fitted = {language: data.constants(language) for language in SIZES}
    for text in data.with_gold:
        assert text.gold is not None
        links, rarer = text.links
        made = [links.confidence, in_sample_confidence(links.confidence, rarer)]
        made.append(in_sample_confidence(links.confidence, rarer, fitted[text.language]))
        errors = [reliability(text.gold, _with(links, each)).error for each in made]
        errors.append(reliability(text.gold, text.left_out[1]).error)
        rows.append([text.language, f"{len(text.pairs):,}", *(f"{error:.3f}" for error in errors)])
        records.append({"language": text.language, "pairs": len(text.pairs), "ece": errors})
    columns = ["language", "pairs", "posteriors", "confidences", "fitted to other languages", "new pairs"]
    return report.Table(report.markdown(columns, rows), records)


def _with(links: Alignments, confidence: np.ndarray) -> Alignments:
    return Alignments(links.offsets, links.source, links.target, confidence, links.sure)


def constants_table(data: Data) -> report.Table:
    """The constants, fitted to all texts and to those of all languages but one."""
    rows, records = [], []
    for without in (None, *SIZES):
        found = data.constants(without)
        rows.append([without or "none", *(f"{value:.2f}" for value in found)])
        records.append({"without": without, **found._asdict()})
    return report.Table(report.markdown(["left out", *HeldOut._fields], rows), records)


def main() -> None:
    """Make the tables that are asked for."""
    with tempfile.TemporaryDirectory(prefix="cepts-bench-") as work:
        tables = {"constants": constants_table, "sizes": sizes_table}
        report.make_tables("confidence", "bitext", lambda data: Data(data, Path(work)), tables)


if __name__ == "__main__":
    main()
