"""Trains the English models that the package ships: `token` on MSR06 and Edinburgh++, `phrase` on their phrasal forms.

    make_models.py [--data DIR] [-o DIRECTORY]

Only training pairs are used, with the tags, chunks and lemmas that cepts gives them. The same data give the same bytes.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from cepts.data import Sentence, SentencePair
from cepts.io import read_sentence_pairs
from cepts.phrases import PhraseAligner, TokenAligner
from cepts.phrases.tables import ENGLISH

CORPORA = {"token": ("msr06", "edinburghpp"), "phrase": ("msr06_phrasal", "edinburghpp_phrasal")}


def training_pairs(data: Path, corpora: tuple[str, ...]) -> list[SentencePair]:
    """The training pairs of the corpora, without columns."""
    pairs = []
    for corpus in corpora:
        path = data / "mono" / corpus / "train.jsonl"
        if not path.is_file():
            sys.exit(f"There is no file {path}; say by --data where the data is.")
        for pair in read_sentence_pairs(path):
            pairs.append(replace(pair, source=Sentence(pair.source.tokens), target=Sentence(pair.target.tokens)))
    return pairs


def main() -> None:
    """Train and write both models."""
    parser = argparse.ArgumentParser(description="Train the English models of cepts phrases.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), metavar="DIR", help="has mono/")
    parser.add_argument("-o", "--output", type=Path, default=ENGLISH, metavar="DIRECTORY")
    options = parser.parse_args()
    for aligner in (TokenAligner(), PhraseAligner()):
        started = time.perf_counter()
        pairs = training_pairs(options.data, CORPORA[aligner.name])
        aligner.fit(pairs)
        aligner.save(options.output / f"{aligner.name}-model")
        iterations = " + ".join(str(len(steps)) for steps in aligner.objectives_)
        seconds = time.perf_counter() - started
        print(f"{aligner.name}: {len(pairs):,} pairs, {iterations} iterations, {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
