"""Translate by Thot's phrase-based decoder; runs in the environment of the other programs.

    thot_decoder.py train DIRECTORY SOURCE TARGET
    thot_decoder.py translate DIRECTORY TABLE DEV_SOURCE DEV_TARGET TEST_SOURCE TEST_TARGET OUTPUT
    thot_decoder.py compare TEST_TARGET BASE OUTPUT ...

`train` makes what all phrase tables share: Model 1 in both directions, with which Thot smooths phrase probabilities,
and a trigram model of the target language. `translate` tunes the weights of the decoder on the development pairs,
writes the translations of the test sentences, and prints BLEU and chrF as JSON. `compare` prints, for each file of
translations, how probable such a difference of its BLEU from that of BASE is by chance (paired bootstrap resampling).
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import sacrebleu
import thot.alignment
import thot.translation
from sacrebleu.significance import PairedTest

# Of tokens as they are.
BLEU = sacrebleu.BLEU(tokenize="none", force=True)
RESAMPLES = 2000
ORDER = 3
# Model 1 and its counts are only for smoothing, and Thot is slow.
SMOOTHING_PAIRS = 20_000
# Weights of word penalty, language model, source and target segment lengths, both phrase models, jumps and others.
WEIGHTS = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]
TUNED = (0, 1, 4, 5)
FACTORS = (0.5, 2.0)
# How far a phrase may be moved, in phrases.
JUMPS = 2

Sentences = list[list[str]]


def read(path: str) -> Sentences:
    """The words of each line."""
    return [line.split() for line in Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def train(directory: Path, source: Sentences, target: Sentences) -> None:
    """Write the models that all phrase tables share."""
    chosen = [pair for pair in zip(source, target, strict=True) if all(pair)][:SMOOTHING_PAIRS]
    for name, swapped in (("tm_invswm", False), ("tm_swm", True)):
        model = thot.alignment.Ibm1AlignmentModel()
        for one, other in chosen:
            model.add_sentence_pair(*((other, one) if swapped else (one, other)), 1)
        model.start_training()
        for _ in range(5):
            model.train()
        model.end_training()
        model.print(str(directory / name))
    # What SIL's machine library writes beside a phrase table.
    (directory / "tm.lambda").write_text("0.7 0.7")
    (directory / "tm.srcsegmlentable").write_text("Uniform")
    (directory / "tm.trgcutstable").write_text("0.999")
    (directory / "tm.trgsegmlentable").write_text("Geometric")
    write_language_model(directory / "lm", target)


def write_language_model(path: Path, target: Sentences) -> None:
    """Counts of n-grams, each with that of its history; the first occurrence of a word stands for unknown words."""
    counts: Counter[tuple[str, ...]] = Counter()
    known: set[str] = set()
    words = 0
    for sentence in filter(None, target):
        marked = ["<s>", *(word if word in known else "<unk>" for word in sentence), "</s>"]
        known.update(sentence)
        words += len(marked)
        for order in range(1, ORDER + 1):
            counts.update(tuple(marked[start : start + order]) for start in range(len(marked) - order + 1))
    with path.open("w", encoding="utf-8") as file:
        for ngram, count in sorted(counts.items(), key=lambda item: (len(item[0]), item[0])):
            file.write(f"{' '.join(ngram)} {counts[ngram[:-1]] if len(ngram) > 1 else words} {count}\n")
    path.with_name("lm.weights").write_text(f"{ORDER} 3 10 {' '.join(['0.5'] * 3 * ORDER)}\n")
    path.with_name("lm.wp").write_text("\n")


class Decoder:
    """The decoder with one phrase table."""

    def __init__(self, directory: Path, table: Path, work: Path) -> None:
        for file in directory.iterdir():
            (work / file.name).symlink_to(file.resolve())
        shutil.copy(table, work / "tm.ttable")
        self.model = thot.translation.SmtModel(thot.alignment.AlignmentModelType.INCR_IBM1)
        if not (
            self.model.load_translation_model(str(work / "tm")) and self.model.load_language_model(str(work / "lm"))
        ):
            sys.exit(f"Thot cannot load {table}.")
        # The settings of SIL's machine library, but for jumps.
        self.model.non_monotonicity = JUMPS
        self.model.w, self.model.a, self.model.e, self.model.heuristic = 0.4, 10, 2, 6
        self.decoder = thot.translation.SmtDecoder(self.model)
        self.decoder.s, self.decoder.is_breadth_first = 10, True

    def translate(self, sentences: Sentences, weights: list[float]) -> list[str]:
        """The best translation of each sentence."""
        self.model.weights = weights
        return [" ".join(self.decoder.translate(" ".join(sentence)).target) for sentence in sentences]


def bleu(translations: list[str], target: Sentences) -> float:
    """BLEU of translations."""
    references = [" ".join(sentence) for sentence in target]
    return BLEU.corpus_score(translations, [references]).score


def compared(reference: str, outputs: list[str]) -> list[float]:
    """The p-value of each output but the first, against the first."""
    systems = [(path, lines_of(path)) for path in outputs]
    _, scores = PairedTest(systems, {"BLEU": BLEU}, [lines_of(reference)], "bs", n_samples=RESAMPLES)()
    return [found.p_value for found in scores["BLEU"][1:]]


def lines_of(path: str) -> list[str]:
    """The lines of a file."""
    return [" ".join(sentence) for sentence in read(path)]


def tuned(decoder: Decoder, source: Sentences, target: Sentences) -> tuple[list[float], float]:
    """Weights with the best BLEU on development pairs, one weight after another, and that BLEU."""
    weights = list(WEIGHTS)
    best = bleu(decoder.translate(source, weights), target)
    for place in TUNED:
        for factor in FACTORS:
            tried = [weight * factor if at == place else weight for at, weight in enumerate(weights)]
            found = bleu(decoder.translate(source, tried), target)
            if found > best:
                best, weights = found, tried
                break
    return weights, best


def main() -> None:
    """Do what the first argument says."""
    task, directory, *paths = sys.argv[1:]
    if task == "train":
        train(Path(directory), *map(read, paths))
        return
    if task == "compare":
        print(json.dumps(compared(directory, paths)))
        return
    table, dev_source, dev_target, test_source, test_target, output = paths
    with tempfile.TemporaryDirectory(prefix="cepts-thot-") as work:
        decoder = Decoder(Path(directory), Path(table), Path(work))
        weights, on_dev = tuned(decoder, read(dev_source), read(dev_target))
        translations = decoder.translate(read(test_source), weights)
    Path(output).write_text("".join(f"{line}\n" for line in translations), encoding="utf-8")
    references = lines_of(test_target)
    chrf = sacrebleu.corpus_chrf(translations, [references]).score
    found = {"dev_bleu": on_dev, "bleu": bleu(translations, read(test_target)), "chrf": chrf, "weights": weights}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
