"""Make the small word vectors and the dictionary of examples/spaces.

    python examples/make_space_sample.py --data DIRECTORY

DIRECTORY holds `en` and `fr`: an array of vectors (.npy) and its words (vocab.txt), the most frequent first. The words
are put in lower case, and the first 3,000 that have letters only are kept. The dictionary is learnt from the sample
bitext by our own aligner: words that are each other's most probable translation. `test.tsv` was written by hand, not
here; it is checked against the rest.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import cepts
from cepts.io import write_dictionary, write_vectors

HERE = Path(__file__).resolve().parent
WORDS = 3000
LEAST_PROBABILITY, LEAST_COUNT = 0.3, 1.5


def first_words(directory: Path, language: str) -> cepts.Vectors:
    """The most frequent words that have letters only, in lower case, with their vectors as float16."""
    vectors = cepts.read_vectors(directory, name=language, lowercase=True)
    rows = [row for row, word in enumerate(vectors.words) if word.isalpha()][:WORDS]
    kept = vectors.take(rows)
    return cepts.Vectors(kept.vocabulary, kept.matrix.astype(np.float16), language)


def learnt_entries(english: cepts.Vectors, french: cepts.Vectors) -> list[tuple[str, str]]:
    """Words of the sample bitext that are each other's most probable translation, among those with vectors."""
    bitext = cepts.read_bitext(HERE / "sample.en", HERE / "sample.fr")
    aligner = cepts.HMM().fit(bitext)
    back = {entry.word: entry.other for entry in aligner.translations(direction="reverse", top=1)}
    return [
        (entry.word, entry.other)
        for entry in aligner.translations(top=1)
        if back.get(entry.other) == entry.word
        and min(entry.probability, entry.back) >= LEAST_PROBABILITY
        and entry.count >= LEAST_COUNT
        and english.vocabulary.number(entry.word) >= 0
        and french.vocabulary.number(entry.other) >= 0
    ]


def main() -> None:
    """Write the vectors and the dictionary; say how much of the test has vectors."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="directory with the directories en and fr")
    parser.add_argument("--output", type=Path, default=HERE / "spaces", help="where the files go")
    arguments = parser.parse_args()
    views = [first_words(arguments.data / language, language) for language in ("en", "fr")]
    test = cepts.read_dictionary(HERE / "spaces" / "test.tsv")
    asked = [{entry[side] for entry in test} for side in (0, 1)]
    entries = [entry for entry in learnt_entries(*views) if entry[0] not in asked[0] and entry[1] not in asked[1]]
    for view in views:
        write_vectors(arguments.output / f"{view.name}.npy", view)
    write_dictionary(arguments.output / "train.tsv", cepts.Dictionary(("en", "fr"), tuple(entries)))
    known = int((test.rows(views) >= 0).all(axis=1).sum())
    print(f"{len(entries):,} entries learnt; {known:,} of {len(test):,} test entries have vectors.", file=sys.stderr)


if __name__ == "__main__":
    main()
